package web

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/arena/web/message"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/protocol"
)

// withLadder are settings with a ladder of Amazons on a small board.
func withLadder() arena.Config {
	cfg := quick()
	cfg.Ladder.On, cfg.Ladder.Pause = true, 0
	cfg.Ladder.Rules = map[string][]string{"amazons": {"amazons/6x6"}}
	return cfg
}

// amazonsOnly is the hello of a bot that plays nothing else.
func amazonsOnly() protocol.Hello {
	return protocol.Hello{Games: []protocol.Capability{{Game: "amazons"}}}
}

// seek puts a page's person on the ladder.
func (p *socketPage) seek(t testing.TB) {
	t.Helper()
	if a := p.want(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1")}); a.Game != "" {
		t.Fatalf("not put on the ladder: game %s goes on", a.Game)
	}
}

// paired waits until a game of the ladder has begun, and opens it.
func (p *socketPage) paired() protocol.GameID {
	p.t.Helper()
	var g protocol.GameID
	p.until("a game of the ladder", func() bool {
		i := slices.IndexFunc(p.notices, func(n message.Notice) bool { return n.Kind == noticeStarted && n.Ladder })
		if i >= 0 {
			g = p.notices[i].Game
			p.notices = slices.Delete(p.notices, i, i+1)
		}
		return i >= 0
	})
	p.want(message.Request{T: "open", Game: g})
	return g
}

// onLadder is how many players are on the ladder of Amazons.
func (g *gateway) onLadder() int {
	for _, pool := range g.arena.LadderPools() {
		if pool.Terms.Game == "amazons" {
			return pool.Players
		}
	}
	return 0
}

// TestOnLadder: somebody asks for a rated game, gets it, sees what it did to the rating,
// and asks for the next one.
func TestOnLadder(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, withLadder(), nil)
	joinBot(t, srv, "hare", amazonsOnly())
	ann, tab := openPage(t, gw, human("ann")), openPage(t, gw, human("ann"))
	ann.want(message.Request{T: "lobby", On: true})
	pool := func() (found message.LadderPool) {
		for _, x := range ann.lobby.Ladder {
			if x.Terms.Game == "amazons" {
				found = x
			}
		}
		return found
	}
	ann.until("the bot on the ladder", func() bool { return ann.lobby != nil && len(ann.lobby.Ladder) == 3 && pool().Here == 1 })
	if x := pool(); !x.Bots || x.Rating != nil || x.Terms.Rules != "amazons/6x6" || !x.Terms.Rated {
		t.Errorf("the pool: %+v", x)
	}
	for n := range 2 {
		ann.seek(t)
		g := ann.paired()
		st := ann.state(g, "the start", func(st message.State) bool { return st.You != nil })
		if !st.Terms.Rated || !st.Pool.Ladder() || st.Holders[*st.You].Instance != gatewayInstance {
			t.Errorf("the game: %+v", st.Snapshot)
		}
		if a := tab.ask(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1")}); a.Code != protocol.Duplicate || a.Game != g {
			t.Errorf("asked again in a game: %+v", a)
		}
		gw.participant(human("ann"), "").sawEnd(g) // before the index of games has
		if a := tab.ask(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1")}); a.Code != protocol.Accepted || a.Game != "" {
			t.Errorf("asked for the next game: %+v", a)
		}
		tab.want(message.Request{T: "ladder"})
		ann.until("off the ladder", func() bool { return ann.turns.Seeking == nil })
		ann.want(message.Request{T: "resign", Game: g})
		st = ann.state(g, "the ratings", func(st message.State) bool { return len(st.Ratings) == 2 && st.Ratings[*st.You] != nil })
		if mine := st.Ratings[*st.You]; mine.Rating.Rating >= mine.Before || mine.Error <= 0 || n == 0 && mine.Before != 1500 {
			t.Errorf("after a loss: %+v", mine)
		}
		ann.until("the rating in the lobby", func() bool {
			return pool().Rating != nil && *pool().Rating == st.Ratings[*st.You].Rating
		})
	}
}

// TestLadderSeeking: all tabs of a person are told what it waits for. Leaving in one is
// leaving in all, and without a page nobody waits.
func TestLadderSeeking(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, withLadder(), nil)
	ann, other := openPage(t, gw, human("ann")), openPage(t, gw, human("ann"))
	told := func(p *socketPage, what string, ok func(*message.Seeking) bool) (s *message.Seeking) {
		t.Helper()
		p.until(what, func() bool { s = p.turns.Seeking; return ok(s) })
		return s
	}
	waits := func(s *message.Seeking) bool { return s != nil && s.Terms.Rules == "amazons/6x6" && !s.Since.IsZero() }
	none := func(s *message.Seeking) bool { return s == nil }
	ann.seek(t)
	told(ann, "what it waits for", waits)
	since := told(other, "what it waits for in the other tab", waits).Since
	other.seek(t) // shows it, too
	gametest.Eventually(t, "it is on the ladder", func() bool { return gw.onLadder() == 1 })

	ann.close() // the other tab goes on waiting
	if in := gw.arena.Instances(); !slices.ContainsFunc(in, func(in arena.Instance) bool { return in.Player == human("ann") }) {
		t.Errorf("instances: %+v", in)
	}
	other.want(message.Request{T: "ladder", On: true, Terms: terms(t, "gomoku/freestyle-15", "60+1")}) // instead
	told(other, "the other game", func(s *message.Seeking) bool { return s != nil && s.Terms.Game == "gomoku" && s.Since.After(since) })
	gametest.Eventually(t, "it has changed ladders", func() bool { return gw.onLadder() == 0 })
	other.want(message.Request{T: "ladder"})
	told(other, "the end", none)

	other.seek(t)
	since = told(other, "it again", waits).Since
	gametest.Eventually(t, "it is on the ladder", func() bool { return gw.onLadder() == 1 })
	other.close()
	gametest.Eventually(t, "nobody is on the ladder", func() bool { return gw.onLadder() == 0 })
	again := openPage(t, gw, human("ann")) // as after a reload
	again.want(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1"), Since: since})
	told(again, "the same wish", func(s *message.Seeking) bool { return waits(s) && s.Since.Equal(since) })
	gametest.Eventually(t, "it is on the ladder again", func() bool { return gw.onLadder() == 1 })

	again.want(message.Request{T: "ladder"})
	again.refuse(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1"), Since: since}, protocol.Over) // as a tab that has not heard of it
	again.seek(t)
	third := openPage(t, gw, human("ann"))
	told(third, "the next wish", func(s *message.Seeking) bool { return waits(s) && s.Since.After(since) })
	third.seek(t)
	third.want(message.Request{T: "ladder", What: "page"}) // it has been away for too long; the other has not
	told(again, "it still", waits)
	again.want(message.Request{T: "ladder", What: "page"})
	told(again, "the end of it", none)

	stranger := openPage(t, gw, "")
	stranger.refuse(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1")}, protocol.Denied)
	again.refuse(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/10x10", "60+1")}, protocol.NotOffered)
	again.refuse(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "61+1")}, protocol.NotOffered)
	again.refuse(message.Request{T: "ladder", On: true}, protocol.Malformed)
}

// TestLadderGhost: somebody whose page is frozen, or was closed, is paired with nobody,
// and the others with each other. Once the page is back, it is paired.
func TestLadderGhost(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	cfg := withLadder()
	const still = 2 * time.Second
	gw := startGateway(t, srv, cfg, func(h *hub) { h.stillHere, h.callAfter = still, 300*time.Millisecond })
	frozen, closed := openPage(t, gw, human("ann")), openPage(t, gw, human("cat"))
	frozen.seek(t)
	closed.seek(t)
	g := frozen.paired()
	frozen.want(message.Request{T: "resign", Game: g}) // they have just met each other
	frozen.state(g, "the end", finished)

	frozen.mu.Lock()
	frozen.frozen = true
	frozen.mu.Unlock()
	frozen.seek(t)
	closed.seek(t)
	sought := time.Now()
	closed.close()
	// Before its page was silent for that long, the first may not be on the ladder yet.
	gametest.Eventually(t, "nobody is there", func() bool { return time.Since(sought) > 2*still && gw.onLadder() == 0 })
	ben, dan := openPage(t, gw, human("ben")), openPage(t, gw, human("dan"))
	ben.seek(t)
	dan.seek(t)
	if g, other := ben.paired(), dan.paired(); g != other {
		t.Errorf("paired in %s and %s", g, other)
	}
	eve := openPage(t, gw, human("eve"))
	eve.seek(t)
	gametest.Eventually(t, "she is alone", func() bool { return gw.onLadder() == 1 })
	frozen.mu.Lock()
	frozen.frozen = false
	frozen.mu.Unlock()
	frozen.put(message.Request{T: "ping"})
	if g, other := frozen.paired(), eve.paired(); g != other {
		t.Errorf("paired in %s and %s", g, other)
	}
}

// TestLadderForgotten: a person who has been away for long has left.
func TestLadderForgotten(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, withLadder(), func(h *hub) { h.stillHere, h.callAfter, h.keepSeeking = 300*time.Millisecond, time.Hour, time.Second })
	ann := openPage(t, gw, human("ann"))
	ann.seek(t)
	ann.until("what it waits for", func() bool { return ann.turns.Seeking != nil })
	ann.until("it has left", func() bool { return ann.turns.Seeking == nil })
	gametest.Eventually(t, "nobody is on the ladder", func() bool { return gw.onLadder() == 0 })
}

// TestLadderOffers: whoever waits accepts pairings of what it waits for, one at a time,
// and no others. One that comes to nothing is forgotten.
func TestLadderOffers(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	gw := startGateway(t, srv, withLadder(), nil)
	hare := joinBot(t, srv, "hare", protocol.Hello{Games: []protocol.Capability{{Game: "xiangqi"}}})
	ann := openPage(t, gw, human("ann"))
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	platform := protocol.NewServer(arenatest.Connect(t, srv.Platform()), subjects, protocol.DefaultLimits, nil, arenatest.Log(t))
	rated := terms(t, "amazons/6x6", "60+1")
	rated.Rated = true
	offer := func(change func(*protocol.Offer)) protocol.OfferAnswer {
		t.Helper()
		ctx := gametest.Context(t)
		o := protocol.Offer{
			Kind: protocol.OfferMatch, Game: protocol.GameID(protocol.NewID()), Terms: *rated, Player: human("ann"), Pool: protocol.LadderPoolOf("amazons"),
			Opponent: &protocol.Opponent{Player: "hare", Kind: protocol.Bot}, Deadline: time.Now().Add(patience), HoldMS: 500,
		}
		if change != nil {
			change(&o)
		}
		ans, err := platform.Offer(ctx, protocol.OwnPool(human("ann")), o)
		if err != nil {
			t.Fatal(err)
		}
		return ans
	}
	ann.want(message.Request{T: "invite", Terms: terms(t, "amazons/6x6", "300+2")}) // it is announced
	gametest.Eventually(t, "she is there", func() bool { return gw.arena.Present(human("ann")) })
	if a := offer(nil); a.Answer != protocol.Busy {
		t.Errorf("before she asked: %+v", a)
	}
	ann.seek(t)
	gametest.Eventually(t, "she is on the ladder", func() bool { return gw.onLadder() == 1 })
	for what, change := range map[string]func(*protocol.Offer){
		"another clock": func(o *protocol.Offer) { o.Terms.Clock.Initial *= 2 },
		"other rules":   func(o *protocol.Offer) { o.Terms.Rules = "amazons/10x10" },
		"not rated":     func(o *protocol.Offer) { o.Terms.Rated = false },
	} {
		if a := offer(change); a.Answer != protocol.Busy {
			t.Errorf("%s: %+v", what, a)
		}
	}
	if a := offer(func(o *protocol.Offer) { o.Pool = "" }); a.Answer != protocol.Decline {
		t.Errorf("a bot's own challenge: %+v", a)
	}
	nothing := protocol.GameID(protocol.NewID())
	for range 2 { // the platform may ask again
		if a := offer(func(o *protocol.Offer) { o.Game, o.HoldMS = nothing, 3_600_000 }); a.Answer != protocol.Accept || a.Instance != gatewayInstance {
			t.Errorf("a pairing: %+v", a)
		}
	}
	if a := offer(nil); a.Answer != protocol.Busy {
		t.Errorf("another one meanwhile: %+v", a)
	}
	platform.Notify(human("ann"), protocol.Notice{Kind: protocol.NoticeReleased, Game: nothing})
	ann.notice(protocol.NoticeReleased)
	if a := offer(nil); a.Answer != protocol.Accept {
		t.Errorf("after the first came to nothing: %+v", a)
	}
	ann.until("she still waits", func() bool { return ann.turns.Seeking != nil })
	// A challenge of a bot, with the same terms, is none of the ladder's.
	challenge := func(pool protocol.Pool, opponent protocol.PlayerID) error {
		ctx := gametest.Context(t)
		_, err := hare.client.Challenge(ctx, protocol.ChallengeRequest{Terms: *rated, Pool: pool, Opponent: opponent, ExpireMS: 1000})
		return err
	}
	if err := challenge(protocol.LadderPoolOf("amazons"), ""); protocolCode(err) != protocol.Malformed {
		t.Errorf("a challenge in the ladder's pool: %v", err)
	}
	if err := challenge("", human("ann")); err != nil {
		t.Errorf("a challenge: %v", err)
	}
	ben := openPage(t, gw, human("ben"))
	ben.seek(t)
	g := ann.paired()
	if st := ann.state(g, "the start", func(st message.State) bool { return st.You != nil }); st.Holders[st.You.Other()].Player != human("ben") {
		t.Errorf("paired with %+v", st.Holders)
	}
}

// TestLadderTwoGateways: whichever gateway is asked for a person that waits on another
// accepts for it; one that dies takes its people off the ladder.
func TestLadderTwoGateways(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	cfg := withLadder()
	one, two := startGateway(t, srv, cfg, nil), startGateway(t, srv, cfg, nil)
	ann, idle := openPage(t, one, human("ann")), openPage(t, two, human("ann"))
	idle.want(message.Request{T: "invite", Terms: terms(t, "amazons/6x6", "300+2")}) // the person is announced here, too
	ben := openPage(t, two, human("ben"))
	for range 3 {
		ann.seek(t)
		ben.seek(t)
		g := ann.paired()
		ben.paired()
		ann.want(message.Request{T: "resign", Game: g})
		for _, p := range []*socketPage{ann, ben} { // until then the gateway takes the game for one that goes on
			p.state(g, "the end", finished)
		}
	}
	ann.seek(t)
	gametest.Eventually(t, "she is on the ladder", func() bool { return two.onLadder() == 1 })
	rated := terms(t, "amazons/6x6", "60+1")
	rated.Rated = true
	offer := protocol.Offer{Kind: protocol.OfferMatch, Game: "g", Terms: *rated, Player: human("ann"), Pool: protocol.LadderPoolOf("amazons")}
	if a := two.participant(human("ann"), "ann").offered(offer); a.Answer != protocol.Accept {
		t.Errorf("offered on the other gateway: %+v", a)
	}
	if a := two.participant(human("ben"), "ben").offered(offer); a.Answer != protocol.Busy {
		t.Errorf("offered to somebody who does not wait: %+v", a)
	}
	one.crash()
	gametest.Eventually(t, "she is not", func() bool { return two.onLadder() == 0 })
}

// TestLadderRestart: a person who waited on a gateway that has died waits on another since
// the same moment.
func TestLadderRestart(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, withLadder(), nil)
	ann := openPage(t, gw, human("ann"))
	ann.seek(t)
	var since time.Time
	waits := func() bool {
		if s := ann.turns.Seeking; s != nil {
			since = s.Since
		}
		return !since.IsZero()
	}
	ann.until("what it waits for", waits)
	before := since
	gw.crash()

	next := startGateway(t, srv, withLadder(), nil)
	ann = openPage(t, next, human("ann"))
	ann.want(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1"), Since: before})
	since = time.Time{}
	if ann.until("the same wish", waits); !since.Equal(before) {
		t.Errorf("waits since %v, before the restart %v", since, before)
	}
	ann.want(message.Request{T: "ladder"})
	future := time.Now().Add(time.Hour) // by the clock of another machine
	ann.want(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1"), Since: future})
	since = time.Time{}
	if ann.until("another wish", waits); !since.Before(future) {
		t.Errorf("waits since %v, which is to come", since)
	}
}

// TestLadderPools: a person is paired as the ladder's settings and the bots say.
func TestLadderPools(t *testing.T) {
	t.Parallel()
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		srv := arenatest.StartServer(t, "")
		for name, change := range map[string]func(*arena.Config){
			"off": func(c *arena.Config) { c.Ladder.On = false }, "rounds": func(c *arena.Config) { c.Ladder.Rounds = 1 },
		} {
			cfg := withLadder()
			change(&cfg)
			gw := startGateway(t, srv, cfg, nil)
			ann := openPage(t, gw, human("ann"))
			ann.want(message.Request{T: "lobby", On: true})
			ann.until("the lobby", func() bool { return ann.lobby != nil })
			if len(ann.lobby.Ladder) > 0 {
				t.Errorf("%s: %+v", name, ann.lobby.Ladder)
			}
			ann.refuse(message.Request{T: "ladder", On: true, Terms: terms(t, "amazons/6x6", "60+1")}, protocol.NotOffered)
			gw.stop()
		}
	})
	t.Run("several", func(t *testing.T) {
		t.Parallel()
		srv := arenatest.StartServer(t, "")
		cfg := withLadder()
		slow, err := clock.Parse("61+1") // of the same speed
		if err != nil {
			t.Fatal(err)
		}
		cfg.Ladder.Clocks = append(cfg.Ladder.Clocks, slow)
		cfg.Ladder.Rules["amazons"] = []string{"amazons/6x6", "amazons/8x8"}
		gw := startGateway(t, srv, cfg, nil)
		want := [][2]string{{"amazons/6x6", "60+1"}, {"amazons/6x6", "61+1"}, {"amazons/8x8", "60+1"}, {"amazons/8x8", "61+1"}, {"gomoku/freestyle-15", "60+1"}, {"amazons/8x8", "61+1"}}
		var pages []*socketPage
		for i, w := range want { // but for the last one, everybody waits for something else
			p := openPage(t, gw, human(string(rune('a'+i))))
			p.want(message.Request{T: "ladder", On: true, Terms: terms(t, w[0], w[1])})
			pages = append(pages, p)
		}
		g := pages[5].paired()
		if other := pages[3].paired(); g != other {
			t.Errorf("paired in %s and %s", g, other)
		}
		if all := gw.arena.Running(); len(all) != 1 || all[0].Terms.Rules != "amazons/8x8" || all[0].Terms.Clock != slow {
			t.Errorf("games: %+v", all)
		}
	})
	t.Run("apart", func(t *testing.T) {
		t.Parallel()
		srv := arenatest.StartServer(t, "", "hare")
		cfg := withLadder()
		cfg.Ladder.Apart = true
		gw := startGateway(t, srv, cfg, nil)
		joinBot(t, srv, "hare", amazonsOnly())
		ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
		ann.want(message.Request{T: "lobby", On: true})
		ann.seek(t)
		gametest.Eventually(t, "she is on the ladder", func() bool { return gw.onLadder() == 1 })
		ann.until("nobody else", func() bool {
			i := slices.IndexFunc(ann.lobby.Ladder, func(x message.LadderPool) bool { return x.Terms.Game == "amazons" })
			return ann.turns.Seeking != nil && !ann.lobby.Ladder[i].Bots && ann.lobby.Ladder[i].Here == 0
		})
		ben.seek(t)
		st := ann.state(ann.paired(), "the start", func(st message.State) bool { return st.You != nil })
		if h := st.Holders[st.You.Other()]; h.Player != human("ben") {
			t.Errorf("paired with %+v", h)
		}
	})
	t.Run("bots for people", func(t *testing.T) {
		t.Parallel()
		srv := arenatest.StartServer(t, "", "hare", "fox")
		gw := startGateway(t, srv, withLadder(), nil)
		people := amazonsOnly()
		people.Takes = &protocol.Takes{Kinds: []protocol.Kind{protocol.Human}}
		joinBot(t, srv, "hare", people) // as a level that is not on the ladder
		ann := openPage(t, gw, human("ann"))
		ann.seek(t)
		gametest.Eventually(t, "she is on the ladder alone", func() bool { return gw.onLadder() == 1 && len(gw.arena.Instances()) == 3 })
		joinBot(t, srv, "fox", amazonsOnly())
		st := ann.state(ann.paired(), "the start", func(st message.State) bool { return st.You != nil })
		if h := st.Holders[st.You.Other()]; h.Player != "fox" {
			t.Errorf("paired with %+v", h)
		}
	})
}

// TestLadderFlood: one person asks and leaves as often as it can. The others are paired,
// and what it said last counts.
func TestLadderFlood(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	gw := startGateway(t, srv, withLadder(), nil)
	var bad []*socketPage
	for range 3 {
		bad = append(bad, openPage(t, gw, human("bad")))
	}
	for i := range 300 {
		for _, p := range bad {
			p.put(message.Request{T: "ladder", ID: fmt.Sprintf("f%d", i), On: i%2 == 0, Terms: terms(t, "amazons/6x6", "60+1")})
		}
	}
	ann, ben := openPage(t, gw, human("ann")), openPage(t, gw, human("ben"))
	ann.want(message.Request{T: "ladder", On: true, Terms: terms(t, "gomoku/freestyle-15", "60+1")})
	ben.want(message.Request{T: "ladder", On: true, Terms: terms(t, "gomoku/freestyle-15", "60+1")})
	if g, other := ann.paired(), ben.paired(); g != other {
		t.Errorf("paired in %s and %s", g, other)
	}
	bad[0].until("the limit", func() bool {
		for _, a := range bad[0].answers {
			if a.Code == protocol.RateLimited {
				return true
			}
		}
		return false
	})
	gametest.Eventually(t, "it leaves", func() bool { return bad[0].ask(message.Request{T: "ladder"}).Code == protocol.Accepted })
	gametest.Eventually(t, "nobody is on the ladder", func() bool { return gw.onLadder() == 0 })
}

// TestWishAfterTheStart: a game that has begun ends the wish to be paired that was there before,
// and not one that was made in sight of it, before the event of its start came.
func TestWishAfterTheStart(t *testing.T) {
	t.Parallel()
	gw := startGateway(t, arenatest.StartServer(t, ""), withLadder(), nil)
	ann := openPage(t, gw, human("ann"))
	p := gw.participant(human("ann"), "")
	ann.seek(t)
	start := protocol.Event{Kind: protocol.EventStart, Snapshot: protocol.Snapshot{Game: "begun", Terms: *terms(t, "gomoku/freestyle-15", "60+1")}}
	for _, c := range []struct {
		at    time.Time
		waits bool
	}{{time.Now().Add(-time.Minute), true}, {time.Now().Add(time.Second), false}} {
		start.Time = c.at
		p.event(start)
		if waits := p.seeks(time.Now()) != nil; waits != c.waits {
			t.Errorf("a game began at %v: waits %t", c.at, waits)
		}
	}
}

// TestLadderBesideGames: a running correspondence game and its seat stay where they are
// while its player is on the ladder, comes and goes.
func TestLadderBesideGames(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "hare")
	cfg := withLadder()
	cfg.LostAfter = 500 * time.Millisecond
	gw := startGateway(t, srv, cfg, func(h *hub) { h.grace = 50 * time.Millisecond })
	joinBot(t, srv, "hare", protocol.Hello{Games: []protocol.Capability{{Game: "gomoku"}}})
	ann := openPage(t, gw, human("ann"))
	g := startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2"))
	for ply := 0; ply < 6; ply += 2 {
		ann.seek(t)
		gametest.Eventually(t, "she is on the ladder", func() bool { return gw.onLadder() == 1 })
		_, legal := legalMoves(t, ann.state(g, "its turn", plies(ply)).Snapshot)
		ann.move(g, ply, legal[(37*ply+5)%len(legal)])
		ann.close()
		watcher := openPage(t, gw, "")
		watcher.want(message.Request{T: "open", Game: g})
		watcher.state(g, "she is away", func(st message.State) bool { return st.Away[game.First] != nil })
		ann = openPage(t, gw, human("ann"))
		ann.seek(t)
		ann.want(message.Request{T: "open", Game: g})
		st := ann.state(g, "the seat", func(st message.State) bool { return st.Away[game.First] == nil && len(st.Moves) == ply+2 })
		if h := st.Holders[game.First]; h.Instance != gatewayInstance {
			t.Errorf("the seat is held by %+v", h)
		}
	}
	ann.until("she still waits", func() bool { return ann.turns.Seeking != nil })
	startGame(t, ann, "hare", terms(t, "gomoku/freestyle-15", "300+2")) // instead of waiting
	ann.until("she waits no more", func() bool { return ann.turns.Seeking == nil })
}
