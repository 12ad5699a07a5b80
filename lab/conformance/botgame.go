package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/lab/texttable"
	"sparring/protocol"
)

// Scenarios of what a bot sends and gets in a game.

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
		seen = fmt.Sprintf("%s of %s, ended by %s", plyCount(len(g.Moves)), g.Terms.Rules, g.Outcome.Reason)
	})
	r.pardon(protocol.Over)
	if err := sleep(ctx, 300*time.Millisecond); err != nil { // a move may be on its way
		return "", err
	}
	if err := r.quiet(ctx, g, 500*time.Millisecond, "after the end"); err != nil {
		return "", err
	}
	return seen, errorOr(r.once(g), r.forgets(ctx, g.Game, 10*time.Second))
}

func botHeartbeats(ctx context.Context, r *botRig) (string, error) {
	g, err := r.play(ctx)
	if err != nil {
		return "", err
	}
	named := false
	r.SetHooks(scripted.Hooks{Alive: func(_ protocol.From, m protocol.Alive, _ *protocol.AliveAnswer) {
		named = named || slices.Contains(m.Games, g.Game)
	}})
	r.Do(func() { r.Peer(r.cfg.Player).LongGap = 0 })
	if _, err := r.reaches(ctx, g, enough); err != nil {
		return "", err
	}
	r.Do(func() { g.Think = r.eased(longest) }) // so that the game does not end before a heartbeat
	if err := sleep(ctx, 2*time.Second); err != nil {
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
	soon, cancel := within(ctx, r.eased(longest))
	defer cancel()
	if err := r.Wait(soon, "a heartbeat that names the game", func() bool { return named || g.Status == protocol.Finished }); err != nil {
		return "", err
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
	refuseFor  = 1500 * time.Millisecond
	maxRetries = 40
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
			if tries += n; n > maxRetries {
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
	if err := sleep(ctx, 2*time.Second); err != nil {
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
		seen = fmt.Sprintf("it tried %s, and then %s", texttable.Count(len(sent), "move", "moves"), afterwards(g))
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

func botWrongKey(ctx context.Context, r *botRig) (string, error) {
	g, err := r.playTo(ctx, 3, func(_ *scripted.Game, st protocol.State, send func(protocol.State)) {
		st.Key = "00000000deadbeef"
		send(st)
	})
	if err != nil {
		return "", err
	}
	ctx, cancel := within(ctx, 5*time.Second)
	defer cancel()
	if err := r.Wait(ctx, "a move or a resignation", func() bool { return len(g.Moves) > 5 || g.Status == protocol.Finished }); err != nil {
		return "it made no move in that game and stayed", nil
	}
	seen := ""
	r.Do(func() { seen = fmt.Sprintf("%s, %s", plyCount(len(g.Moves)), afterwards(g)) })
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
	reached := r.atTurn(5, untold)
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

// restore is longer than messages of before can be under way.
const restore = 6 * time.Second

func botRewind(ctx context.Context, r *botRig) (string, error) {
	g, err := r.playTo(ctx, 5, untold)
	if err != nil {
		return "", err
	}
	r.SetHooks(scripted.Hooks{
		Tell: untold,
		Act:  func(*scripted.Game, protocol.GameRequest) *protocol.ActAnswer { return scripted.Silence() },
	})
	if err := sleep(ctx, restore); err != nil {
		return "", err
	}
	r.SetHooks(scripted.Hooks{})
	r.Do(func() {
		g.Think = 200 * time.Millisecond
		g.Requests = nil // the plies come again
		r.Rewind(g, 2)
	})
	return r.goesOn(ctx, g, 4)
}

func botDrawOffer(ctx context.Context, r *botRig) (string, error) {
	g, err := r.playTo(ctx, 3, func(g *scripted.Game, _ protocol.State, send func(protocol.State)) {
		by := game.First
		g.DrawBy = &by
		send(r.State(g, game.Second))
		send(r.State(g, game.Second))
	})
	if err != nil {
		return "", err
	}
	err = r.Wait(ctx, "moves", func() bool { return len(g.Moves) >= enough || g.Status == protocol.Finished })
	if err != nil {
		return "", broken("the game stands still: %v", g)
	}
	seen := ""
	r.Do(func() {
		seen = fmt.Sprintf("answers: %q; %s", g.Acts, plyCount(len(g.Moves)))
		if len(g.Acts) > 1 {
			err = broken("one draw offer was answered by %q", g.Acts)
		}
	})
	return seen, err
}

func botForged(ctx context.Context, r *botRig) (string, error) {
	g, err := r.playTo(ctx, 3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		for _, to := range []string{"", r.Subjects().ToGame(r.cfg.Player, "another"), r.Subjects().ToGame("somebody", g.Game)} {
			forged := st
			forged.To, forged.Seq = to, st.Seq+1000
			forged.Status, forged.Outcome = protocol.Finished, game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonResign}
			r.SendRaw(st.To, forged)
		}
		send(st)
	})
	if err != nil {
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

func botLateFinish(ctx context.Context, r *botRig) (string, error) {
	g, err := r.playTo(ctx, 3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		send(st)
		g.Status, g.Outcome = protocol.Finished, game.Outcome{Result: game.SecondWins, Reason: protocol.ReasonResign}
		send(r.State(g, game.Second))
	})
	if err != nil {
		return "", err
	}
	if err := sleep(ctx, time.Second); err != nil {
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
