package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/bot/play"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// The seat is given to another instance: our search ends, nothing is sent.
func TestFencedSeatIsGivenUp(t *testing.T) {
	p, m, f := thinking(t)
	p.mu.Lock()
	before := len(m.requests)
	epoch := m.Holders[game.Second].Epoch
	m.Holders[game.Second].Instance = "elsewhere"
	m.Holders[game.Second].Epoch++
	p.advance(m)
	p.mu.Unlock()
	gametest.Eventually(t, "the session to end", func() bool { return f.ledger.Used() == 0 && f.count(play.GameEnded) == 1 })
	// Requests of the session arrive before this one, on the same connection.
	if _, err := f.roster()[0].client.Chat(t.Context(), "game1", epoch, "marker"); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(m.chats, "marker") || len(m.requests) != before || len(m.acts) > 0 {
		t.Errorf("chats %q, %d requests of %d before, acts %q", m.chats, len(m.requests), before, m.acts)
	}
}

// The platform vacates the seat for missing heartbeats, and gives it back.
func TestVacantSeatIsTakenBack(t *testing.T) {
	p, m, f := playing(t, nil)
	f.engine.setPause(20 * time.Millisecond)
	p.seen("some moves", func() bool { return len(m.Moves) >= 4 })
	p.mu.Lock()
	m.vacate(hare, f.cfg.Instance)
	p.tellAll(m)
	epoch := m.Holders[game.Second].Epoch
	p.mu.Unlock()
	gametest.Eventually(t, "the loss to be noticed", func() bool { return f.log.Has("has vacated the seat") })
	o := offerOf(small(t), "game1", game.Second)
	o.Kind, o.Player = protocol.OfferSeat, hare
	if ans := p.offer(protocol.OwnPool(hare), o); ans.Answer != protocol.Accept {
		t.Fatalf("own seat: %+v", ans)
	}
	p.mu.Lock()
	m.Holders[game.Second].Instance, m.Holders[game.Second].Epoch = f.cfg.Instance, epoch+1
	p.advance(m)
	p.mu.Unlock()
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return f.count(play.GameEnded) == 1 && f.ledger.Used() == 0 })
}

// Refused heartbeats, which cost the player its seats, are logged, but not each of them.
func TestRefusedHeartbeatsAreLogged(t *testing.T) {
	const refused = 4
	p, m, f := playing(t, func(p *platform) { p.deaf = refused })
	p.seen("the refusals", func() bool { return p.deaf == 0 })
	p.finished(m)
	f.stop(t)
	const line = `"code":"malformed","message":"the platform refuses heartbeats"`
	if n := f.log.Count(line); n < 1 || n >= refused {
		t.Errorf("logged %d times for %d refusals", n, refused)
	}
}

// A refused heartbeat is an answer: the platform is not silent, and no reason to go to
// another server or to give up the games of a process that drains.
func TestRefusedHeartbeatsAreAnswers(t *testing.T) {
	p, _, f := thinking(t)
	p.setMute(true) // but for the refusals
	for name, refusals := range map[string]*int{"malformed": &p.deaf, "denied": &p.denies} {
		p.mu.Lock()
		asked := time.Now()
		*refusals = 1
		p.mu.Unlock()
		p.seen("a heartbeat", func() bool { return *refusals == 0 })
		gametest.Eventually(t, "one refused as "+name+" to be an answer", func() bool { return f.Silence() < time.Since(asked) })
	}
}

// A new process takes over a running game from its state alone.
func TestTakesOverARunningGame(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	first := startBot(t, connect(t, srv.Player("bots")))
	first.engine.setPause(10 * time.Millisecond)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.seen("some moves", func() bool { return len(m.Moves) >= 6 })
	first.stop(t) // it hands the seat back
	p.seen("the seat to be vacant", func() bool { return m.Holders[game.Second].Instance == "" })
	if first.count(play.GameEnded) != 1 {
		t.Error("no end event of the game handed over")
	}
	second := startBot(t, connect(t, srv.Player("bots")))
	o.Kind, o.Player = protocol.OfferSeat, hare
	ans := p.offer(protocol.OwnPool(hare), o)
	if ans.Answer != protocol.Accept || ans.Instance == first.cfg.Instance {
		t.Fatalf("own seat: %+v", ans)
	}
	p.mu.Lock()
	m.Holders[game.Second].Instance = ans.Instance
	m.Holders[game.Second].Epoch++
	p.advance(m)
	p.mu.Unlock()
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return second.count(play.GameEnded) == 1 })
}

// A hello is enough after the platform has forgotten its peers, and after a process
// has restarted under its old name.
func TestHelloHealsEverything(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	named := func(c *Config) { c.Instance = "instance1" }
	first := startBot(t, connect(t, srv.Player("bots")), named)
	first.engine.setPause(100 * time.Millisecond)
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.seen("some moves", func() bool { return len(m.Moves) >= 2 })
	p.mu.Lock()
	clear(p.peers)
	hellos := p.hellos
	p.mu.Unlock()
	p.seen("another hello", func() bool { return p.hellos > hellos && p.peers["instance1"] })
	p.seen("more moves", func() bool { return len(m.Moves) >= 4 })
	// The platform has not noticed that it has ended.
	first.stop(t)
	p.mu.Lock()
	m.Holders[game.Second].Instance = "instance1"
	m.Holders[game.Second].Epoch++
	p.mu.Unlock()
	second := startBot(t, connect(t, srv.Player("bots")), named)
	p.finished(m)
	gametest.Eventually(t, "the end", func() bool { return second.count(play.GameEnded) == 1 })
}

// The platform ended the game, and its last state was lost.
func TestGameThatThePlatformForgot(t *testing.T) {
	t.Parallel() // it mostly waits
	p, m, f := playingAt(t, "4+4", func(p *platform) {
		p.tell = func(_ *platform, _ *scriptedGame, st protocol.State, send func(protocol.State)) {
			if st.Status != protocol.Finished {
				send(st)
			}
		}
	})
	p.finished(m)
	gametest.Eventually(t, "the slot back", func() bool { return f.ledger.Used() == 0 })
	if !f.log.Has("no longer has us in this game") {
		t.Errorf("log:\n%s", f.log)
	}
}

func TestDrainFinishesTheGames(t *testing.T) {
	p, m, f := playing(t, nil)
	f.Drain()
	f.Drain() // again does nothing
	gametest.Eventually(t, "the bot to leave the queue", func() bool {
		_, err := p.server.Offer(context.Background(), protocol.OwnPool(hare), probe(t))
		return errors.Is(err, nats.ErrNoResponders)
	})
	f.wait(t)
	select {
	case <-m.over:
	default:
		t.Error("Run returned before the game had ended")
	}
	if f.err != nil {
		t.Error(f.err)
	}
	p.seen("the farewell", func() bool { return len(p.leaves) == 1 && len(p.leaves[0].Games) == 0 })
}

func TestStopHandsOver(t *testing.T) {
	records := newStorage(t)
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBotWith(t, connect(t, srv.Player("bots")), records)
	f.engine.setPause(50 * time.Millisecond)
	o := offerOf(small(t), "game1", game.First)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	gametest.Eventually(t, "some moves", func() bool { return f.count(play.MovePlayed) >= 3 })
	f.stop(t)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.leaves) != 1 || m.Holders[game.First].Instance != "" {
		t.Errorf("leaves %+v, holder %+v", p.leaves, m.Holders[game.First])
	}
	doc := records.find(t, 1, "game1")
	if doc.Result != game.Undecided || len(doc.Plies) < 3 || doc.Text == "" || doc.Plies[0].Think == nil {
		t.Errorf("the record of the game handed over: %+v", doc)
	}
}

// A process whose heartbeats are another's ends, and gives back no seats, which are that one's.
// One or two such answers may come from a part of the platform that has not heard its hello.
func TestEndsForAnotherProcessOfItsInstance(t *testing.T) {
	p, _, f := thinking(t)
	p.mu.Lock()
	p.denies = deniedLimit - 1
	p.mu.Unlock()
	p.seen("the first denials", func() bool { return p.denies == 0 })
	p.mu.Lock()
	p.alive = protocol.Alive{}
	p.mu.Unlock()
	p.seen("another heartbeat", func() bool { return len(p.alive.Games) == 1 && p.alive.Secret == p.secret[hare] })
	select {
	case <-f.done:
		t.Fatalf("it ended after %d denials: %v", deniedLimit-1, f.err)
	default:
	}
	p.mu.Lock()
	p.denies = 100
	p.mu.Unlock()
	f.wait(t)
	if !errors.Is(f.err, ErrSameInstance) || !strings.Contains(f.err.Error(), string(f.cfg.Instance)) {
		t.Errorf("Run returned %v", f.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.leaves) > 0 {
		t.Errorf("it gave back %+v", p.leaves)
	}
}

// A process of many players that can't give their seats back says so once.
func TestSeatsNotGivenBackAreSaidOnce(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := startBot(t, connect(t, srv.Player("bots")), func(c *Config) {
		c.Players = []string{"amazons-hare:amazons", "amazons-tortoise:amazons", "xiangqi-hare:amazons"}
	})
	gametest.Eventually(t, "all players to be known", func() bool {
		return !slices.ContainsFunc(f.roster(), func(p *player) bool { return !p.known() })
	})
	p.mu.Lock()
	p.limited = 1000
	p.mu.Unlock()
	f.stop(t)
	if n := f.log.Count("seats not given back"); n != 1 || !f.log.Has(`"players":3`) {
		t.Errorf("said %d times: %s", n, f.log)
	}
}
