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
// The lots are drawn from Limits.Seed, the position and the ply: the same
// request gives the same move, whatever was searched before.
package level

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"sync"

	"sparring/engine"
	"sparring/engine/search"
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

// New makes a game's engine that plays at a level. The error is that of Of.
func New(gameName string, level int) (*Searcher, error) {
	p, err := Of(gameName, level)
	if err != nil {
		return nil, err
	}
	return With(gameName, p)
}

// With makes a searcher with parameters of the caller's own. The error wraps
// game.ErrRules for a game that has no engine.
func With(gameName string, p Parameters) (*Searcher, error) {
	s := &Searcher{game: gameName, Parameters: p}
	e, err := s.lease() // to see that there is one
	if err != nil {
		return nil, err
	}
	s.release(e)
	return s, nil
}

// Searcher is an engine.Searcher that plays at a level. It has no table of its
// own that lasts: what other games, or its own, have searched before would
// change its strength.
type Searcher struct {
	Parameters
	game string

	mu   sync.Mutex
	free []*engine.Engine
}

// tableBytes is the hash table for so many nodes: an entry of 16 bytes each,
// with some to spare, 64 MiB at most.
func tableBytes(nodes uint64) int { return 32 << min(bits.Len64(nodes), 21) }

// lease is an engine that no other search uses and that remembers nothing.
func (s *Searcher) lease() (*engine.Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		e := s.free[n-1]
		s.free = s.free[:n-1]
		e.Forget()
		return e, nil
	}
	return engine.New(s.game, engine.Options{HashBytes: tableBytes(s.Nodes), Threads: 1})
}

func (s *Searcher) release(e *engine.Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, e)
}

// Search implements engine.Searcher. Limits narrow the level's own. Where the
// level chooses among moves, report hears of the chosen one alone, at the end:
// all else would be better advice than it takes itself.
func (s *Searcher) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if err := engine.Searchable(p, l); err != nil {
		return nil, err
	}
	e, err := s.lease()
	if err != nil {
		return nil, err
	}
	t := &turn{Searcher: s, position: p.Clone(), wanted: max(l.MultiPV, 1), allowed: l.Moves, rng: lots(p, l.Seed), done: make(chan struct{})}
	limits := s.limit(l)
	if err = t.consider(e, &limits); err == nil {
		hear := report
		if s.errs() {
			hear = nil
		}
		t.Running, err = e.Search(p, limits, hear)
	}
	if err != nil {
		s.release(e)
		return nil, err
	}
	params := e.Params()
	go func() {
		defer close(t.done)
		r := t.Running.Wait()
		t.result = t.choose(e, r, &params)
		s.release(e)
		if s.errs() && report != nil && len(t.result.Lines) > 0 {
			report(t.result.Lines[0])
		}
	}()
	return t, nil
}

// consider narrows the moves to search to those that come to mind.
func (t *turn) consider(e *engine.Engine, l *search.Limits) (err error) {
	if t.seen, err = e.Glance(t.position); err != nil {
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
		l.Moves, err = keeping(e, t.position, l.Moves)
	}
	return err
}

// errs reports whether the level may play another move than the best it finds.
func (s *Searcher) errs() bool { return s.Compare > 1 }

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
