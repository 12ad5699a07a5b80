package match

import (
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// Keeper runs the two clocks of one game. It is told the time and never reads
// it. Between calls the clocks are in a normal form that can be written down
// in mid-turn and read back without loss: whole periods that are used up are
// gone from the seat's state, and used is the rest of the current one.
type Keeper struct {
	spec  clock.Spec
	seats [2]clock.State
	turn  game.Seat
	going bool
	since time.Time     // going: up to when the clock is charged; may lie ahead
	used  time.Duration // of the current period (byo-yomi beyond the main time, fixed per move)
	spent time.Duration // charged to this turn so far
}

// NewKeeper sets both clocks to their start; none runs.
func NewKeeper(spec clock.Spec) *Keeper {
	return &Keeper{spec: spec, seats: [2]clock.State{spec.Start(), spec.Start()}}
}

// RestoreKeeper reads back what Clocks wrote; none runs.
func RestoreKeeper(spec clock.Spec, c protocol.Clocks, turn game.Seat, spent time.Duration) *Keeper {
	return &Keeper{
		spec: spec, turn: turn, spent: spent, used: time.Duration(c.UsedMS) * time.Millisecond,
		seats: [2]clock.State{c.Seats[0].State(), c.Seats[1].State()},
	}
}

// Start begins a seat's turn; its clock runs from at.
func (k *Keeper) Start(seat game.Seat, at time.Time) {
	k.turn, k.used, k.spent = seat, 0, 0
	k.Resume(at)
}

// Resume lets the clock of the seat to act run on from at.
func (k *Keeper) Resume(at time.Time) { k.since, k.going = at, true }

// Pause charges what ran and stops the clock.
func (k *Keeper) Pause(at time.Time) {
	k.settle(at)
	k.going = false
}

// Excuse makes up for time that somebody else took: the running clock is not
// charged for it.
func (k *Keeper) Excuse(d time.Duration) { k.since = k.since.Add(d) }

// settle brings the running clock into normal form at a moment.
func (k *Keeper) settle(at time.Time) {
	d := at.Sub(k.since)
	if !k.going || d <= 0 {
		return
	}
	k.since = at
	k.spent += d
	st := &k.seats[k.turn]
	switch k.spec.Kind {
	case clock.SuddenDeath, clock.Fischer:
		st.Left -= d // below zero: the flag has fallen, Budget tells
	case clock.PerMove:
		k.used += d
	case clock.ByoYomi:
		main := min(d, st.Left)
		st.Left -= main
		k.used += d - main
		// The last period stays, so that used beyond it is a fallen flag.
		gone := min(int(k.used/k.spec.Period), st.Periods-1)
		st.Periods -= gone
		k.used -= time.Duration(gone) * k.spec.Period
	}
}

// Stop ends the turn with a move that arrived at a moment, of which credit is
// not charged; ok is false when the flag had fallen.
func (k *Keeper) Stop(at time.Time, credit time.Duration) (charged time.Duration, ok bool) {
	var d time.Duration
	if k.going {
		d = max(at.Sub(k.since)-credit, 0)
	}
	charged = k.spent + d
	st, ok := k.spec.Charge(k.seats[k.turn], k.used+d)
	k.seats[k.turn] = st
	k.going, k.used, k.spent = false, 0, 0
	return charged, ok
}

// Flag is when the running clock's flag falls; ok is false where none will.
func (k *Keeper) Flag() (at time.Time, ok bool) {
	budget, limited := k.spec.Budget(k.seats[k.turn])
	if !k.going || !limited {
		return time.Time{}, false
	}
	return k.since.Add(budget - k.used), true
}

// Clocks writes both clocks down as they stand at a moment.
func (k *Keeper) Clocks(at time.Time) protocol.Clocks {
	now := *k
	now.settle(at)
	var c protocol.Clocks
	for i, st := range now.seats {
		st.Left = max(st.Left, 0)
		c.Seats[i] = protocol.ClockOf(st)
	}
	c.UsedMS = now.used.Milliseconds()
	if k.going {
		c.Running = &now.turn
	}
	return c
}

// Spent is what the seat to act has been charged for its turn so far.
func (k *Keeper) Spent(at time.Time) time.Duration {
	now := *k
	now.settle(at)
	return now.spent
}
