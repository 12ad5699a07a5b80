package conformance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/internal/texttable"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of what a bot sends and gets in a game.

func botGame(t botTrial) string {
	g := t.startGame()
	t.playUntil(g, 60)
	seen := ""
	t.Do(func() {
		t.End(g, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement}) // unless the rules have ended it
		seen = fmt.Sprintf("%s of %s, ended by %s", plyCount(len(g.Moves)), g.Terms.Rules, g.Outcome.Reason)
	})
	t.pardon(protocol.Over)
	t.sleep(300 * time.Millisecond)
	t.expectNoMoves(g, 500*time.Millisecond, "after the end")
	t.expectOneDecision(g)
	t.expectForgotten(g.Game, 10*time.Second)
	return seen
}

func botHeartbeats(t botTrial) string {
	g := t.startGame()
	named := false
	t.SetHooks(scripted.Hooks{Alive: func(_ protocol.From, m protocol.Alive, _ *protocol.AliveAnswer) {
		named = named || slices.Contains(m.Games, g.Game)
	}})
	t.Do(func() { t.Peer(t.cfg.Player).LongGap = 0 })
	t.playUntil(g, enough)
	t.Do(func() { g.Think = t.eased(longest) }) // so that the game does not end before a heartbeat
	t.sleep(2 * time.Second)
	var gap time.Duration
	var beats int
	t.Do(func() {
		q := t.Peer(t.cfg.Player)
		gap, beats = max(q.LongGap, time.Since(q.Heard)), q.Beats
	})
	if gap > t.eased(longest) {
		t.failf("%v without a heartbeat", gap.Round(time.Millisecond))
	}
	t.within(t.eased(longest)).await("a heartbeat that names the game", func() bool { return named || g.Status == protocol.Finished })
	return fmt.Sprintf("%d heartbeats so far, the longest gap %v", beats, gap.Round(time.Millisecond))
}

func botUnknownFields(t botTrial) string {
	t.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, _ func(protocol.State)) {
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
		t.SendRaw(st.To, m)
	}})
	g := t.startGame()
	return t.playUntil(g, enough)
}

func botDrop(t botTrial) string {
	n, lost := 0, 0
	t.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		if n++; n%4 == 0 {
			lost++
			return
		}
		send(st)
	}})
	g := t.startGame()
	seen := t.playUntil(g, enough)
	return fmt.Sprintf("%s, %d of %d states lost", seen, lost, n)
}

func botDuplicate(t botTrial) string {
	t.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		send(st)
		send(st)
	}})
	g := t.startGame()
	seen := t.playUntil(g, enough)
	t.expectOneDecision(g)
	return seen
}

func botReorder(t botTrial) string {
	var before []protocol.State
	t.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		send(st)
		for _, old := range before {
			send(old)
		}
		before = append(before, st)
	}})
	g := t.startGame()
	seen := t.playUntil(g, enough)
	t.expectOneDecision(g)
	return seen
}

func botDelay(t botTrial) string {
	rng := rand.New(rand.NewPCG(t.cfg.Seed, 3))
	t.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		time.AfterFunc(time.Duration(rng.IntN(300))*time.Millisecond, func() { send(st) }) // the order is lost as well
	}})
	g := t.startGame()
	seen := t.playUntil(g, enough)
	t.expectOneDecision(g)
	return seen + ", each state up to 300 ms late"
}

func botLostRequest(t botTrial) string {
	lost := 0
	t.SetHooks(scripted.Hooks{Act: func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
		if q.Move != nil && q.Move.Ply == 3 && lost < 2 {
			lost++
			return scripted.Silence()
		}
		return nil
	}})
	g := t.startGame()
	seen := t.playUntil(g, enough)
	t.expectOneDecision(g)
	return fmt.Sprintf("%s, %d requests for a move lost", seen, lost)
}

func botLostAnswer(t botTrial) string {
	lost := 0
	t.SetHooks(scripted.Hooks{
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
	g := t.startGame(func(g *scripted.Game) { g.Think = 300 * time.Millisecond })
	seen := t.playUntil(g, enough)
	t.expectOneDecision(g)
	return fmt.Sprintf("%s, %d answers to a move lost", seen, lost)
}

// Refusals last for a while, in which a bot that waits sends few requests.
const (
	refuseFor  = 1500 * time.Millisecond
	maxRetries = 40
)

func botRefusals(t botTrial) string {
	codes := map[int]protocol.Code{3: protocol.Unavailable, 5: protocol.RateLimited}
	until := map[int]time.Time{}
	t.SetHooks(scripted.Hooks{Act: func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
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
	g := t.startGame()
	seen := t.playUntil(g, enough)
	tries := 0
	t.check(func() error {
		for ply, code := range codes {
			n := len(movesAt(g, ply))
			if tries += n; n > maxRetries {
				return fmt.Errorf("it sent a move %d times in %v of %s", n, refuseFor, code)
			}
		}
		return nil
	})
	return fmt.Sprintf("%s, two moves refused for %v each, %d requests", seen, refuseFor, tries)
}

func botIllegalRuling(t botTrial) string {
	t.pardon(protocol.Illegal, protocol.Stale)
	t.SetHooks(scripted.Hooks{Act: func(_ *scripted.Game, q protocol.GameRequest) *protocol.ActAnswer {
		if q.Move != nil && q.Move.Ply >= 3 {
			return scripted.Refuse(protocol.Illegal)
		}
		return nil
	}})
	g := t.startGame()
	t.await("the move", func() bool { return len(movesAt(g, 3)) > 0 })
	t.sleep(2 * time.Second)
	seen := ""
	t.check(func() error {
		sent := map[string]int{}
		for _, q := range movesAt(g, 3) {
			sent[q.Move]++
			if sent[q.Move] > 3 {
				return fmt.Errorf("it sent %q %d times in 2 s", q.Move, sent[q.Move])
			}
		}
		seen = fmt.Sprintf("it tried %s, and then %s", texttable.Count(len(sent), "move", "moves"), afterwards(g))
		return nil
	})
	return seen
}

// afterwards says what a bot did that did not move.
func afterwards(g *scripted.Game) string {
	if g.Status == protocol.Finished {
		return "the game ended by " + string(g.Outcome.Reason)
	}
	return "waited"
}

func botWrongKey(t botTrial) string {
	g := t.startGameAt(3, func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		st.Key = "00000000deadbeef"
		send(st)
	})
	if t.Wait(t.within(5*time.Second).ctx, "a move or a resignation", func() bool { return len(g.Moves) > 5 || g.Status == protocol.Finished }) != nil {
		return "it made no move in that game and stayed"
	}
	seen := ""
	t.Do(func() { seen = fmt.Sprintf("%s, %s", plyCount(len(g.Moves)), afterwards(g)) })
	return seen
}

func botUnstored(t botTrial) string {
	for _, uncounted := range []bool{false, true} {
		g := t.startGame(func(g *scripted.Game) { g.Stored, g.Uncounted = 3, uncounted })
		t.during("with the field unkept %v", !uncounted).playUntil(g, enough)
	}
	return "two games went on, with the field unkept and without"
}

func botTakeback(t botTrial) string {
	casual := t.terms
	casual.Rated = false
	if t.hello.Declines(casual, protocol.Opponent{Player: scripted.Script, Kind: t.kind}) != "" {
		t.skipf("the bot takes no casual games")
	}
	o := t.offer(game.Second)
	o.Terms = casual
	ans := t.expectAccept(o)
	reached := t.atTurn(5, untold)
	g := t.grant(o, ans)
	t.awaitTurn(g, reached)
	t.Do(func() {
		g.Think = 200 * time.Millisecond
		g.Requests = nil // the plies come again
		t.TakeBack(g, game.First)
		t.TakeBack(g, game.First)
	})
	return t.playOn(g, 4)
}

// restore is longer than messages of before can be under way.
const restore = 6 * time.Second

func botRewind(t botTrial) string {
	g := t.startGameAt(5, untold)
	t.SetHooks(scripted.Hooks{
		Tell: untold,
		Act:  func(*scripted.Game, protocol.GameRequest) *protocol.ActAnswer { return scripted.Silence() },
	})
	t.sleep(restore)
	t.SetHooks(scripted.Hooks{})
	t.Do(func() {
		g.Think = 200 * time.Millisecond
		g.Requests = nil // the plies come again
		t.Rewind(g, 2)
	})
	return t.playOn(g, 4)
}

func botDrawOffer(t botTrial) string {
	g := t.startGameAt(3, func(g *scripted.Game, _ protocol.State, send func(protocol.State)) {
		by := game.First
		g.DrawBy = &by
		send(t.State(g, game.Second))
		send(t.State(g, game.Second))
	})
	if t.Wait(t.ctx, "moves", func() bool { return len(g.Moves) >= enough || g.Status == protocol.Finished }) != nil {
		t.failf("the game stands still: %v", g)
	}
	seen := ""
	t.check(func() error {
		seen = fmt.Sprintf("answers: %q; %s", g.Acts, plyCount(len(g.Moves)))
		if len(g.Acts) > 1 {
			return fmt.Errorf("one draw offer was answered by %q", g.Acts)
		}
		return nil
	})
	return seen
}

func botForged(t botTrial) string {
	g := t.startGameAt(3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		for _, to := range []string{"", t.Subjects().ToGame(t.cfg.Player, "another"), t.Subjects().ToGame("somebody", g.Game)} {
			forged := st
			forged.To, forged.Seq = to, st.Seq+1000
			forged.Status, forged.Outcome = protocol.Finished, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonResign}
			t.SendRaw(st.To, forged)
		}
		send(st)
	})
	return t.playOn(g, 4)
}

func botFlood(t botTrial) string {
	g := t.startGame(func(g *scripted.Game) { g.Think = 50 * time.Millisecond })
	s := t.Subjects()
	subjects := []string{s.ToGame(t.cfg.Player, g.Game), s.ToNotice(t.cfg.Player), s.Offer(protocol.OwnPool(t.cfg.Player))}
	junk := []string{"", "null", "[]", "{", `{"v":1}`, `{"v":99,"game":"game1"}`, `{"v":1,"game":"other","seq":9999}`, `{"v":1,"seq":"x"}`,
		strings.Repeat("[", 5000), string(make([]byte, 30<<10)), `{"v":1,"you":"third"}`}
	sent := 0
	for range 100 {
		for _, j := range junk {
			for _, subject := range subjects {
				t.must(t.nc.Publish(subject, []byte(j)))
				sent++
			}
		}
	}
	seen := t.playUntil(g, enough)
	return fmt.Sprintf("%s, %d invalid messages", seen, sent)
}

func botLateFinish(t botTrial) string {
	g := t.startGameAt(3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		send(st)
		g.Status, g.Outcome = protocol.Finished, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}
		send(t.State(g, game.Second))
	})
	t.sleep(time.Second)
	t.expectNoMoves(g, 2*time.Second, "after the end")
	t.expectForgotten(g.Game, 10*time.Second)
	return "nothing more, and the slot is free"
}

func botLostEnd(t botTrial) string {
	t.SetHooks(scripted.Hooks{Tell: func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		if st.Status != protocol.Finished {
			send(st)
		}
	}})
	g := t.startGame(func(g *scripted.Game) { g.Think = 100 * time.Millisecond })
	t.awaitPlies(g, 4)
	t.Do(func() { t.End(g, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}) })
	began := time.Now()
	t.expectForgotten(g.Game, 40*time.Second)
	return fmt.Sprintf("the slot was free after %v", time.Since(began).Round(100*time.Millisecond))
}
