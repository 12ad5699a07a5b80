package match

import (
	"time"

	"sparring/game"
	"sparring/protocol"
)

// end finishes the game with an event; the answer, if any, is a refusal to
// whoever brought it about.
func (m *Match) end(o game.Outcome, by *game.Seat, request string, now time.Time, text string, refusal *protocol.ActAnswer) (*protocol.Event, protocol.ActAnswer) {
	m.keeper.Pause(now)
	m.finish(o)
	if refusal != nil {
		m.caused = *refusal
	}
	e := m.event(protocol.EventEnd, by, request, now, nil)
	e.Text = text
	return e, protocol.ActAnswer{}
}

func (m *Match) finish(o game.Outcome) {
	m.snap.Outcome, m.snap.Status = o, protocol.Finished
	m.snap.DrawBy, m.snap.TakebackBy = nil, nil
	m.resumeBy = time.Time{}
}

// flagged ends the game for a fallen flag. Nobody loses before both seats had
// their first move: that game is aborted.
func (m *Match) flagged(seat game.Seat, request string, now time.Time, refusal *protocol.ActAnswer) (*protocol.Event, protocol.ActAnswer) {
	if !m.Started() {
		return m.end(game.Outcome{Reason: protocol.ReasonNoStart}, &seat, request, now, "no first move in time", refusal)
	}
	return m.end(game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonTime}, &seat, request, now, "", refusal)
}

// Started reports whether two moves have been made: before, a game is aborted
// rather than lost.
func (m *Match) Started() bool { return len(m.snap.Moves) >= 2 }

// full voids the game while its log still has room to say so.
func (m *Match) full(now time.Time) *protocol.Event {
	if int(m.index)+reserve < m.policy.LogLimit {
		return nil
	}
	e, _ := m.end(game.Outcome{Reason: protocol.ReasonVoid}, nil, "", now, "the game's log is full",
		m.refuse(now, protocol.Over, "void: the game's log is full"))
	return e
}

// Halt stops the clocks, charged up to now, for a planned change of referee.
func (m *Match) Halt(text string, now time.Time) *protocol.Event {
	if m.Over() {
		return nil
	}
	m.keeper.Pause(now)
	m.snap.Status = protocol.Halted
	e := m.event(protocol.EventHalt, nil, "", now, nil)
	e.Text = text
	return e
}

// Excuse says that the referee was held up for so long, so that no clock is
// charged for it. Call it before Commit, for the time that storing took.
func (m *Match) Excuse(d time.Duration) {
	m.keeper.CreditDelay(d)
	m.turnSince = m.turnSince.Add(d)
}

// Suspend stops the clock while the referee is cut off from the players: time
// that the platform took is not the mover's. It runs on as after a change of
// referee. Call it again while that lasts; what happened meanwhile needs no
// entry, and could get none.
func (m *Match) Suspend(now time.Time) {
	if m.Over() {
		return
	}
	m.keeper.Pause(now)
	m.turnSince, m.resumeBy = now, now.Add(m.policy.ResumeWithin)
	for seat, since := range m.vacant {
		if !since.IsZero() {
			m.vacant[seat] = now // nobody could take it back
		}
	}
}

// Heard says that the instance which holds a seat has been heard. After a
// change of referee this lets its clock run on; true when it did.
func (m *Match) Heard(seat game.Seat, now time.Time) bool {
	if m.resumeBy.IsZero() || m.pos.Turn() != seat || m.Over() {
		return false
	}
	m.resume(now)
	return true
}

func (m *Match) resume(now time.Time) {
	m.resumeBy, m.turnSince = time.Time{}, now
	m.keeper.Resume(now)
}

// Vacate takes a seat from its instance by raising the epoch: what it sends
// from now on is stale. Nil when the seat is vacant or another's already.
func (m *Match) Vacate(seat game.Seat, instance protocol.InstanceID, text string, now time.Time) *protocol.Event {
	h := &m.snap.Holders[seat]
	if m.Over() || h.Instance == "" || h.Instance != instance {
		return nil
	}
	if e := m.full(now); e != nil {
		return e
	}
	h.Instance = ""
	h.Epoch++
	m.vacant[seat] = now
	e := m.event(protocol.EventSeat, &seat, "", now, nil)
	e.Text = text
	return e
}

// Seat gives a vacant seat to an instance of its player. Nil when it is not
// vacant, or no longer in the epoch in which it was offered.
func (m *Match) Seat(seat game.Seat, epoch uint64, instance protocol.InstanceID, build string, now time.Time) *protocol.Event {
	h := &m.snap.Holders[seat]
	if m.Over() || h.Instance != "" || h.Epoch != epoch {
		return nil
	}
	if e := m.full(now); e != nil {
		return e
	}
	h.Instance = instance
	if build != "" {
		h.Build = build
	}
	m.vacant[seat] = time.Time{}
	return m.event(protocol.EventSeat, &seat, "", now, func(now time.Time) { m.Heard(seat, now) })
}

// longestGrace bounds how long the opponent waits for a move that may be on its
// way, whatever credit for lag is left.
const longestGrace = 2 * time.Second

// Deadline is when Expire has something to do next; ok is false for never.
func (m *Match) Deadline() (at time.Time, ok bool) {
	if m.Over() {
		return at, false
	}
	earliest := func(t time.Time) {
		if !t.IsZero() && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	earliest(m.resumeBy)
	if flag, limited := m.keeper.Flag(); limited {
		earliest(flag.Add(m.policy.FlagGrace + min(m.lag[m.pos.Turn()].quota, longestGrace)))
	}
	if !m.Started() && m.resumeBy.IsZero() {
		earliest(m.turnSince.Add(m.policy.FirstMove))
	}
	for _, since := range m.vacant {
		if !since.IsZero() {
			earliest(since.Add(m.policy.AbandonAfter))
		}
	}
	return at, ok
}

// Expire does what is due at a moment: nil when nothing is, or nothing that
// the log needs to know.
func (m *Match) Expire(now time.Time) *protocol.Event {
	at, ok := m.Deadline()
	if !ok || now.Before(at) {
		return nil
	}
	for seat, since := range m.vacant {
		if since.IsZero() || now.Before(since.Add(m.policy.AbandonAfter)) {
			continue
		}
		o := game.Outcome{Result: game.WonBy(game.Seat(seat).Other()), Reason: protocol.ReasonAbandoned}
		if !m.Started() {
			o.Result = game.Undecided
		}
		s := game.Seat(seat)
		e, _ := m.end(o, &s, "", now, "nobody took the seat back in time", nil)
		return e
	}
	if !m.resumeBy.IsZero() {
		m.resume(now)
		return nil
	}
	turn := m.pos.Turn()
	e, _ := m.flagged(turn, "", now, nil) // the flag, or the first move's limit
	return e
}

// Recorded is the entry that says that the ended game's record is stored.
func (m *Match) Recorded(now time.Time) *protocol.Event {
	return m.event(protocol.EventRecorded, nil, "", now, nil)
}

// Nothing is the first and last entry of the log of a game that never was: its
// challenge came to nothing.
func Nothing(ch protocol.Challenge, why game.Reason, text string, now time.Time) *protocol.Event {
	e := &protocol.Event{V: protocol.Version, Kind: protocol.EventEnd, Index: 1, Term: 1, Time: now.UTC(), Text: text}
	e.Snapshot = protocol.Snapshot{
		Game: ch.Game, Terms: ch.Terms, Started: now.UTC(), Moves: []string{},
		Status: protocol.Finished, Outcome: game.Outcome{Reason: why},
	}
	for seat, w := range ch.Seats {
		e.Holders[seat] = protocol.Holder{Player: w.Player}
	}
	return e
}
