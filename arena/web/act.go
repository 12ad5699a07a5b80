package web

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"sparring/arena"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/protocol"
	"sparring/screen/view"
)

// allow refuses a request that comes too soon after the others.
func allow(l *rate.Limiter, what string) (message.Answer, bool) {
	if l.Allow() {
		return message.Answer{}, true
	}
	return message.Refused(protocol.RateLimited, "too many "+what+" in a short time"), false
}

// seated is a seat that the person holds.
type seated struct {
	protocol.Snapshot
	seat  game.Seat
	epoch uint64
}

// seat returns the person's seat in a game once its instance holds it. A person
// that returns may have lost the seat, and gets it back within a moment.
func (p *participant) seat(ctx context.Context, g protocol.GameID) (seated, error) {
	for {
		s, err := p.hub.snapshot(ctx, g)
		if errors.Is(err, arena.ErrNoGame) {
			return seated{}, protocol.Refuse(protocol.NoGame, "no such game")
		}
		if err != nil {
			return seated{}, err
		}
		seat, ok := seatOf(&s, p.id)
		if !ok {
			return seated{}, protocol.Refuse(protocol.Denied, "this player has no seat in this game")
		}
		h := s.Holders[seat]
		if s.Status == protocol.Finished || h.Instance == gatewayInstance {
			return seated{s, seat, h.Epoch}, nil
		}
		if err := p.ready(ctx); err != nil {
			return seated{}, err
		}
		select {
		case <-ctx.Done():
			return seated{}, protocol.Refuse(protocol.Unavailable, "the seat can't be taken back now")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// act sends an action from the person's seat. If the seat changes hands meanwhile, it
// is sent again for the new epoch.
func (p *participant) act(ctx context.Context, g protocol.GameID, send func(seated) (protocol.ActAnswer, error)) message.Answer {
	if a, ok := allow(p.acts, "actions"); !ok {
		return a
	}
	for {
		s, err := p.seat(ctx, g)
		if err != nil {
			return message.Failed(err)
		}
		ans, err := send(s)
		if err == nil {
			return message.Answer{Code: ans.Code, Game: g, Seq: ans.Seq}
		}
		if !errors.Is(err, &protocol.Error{Code: protocol.Stale}) {
			return message.Failed(err)
		}
		if now, again := p.seat(ctx, g); again != nil || now.epoch == s.epoch {
			return message.Failed(err) // it is the ply that is out of date
		}
	}
}

func (h *hub) move(ctx context.Context, t *tab, r message.Request) message.Answer {
	p := t.here
	return p.act(ctx, r.Game, func(s seated) (protocol.ActAnswer, error) {
		return p.client.SendMove(ctx, r.Game, protocol.MoveRequest{
			Header: protocol.Header{ID: r.ID}, Epoch: s.epoch, Ply: r.Ply, Move: r.Move, LagMS: t.lag(time.Duration(min(r.LagMS, 60_000)) * time.Millisecond).Milliseconds(),
		})
	})
}

func (h *hub) resign(ctx context.Context, t *tab, r message.Request) message.Answer {
	p := t.here
	return p.act(ctx, r.Game, func(s seated) (protocol.ActAnswer, error) {
		return p.client.SendAct(ctx, r.Game, protocol.ActResign, protocol.ActRequest{
			Header: protocol.Header{ID: r.ID}, Epoch: s.epoch, Ply: len(s.Moves),
		})
	})
}

func (h *hub) draw(ctx context.Context, t *tab, r message.Request) message.Answer {
	return t.here.negotiate(ctx, r, protocol.ActDraw)
}

func (h *hub) takeback(ctx context.Context, t *tab, r message.Request) message.Answer {
	if s, err := h.snapshot(ctx, r.Game); err == nil && s.Status == protocol.Finished {
		at, a, ok := h.finished(ctx, t, r.Game)
		if !ok {
			return a
		}
		return h.resume(ctx, t, at, r)
	}
	return t.here.negotiate(ctx, r, protocol.ActTakeback)
}

func (p *participant) negotiate(ctx context.Context, r message.Request, action protocol.Action) message.Answer {
	return p.act(ctx, r.Game, func(s seated) (protocol.ActAnswer, error) {
		return p.client.SendAct(ctx, r.Game, action, protocol.ActRequest{
			Header: protocol.Header{ID: r.ID}, Epoch: s.epoch, Ply: r.Ply, Step: r.Step,
		})
	})
}

// name changes the display name, as often as a request to /api may.
func (h *hub) name(ctx context.Context, t *tab, r message.Request) message.Answer {
	if bounded(h.changes, t.ID) != nil {
		return message.Refused(protocol.RateLimited, "too many changes in a short time")
	}
	name, err := cleanName(r.Name)
	switch {
	case errors.Is(err, errLevelName):
		return message.Refused(codeLevel, err.Error())
	case err != nil:
		return message.Refused(codeName, err.Error())
	}
	if err := h.people.rename(ctx, t.ID, name); err != nil {
		return message.Refused(protocol.Unavailable, "the name can't be stored now")
	}
	t.here.rename(name)
	return message.Answer{}
}

// why says why the rules refuse a move in a game's position.
func (h *hub) why(ctx context.Context, t *tab, r message.Request) message.Answer {
	s, err := h.snapshot(ctx, r.Game)
	if err != nil {
		return notRead(err)
	}
	pos, err := setUp(s.Terms, s.Moves)
	if err != nil {
		return message.Refused(protocol.Unavailable, "the position can't be set up")
	}
	touched := []string{r.From}
	if r.To != "" {
		touched = append(touched, r.To)
	}
	reason, err := view.Why(pos, touched...)
	if err != nil {
		return message.Refused(protocol.Malformed, "from, to: want points of the board")
	}
	return message.Answer{Game: r.Game, Reason: reason}
}
