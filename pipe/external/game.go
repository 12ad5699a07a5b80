package external

import (
	"fmt"
	"sync"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// externalGame is a game that a program plays, with a process of its own.
type externalGame struct {
	engine  *Engine
	options engine.GameOptions
	turn    chan struct{} // holds a value while the process is used: by a search, Ready or Close

	incidents incidents // since the last result

	mu      sync.Mutex
	closed  bool
	latest  *running
	process *future // nil: one is to be started
	lost    bool    // its process has ended, and no other can take the game over
}

// future is the process of a game, which may still be starting.
type future struct {
	done    chan struct{} // closed when the others are set
	program *program
	err     error
}

// NewGame implements engine.Searcher. It begins to start the game's process, and
// does not wait for it.
func (e *Engine) NewGame(o engine.GameOptions) (engine.Game, error) {
	if o.Rules != nil && o.Rules.Game != e.game {
		return nil, fmt.Errorf("%w: an engine for %s, not for %s", game.ErrRules, e.game, o.Rules.Game)
	}
	g := &externalGame{engine: e, options: o, turn: make(chan struct{}, 1)}
	if !g.begin() {
		return nil, ErrClosed
	}
	return g, nil
}

// begin starts the game's process, unless it has one; false after the engine's
// Close.
func (g *externalGame) begin() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.process != nil {
		return true
	}
	s := &future{done: make(chan struct{})}
	ok := g.engine.spawn(func() {
		defer close(s.done)
		s.program, s.err = g.engine.open()
	})
	if ok {
		g.process = s
	}
	return ok
}

// forget has the next search start another process, if one can take the game
// over.
func (g *externalGame) forget(p *program) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.process = nil
	g.lost = g.lost || p != nil && p.began && !protocols[g.engine.spec.Dialect].positions
}

// Options implements engine.Game.
func (g *externalGame) Options() engine.GameOptions { return g.options }

// Ready implements engine.Game. A process that has ended since the last search
// is replaced.
func (g *externalGame) Ready() error {
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	p, err := g.acquire(nil)
	if err != nil && p != nil {
		_, err = g.acquire(nil)
	}
	return err
}

// acquire returns the game's process when it is ready. The process is nil without
// an error if stop was closed first. A process and an error: it had ended since
// its last search. The caller has the turn.
func (g *externalGame) acquire(stop <-chan struct{}) (*program, error) {
	for again := false; ; again = true {
		if g.isLost() {
			return nil, &engine.Fault{Kind: engine.FaultCrash, Text: "the process that knew this game has ended, and another can't take it over"}
		}
		if !g.begin() {
			return nil, ErrClosed
		}
		s := g.current()
		select {
		case <-s.done:
		case <-stop:
			return nil, nil
		}
		if s.err != nil {
			g.forget(nil)
			return nil, s.err
		}
		f := s.program.fault()
		if f == nil {
			if g.options.Reproducible && protocols[g.engine.spec.Dialect].positions {
				s.program.board = nil // as for a new game
			}
			return s.program, nil
		}
		g.forget(s.program)
		g.engine.discard(s.program)
		if s.program.began || again {
			return s.program, f
		}
	}
}

func (g *externalGame) current() *future {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.process
}

func (g *externalGame) isLost() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lost
}

// Describe implements engine.Game. The name is not known before a process was
// ready.
func (g *externalGame) Describe() engine.Description {
	s, e := g.engine.spec, g.engine
	e.mu.Lock()
	who := e.identity
	e.mu.Unlock()
	return engine.Description{Name: who.name, Build: who.build, Nodes: s.Nodes, Depth: s.Depth, HashMB: s.Hash, Threads: s.Threads,
		Seed: g.options.Seed, Reproducible: g.options.Reproducible}
}

// Close implements engine.Game: the process waits for another game, or ends.
func (g *externalGame) Close() error {
	g.mu.Lock()
	g.closed = true
	latest := g.latest
	g.mu.Unlock()
	if latest != nil {
		latest.Stop()
	}
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	g.mu.Lock()
	s := g.process
	g.process = nil
	g.mu.Unlock()
	if s == nil {
		return nil
	}
	keep := func() {
		if <-s.done; s.err == nil {
			g.engine.keep(s.program)
		}
	}
	if isClosed(s.done) {
		keep()
	} else {
		g.engine.spawn(keep) // after the engine's Close there is nothing to keep
	}
	return nil
}

// Search implements engine.Game. In addition, the error may report a
// position or limits that the protocol has no words for.
func (g *externalGame) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	e := g.engine
	if p.Rules().Game != e.game {
		return nil, fmt.Errorf("%w: an engine for %s, not for %s", game.ErrRules, e.game, p.Rules().Game)
	}
	if err := engine.Searchable(p, l); err != nil {
		return nil, err
	}
	t := protocols[e.spec.Dialect]
	if !t.lines && (len(l.Moves) > 0 || l.MultiPV > 1) {
		return nil, fmt.Errorf("%s engines can't be asked for several lines or for some moves alone", e.spec.Dialect)
	}
	if l.Nodes > 0 && !t.nodes {
		return nil, fmt.Errorf("%s engines can't be limited by nodes", e.spec.Dialect)
	}
	if l.Depth > 0 && !t.depth {
		return nil, fmt.Errorf("%s engines can't be limited by depth", e.spec.Dialect)
	}
	q := newQuery(p)
	q.lines = l.MultiPV
	r := &running{
		game: g, engine: e, query: q, limits: e.within(l), report: report,
		changed: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case e.closed:
		return nil, ErrClosed
	case g.closed:
		return nil, engine.ErrGameClosed
	}
	g.latest = r
	e.living.Go(r.run)
	return r, nil
}
