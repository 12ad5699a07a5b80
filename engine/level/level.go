// Package level makes the engine play at ten levels a game, from one that a
// beginner beats to one that few people do. [New] is all that a caller needs.
//
// A level differs from the engine in full by its [Parameters] alone: it may
// take so many nodes, so that it is as strong on a busy machine as on an idle
// one, and below the upper levels it errs as people do. What a person plays
// badly he has mostly not seen: a move comes to mind (Notice) the likelier the
// more it promises at first sight, which is the engine's order of moves before
// any search, captures and rows first, quiet and far moves last. Of what came
// to mind he plays what looks best to him, and how it looks is its worth with
// an error (Slip), which has its bounds: nobody fails to see what is bad enough
// (Worst). Moves are weighed in log-odds of winning, so that a piece weighs the
// same whoever is ahead.
//
// The lots are drawn from the game's seed, the position and the ply: the same
// position of a game gives the same move, whatever was searched before.
package level

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
)

// Of is the parameters of a game's level. The error wraps game.ErrRules for a
// game that has no levels.
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

// With makes a searcher with parameters of the caller's own. The error wraps
// game.ErrRules for a game that has no engine.
func With(gameName string, p Parameters, tables xiangqi.Tables) (*Searcher, error) {
	o := engine.Options{HashBytes: tableBytes(p.Nodes), Threads: 1}
	if !errs(&p) {
		o.Tables = tables
	}
	e, err := engine.New(gameName, o)
	if err != nil {
		return nil, err
	}
	return &Searcher{Parameters: p, game: gameName, engine: e, params: e.Params()}, nil
}

// Searcher is an engine.Searcher that plays at a level. What other games, or
// its own, have searched before would change its strength: each search begins
// with nothing, with tables that are lent to it.
type Searcher struct {
	Parameters
	game   string
	engine *engine.Engine
	params search.Params

	mu   sync.Mutex
	free []engine.Game // reproducible games of the engine that no search uses
}

// tableBytes is the hash table for so many nodes: an entry of 16 bytes each,
// with some to spare, 64 MiB at most.
func tableBytes(nodes uint64) int { return 32 << min(bits.Len64(nodes), 21) }

// borrow is a game of the engine's that no other search uses.
func (s *Searcher) borrow() (engine.Game, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		g := s.free[n-1]
		s.free = s.free[:n-1]
		return g, nil
	}
	return s.engine.NewGame(engine.GameOptions{Reproducible: true})
}

func (s *Searcher) giveBack(g engine.Game) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, g)
}

// NewGame implements engine.Searcher.
func (s *Searcher) NewGame(o engine.GameOptions) (engine.Game, error) {
	if o.Rules != nil && o.Rules.Game != s.game {
		return nil, fmt.Errorf("%w: a level of %s, not of %s", game.ErrRules, s.game, o.Rules.Game)
	}
	return &levelGame{s, o}, nil
}

// Close implements engine.Searcher.
func (s *Searcher) Close() error { return s.engine.Close() }

// levelGame is a game that is played at a level.
type levelGame struct {
	*Searcher
	options engine.GameOptions
}

// Options implements engine.Game.
func (g *levelGame) Options() engine.GameOptions { return g.options }

// Ready implements engine.Game.
func (*levelGame) Ready() error { return nil }

// Close implements engine.Game.
func (*levelGame) Close() error { return nil }

// Describe implements engine.Game.
func (g *levelGame) Describe() engine.Description {
	return engine.Description{Name: engine.OurName, Build: engine.Build(), Nodes: g.Nodes, Threads: 1, TableMen: g.engine.TableMen(),
		Seed: g.options.Seed, Reproducible: g.options.Reproducible}
}

// Search implements engine.Game. Limits narrow the level's own. Where the
// level chooses among moves, report hears of the chosen one alone, at the end:
// all else would be better advice than it takes itself.
func (g *levelGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if err := engine.Searchable(p, l); err != nil {
		return nil, err
	}
	t := &turn{Searcher: g.Searcher, position: p.Clone(), wanted: max(l.MultiPV, 1), allowed: l.Moves, rng: lots(p, g.options.Seed), done: make(chan struct{})}
	limits := g.limit(l)
	if err := t.consider(&limits); err != nil {
		return nil, err
	}
	hear := report
	if g.errs() {
		hear = nil
	}
	inner, err := g.borrow()
	if err != nil {
		return nil, err
	}
	if t.Running, err = inner.Search(p, limits, hear); err != nil {
		g.giveBack(inner)
		return nil, err
	}
	go func() {
		defer close(t.done)
		r := t.Running.Wait()
		g.giveBack(inner)
		t.result = t.choose(r)
		if g.errs() && report != nil && len(t.result.Lines) > 0 {
			report(t.result.Lines[0])
		}
	}()
	return t, nil
}

// consider narrows the moves to search to those that come to mind.
func (t *turn) consider(l *search.Limits) (err error) {
	if t.seen, err = t.engine.Glance(t.position); err != nil {
		return err
	}
	if t.Careful {
		if win := winning(t.position, l.Moves); win != game.NoMove {
			l.Moves, l.Depth = []game.Move{win}, 1
			return nil
		}
	}
	if t.Notice > 0 {
		l.Moves = t.notice(l.Moves)
	}
	if t.Keep {
		l.Moves, err = keeping(t.engine, t.position, l.Moves)
	}
	return err
}

// errs reports whether the level may play another move than the best it finds.
func (s *Searcher) errs() bool { return errs(&s.Parameters) }

func errs(p *Parameters) bool { return p.Compare > 1 }

// limit narrows a caller's limits to the level's.
func (s *Searcher) limit(l search.Limits) search.Limits {
	if l.Nodes == 0 || l.Nodes > s.Nodes {
		l.Nodes = s.Nodes
	}
	l.Threads = 1
	l.MultiPV = max(l.MultiPV, s.Compare)
	return l
}

// turn is one search of a level; the embedded Running is the engine's.
type turn struct {
	engine.Running
	*Searcher
	position game.Position
	wanted   int                 // lines
	allowed  []game.Move         // nil is all
	seen     []search.ScoredMove // at a glance
	rng      *rand.Rand
	done     chan struct{}
	result   search.Result
}

// PonderHit implements engine.Running: a hit does not give a level more nodes.
func (t *turn) PonderHit(l search.Limits) { t.Running.PonderHit(t.limit(l)) }

// Done implements engine.Running.
func (t *turn) Done() <-chan struct{} { return t.done }

// Wait implements engine.Running.
func (t *turn) Wait() search.Result {
	<-t.done
	return t.result
}
