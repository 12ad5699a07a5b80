package match

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/match/openings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a scripted player: it answers each position of a game with a result,
// after a while. Stop makes it answer at once.
type script func(p game.Position, l search.Limits, seed uint64) (r search.Result, takes time.Duration)

// NewGame implements engine.Searcher.
func (s script) NewGame(o engine.GameOptions) (engine.Game, error) {
	return scripted{s, o, func() error { return nil }}, nil
}

// Close implements engine.Searcher.
func (script) Close() error { return nil }

// scripted is a game that a script plays.
type scripted struct {
	script
	options engine.GameOptions
	ready   func() error
}

func (s scripted) Options() engine.GameOptions  { return s.options }
func (s scripted) Ready() error                 { return s.ready() }
func (s scripted) Describe() engine.Description { return engine.Description{} }

// Search implements engine.Game.
func (s scripted) Search(p game.Position, l search.Limits, _ func(search.Info)) (engine.Running, error) {
	r, takes := s.script(p.Clone(), l, s.options.Seed)
	a := &answer{result: r, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(a.done)
		select {
		case <-time.After(takes):
		case <-a.stop:
		}
	}()
	return a, nil
}

// late is a script that becomes ready like a program: after some time, or never.
type late struct {
	script
	ready func() error
	calls *int
}

// NewGame implements engine.Searcher. Its Ready is called before the clock runs.
func (l late) NewGame(o engine.GameOptions) (engine.Game, error) {
	return scripted{l.script, o, func() error {
		*l.calls++
		return l.ready()
	}}, nil
}

type answer struct {
	result search.Result
	once   sync.Once
	stop   chan struct{}
	done   chan struct{}
}

func (a *answer) PonderHit(search.Limits) {}
func (a *answer) Stop()                   { a.once.Do(func() { close(a.stop) }) }
func (a *answer) Pause()                  {}
func (a *answer) Resume()                 {}
func (a *answer) Done() <-chan struct{}   { return a.done }
func (a *answer) Wait() search.Result     { <-a.done; return a.result }

// steady plays the first legal move, at once.
func steady(p game.Position, _ search.Limits, _ uint64) (search.Result, time.Duration) {
	return search.Result{Move: p.Legal(nil)[0], Depth: 1, Nodes: 1, WinProb: 0.5, Source: search.FromSearch}, 0
}

// drawn plays a legal move that the seed and the ply choose.
func drawn(p game.Position, _ search.Limits, seed uint64) (search.Result, time.Duration) {
	legal := p.Legal(nil)
	return search.Result{Move: legal[openings.Mix(seed, uint64(p.Ply()))%uint64(len(legal))], Source: search.FromSearch}, 0
}

// from plays steadily up to a ply and follows another script from there on.
func from(ply int, then script) script {
	return func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
		if p.Ply() < ply {
			return steady(p, l, seed)
		}
		return then(p, l, seed)
	}
}

// saying plays steadily and claims a winning chance.
func saying(chance float64) script {
	return func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
		r, _ := steady(p, l, seed)
		r.WinProb = chance
		return r, 0
	}
}

// depthless is saying for a program that gives scores and no depth, as some do in the protocol
// of Gomocup.
func depthless(chance float64) script {
	return func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
		r, _ := saying(chance)(p, l, seed)
		r.Depth, r.Source, r.Score = 0, search.FromExternal, search.Score(1000*(chance-0.5))
		return r, 0
	}
}

// silent plays steadily, like a program that gives no scores.
func silent(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
	r, _ := steady(p, l, seed)
	r.Depth, r.Source, r.WinProb = 0, search.FromExternal, 0.5
	return r, 0
}

// taking plays steadily and takes its time.
func taking(d time.Duration) script {
	return func(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
		r, _ := steady(p, l, seed)
		r.Incidents = []string{oddLine}
		return r, d
	}
}

// oddLine is what goes wrong while a script of taking thinks.
const oddLine = `the engine said "ERROR busy"; ignored`

func resigning(game.Position, search.Limits, uint64) (search.Result, time.Duration) {
	return search.Result{Resign: true}, 0
}

// offering plays steadily and offers a draw with each move.
func offering(p game.Position, l search.Limits, seed uint64) (search.Result, time.Duration) {
	r, _ := steady(p, l, seed)
	r.OfferDraw = true
	return r, 0
}

// illegal returns a move that is illegal in every position.
func illegal(game.Position, search.Limits, uint64) (search.Result, time.Duration) {
	return search.Result{Move: 1 << 30, PV: []game.Move{1 << 30}}, 0
}

// failing returns an error instead of a move.
func failing(err error) script {
	return func(game.Position, search.Limits, uint64) (search.Result, time.Duration) {
		return search.Result{Err: err}, 0
	}
}

// planOf returns a match of scripts, by the names of the players.
func planOf(t *testing.T, limit string, players map[string]script, names ...string) Plan {
	t.Helper()
	l, err := ParseLimit(limit)
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{
		Terms: Terms{
			V: FileVersion, ID: NewID(), Game: "amazons", Rules: "amazons/6x6", Players: names, Kind: RoundRobin, Limit: l, Openings: "none",
			Seed: 1, MarginMS: 50, PatienceMS: 60_000, HashMB: 1, Threads: 1, Build: "test",
		},
		Games: 2, Openings: openings.Start{}, Concurrency: 1,
	}
	p.Backend = &Local{Open: func(spec string) (engine.Searcher, error) {
		if s, ok := players[spec]; ok {
			return s, nil
		}
		return nil, fmt.Errorf("no script %q", spec)
	}}
	return p
}

// run plays the plan; games come in the order of their ends.
func run(t *testing.T, p Plan) (*Standing, []*Game) {
	t.Helper()
	var games []*Game
	p.Watch = func(_ *Standing, g *Game) { games = append(games, g) }
	s, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return s, games
}

// enginePlan returns a match of our own engine with players "nodes=N" on a game's
// usual start or made openings.
func enginePlan(t *testing.T, rules string, names ...string) Plan {
	t.Helper()
	p := planOf(t, "unlimited", nil, names...)
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p.Terms.Game, p.Terms.Rules = r.Game, r.Name
	judge := func(context.Context, game.Position) (float64, error) { return 0.5, nil }
	maker, err := openings.NewMaker([]*game.Rules{r}, []openings.Judge{judge}, openings.Recipe{Plies: 3, Bound: 0.5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	p.Openings, p.Games = maker, 6
	p.Backend = &Local{Open: func(spec string) (engine.Searcher, error) {
		var nodes uint64
		if _, err := fmt.Sscanf(spec, "nodes=%d", &nodes); err != nil {
			return nil, err
		}
		e, err := engine.New(r.Game, engine.Options{HashBytes: 1 << 20})
		return &fixed{e, nodes}, err
	}}
	return p
}

// fixed is our engine at a number of nodes.
type fixed struct {
	*engine.Engine
	nodes uint64
}

func (f *fixed) NewGame(o engine.GameOptions) (engine.Game, error) {
	g, err := f.Engine.NewGame(o)
	return fixedGame{g, f.nodes}, err
}

type fixedGame struct {
	engine.Game
	nodes uint64
}

func (f fixedGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	l.Nodes = f.nodes
	return f.Game.Search(p, l, report)
}

var errBroken = errors.New("broken")
