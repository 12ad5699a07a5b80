package search

import (
	"runtime"
	"time"
)

// NodeCounter counts one worker's nodes against the limits of its search.
type NodeCounter struct {
	search   *Search
	nodes    uint64 // so far
	flushed  uint64 // of them, already in search.nodes
	reserved uint64 // nodes may reach this before more are reserved
	pollAt   uint64 // nodes at which to look at the clock, at most reserved

	proving uint64 // nodes of the prover at the root

	lastYield time.Time
}

// NewNodeCounter returns the counter of a worker.
func NewNodeCounter(s *Search) NodeCounter { return NodeCounter{search: s} }

// pollEvery is the number of nodes between two looks at the clock and the stop
// flag: well under a millisecond for light nodes, a few for Amazons.
const pollEvery = 256

// Count is called before every node; false means that the search has ended
// and everything must return.
func (c *NodeCounter) Count() bool {
	if c.nodes >= c.pollAt {
		c.Flush()
		c.yield()
		if !c.search.running() {
			return false
		}
		if c.reserved <= c.nodes {
			c.reserved = c.nodes + c.search.reserveNodes(pollEvery)
			if c.reserved == c.nodes {
				c.search.End()
				return false
			}
		}
		c.pollAt = min(c.reserved, c.nodes+pollEvery)
	}
	c.nodes++
	return true
}

// yieldEvery is the longest time between two yields.
const yieldEvery = time.Millisecond

// yield calls runtime.Gosched now and then. Searches may occupy all cores, and
// then a goroutine that answers the network would wait for a time slice of 10 ms
// at each hop. It does not do so at every call, because that wakes idle threads
// to look for work, which costs more than reading the clock.
func (c *NodeCounter) yield() {
	if now := time.Now(); now.Sub(c.lastYield) >= yieldEvery {
		runtime.Gosched()
		c.lastYield = now
	}
}

// Flush adds the nodes to the search's count.
func (c *NodeCounter) Flush() {
	c.search.nodes.Add(c.nodes - c.flushed)
	c.flushed = c.nodes
}

// Prove calls a prover with at most budget nodes. Unless share is 0, it gives up when
// the search has taken one part in share of its time, the soft limit or else the hard one:
// also of that which a ponder hit brings meanwhile.
func (c *NodeCounter) Prove(p Prover, budget, share int) (Proof, bool) {
	if left := int(c.reserved) - int(c.nodes); left < budget {
		c.reserved += c.search.reserveNodes(uint64(budget - left))
		budget = min(budget, int(c.reserved-c.nodes))
	}
	if budget <= 0 {
		c.search.End()
		return Proof{}, false
	}
	proof, nodes, ok := p.Prove(budget, func() bool {
		c.yield()
		return !c.search.running() || share > 0 && c.search.taken(share)
	})
	c.nodes += uint64(nodes)
	c.pollAt = min(c.pollAt, c.reserved)
	return proof, ok
}

// ProveRoot calls a prover at the root, where a position that it solves needs no
// search. It gets a part of the nodes and time only, since it solves few, and none
// where several lines or a shorter win are wanted. The line of a proof is not empty.
func (c *NodeCounter) ProveRoot(p Prover, params *Params) (Proof, bool) {
	limits, share, budget := c.search.limits.Load(), params.ProveShare, params.ProveRoot
	if limits.Mate > 0 && params.ProveMate > 0 {
		share, budget = 2, params.ProveMate
	}
	if limits.Nodes > 0 {
		budget = min(budget, int(limits.Nodes/uint64(share))+1)
	}
	return c.proveRoot(p, budget, share)
}

// proveUnlimited is how many times Params.ProveAgain the prover gets where only a proof
// ends the search. Four times decides the largest solved board of Amazons in half the time.
const proveUnlimited = 4

// ProveAgain is ProveRoot in the course of the search, see Params.ProveAgain. Of a
// search that is limited in nodes the prover has no more than half.
func (c *NodeCounter) ProveAgain(p Prover, params *Params) (Proof, bool) {
	if params.ProveAgain == 0 {
		return Proof{}, false
	}
	c.Flush()
	limits, others := c.search.limits.Load(), c.search.nodes.Load()-c.proving
	most := others * uint64(params.ProveAgain)
	if limits.unlimited() {
		most *= proveUnlimited
	}
	if limits.Nodes > 0 {
		most = min(most, limits.Nodes/2)
	}
	if most < c.proving+max(c.proving/4, uint64(params.ProveRoot), 1) {
		return Proof{}, false // not worth a call
	}
	return c.proveRoot(p, int(most-c.proving), 1)
}

func (c *NodeCounter) proveRoot(p Prover, budget, share int) (Proof, bool) {
	limits := c.search.limits.Load()
	if p == nil || budget == 0 || limits.MultiPV > 1 {
		return Proof{}, false
	}
	before := c.nodes
	proof, ok := c.Prove(p, budget, share)
	c.proving += c.nodes - before
	return proof, ok && len(proof.Line) > 0 && (limits.Mate == 0 || proof.Score >= mateWithin(limits.Mate))
}

// mateWithin returns the least score that wins in so many moves. However many they are,
// it is that of a proven win.
func mateWithin(moves int) Score {
	const longest = int(Win - WinBound) // plies
	return Win - Score(min(2*min(moves, longest)-1, longest))
}
