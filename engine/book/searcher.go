package book

import (
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// With returns a searcher that plays from books while they know a move, and then
// lets inner search. Name is the Book of its games' descriptions.
func With(inner engine.Searcher, s *Shelf, name string, o Options) engine.Searcher {
	return searcher{inner, s, name, o}
}

type searcher struct {
	engine.Searcher
	shelf   *Shelf
	name    string
	options Options
}

// NewGame implements [engine.Searcher].
func (s searcher) NewGame(o engine.GameOptions) (engine.Game, error) {
	inner, err := s.Searcher.NewGame(o)
	if err != nil || o.Rules != nil && s.shelf.For(o.Rules.Name) == nil {
		return inner, err
	}
	return bookGame{inner, s}, nil
}

// bookGame is a game played from books first.
type bookGame struct {
	engine.Game
	s searcher
}

// Search implements [engine.Game]. A move from the book is the result at once: it
// is chosen at random by the game's seed, its score is the winning chance,
// and there is no reply to ponder on, since the next move is likely to be in the
// book as well. Searches that wait (pondering, analysis), for several lines, for a
// mate or with NoBook do not use the book.
func (g bookGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if !l.Wait && !l.NoBook && l.MultiPV <= 1 && l.Mate == 0 {
		start := time.Now()
		if m, c, ok := g.s.shelf.Choose(p, g.s.options, g.Options().Seed, l.Moves); ok {
			return answered{search.Result{Move: m, WinProb: c.Score(), Time: time.Since(start), PV: []game.Move{m}, Source: search.FromBook}}, nil
		}
	}
	return g.Game.Search(p, l, report)
}

// Describe implements [engine.Game].
func (g bookGame) Describe() engine.Description {
	d := g.Game.Describe()
	d.Book = g.s.name
	return d
}

// Unwrap returns the game without the books.
func (g bookGame) Unwrap() engine.Game { return g.Game }

// answered is a search that has its result from the start.
type answered struct{ result search.Result }

// closed is a closed channel.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func (a answered) PonderHit(search.Limits) {}
func (a answered) Stop()                   {}
func (a answered) Pause()                  {}
func (a answered) Resume()                 {}
func (a answered) Done() <-chan struct{}   { return closed }
func (a answered) Wait() search.Result     { return a.result }
