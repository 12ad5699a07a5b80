package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/pipe/external/faultyengine"
	"sparring/protocol"
)

// analysts starts a platform and one bot with the shipped players and a real engine.
func analysts(t *testing.T, change ...func(*Config)) (*embedded.Server, *platform, *fixture) {
	t.Helper()
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := anotherAnalyst(t, srv, change...)
	return srv, p, f
}

func anotherAnalyst(t *testing.T, srv *embedded.Server, change ...func(*Config)) *fixture {
	t.Helper()
	pool := engine.NewPool(1)
	t.Cleanup(pool.Close)
	players := func(c *Config) { c.Players = []string{string(hare) + ":amazons+xiangqi+gomoku"} }
	return runBot(t, connect(t, srv.Player("bots")), Deps{NewGame: real(t), Build: "test 1", Pool: pool}, append([]func(*Config){players}, change...)...)
}

// analyse asks until somebody analyses, for the analyst's place in the queue may be new.
func (p *platform) analyse(ctx context.Context, r protocol.AnalysisRequest, update func(protocol.Analysis)) (a protocol.Analysis, err error) {
	p.t.Helper()
	gameName, _, _ := strings.Cut(r.Rules, "/")
	gametest.Eventually(p.t, "an analyst", func() bool {
		a, err = p.server.Analyse(ctx, gameName, r, update)
		return !errors.Is(err, nats.ErrNoResponders)
	})
	return a, err
}

func request(rules string, moves ...string) protocol.AnalysisRequest {
	return protocol.AnalysisRequest{Rules: rules, Moves: moves, TimeMS: 30_000, Nodes: 3000, Purpose: protocol.ForHint}
}

// Lines are legal, differ, and come best first, in every game.
func TestAnalyses(t *testing.T) {
	_, p, f := analysts(t)
	for _, r := range []protocol.AnalysisRequest{
		request("xiangqi/simple", "h2e2", "h9g7"), request("gomoku/freestyle-15", "h8"), request("amazons/6x6"),
	} {
		r.Lines = 3
		a, err := p.analyse(t.Context(), r, nil)
		if err != nil {
			t.Fatalf("%s: %v", r.Rules, err)
		}
		if a.Depth == 0 || a.Nodes == 0 || a.Nodes > r.Nodes || a.Chance == nil || *a.Chance <= 0 || *a.Chance >= 1 || len(a.Lines) != 3 || a.Engine == "" {
			t.Errorf("%s: %+v", r.Rules, a)
		}
		rules, err := catalog.Rules(r.Rules)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, l := range a.Lines {
			if _, err := game.Replay(rules, "", append(r.Moves, l.Moves...)); err != nil {
				t.Errorf("%s: line %v: %v", r.Rules, l.Moves, err)
			}
			if seen[l.Moves[0]] || i > 0 && l.Score > a.Lines[i-1].Score {
				t.Errorf("%s: lines %+v", r.Rules, a.Lines)
			}
			seen[l.Moves[0]] = true
		}
	}
	r := request("xiangqi/simple")
	r.Consider, r.Lines = []string{"a0a1", "a3a4", "a3a4"}, 4
	a, err := p.analyse(t.Context(), r, nil)
	if err != nil || len(a.Lines) != 2 {
		t.Fatalf("two moves to consider: %+v %v", a, err)
	}
	for _, l := range a.Lines {
		if l.Moves[0] != "a0a1" && l.Moves[0] != "a3a4" {
			t.Errorf("line %v begins with another move", l.Moves)
		}
	}
	gametest.Eventually(t, "all places free", f.analyst.idle)
}

// idle reports whether no analysis is under way.
func (a *analyst) idle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used == 0
}

// In an opening procedure the engine names its choice.
func TestAnalysesChoices(t *testing.T) {
	_, p, _ := analysts(t)
	r := request("gomoku/freestyle-15+swap2", "h8", "h9", "i9")
	a, err := p.analyse(t.Context(), r, nil)
	if err != nil || len(a.Lines) != 1 || a.Chance != nil {
		t.Fatalf("%+v %v", a, err)
	}
	switch a.Lines[0].Moves[0] {
	case "swap", "stay", "put-two":
	default:
		t.Errorf("choice %v", a.Lines[0].Moves)
	}
	r.Consider = []string{"swap"}
	if _, err := p.analyse(t.Context(), r, nil); !errors.Is(err, &protocol.Error{Code: protocol.Illegal}) {
		t.Errorf("moves to consider in a procedure: %v", err)
	}
}

func TestRefusesToAnalyse(t *testing.T) {
	_, p, f := analysts(t)
	five := strings.Fields("h8 a1 h9 b1 h10 c1 h11 e1 h12")
	early, late := request("xiangqi/simple", "h2h8"), request("xiangqi/simple", "h2e2", "nonsense")
	place := request("xiangqi/simple")
	place.Position = "nonsense"
	other := request("xiangqi/simple")
	other.Consider = []string{"h2h8"}
	for _, c := range []struct {
		r    protocol.AnalysisRequest
		code protocol.Code
	}{
		{request("xiangqi/chess960"), protocol.UnknownGame}, {place, protocol.UnknownGame},
		{early, protocol.Illegal}, {late, protocol.Illegal}, {other, protocol.Illegal},
		{request("gomoku/freestyle-15", five...), protocol.Over},
	} {
		if _, err := p.analyse(t.Context(), c.r, nil); !errors.Is(err, &protocol.Error{Code: c.code}) {
			t.Errorf("%s %v: %v, want %s", c.r.Rules, c.r.Moves, err, c.code)
		}
	}
	if _, err := p.server.Analyse(t.Context(), "gomoku", request("xiangqi/simple"), nil); !errors.Is(err, &protocol.Error{Code: protocol.UnknownGame}) {
		t.Errorf("another game's rules: %v", err)
	}
	gametest.Eventually(t, "all places free", f.analyst.idle)
	if f.log.Has(`"level":"error"`) {
		t.Errorf("log:\n%s", f.log)
	}
}

// endless returns a request whose search does not end within the test.
func endless(p protocol.Purpose) protocol.AnalysisRequest {
	r := request("xiangqi/simple")
	r.Nodes, r.TimeMS, r.Purpose = 0, protocol.MaxAnalysis.Milliseconds(), p
	return r
}

// A cancelled analysis frees its place and its core.
func TestAnalysisIsCancelled(t *testing.T) {
	_, p, f := analysts(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := p.analyse(ctx, endless(protocol.ForReview), func(a protocol.Analysis) {
		if a.Depth > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want cancelled", err)
	}
	gametest.Eventually(t, "the place back", f.analyst.idle)
}

// background asks for an endless analysis and returns when it has begun.
func (p *platform) background(ctx context.Context, r protocol.AnalysisRequest) (ended chan error) {
	begun := make(chan struct{}, 1)
	ended = make(chan error, 1)
	go func() {
		_, err := p.analyse(ctx, r, func(protocol.Analysis) {
			select {
			case begun <- struct{}{}:
			default:
			}
		})
		ended <- err
	}()
	select {
	case <-begun:
	case err := <-ended:
		p.t.Errorf("the analysis ended: %v", err)
		ended <- err
	}
	return ended
}

// With all places taken a review waits, while a hint gets one more place and, on a
// single core, goes first.
func TestHintsGoFirst(t *testing.T) {
	_, p, f := analysts(t, func(c *Config) { c.Analyses = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := p.background(ctx, endless(protocol.ForReview))
	if _, err := p.analyse(t.Context(), request("xiangqi/simple"), nil); err != nil {
		t.Errorf("a hint beside a review: %v", err)
	}
	if f.analyst.reserve(protocol.ForReview) {
		t.Error("a second review got a place")
	}
	waiting := make(chan error, 1)
	go func() {
		r := request("xiangqi/simple")
		r.Purpose = protocol.ForReview
		_, err := p.analyse(t.Context(), r, nil)
		waiting <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("the waiting review: %v", err)
	}
	gametest.Eventually(t, "all places free", f.analyst.idle)
}

// starved is a game of an analysis, the first of which gets a core too late to search
// anything.
type starved struct {
	engine.Game
	searches *atomic.Int32
}

func (g starved) Search(pos game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if g.searches.Add(1) > 1 {
		return g.Game.Search(pos, l, report)
	}
	time.Sleep(2 * scarce)
	run, err := g.Game.Search(pos, l, nil)
	return unsearched{run}, err
}

// unsearched is a search that was stopped in its first iteration.
type unsearched struct{ engine.Running }

func (u unsearched) Wait() search.Result {
	r := u.Running.Wait()
	return search.Result{Move: r.Move, PV: []game.Move{r.Move}, Source: r.Source}
}

// scarce is the time of an analysis that gets no core.
const scarce = 300 * time.Millisecond

// A search that got no time is no answer: another one is made.
func TestAnalysisWithoutACore(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	pool := engine.NewPool(1)
	t.Cleanup(pool.Close)
	newGame, searches := real(t), new(atomic.Int32)
	runBot(t, connect(t, srv.Player("bots")), Deps{Build: "test 1", Pool: pool, NewGame: func(spec string, o engine.GameOptions) (engine.Game, error) {
		g, err := newGame(spec, o)
		if strings.HasPrefix(o.ID, "analysis-") {
			g = starved{g, searches}
		}
		return g, err
	}}, func(c *Config) { c.Players = []string{string(hare) + ":xiangqi"} })
	r := request("xiangqi/simple", "h2e2", "h9g7")
	r.TimeMS = scarce.Milliseconds()
	a, err := p.analyse(t.Context(), r, nil)
	if err != nil || a.Chance == nil || a.Depth == 0 || searches.Load() < 2 {
		t.Errorf("%+v %v after %d searches", a, err, searches.Load())
	}
}

// Games are played to their end beside analyses that never end by themselves, on
// one core.
func TestAnalysesDelayNoGame(t *testing.T) {
	_, p, _ := analysts(t, func(c *Config) {
		c.Profiles = profiles(t, `{"player": "amazons-hare", "games": ["amazons", "xiangqi"], "nodes": 2000}`)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := p.background(ctx, endless(protocol.ForReview))
	o := offerOf(small(t), "game1", game.Second)
	m := p.grant(o, p.offer(protocol.OwnPool(hare), o))
	p.finished(m)
	p.mu.Lock()
	out := m.Outcome
	p.mu.Unlock()
	if out.Reason == protocol.ReasonTime {
		t.Error("lost on time")
	}
	select {
	case err := <-ended:
		t.Errorf("the analysis ended during the game: %v", err)
	default:
	}
}

// If an analyst dies, or shuts down, another one goes on.
func TestAnotherAnalystTakesOver(t *testing.T) {
	for name, end := range map[string]func(*fixture){
		"dies": func(f *fixture) {
			f.nc.Close()
			f.cancel()
		},
		"shuts down": func(f *fixture) { f.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, p, first := analysts(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			began := make(chan int, 100)
			ended := make(chan error, 1)
			go func() {
				_, err := p.analyse(ctx, endless(protocol.ForHint), func(a protocol.Analysis) {
					if a.Depth == 0 {
						began <- 1 // accepted
					}
				})
				ended <- err
			}()
			<-began
			second := anotherAnalyst(t, srv)
			gametest.Eventually(t, "the second analyst", func() bool { return second.log.Has("known to the platform") })
			end(first)
			gametest.Eventually(t, "the second analyst at work", func() bool { return !second.analyst.idle() })
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			gametest.Eventually(t, "all places free", second.analyst.idle)
		})
	}
}

// Players may have cores of their own: their games then take none from analyses,
// and analyses none from them.
func TestPlayersHaveCoresOfTheirOwn(t *testing.T) {
	srv := service(t)
	p := newPlatform(t, connect(t, srv.Platform()))
	shared, own := engine.NewPool(1), engine.NewPool(1)
	t.Cleanup(own.Close)
	shared.Close()
	runBot(t, connect(t, srv.Player("bots")), Deps{NewGame: real(t), Build: "test 1", Pool: shared, PlayerPool: own}, func(c *Config) {
		c.Profiles = profiles(t, `{"player": "amazons-hare", "games": ["amazons"], "nodes": 500}`)
	})
	o := offerOf(small(t), "game1", game.Second)
	p.finished(p.grant(o, p.offer(protocol.OwnPool(hare), o)))
	// A request is repeated while analysts are unavailable, as long as its context allows.
	gametest.Eventually(t, "the refusal of an analysis in a closed pool", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.server.Analyse(ctx, "amazons", request("amazons/6x6"), nil)
		return errors.Is(err, &protocol.Error{Code: protocol.Unavailable})
	})
}

// A draining bot takes no more requests, although a game keeps it running.
func TestDrainEndsAnalyses(t *testing.T) {
	p, _, f := thinking(t)
	f.Drain()
	gametest.Eventually(t, "nobody to answer", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.server.Analyse(ctx, "amazons", request("amazons/6x6"), nil)
		return errors.Is(err, nats.ErrNoResponders)
	})
	if f.ledger.Used() == 0 {
		t.Error("the game has ended")
	}
}

// Without analyses, and for the games of an external engine, nobody answers.
func TestNobodyAnalyses(t *testing.T) {
	srv, p, _ := analysts(t, func(c *Config) { c.Analyses = 0 })
	external := runBot(t, connect(t, srv.Player("bots")), Deps{NewGame: real(t), Build: "test 1"}, func(c *Config) {
		c.Profiles = profiles(t, fmt.Sprintf(`{"player": "xiangqi-hare", "games": ["xiangqi"], "engine": %q}`, program(t, faultyengine.Fine)))
	})
	gametest.Eventually(t, "the external player", func() bool { return external.log.Has("known to the platform") })
	if _, err := p.server.Analyse(t.Context(), "xiangqi", request("xiangqi/simple"), nil); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("%v, want no responders", err)
	}
}

// The bot of a guest, who may neither analyse nor answer the operator, tries neither: it says
// so, logs no fault, and plays.
func TestGuest(t *testing.T) {
	t.Parallel()
	srv := service(t)
	log := new(gametest.Output)
	c := srv.Player("guest")
	c.Log = zerolog.New(log)
	p := newPlatform(t, connect(t, srv.Platform()))
	f := runBot(t, connect(t, c), Deps{NewGame: real(t), Build: "test 1"}, func(c *Config) {
		c.Players, c.Analyses = []string{"guest:amazons"}, 1
	})
	for _, said := range []string{"no analyses", "not part of the operator's fleet"} {
		gametest.Eventually(t, said, func() bool { return f.log.Has(said) })
	}
	o := offerOf(small(t), "game1", game.Second)
	o.Player = "guest"
	p.finished(p.grant(o, p.offer(protocol.OwnPool("guest"), o)))
	if log.Has("error") || f.log.Has(`"level":"error"`) {
		t.Errorf("logged:\n%s%s", log, f.log)
	}
}

// A process that ends while it asks what it may analyse does end, though its connection is
// still up.
func TestEndsWhileItStarts(t *testing.T) {
	t.Parallel()
	srv := service(t)
	for range 5 {
		runBot(t, connect(t, srv.Player("bots")), Deps{NewGame: real(t), Build: "test 1"}, func(c *Config) { c.Analyses = 1 }).stop(t)
	}
}
