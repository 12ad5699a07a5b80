package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

func TestDeclinesWithItsReason(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Policy.Block = []protocol.PlayerID{"eve"}
		c.Policy.Rated = policy.CasualOnly
		c.Policy.Fastest = spec(t, "30")
	})
	for _, c := range []struct {
		change func(*protocol.Offer)
		want   protocol.DeclineReason
	}{
		{func(o *protocol.Offer) {}, protocol.DeclineCasual},
		{func(o *protocol.Offer) { o.Terms.Rated, o.Opponent.Player = false, "eve" }, protocol.DeclineOpponent},
		{func(o *protocol.Offer) { o.Terms.Clock = spec(t, "10") }, protocol.DeclineClock},
		{func(o *protocol.Offer) { o.Terms.Rules = "amazons/none" }, protocol.DeclineRules},
		{func(o *protocol.Offer) { o.Terms.Game, o.Terms.Rules = "gomoku", "gomoku/freestyle-15" }, protocol.DeclineGame},
		{func(o *protocol.Offer) { o.Player = tortoise }, protocol.DeclineOpponent},
	} {
		o := offerOf(small(t), "game1", game.First)
		c.change(&o)
		ans := p.offer(protocol.OwnPool(hare), o)
		if ans.Answer != protocol.Decline || ans.Reason != c.want || ans.Text == "" {
			t.Errorf("answered %+v, want decline for %q", ans, c.want)
		}
	}
	if f.ledger.Used() != 0 {
		t.Error("a declined offer holds a slot")
	}
}

// One bot can't hold all places of the levels on a ladder, and people find room beside it.
func TestOneBotAgainstTheLevels(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Players, c.Levels, c.LevelGames, c.LevelsLadder = nil, 4*levelsPerBot, []string{"amazons"}, true
	})
	offer := func(i int, by protocol.Opponent, rated bool) protocol.OfferAnswer {
		o := offerOf(small(t), protocol.GameID(fmt.Sprintf("g%d-%s", i, by.Player)), game.First)
		o.Terms.Rated, o.Opponent = rated, &by
		return p.offer(protocol.OwnPool(protocol.LevelPlayer("amazons", 1+i%10)), o)
	}
	eve, bob, ann := protocol.Opponent{Player: "eve", Kind: protocol.Bot}, protocol.Opponent{Player: "bob", Kind: protocol.Bot}, protocol.Opponent{Player: "human-ann", Kind: protocol.Human}
	mask := protocol.Opponent{Player: "mask", Kind: protocol.Human} // nobody vouches for it
	for i := range levelsPerBot {
		if ans := offer(i, eve, true); ans.Answer != protocol.Accept {
			t.Fatalf("offer %d: %+v", i, ans)
		}
	}
	if ans := offer(levelsPerBot, eve, true); ans.Answer != protocol.Busy {
		t.Errorf("one game more: %+v, want busy", ans)
	}
	if ans := offer(levelsPerBot, eve, false); ans.Answer != protocol.Decline || ans.Reason != protocol.DeclineKind {
		t.Errorf("a casual game against a bot: %+v, want declined", ans)
	}
	if ans := offer(0, bob, true); ans.Answer != protocol.Accept {
		t.Errorf("another bot: %+v", ans)
	}
	for i := range levelsPerBot + 1 { // the page bounds the games of its people
		if ans := offer(i, ann, false); ans.Answer != protocol.Accept {
			t.Errorf("offer %d of a person: %+v", i, ans)
		}
	}
	for i := range levelsPerBot {
		if ans := offer(i, mask, false); ans.Answer != protocol.Accept {
			t.Fatalf("offer %d of somebody who claims to be human: %+v", i, ans)
		}
	}
	if ans := offer(levelsPerBot, mask, false); ans.Answer != protocol.Busy {
		t.Errorf("one game more of somebody who claims to be human: %+v, want busy", ans)
	}
	if n := f.ledger.UsedByLevels(); n != 3*levelsPerBot+2 {
		t.Errorf("%d games of levels", n)
	}
}

// Offers come through all pools at once, and there is one slot.
func TestOneSlotIsGivenOnce(t *testing.T) {
	t.Parallel() // it mostly waits
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Slots = 1 })
	f.engine.setPause(time.Hour) // the game, if any, continues
	pools := []protocol.Pool{protocol.OwnPool(hare), "amazons.bullet", "amazons.blitz", "amazons.rapid"}
	for _, pool := range pools { // waits until the instance is in all queues
		if ans := p.offer(pool, probe(t)); ans.Answer != protocol.Decline {
			t.Fatalf("a probe was answered %+v", ans)
		}
	}
	var wg sync.WaitGroup
	answers := make(chan protocol.OfferDecision, 100)
	for i := range 40 {
		wg.Go(func() {
			o := offerOf(small(t), protocol.GameID("game"+string(rune('a'+i%26))+string(rune('a'+i/26))), game.First)
			ans, err := p.server.Offer(context.Background(), pools[i%len(pools)], o)
			switch {
			case err == nil:
				answers <- ans.Answer
			case !errors.Is(err, nats.ErrNoResponders): // it leaves the queues when the slot is taken
				t.Errorf("offer: %v", err)
			}
		})
	}
	wg.Wait()
	close(answers)
	accepted := 0
	for a := range answers {
		if a == protocol.Accept {
			accepted++
		}
	}
	if accepted != 1 || f.ledger.Used() != 1 {
		t.Errorf("%d offers accepted, %d slots used, want 1", accepted, f.ledger.Used())
	}
	gametest.Eventually(t, "the instance to leave all queues but its own, for seats of running games", func() bool {
		return !slices.ContainsFunc(pools[1:], func(pool protocol.Pool) bool {
			_, err := p.server.Offer(context.Background(), pool, probe(t))
			return !errors.Is(err, nats.ErrNoResponders)
		})
	})
	seat := offerOf(small(t), "running", game.First)
	if ans := p.offer(pools[0], seat); ans.Answer != protocol.Busy {
		t.Errorf("a new game without a slot: %+v, want busy", ans)
	}
	seat.Kind, seat.Player, seat.Spare = protocol.OfferSeat, hare, true
	if ans := p.offer(pools[0], seat); ans.Answer != protocol.Busy {
		t.Errorf("a seat for which another instance may have a slot: %+v, want busy", ans)
	}
	seat.Spare = false
	if ans := p.offer(pools[0], seat); ans.Answer != protocol.Accept {
		t.Errorf("a seat for which nobody has a slot: %+v, want accept", ans)
	}
	p.seen("a heartbeat without free slots", func() bool { return p.alive.Free == 0 && p.alive.FreeTogether == nil })
}

// The slots are as many as the cores are for, in the ledger, the hello, the report and the
// log.
func TestSlotsAreCutToTheCores(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Slots, c.Cores, c.GamesPerCore, c.Levels = 100, 1, 3, 0 })
	p.seen("the hello", func() bool { return p.lastHello.Slots == 3 && p.alive.Free == 3 })
	if r := f.Report().Bot; r.Slots != 3 || f.ledger.Free(f.roster()[0].need(false)) != 3 {
		t.Errorf("%d slots reported, %d free", r.Slots, f.ledger.Free(f.roster()[0].need(false)))
	}
	if !f.log.Has("fewer slots are offered than SPARRING_SLOTS") || !f.log.Has(`"slots":100,"offered":3,"cores":1,"games_per_core":3,"threads":1`) {
		t.Error("the log does not say so")
	}
}

// probe returns an offer that shows whether an instance is in a queue: of a game
// that it does not play, so it declines.
func probe(t *testing.T) protocol.Offer {
	o := offerOf(small(t), "probe", game.First)
	o.Terms.Game, o.Terms.Rules = "gomoku", "gomoku/freestyle-15"
	return o
}

// The platform ignores an accept of an instance that it does not know, so the bot
// gives none.
func TestJoinsNoQueueBeforeItIsKnown(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	p.setMute(true)
	nc := connect(t, srv.Player("bots"))
	f := startBot(t, nc)
	for range 2 { // when Run receives the second signal, it has handled the first
		f.lookAtQueues()
		gametest.Eventually(t, "the queues to be updated", func() bool { return len(f.wake) == 0 })
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	o := offerOf(small(t), "game1", game.First)
	if ans, err := p.server.Offer(t.Context(), protocol.OwnPool(hare), o); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("an offer was answered %+v, %v", ans, err)
	}
	p.setMute(false)
	if ans := p.offer(protocol.OwnPool(hare), o); ans.Answer != protocol.Accept {
		t.Errorf("once it is known: %+v", ans)
	}
}

func TestReservationExpiresWithoutGrant(t *testing.T) {
	t.Parallel() // it mostly waits
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Slots = 1 })
	o := offerOf(small(t), "game1", game.First)
	o.HoldMS = 300
	first := p.offer(protocol.OwnPool(hare), o)
	if first.Answer != protocol.Accept || f.ledger.Used() != 1 {
		t.Fatalf("answered %+v with %d slots used", first, f.ledger.Used())
	}
	gametest.Eventually(t, "the slot back", func() bool { return f.ledger.Used() == 0 })
	o.Game = "game2" // and the instance is in the queue again
	if ans := p.offer(protocol.OwnPool(hare), o); ans.Answer != protocol.Accept {
		t.Fatalf("after the reservation expired: %+v", ans)
	}
	gametest.Eventually(t, "the slot back again", func() bool { return f.ledger.Used() == 0 })
	// The platform grants the first one late. It says that we hold the seat, so
	// the game is resumed.
	o.Game = "game1"
	m := p.grant(o, first)
	p.finished(m)
	gametest.Eventually(t, "the end of the game", func() bool { return f.count(play.GameEnded) == 1 })
}

func TestSlotsForHumans(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	startBot(t, connect(t, srv.Player("bots")), func(c *Config) { c.Slots, c.HumanSlots = 1, 1 })
	p.seen("a heartbeat that says for whom the slot is", func() bool {
		return p.alive.Free == 1 && p.alive.FreeForBots != nil && *p.alive.FreeForBots == 0
	})
	o := offerOf(small(t), "game1", game.First)
	o.Opponent.Kind = protocol.Bot
	if ans := p.offer(protocol.OwnPool(hare), o); ans.Answer != protocol.Busy {
		t.Errorf("against a bot: %+v, want busy", ans)
	}
	o.Opponent.Kind = protocol.Human
	if ans := p.offer(protocol.OwnPool(hare), o); ans.Answer != protocol.Accept {
		t.Errorf("against a human: %+v, want accept", ans)
	}
}

// A player that takes one game at a time says that its process has room for more.
func TestSlotsOfTheProcess(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Slots = 3
		c.Profiles = profiles(t, `{"player": "amazons-hare", "games": ["amazons"], "slots": 1}`)
	})
	p.seen("a heartbeat that says what the process has room for", func() bool {
		return p.alive.Free == 1 && p.alive.FreeTogether != nil && *p.alive.FreeTogether == 3
	})
}

func TestGrantOfAnotherMatchIsGivenBack(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")))
	o := offerOf(small(t), "game1", game.First)
	ans := p.offer(protocol.OwnPool(hare), o)
	o.Terms.Clock = spec(t, "1")
	p.grant(o, ans)
	p.seen("the seat given back", func() bool {
		return slices.ContainsFunc(p.leaves, func(l protocol.Leave) bool { return slices.Equal(l.Games, []protocol.GameID{"game1"}) })
	})
	if f.count(play.GameStarted) != 0 {
		t.Error("it plays the game")
	}
}

// A refusal that passes by itself does not keep the seats of a bot that ends.
func TestLeavesAgainAfterRefusal(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")))
	p.seen("the bot", func() bool { return f.roster()[0].known() })
	p.mu.Lock()
	p.limited = 2
	p.mu.Unlock()
	f.stop(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.leaves) != 3 || p.limited != 0 {
		t.Errorf("it asked %d times, and %d refusals are left", len(p.leaves), p.limited)
	}
}

func TestMatchmaking(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Slots = 1
		c.Match.On, c.Match.Interval, c.Match.Longest = true, 20*time.Millisecond, 40*time.Millisecond
		c.Match.Rules = "amazons/6x6"
	})
	asked := func(n int) protocol.ChallengeRequest {
		var r protocol.ChallengeRequest
		p.seen("a challenge", func() bool {
			if len(p.asked) < n {
				return false
			}
			r = p.asked[n-1]
			return true
		})
		return r
	}
	r := asked(1)
	if r.Pool != "amazons.bullet" || r.Terms.Rules != "amazons/6x6" || r.Terms.Clock != spec(t, "60+1") || !r.Terms.Rated || r.ExpireMS == 0 {
		t.Errorf("challenge %+v", r)
	}
	gametest.Eventually(t, "the slot to be held", func() bool { return f.ledger.Used() == 1 })
	p.server.Notify(hare, protocol.Notice{Kind: protocol.NoticeExpired, Game: "challenge1"})
	r = asked(2)
	o := protocol.Offer{Game: "challenge2", Terms: r.Terms, Seat: game.First}
	p.mu.Lock()
	taker := protocol.OfferAnswer{Player: hare, Instance: r.Instance, Secret: p.secret[hare]}
	p.mu.Unlock()
	m := p.grant(o, taker)
	p.finished(m)
	asked(3)
}

// The opponent of an instance that the platform does not know would wait in vain.
func TestChallengesNobodyBeforeItIsKnown(t *testing.T) {
	t.Parallel() // it mostly waits
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	p.setMute(true)
	nc := connect(t, srv.Player("bots"))
	f := startBot(t, nc, func(c *Config) {
		c.Match.On, c.Match.Interval, c.Match.Longest = true, time.Millisecond, time.Millisecond
	})
	gametest.Eventually(t, "a challenge to be put off", func() bool { return f.log.Has("no challenge now") })
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	if len(p.asked) > 0 {
		t.Errorf("asked before it was known: %+v", p.asked)
	}
	p.mu.Unlock()
	p.setMute(false)
	p.seen("a challenge", func() bool { return len(p.asked) > 0 })
}

// The notice that a challenge has ended may overtake the answer that names its
// game.
func TestChallengeEndsBeforeItsAnswer(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	p.hasty = true
	startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Slots = 1
		c.Match.On, c.Match.Interval, c.Match.Longest = true, 20*time.Millisecond, 40*time.Millisecond
		c.Match.Rules = "amazons/6x6"
	})
	p.seen("another challenge", func() bool { return len(p.asked) >= 2 })
}

// The levels look for no opponents, also where the other players of the process do.
func TestLevelsDoNotChallenge(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Levels, c.LevelGames = 20, []string{"amazons"}
		c.Match.On, c.Match.Interval, c.Match.Longest = true, 20*time.Millisecond, 40*time.Millisecond
		c.Match.Rules = "amazons/6x6"
	})
	for n := range 10 { // as often as each level would have
		p.seen("a challenge", func() bool { return len(p.asked) > n })
		p.server.Notify(hare, protocol.Notice{Kind: protocol.NoticeExpired, Game: protocol.GameID(fmt.Sprint("challenge", n+1))})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, by := range p.askers {
		if by != hare {
			t.Fatalf("%s sent a challenge", by)
		}
	}
}
