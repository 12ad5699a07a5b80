package conformance

import (
	"fmt"
	"time"

	"sparring/game"
	"sparring/internal/texttable"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of offers, slots and seats.

func botForgotten(t botTrial) string {
	g := t.startGame(func(g *scripted.Game) { g.Think = 100 * time.Millisecond })
	t.awaitPlies(g, 2)
	hellos := 0
	t.Do(func() {
		hellos = t.Peer(t.cfg.Player).Hellos
		t.Forget()
	})
	if t.Wait(t.within(15*time.Second).ctx, "a hello", func() bool { return t.Peer(t.cfg.Player).Hellos > hellos }) != nil {
		t.failf("no hello came after the code unknown-peer")
	}
	return t.playOn(g, 4)
}

func botHandover(t botTrial) string {
	t.pardon(protocol.Stale) // of a move that was under way
	g := t.startGameAt(3, told)
	t.Do(func() { t.Seat(g, t.cfg.Player, "another") })
	t.sleep(300 * time.Millisecond)
	t.Do(func() { t.Advance(g) }) // a new state, with the other instance to act or not
	t.expectNoMoves(g, 1500*time.Millisecond, "in a seat that another instance holds")
	t.expectForgotten(g.Game, 10*time.Second)
	return "nothing for 1.5 s, and the slot is free"
}

func botWrongEpoch(t botTrial) string {
	t.pardon(protocol.Stale)
	lost := 0
	g := t.startGameAt(3, func(g *scripted.Game, st protocol.State, send func(protocol.State)) {
		g.Holders[st.You].Instance, g.Holders[st.You].Epoch = "another", st.Holders[st.You].Epoch+1
		send(st)
	})
	t.SetHooks(scripted.Hooks{Tell: func(*scripted.Game, protocol.State, func(protocol.State)) { lost++ }})
	t.await("the move", func() bool { return len(movesAt(g, 3)) > 0 })
	t.sleep(3 * time.Second)
	n := 0
	t.Do(func() { n = len(movesAt(g, 3)) })
	if n > 5 {
		t.failf("it sent the move %d times in 3 s, although it was refused as stale", n)
	}
	t.expectForgotten(g.Game, 30*time.Second)
	return fmt.Sprintf("%d requests in 3 s, and the slot is free", n)
}

func botVacated(t botTrial) string {
	t.pardon(protocol.Stale)
	var instance protocol.InstanceID
	g := t.startGameAt(3, untold)
	t.Do(func() {
		instance = g.Holders[game.Second].Instance
		t.Vacate(g, game.Second)
	})
	t.expectNoMoves(g, time.Second, "in a vacant seat")
	t.Do(func() { t.Seat(g, t.cfg.Player, instance) })
	return t.playOn(g, 3)
}

func botHeld(t botTrial) string {
	var instance protocol.InstanceID
	left := false
	t.SetHooks(scripted.Hooks{Leave: func(protocol.From, protocol.Leave, *protocol.Answer) { left = true }})
	t.Do(func() { instance = t.Peer(t.cfg.Player).Hello.Instance })
	g, err := t.Grant(t.NewGameID(), t.terms, [2]scripted.Taker{{}, {Player: t.cfg.Player, Instance: instance}})
	t.must(err)
	seen := "it plays"
	if err := t.Wait(t.ctx, "a move", func() bool {
		if left {
			seen = "it gave the seat back"
		}
		return left || len(g.Moves) >= 4
	}); err != nil {
		t.failf("it neither plays the game nor gives the seat back")
	}
	return seen
}

// maxSlots is how many slots the suite tries to fill.
const maxSlots = 64

func botSlots(t botTrial) string {
	slots, free := 0, 0
	t.Do(func() { q := t.Peer(t.cfg.Player); slots, free = q.Hello.Slots, q.Alive.Free })
	if free > maxSlots {
		t.skipf("the bot has %s", texttable.Count(free, "slot", "slots"))
	}
	accepts := 0
	for range free + 3 {
		o := t.offer(game.Second)
		o.HoldMS = 3000
		ans, err := t.Offer(t.within(2*time.Second).ctx, protocol.OwnPool(t.cfg.Player), o)
		if err != nil {
			if accepts >= free {
				break // it has left the queue
			}
			t.failf("after %d of %d offers: %v", accepts, free, err)
		}
		if ans.Answer == protocol.Accept {
			accepts++
		}
	}
	if accepts > slots {
		t.failf("it accepted %d matches at once with %s", accepts, texttable.Count(slots, "slot", "slots"))
	}
	return fmt.Sprintf("%d accepted at once, of %s", accepts, texttable.Count(slots, "slot", "slots"))
}

func botOfferTwice(t botTrial) string {
	o := t.offer(game.Second)
	o.HoldMS = 2000
	free := 0
	t.Do(func() { free = t.Peer(t.cfg.Player).Alive.Free })
	for range 3 {
		t.makeOffer(o)
	}
	since, now := time.Now(), 0
	t.await("a heartbeat", func() bool {
		q := t.Peer(t.cfg.Player)
		now = q.Alive.Free
		return q.LastBeat.After(since.Add(heartbeat)) // the first may have been under way
	})
	if now < free-1 {
		t.failf("one match offered three times took %s", texttable.Count(free-now, "slot", "slots"))
	}
	return fmt.Sprintf("offered three times, %d slot taken", free-now)
}

func botNoGrant(t botTrial) string {
	o := t.offer(game.Second)
	o.HoldMS = 500
	t.expectAccept(o)
	return t.expectSlotBack(15 * time.Second)
}

// expectSlotBack waits until the bot has as many free slots as before.
func (t botTrial) expectSlotBack(d time.Duration) string {
	began := time.Now()
	soon := t.within(d)
	free := 0
	soon.sleep(2 * heartbeat)
	if t.Wait(soon.ctx, "the slot", func() bool {
		q := t.Peer(t.cfg.Player)
		free = q.Alive.Free
		return q.LastBeat.After(began.Add(heartbeat)) && free >= t.free
	}) != nil {
		t.failf("%v later %d of %d slots are free", d, free, t.free)
	}
	return texttable.Count(free, "slot", "slots") + " free again"
}

func botReleased(t botTrial) string {
	const n = 10
	for i := range n {
		o := t.offer(game.Second)
		o.HoldMS = 60_000
		t.during("after %d matches that came to nothing", i).expectAccept(o)
		t.Notify(t.cfg.Player, protocol.Notice{Kind: protocol.NoticeReleased, Game: o.Game})
		t.expectSlotBack(10 * time.Second)
	}
	return texttable.Count(n, "slot", "slots") + " free again at once, of matches held for a minute"
}

func botDoubleGrant(t botTrial) string {
	o := t.offer(game.First)
	o.HoldMS = 1500
	ans := t.expectAccept(o)
	ans.Instance = "another"
	g := t.grant(o, ans)
	t.expectNoMoves(g, time.Second, "in a match that was granted to another instance")
	return t.expectSlotBack(15 * time.Second)
}
