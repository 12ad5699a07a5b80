// Package level makes the engine play at ten levels for each game, from one that
// a beginner beats to one that few people beat. Use [New].
//
// A level differs from the engine at full strength only by its [Parameters]. It
// has a limit of nodes, which makes it as strong on a busy machine as on an idle
// one. The lower levels err as people do. Most human errors are moves that were
// not noticed, so a level considers a random choice of the moves (Notice): the
// earlier a move comes in the engine's order before any search, the likelier,
// captures and rows first, quiet and distant moves last. What the opponent threatens
// it overlooks if it notices none of the answers. Of these it plays the one
// that looks best, by its score with a random error (Slip), but never one that is
// much worse than the best (Worst). Scores are compared as log-odds of winning, so
// that a piece counts the same whoever is ahead.
//
// Random choices are seeded by the game's seed, the position and the ply: the same
// position of a game gives the same move, whatever was searched before.
package level

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
)

// Of returns the parameters of a game's level. The error wraps game.ErrRules for a
// game without levels.
func Of(gameName string, level int) (Parameters, error) {
	a, err := engine.Adapter(gameName)
	switch {
	case err != nil:
		return Parameters{}, err
	case level < Weakest || level > Strongest:
		return Parameters{}, fmt.Errorf("level %d: must be %d to %d", level, Weakest, Strongest)
	case a.Levels[level-1].Nodes == 0:
		return Parameters{}, fmt.Errorf("%w: no levels for game %s", game.ErrRules, gameName)
	}
	return a.Levels[level-1], nil
}

// New makes a game's engine that plays at a level, with endgame tables if it does
// not err on purpose and there are any. The error is that of Of.
func New(gameName string, level int, tables xiangqi.Tables) (*Searcher, error) {
	p, err := Of(gameName, level)
	if err != nil {
		return nil, err
	}
	return With(gameName, p, tables)
}

// With makes a searcher with the given parameters. The error wraps game.ErrRules for
// a game without an engine.
func With(gameName string, p Parameters, tables xiangqi.Tables) (*Searcher, error) {
	o := engine.Options{HashBytes: tableBytes(p.Nodes), Threads: 1}
	if !p.Errs() {
		o.Tables = tables
	}
	e, err := engine.New(gameName, o)
	if err != nil {
		return nil, err
	}
	return &Searcher{Parameters: p, game: gameName, engine: e, params: e.Params()}, nil
}

// Searcher is an engine.Searcher that plays at a level. Each search starts with
// empty tables: what earlier searches learnt would change its strength.
type Searcher struct {
	Parameters
	game   string
	engine *engine.Engine
	params search.Params
}

// tableBytes returns the size of a hash table for a number of nodes: two to four
// entries of 16 bytes each, but at most 64 MiB.
func tableBytes(nodes uint64) int { return 32 << min(bits.Len64(nodes), 21) }

// NewGame implements engine.Searcher.
func (s *Searcher) NewGame(o engine.GameOptions) (engine.Game, error) {
	if o.Rules != nil && o.Rules.Game != s.game {
		return nil, fmt.Errorf("%w: a level of %s, not of %s", game.ErrRules, s.game, o.Rules.Game)
	}
	inner, err := s.engine.NewGame(engine.GameOptions{Reproducible: true})
	if err != nil {
		return nil, err
	}
	return &levelGame{s, o, inner}, nil
}

// Close implements engine.Searcher.
func (s *Searcher) Close() error { return s.engine.Close() }

// levelGame is a game played at a level.
type levelGame struct {
	*Searcher
	options engine.GameOptions
	inner   engine.Game // it runs the searches one at a time, and Close stops them
}

// Options implements engine.Game.
func (g *levelGame) Options() engine.GameOptions { return g.options }

// Ready implements engine.Game.
func (g *levelGame) Ready() error { return g.inner.Ready() }

// Close implements engine.Game.
func (g *levelGame) Close() error { return g.inner.Close() }

// Describe implements engine.Game.
func (g *levelGame) Describe() engine.Description {
	d := g.inner.Describe()
	d.Nodes, d.Seed, d.Reproducible = g.Nodes, g.options.Seed, g.options.Reproducible
	return d
}

// Search implements engine.Game. The limits can only tighten the level's. If the
// level chooses among several moves, only the chosen one is reported, at the end:
// the search knows better moves than the level plays.
func (g *levelGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if err := engine.Searchable(p, l); err != nil {
		return nil, err
	}
	t := &levelSearch{Searcher: g.Searcher, position: p.Clone(), wanted: max(l.MultiPV, 1), allowed: l.Moves, rng: randFor(p, g.options.Seed), done: make(chan struct{})}
	limits := g.limit(l)
	if err := t.consider(&limits); err != nil {
		return nil, err
	}
	during := report
	if g.Errs() {
		during = nil
	}
	var err error
	if t.Running, err = g.inner.Search(p, limits, during); err != nil {
		return nil, err
	}
	go func() {
		defer close(t.done)
		r := t.Running.Wait()
		t.result = t.choose(r)
		if g.Errs() && report != nil && len(t.result.Lines) > 0 {
			report(t.result.Lines[0])
		}
	}()
	return t, nil
}

// consider restricts the search to the moves that the level notices.
func (t *levelSearch) consider(l *search.Limits) (err error) {
	if t.seen, err = t.engine.OrderedMoves(t.position); err != nil {
		return err
	}
	if t.Careful {
		if win := winningMove(t.position, l.Moves); win != game.NoMove {
			l.Moves, l.Depth = []game.Move{win}, 1
			return nil
		}
	}
	if t.Notice > 0 {
		l.Moves = t.notice(l.Moves)
	}
	if t.Keep {
		l.Moves, err = keepingPieces(t.engine, t.position, l.Moves)
	}
	return err
}

// limit tightens a caller's limits to the level's.
func (s *Searcher) limit(l search.Limits) search.Limits {
	if l.Nodes == 0 || l.Nodes > s.Nodes {
		l.Nodes = s.Nodes
	}
	l.Threads = 1
	l.MultiPV = max(l.MultiPV, s.Compare)
	return l
}

// levelSearch is one search of a level; the embedded Running is the engine's.
type levelSearch struct {
	engine.Running
	*Searcher
	position game.Position
	wanted   int                 // lines
	allowed  []game.Move         // nil is all
	seen     []search.ScoredMove // all moves, as first looked at
	rng      *rand.Rand
	done     chan struct{}
	result   search.Result
}

// PonderHit implements engine.Running. The level's node limit includes pondering.
func (t *levelSearch) PonderHit(l search.Limits) { t.Running.PonderHit(t.limit(l)) }

// Done implements engine.Running.
func (t *levelSearch) Done() <-chan struct{} { return t.done }

// Wait implements engine.Running.
func (t *levelSearch) Wait() search.Result {
	<-t.done
	return t.result
}
