package scripted

import (
	"time"

	"sparring/game"
	"sparring/protocol"
)

// rule returns the platform's answer to a request in a game.
func (p *Platform) rule(g *Game, q protocol.GameRequest) (ans protocol.ActAnswer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.Move != nil {
		g.Requests = append(g.Requests, Request{MoveRequest: *q.Move, Player: q.Player, Arrived: q.Arrived})
		defer func(n int) {
			if n < len(g.Requests) {
				g.Requests[n].Code = codeOf(ans)
			}
			p.broadcast()
		}(len(g.Requests) - 1)
	}
	defer func() {
		if h := p.hooks.Answer; h != nil {
			h(g, q, &ans)
		}
	}()
	if act := p.hooks.Act; act != nil {
		if a := act(g, q); a != nil {
			return *a
		}
	}
	seat, ok := g.SeatOf(q.Player)
	if !ok {
		return refuse(protocol.Denied)
	}
	id, instance, epoch := requestOf(q)
	if before, ok := g.answered[string(q.Player)+"/"+id]; ok {
		before.Code = protocol.Duplicate
		return before
	}
	switch h := g.Holders[seat]; {
	case g.Status == protocol.Finished:
		return refuse(protocol.Over)
	case h.Epoch != epoch || h.Instance != instance:
		return refuse(protocol.Stale)
	}
	ans = p.apply(g, q, seat)
	if ans.Error == nil {
		ans.Game, ans.Ply = g.Game, len(g.Moves)
		ans.Seq, ans.Unkept = g.order()
		c := g.clocksAt(time.Now())
		ans.Clocks = &c
		g.answered[string(q.Player)+"/"+id] = ans
	}
	return ans
}

func codeOf(a protocol.ActAnswer) protocol.Code {
	switch {
	case a.Error != nil:
		return a.Error.Code
	case a.Code == "":
		return protocol.Accepted
	case a.Code == protocol.Unanswered:
		return ""
	}
	return a.Code
}

func refuse(c protocol.Code) (a protocol.ActAnswer) {
	a.Error = protocol.Refuse(c, "no")
	return a
}

// Refuse returns a refusal, for hooks.
func Refuse(c protocol.Code) *protocol.ActAnswer {
	a := refuse(c)
	return &a
}

// Silence is no answer, for hooks.
func Silence() *protocol.ActAnswer {
	return &protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Unanswered}}
}

func requestOf(q protocol.GameRequest) (id string, instance protocol.InstanceID, epoch uint64) {
	switch {
	case q.Move != nil:
		return q.Move.ID, q.Move.Instance, q.Move.Epoch
	case q.Act != nil:
		return q.Act.ID, q.Act.Instance, q.Act.Epoch
	}
	return q.Chat.ID, q.Chat.Instance, q.Chat.Epoch
}

// apply carries out a request of the holder of a seat.
func (p *Platform) apply(g *Game, q protocol.GameRequest, seat game.Seat) (ans protocol.ActAnswer) {
	switch {
	case q.Move != nil:
		return p.applyMove(g, *q.Move, q.Arrived, seat)
	case q.Chat != nil:
		g.Chats = append(g.Chats, q.Chat.Text)
		if other := g.Holders[seat.Other()].Player; other != Script {
			p.notify(other, protocol.Notice{Kind: protocol.NoticeChat, ID: q.Chat.ID, Game: g.Game, From: q.Player, Text: q.Chat.Text})
		}
		return ans
	}
	if q.Act.CheckFor(q.Action) != nil {
		return refuse(protocol.Malformed)
	}
	g.Acts = append(g.Acts, string(q.Action)+" "+string(q.Act.Step))
	offered := &g.DrawBy
	if q.Action == protocol.ActTakeback {
		offered = &g.TakebackBy
	}
	theirs := *offered != nil && **offered == seat.Other()
	step := q.Act.Step
	if step == protocol.StepOffer && theirs {
		step = protocol.StepAccept
	}
	switch {
	case q.Action == protocol.ActResign:
		p.End(g, game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonResign})
	case q.Action == protocol.ActTakeback && g.Terms.Rated:
		return refuse(protocol.NotOffered)
	case step == protocol.StepOffer:
		by := seat
		*offered = &by
		p.Advance(g)
	case step == protocol.StepAccept && !theirs:
		return refuse(protocol.NotOffered)
	case step == protocol.StepDecline:
		*offered = nil
		p.Advance(g)
	case q.Action == protocol.ActDraw:
		p.End(g, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement})
	default:
		p.TakeBack(g, seat.Other())
	}
	return ans
}

// applyMove plays a move of the holder of a seat, or refuses it.
func (p *Platform) applyMove(g *Game, r protocol.MoveRequest, arrived time.Time, seat game.Seat) (ans protocol.ActAnswer) {
	switch {
	case r.Ply != len(g.Moves):
		return refuse(protocol.Stale)
	case g.Status != protocol.Playing:
		return refuse(protocol.Paused)
	case g.Turn != seat:
		return refuse(protocol.NotYourTurn)
	}
	m, err := g.pos.Parse(r.Move)
	if err != nil {
		return refuse(protocol.Illegal)
	}
	if r.Key != "" {
		if err := g.pos.Play(m); err != nil {
			return refuse(protocol.Illegal)
		}
		key := game.KeyText(g.pos.Key())
		g.pos.Undo()
		if key != r.Key {
			p.End(g, game.Outcome{Result: game.Undecided, Reason: protocol.ReasonDispute})
			return refuse(protocol.Over)
		}
	}
	if p.play(g, m, arrived, 0) {
		return refuse(protocol.Late)
	}
	ans.Receipt = g.receipt
	return ans
}
