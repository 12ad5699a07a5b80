package mcts

import (
	"math"

	"sparring/engine/search"
)

// A move's probability by the policy is exp(Order/Temperature), normalized over the
// game's first batch of moves.

// policySteps is how finely exp is tabulated, for each Temperature; below
// policyRange of them a probability is as good as 0.
const (
	policySteps = 16
	policyRange = 12
)

// policyWeights has exp(-i/policySteps) in units of 1/priorOne.
var policyWeights = func() (w [policySteps * policyRange]uint32) {
	for i := range w {
		w[i] = uint32(math.Round(priorOne * math.Exp(-float64(i)/policySteps)))
	}
	return w
}()

// leastPrior is the least probability of a move: a policy can be wrong.
const leastPrior = priorOne / 1000

// policy gives moves their probabilities at one node.
type policy struct {
	temperature int
	best, last  int32  // Order of the best move, and of the last asked for
	total       uint64 // of the weights of the first batch
}

// newPolicy normalizes over a node's first batch, which has at least one move.
func newPolicy(temperature int, batch []search.ScoredMove) policy {
	p := policy{temperature: temperature, best: batch[0].Order}
	for i := range batch {
		p.best = max(p.best, batch[i].Order)
	}
	p.last = p.best
	for i := range batch {
		p.total += uint64(p.weight(batch[i].Order))
	}
	return p
}

func (p *policy) weight(order int32) uint32 {
	below := (int64(p.best) - int64(order)) * policySteps / int64(p.temperature)
	if below >= int64(len(policyWeights)) {
		return 0
	}
	return policyWeights[max(below, 0)]
}

// prior returns the probability of the next move, the best first. A batch's moves are
// worse than those of the batches before, whatever their Order.
func (p *policy) prior(order int32) uint16 {
	p.last = min(p.last, order)
	return uint16(max(uint64(p.weight(p.last))*priorOne/p.total, leastPrior))
}
