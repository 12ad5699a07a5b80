package external

import (
	"slices"
	"sync"
	"time"

	"sparring/engine/search"
)

// stopDelays are how long the processes of an engine have lately taken, after they were
// told to stop pondering, until they were ready for the next search. The opponent has
// moved by then, so that all of it is charged to our clock.
type stopDelays struct {
	mu     sync.Mutex
	latest []time.Duration // the newest last
}

// keptStops are the delays that count.
const keptStops = 20

func (s *stopDelays) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest = append(s.latest, d); len(s.latest) > keptStops {
		s.latest = slices.Delete(s.latest, 0, 1)
	}
}

// longest returns the longest delay, 0 before the first.
func (s *stopDelays) longest() (d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, took := range s.latest {
		d = max(d, took)
	}
	return d
}

// stopShare is how many stops what is left on the clock must pay for, if what each move
// brings does not pay for them.
const stopShare = 20

// affordable reports whether pondering costs no more than a clock can pay: a stop takes
// at most half of what each move brings, so that the rest is for thinking, or little
// of what is left on the clock after our last move.
func affordable(stop time.Duration, c *search.Clock, left time.Duration) bool {
	t := c.Spec.Traits()
	return !t.Limited || stop <= (t.Increment+t.Period)/2 || t.Saves && left >= stopShare*stop
}

// noteClock keeps the clock of a search for a move, after its answer.
func (r *running) noteClock(answered time.Time) {
	l, g := r.state().limits, r.game
	if g.clock = l.Clock; g.clock == nil {
		return
	}
	began := r.asked
	for _, at := range []time.Time{l.From, g.clock.At} {
		if !at.IsZero() {
			began = at
		}
	}
	g.left = g.clock.Mine.Left - answered.Sub(began) - g.clock.Overhead + g.clock.Spec.Traits().Increment
}

// rests reports whether the game's program does not ponder, because its clock can't pay
// for the stops. Once that is so, it rests until the end of the game.
func (g *externalGame) rests() bool {
	stop := g.engine.stops.longest()
	if !g.slowToStop && g.clock != nil && !affordable(stop, g.clock, g.left) {
		g.slowToStop = true
		g.incidents.add("the engine takes up to %v to stop pondering, with %v left on a clock of %v"+noMorePondering,
			stop.Round(time.Millisecond), g.left.Round(time.Millisecond), g.clock.Spec)
	}
	return g.slowToStop
}
