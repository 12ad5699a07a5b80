package livegame

import (
	"slices"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"sparring/game"
	"sparring/protocol"
)

// seated returns the player's seat if the request comes from the instance that
// holds it now. Otherwise, and for the repetition of a request that took effect,
// it returns the answer.
func (g *Game) seated(p protocol.PlayerID, instance protocol.InstanceID, epoch uint64, req request, now time.Time) (game.Seat, *protocol.ActAnswer) {
	seat, held := g.SeatOf(p)
	if !held {
		return 0, g.refuse(now, protocol.Denied, "this player has no seat in this game")
	}
	if g.endWithheld {
		return seat, g.unanswered()
	}
	if before, ok := g.recent[seat].find(req.id); ok {
		if !req.repeats(before) {
			return seat, g.refuse(now, protocol.Malformed, "id: that of another request in this game")
		}
		ans := protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Duplicate}, Receipt: before.receipt}
		g.fill(&ans, now)
		return seat, &ans
	}
	h := g.snap.Holders[seat]
	if h.Instance != instance || h.Epoch != epoch {
		return seat, g.refuse(now, protocol.Stale, "the seat is held by another instance or epoch")
	}
	return seat, nil
}

// unanswered is the answer to requests on which nothing can be ruled yet, such as while
// the end of the game is held back until it is stored: they are sent again.
func (*Game) unanswered() *protocol.ActAnswer {
	return &protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Unanswered}}
}

// SeatOf returns the seat of a player.
func (g *Game) SeatOf(p protocol.PlayerID) (game.Seat, bool) {
	for seat, h := range g.snap.Holders {
		if h.Player == p {
			return game.Seat(seat), true
		}
	}
	return 0, false
}

func (g *Game) refuse(now time.Time, c protocol.Code, format string, args ...any) *protocol.ActAnswer {
	ans := protocol.ActAnswer{Answer: protocol.Answer{Error: protocol.Refuse(c, format, args...)}}
	g.fill(&ans, now)
	return &ans
}

// Move rules on a move. Without an event nothing has changed and the answer is
// final; with one, Commit returns the answer.
func (g *Game) Move(p protocol.PlayerID, req protocol.MoveRequest, arrived, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	asked := requested(req.ID, protocol.ActMove, req.Ply, req.Move)
	seat, done := g.seated(p, req.Instance, req.Epoch, asked, now)
	if done != nil {
		return nil, *done
	}
	if ans, ok := g.repeated(seat, req, now); ok {
		return nil, ans
	}
	if g.Over() {
		return nil, *g.refuse(now, protocol.Over, "the game has ended")
	}
	if req.Ply != len(g.snap.Moves) {
		return nil, *g.refuse(now, protocol.Stale, "this is ply %d", len(g.snap.Moves))
	}
	if g.pos.Turn() != seat {
		return nil, *g.refuse(now, protocol.NotYourTurn, "the other seat is to act")
	}
	key, ok := parseKey(req.Key)
	if !ok {
		return nil, *g.refuse(now, protocol.Malformed, "key: want 16 hex digits")
	}
	move, err := g.pos.Parse(req.Move)
	if err != nil {
		return nil, *g.refuse(now, protocol.Illegal, "the rules do not allow this move")
	}
	if e := g.full(now); e != nil { // before the move is on the board: the event has the position
		return e, protocol.ActAnswer{}
	}
	if len(g.snap.Moves) >= protocol.MaxPlies {
		return g.end(game.Outcome{Reason: protocol.ReasonVoid}, nil, "", now, "the game has as many plies as a game can have",
			g.refuse(now, protocol.Over, "void: the game has as many plies as a game can have"))
	}
	text := g.pos.Format(move)
	if err := g.pos.Play(move); err != nil {
		return nil, *g.refuse(now, protocol.Illegal, "the rules do not allow this move")
	}
	credit := g.lag[seat].credit(time.Duration(min(req.LagMS, 60_000)) * time.Millisecond)
	charged, inTime := g.clock.Stop(arrived, credit)
	if !inTime {
		g.pos.Undo()
		return g.flagged(seat, req.ID, now, g.refuse(now, protocol.Late, "the flag had fallen"))
	}
	if req.Key != "" && key != g.pos.Key() { // checked after the flag, so that a wrong key can't save a lost game
		ruling := game.KeyText(g.pos.Key())
		g.pos.Undo()
		outcome := g.disputed(seat)
		e, ans := g.end(outcome, &seat, req.ID, now, "the mover's position key differs from the referee's",
			g.refuse(now, protocol.Over, "%s: your position key after this move is not ours, which is %s", outcome.Reason, ruling))
		e.Dispute = &protocol.Dispute{Move: text, Claimed: req.Key, Ruled: ruling}
		return e, ans
	}
	clocks := g.clock.Clocks(now).Seats[seat]
	g.receipt = &protocol.Receipt{
		Ply: len(g.snap.Moves) + 1, Received: arrived.UTC(), LagMS: credit.Milliseconds(), ChargedMS: charged.Milliseconds(),
		LeftMS: clocks.LeftMS, Periods: clocks.Periods, WaitedMS: max(now.Sub(arrived), 0).Milliseconds(),
	}
	g.snap.Moves, g.movers = append(g.snap.Moves, text), append(g.movers, seat)
	g.snap.TakebackBy = nil
	if g.snap.DrawBy != nil && *g.snap.DrawBy != seat {
		g.snap.DrawBy = nil // a move declines the offer
	}
	asked.receipt = g.receipt
	g.accept(seat, asked)
	if outcome := g.pos.Outcome(); outcome.Over() {
		g.finish(outcome)
		e := g.event(protocol.EventEnd, &seat, req.ID, now, nil)
		e.Receipt = g.receipt
		return e, protocol.ActAnswer{}
	}
	e := g.event(protocol.EventMove, &seat, req.ID, now, g.start)
	e.Receipt = g.receipt
	return e, protocol.ActAnswer{}
}

// disputed returns how a game ends for a position key of the mover that is not the referee's.
// Nobody loses it, but in a rated game only the seat's first move tells that its program has
// other keys or other rules. Later the referee's position stands: otherwise whoever is about
// to lose could void the game.
func (g *Game) disputed(seat game.Seat) game.Outcome {
	if g.snap.Terms.Rated && slices.Contains(g.movers[len(g.snap.Terms.Moves):], seat) {
		return game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonIllegal}
	}
	return game.Outcome{Reason: protocol.ReasonDispute}
}

// repeated answers the last move when its holder sends it again with another id.
func (g *Game) repeated(seat game.Seat, req protocol.MoveRequest, now time.Time) (protocol.ActAnswer, bool) {
	last := len(g.snap.Moves) - 1
	if last < 0 || req.Ply != last {
		return protocol.ActAnswer{}, false
	}
	before := g.pos.Clone()
	before.Undo()
	move, err := before.Parse(req.Move)
	if err != nil || before.Turn() != seat || before.Format(move) != g.snap.Moves[last] {
		return protocol.ActAnswer{}, false
	}
	ans := protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Duplicate}, Receipt: g.receipt}
	g.fill(&ans, now)
	return ans, true
}

func parseKey(text string) (uint64, bool) {
	if text == "" {
		return 0, true
	}
	key, err := strconv.ParseUint(text, 16, 64)
	return key, err == nil && len(text) == 16
}

// accept prepares the answer that Commit returns and keeps it for repetitions.
func (g *Game) accept(seat game.Seat, req request) {
	g.caused = protocol.ActAnswer{Receipt: req.receipt}
	g.recent[seat].keep(req)
}

// Act rules on a resignation or a step of a draw or takeback offer. Its results
// are those of Move.
//
// Once the flag of the seat to act has fallen, it decides the game. A request of that
// seat is late, like a move. The opponent's must wait: a move may still be on its way
// that arrived in time, or with lag to credit. It is sent again until that is settled.
func (g *Game) Act(p protocol.PlayerID, action protocol.Action, req protocol.ActRequest, arrived, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	ply := req.Ply
	if action == protocol.ActResign {
		ply = noPly // it counts at any ply, and a sender that is told of a move names the next one
	}
	asked := requested(req.ID, action, ply, string(req.Step))
	seat, done := g.seated(p, req.Instance, req.Epoch, asked, now)
	switch {
	case done != nil:
		return nil, *done
	case g.Over():
		return nil, *g.refuse(now, protocol.Over, "the game has ended")
	case action != protocol.ActResign && req.Ply != len(g.snap.Moves):
		return nil, *g.refuse(now, protocol.Stale, "this is ply %d", len(g.snap.Moves))
	}
	if err := req.CheckFor(action); err != nil {
		return nil, *g.refuse(now, protocol.Malformed, "%v", err)
	}
	if flag, limited := g.clock.Flag(); limited && arrived.After(flag) {
		if seat != g.pos.Turn() {
			return nil, *g.unanswered()
		}
		return g.flagged(seat, req.ID, now, g.refuse(now, protocol.Late, "the flag had fallen"))
	}
	if e := g.full(now); e != nil {
		return e, protocol.ActAnswer{}
	}
	switch action {
	case protocol.ActResign:
		g.accept(seat, asked)
		why, text := protocol.ReasonResign, protocol.FaultText(req.Fault, p)
		if text != "" {
			why = req.Fault
		}
		return g.end(game.Outcome{Result: game.WonBy(seat.Other()), Reason: why}, &seat, req.ID, now, text, nil)
	case protocol.ActDraw:
		return g.draw(seat, req, asked, now)
	case protocol.ActTakeback:
		return g.takeback(seat, req, asked, now)
	}
	return nil, *g.refuse(now, protocol.UnknownVerb, "want resign, draw or takeback")
}

func (g *Game) draw(seat game.Seat, req protocol.ActRequest, asked request, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	open := g.snap.DrawBy
	theirs := open != nil && *open != seat
	switch {
	case req.Step == protocol.StepAccept && !theirs, req.Step == protocol.StepDecline && open == nil:
		return nil, *g.refuse(now, protocol.NotOffered, "no draw is offered")
	case req.Step == protocol.StepOffer && open != nil && !theirs:
		return nil, *g.refuse(now, protocol.NotOffered, "your offer is already open")
	case req.Step == protocol.StepOffer && !theirs && g.drawPly.done(seat, len(g.snap.Moves)):
		return nil, *g.refuse(now, protocol.RateLimited, "only one draw offer per move")
	case req.Step == protocol.StepDecline:
		g.snap.DrawBy = nil // declined, or withdrawn if it was the seat's own
	case theirs: // accepted, or offered by both
		g.accept(seat, asked)
		return g.end(game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}, &seat, req.ID, now, "", nil)
	default:
		g.snap.DrawBy = &seat
		g.drawPly.note(seat, len(g.snap.Moves))
	}
	g.accept(seat, asked)
	return g.event(protocol.EventOffer, &seat, req.ID, now, nil), protocol.ActAnswer{}
}

func (g *Game) takeback(seat game.Seat, req protocol.ActRequest, asked request, now time.Time) (*protocol.Event, protocol.ActAnswer) {
	open := g.snap.TakebackBy
	theirs := open != nil && *open != seat
	switch {
	case g.snap.Terms.Rated:
		return nil, *g.refuse(now, protocol.Illegal, "no takebacks in rated games")
	case g.snap.Terms.Strict:
		return nil, *g.refuse(now, protocol.Illegal, "no takebacks in strict games")
	case req.Step == protocol.StepAccept && !theirs, req.Step == protocol.StepDecline && open == nil:
		return nil, *g.refuse(now, protocol.NotOffered, "no takeback is asked for")
	case req.Step == protocol.StepOffer && open != nil:
		return nil, *g.refuse(now, protocol.NotOffered, "a takeback is already asked for")
	case req.Step == protocol.StepOffer && g.plies(seat) == 0:
		return nil, *g.refuse(now, protocol.Illegal, "there is no move to take back")
	case req.Step == protocol.StepOffer && g.takebackPly.done(seat, len(g.snap.Moves)):
		return nil, *g.refuse(now, protocol.RateLimited, "only one takeback request per move")
	case req.Step == protocol.StepOffer:
		g.snap.TakebackBy = &seat
		g.takebackPly.note(seat, len(g.snap.Moves))
	case req.Step == protocol.StepDecline:
		g.snap.TakebackBy = nil
	default:
		// Clocks are not turned back, and the interrupted turn is charged like
		// any other.
		g.clock.Pause(now)
		n := g.plies(*open)
		for range n {
			g.pos.Undo()
		}
		g.snap.Moves, g.movers = g.snap.Moves[:len(g.snap.Moves)-n], g.movers[:len(g.movers)-n]
		g.snap.DrawBy, g.snap.TakebackBy, g.receipt = nil, nil, nil
		g.drawPly, g.takebackPly = oncePerMove{}, oncePerMove{}
		g.accept(seat, asked)
		return g.event(protocol.EventTakeback, &seat, req.ID, now, g.start), protocol.ActAnswer{}
	}
	g.accept(seat, asked)
	return g.event(protocol.EventOffer, &seat, req.ID, now, nil), protocol.ActAnswer{}
}

// plies returns how many moves to undo to return to the seat's last decision; 0 if
// it has made none.
func (g *Game) plies(seat game.Seat) int {
	for n := 1; n <= len(g.movers)-len(g.snap.Terms.Moves); n++ {
		if g.movers[len(g.movers)-n] == seat {
			return n
		}
	}
	return 0
}

// A seat may say chatBurst things at once, and then one in chatPause: a program that used
// all its requests for that would fill its opponent's screen.
const (
	chatBurst = 10
	chatPause = time.Second
)

// Chat checks whether a message may be passed on and returns its receiver.
func (g *Game) Chat(p protocol.PlayerID, req protocol.ChatRequest, now time.Time) (to protocol.PlayerID, ans protocol.ActAnswer) {
	asked := requested(req.ID, protocol.ActChat, noPly, req.Text)
	seat, done := g.seated(p, req.Instance, req.Epoch, asked, now)
	if done != nil {
		return "", *done
	}
	if g.chats[seat] == nil {
		g.chats[seat] = rate.NewLimiter(rate.Every(chatPause), chatBurst)
	}
	if !g.chats[seat].AllowN(now, 1) {
		return "", *g.refuse(now, protocol.RateLimited, "too many messages: wait a moment")
	}
	ans = protocol.ActAnswer{}
	g.recent[seat].keep(asked)
	g.fill(&ans, now)
	return g.snap.Holders[seat.Other()].Player, ans
}
