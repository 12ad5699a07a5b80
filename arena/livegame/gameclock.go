package livegame

import (
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// gameClock runs the two clocks of one game by the arithmetic of [clock.Spec]. It
// gets the time from its caller. Its state can be saved and restored during a turn
// without loss.
type gameClock struct {
	spec    clock.Spec
	clocks  [2]clock.Turn // by seat; brought up to since
	turn    game.Seat
	running bool
	since   time.Time     // running: the clock is charged up to here; may lie ahead
	spent   time.Duration // charged to this turn so far
}

// newGameClock sets both clocks to their start; none runs.
func newGameClock(spec clock.Spec) *gameClock {
	start := clock.Turn{State: spec.Start()}
	return &gameClock{spec: spec, clocks: [2]clock.Turn{start, start}}
}

// restoreGameClock restores the clocks that Clocks returned; none runs.
func restoreGameClock(spec clock.Spec, c protocol.Clocks, turn game.Seat, spent time.Duration) *gameClock {
	k := &gameClock{spec: spec, turn: turn, spent: spent}
	for seat, st := range c.Seats {
		k.clocks[seat].State = st.State()
	}
	k.clocks[turn].Used = time.Duration(c.UsedMS) * time.Millisecond
	return k
}

// Start begins a seat's turn; its clock runs from at.
func (k *gameClock) Start(seat game.Seat, at time.Time) {
	k.clocks[k.turn].Used = 0
	k.turn, k.spent = seat, 0
	k.Resume(at)
}

// Resume lets the clock of the seat to act continue from at.
func (k *gameClock) Resume(at time.Time) { k.since, k.running = at, true }

// Pause charges the time up to at and stops the clock.
func (k *gameClock) Pause(at time.Time) {
	k.advance(at)
	k.running = false
}

// CreditDelay takes a delay that was not the seat's own off what its running
// clock is charged.
func (k *gameClock) CreditDelay(d time.Duration) { k.since = k.since.Add(d) }

// Uncharge does not charge the running clock for a time.
func (k *gameClock) Uncharge(from, to time.Time) { k.since = without(k.since, from, to) }

// without moves a moment forward by the part of a time that comes after it, so that
// this part does not count as passed since the moment.
func without(since, from, to time.Time) time.Time {
	if from.Before(since) {
		from = since
	}
	return since.Add(max(to.Sub(from), 0))
}

// advance charges the running clock up to a moment.
func (k *gameClock) advance(at time.Time) {
	d := at.Sub(k.since)
	if !k.running || d <= 0 {
		return
	}
	k.since = at
	k.spent += d
	k.clocks[k.turn] = k.spec.Advance(k.clocks[k.turn], d)
}

// Stop ends the turn with a move that arrived at a moment, of which credit is
// not charged; ok is false when the flag had fallen.
func (k *gameClock) Stop(at time.Time, credit time.Duration) (charged time.Duration, ok bool) {
	k.advance(at.Add(-credit))
	charged = k.spent
	after, ok := k.spec.Finish(k.clocks[k.turn])
	k.clocks[k.turn] = clock.Turn{State: after}
	k.running, k.spent = false, 0
	return charged, ok
}

// Flag returns when the running clock's flag falls; ok is false if none will.
func (k *gameClock) Flag() (at time.Time, ok bool) {
	left, limited := k.spec.Remaining(k.clocks[k.turn])
	if !k.running || !limited {
		return time.Time{}, false
	}
	return k.since.Add(left), true
}

// TurnEnds returns when the seat whose clock runs will have been charged this much for its
// turn.
func (k *gameClock) TurnEnds(limit time.Duration) time.Time { return k.since.Add(limit - k.spent) }

// Clocks returns both clocks at a moment.
func (k *gameClock) Clocks(at time.Time) protocol.Clocks {
	now := *k
	now.advance(at)
	c := protocol.Clocks{UsedMS: now.clocks[now.turn].Used.Milliseconds()}
	for seat, t := range now.clocks {
		t.Left = max(t.Left, 0)
		c.Seats[seat] = protocol.ClockOf(t.State)
	}
	if k.running {
		c.Running = &now.turn
	}
	return c
}

// Spent returns the time charged to the seat to act for its turn so far.
func (k *gameClock) Spent(at time.Time) time.Duration {
	now := *k
	now.advance(at)
	return now.spent
}
