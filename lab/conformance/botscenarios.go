package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// botScenarios are in the order in which they run: those that a bot may not survive
// come last.
var botScenarios = []scenario[*botRig]{
	{"game", "play a whole game: legal moves, their keys, nothing after the end", "The game", nil, botGame},
	{"heartbeats", "send a heartbeat at least every 1.5 s while it plays", "Epochs and handover", nil, botHeartbeats},
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
		seen = fmt.Sprintf("the game went on to %d plies", len(g.Moves))
		return len(g.Moves) >= n || g.Status == protocol.Finished
	})
	if err != nil {
		return "", r.withExit(broken("the game stood still: %s", strings.TrimPrefix(seen, "the game ")))
	}
	r.Do(func() {
		if _, byRules := endedBy[g.Outcome.Reason]; g.Status == protocol.Finished && byRules {
			err = broken("the game ended after %d plies: %s by %q", len(g.Moves), g.Outcome.Result, g.Outcome.Reason)
		}
	})
	return seen, err
}

// endedBy are the reasons for which no game ends that goes on.
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
		return r.withExit(broken("%v later its heartbeats still list the game", d))
	}
	return nil
}

func botGame(ctx context.Context, r *botRig) (string, error) {
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if _, err := r.reaches(ctx, g, 60); err != nil {
		return "", err
	}
	seen := ""
	r.Do(func() {
		r.End(g, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}) // unless the rules have ended it
		seen = fmt.Sprintf("%d plies of %s, ended by %s", len(g.Moves), g.Terms.Rules, g.Outcome.Reason)
	})
	r.pardon(protocol.Over)
	if err := rest(ctx, 300*time.Millisecond); err != nil { // a move may be on its way
		return "", err
	}
	if err := r.quiet(ctx, g, 500*time.Millisecond, "after the end"); err != nil {
		return "", err
	}
	return seen, errorOr(r.once(g), r.forgets(ctx, g.Game, 10*time.Second))
}

func errorOr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func botHeartbeats(ctx context.Context, r *botRig) (string, error) {
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	r.Do(func() { r.Peer(r.cfg.Player).LongGap = 0 })
	if _, err := r.reaches(ctx, g, enough); err != nil {
		return "", err
	}
	if err := rest(ctx, 2*time.Second); err != nil {
		return "", err
	}
	var gap time.Duration
	var beats int
	r.Do(func() {
		q := r.Peer(r.cfg.Player)
		gap, beats = max(q.LongGap, time.Since(q.Heard)), q.Beats
	})
	if gap > r.eased(longest) {
		return "", broken("%v without a heartbeat", gap.Round(time.Millisecond))
	}
	return fmt.Sprintf("%d heartbeats so far, the longest gap %v", beats, gap.Round(time.Millisecond)), nil
}

func botUnknownFields(ctx context.Context, r *botRig) (string, error) {
	r.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, _ func(protocol.State)) {
		data, err := json.Marshal(st)
		var m map[string]any
		if err == nil {
			err = json.Unmarshal(data, &m)
		}
		if err != nil {
			panic(err) // our own types
		}
		m["weather"] = map[string]any{"wind": []int{1, 2}}
		m["terms"].(map[string]any)["stakes"] = "none"
		r.SendRaw(st.To, m)
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	return r.reaches(ctx, g, enough)
}

func botDrop(ctx context.Context, r *botRig) (string, error) {
	n, lost := 0, 0
	r.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		if n++; n%4 == 0 {
			lost++
			return
		}
		send(st)
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	return fmt.Sprintf("%s, %d of %d states lost", seen, lost, n), err
}

func botDuplicate(ctx context.Context, r *botRig) (string, error) {
	r.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		send(st)
		send(st)
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	return seen, errorOr(err, r.once(g))
}

func botReorder(ctx context.Context, r *botRig) (string, error) {
	var before []protocol.State
	r.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		send(st)
		for _, old := range before {
			send(old)
		}
		before = append(before, st)
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	return seen, errorOr(err, r.once(g))
}

func botDelay(ctx context.Context, r *botRig) (string, error) {
	rng := rand.New(rand.NewPCG(r.cfg.Seed, 3))
	r.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		time.AfterFunc(time.Duration(rng.IntN(300))*time.Millisecond, func() { send(st) }) // the order is lost as well
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	return seen + ", each state up to 300 ms late", errorOr(err, r.once(g))
}

// atTurn calls f instead of telling the bot once, when it is to move after n plies.
func (r *botRig) atTurn(n int, f func(g *scripted.Game, st protocol.State, send func(protocol.State))) <-chan struct{} {
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
		return r.withExit(broken("game %s stands still", g.Game))
	}
}

func botStaleClock(ctx context.Context, r *botRig) (string, error) {
	left, late := 2*r.eased(least), r.eased(least)
	reached := r.atTurn(3, func(g *scripted.Game, _ protocol.State, send func(protocol.State)) {
		g.SetClock(game.Second, left)
		st := r.State(g, game.Second)
		time.AfterFunc(late, func() { send(st) })
	})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	if _, err := r.goesOn(ctx, g, 1); err != nil {
		return "", err
	}
	return fmt.Sprintf("with %v left it was told %v late, and moved in time", left, late), nil
}

func botTimeTrouble(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(g *scripted.Game, _ protocol.State, send func(protocol.State)) {
		g.SetClock(game.Second, r.eased(least))
		send(r.State(g, game.Second))
	})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	return r.goesOn(ctx, g, 5)
}

func botLostRequest(ctx context.Context, r *botRig) (string, error) {
	lost := 0
	r.SetHooks(scripted.Hooks{Act: func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
		if q.Move != nil && q.Move.Ply == 3 && lost < 2 {
			lost++
			return scripted.Silence()
		}
		return nil
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	return fmt.Sprintf("%s, %d requests for a move lost", seen, lost), errorOr(err, r.once(g))
}

func botLostAnswer(ctx context.Context, r *botRig) (string, error) {
	lost := 0
	r.SetHooks(scripted.Hooks{
		Answer: func(_ *scripted.Game, q protocol.GameRequest, ans *protocol.ActAnswer) {
			if q.Move != nil && q.Move.Ply == 3 && lost < 2 {
				lost++
				ans.Code, ans.Error = protocol.Unanswered, nil
			}
		},
		Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
			if lost > 0 || len(st.Moves) < 4 {
				send(st)
			}
		},
	})
	g, err := r.play(ctx, func(g *scripted.Game) { g.Think = 300 * time.Millisecond })
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	return fmt.Sprintf("%s, %d answers to a move lost", seen, lost), errorOr(err, r.once(g))
}

// Refusals last for a while, in which a bot that waits sends few requests.
const (
	refuseFor   = 1500 * time.Millisecond
	mostRetries = 40
)

func botRefusals(ctx context.Context, r *botRig) (string, error) {
	codes := map[int]protocol.Code{3: protocol.Unavailable, 5: protocol.RateLimited}
	until := map[int]time.Time{}
	r.SetHooks(scripted.Hooks{Act: func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
		if q.Move == nil || codes[q.Move.Ply] == "" {
			return nil
		}
		if until[q.Move.Ply].IsZero() {
			until[q.Move.Ply] = time.Now().Add(refuseFor)
		}
		if time.Now().After(until[q.Move.Ply]) {
			return nil
		}
		return scripted.Refuse(codes[q.Move.Ply])
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	if err != nil {
		return "", err
	}
	tries := 0
	r.Do(func() {
		for ply, code := range codes {
			n := len(movesAt(g, ply))
			if tries += n; n > mostRetries {
				err = broken("it sent a move %d times in %v of %s", n, refuseFor, code)
			}
		}
	})
	return fmt.Sprintf("%s, two moves refused for %v each, %d requests", seen, refuseFor, tries), err
}

func botIllegalRuling(ctx context.Context, r *botRig) (string, error) {
	r.pardon(protocol.Illegal, protocol.Stale)
	r.SetHooks(scripted.Hooks{Act: func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
		if q.Move != nil && q.Move.Ply >= 3 {
			return scripted.Refuse(protocol.Illegal)
		}
		return nil
	}})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.Wait(ctx, "the move", func() bool { return len(movesAt(g, 3)) > 0 }); err != nil {
		return "", broken("%v", err)
	}
	if err := rest(ctx, 2*time.Second); err != nil {
		return "", err
	}
	seen := ""
	r.Do(func() {
		sent := map[string]int{}
		for _, q := range movesAt(g, 3) {
			sent[q.Move]++
			if sent[q.Move] > 3 {
				err = broken("it sent %q %d times in 2 s", q.Move, sent[q.Move])
			}
		}
		seen = fmt.Sprintf("it tried %d moves, and then %s", len(sent), afterwards(g))
	})
	return seen, err
}

// afterwards says what a bot did that did not move.
func afterwards(g *scripted.Game) string {
	if g.Status == protocol.Finished {
		return "the game ended by " + string(g.Outcome.Reason)
	}
	return "waited"
}

func botHalt(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(*scripted.Game, protocol.State, func(protocol.State)) {}) // it is told after the halt
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	r.Do(func() { r.SetStatus(g, protocol.Halted) })
	if err := r.quiet(ctx, g, time.Second, "while the game was halted"); err != nil {
		return "", err
	}
	r.Do(func() { r.SetStatus(g, protocol.Playing) })
	seen, err := r.goesOn(ctx, g, 3)
	return "nothing for a second, then " + seen, err
}

func botWrongKey(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		st.Key = "00000000deadbeef"
		send(st)
	})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	ctx, cancel := within(ctx, 5*time.Second)
	defer cancel()
	if err := r.Wait(ctx, "a move or a resignation", func() bool { return len(g.Moves) > 5 || g.Status == protocol.Finished }); err != nil {
		return "it made no move in that game and stayed", nil
	}
	seen := ""
	r.Do(func() { seen = fmt.Sprintf("%d plies, %s", len(g.Moves), afterwards(g)) })
	return seen, nil
}

func botUnstored(ctx context.Context, r *botRig) (string, error) {
	for _, uncounted := range []bool{false, true} {
		g, err := r.play(ctx, func(g *scripted.Game) { g.Stored, g.Uncounted = 3, uncounted })
		if err != nil {
			return "", err
		}
		if _, err := r.reaches(ctx, g, enough); err != nil {
			return "", fmt.Errorf("with the field unkept %v: %w", !uncounted, err)
		}
	}
	return "two games went on, with the field unkept and without", nil
}

func botTakeback(ctx context.Context, r *botRig) (string, error) {
	casual := r.terms
	casual.Rated = false
	if r.hello.Declines(casual, protocol.Opponent{Player: scripted.Script, Kind: r.kind}) != "" {
		return "", notTried("the bot takes no casual games")
	}
	o := r.offer(game.Second)
	o.Terms = casual
	ans, err := r.accepted(ctx, o)
	if err != nil {
		return "", err
	}
	reached := r.atTurn(5, func(*scripted.Game, protocol.State, func(protocol.State)) {})
	g, err := r.grant(o, ans)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	r.Do(func() {
		g.Think = 200 * time.Millisecond
		g.Requests = nil // the plies come again
		r.TakeBack(g, game.First)
		r.TakeBack(g, game.First)
	})
	return r.goesOn(ctx, g, 4)
}

func botDrawOffer(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(g *scripted.Game, _ protocol.State, send func(protocol.State)) {
		by := game.First
		g.DrawBy = &by
		send(r.State(g, game.Second))
		send(r.State(g, game.Second))
	})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	err = r.Wait(ctx, "moves", func() bool { return len(g.Moves) >= enough || g.Status == protocol.Finished })
	if err != nil {
		return "", broken("the game stands still: %v", g)
	}
	seen := ""
	r.Do(func() {
		seen = fmt.Sprintf("answers: %q; %d plies", g.Acts, len(g.Moves))
		if len(g.Acts) > 1 {
			err = broken("one draw offer was answered by %q", g.Acts)
		}
	})
	return seen, err
}

func botForged(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		for _, to := range []string{"", r.Subjects().ToGame(r.cfg.Player, "another"), r.Subjects().ToGame("somebody", g.Game)} {
			forged := st
			forged.To, forged.Seq = to, st.Seq+1000
			forged.Status, forged.Outcome = protocol.Finished, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonResign}
			r.SendRaw(st.To, forged)
		}
		send(st)
	})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	return r.goesOn(ctx, g, 4)
}

func botFlood(ctx context.Context, r *botRig) (string, error) {
	g, err := r.play(ctx, func(g *scripted.Game) { g.Think = 50 * time.Millisecond })
	if err != nil {
		return "", err
	}
	s := r.Subjects()
	subjects := []string{s.ToGame(r.cfg.Player, g.Game), s.ToNotice(r.cfg.Player), s.Offer(protocol.OwnPool(r.cfg.Player))}
	junk := []string{"", "null", "[]", "{", `{"v":1}`, `{"v":99,"game":"game1"}`, `{"v":1,"game":"other","seq":9999}`, `{"v":1,"seq":"x"}`,
		strings.Repeat("[", 5000), string(make([]byte, 30<<10)), `{"v":1,"you":"third"}`}
	sent := 0
	for range 100 {
		for _, j := range junk {
			for _, subject := range subjects {
				if err := r.nc.Publish(subject, []byte(j)); err != nil {
					return "", err
				}
				sent++
			}
		}
	}
	seen, err := r.reaches(ctx, g, enough)
	return fmt.Sprintf("%s, %d invalid messages", seen, sent), err
}

func botForgotten(ctx context.Context, r *botRig) (string, error) {
	g, err := r.play(ctx, func(g *scripted.Game) { g.Think = 100 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := r.plies(ctx, g, 2); err != nil {
		return "", err
	}
	hellos := 0
	r.Do(func() {
		hellos = r.Peer(r.cfg.Player).Hellos
		r.Forget()
	})
	soon, cancel := within(ctx, 15*time.Second)
	defer cancel()
	if err := r.Wait(soon, "a hello", func() bool { return r.Peer(r.cfg.Player).Hellos > hellos }); err != nil {
		return "", broken("no hello came after the code unknown-peer")
	}
	return r.goesOn(ctx, g, 4)
}

func botHandover(ctx context.Context, r *botRig) (string, error) {
	r.pardon(protocol.Stale) // of a move that was under way
	reached := r.atTurn(3, func(_ *scripted.Game, st protocol.State, send func(protocol.State)) { send(st) })
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	r.Do(func() { r.Seat(g, r.cfg.Player, "another") })
	if err := rest(ctx, 300*time.Millisecond); err != nil {
		return "", err
	}
	r.Do(func() { r.Advance(g) }) // a new state, with the other instance to act or not
	if err := r.quiet(ctx, g, 1500*time.Millisecond, "in a seat that another instance holds"); err != nil {
		return "", err
	}
	return "nothing for 1.5 s, and the slot is free", r.forgets(ctx, g.Game, 10*time.Second)
}

func botWrongEpoch(ctx context.Context, r *botRig) (string, error) {
	r.pardon(protocol.Stale)
	reached := r.atTurn(3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		g.Holders[st.You].Instance, g.Holders[st.You].Epoch = "another", st.Holders[st.You].Epoch+1
		send(st)
	})
	lost := 0
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	r.SetHooks(scripted.Hooks{Tell: func(*scripted.Game, protocol.State, func(protocol.State)) { lost++ }})
	if err := r.Wait(ctx, "the move", func() bool { return len(movesAt(g, 3)) > 0 }); err != nil {
		return "", broken("%v", err)
	}
	if err := rest(ctx, 3*time.Second); err != nil {
		return "", err
	}
	n := 0
	r.Do(func() { n = len(movesAt(g, 3)) })
	if n > 5 {
		return "", broken("it sent the move %d times in 3 s, although it was refused as stale", n)
	}
	return fmt.Sprintf("%d requests in 3 s, and the slot is free", n), r.forgets(ctx, g.Game, 30*time.Second)
}

func botVacated(ctx context.Context, r *botRig) (string, error) {
	r.pardon(protocol.Stale)
	reached := r.atTurn(3, func(*scripted.Game, protocol.State, func(protocol.State)) {})
	var instance protocol.InstanceID
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	r.Do(func() {
		instance = g.Holders[game.Second].Instance
		r.Vacate(g, game.Second)
	})
	if err := r.quiet(ctx, g, time.Second, "in a vacant seat"); err != nil {
		return "", err
	}
	r.Do(func() { r.Seat(g, r.cfg.Player, instance) })
	return r.goesOn(ctx, g, 3)
}

func botHeld(ctx context.Context, r *botRig) (string, error) {
	var instance protocol.InstanceID
	left := false
	r.SetHooks(scripted.Hooks{Leave: func(protocol.From, protocol.Leave, *protocol.Answer) { left = true }})
	r.Do(func() { instance = r.Peer(r.cfg.Player).Hello.Instance })
	g, err := r.Grant(r.NewGameID(), r.terms, [2]scripted.Taker{{}, {Player: r.cfg.Player, Instance: instance}})
	if err != nil {
		return "", err
	}
	seen := "it plays"
	if err := r.Wait(ctx, "a move", func() bool {
		if left {
			seen = "it gave the seat back"
		}
		return left || len(g.Moves) >= 4
	}); err != nil {
		return "", broken("it neither plays the game nor gives the seat back")
	}
	return seen, nil
}

func botLateFinish(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		send(st)
		g.Status, g.Outcome = protocol.Finished, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}
		send(r.State(g, game.Second))
	})
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	if err := rest(ctx, time.Second); err != nil {
		return "", err
	}
	if err := r.quiet(ctx, g, 2*time.Second, "after the end"); err != nil {
		return "", err
	}
	return "nothing more, and the slot is free", r.forgets(ctx, g.Game, 10*time.Second)
}

func botLostEnd(ctx context.Context, r *botRig) (string, error) {
	r.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		if st.Status != protocol.Finished {
			send(st)
		}
	}})
	g, err := r.play(ctx, func(g *scripted.Game) { g.Think = 100 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := r.plies(ctx, g, 4); err != nil {
		return "", err
	}
	r.Do(func() { r.End(g, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}) })
	began := time.Now()
	if err := r.forgets(ctx, g.Game, 40*time.Second); err != nil {
		return "", err
	}
	return fmt.Sprintf("the slot was free after %v", time.Since(began).Round(100*time.Millisecond)), nil
}

// mostSlots is how many slots the suite tries to fill.
const mostSlots = 64

func botSlots(ctx context.Context, r *botRig) (string, error) {
	slots, free := 0, 0
	r.Do(func() { q := r.Peer(r.cfg.Player); slots, free = q.Hello.Slots, q.Alive.Free })
	if free > mostSlots {
		return "", notTried("the bot has %d slots", free)
	}
	accepts := 0
	for range free + 3 {
		o := r.offer(game.Second)
		o.HoldMS = 3000
		soon, cancel := within(ctx, 2*time.Second)
		ans, err := r.Offer(soon, protocol.OwnPool(r.cfg.Player), o)
		cancel()
		if err != nil {
			if accepts >= free {
				break // it has left the queue
			}
			return "", broken("after %d of %d offers: %v", accepts, free, err)
		}
		if ans.Answer == protocol.Accept {
			accepts++
		}
	}
	if accepts > slots {
		return "", broken("it accepted %d matches at once with %d slots", accepts, slots)
	}
	return fmt.Sprintf("%d accepted at once, of %d slots", accepts, slots), nil
}

func botOfferTwice(ctx context.Context, r *botRig) (string, error) {
	o := r.offer(game.Second)
	o.HoldMS = 2000
	free := 0
	r.Do(func() { free = r.Peer(r.cfg.Player).Alive.Free })
	for range 3 {
		if _, err := r.ask(ctx, o); err != nil {
			return "", err
		}
	}
	since, now := time.Now(), 0
	if err := r.Wait(ctx, "a heartbeat", func() bool {
		q := r.Peer(r.cfg.Player)
		now = q.Alive.Free
		return q.LastBeat.After(since.Add(heartbeat)) // the first may have been under way
	}); err != nil {
		return "", broken("%v", err)
	}
	if now < free-1 {
		return "", broken("one match offered three times took %d slots", free-now)
	}
	return fmt.Sprintf("offered three times, %d slot taken", free-now), nil
}

func botNoGrant(ctx context.Context, r *botRig) (string, error) {
	o := r.offer(game.Second)
	o.HoldMS = 500
	if _, err := r.accepted(ctx, o); err != nil {
		return "", err
	}
	return r.slotBack(ctx, 15*time.Second)
}

// slotBack waits until the bot has as many free slots as its hello says.
func (r *botRig) slotBack(ctx context.Context, d time.Duration) (string, error) {
	began := time.Now()
	ctx, cancel := within(ctx, d)
	defer cancel()
	free, most := 0, 0
	if err := rest(ctx, 2*heartbeat); err != nil {
		return "", err
	}
	if err := r.Wait(ctx, "the slot", func() bool {
		q := r.Peer(r.cfg.Player)
		free, most = q.Alive.Free, max(most, q.Alive.Free)
		return q.LastBeat.After(began.Add(heartbeat)) && free >= r.free
	}); err != nil {
		return "", broken("%v later %d of %d slots are free", d, free, r.free)
	}
	return fmt.Sprintf("%d slots free again", free), nil
}

func botReleased(ctx context.Context, r *botRig) (string, error) {
	const n = 10
	for i := range n {
		o := r.offer(game.Second)
		o.HoldMS = 60_000
		if _, err := r.accepted(ctx, o); err != nil {
			return "", fmt.Errorf("after %d matches that came to nothing: %w", i, err)
		}
		r.Notify(r.cfg.Player, protocol.Notice{Kind: protocol.NoticeReleased, Game: o.Game})
		if _, err := r.slotBack(ctx, 10*time.Second); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d slots free again at once, of matches held for a minute", n), nil
}

func botDoubleGrant(ctx context.Context, r *botRig) (string, error) {
	o := r.offer(game.First)
	o.HoldMS = 1500
	ans, err := r.accepted(ctx, o)
	if err != nil {
		return "", err
	}
	ans.Instance = "another"
	g, err := r.grant(o, ans)
	if err != nil {
		return "", err
	}
	if err := r.quiet(ctx, g, time.Second, "in a match that was granted to another instance"); err != nil {
		return "", err
	}
	return r.slotBack(ctx, 15*time.Second)
}

// jitter is the delay of a slow network.
func jitter() time.Duration { return time.Duration(50+rand.IntN(100)) * time.Millisecond }

func botSlowNetwork(ctx context.Context, r *botRig) (string, error) {
	r.cfg.Proxy.Delay(jitter)
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	seen, err := r.reaches(ctx, g, enough)
	return seen, errorOr(err, r.once(g))
}

// disturbed plays a game, breaks the network when the bot is to move, and returns when
// the game has gone on.
func (r *botRig) disturbed(ctx context.Context, limit time.Duration, breakIt func() error) (string, error) {
	r.pardon(protocol.Stale)
	reached := r.atTurn(3, func(_ *scripted.Game, st protocol.State, send func(protocol.State)) { send(st) })
	g, err := r.play(ctx, func(g *scripted.Game) { g.Think = 100 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	connections := r.cfg.Proxy.Accepted()
	began := time.Now()
	if err := breakIt(); err != nil {
		return "", err
	}
	soon, cancel := within(ctx, limit)
	defer cancel()
	if _, err := r.goesOn(soon, g, 4); err != nil {
		return "", fmt.Errorf("%w (%d new connections)", err, r.cfg.Proxy.Accepted()-connections)
	}
	return fmt.Sprintf("it played on after %v, with %d new connections", time.Since(began).Round(100*time.Millisecond), r.cfg.Proxy.Accepted()-connections), r.once(g)
}

func botCut(ctx context.Context, r *botRig) (string, error) {
	return r.disturbed(ctx, 30*time.Second, func() error { r.cfg.Proxy.Cut(); return nil })
}

func botHang(ctx context.Context, r *botRig) (string, error) {
	return r.disturbed(ctx, 30*time.Second, func() error {
		r.cfg.Proxy.Stall(true)
		defer r.cfg.Proxy.Stall(false)
		return rest(ctx, 2*time.Second)
	})
}

func botAway(ctx context.Context, r *botRig) (string, error) {
	return r.disturbed(ctx, 30*time.Second, func() error {
		r.cfg.Proxy.Refuse(true)
		defer r.cfg.Proxy.Refuse(false)
		return rest(ctx, 3*time.Second)
	})
}

func botHalfOpen(ctx context.Context, r *botRig) (string, error) {
	return r.disturbed(ctx, 30*time.Second, func() error { r.cfg.Proxy.HalfOpen(); return nil })
}

func botKill(ctx context.Context, r *botRig) (string, error) {
	reached := r.atTurn(3, func(_ *scripted.Game, st protocol.State, send func(protocol.State)) { send(st) })
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	if err := r.cfg.Program.Kill(); err != nil {
		return "", err
	}
	r.Do(func() {
		r.Forget()
		r.Vacate(g, game.Second)
	})
	if err := r.cfg.Program.Start(); err != nil {
		return "", err
	}
	if err := r.Wait(ctx, "its hello", func() bool { return r.Peer(r.cfg.Player).Known }); err != nil {
		return "", r.withExit(broken("no hello after the restart"))
	}
	o := r.offer(game.Second)
	o.Kind, o.Game = protocol.OfferSeat, g.Game
	r.Do(func() { o.Ply = len(g.Moves) })
	ans, err := r.accepted(ctx, o)
	if err != nil {
		return "", err
	}
	r.Do(func() { r.Seat(g, ans.Player, ans.Instance) })
	return r.goesOn(ctx, g, 4)
}

func botPause(ctx context.Context, r *botRig) (string, error) {
	r.pardon(protocol.Stale)
	reached := r.atTurn(3, func(_ *scripted.Game, st protocol.State, send func(protocol.State)) { send(st) })
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	if err := r.comes(ctx, g, reached); err != nil {
		return "", err
	}
	if err := r.cfg.Program.Signal(syscall.SIGSTOP); err != nil {
		return "", err
	}
	r.Do(func() { r.Seat(g, r.cfg.Player, "another") })
	if err := rest(ctx, 2*time.Second); err != nil {
		return "", err
	}
	if err := r.cfg.Program.Signal(syscall.SIGCONT); err != nil {
		return "", err
	}
	before := 0
	r.Do(func() { before = len(g.Requests) })
	if err := rest(ctx, time.Second); err != nil {
		return "", err
	}
	n := 0
	r.Do(func() { n = len(freshSince(g, before)) })
	if n > 1 {
		return "", broken("it sent %d moves after the pause", n)
	}
	if err := r.quiet(ctx, g, time.Second, "in a seat that another instance holds"); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d moves after the pause, refused as stale", n), r.forgets(ctx, g.Game, 10*time.Second)
}

func botDrain(ctx context.Context, r *botRig) (string, error) {
	left := false
	r.SetHooks(scripted.Hooks{Leave: func(protocol.From, protocol.Leave, *protocol.Answer) { left = true }})
	g, err := r.play(ctx, func(g *scripted.Game) { g.Think = 200 * time.Millisecond })
	if err != nil {
		return "", err
	}
	if err := r.plies(ctx, g, 2); err != nil {
		return "", err
	}
	if err := r.cfg.Program.Signal(syscall.SIGTERM); err != nil {
		return "", err
	}
	if err := rest(ctx, 300*time.Millisecond); err != nil {
		return "", err
	}
	soon, cancel := within(ctx, time.Second)
	ans, err := r.Offer(soon, protocol.OwnPool(r.cfg.Player), r.offer(game.First))
	cancel()
	if err == nil && ans.Answer == protocol.Accept {
		return "", broken("it accepted a match after SIGTERM")
	}
	if err := r.Wait(ctx, "some moves", func() bool {
		gone, _ := r.cfg.Program.Exited()
		return gone || left || len(g.Moves) >= 6
	}); err != nil {
		return "", broken("it neither plays on nor gives the seat back")
	}
	seen := ""
	r.Do(func() {
		seen = fmt.Sprintf("it played on to %d plies and ended", len(g.Moves))
		if left {
			seen = "it gave the seat back and ended"
		}
		if h := g.Holders[game.Second]; len(g.Moves) < 6 && h.Instance != "" {
			err = broken("it ended without giving its seat back, after %d plies", len(g.Moves))
		}
		r.End(g, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement})
	})
	if err != nil && !left {
		if gone, _ := r.cfg.Program.Exited(); gone {
			return "", err
		}
	}
	if err := r.cfg.Program.Wait(ctx); err != nil {
		return "", broken("after SIGTERM and the end of the game: %v", err)
	}
	return seen, nil
}
