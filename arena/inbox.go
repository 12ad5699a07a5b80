package arena

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/protocol"
)

// request is what a referee's goroutine is asked to do.
type request interface{ serve(r *referee) }

// inboxSize is how many requests may wait for a referee, which may be waiting
// for the store, before those that bring more have to wait themselves.
const inboxSize = 256

// send hands a request to the referee, from any other goroutine. It is dropped
// when the referee has stopped.
func (r *referee) send(q request) {
	select {
	case r.inbox <- q:
	case <-r.done:
	}
}

// serve does what is asked, unless the game is lost.
func (r *referee) serve(q request) {
	if r.ctx.Err() == nil {
		q.serve(r)
	}
}

// playerRequest is what a player asks for.
type playerRequest protocol.GameRequest

func (q playerRequest) serve(r *referee) {
	var event *protocol.Event
	var ans protocol.ActAnswer
	now := time.Now()
	switch {
	case q.Move != nil:
		event, ans = r.m.Move(q.Player, *q.Move, q.Arrived, now)
		if event != nil && event.Receipt != nil {
			r.a.metrics.moves.Inc()
			r.a.metrics.waited.Observe(now.Sub(q.Arrived).Seconds())
		}
	case q.Act != nil:
		event, ans = r.m.Act(q.Player, q.Action, *q.Act, now)
	case q.Chat != nil:
		var to protocol.PlayerID
		if to, ans = r.m.Chat(q.Player, *q.Chat, now); to != "" {
			r.a.server.Notify(to, protocol.Notice{Kind: protocol.NoticeChat, Game: r.id, From: q.Player, Text: q.Chat.Text})
		}
	}
	if event == nil && !r.owns() {
		return // the owner answers
	}
	ans = r.apply(event, ans)
	if ans.Error != nil {
		r.a.metrics.refused.WithLabelValues(string(ans.Error.Code)).Inc()
	}
	protocol.GameRequest(q).Answer(ans)
}

// owns reports whether nobody else can be the referee: a ruling that no entry of
// the log confirms must not contradict the owner's.
func (r *referee) owns() bool {
	return r.settled || len(r.unkept) > 0 || r.a.leases.fresh(string(r.id))
}

// seatGivenBack is an instance that leaves a player's seat.
type seatGivenBack struct {
	player   protocol.PlayerID
	instance protocol.InstanceID
}

func (q seatGivenBack) serve(r *referee) {
	if seat, ok := r.m.SeatOf(q.player); ok {
		r.vacate(seat, q.instance, "given back", time.Now())
	}
}

// seatOffered is the answer to the offer of a vacant seat.
type seatOffered struct {
	seat  game.Seat
	epoch uint64
	ans   protocol.OfferAnswer
	err   error
}

func (q seatOffered) serve(r *referee) {
	r.offering[q.seat] = false
	r.offerNext[q.seat] = time.Now().Add(r.a.cfg.RetryAfter)
	switch {
	case q.err == nil && q.ans.Answer == protocol.Accept && r.a.presence.vouches(r.m.Holder(q.seat).Player, q.ans):
		r.seat(q.seat, q.epoch, q.ans.Instance)
	case q.err != nil && !errors.Is(q.err, nats.ErrNoResponders) && !errors.Is(q.err, context.DeadlineExceeded):
		r.log.Warn().Err(q.err).Stringer("seat", q.seat).Msg("seat not offered")
	}
}

// pause ends the referee in good order: the clocks stop, the lease goes to
// whoever takes the game up next. Ctx bounds what is stored.
type pause struct{ ctx context.Context }

func (q pause) serve(r *referee) {
	if len(r.unkept) > 0 {
		r.catchUpLog()
	} else if event := r.m.Halt("the platform pauses", time.Now()); event != nil {
		if err := r.j.append(q.ctx, event, 0); err == nil {
			r.m.Commit(r.j.last, time.Now())
			r.tell()
		} else {
			r.log.Warn().Err(err).Msg("clocks not stored at the stop; they go on from the last entry")
		}
	}
	r.a.leases.release(q.ctx, string(r.id))
	r.stop(errStopped)
}
