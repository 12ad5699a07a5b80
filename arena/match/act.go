package match

import (
	"strconv"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// seated finds the seat that a player holds and checks that the request comes
// from the instance that holds it now. A repetition of a request that took
// effect is answered at once.
func (m *Match) seated(p protocol.PlayerID, instance protocol.InstanceID, epoch uint64, id string, now time.Time) (game.Seat, *protocol.ActAnswer) {
	seat, held := m.SeatOf(p)
	if !held {
		return 0, m.refuse(now, protocol.Denied, "this player has no seat in this game")
	}
	if ans, ok := m.recent.find(p, id); ok {
		ans.Code = protocol.Duplicate
		m.fill(&ans, now)
		return seat, &ans
	}
	h := m.snap.Holders[seat]
	if h.Instance != instance || h.Epoch != epoch {
		return seat, m.refuse(now, protocol.Stale, "the seat is held by another instance or epoch")
	}
	return seat, nil
}

// SeatOf is the seat of a player.
func (m *Match) SeatOf(p protocol.PlayerID) (game.Seat, bool) {
	for seat, h := range m.snap.Holders {
		if h.Player == p {
			return game.Seat(seat), true
		}
	}
	return 0, false
}

func (m *Match) refuse(now time.Time, c protocol.Code, format string, args ...any) *protocol.ActAnswer {
	ans := protocol.ActAnswer{Answer: protocol.Answer{Error: protocol.Refuse(c, format, args...)}}
	m.fill(&ans, now)
	return &ans
}

// Move judges a move. Without an event nothing has changed and the answer is
// final; with one, the answer comes from Commit.
func (m *Match) Move(p protocol.PlayerID, req protocol.MoveRequest, arrived, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	seat, done := m.seated(p, req.Instance, req.Epoch, req.ID, now)
	if done != nil {
		return nil, *done
	}
	if ans, ok := m.repeated(seat, req, now); ok {
		return nil, ans
	}
	if m.Over() {
		return nil, *m.refuse(now, protocol.Over, "the game has ended")
	}
	if req.Ply != len(m.snap.Moves) {
		return nil, *m.refuse(now, protocol.Stale, "this is ply %d", len(m.snap.Moves))
	}
	if m.pos.Turn() != seat {
		return nil, *m.refuse(now, protocol.NotYourTurn, "the other seat is to act")
	}
	key, ok := parseKey(req.Key)
	if !ok {
		return nil, *m.refuse(now, protocol.Malformed, "key: want 16 hex digits")
	}
	move, err := m.pos.Parse(req.Move)
	if err != nil {
		return nil, *m.refuse(now, protocol.Illegal, "the rules refuse this move")
	}
	text := m.pos.Format(move)
	if err := m.pos.Play(move); err != nil {
		return nil, *m.refuse(now, protocol.Illegal, "the rules refuse this move")
	}
	if e := m.full(now); e != nil {
		m.pos.Undo()
		return e, protocol.ActAnswer{}
	}
	credit := m.lag[seat].credit(time.Duration(min(req.LagMS, 60_000)) * time.Millisecond)
	charged, inTime := m.keeper.Stop(arrived, credit)
	if !inTime {
		m.pos.Undo()
		return m.flagged(seat, req.ID, now, m.refuse(now, protocol.Late, "the flag had fallen"))
	}
	if req.Key != "" && key != m.pos.Key() { // after the flag: it is no way out of lost time
		ruling := game.KeyText(m.pos.Key())
		m.pos.Undo()
		e, ans := m.end(game.Outcome{Reason: protocol.ReasonDispute}, &seat, req.ID, now,
			"the mover's position key differs from the referee's",
			m.refuse(now, protocol.Over, "void: your position key after this move is not ours, which is %s", ruling))
		e.Dispute = &protocol.Dispute{Move: text, Claimed: req.Key, Ruled: ruling}
		return e, ans
	}
	clocks := m.keeper.Clocks(now).Seats[seat]
	m.receipt = &protocol.Receipt{
		Ply: len(m.snap.Moves) + 1, Received: arrived.UTC(), LagMS: credit.Milliseconds(), ChargedMS: charged.Milliseconds(),
		LeftMS: clocks.LeftMS, Periods: clocks.Periods, WaitedMS: max(now.Sub(arrived), 0).Milliseconds(),
	}
	m.snap.Moves = append(m.snap.Moves, text)
	m.snap.TakebackBy = nil
	if m.snap.DrawBy != nil && *m.snap.DrawBy != seat {
		m.snap.DrawBy = nil // to move on is to decline
	}
	m.accept(p, req.ID, protocol.ActAnswer{Receipt: m.receipt})
	if outcome := m.pos.Outcome(); outcome.Over() {
		m.finish(outcome)
		e := m.event(protocol.EventEnd, &seat, req.ID, now, nil)
		e.Receipt = m.receipt
		return e, protocol.ActAnswer{}
	}
	e := m.event(protocol.EventMove, &seat, req.ID, now, m.start)
	e.Receipt = m.receipt
	return e, protocol.ActAnswer{}
}

// repeated answers the move that has just been made when the same holder
// sends it again under another id.
func (m *Match) repeated(seat game.Seat, req protocol.MoveRequest, now time.Time) (protocol.ActAnswer, bool) {
	last := len(m.snap.Moves) - 1
	if last < 0 || req.Ply != last {
		return protocol.ActAnswer{}, false
	}
	before := m.pos.Clone()
	before.Undo()
	move, err := before.Parse(req.Move)
	if err != nil || before.Turn() != seat || before.Format(move) != m.snap.Moves[last] {
		return protocol.ActAnswer{}, false
	}
	ans := protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Duplicate}, Receipt: m.receipt}
	m.fill(&ans, now)
	return ans, true
}

func parseKey(text string) (uint64, bool) {
	if text == "" {
		return 0, true
	}
	key, err := strconv.ParseUint(text, 16, 64)
	return key, err == nil && len(text) == 16
}

// accept prepares the answer that Commit gives, and keeps it for repetitions.
func (m *Match) accept(p protocol.PlayerID, id string, ans protocol.ActAnswer) {
	m.caused = ans
	m.recent.keep(p, id, ans)
}

// Act judges a resignation, or a step of a draw or takeback offer. Events and
// answers are as in Move.
func (m *Match) Act(p protocol.PlayerID, action protocol.Action, req protocol.ActRequest, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	seat, done := m.seated(p, req.Instance, req.Epoch, req.ID, now)
	switch {
	case done != nil:
		return nil, *done
	case m.Over():
		return nil, *m.refuse(now, protocol.Over, "the game has ended")
	case action != protocol.ActResign && req.Ply != len(m.snap.Moves):
		return nil, *m.refuse(now, protocol.Stale, "this is ply %d", len(m.snap.Moves))
	case action != protocol.ActResign && req.Step == "":
		return nil, *m.refuse(now, protocol.Malformed, "step: want offer, accept or decline")
	}
	if e := m.full(now); e != nil {
		return e, protocol.ActAnswer{}
	}
	switch action {
	case protocol.ActResign:
		m.accept(p, req.ID, protocol.ActAnswer{})
		return m.end(game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonResign}, &seat, req.ID, now, "", nil)
	case protocol.ActDraw:
		return m.draw(p, seat, req, now)
	case protocol.ActTakeback:
		return m.takeback(p, seat, req, now)
	}
	return nil, *m.refuse(now, protocol.UnknownVerb, "want resign, draw or takeback")
}

func (m *Match) draw(p protocol.PlayerID, seat game.Seat, req protocol.ActRequest, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	open := m.snap.DrawBy
	theirs := open != nil && *open != seat
	switch {
	case req.Step == protocol.StepAccept && !theirs, req.Step == protocol.StepDecline && open == nil:
		return nil, *m.refuse(now, protocol.NotOffered, "no draw is offered")
	case req.Step == protocol.StepOffer && open != nil && !theirs:
		return nil, *m.refuse(now, protocol.NotOffered, "your offer stands already")
	case req.Step == protocol.StepOffer && m.drawPly[seat] == len(m.snap.Moves)+1:
		return nil, *m.refuse(now, protocol.RateLimited, "one draw offer a move")
	case req.Step == protocol.StepDecline:
		m.snap.DrawBy = nil // or taken back, when it was the seat's own
	case theirs: // to offer what is offered is to accept it
		m.accept(p, req.ID, protocol.ActAnswer{})
		return m.end(game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}, &seat, req.ID, now, "", nil)
	default:
		m.snap.DrawBy = &seat
		m.drawPly[seat] = len(m.snap.Moves) + 1
	}
	m.accept(p, req.ID, protocol.ActAnswer{})
	return m.event(protocol.EventOffer, &seat, req.ID, now, nil), protocol.ActAnswer{}
}

func (m *Match) takeback(p protocol.PlayerID, seat game.Seat, req protocol.ActRequest, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	open := m.snap.TakebackBy
	theirs := open != nil && *open != seat
	switch {
	case m.snap.Terms.Rated:
		return nil, *m.refuse(now, protocol.Illegal, "no takebacks in rated games")
	case req.Step == protocol.StepAccept && !theirs, req.Step == protocol.StepDecline && open == nil:
		return nil, *m.refuse(now, protocol.NotOffered, "no takeback is asked for")
	case req.Step == protocol.StepOffer && open != nil:
		return nil, *m.refuse(now, protocol.NotOffered, "a takeback is asked for already")
	case req.Step == protocol.StepOffer && m.plies(seat) == 0:
		return nil, *m.refuse(now, protocol.Illegal, "there is no move to take back")
	case req.Step == protocol.StepOffer:
		m.snap.TakebackBy = &seat
	case req.Step == protocol.StepDecline:
		m.snap.TakebackBy = nil
	default:
		// No time is given back: what was thought is thought. The turn that
		// is broken off is charged like any other.
		m.keeper.Pause(now)
		n := m.plies(*open)
		for range n {
			m.pos.Undo()
		}
		m.snap.Moves = m.snap.Moves[:len(m.snap.Moves)-n]
		m.snap.DrawBy, m.snap.TakebackBy, m.receipt = nil, nil, nil
		m.drawPly = [2]int{}
		m.accept(p, req.ID, protocol.ActAnswer{})
		return m.event(protocol.EventTakeback, &seat, req.ID, now, m.start), protocol.ActAnswer{}
	}
	m.accept(p, req.ID, protocol.ActAnswer{})
	return m.event(protocol.EventOffer, &seat, req.ID, now, nil), protocol.ActAnswer{}
}

// plies is how many moves are undone to take back the seat's last one; 0 when
// it has made none.
func (m *Match) plies(seat game.Seat) int {
	p := m.pos.Clone()
	for n := 1; n <= len(m.snap.Moves); n++ {
		p.Undo()
		if p.Turn() == seat {
			return n
		}
	}
	return 0
}

// Chat checks that a message may be passed on, and says to whom.
func (m *Match) Chat(p protocol.PlayerID, req protocol.ChatRequest, now time.Time) (to protocol.PlayerID, ans protocol.ActAnswer) {
	seat, done := m.seated(p, req.Instance, req.Epoch, req.ID, now)
	if done != nil {
		return "", *done
	}
	ans = protocol.ActAnswer{}
	m.recent.keep(p, req.ID, ans)
	m.fill(&ans, now)
	return m.snap.Holders[seat.Other()].Player, ans
}
