package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/game"
	"sparring/lab/conformance/scripted"
	"sparring/protocol"
)

// Scenarios of challenges and offers to a platform.

func platformChallengeTwice(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	req := protocol.ChallengeRequest{Header: protocol.Header{ID: protocol.NewID()}, Terms: r.terms, Opponent: b.ID(), ExpireMS: 20_000}
	type answer struct {
		game protocol.GameID
		err  error
	}
	answers := make(chan answer, 3)
	for range cap(answers) {
		go func() {
			ans, err := a.Challenge(ctx, req)
			answers <- answer{ans.Game, err}
		}()
	}
	var id protocol.GameID
	for range cap(answers) {
		ans := <-answers
		switch {
		case ans.err != nil:
			return "", broken("the challenge: %v", ans.err)
		case id != "" && ans.game != id:
			return "", broken("one challenge was answered with the games %s and %s", id, ans.game)
		}
		id = ans.game
		a.Follow(id)
	}
	if _, err := b.Until(ctx, id, "the first state", func(protocol.State) bool { return true }); err != nil {
		return "", broken("%v", err)
	}
	if err := sleep(ctx, time.Second); err != nil {
		return "", err
	}
	games := map[protocol.GameID]bool{}
	b.Do(func() {
		for _, o := range b.OffersSeen() {
			games[o.Game] = true
		}
	})
	if len(games) != 1 {
		return "", broken("the opponent was offered %d games", len(games))
	}
	return "sent three times at once: one game", nil
}

func platformUsedID(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	req := protocol.ChallengeRequest{Header: protocol.Header{ID: protocol.NewID()}, Terms: r.terms, Opponent: b.ID(), ExpireMS: 20_000}
	ans, err := a.Challenge(ctx, req)
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	a.Follow(ans.Game)
	m := &match{r, ans.Game, a, b}
	if err := m.both(ctx, "the first state", func(protocol.State) bool { return true }); err != nil {
		return "", err
	}
	if again, err := a.Challenge(ctx, req); err != nil || again.Game != ans.Game {
		return "", broken("while its game runs, the challenge sent again is answered with game %q (%v), want %s", again.Game, err, ans.Game)
	}
	a.ResignAll(ctx)
	if _, err := m.ends(ctx); err != nil {
		return "", err
	}
	again, err := a.Challenge(ctx, req)
	switch {
	case err == nil && again.Game == ans.Game:
		return "", broken("after its game the challenge is %s with the old game", again.Code)
	case err == nil:
		return "the id makes a new challenge", nil
	case errors.Is(err, &protocol.Error{Code: protocol.Over}):
		return "refused as over", nil
	}
	return "", broken("after its game: %v", err)
}

func platformWithdraw(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Opponent: r.cfg.Players[bob], ExpireMS: 60_000})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	listed := func() bool {
		if err := a.SayHello(ctx); err != nil {
			return false
		}
		var waiting []protocol.WaitingChallenge
		a.Do(func() { waiting = a.Greeting().Waiting })
		return slices.ContainsFunc(waiting, func(w protocol.WaitingChallenge) bool { return w.Game == ans.Game })
	}
	if err := r.poll(ctx, 10*time.Second, listed); err != nil {
		return "", broken("a hello does not list the waiting challenge")
	}
	if _, err := a.Withdraw(ctx, ans.Game); err != nil {
		return "", broken("the withdrawal: %v", err)
	}
	if err := r.poll(ctx, 10*time.Second, func() bool { return !listed() }); err != nil {
		return "", broken("a hello lists the challenge that was withdrawn")
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	if err := sleep(ctx, 1500*time.Millisecond); err != nil {
		return "", err
	}
	b.Do(func() {
		if slices.ContainsFunc(b.OffersSeen(), func(o protocol.Offer) bool { return o.Game == ans.Game }) {
			err = broken("the withdrawn challenge was offered")
		}
	})
	return "listed while it waited, and offered to nobody afterwards", err
}

// told waits for a notice about a game.
func (r *platformRig) told(ctx context.Context, p *scripted.Player, g protocol.GameID, kind protocol.NoticeKind, d time.Duration) (n protocol.Notice, err error) {
	ctx, cancel := within(ctx, d)
	defer cancel()
	if err := p.Wait(ctx, "the notice "+string(kind), func() bool {
		for _, m := range p.NoticesSeen() {
			if m.Game == g && m.Kind == kind {
				n = m
				return true
			}
		}
		return false
	}); err != nil {
		return n, broken("%v", err)
	}
	return n, nil
}

func platformDeclined(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	b.SetHooks(scripted.PlayerHooks{Offer: func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineClock, Text: "not now"}
	}})
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Opponent: b.ID(), ExpireMS: 20_000})
	if err != nil && !errors.Is(err, &protocol.Error{Code: protocol.Over}) { // repeated when it had been declined
		return "", broken("the challenge: %v", err)
	}
	n, err := r.told(ctx, a, ans.Game, protocol.NoticeDeclined, r.eased(10*time.Second))
	if err == nil && n.Reason != protocol.DeclineClock {
		err = broken("the notice gives the reason %q, the opponent gave clock", n.Reason)
	}
	return "told with the reason", err
}

func platformExpired(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	began := time.Now()
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Opponent: r.cfg.Players[bob], ExpireMS: 1500})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	if _, err := r.told(ctx, a, ans.Game, protocol.NoticeExpired, r.eased(15*time.Second)); err != nil {
		return "", err
	}
	if d := time.Since(began); d < 1400*time.Millisecond {
		return "", broken("expired after %v of 1.5 s", d)
	}
	return fmt.Sprintf("told %v after a challenge for 1.5 s", time.Since(began).Round(100*time.Millisecond)), nil
}

func platformLateAccept(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	var late atomic.Int32
	slow := scripted.PlayerHooks{Offer: func(o protocol.Offer) protocol.OfferAnswer {
		late.Add(1)
		if sleep(ctx, time.Until(o.Deadline)+300*time.Millisecond) != nil {
			return protocol.OfferAnswer{Answer: protocol.Busy}
		}
		return protocol.OfferAnswer{Answer: protocol.Accept, Player: o.Player}
	}}
	b1, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	b1.SetHooks(slow)
	first := game.First
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Seat: &first, Opponent: b1.ID(), ExpireMS: 60_000})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	a.Follow(ans.Game)
	if err := r.poll(ctx, 10*time.Second, func() bool { return late.Load() > 0 }); err != nil {
		return "", broken("the challenge is not offered")
	}
	b2, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	m := &match{r, ans.Game, a, b2}
	if _, err := a.Until(ctx, ans.Game, "the first state", func(protocol.State) bool { return true }); err != nil {
		return "", broken("%v", err)
	}
	if err := sleep(ctx, 2*time.Second); err != nil {
		return "", err
	}
	holders := 0
	for _, b := range []*scripted.Player{b1, b2} {
		b.Do(func() {
			if st, ok := b.Last(ans.Game); ok && st.Holders[game.Second].Instance == b.Instance() {
				holders++
			}
		})
	}
	if st := m.state(a); holders > 1 || st.Holders[game.Second].Epoch != 1 {
		return "", broken("%d instances were told that they hold the seat, now in epoch %d", holders, st.Holders[game.Second].Epoch)
	}
	return fmt.Sprintf("one holder, after %d accepts that came too late", late.Load()), nil
}

// pool is the general pool of the games' speed.
func (r *platformRig) pool() protocol.Pool {
	return protocol.Pool(r.terms.Game + "." + string(r.terms.Clock.Speed()))
}

func platformForgedAccept(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob)
	if err != nil {
		return "", err
	}
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	var forged atomic.Int32
	if _, err := e.Conn().QueueSubscribe(r.subjects.Offer(r.pool()), protocol.BotsQueue, func(msg *nats.Msg) {
		o, refusal := protocol.Decode[protocol.Offer](msg.Data, protocol.Limits{MessageBytes: 1 << 18, Nesting: 16})
		if refusal == nil && r.respond(msg, protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: b.ID(), Instance: b.Instance(), Secret: "guess"}) == nil {
			forged.Add(1)
		}
	}); err != nil {
		return "", err
	}
	if err := e.Conn().Flush(); err != nil {
		return "", err
	}
	ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Pool: r.pool(), ExpireMS: 20_000})
	if err != nil {
		return "", broken("the challenge: %v", err)
	}
	a.Follow(ans.Game)
	if err := r.poll(ctx, 10*time.Second, func() bool { return forged.Load() > 0 }); err != nil {
		return "", notTried("no offer came in the pool %s", r.pool())
	}
	if err := sleep(ctx, 1500*time.Millisecond); err != nil {
		return "", err
	}
	a.Do(func() {
		if st, ok := a.Last(ans.Game); ok && st.Holders[st.You.Other()].Instance != "" {
			err = broken("the game was granted to %s, who had accepted nothing", st.Holders[st.You.Other()].Player)
		}
	})
	if _, e := a.Withdraw(ctx, ans.Game); e != nil && err == nil {
		err = broken("the withdrawal: %v", e)
	}
	return fmt.Sprintf("%d forged accepts were not believed", forged.Load()), err
}

func platformStarvation(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	var swallowed atomic.Int32
	const subscriptions = 100 // by chance hardly an offer reaches the player
	for range subscriptions {
		if _, err := e.Conn().QueueSubscribe(r.subjects.Offer(r.pool()), protocol.BotsQueue, func(*nats.Msg) { swallowed.Add(1) }); err != nil {
			return "", err
		}
	}
	if err := e.Conn().Flush(); err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob, func(c *scripted.PlayerConfig) {
		c.Pools = []protocol.Pool{r.pool(), protocol.OwnPool(r.cfg.Players[bob])}
	})
	if err != nil {
		return "", err
	}
	began := time.Now()
	for n := range 3 {
		ans, err := a.Challenge(ctx, protocol.ChallengeRequest{Terms: r.terms, Pool: r.pool(), ExpireMS: 20_000})
		if err != nil {
			return "", broken("the challenge: %v", err)
		}
		a.Follow(ans.Game)
		soon, cancel := within(ctx, r.eased(20*time.Second))
		st, err := a.Until(soon, ans.Game, "a game", func(protocol.State) bool { return true })
		cancel()
		switch {
		case err != nil:
			return "", broken("challenge %d of 3 found nobody: %d offers were swallowed", n+1, swallowed.Load())
		case st.Holders[st.You.Other()].Player != b.ID():
			return "", broken("the game is against %s", st.Holders[st.You.Other()].Player)
		}
	}
	return fmt.Sprintf("three games in %v, %d offers swallowed", time.Since(began).Round(100*time.Millisecond), swallowed.Load()), nil
}
