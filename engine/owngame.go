package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"sparring/engine/search"
	"sparring/game"
)

// ErrGameClosed is returned by Game.Search after Close.
var ErrGameClosed = errors.New("the game is closed")

// ownGame is a game that our own engine plays.
type ownGame struct {
	engine  *Engine
	options GameOptions
	game    kernelGame

	mu     sync.Mutex
	closed bool
}

// Options implements Game.
func (g *ownGame) Options() GameOptions { return g.options }

// Ready implements Game: there is nothing to start.
func (g *ownGame) Ready() error { return nil }

// Describe implements Game.
func (g *ownGame) Describe() Description {
	d := Description{Name: OurName, Build: Build(), HashMB: (g.engine.options.HashBytes + 1<<20 - 1) >> 20, Threads: g.engine.options.Threads,
		Eval: g.engine.params.Eval, TableMen: g.engine.TableMen(), Seed: g.options.Seed, Reproducible: g.options.Reproducible}
	if g.options.Reproducible {
		d.Threads = 1
	}
	return d
}

// Search implements Game.
func (g *ownGame) Search(p game.Position, l search.Limits, report func(search.Info)) (Running, error) {
	if err := Searchable(p, l); err != nil {
		return nil, err
	}
	if first := g.engine.adapter.First; first != nil && l.Moves == nil && l.MultiPV <= 1 {
		if m := first(p); m != game.NoMove {
			l.Moves = []game.Move{m}
		}
	}
	if g.engine.adapter.SelfLoss {
		if err := dropLosing(p, &l); err != nil {
			return nil, err
		}
	}
	pos, err := g.engine.adapter.New(p)
	if err != nil {
		return nil, err
	}
	if l.Threads == 0 {
		l.Threads = g.engine.options.Threads
	}
	if g.options.Reproducible {
		l.Threads = 1
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, ErrGameClosed
	}
	run := g.game.Start(pos, l, report)
	if r, ok := pos.(search.Releaser); ok {
		r.Release() // it was cloned
	}
	return run, nil
}

// ProbeTable implements the method that the function ProbeTable looks for.
func (g *ownGame) ProbeTable(p game.Position) (known search.TableEntry, ok bool) {
	if p.Outcome().Over() {
		return search.TableEntry{}, false
	}
	pos, err := g.engine.adapter.New(p)
	if err != nil {
		return search.TableEntry{}, false
	}
	return g.game.ProbeTable(pos)
}

// Close implements Game.
func (g *ownGame) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.game.Close()
	return nil
}

// dropLosing removes the moves that lose at once by the rules from a search,
// unless all do. The kernel may judge a repetition differently; the rules, which
// know the whole game, decide.
func dropLosing(p game.Position, l *search.Limits) error {
	legal := l.Moves
	if legal == nil {
		legal = p.Legal(nil)
	}
	sure := func(game.Move) bool { return false } // that a move does not lose at once
	if s, ok := p.(game.SelfLoser); ok {
		if !slices.ContainsFunc(legal, s.MayLose) {
			return nil
		}
		sure = func(m game.Move) bool { return !s.MayLose(m) }
	}
	played, lost := p.Clone(), game.WonBy(p.Turn().Other())
	var good []game.Move
	for _, m := range legal {
		if sure(m) {
			good = append(good, m)
			continue
		}
		if err := played.Play(m); err != nil {
			return fmt.Errorf("legal move %s: %w", p.Format(m), err)
		}
		if played.Outcome().Result != lost {
			good = append(good, m)
		}
		played.Undo()
	}
	if len(good) > 0 && len(good) < len(legal) {
		l.Moves = good
	}
	return nil
}
