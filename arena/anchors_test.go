package arena

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/arena/glicko"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// onLadder lets a player take games of Amazons alone, one at a time.
func onLadder(p *player) { p.plays, p.slots = []string{"amazons"}, 1 }

// gathered collects the records of an arena as they come.
type gathered struct {
	mu  sync.Mutex
	all []*record.Record
}

func gatherRecords(t *testing.T, a *running) *gathered {
	t.Helper()
	g := &gathered{}
	var following sync.WaitGroup
	following.Go(func() {
		a.FollowRecords(t.Context(), func(r *record.Record, err error) { // its error is the end of the test
			g.mu.Lock()
			defer g.mu.Unlock()
			if err != nil {
				t.Error(err)
			} else {
				g.all = append(g.all, r)
			}
		})
	})
	t.Cleanup(following.Wait)
	return g
}

func (g *gathered) list() []*record.Record {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.all)
}

// standing returns what the arena tells a player about one of the ladder.
func standing(t *testing.T, asks *player, of protocol.PlayerID) (s protocol.Standing, ok bool) {
	t.Helper()
	ans, err := asks.Standings(t.Context(), "amazons")
	for ; errors.Is(err, &protocol.Error{Code: protocol.RateLimited}); ans, err = asks.Standings(t.Context(), "amazons") {
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(ans.Standings, func(s protocol.Standing) bool { return s.Player == of })
	if i < 0 {
		return s, false
	}
	return ans.Standings[i], true
}

// Anchors of the ladder meet the others, not each other, and keep their ratings: also
// one that had another before.
func TestLadderAnchors(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "ann", "bob", "cyd")
	cfg := ladderConfig(0)
	played := prepareArena(t, srv, cfg) // in which ann is no anchor yet
	played.start()
	ann, cyd := join(t, srv, "ann", "a1", onLadder), join(t, srv, "cyd", "c1", onLadder)
	gametest.Eventually(t, "a first game", func() bool { _, ok := standing(t, cyd, "ann"); return ok })
	before, _ := standing(t, cyd, "ann")
	if before.Fixed || before.Rating == glicko.Start.Rating {
		t.Errorf("ann after a game: %+v", before)
	}
	played.stop()

	cfg.Ladder.Anchors = map[protocol.PlayerID]glicko.Rating{
		"ann": {Rating: 1200, Deviation: 30, Volatility: 0.06}, "bob": {Rating: 1800, Deviation: 30, Volatility: 0.06},
	}
	a := prepareArena(t, srv, cfg)
	a.start()
	bob := join(t, srv, "bob", "b1", onLadder)
	records := gatherRecords(t, a)
	gametest.Eventually(t, "both anchors have played", func() bool {
		var met [2]bool
		for _, r := range records.list() {
			for _, s := range r.Seats {
				met[0] = met[0] || s.Player == "ann"
				met[1] = met[1] || s.Player == "bob"
			}
		}
		return met[0] && met[1]
	})
	for _, r := range records.list() {
		if r.Seats[0].Player != "cyd" && r.Seats[1].Player != "cyd" {
			t.Errorf("game %s is among anchors: %+v", r.ID, r.Seats)
		}
	}
	for _, want := range []struct {
		p      *player
		rating float64
	}{{ann, 1200}, {bob, 1800}} {
		var s protocol.Standing
		gametest.Eventually(t, "the rating of "+string(want.p.id), func() (ok bool) { // the record comes first
			s, ok = standing(t, cyd, want.p.id)
			return ok
		})
		if s.Rating != want.rating || !s.Fixed || s.Games == 0 {
			t.Errorf("%s: %+v, want the rating %v", want.p.id, s, want.rating)
		}
	}
	s, _ := standing(t, cyd, "cyd")
	if s.Fixed || s.Error >= 1.96*glicko.Start.Deviation || s.Games != s.Wins+s.Draws+s.Losses {
		t.Errorf("cyd: %+v", s)
	}
	for _, named := range []protocol.ChallengeRequest{{Opponent: "bob"}, {Pool: protocol.OwnPool("bob")}} {
		named.Terms = small(t, "60")
		named.Terms.Rated = true
		if _, err := cyd.Challenge(t.Context(), named); !errors.Is(err, &protocol.Error{Code: protocol.Denied}) {
			t.Errorf("a rated challenge to an anchor: %v, want denied", err)
		}
	}
	if _, err := cyd.Standings(t.Context(), "chess"); err == nil {
		t.Error("a ladder of chess")
	}
}

// Several instances of one player are one player of the ladder: it never meets itself
// and has one game at a time. If the instance that plays dies, another goes on.
func TestLadderInstances(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := prepareArena(t, srv, ladderConfig(0))
	a.start()
	records := gatherRecords(t, a)
	one, two := join(t, srv, "ann", "a1", onLadder), join(t, srv, "ann", "a2", onLadder)
	join(t, srv, "bob", "b1", onLadder)
	var victim, heir *player
	gametest.Eventually(t, "a game with some moves", func() bool {
		running := a.Running()
		if len(running) > 1 {
			t.Fatalf("%d games at once", len(running))
		}
		for _, e := range running {
			for _, h := range e.Holders {
				if h.Player != "ann" || len(e.Moves) < 4 {
					continue
				}
				if victim, heir = one, two; h.Instance == "a2" {
					victim, heir = two, one
				}
				return true
			}
		}
		return false
	})
	victim.leaveTable() // without notice
	began := len(records.list())
	gametest.Eventually(t, "that game and another", func() bool { return len(records.list()) >= began+2 })
	for _, r := range records.list() {
		if r.Seats[game.First].Player == r.Seats[game.Second].Player {
			t.Errorf("game %s: %s met itself", r.ID, r.Seats[game.First].Player)
		}
		if r.Reason != game.NoMoves {
			t.Errorf("game %s ended by %s (%s)", r.ID, r.Reason, r.Text)
		}
	}
	heir.mu.Lock()
	defer heir.mu.Unlock()
	if len(heir.games) == 0 {
		t.Error("the other instance has played nothing")
	}
}

// A player that is paused beside the pairer, as by SIGSTOP, costs the others nothing:
// it is given no game until it is heard again, and then plays on.
func TestLadderPausedPlayer(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "cyd")
	cfg := ladderConfig(0)
	cfg.Policy.FirstMove, cfg.Policy.AbandonAfter = 3*time.Second, 2*time.Second
	a := prepareArena(t, srv, cfg)
	a.start()
	records := gatherRecords(t, a)
	ann := join(t, srv, "ann", "a1", onLadder)
	join(t, srv, "bob", "b1", onLadder)
	join(t, srv, "cyd", "c1", onLadder)
	gametest.Eventually(t, "ann plays", func() bool { return len(a.RunningOf("ann")) == 1 })
	resumed := make(chan struct{})
	ann.set(func(p *player) {
		p.quiet, p.play = true, nil
		p.answer = func(protocol.Offer) protocol.OfferAnswer { // no answer until then
			<-resumed
			return protocol.OfferAnswer{Answer: protocol.Busy}
		}
	})
	gametest.Eventually(t, "the others meet", func() bool {
		return slices.ContainsFunc(records.list(), func(r *record.Record) bool { return r.Seats[0].Player != "ann" && r.Seats[1].Player != "ann" })
	})
	paused := time.Now()
	close(resumed)
	ann.set(func(p *player) {
		p.quiet, p.play = false, p.random
		p.answer = func(protocol.Offer) protocol.OfferAnswer {
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "ann"}
		}
	})
	for _, e := range a.RunningOf("ann") {
		ann.follow(e.Game) // the game that it was in goes on, too
	}
	gametest.Eventually(t, "ann plays again", func() bool {
		return slices.ContainsFunc(a.RunningOf("ann"), func(e protocol.Event) bool { return e.Started.After(paused) })
	})
}
