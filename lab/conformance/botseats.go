package conformance

import (
	"context"
	"fmt"
	"time"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/lab/texttable"
	"sparring/protocol"
)

// Scenarios of offers, slots and seats.

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
	g, err := r.playTo(ctx, 3, told)
	if err != nil {
		return "", err
	}
	r.Do(func() { r.Seat(g, r.cfg.Player, "another") })
	if err := sleep(ctx, 300*time.Millisecond); err != nil {
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
	lost := 0
	g, err := r.playTo(ctx, 3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		g.Holders[st.You].Instance, g.Holders[st.You].Epoch = "another", st.Holders[st.You].Epoch+1
		send(st)
	})
	if err != nil {
		return "", err
	}
	r.SetHooks(scripted.Hooks{Tell: func(*scripted.Game, protocol.State, func(protocol.State)) { lost++ }})
	if err := r.Wait(ctx, "the move", func() bool { return len(movesAt(g, 3)) > 0 }); err != nil {
		return "", broken("%v", err)
	}
	if err := sleep(ctx, 3*time.Second); err != nil {
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
	var instance protocol.InstanceID
	g, err := r.playTo(ctx, 3, untold)
	if err != nil {
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

// maxSlots is how many slots the suite tries to fill.
const maxSlots = 64

func botSlots(ctx context.Context, r *botRig) (string, error) {
	slots, free := 0, 0
	r.Do(func() { q := r.Peer(r.cfg.Player); slots, free = q.Hello.Slots, q.Alive.Free })
	if free > maxSlots {
		return "", notTried("the bot has %s", texttable.Count(free, "slot", "slots"))
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
		return "", broken("it accepted %d matches at once with %s", accepts, texttable.Count(slots, "slot", "slots"))
	}
	return fmt.Sprintf("%d accepted at once, of %s", accepts, texttable.Count(slots, "slot", "slots")), nil
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
		return "", broken("one match offered three times took %s", texttable.Count(free-now, "slot", "slots"))
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
	if err := sleep(ctx, 2*heartbeat); err != nil {
		return "", err
	}
	if err := r.Wait(ctx, "the slot", func() bool {
		q := r.Peer(r.cfg.Player)
		free, most = q.Alive.Free, max(most, q.Alive.Free)
		return q.LastBeat.After(began.Add(heartbeat)) && free >= r.free
	}); err != nil {
		return "", broken("%v later %d of %d slots are free", d, free, r.free)
	}
	return texttable.Count(free, "slot", "slots") + " free again", nil
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
	return texttable.Count(n, "slot", "slots") + " free again at once, of matches held for a minute", nil
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
