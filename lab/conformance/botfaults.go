package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/lab/texttable"
	"sparring/protocol"
)

// Scenarios of a broken network, and of a bot that is killed, paused or ended.

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
	g, err := r.playTo(ctx, 3, told, func(g *scripted.Game) { g.Think = 100 * time.Millisecond })
	if err != nil {
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
		return sleep(ctx, 2*time.Second)
	})
}

func botAway(ctx context.Context, r *botRig) (string, error) {
	return r.disturbed(ctx, 30*time.Second, func() error {
		r.cfg.Proxy.Refuse(true)
		defer r.cfg.Proxy.Refuse(false)
		return sleep(ctx, 3*time.Second)
	})
}

func botHalfOpen(ctx context.Context, r *botRig) (string, error) {
	return r.disturbed(ctx, 30*time.Second, func() error { r.cfg.Proxy.HalfOpen(); return nil })
}

func botKill(ctx context.Context, r *botRig) (string, error) {
	g, err := r.playTo(ctx, 3, told)
	if err != nil {
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
		return "", r.cfg.Program.withExit(broken("no hello after the restart"))
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
	g, err := r.playTo(ctx, 3, told)
	if err != nil {
		return "", err
	}
	if err := r.cfg.Program.Signal(sigPause); err != nil {
		return "", err
	}
	r.Do(func() { r.Seat(g, r.cfg.Player, "another") })
	if err := sleep(ctx, 2*time.Second); err != nil {
		return "", err
	}
	if err := r.cfg.Program.Signal(sigResume); err != nil {
		return "", err
	}
	before := 0
	r.Do(func() { before = len(g.Requests) })
	if err := sleep(ctx, time.Second); err != nil {
		return "", err
	}
	n := 0
	r.Do(func() { n = len(freshSince(g, before)) })
	if n > 1 {
		return "", broken("it sent %s after the pause", texttable.Count(n, "move", "moves"))
	}
	if err := r.quiet(ctx, g, time.Second, "in a seat that another instance holds"); err != nil {
		return "", err
	}
	return texttable.Count(n, "move", "moves") + " after the pause, refused as stale", r.forgets(ctx, g.Game, 10*time.Second)
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
	if err := sleep(ctx, 300*time.Millisecond); err != nil {
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
	seen, gaveBack := "", false
	r.Do(func() {
		gaveBack = left
		seen = fmt.Sprintf("it played on to %s and ended", plyCount(len(g.Moves)))
		if left {
			seen = "it gave the seat back and ended"
		}
		if h := g.Holders[game.Second]; len(g.Moves) < 6 && h.Instance != "" {
			err = broken("it ended without giving its seat back, after %s", plyCount(len(g.Moves)))
		}
		r.End(g, game.Outcome{Result: game.Draw, Reason: protocol.ReasonAgreement})
	})
	if err != nil && !gaveBack {
		if gone, _ := r.cfg.Program.Exited(); gone {
			return "", err
		}
	}
	if err := r.cfg.Program.Wait(ctx); err != nil {
		return "", broken("after SIGTERM and the end of the game: %v", err)
	}
	return seen, nil
}
