package conformance

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

// Scenarios of challenges and offers to a platform.

func platformChallengeTwice(t platformTrial) string {
	a := t.joinPlayer(ann)
	b := t.joinPlayer(bob)
	req := protocol.ChallengeRequest{Header: protocol.Header{ID: protocol.NewID()}, Terms: t.terms, Opponent: b.ID(), ExpireMS: 20_000}
	type answer struct {
		game protocol.GameID
		err  error
	}
	answers := make(chan answer, 3)
	for range cap(answers) {
		go func() {
			ans, err := a.Challenge(t.ctx, req)
			answers <- answer{ans.Game, err}
		}()
	}
	var id protocol.GameID
	for range cap(answers) {
		ans := <-answers
		switch {
		case ans.err != nil:
			t.failf("the challenge: %v", ans.err)
		case id != "" && ans.game != id:
			t.failf("one challenge was answered with the games %s and %s", id, ans.game)
		}
		id = ans.game
		a.Follow(id)
	}
	t.await(b, id, "the first state", func(protocol.State) bool { return true })
	t.sleep(time.Second)
	games := map[protocol.GameID]bool{}
	b.Do(func() {
		for _, o := range b.OffersSeen() {
			games[o.Game] = true
		}
	})
	if len(games) != 1 {
		t.failf("the opponent was offered %d games", len(games))
	}
	return "sent three times at once: one game"
}

func platformUsedID(t platformTrial) string {
	a := t.joinPlayer(ann)
	b := t.joinPlayer(bob)
	req := protocol.ChallengeRequest{Header: protocol.Header{ID: protocol.NewID()}, Terms: t.terms, Opponent: b.ID(), ExpireMS: 20_000}
	ans, err := a.Challenge(t.ctx, req)
	t.mustf(err, "the challenge")
	m := t.follow(ans.Game, a, b)
	if again, err := a.Challenge(t.ctx, req); err != nil || again.Game != ans.Game {
		t.failf("while its game runs, the challenge sent again is answered with game %q (%v), want %s", again.Game, err, ans.Game)
	}
	a.ResignAll(t.ctx)
	m.outcome()
	again, err := a.Challenge(t.ctx, req)
	switch {
	case errors.Is(err, &protocol.Error{Code: protocol.Over}):
		return "refused as over"
	case err != nil:
		t.failf("after its game: %v", err)
	case again.Game == ans.Game:
		t.failf("after its game the challenge is %s with the old game", again.Code)
	}
	return "the id makes a new challenge"
}

func platformWithdraw(t platformTrial) string {
	a := t.joinPlayer(ann)
	ans, err := a.Challenge(t.ctx, protocol.ChallengeRequest{Terms: t.terms, Opponent: t.cfg.Players[bob], ExpireMS: 60_000})
	t.mustf(err, "the challenge")
	listed := func() bool {
		if err := a.SayHello(t.ctx); err != nil {
			return false
		}
		var waiting []protocol.WaitingChallenge
		a.Do(func() { waiting = a.Greeting().Waiting })
		return slices.ContainsFunc(waiting, func(w protocol.WaitingChallenge) bool { return w.Game == ans.Game })
	}
	t.awaitTrue(10*time.Second, listed, "a hello does not list the waiting challenge")
	_, err = a.Withdraw(t.ctx, ans.Game)
	t.mustf(err, "the withdrawal")
	t.awaitTrue(10*time.Second, func() bool { return !listed() }, "a hello lists the challenge that was withdrawn")
	b := t.joinPlayer(bob)
	t.sleep(1500 * time.Millisecond)
	offered := false
	b.Do(func() {
		offered = slices.ContainsFunc(b.OffersSeen(), func(o protocol.Offer) bool { return o.Game == ans.Game })
	})
	if offered {
		t.failf("the withdrawn challenge was offered")
	}
	return "listed while it waited, and offered to nobody afterwards"
}

func platformDeclined(t platformTrial) string {
	a := t.joinPlayer(ann)
	b := t.joinPlayer(bob)
	b.SetHooks(scripted.PlayerHooks{Offer: func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineClock, Text: "not now"}
	}})
	ans, err := a.Challenge(t.ctx, protocol.ChallengeRequest{Terms: t.terms, Opponent: b.ID(), ExpireMS: 20_000})
	if err != nil && !errors.Is(err, &protocol.Error{Code: protocol.Over}) { // repeated when it had been declined
		t.failf("the challenge: %v", err)
	}
	if n := t.expectNotice(a, ans.Game, protocol.NoticeDeclined, t.eased(10*time.Second)); n.Reason != protocol.DeclineClock {
		t.failf("the notice gives the reason %q, the opponent gave clock", n.Reason)
	}
	return "told with the reason"
}

func platformExpired(t platformTrial) string {
	a := t.joinPlayer(ann)
	began := time.Now()
	ans, err := a.Challenge(t.ctx, protocol.ChallengeRequest{Terms: t.terms, Opponent: t.cfg.Players[bob], ExpireMS: 1500})
	t.mustf(err, "the challenge")
	t.expectNotice(a, ans.Game, protocol.NoticeExpired, t.eased(15*time.Second))
	if d := time.Since(began); d < 1400*time.Millisecond {
		t.failf("expired after %v of 1.5 s", d)
	}
	return fmt.Sprintf("told %v after a challenge for 1.5 s", time.Since(began).Round(100*time.Millisecond))
}

func platformLateAccept(t platformTrial) string {
	a := t.joinPlayer(ann)
	var late atomic.Int32
	slow := scripted.PlayerHooks{Offer: func(o protocol.Offer) protocol.OfferAnswer {
		late.Add(1)
		if sleep(t.ctx, time.Until(o.Deadline)+300*time.Millisecond) != nil {
			return protocol.OfferAnswer{Answer: protocol.Busy}
		}
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: o.Player}
	}}
	b1 := t.joinPlayer(bob)
	b1.SetHooks(slow)
	first := game.First
	ans, err := a.Challenge(t.ctx, protocol.ChallengeRequest{Terms: t.terms, Seat: &first, Opponent: b1.ID(), ExpireMS: 60_000})
	t.mustf(err, "the challenge")
	a.Follow(ans.Game)
	t.awaitTrue(10*time.Second, func() bool { return late.Load() > 0 }, "the challenge is not offered")
	b2 := t.joinPlayer(bob)
	m := &match{t, ans.Game, a, b2}
	t.await(a, ans.Game, "the first state", func(protocol.State) bool { return true })
	t.sleep(2 * time.Second)
	holders := 0
	for _, b := range []*scripted.Player{b1, b2} {
		b.Do(func() {
			if st, ok := b.Last(ans.Game); ok && st.Holders[game.Second].Instance == b.Instance() {
				holders++
			}
		})
	}
	if st := m.state(a); holders > 1 || st.Holders[game.Second].Epoch != 1 {
		t.failf("%d instances were told that they hold the seat, now in epoch %d", holders, st.Holders[game.Second].Epoch)
	}
	return fmt.Sprintf("one holder, after %d accepts that came too late", late.Load())
}

func platformForgedAccept(t platformTrial) string {
	a := t.joinPlayer(ann)
	b := t.joinPlayer(bob)
	e := t.joinPlayer(eve)
	var forged atomic.Int32
	_, err := e.Conn().QueueSubscribe(t.subjects.Offer(t.generalPool()), protocol.BotsQueue, func(msg *nats.Msg) {
		o, refusal := protocol.Decode[protocol.Offer](msg.Data, protocol.Limits{MessageBytes: 1 << 18, Nesting: 16})
		if refusal == nil && answerOffer(msg, protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: b.ID(), Instance: b.Instance(), Secret: "guess"}) == nil {
			forged.Add(1)
		}
	})
	t.must(err)
	t.must(e.Conn().Flush())
	ans, err := a.Challenge(t.ctx, protocol.ChallengeRequest{Terms: t.terms, Pool: t.generalPool(), ExpireMS: 20_000})
	t.mustf(err, "the challenge")
	a.Follow(ans.Game)
	if t.poll(t.ctx, 10*time.Second, func() bool { return forged.Load() > 0 }) != nil {
		t.skipf("no offer came in the pool %s", t.generalPool())
	}
	t.sleep(1500 * time.Millisecond)
	granted := protocol.PlayerID("")
	a.Do(func() {
		if st, ok := a.Last(ans.Game); ok && st.Holders[st.You.Other()].Instance != "" {
			granted = st.Holders[st.You.Other()].Player
		}
	})
	_, err = a.Withdraw(t.ctx, ans.Game)
	if granted != "" {
		t.failf("the game was granted to %s, who had accepted nothing", granted)
	}
	t.mustf(err, "the withdrawal")
	return fmt.Sprintf("%d forged accepts were not believed", forged.Load())
}

func platformStarvation(t platformTrial) string {
	a := t.joinPlayer(ann)
	e := t.joinPlayer(eve)
	var swallowed atomic.Int32
	const subscriptions = 100 // by chance hardly an offer reaches the player
	for range subscriptions {
		_, err := e.Conn().QueueSubscribe(t.subjects.Offer(t.generalPool()), protocol.BotsQueue, func(*nats.Msg) { swallowed.Add(1) })
		t.must(err)
	}
	t.must(e.Conn().Flush())
	b := t.joinPlayer(bob, func(c *scripted.PlayerConfig) {
		c.Pools = []protocol.Pool{t.generalPool(), protocol.OwnPool(t.cfg.Players[bob])}
	})
	began := time.Now()
	for n := range 3 {
		ans, err := a.Challenge(t.ctx, protocol.ChallengeRequest{Terms: t.terms, Pool: t.generalPool(), ExpireMS: 20_000})
		t.mustf(err, "the challenge")
		a.Follow(ans.Game)
		st, err := a.Until(t.within(t.eased(20*time.Second)).ctx, ans.Game, "a game", func(protocol.State) bool { return true })
		switch {
		case err != nil:
			t.failf("challenge %d of 3 found nobody: %d offers were swallowed", n+1, swallowed.Load())
		case st.Holders[st.You.Other()].Player != b.ID():
			t.failf("the game is against %s", st.Holders[st.You.Other()].Player)
		}
	}
	return fmt.Sprintf("three games in %v, %d offers swallowed", time.Since(began).Round(100*time.Millisecond), swallowed.Load())
}
