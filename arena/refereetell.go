package arena

import (
	"time"

	"sparring/game"
	"sparring/protocol"
)

// noteWatching notes whether the mover receives the entries of the log.
func (r *referee) noteWatching(event *protocol.Event, m *protocol.MoveRequest) {
	if event.Kind != protocol.EventMove {
		return
	}
	r.watching[*event.Seat] = 0
	if m.Watching {
		r.watching[*event.Seat] = m.Epoch
	}
}

// tell sends the players the state after an event, unless it was stored at once, is a move that
// passes the turn, and reaches them anyway: the mover by the answer to the request, if that is
// enough for it, and the opponent by the entry of the log, if it is watching. A lost answer is
// asked for again, and a lost entry replaced by the next repetition of the state.
func (r *referee) tell(event *protocol.Event, stored, answerOnly bool) {
	passes := stored && event.Kind == protocol.EventMove && event.Turn != *event.Seat
	if !passes {
		r.sendStates()
		return
	}
	now := time.Now()
	watches := r.watching[event.Turn] == r.game.Holder(event.Turn).Epoch
	switch {
	case answerOnly && watches:
		r.sentAt, r.resend = [2]time.Time{now, now}, resendAfter(&event.Snapshot)
	case answerOnly:
		r.sentAt[*event.Seat] = now
		r.sendState(event.Turn, now)
	case watches:
		r.sentAt[event.Turn] = now
		r.sendState(*event.Seat, now)
	default:
		r.sendStates()
	}
}

// repeatStates sends both players the state that the last entry of the log left, which
// another referee may have continued meanwhile: while that is not excluded, nobody is told,
// and the states are sent as soon as it is.
func (r *referee) repeatStates() {
	if r.owns() {
		r.sendStates()
		return
	}
	r.sentAt = [2]time.Time{}
}

// sendStates sends both players the state of the game.
func (r *referee) sendStates() {
	now := time.Now()
	st := r.game.State(game.First, now)
	r.sentAt, r.resend = [2]time.Time{now, now}, resendAfter(&st.Snapshot)
	r.a.server.TellBoth(r.players, st)
}

func (r *referee) sendState(seat game.Seat, now time.Time) {
	st := r.game.State(seat, now)
	r.sentAt[seat], r.resend = now, resendAfter(&st.Snapshot)
	r.a.server.Tell(r.players[seat], st)
}

// The state is sent again in case it got lost, or the challenger learnt the
// game's id only after the first state was sent.
const (
	minResend    = 2 * time.Second        // to everyone, and to
	maxResend    = 20 * time.Second       // those with much time on their clocks
	resendAsked  = time.Second            // to an instance that has said hello since
	resendAbsent = 150 * time.Millisecond // to an instance that does not report the game as played yet
)

// resendAfter returns how long a state counts as received: a lost one must not cost
// more than a small part of a clock.
func resendAfter(st *protocol.Snapshot) time.Duration {
	after := maxResend
	for _, c := range st.Clocks.Seats {
		if left, limited := st.Terms.Clock.Budget(c.State()); limited {
			after = min(after, max(minResend, left/20))
		}
	}
	return after
}

// repeat sends the state again to the seat's player, who may have missed it. It returns
// when the next repetition is due.
func (r *referee) repeat(seat game.Seat, h protocol.Holder, now time.Time) time.Time {
	every := r.resend
	switch plays, hello := r.a.presence.playing(h.Player, h.Instance, r.id); {
	case !plays:
		every = resendAbsent
	case hello.After(r.sentAt[seat]):
		every = resendAsked
	}
	if now.Sub(r.sentAt[seat]) >= every {
		r.sendState(seat, now)
		every = r.resend
	}
	return r.sentAt[seat].Add(every)
}
