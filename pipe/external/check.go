package external

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	Good Verdict = "ok"
	Warn Verdict = "warn"  // it can play, but does something odd
	Bad  Verdict = "FAULT" // it would lose games
	Skip Verdict = "skip"  // not checked: its protocol does not support this, or an earlier fault prevents it
)

// maxExamples is how many lines a finding quotes.
const maxExamples = 3

// Finding is the result of one check of an engine.
type Finding struct {
	Check   string // "start", "moves", "time", "clock", "stop", "output", "memory", "children", "quit"
	Verdict Verdict
	Text    string // what was seen; for a fault, what was sent and what came back
}

// Check tests whether a program can play a game, and reports each finding as it
// comes. It takes a few seconds. The error is that of Open, or the context's.
func Check(ctx context.Context, s Spec, gameName string, report func(Finding)) error {
	return check(ctx, s, gameName, defaultTimes, report)
}

func check(ctx context.Context, s Spec, gameName string, t times, report func(Finding)) error {
	e, err := Open(s, gameName)
	if err != nil {
		return err
	}
	defer e.Close()
	e.times = t
	start, err := catalog.Setup(gameName, s.Dialect.Rules(gameName), "")
	if err != nil {
		return err
	}
	x := &checker{engine: e, start: start, waits: processorWaits}
	if err := x.newGame(); err != nil {
		return err
	}
	// Closing the engine ends every wait of a check.
	defer context.AfterFunc(ctx, func() { e.Close() })()
	for _, check := range []func() Finding{x.starts, x.moves, x.time, x.clock, x.stop, x.output, x.memory, x.children, x.quit} {
		f := check()
		if err := ctx.Err(); err != nil {
			return err // the finding was caused by closing the engine
		}
		report(f)
		if f.Check == "start" && f.Verdict == Bad {
			return nil // nothing else can be checked
		}
	}
	return nil
}

// checker is a check under way.
type checker struct {
	engine *Engine
	game   *externalGame
	start  game.Position
	waits  func(pid int) map[string]time.Duration // processorWaits

	seen     []engine.FaultKind
	lastMove string // the last answer in our notation, legal or not

	forcedStop bool          // the last answer came only after the stop command
	waited     time.Duration // how long the last search waited for a processor

	mu      sync.Mutex
	unknown []string // examples of lines outside of the protocol
	count   int      // of all of them

	incidents []string // of searches for a move
}

// newGame opens the game that the next searches are of.
func (x *checker) newGame() error {
	if x.game != nil {
		x.game.Close()
	}
	g, err := x.engine.NewGame(engine.GameOptions{})
	if err == nil {
		x.game = g.(*externalGame)
	}
	return err
}

// program returns the process that is checked, ready for a search.
func (x *checker) program() (*program, error) {
	if err := x.game.Ready(); err != nil {
		return nil, err
	}
	p := x.game.current().program
	log := x.game.log // lines come also while the next game is opened
	p.setTap(func(l Line) { x.observe(p, log, l) })
	return p, nil
}

// observe records a line if it does not belong to the protocol. The log, which may be nil, gets
// all lines.
func (x *checker) observe(p *program, log *logFile, l Line) {
	if log != nil {
		log.add(l)
	}
	line := l.Text
	if l.Direction != Received || line == "" || !p.unknownLine(line) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.count++; len(x.unknown) < maxExamples {
		x.unknown = append(x.unknown, fmt.Sprintf("%q", clip(line)))
	}
}

func (x *checker) starts() Finding {
	began := time.Now()
	p, err := x.program()
	if err == nil {
		// Lines before this are not observed; odd ones are expected again when it
		// searches.
		return Finding{"start", Good, fmt.Sprintf("ready after %v, process %d", time.Since(began).Round(time.Millisecond), p.cmd.Process.Pid)}
	}
	text := err.Error()
	if fault, ok := errors.AsType[*engine.Fault](err); ok {
		text = fault.Text
		if strings.HasPrefix(text, "no ") && strings.Contains(text, "nothing received") && x.unflushed() {
			text = "nothing comes before it ends: flush the output after every line (" + text + ")"
		}
	}
	return Finding{"start", Bad, text}
}

// flushTimeout is how long a program may be silent before it is told to end.
const flushTimeout = time.Second

// unflushed reports whether a silent program writes something when it ends.
func (x *checker) unflushed() bool {
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

// untimedMove is the limit of a move for a protocol that sends no times.
const untimedMove = time.Minute

// short returns the limits of a short search.
func (x *checker) short() search.Limits {
	if protocols[x.engine.spec.Dialect].untimed {
		return search.Limits{Hard: untimedMove}
	}
	return search.Limits{Hard: moveTime}
}

// search searches a position with the program when it is ready. The start position
// is that of a new game.
func (x *checker) search(p game.Position, l search.Limits) search.Result {
	x.lastMove, x.forcedStop, x.waited = "", false, 0
	if p.Ply() == 0 {
		if err := x.newGame(); err != nil {
			return search.Result{Err: err}
		}
	}
	program, err := x.program()
	if err != nil {
		return search.Result{Err: err}
	}
	pid := program.cmd.Process.Pid
	before := x.waits(pid)
	run, err := x.game.Search(p, l, nil)
	if err != nil {
		return search.Result{Err: err}
	}
	r := run.Wait()
	for thread, waited := range x.waits(pid) {
		x.waited = max(x.waited, waited-before[thread])
	}
	x.incidents = append(x.incidents, r.Incidents...)
	if run, ok := run.(*running); ok && run.answer != nil {
		x.lastMove, x.forcedStop = run.answer.move, run.forcedStop
	}
	return r
}

// failed returns the finding of a check that ended by a fault. A fault of a kind seen
// before is not counted again.
func (x *checker) failed(check string, err error) Finding {
	fault, ok := errors.AsType[*engine.Fault](err)
	if !ok {
		return Finding{check, Bad, err.Error()}
	}
	if slices.Contains(x.seen, fault.Kind) {
		return Finding{check, Skip, "ended by the same fault as above: " + string(fault.Kind)}
	}
	x.seen = append(x.seen, fault.Kind)
	return Finding{check, Bad, string(fault.Kind) + ": " + fault.Text}
}

// moveTime is the time given for a move.
const moveTime = 200 * time.Millisecond

// opening is the number of moves that a program is asked for.
const opening = 6

func (x *checker) moves() Finding {
	p := x.start.Clone()
	var line []string
	plies := opening
	if protocols[x.engine.spec.Dialect].untimed {
		plies = 1 // it may take as long as its own clock allows
	}
	for range plies {
		r := x.search(p, x.short())
		if r.Err != nil {
			f := x.failed("moves", r.Err)
			f.Text += x.hint(p, r.Err)
			return f
		}
		line = append(line, p.Format(r.Move))
		if p.Play(r.Move) != nil || p.Outcome().Over() || p.Play(p.Legal(nil)[0]) != nil || p.Outcome().Over() {
			break
		}
	}
	all := fmt.Sprintf("%d legal moves", len(line))
	if len(line) == 1 {
		all = "a legal move"
	}
	return Finding{"moves", Good, all + ": " + strings.Join(line, " ")}
}

func (x *checker) time() Finding {
	return x.timely("time", search.Limits{Hard: moveTime}, moveTime+moveTime/4, 2*moveTime, fmt.Sprintf("a move of %v", moveTime))
}

// lowClock is the time left on a short clock. With the rest of the game to come, a
// move must not take nearly all of it.
const lowClock = time.Second

func (x *checker) clock() Finding {
	spec := clock.Spec{Kind: clock.SuddenDeath, Initial: time.Minute}
	state := clock.State{Left: lowClock}
	l := search.Limits{Clock: &search.Clock{Spec: spec, Mine: state, Theirs: state}}
	return x.timely("clock", l, lowClock/2, lowClock*9/10, fmt.Sprintf("a move with %v left of %v", lowClock, spec.Initial))
}

// longWait is how long a program has to wait for a processor before that may be why it did
// not answer until it was told to stop.
const longWait = 50 * time.Millisecond

// tries is how often a late answer is tried again, for the machine may have been
// busy.
const tries = 3

// timely checks the time of an answer: up to good is fine, more than bad is a fault,
// unless that is the time for which it had no processor.
// An answer that comes only after the stop command is a fault, too, with the same
// exception: then the time was kept by us.
func (x *checker) timely(check string, l search.Limits, good, bad time.Duration, what string) Finding {
	if d := x.engine.spec.Dialect; protocols[d].untimed {
		return Finding{check, Skip, string(d) + " sends no times"}
	}
	best, waited, forcedStop := time.Duration(math.MaxInt64), time.Duration(0), true
	pos := x.unusual(0)
	for range tries {
		if err := x.newGame(); err != nil {
			return x.failed(check, err)
		}
		r := x.search(pos, l)
		if r.Err != nil {
			return x.failed(check, r.Err)
		}
		forcedStop = forcedStop && x.forcedStop
		if r.Time < best {
			best, waited = r.Time, x.waited
		}
		if best <= good && !forcedStop || best-waited > 2*bad {
			break
		}
	}
	text := fmt.Sprintf("%s took %v", what, best.Round(time.Millisecond))
	switch {
	case best > bad && best-waited <= bad, forcedStop && waited > longWait && best-waited <= good:
		return Finding{check, Skip, fmt.Sprintf("%s, of which it waited %v for a processor: this machine is too busy to tell", text, waited.Round(time.Millisecond))}
	case best > 3*bad/2:
		return Finding{check, Bad, text + ": it ignores its clock"}
	case forcedStop:
		return Finding{check, Bad, text + ": it searches until it is told to stop"}
	case best > bad:
		return Finding{check, Bad, text + ": too long"}
	case best > good:
		return Finding{check, Warn, text}
	}
	return Finding{check, Good, text}
}

func (x *checker) stop() Finding {
	if !protocols[x.engine.spec.Dialect].ponders {
		return Finding{"stop", Skip, string(x.engine.spec.Dialect) + " has no search without limits"}
	}
	f, tested := x.stopIn(x.unusual(0))
	if !tested && !x.game.current().program.noPondering {
		f, _ = x.stopIn(x.unusual(1)) // it may have seen an early end there
	}
	return f
}

// slowStop is how long after the stop command an answer may come. At a ponder hit it
// comes out of the time for the move.
const slowStop = 500 * time.Millisecond

// stopIn stops a search without limits in a position. Tested is false if the program
// ended the search before.
func (x *checker) stopIn(pos game.Position) (f Finding, tested bool) {
	if err := x.newGame(); err != nil {
		return Finding{"stop", Bad, err.Error()}, true
	}
	p, err := x.program()
	if err != nil {
		return x.failed("stop", err), true
	}
	search, err := x.game.Search(pos, search.Limits{Wait: true}, nil)
	if err != nil {
		return Finding{"stop", Bad, err.Error()}, true
	}
	run := search.(*running)
	select {
	case <-run.begun:
		time.Sleep(moveTime)
	case <-run.Done():
	}
	run.Stop()
	result := run.Wait()
	took := time.Since(run.stopSent).Round(time.Millisecond)
	odd := strings.Join(x.game.incidents.take(), "; ")
	switch fault := p.fault(); {
	case result.Err != nil:
		return x.failed("stop", result.Err), true
	case fault != nil:
		return x.failed("stop", fault), true
	case run.stopSent.IsZero():
		return Finding{"stop", Warn, "not tested: " + odd}, false
	}
	text := fmt.Sprintf("answered %v after stop", took)
	switch {
	case odd != "":
		return Finding{"stop", Warn, text + "; " + odd}, true
	case took > slowStop:
		return Finding{"stop", Warn, text + ": that time is missing at every ponder hit"}, true
	}
	return Finding{"stop", Good, text}, true
}

// unusualPlies is the length of a random opening that no book has.
const unusualPlies = 8

// unusual returns a position for which a program has to search: one after some random
// moves, or the start position if its protocol plays whole games alone.
func (x *checker) unusual(seed uint64) game.Position {
	if !x.engine.spec.Dialect.SetsUp() {
		return x.start
	}
	for rng := rand.New(rand.NewPCG(seed, 0)); ; {
		p := x.start.Clone()
		for p.Ply() < unusualPlies {
			moves := p.Legal(nil)
			if p.Play(moves[rng.IntN(len(moves))]) != nil || p.Outcome().Over() {
				break
			}
		}
		if p.Ply() == unusualPlies && len(p.Legal(nil)) > 1 {
			return p
		}
	}
}

func (x *checker) output() Finding {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.count > 0 {
		return Finding{"output", Warn, fmt.Sprintf("%d lines that are not part of the protocol, such as %s: debug output belongs on stderr", x.count, strings.Join(x.unknown, ", "))}
	}
	if n := len(x.incidents); n > 0 {
		return Finding{"output", Warn, strings.Join(x.incidents[:min(n, maxExamples)], "; ")}
	}
	return Finding{"output", Good, "only lines of the protocol"}
}

func (x *checker) memory() Finding {
	if !canMeasure {
		return Finding{"memory", Skip, "can be measured on Linux only"}
	}
	p, err := x.program()
	if err != nil {
		return x.failed("memory", err)
	}
	used, limit := treeMemory(p.cmd.Process.Pid, p.mark), x.engine.spec.Memory
	text := fmt.Sprintf("%d MiB resident", used>>20)
	if limit > 0 {
		text += fmt.Sprintf(", limit %d", limit>>20)
	}
	if limit > 0 && used > limit {
		return Finding{"memory", Bad, text}
	}
	return Finding{"memory", Good, text}
}

func (x *checker) children() Finding {
	// A search may start processes.
	if r := x.search(x.start, x.short()); r.Err != nil {
		return x.failed("children", r.Err)
	}
	p, err := x.program()
	if err != nil {
		return x.failed("children", err)
	}
	running, zombies := countDescendants(p.cmd.Process.Pid, p.mark)
	switch {
	case zombies > 0:
		return Finding{"children", Bad, fmt.Sprintf("%d zombies: it does not wait for its children", zombies)}
	case running > 0:
		return Finding{"children", Warn, fmt.Sprintf("processes that it has started: %d", running)}
	}
	return Finding{"children", Good, "none"}
}

func (x *checker) quit() Finding {
	if d := x.engine.spec.Dialect; protocols[d].oneMove {
		return Finding{"quit", Skip, "the processes of " + string(d) + " bots are ended after each move"}
	}
	p, err := x.program()
	if err != nil {
		return x.failed("quit", err)
	}
	within := x.engine.times.quit
	ended := p.quit(p.quitCommand(), within)
	switch {
	case p.left > 0:
		return Finding{"quit", Bad, fmt.Sprintf("processes left after its end: %d", p.left)}
	case !ended:
		return Finding{"quit", Warn, fmt.Sprintf("still running %v after %q, and killed", within, p.quitCommand())}
	}
	return Finding{"quit", Good, fmt.Sprintf("ended after %q", p.quitCommand())}
}
