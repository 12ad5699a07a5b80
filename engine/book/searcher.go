package book

import (
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// Searcher answers from books where they know a move, and lets another think
// where they do not.
type Searcher struct {
	inner   engine.Searcher
	shelf   *Shelf
	options Options
}

// With puts books before a searcher.
func With(inner engine.Searcher, s *Shelf, o Options) *Searcher { return &Searcher{inner, s, o} }

// Search implements [engine.Searcher]. What the book knows it answers at once:
// a move drawn with Limits.Seed, its score as the chance, and no reply to
// ponder on, because the next move is likely to be in the book as well. A
// search that is to wait (pondering, analysis), for several lines, for a mate
// or with NoBook goes to the other searcher.
func (s *Searcher) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if !l.Wait && !l.NoBook && l.MultiPV <= 1 && l.Mate == 0 {
		start := time.Now()
		if m, c, ok := s.shelf.Choose(p, s.options, l.Seed, l.Moves); ok {
			return answered{search.Result{Move: m, WinProb: c.Score(), Time: time.Since(start), PV: []game.Move{m}, Source: search.FromBook}}, nil
		}
	}
	return s.inner.Search(p, l, report)
}

// Unwrap is the searcher behind the books.
func (s *Searcher) Unwrap() engine.Searcher { return s.inner }

// answered is a search that had its answer at once.
type answered struct{ result search.Result }

// closed is closed.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (a answered) PonderHit(search.Limits) {}
func (a answered) Stop()                   {}
func (a answered) Pause()                  {}
func (a answered) Resume()                 {}
func (a answered) Done() <-chan struct{}   { return closed }
func (a answered) Wait() search.Result     { return a.result }
