package frontend

import (
	"fmt"
	"math"
	"time"

	"sparring/engine/search"
	"sparring/engine/timing"
	"sparring/game/clock"
	"sparring/pipe/gomocup"
)

// Constants for the Gomoku AI protocol, chosen by hand.
const (
	// defaultTurn is the time for a move if none was sent.
	defaultTurn = 5 * time.Second
	// A turn limit of 0 asks for an answer at once: a search to this depth, within
	// this time even on a busy machine.
	instantDepth = 2
	instantTime  = 100 * time.Millisecond
	// gameLength is the usual number of plies of a game.
	gameLength = 60
	// baseMemory is the memory used besides the hash table, as Linux counts it on a board of
	// 20x20, in bytes: 29 MiB of the program's file and 26 of its own.
	baseMemory = 56 << 20
	minHash    = 1 << 20
	// The lateness of an answer decays by 1/lateDecay with each move, and takes at
	// most 1/maxLateShare of the time of the next moves. An answer that is less than
	// maxPunctual over the time of the turn is not late: managers have a tolerance, of a
	// second in Gomocup's tournaments, and a stall of the machine need not come again.
	lateDecay    = 8
	maxLateShare = 2
	maxPunctual  = 100 * time.Millisecond
)

// gomocupTime is the time limits that the manager has sent.
type gomocupTime struct {
	turn      time.Duration // for a move; 0 is at once
	match     time.Duration // for all moves; 0 is no limit
	left      time.Duration // of the match, as last sent
	told      bool          // left was sent for the next move
	increment time.Duration
	used      time.Duration // in this match, by our own measurement
	due       time.Duration // when the answer to the running search is; 0 if never
	late      time.Duration // recent lateness of answers
}

// spend adds the time of a move, and updates its lateness: on a busy machine that is
// much, and the next moves get less time.
func (t *gomocupTime) spend(d time.Duration) {
	t.used += d - t.increment
	t.told = false
	t.late -= t.late / lateDecay
	if late := d - t.due; t.due > 0 && late > maxPunctual {
		t.late = max(t.late, late)
	}
}

// remaining returns the time left of the match; ok is false if it has no limit. A
// time sent before the last move is too old; then our own count is used.
func (t *gomocupTime) remaining() (left time.Duration, ok bool) {
	switch {
	case t.told:
		return t.left, t.left < gomocup.NoLimit*time.Millisecond
	case t.match > 0:
		return t.match - t.used, true
	}
	return 0, false
}

// limits returns the limits of one of several searches that share the time of a move,
// whose clock runs since from.
func (g *gomocupHandler) limits(searches int, from time.Time) search.Limits {
	l := search.Limits{Depth: g.depth, Nodes: g.nodes, From: from}
	t := &g.time
	t.due = 0
	if t.turn == 0 {
		l.Hard = instantTime
		if l.Depth == 0 || l.Depth > instantDepth {
			l.Depth = instantDepth
		}
		return l
	}
	late := min(t.late, t.turn/maxLateShare)
	turn := max(t.turn-late-timing.FixedOverhead(t.turn, g.s.o.Overhead), timing.MinBudget)
	l.Hard = turn
	due := t.turn
	if left, ok := t.remaining(); ok {
		b := timing.Allot(timing.Situation{
			Clock:    clock.Spec{Kind: clock.Fischer, Initial: max(t.match, left), Increment: t.increment},
			Mine:     clock.State{Left: left},
			Ply:      len(g.stones),
			Length:   gameLength,
			Overhead: g.s.o.Overhead + late,
		})
		l.Soft, l.Hard, l.SoftScale = min(b.Soft, turn), min(b.Hard, turn), timing.SoftScale
		due = min(due, l.Hard+g.s.o.Overhead)
	}
	if searches == 1 {
		t.due = due
	}
	l.Soft /= time.Duration(searches)
	l.Hard = max(l.Hard/time.Duration(searches), timing.MinBudget)
	return l
}

// info handles INFO. Unknown keys are ignored, as the protocol prescribes.
func (g *gomocupHandler) info(c gomocup.Command) error {
	switch c.Key {
	case gomocup.TimeoutTurn, gomocup.TimeoutMatch, gomocup.TimeLeft, gomocup.TimeIncrement, gomocup.MaxMemory, gomocup.HashSize,
		gomocup.RuleKey, gomocup.MaxDepth, gomocup.MaxNode, gomocup.ThreadNum, gomocup.ShowDetail:
	default:
		return nil
	}
	n, err := c.Int()
	if err != nil {
		return err
	}
	ms := time.Duration(min(max(n, -gomocup.NoLimit), gomocup.NoLimit)) * time.Millisecond
	count := int(min(max(n, 0), math.MaxInt32))
	setup := g.s.setup
	switch c.Key {
	case gomocup.TimeoutTurn:
		g.time.turn = max(ms, 0)
	case gomocup.TimeoutMatch:
		g.time.match = max(ms, 0)
	case gomocup.TimeLeft:
		g.time.left, g.time.told = ms, true
	case gomocup.TimeIncrement:
		g.time.increment = max(ms, 0)
	case gomocup.MaxMemory:
		// Only a limit: a smaller table stays as it is.
		setup.HashBytes = g.s.o.Setup.HashBytes
		limit := int64(math.MaxInt64)
		if n > 0 {
			limit = n
			setup.HashBytes = int(min(int64(setup.HashBytes), max((n-baseMemory)*3/4, minHash)))
		}
		defer g.s.limitMemory(limit)
	case gomocup.HashSize:
		if setup.HashBytes = g.s.o.Setup.HashBytes; count > 0 {
			setup.HashBytes = min(max(count<<10, minHash), MaxHash()<<20)
		}
	case gomocup.RuleKey:
		g.rule, g.ruled = count, true
		if n < 0 {
			return fmt.Errorf("INFO rule %d: want a sum of bits", n)
		}
	case gomocup.MaxDepth:
		g.depth = count
	case gomocup.MaxNode:
		g.nodes = uint64(max(n, 0))
	case gomocup.ThreadNum:
		if setup.Threads = g.s.o.Setup.Threads; count > 0 {
			setup.Threads = min(count, MaxThreads())
		}
	case gomocup.ShowDetail:
		g.detail = n > 0
	}
	g.s.configure(setup)
	return nil
}
