package external

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
)

// ErrClosed is returned by NewGame, and by searches, after Engine.Close.
var ErrClosed = errors.New("the external engine is closed")

// Engine is an external engine for one kind of game. Each game has a process of
// its own. When a game has ended its process is kept for another, up to maxIdle
// of them.
type Engine struct {
	spec   Spec
	path   string
	game   string
	params search.Params
	times  times

	mu     sync.Mutex
	idle   []*program // between two games
	busy   []*program // starting, or of a game
	closed bool
	living sync.WaitGroup

	identity identity // as the first process gave it
	sizes    sizes    // as the latest process was told

	stops stopDelays

	// observe returns what is called with the lines of a process besides log, also between two
	// games; nil: nothing is.
	observe func(p *program, log func(Line)) func(Line)
}

// tapOf returns what is to be called with the lines of a process.
func (e *Engine) tapOf(p *program, log func(Line)) func(Line) {
	if e.observe == nil {
		return log
	}
	return e.observe(p, log)
}

// sizes are the sizes that a program was told to use; 0 where it was told none.
type sizes struct{ hashMB, threads int }

// identity is the name and version that a program gives; "" if it gives none.
type identity struct{ name, build string }

// times are how long a program may take to do what takes no thinking.
type times struct {
	start time.Duration // to start and say that it is ready
	grace time.Duration // to answer after it was told to, or was bound to
	quit  time.Duration // to end when asked to
	think time.Duration // for a search that no time limits
}

var defaultTimes = times{start: 15 * time.Second, grace: 3 * time.Second, quit: 500 * time.Millisecond, think: 10 * time.Minute}

// maxIdle is the largest number of processes that are kept between two games.
const maxIdle = 2

// Open makes an engine of a program. Nothing is started before the first game;
// the error says all that Spec.Check finds. Close it.
func Open(s Spec, gameName string) (*Engine, error) {
	if err := s.Check(gameName); err != nil {
		return nil, err
	}
	params, err := engine.Params(gameName, "")
	if err != nil {
		return nil, err
	}
	path, err := s.Program()
	if err != nil {
		return nil, err
	}
	return &Engine{spec: s, path: path, game: gameName, params: params, times: defaultTimes}, nil
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

// pause returns the time after a move in which nothing is sent.
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
	times     times
	needsSync bool        // it was told to stop, so a late answer to an earlier search may still come
	board     *playedLine // what it has on its board; nil before a new game
	fresh     bool        // it is ready for a new game; setting up a position of one ends that
	oneGame   bool        // it plays only one game
	began     bool        // a game has been set up
	answered  string      // the answer to its last search in the game; "" before

	movedAt     time.Time       // time of its last move
	stopTook    time.Duration   // from the stop of the last pondering to the answer; 0 once that is counted
	noPondering bool            // it can't search without limits
	noted       map[string]bool // incidents reported already

	identity identity
	sizes    sizes
}

// firstTime calls do on the first call with a key.
func (p *program) firstTime(key string, do func()) {
	if p.noted == nil {
		p.noted = map[string]bool{}
	}
	if !p.noted[key] && len(p.noted) < maxIncidents {
		p.noted[key] = true
		do()
	}
}

// called notes what a program calls itself.
func (p *program) called(name, build string) {
	if name != "" {
		p.identity = identity{clip(name), clip(build)}
	}
}

// used reports whether it has had the only game that it plays.
func (p *program) used() bool { return p.oneGame && p.began }

// launch starts a process and greets it. When the game is closed meanwhile the
// process is killed.
func (e *Engine) launch(closed context.Context, tap func(Line)) (*program, error) {
	if e.isClosed() {
		return nil, ErrClosed
	}
	proc, err := start(command{path: e.path, args: e.spec.Args, dir: e.spec.Dir, memory: e.spec.Memory, tap: tap})
	if err != nil {
		return nil, err
	}
	p := &program{process: proc, dialect: protocols[e.spec.Dialect].newDialect(e.spec, e.game), times: e.times}
	e.mu.Lock()
	p.identity = e.identity
	e.busy = append(e.busy, p)
	if e.closed {
		p.kill() // Close has not seen it
	}
	e.mu.Unlock()
	keep := context.AfterFunc(closed, p.kill)
	err = p.handshake(p)
	if !keep() && err == nil {
		err = engine.ErrGameClosed
	}
	if err != nil {
		e.discard(p)
		return nil, asStart(err)
	}
	p.inbox.listen(false)
	e.mu.Lock()
	e.identity, e.sizes = p.identity, p.sizes
	e.mu.Unlock()
	return p, nil
}

// asStart returns a fault that came before a program was ready: whatever it was, the
// program could not be started.
func asStart(err error) error {
	if f, ok := errors.AsType[*engine.Fault](err); ok && f.Kind != engine.FaultStart {
		return &engine.Fault{Kind: engine.FaultStart, Text: string(f.Kind) + ": " + f.Text}
	}
	return err
}

// open returns a process that is ready for a new game: an idle one, or a new one. A
// start ends when the game is closed.
func (e *Engine) open(closed context.Context, tap func(Line)) (*program, error) {
	for p := e.reuse(tap); p != nil; p = e.reuse(tap) {
		err := e.renew(closed, p)
		if err == nil {
			return p, nil
		}
		e.discard(p) // it has harmed no game
		if closed.Err() != nil {
			return nil, err
		}
	}
	p, err := e.launch(closed, tap)
	if err != nil {
		return nil, err
	}
	if err := e.renew(closed, p); err != nil {
		e.discard(p)
		return nil, asStart(err)
	}
	return p, nil
}

// reuse returns an idle process that still runs; nil if there is none.
func (e *Engine) reuse(tap func(Line)) *program {
	e.mu.Lock()
	defer e.mu.Unlock()
	for n := len(e.idle); n > 0; n = len(e.idle) {
		p := e.idle[n-1]
		e.idle = e.idle[:n-1]
		if p.fault() == nil { // else it has ended, and harmed no game
			e.busy = append(e.busy, p)
			p.setTap(e.tapOf(p, tap))
			return p
		}
	}
	return nil
}

// renewer is a dialect in which a program can take long to begin a game, such as to clear a
// large hash table.
type renewer interface {
	// renew has the program leave the game before, and waits until it is ready for another.
	renew(p *program) error
}

// stale reports whether newGame has something to do.
func (p *program) stale() bool {
	_, ok := p.dialect.(renewer)
	return ok && !p.fresh
}

// newGame has the program ready for a new game, which it may be already.
func (p *program) newGame() error {
	if !p.stale() {
		return nil
	}
	err := p.dialect.(renewer).renew(p)
	p.fresh = err == nil
	return err
}

// renew readies a process for a game before the clock of that game runs. When the game is
// closed meanwhile the process is killed.
func (e *Engine) renew(closed context.Context, p *program) error {
	if !p.stale() {
		return nil
	}
	select {
	case <-time.After(time.Until(p.movedAt.Add(e.pause()))):
	case <-closed.Done():
		return nil // the next game sees to it
	}
	p.inbox.listen(true)
	defer p.inbox.listen(false)
	keep := context.AfterFunc(closed, p.kill)
	err := p.newGame()
	if !keep() && err == nil {
		err = engine.ErrGameClosed
	}
	return err
}

// keep makes the process of a game that has ended idle, or ends it where it can't
// be used again.
func (e *Engine) keep(p *program) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = without(e.busy, p)
	p.setTap(e.tapOf(p, nil))
	if e.closed {
		return // which has killed it
	}
	if p.used() || len(e.idle) >= maxIdle {
		e.retire(p)
		return
	}
	p.board, p.began, p.answered, p.noted = nil, false, "", nil
	p.claimed("")
	e.idle = append(e.idle, p)
}

// spawn runs f in a goroutine that Close waits for. After Close it does nothing
// and returns false.
func (e *Engine) spawn(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.living.Go(f)
	}
	return !e.closed
}

// retire asks a process to end.
func (e *Engine) retire(p *program) {
	e.living.Go(func() { p.quit(p.quitCommand(), e.times.quit) })
}

// discard kills a process.
func (e *Engine) discard(p *program) {
	p.kill()
	<-p.gone
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy = without(e.busy, p)
}

func without(all []*program, p *program) []*program {
	return slices.DeleteFunc(all, func(o *program) bool { return o == p })
}
