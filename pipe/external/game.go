package external

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

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
	log       *logFile  // of the conversation; nil: none

	// Used by the search that has the turn.
	clock      *search.Clock // of the last search for a move; nil: none
	left       time.Duration // on it after the move
	slowToStop bool          // it does not ponder any more, see rests

	closed context.Context // done after Close
	close  context.CancelFunc

	mu       sync.Mutex // lock it before the engine's mu
	searches []*running // not ended yet
	process  *future    // nil: one is to be started
	lost     bool       // its process has ended, and no other can take the game over
	restarts int        // because its process had ended while it did not search
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
	g.closed, g.close = context.WithCancel(context.Background())
	if e.spec.Log != "" {
		g.log = logDir(e.spec.Log).file(o.ID, e.spec)
	}
	if err := g.begin(); err != nil {
		return nil, err
	}
	return g, nil
}

// tap returns what is to be called with the lines of the conversation; nil: nothing.
func (g *externalGame) tap() func(Line) {
	if g.log == nil {
		return nil
	}
	return g.log.add
}

// begin starts the game's process, unless it has one. The error is
// engine.ErrGameClosed after Close, and ErrClosed after the engine's Close.
func (g *externalGame) begin() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed.Err() != nil {
		return engine.ErrGameClosed
	}
	if g.process != nil {
		return nil
	}
	s := &future{done: make(chan struct{})}
	ok := g.engine.spawn(func() {
		defer close(s.done)
		s.program, s.err = g.engine.open(g.closed, g.tap())
	})
	if !ok {
		return ErrClosed
	}
	g.process = s
	return nil
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
// is replaced, as for a search. The error is engine.ErrGameClosed after Close, which ends the wait.
func (g *externalGame) Ready() error {
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
	case <-g.closed.Done():
		return engine.ErrGameClosed
	}
	p, err := g.acquire(g.closed.Done())
	if p == nil && err == nil {
		return engine.ErrGameClosed
	}
	return err
}

// acquire returns the game's process when it is ready. The process is nil without
// an error if stop was closed first. A process that has ended since its last search
// is replaced, if another can take the game over. The caller has the turn.
func (g *externalGame) acquire(stop <-chan struct{}) (*program, error) {
	for {
		if g.isLost() {
			return nil, &engine.Fault{Kind: engine.FaultCrash, Text: "the process that knew this game has ended, and another can't take it over"}
		}
		if err := g.begin(); err != nil {
			if isClosed(stop) {
				err = nil
			}
			return nil, err
		}
		s := g.current()
		select {
		case <-s.done:
		case <-stop:
		}
		if isClosed(stop) { // then an error may only tell that Close has killed it
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
		if !g.mayRestart() {
			return nil, f
		}
		when := "between two moves"
		if !s.program.began {
			when = "before its first move"
		}
		g.incidents.add("the engine ended %s (%s); started again", when, f.Text)
	}
}

// maxRestarts is how often in a game a process that has ended while it did not search
// is replaced, before its end counts as a fault.
const maxRestarts = 3

// mayRestart counts the restarts of a game that has lost its process.
func (g *externalGame) mayRestart() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost || g.restarts >= maxRestarts {
		return false
	}
	g.restarts++
	return true
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

// Describe implements engine.Game. What a program says of itself, and the sizes that
// it was told to use, are not known before a process was ready. A program can't
// promise to be reproducible.
func (g *externalGame) Describe() engine.Description {
	e := g.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	return engine.Description{Name: e.identity.name, Build: e.identity.build, Nodes: e.spec.Nodes, Depth: e.spec.Depth,
		HashMB: e.sizes.hashMB, Threads: e.sizes.threads, Seed: g.options.Seed}
}

// Close implements engine.Game: the process waits for another game, or ends. One
// that is still starting is killed.
func (g *externalGame) Close() error {
	if g.log != nil {
		defer g.log.close()
	}
	g.mu.Lock()
	g.close()
	for _, r := range g.searches {
		r.Stop()
	}
	g.mu.Unlock()
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
	if err := e.spec.Dialect.CheckLimits(l.Nodes, l.Depth); err != nil {
		return nil, err
	}
	q := newQuery(p)
	q.lines = l.MultiPV
	r := &running{
		game: g, engine: e, query: q, limits: e.within(l), report: report,
		changed: make(chan struct{}, 1), stop: make(chan struct{}), begun: make(chan struct{}), done: make(chan struct{}),
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed.Err() != nil {
		return nil, engine.ErrGameClosed
	}
	if !e.spawn(r.run) {
		return nil, ErrClosed
	}
	g.searches = append(g.searches, r)
	return r, nil
}

// ended removes a search that has ended.
func (g *externalGame) ended(r *running) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.searches = slices.DeleteFunc(g.searches, func(s *running) bool { return s == r })
}
