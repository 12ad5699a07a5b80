package conformance

import (
	"context"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// botScenarios are in the order in which they run: those that a bot may not survive
// come last.
var botScenarios = []scenario[*botRig]{
	{"game", "play a whole game: legal moves, their keys, nothing after the end", "The game", nil, botGame},
	{"heartbeats", "send a heartbeat that names its games at least every 1.5 s while it plays", "Epochs and handover", nil, botHeartbeats},
	{"unknown-fields", "ignore fields that it does not know", "Messages", nil, botUnknownFields},
	{"drop", "ask again when states are lost, and play on", "The game", nil, botDrop},
	{"duplicate", "move once, although each state comes twice", "Messages; moves played twice (lichess-bot #869)", nil, botDuplicate},
	{"reorder", "ignore states that are older than one already seen", "Messages", nil, botReorder},
	{"delay", "play on when states come late", "Clocks and receipts", nil, botDelay},
	{"stale-clock", "subtract the age of a state from the clock before it thinks", "Clocks and receipts; time losses of good engines (lichess-bot #90, #300, #669)", nil, botStaleClock},
	{"time-trouble", "move in time with a second left", "Clocks and receipts; time losses of good engines (lichess-bot #172)", nil, botTimeTrouble},
	{"lost-request", "send a move again, with the same id, when no answer comes", "Messages", nil, botLostRequest},
	{"lost-answer", "send no other move when only the answer was lost", "Messages", nil, botLostAnswer},
	{"refusals", "wait and retry after unavailable and rate-limited", "Refusals; request floods (lichess-bot #678, #1135)", nil, botRefusals},
	{"illegal-ruling", "not repeat a move that the platform calls illegal", "Refusals; null moves for ever (lichess-bot #870)", nil, botIllegalRuling},
	{"halt", "send nothing while the game is halted, and play on afterwards", "The game", nil, botHalt},
	{"wrong-key", "survive a state with another key than its position's, and play by its own rules", "The game; repetition disagreements (lichess-bot #221)", nil, botWrongKey},
	{"unstored", "play on while the platform can't store: seq stands still", "The game; a full disk froze bots", nil, botUnstored},
	{"takeback", "play on from the position before moves that are taken back", "The game", nil, botTakeback},
	{"rewind", "go back with a platform that was restored from a backup: seq is lower, seconds later", "Messages; restored platforms", nil, botRewind},
	{"draw-offer", "answer a draw offer at most once, and play on", "The game", nil, botDrawOffer},
	{"forged", "drop states that do not name the subject on which they came", "Messages", nil, botForged},
	{"flood", "play on under thousands of invalid messages", "Messages", nil, botFlood},
	{"forgotten", "say hello when the platform does not know it any more, and play on", "Hello and heartbeats", nil, botForgotten},
	{"handover", "send nothing more when another instance has the seat", "Epochs and handover", nil, botHandover},
	{"wrong-epoch", "stop after a move is refused as stale, although the state that says why is lost", "Epochs and handover", nil, botWrongEpoch},
	{"vacated", "wait while its seat is vacant, and play on in the new epoch when it gets it back", "Epochs and handover", nil, botVacated},
	{"held", "play, or give back, a game that the platform says it holds", "Hello and heartbeats", nil, botHeld},
	{"late-finish", "stop when the game ends while it thinks", "The game; finished games left open (lichess-bot #145, #1067)", nil, botLateFinish},
	{"lost-end", "free the slot of a game whose end was lost", "Hello and heartbeats; finished games left open (gtp2ogs #159)", nil, botLostEnd},
	{"slots", "reserve a slot before it accepts: never more games than it has slots", "An offer; broken concurrency limits (lichess-bot #8, #676, #991)", nil, botSlots},
	{"offer-twice", "count a match that is offered twice once", "An offer; duplicate engines (lichess-bot #523)", nil, botOfferTwice},
	{"no-grant", "free the slot if no grant comes in time", "An offer", nil, botNoGrant},
	{"released", "free the slot as soon as the platform says that nothing comes of a match", "An offer; starvation", nil, botReleased},
	{"double-grant", "not play a match that was granted to another instance", "An offer", nil, botDoubleGrant},
	{"slow-network", "play on through a network with 50 to 150 ms each way", "Clocks and receipts", []need{needProxy}, botSlowNetwork},
	{"cut", "reconnect when the connection is cut in mid-move, and move once", "Connecting", []need{needProxy}, botCut},
	{"hang", "play on after the server has hung for two seconds", "Connecting", []need{needProxy}, botHang},
	{"away", "reconnect when the server was away for three seconds", "Connecting", []need{needProxy}, botAway},
	{"half-open", "notice a dead connection by its missing answers, and reconnect within 30 s", "Connecting; silent death (lichess-bot #222, #1003)", []need{needProxy}, botHalfOpen},
	{"kill", "take its seat again after kill -9 in mid-move", "Epochs and handover", []need{needProgram}, botKill},
	{"pause", "send at most what was under way after a pause in which another instance took the seat", "Epochs and handover", []need{needProgram}, botPause},
	{"drain", "on SIGTERM take no more games, lose none, and end", "Epochs and handover; drains that lose moves (lichess-bot #1010)", []need{needProgram}, botDrain},
}

// enough is how many plies show that a game goes on.
const enough = 8

// goesOn waits for some more plies.
func (r *botRig) goesOn(ctx context.Context, g *scripted.Game, more int) (seen string, err error) {
	have := 0
	r.Do(func() { have = len(g.Moves) })
	return r.reaches(ctx, g, have+more)
}

// reaches waits until the game has n plies, or has ended by its rules.
func (r *botRig) reaches(ctx context.Context, g *scripted.Game, n int) (seen string, err error) {
	err = r.Wait(ctx, "moves", func() bool {
		seen = "the game went on to " + plyCount(len(g.Moves))
		return len(g.Moves) >= n || g.Status == protocol.Finished
	})
	if err != nil {
		return "", r.cfg.Program.withExit(broken("the game stood still: %s", strings.TrimPrefix(seen, "the game ")))
	}
	r.Do(func() {
		if r := g.Outcome.Reason; g.Status == protocol.Finished && (endedBy[r] || protocol.FaultText(r, "") != "") {
			err = broken("the game ended after %s: %s by %q", plyCount(len(g.Moves)), g.Outcome.Result, g.Outcome.Reason)
		}
	})
	return seen, err
}

// endedBy are the reasons for which no game ends that goes on, beside the faults of
// engines.
var endedBy = map[game.Reason]bool{
	protocol.ReasonTime: true, protocol.ReasonResign: true, protocol.ReasonDispute: true, protocol.ReasonAbandoned: true, protocol.ReasonVoid: true,
}

// once returns an error if the bot decided twice on a move: two requests for a ply with
// different ids.
func (r *botRig) once(g *scripted.Game) (err error) {
	r.Do(func() {
		first := map[int]scripted.Request{}
		for _, q := range g.Requests {
			if f, ok := first[q.Ply]; ok && (f.ID != q.ID || f.Move != q.Move) {
				err = broken("at ply %d it sent %q with id %s and %q with id %s", q.Ply, f.Move, f.ID, q.Move, q.ID)
				return
			}
			first[q.Ply] = q
		}
	})
	return err
}

// forgets waits until the bot's heartbeats do not list a game.
func (r *botRig) forgets(ctx context.Context, id protocol.GameID, d time.Duration) error {
	ctx, cancel := within(ctx, d)
	defer cancel()
	since := time.Now()
	if err := r.Wait(ctx, "a heartbeat without the game", func() bool {
		q := r.Peer(r.cfg.Player)
		return q.LastBeat.After(since) && !slices.Contains(q.Alive.Games, id)
	}); err != nil {
		return r.cfg.Program.withExit(broken("%v later its heartbeats still list the game", d))
	}
	return nil
}

func errorOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// telling sends a state to the bot, or does something else.
type telling func(g *scripted.Game, st protocol.State, send func(protocol.State))

// The plain ways: the bot is told that it is to move, or is not.
var (
	told   telling = func(_ *scripted.Game, st protocol.State, send func(protocol.State)) { send(st) }
	untold telling = func(*scripted.Game, protocol.State, func(protocol.State)) {}
)

// playTo offers the bot a game as the second player, and plays it until it is the
// bot's turn after n plies, where f tells it.
func (r *botRig) playTo(ctx context.Context, n int, f telling, prepare ...func(*scripted.Game)) (*scripted.Game, error) {
	reached := r.atTurn(n, f)
	g, err := r.play(ctx, prepare...)
	if err != nil {
		return nil, err
	}
	return g, r.comes(ctx, g, reached)
}

// atTurn calls f instead of telling the bot once, when it is to move after n plies.
func (r *botRig) atTurn(n int, f telling) <-chan struct{} {
	reached := make(chan struct{})
	done := false
	r.SetHooks(scripted.Hooks{Tell: func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		if done || len(st.Moves) < n || st.Turn != st.You {
			send(st)
			return
		}
		done = true
		f(g, st, send)
		close(reached)
	}})
	return reached
}

// comes waits for what atTurn waits for.
func (r *botRig) comes(ctx context.Context, g *scripted.Game, reached <-chan struct{}) error {
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return r.cfg.Program.withExit(broken("game %s stands still", g.Game))
	}
}
