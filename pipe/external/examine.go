package external

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/pipe/gomocup"
	"sparring/pipe/ucci"
	"sparring/pipe/uci"
)

// maxExamples is how many odd lines of a program are kept.
const maxExamples = 3

// Examination is a program seen from close by: it plays as an Engine's games do, and
// shows besides how its answers came. It is for one goroutine.
type Examination struct {
	engine   *Engine
	game     *externalGame
	previous *program // of the game before, until it is known whether it was used again

	mu      sync.Mutex
	counts  bool // lines are judged: a test of a command that the program may lack is not under way
	silent  bool // it has answered, and is asked nothing
	unknown []string
	count   int
	odd     []string
}

// Answer is the result of a search, and how it came.
type Answer struct {
	search.Result
	Text       string        // the move in our notation, legal or not; "" if there is none
	ForcedStop bool          // it came only after the program was told to stop
	Waited     time.Duration // how long a thread of the program was ready to run without a processor, at most
}

// Stopped is how a search without limits ended.
type Stopped struct {
	Sent bool          // it was told to stop; otherwise it had ended by itself
	Took time.Duration // from there to the answer
	Odd  []string      // what it did besides
	Err  error         // the program's fault
}

// Patience is how long a program may take to do what takes no thinking.
type Patience struct {
	Start time.Duration // to start and say that it is ready
	Grace time.Duration // to answer after it was told to, or was bound to
	Quit  time.Duration // to end when asked to
}

// Examine begins the examination of a program, in its first game. The error is that of
// Open. Close it.
func Examine(s Spec, gameName string, w Patience) (*Examination, error) {
	e, err := Open(s, gameName)
	if err != nil {
		return nil, err
	}
	e.times.start, e.times.grace, e.times.quit = w.Start, w.Grace, w.Quit
	x := &Examination{engine: e, counts: true}
	e.observe = func(p *program, log func(Line)) func(Line) { return func(l Line) { x.observe(p, log, l) } }
	if err := x.NewGame(); err != nil {
		e.Close()
		return nil, err
	}
	return x, nil
}

// Close ends the program, and all waits.
func (x *Examination) Close() error { return x.engine.Close() }

// NewGame opens the game that the next searches are of.
func (x *Examination) NewGame() error {
	if x.game != nil {
		if p := x.program(); p != nil && p.fault() == nil {
			x.previous = p
		}
		x.game.Close()
	}
	g, err := x.engine.NewGame(engine.GameOptions{})
	if err == nil {
		x.game = g.(*externalGame)
	}
	return err
}

// program returns the process of the game; nil if there is none yet.
func (x *Examination) program() *program {
	s := x.game.current()
	if s == nil || !isClosed(s.done) {
		return nil
	}
	return s.program
}

// Ready waits until the program is ready for a search and returns its process id.
func (x *Examination) Ready() (pid int, err error) {
	p, err := x.ready()
	if err != nil {
		return 0, err
	}
	return p.cmd.Process.Pid, nil
}

func (x *Examination) ready() (*program, error) {
	if err := x.game.Ready(); err != nil {
		return nil, err
	}
	p := x.program()
	if p == nil {
		return nil, engine.ErrGameClosed
	}
	x.noteEnd(p)
	p.setTap(x.engine.tapOf(p, x.game.tap())) // that of a new process
	return p, nil
}

// noteEnd notes that the process of the game before has ended by itself, after that game.
func (x *Examination) noteEnd(now *program) {
	was := x.previous
	x.previous = nil
	if was == nil || was == now || was.used() || protocols[x.engine.spec.Dialect].oneMove || !isClosed(was.gone) {
		return
	}
	was.mu.Lock()
	why := was.why
	was.mu.Unlock()
	if why == nil {
		x.note("the program ended between two games (%s)", was.fault().Text)
	}
}

// note keeps something odd, the first of each kind.
func (x *Examination) note(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.odd) < maxExamples {
		x.odd = append(x.odd, fmt.Sprintf(format, args...))
	}
}

// observe records a line that does not belong to the protocol, or an answer to nothing.
// The log, which may be nil, gets all lines.
func (x *Examination) observe(p *program, log func(Line), l Line) {
	if log != nil {
		log(l)
	}
	if l.Direction != Received || l.Text == "" {
		return
	}
	x.mu.Lock()
	counts, silent := x.counts, x.silent
	x.mu.Unlock()
	switch {
	case !counts:
	case silent && x.engine.spec.Dialect.isMove(l.Text):
		x.note("the program wrote %q when it was asked nothing: before the next search, or in the game before", clip(l.Text))
	case p.unknownLine(l.Text):
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.count++; len(x.unknown) < maxExamples {
			x.unknown = append(x.unknown, fmt.Sprintf("%q", clip(l.Text)))
		}
	}
}

// isMove reports whether a line is the end of a search. Of protocols in which programs may
// say anything at any time it is not known.
func (d Dialect) isMove(line string) bool {
	switch d {
	case UCI:
		r, _ := uci.ParseReply(line)
		_, is := r.(uci.BestMove)
		return is
	case UCCI:
		r, _ := ucci.ParseReply(line)
		_, is := r.(ucci.BestMove)
		return is
	case Gomocup:
		a, _ := gomocup.ParseAnswer(line)
		return a.Kind == gomocup.Points
	}
	return false
}

// setSilent says whether the program has nothing to answer.
func (x *Examination) setSilent(on bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.silent = on
}

// Unknown returns how many lines were not of the protocol, with examples.
func (x *Examination) Unknown() (count int, examples []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.count, x.unknown
}

// Odd lists what the program did between its searches that cost it nothing so far.
func (x *Examination) Odd() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.odd
}

// Search searches a position with the program when it is ready. The first position of
// a game needs NewGame before. A fault is in Result.Err.
func (x *Examination) Search(p game.Position, l search.Limits) (a Answer) {
	program, err := x.ready()
	if err != nil {
		a.Err = err
		return a
	}
	pid := program.cmd.Process.Pid
	before := processorWaits(pid)
	x.setSilent(false)
	run, err := x.game.Search(p, l, nil)
	if err != nil {
		a.Err = err
		return a
	}
	a.Result = run.Wait()
	for thread, waited := range processorWaits(pid) {
		a.Waited = max(a.Waited, waited-before[thread])
	}
	if run, ok := run.(*running); ok {
		if a.ForcedStop = run.forcedStop; run.answer != nil {
			a.Text = run.answer.move
		}
	}
	x.setSilent(a.Err == nil && !a.ForcedStop) // a stop may cross an answer, and get one of its own
	return a
}

// StopAfter stops a search without limits when it has gone on for a while.
func (x *Examination) StopAfter(pos game.Position, while time.Duration) (s Stopped) {
	p, err := x.ready()
	if err != nil {
		return Stopped{Sent: true, Err: err}
	}
	x.setSilent(false)
	search, err := x.game.Search(pos, search.Limits{Wait: true}, nil)
	if err != nil {
		return Stopped{Sent: true, Err: err}
	}
	run := search.(*running)
	select {
	case <-run.begun:
		time.Sleep(while)
	case <-run.Done():
	}
	run.Stop()
	result := run.Wait()
	s = Stopped{Sent: !run.stopSent.IsZero(), Took: time.Since(run.stopSent), Odd: x.game.incidents.take(), Err: result.Err}
	if fault := p.fault(); s.Err == nil && fault != nil {
		s.Err = fault
	}
	return s
}

// Ponders reports whether the program can still search without limits.
func (x *Examination) Ponders() bool {
	p := x.program()
	return x.engine.spec.Dialect.Ponders() && (p == nil || !p.noPondering)
}

// SetsUp reports whether the program can be given any position. It is known when the
// program is ready.
func (x *Examination) SetsUp() bool {
	if p := x.program(); p != nil {
		if t, ok := p.dialect.(*xboardDialect); ok {
			return t.features.SetBoard
		}
	}
	return x.engine.spec.Dialect.SetsUp() && !x.engine.spec.Dialect.UsualStart()
}

// flushTimeout is how long a program may be silent before it is told to end.
const flushTimeout = time.Second

// Unflushed reports whether a silent program writes something when it ends.
func (x *Examination) Unflushed() bool {
	e := x.engine
	p, err := start(command{path: e.path, args: e.spec.Args, dir: e.spec.Dir})
	if err != nil {
		return false
	}
	t := protocols[e.spec.Dialect]
	if p.send(t.hello) != nil {
		return false
	}
	time.Sleep(flushTimeout)
	silent := p.inbox.latest() == ""
	p.quit(t.newDialect(e.spec, e.game).quitCommand(), flushTimeout)
	return silent && p.inbox.latest() != ""
}

// ErrNotMeasured is returned where other processes can't be seen: on systems other than Linux.
var ErrNotMeasured = errors.New("can be measured on Linux only")

// Memory returns the resident memory of the program and its children, in bytes.
func (x *Examination) Memory() (int64, error) {
	if !canMeasure {
		return 0, ErrNotMeasured
	}
	p, err := x.ready()
	if err != nil {
		return 0, err
	}
	return treeMemory(p.cmd.Process.Pid, p.mark), nil
}

// Children counts the processes that the program has started, and those of them that it
// has not waited for.
func (x *Examination) Children() (running, zombies int, err error) {
	p, err := x.ready()
	if err != nil {
		return 0, 0, err
	}
	running, zombies = countDescendants(p.cmd.Process.Pid, p.mark)
	return running, zombies, nil
}

// Quit is how a program has ended that was told to.
type Quit struct {
	Command string        // what it was told
	Within  time.Duration // how long it had
	Ended   bool          // it ended, and was not killed
	Left    int           // processes that it left behind
}

// Quit tells the program to end.
func (x *Examination) Quit() (Quit, error) {
	p, err := x.ready()
	if err != nil {
		return Quit{}, err
	}
	q := Quit{Command: p.quitCommand(), Within: x.engine.times.quit}
	q.Ended = p.quit(q.Command, q.Within)
	q.Left = p.left
	return q, nil
}

// divider is a dialect whose programs may count the moves of a position.
type divider interface {
	// perftCommand returns the line that makes a program count the leaves of the move tree.
	perftCommand(depth int) string
	// oursOf converts a move into our notation.
	oursOf(move string) string
}

func (t *uciDialect) perftCommand(depth int) string { return uci.Go{Perft: depth}.String() }
func (t *uciDialect) oursOf(move string) string     { return t.form.Ours(move) }

func (t *ucciDialect) perftCommand(depth int) string { return uci.Go{Perft: depth}.String() } // as Fairy-Stockfish has it
func (t *ucciDialect) oursOf(move string) string     { return ourText(move) }

// Counts reports whether programs of the protocol may have a command that counts moves.
func (d Dialect) Counts() bool { return d == UCI || d == UCCI }

// Perft has the program count the leaves of the move tree, for each move of the position,
// in our notation. Ok is false if it has no such command, or takes longer than within.
func (x *Examination) Perft(pos game.Position, depth int, within time.Duration) (leaves map[string]uint64, ok bool, err error) {
	if err := x.NewGame(); err != nil {
		return nil, false, err
	}
	p, err := x.ready()
	if err != nil {
		return nil, false, err
	}
	t, able := p.dialect.(divider)
	if !able {
		return nil, false, nil
	}
	x.setCounts(false)
	defer x.setCounts(true)
	x.game.turn <- struct{}{}
	defer func() { <-x.game.turn }()
	p.inbox.listen(true)
	defer p.inbox.listen(false)
	p.began = true
	if err = p.setUp(p, newQuery(pos)); err == nil {
		err = p.send(t.perftCommand(depth))
	}
	if err != nil {
		return nil, false, err
	}
	leaves = map[string]uint64{}
	_, err = p.listen(within, func(line string) bool {
		var end bool
		if end, ok = readDivide(line, t.oursOf, leaves); end {
			return true
		}
		return x.engine.spec.Dialect.isMove(line) // it took this for a search
	})
	if ok && err == nil {
		return leaves, true, nil
	}
	// Whatever it does now, it is not part of the game: it may search, or know nothing of it.
	x.game.forget(p)
	x.engine.discard(p)
	return nil, false, nil
}

// setCounts says whether lines are judged.
func (x *Examination) setCounts(on bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.counts = on
}

// readDivide reads a line of a count: "h2e2: 44", or the total at its end.
func readDivide(line string, ours func(string) string, leaves map[string]uint64) (end, ok bool) {
	head, tail, found := strings.Cut(strings.TrimSpace(line), ":")
	if !found {
		return false, false
	}
	if strings.HasPrefix(strings.ToLower(head), "nodes") {
		return true, true
	}
	var n uint64
	if _, err := fmt.Sscan(tail, &n); err == nil && !strings.ContainsAny(head, " \t") {
		leaves[ours(head)] = n
	}
	return false, false
}
