package otb

import (
	"cmp"
	"slices"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// Clocks are both clocks at a moment.
type Clocks struct {
	Seats   [2]clock.Turn
	Fallen  [2]bool   // the flag has fallen, unless the clock was corrected since
	Turn    game.Seat // whose clock runs, or will
	Running bool
	Used    time.Duration // of the current move
}

// span is a time in which the clocks stood. It is open while to is zero. Spans may
// overlap.
type span struct{ from, to time.Time }

func (s span) open() bool { return s.to.IsZero() }

// setting is a correction of a clock.
type setting struct {
	at    time.Time
	seat  game.Seat
	shows clock.State
}

// happening is something that the clocks depend on.
type happening struct {
	at time.Time
	do func()
}

// Clocks returns the clocks at a time, not before that of the last entry.
func (g *Game) Clocks(now time.Time) Clocks { return g.clocks(now, nil) }

// clocks also calls each with the number of each move, from 0, and the clocks after
// it. Moves that were taken back count too: others were made at their times.
func (g *Game) clocks(now time.Time, each func(ply int, used time.Duration, c *Clocks)) Clocks {
	spec := g.Terms.Clock
	c := Clocks{Turn: g.first}
	for seat := range c.Seats {
		c.Seats[seat] = clock.Turn{State: spec.Start()}
	}
	if g.Started.IsZero() {
		return c
	}
	c.Running = true
	reasons := 0 // to stand
	stand := func(more int) { reasons += more; c.Running = reasons == 0 }
	at := g.Started
	advance := func(to time.Time) {
		if d := to.Sub(at); d > 0 {
			if c.Running {
				c.Seats[c.Turn] = spec.Advance(c.Seats[c.Turn], d)
				c.Used += d
			}
			at = to
		}
	}
	var all []happening
	for _, s := range g.stood {
		all = append(all, happening{s.from, func() { stand(1) }})
		if !s.open() {
			all = append(all, happening{s.to, func() { stand(-1) }})
		}
	}
	for _, s := range g.settings {
		all = append(all, happening{s.at, func() { c.Seats[s.seat], c.Fallen[s.seat] = clock.Turn{State: s.shows}, false }})
	}
	for i, p := range g.timed() {
		all = append(all, happening{p.At, func() {
			if p.Next != p.Seat { // else its turn goes on
				after, ok := spec.Finish(c.Seats[p.Seat])
				c.Seats[p.Seat], c.Fallen[p.Seat] = clock.Turn{State: after}, c.Fallen[p.Seat] || !ok
			}
			used := c.Used
			c.Turn, c.Used = p.Next, 0
			if each != nil {
				each(i, used, &c)
			}
		}})
	}
	slices.SortStableFunc(all, func(a, b happening) int { return cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()) })
	for _, h := range all {
		advance(h.at)
		h.do()
	}
	if stopped, ok := g.stopped(); ok {
		advance(earlier(stopped, now))
		c.Running = false
	}
	advance(now)
	for seat, turn := range c.Seats {
		if left, limited := spec.Remaining(turn); limited && left < 0 {
			c.Fallen[seat] = true
		}
	}
	return c
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// stopped returns when the end of the game stopped the clocks.
func (g *Game) stopped() (at time.Time, ok bool) {
	switch {
	case g.End != nil:
		return g.End.At, true
	case g.Outcome().Over() && len(g.Plies) > 0 && len(g.Taken) == 0:
		return g.Plies[len(g.Plies)-1].At, true
	}
	return time.Time{}, false
}

// timed returns the moves that the clocks count: those taken back are followed by
// others that were made at their times.
func (g *Game) timed() []Ply {
	all := slices.Clone(g.Plies)
	for _, p := range slices.Backward(g.Taken) {
		all = append(all, p)
	}
	return all
}

// Left returns the time until the flag of a seat falls; ok is false without a limit.
// The limit of a move is not part of it.
func (c *Clocks) Left(spec clock.Spec, seat game.Seat) (d time.Duration, ok bool) {
	return spec.Remaining(c.Seats[seat])
}
