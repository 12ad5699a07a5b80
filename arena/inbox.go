package arena

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/protocol"
)

// request is a task for a referee's goroutine.
type request interface{ serve(r *referee) }

// inboxSize is how many requests may wait for a referee before senders block, and
// laneSize how many of one player, before they are refused. The referee itself may
// be waiting for the store.
const (
	inboxSize = 64
	laneSize  = 32
)

// receive takes a request of a player, from any goroutine. It does not block: the
// next message must not wait for the time of its arrival.
func (r *referee) receive(q protocol.GameRequest) {
	lane := r.lanes[game.First]
	if q.Player == r.players[game.Second] {
		lane = r.lanes[game.Second]
	}
	select {
	case lane <- (*playerRequest)(&q):
	default:
		q.Answer(protocol.ActAnswer{Answer: refusal(protocol.RateLimited, "too many requests wait for the referee")})
	}
}

// waiting returns a request that has arrived.
func (r *referee) waiting() (request, bool) {
	select {
	case q := <-r.inbox:
		return q, true
	case q := <-r.lanes[game.First]:
		return q, true
	case q := <-r.lanes[game.Second]:
		return q, true
	default:
		return nil, false
	}
}

// send hands a request to the referee, from any other goroutine. It is dropped
// when the referee has stopped.
func (r *referee) send(q request) {
	select {
	case r.inbox <- q:
	case <-r.done:
	}
}

// serve handles a request, unless the game is no longer ours.
func (r *referee) serve(q request) {
	if r.ctx.Err() == nil {
		q.serve(r)
	}
}

// playerRequest is a request of a player.
type playerRequest protocol.GameRequest

func (q *playerRequest) serve(r *referee) {
	var event *protocol.Event
	var ans protocol.ActAnswer
	now := time.Now()
	switch {
	case q.Move != nil:
		event, ans = r.game.Move(q.Player, *q.Move, q.Arrived, now)
		if event != nil && event.Receipt != nil {
			r.a.metrics.moves.Inc()
			r.a.metrics.waited.Observe(now.Sub(q.Arrived).Seconds())
		}
	case q.Act != nil:
		event, ans = r.game.Act(q.Player, q.Action, *q.Act, q.Arrived, now)
	case q.Chat != nil:
		var to protocol.PlayerID
		if to, ans = r.game.Chat(q.Player, *q.Chat, now); to != "" {
			r.a.server.Notify(to, protocol.Notice{Kind: protocol.NoticeChat, ID: q.Chat.ID, Game: r.id, From: q.Player, Text: q.Chat.Text})
		}
	}
	if event == nil && !r.owns() {
		return // its owner answers
	}
	if event != nil && q.Move != nil {
		r.noteWatching(event, q.Move)
	}
	ans = r.applyFor(event, ans, q.Move != nil && q.Move.AnswerOnly)
	if ans.Error != nil {
		r.a.metrics.refused.WithLabelValues(string(ans.Error.Code)).Inc()
	}
	(*protocol.GameRequest)(q).Answer(ans)
}

// owns reports whether no other arena can be the referee. A refusal, which no
// entry of the log confirms, must not contradict the owner's ruling.
func (r *referee) owns() bool {
	return r.recorded || len(r.unlogged) > 0 || r.a.owners.fresh(string(r.id))
}

// try hands a request to the referee unless its inbox is full, from any goroutine
// that must not block.
func (r *referee) try(q request) {
	select {
	case r.inbox <- q:
	default:
	}
}

// seatOffered is the answer to the offer of a vacant seat.
type seatOffered struct {
	seat  game.Seat
	epoch uint64
	spare bool
	ans   protocol.OfferAnswer
	err   error
}

func (q seatOffered) serve(r *referee) {
	r.offering[q.seat] = false
	r.offerNext[q.seat] = time.Now().Add(r.a.cfg.RetryAfter)
	if q.spare {
		r.spared[q.seat]++
	}
	player := r.game.Holder(q.seat).Player
	switch {
	case q.spare && q.err == nil && q.ans.Answer == protocol.Busy:
		r.offerNext[q.seat] = time.Time{} // another one may have a slot
		if h := r.game.Holder(q.seat); h.Instance == "" {
			r.fill(q.seat, h, time.Now())
		}
	case q.err == nil && q.ans.Answer == protocol.Accept && r.a.presence.authentic(player, q.ans):
		if r.a.presence.leaving(player, q.ans.Instance) != "" || r.a.presence.staysSilent(player, q.ans.Instance) || r.a.reach.gone(r.a.presence.seen(player, q.ans.Instance), r.a.cfg.LostAfter) {
			// It would lose the seat again at once, and so keep it from other instances, and
			// the game from its end.
			r.a.complain(protocol.OwnPool(player), "vacant seat accepted by an instance without heartbeats", func(line *zerolog.Event) {
				line.Str("game", string(r.id)).Stringer("seat", q.seat).Str("player", string(player)).Str("instance", string(q.ans.Instance))
			})
			return
		}
		r.seat(q.seat, q.epoch, q.ans.Instance)
	case errors.Is(q.err, protocol.ErrOfferAnswer):
		r.a.complain(protocol.OwnPool(player), "malformed answer to an offer", func(line *zerolog.Event) {
			line.Err(q.err).Str("game", string(r.id)).Stringer("seat", q.seat)
		})
	}
}

// pause stops the clocks and ends the referee; its lease is free at once. Ctx
// bounds the wait for the store.
type pause struct{ ctx context.Context }

func (q pause) serve(r *referee) {
	if len(r.unlogged) > 0 {
		r.resumeLog()
	} else if event := r.game.Halt("the platform pauses", time.Now()); event != nil {
		if err := r.j.append(q.ctx, event, 0); err == nil {
			r.game.Commit(r.j.last, time.Now())
			r.sendStates()
		} else {
			r.log.Warn().Err(err).Msg("stopped clocks not stored; the next referee continues from the last entry")
		}
	}
	r.a.owners.release(q.ctx, string(r.id))
	r.stop(errStopped)
}
