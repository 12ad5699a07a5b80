package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"sparring/game"
	"sparring/internal/texttable"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of a broken network, and of a bot that is killed, paused or ended.

// jitter is the delay of a slow network.
func jitter() time.Duration { return time.Duration(50+rand.IntN(100)) * time.Millisecond }

func botSlowNetwork(t botTrial) string {
	t.cfg.Proxy.Delay(jitter)
	g := t.startGame()
	seen := t.playUntil(g, enough)
	t.expectOneDecision(g)
	return seen
}

// disturbed plays a game, breaks the network when the bot is to move, and returns when
// the game has gone on.
func (t botTrial) disturbed(limit time.Duration, breakIt func()) string {
	t.pardon(protocol.Stale)
	g := t.startGameAt(3, told, func(g *scripted.Game) { g.Think = 100 * time.Millisecond })
	connections := t.cfg.Proxy.Accepted()
	began := time.Now()
	breakIt()
	_, err := t.waitForMore(t.within(limit).ctx, g, 4)
	connections = t.cfg.Proxy.Accepted() - connections
	if err != nil {
		t.failf("%v (%d new connections)", err, connections)
	}
	t.expectOneDecision(g)
	return fmt.Sprintf("it played on after %v, with %d new connections", time.Since(began).Round(100*time.Millisecond), connections)
}

func botCut(t botTrial) string {
	return t.disturbed(30*time.Second, t.cfg.Proxy.Cut)
}

func botHang(t botTrial) string {
	return t.disturbed(30*time.Second, func() {
		t.cfg.Proxy.Stall(true)
		defer t.cfg.Proxy.Stall(false)
		t.sleep(2 * time.Second)
	})
}

func botAway(t botTrial) string {
	return t.disturbed(30*time.Second, func() {
		t.cfg.Proxy.Refuse(true)
		defer t.cfg.Proxy.Refuse(false)
		t.sleep(3 * time.Second)
	})
}

func botHalfOpen(t botTrial) string {
	return t.disturbed(30*time.Second, t.cfg.Proxy.HalfOpen)
}

func botKill(t botTrial) string {
	g := t.startGameAt(3, told)
	t.must(t.cfg.Program.Kill())
	t.Do(func() {
		t.Forget()
		t.Vacate(g, game.Second)
	})
	t.must(t.cfg.Program.Start())
	if t.Wait(t.ctx, "its hello", func() bool { return t.Peer(t.cfg.Player).Known }) != nil {
		t.must(t.cfg.Program.withExit(errors.New("no hello after the restart")))
	}
	o := t.offer(game.Second)
	o.Kind, o.Game = protocol.OfferSeat, g.Game
	t.Do(func() { o.Ply = len(g.Moves) })
	ans := t.expectAccept(o)
	t.Do(func() { t.Seat(g, ans.Player, ans.Instance) })
	return t.playOn(g, 4)
}

func botPause(t botTrial) string {
	t.pardon(protocol.Stale)
	g := t.startGameAt(3, told)
	t.must(t.cfg.Program.Signal(sigPause))
	t.Do(func() { t.Seat(g, t.cfg.Player, "another") })
	t.sleep(2 * time.Second)
	t.must(t.cfg.Program.Signal(sigResume))
	before := 0
	t.Do(func() { before = len(g.Requests) })
	t.sleep(time.Second)
	n := 0
	t.Do(func() { n = len(freshSince(g, before)) })
	if n > 1 {
		t.failf("it sent %s after the pause", texttable.Count(n, "move", "moves"))
	}
	t.expectNoMoves(g, time.Second, "in a seat that another instance holds")
	t.expectForgotten(g.Game, 10*time.Second)
	return texttable.Count(n, "move", "moves") + " after the pause, refused as stale"
}

func botDrain(t botTrial) string {
	left := false
	t.SetHooks(scripted.Hooks{Leave: func(protocol.From, protocol.Leave, *protocol.Answer) { left = true }})
	g := t.startGame(func(g *scripted.Game) { g.Think = 200 * time.Millisecond })
	t.awaitPlies(g, 2)
	t.must(t.cfg.Program.Signal(syscall.SIGTERM))
	t.sleep(300 * time.Millisecond)
	ans, err := t.Offer(t.within(time.Second).ctx, protocol.OwnPool(t.cfg.Player), t.offer(game.First))
	if err == nil && ans.Answer == protocol.Accept {
		t.failf("it accepted a match after SIGTERM")
	}
	if err := t.Wait(t.ctx, "some moves", func() bool {
		gone, _ := t.cfg.Program.Exited()
		return gone || left || len(g.Moves) >= 6
	}); err != nil {
		t.failf("it neither plays on nor gives the seat back")
	}
	seen, kept := "", ""
	t.Do(func() {
		seen = fmt.Sprintf("it played on to %s and ended", plyCount(len(g.Moves)))
		if left {
			seen = "it gave the seat back and ended"
		}
		if h := g.Holders[game.Second]; !left && len(g.Moves) < 6 && h.Instance != "" {
			kept = "it ended without giving its seat back, after " + plyCount(len(g.Moves))
		}
		t.End(g, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement})
	})
	if gone, _ := t.cfg.Program.Exited(); gone && kept != "" {
		t.failf("%s", kept)
	}
	if err := t.cfg.Program.Wait(t.ctx); err != nil {
		t.failf("after SIGTERM and the end of the game: %v", err)
	}
	return seen
}
