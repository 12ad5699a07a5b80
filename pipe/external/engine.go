package external

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
)

// ErrClosed: the engine takes no more searches.
var ErrClosed = errors.New("the outside engine is closed")

// Engine is an outside engine for one game. It runs as many processes of the
// program as there are searches at the same time, and keeps some for the next
// ones: a game goes on with the process that knows it.
type Engine struct {
	spec   Spec
	path   string
	game   string
	params search.Params
	times  times

	mu        sync.Mutex
	idle      []*program // the one used last is the last
	busy      []*program
	incidents incidents
	lost      []*held // games that went with the process that knew them, and that no other can take over
	closed    bool
	living    sync.WaitGroup
}

// times are how long a program may take to do what takes no thinking.
type times struct {
	start time.Duration // to start and say that it is ready
	grace time.Duration // to answer after it was told to, or was bound to
	quit  time.Duration // to end when asked to
	think time.Duration // for a search that no time limits
}

var usual = times{start: 15 * time.Second, grace: 3 * time.Second, quit: 500 * time.Millisecond, think: 10 * time.Minute}

// mostIdle is how many processes wait for searches at most.
const mostIdle = 4

// Open makes an engine of a program. Nothing is started before the first
// search, or Ready; the error says all that Spec.Check finds. Close it.
func Open(s Spec, gameName string) (*Engine, error) {
	if err := s.Check(gameName); err != nil {
		return nil, err
	}
	params, err := engine.Params(gameName, "")
	if err != nil {
		return nil, err
	}
	path, err := s.program()
	if err != nil {
		return nil, err
	}
	return &Engine{spec: s, path: path, game: gameName, params: params, times: usual}, nil
}

// Ready starts a process unless one is waiting, and returns when it is ready
// to play. Whoever keeps a clock calls it first. The error is an *engine.Fault
// or ErrClosed.
func (e *Engine) Ready() error {
	e.mu.Lock()
	e.bury()
	waiting := len(e.idle) > 0
	e.mu.Unlock()
	if waiting {
		return nil
	}
	p, err := e.launch()
	if err != nil {
		return err
	}
	e.shelve(p)
	return nil
}

// Forget makes every process take its next search for one of a new game.
func (e *Engine) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.idle {
		p.held = nil
		if p.spent() {
			e.retire(p)
		}
	}
	e.idle = slices.DeleteFunc(e.idle, (*program).spent)
	e.lost = nil
}

// Close ends all processes, and searches that still run with ErrClosed.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	idle, busy := e.idle, slices.Clone(e.busy)
	e.idle = nil
	e.mu.Unlock()
	for _, p := range busy {
		p.kill()
	}
	for _, p := range idle {
		e.retire(p)
	}
	e.living.Wait()
	return nil
}

// Search implements engine.Searcher. Besides what that says, the error tells
// of a position or limits that the protocol has no words for.
func (e *Engine) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if out := p.Outcome(); out.Over() {
		return nil, fmt.Errorf("%w: %s by %s", game.ErrOver, out.Result, out.Reason)
	}
	if p.Rules().Game != e.game {
		return nil, fmt.Errorf("%w: an engine for %s, not for %s", game.ErrRules, e.game, p.Rules().Game)
	}
	legal := p.Legal(nil)
	for _, m := range l.Moves {
		if !slices.Contains(legal, m) {
			return nil, fmt.Errorf("%w: move %#x to search", game.ErrIllegal, uint32(m))
		}
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
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	q := newQuery(p)
	q.lines = l.MultiPV
	r := &running{
		engine: e, query: q, limits: e.within(l), report: report,
		bell: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	e.living.Go(r.run)
	return r, nil
}

// within adds the spec's limits to a search's own.
func (e *Engine) within(l search.Limits) search.Limits {
	if n := e.spec.Nodes; n > 0 && (l.Nodes == 0 || n < l.Nodes) {
		l.Nodes = n
	}
	if d := e.spec.Depth; d > 0 && (l.Depth == 0 || d < l.Depth) {
		l.Depth = d
	}
	return l
}

// pause is how long nothing is sent to a program after its move.
func (e *Engine) pause() time.Duration {
	return cmp.Or(e.spec.Pause, protocols[e.spec.Dialect].pause)
}

func (e *Engine) isClosed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// program is a process that speaks a dialect, in use by one search at a time.
type program struct {
	*process
	dialect
	times   times
	stale   bool  // a late answer to an earlier search may still come: it was hushed
	held    *held // what it knows of the game it plays; nil is nothing
	oneGame bool  // it has said that it plays one game only
	began   bool  // it has been told of one

	moved      time.Time       // when it last answered with a move
	ponderless bool            // it can't search without an end
	noted      map[string]bool // what was noted of it: once will do
}

// once does something the first time that it is called with a key.
func (p *program) once(key string, do func()) {
	if p.noted == nil {
		p.noted = map[string]bool{}
	}
	if !p.noted[key] && len(p.noted) < maxIncidents {
		p.noted[key] = true
		do()
	}
}

// takes reports whether a program can be told of a position: one of its game, or
// of another as long as it plays more than one.
func (p *program) takes(q *query) bool { return !p.spent() || p.held.leadsTo(q, 1) }

// spent: it has had the one game that it plays.
func (p *program) spent() bool { return p.oneGame && p.began }

// launch starts a process and greets it.
func (e *Engine) launch() (*program, error) {
	if e.isClosed() {
		return nil, ErrClosed
	}
	proc, err := start(command{path: e.path, args: e.spec.Args, dir: e.spec.Dir, memory: e.spec.Memory})
	if err != nil {
		return nil, err
	}
	p := &program{process: proc, dialect: protocols[e.spec.Dialect].speaker(e.spec, e.game), times: e.times}
	e.mu.Lock()
	e.busy = append(e.busy, p)
	closed := e.closed
	e.mu.Unlock()
	if closed {
		p.kill() // Close has not seen it
	}
	if err := p.greet(p); err != nil {
		e.discard(p)
		return nil, asStart(err)
	}
	p.inbox.listen(false)
	return p, nil
}

// asStart is a fault that came before a program was ready: whatever it was, the
// program could not be started.
func asStart(err error) error {
	if f, ok := errors.AsType[*engine.Fault](err); ok && f.Kind != engine.FaultStart {
		return &engine.Fault{Kind: engine.FaultStart, Text: string(f.Kind) + ": " + f.Text}
	}
	return err
}

// lease takes a process for a search: the one that knows most of its game, one
// that knows no game, or a new one. Where enough wait already, the one that was
// used longest ago begins a new game, unless it would lose its own by that. Nil
// without an error is that stop was closed first.
func (e *Engine) lease(q *query, stop <-chan struct{}) (*program, error) {
	p, err := e.pick(q)
	if p != nil || err != nil {
		return p, err
	}
	type launched struct {
		p   *program
		err error
	}
	got := make(chan launched)
	e.living.Go(func() {
		p, err := e.launch()
		select {
		case got <- launched{p, err}:
		case <-stop:
			if err == nil {
				e.shelve(p)
			}
		}
	})
	select {
	case l := <-got:
		return l.p, l.err
	case <-stop:
		return nil, nil
	}
}

// pick is lease among the waiting processes. The error is the fault of the one
// that knew the game and has ended meanwhile.
func (e *Engine) pick(q *query) (*program, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	best := -1
	for i, p := range e.idle {
		knows := p.held.same(q)
		if !protocols[e.spec.Dialect].positions {
			knows = p.held.leadsTo(q, 1)
		}
		if knows && p.takes(q) && (best < 0 || p.held.common(q) >= e.idle[best].held.common(q)) {
			best = i
		}
	}
	if best >= 0 {
		p := e.take(best)
		if f := p.fault(); f != nil {
			e.busy = without(e.busy, p)
			e.lose(p)
			return nil, f
		}
		return p, nil
	}
	e.bury()
	if slices.ContainsFunc(e.lost, func(h *held) bool { return h.leadsTo(q, 1) }) {
		return nil, &engine.Fault{Kind: engine.FaultCrash, Text: "the process that knew this game has ended, and another can't take it over"}
	}
	if i := slices.IndexFunc(e.idle, func(p *program) bool { return p.held == nil && p.takes(q) }); i >= 0 {
		return e.take(i), nil
	}
	if len(e.idle) >= mostIdle && protocols[e.spec.Dialect].positions && e.idle[0].takes(q) {
		p := e.take(0)
		p.held = nil
		return p, nil
	}
	return nil, nil
}

// bury forgets the waiting processes that have ended: they harmed no game that
// goes on. The caller holds mu.
func (e *Engine) bury() {
	e.idle = slices.DeleteFunc(e.idle, func(p *program) bool {
		dead := p.fault() != nil
		if dead {
			e.lose(p)
		}
		return dead
	})
}

// mostLost is how many lost games are remembered.
const mostLost = 16

// lose remembers the game of a process that goes, where that is the end of the
// game. The caller holds mu.
func (e *Engine) lose(p *program) {
	if p.held == nil || protocols[e.spec.Dialect].positions {
		return
	}
	e.lost = append(e.lost, p.held)
	e.lost = e.lost[max(len(e.lost)-mostLost, 0):]
}

// take leases a waiting process. The caller holds mu.
func (e *Engine) take(i int) *program {
	p := e.idle[i]
	e.idle = slices.Delete(e.idle, i, i+1)
	e.busy = append(e.busy, p)
	return p
}

// shelve lets a process wait for the next search.
func (e *Engine) shelve(p *program) {
	p.inbox.listen(false)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = without(e.busy, p)
	e.idle = append(e.idle, p)
	for e.closed && len(e.idle) > 0 || len(e.idle) > mostIdle {
		old := e.idle[0]
		e.idle = slices.Delete(e.idle, 0, 1)
		e.lose(old)
		e.retire(old)
	}
}

// retire asks a waiting process to end.
func (e *Engine) retire(p *program) {
	e.living.Go(func() { p.quit(p.farewell(), e.times.quit) })
}

// discard kills a process.
func (e *Engine) discard(p *program) {
	p.kill()
	<-p.gone
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = without(e.busy, p)
	e.lose(p)
}

func without(all []*program, p *program) []*program {
	return slices.DeleteFunc(all, func(o *program) bool { return o == p })
}
