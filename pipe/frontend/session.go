package frontend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/engine/timing"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
)

// handler implements a protocol; see the package documentation. All calls come from
// one goroutine.
type handler interface {
	// schedule says when a line has to be handled. It is called when the line comes
	// in.
	schedule(line string) schedule
	// handle carries out a line.
	handle(line string)
	// report sends the state of the running search.
	report(search.Info)
	// answer sends the result of the search. The error says why it has none:
	// game.ErrOver, game.ErrRules, *engine.Fault, or errNoPosition.
	answer(search.Result, error)
	// sendError reports an error in what was sent.
	sendError(error)
	// finishesAtEOF reports whether searches are finished after the end of the
	// input. Otherwise the running search, and those that queued lines start, are
	// stopped at once and answer.
	finishesAtEOF() bool
}

// schedule is when a line is handled that comes during a search or after queued
// lines.
type schedule int

const (
	inOrder        schedule = iota // after the running search and the lines before it
	startsSearch                   // as inOrder; it may start a search
	startsInfinite                 // as inOrder; it starts a search that only another line ends
	stopsSearch                    // it stops a search: see session.take
	adjustsSearch                  // it belongs to the last search: at once, unless that is queued
	immediately
)

// Limits of the queue. A client that sends more during a search does not read the
// answers.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 16 << 20
)

// errTooMany is reported for a command that was dropped because the queue is full.
var errTooMany = errors.New("too many commands while a search runs: ignored")

// session is a conversation: the part that all protocols share.
type session struct {
	o       Options
	setup   Setup
	out     *output
	handler handler

	pos     game.Position // nil if there is none to search
	pool    *engine.Pool  // nil until the first search with this setup
	engines map[string]engine.Searcher
	warm    map[string]bool // rule sets, without parameters, under which the engines have searched
	game    engine.Game     // nil until the first search of the game

	// What the client has set of opening books. The one in use is in setup.
	ownBook  bool
	bookFile string
	games    uint64 // number of earlier games, added to the seed

	task    *task     // nil when idle
	since   time.Time // when the running search began to ponder; zero: it thinks about a move only
	infos   chan search.Info
	waiting []line
	bytes   int       // in the queue
	readAt  time.Time // when the current line was read
	over    bool
}

// task is work under way, usually a search.
type task struct {
	search  *engine.Search // nil for other work
	done    <-chan struct{}
	stop    func()
	stopped bool   // stop was called
	finish  func() // reports the result, after the end
}

// errNoPosition is the answer to a search after a position was refused.
var errNoPosition = fmt.Errorf("%w: none was set up", game.ErrPosition)

// run runs the conversation.
func (s *session) run(ctx context.Context, in io.Reader) error {
	s.infos = make(chan search.Info)
	lines, ended, done := make(chan line), make(chan error, 1), make(chan struct{})
	defer close(done)
	go readLines(in, lines, ended, done)
	defer s.close()
	var readErr error
	for eof := false; !s.over && s.out.failed() == nil; {
		if len(s.waiting) > 0 && (s.task == nil || s.waiting[0].schedule >= stopsSearch) {
			l := s.waiting[0]
			s.waiting = s.waiting[1:]
			s.bytes -= len(l.text)
			s.handle(l)
			continue
		}
		if eof && s.task == nil {
			break
		}
		var taskDone <-chan struct{}
		if s.task != nil {
			if eof && !s.handler.finishesAtEOF() {
				s.stop()
			}
			taskDone = s.task.done
		}
		select {
		case l := <-lines:
			s.take(l)
		case i := <-s.infos:
			i.Time = s.elapsed(i.Time)
			s.handler.report(i)
		case <-taskDone:
			t := s.task
			s.task = nil
			t.finish()
		case readErr = <-ended:
			eof = true
		case <-ctx.Done():
			return nil
		}
	}
	if err := s.out.failed(); err != nil {
		return fmt.Errorf("writing to the other side: %w", err)
	}
	if readErr != nil {
		return fmt.Errorf("reading from the other side: %w", readErr)
	}
	return nil
}

// take handles a line now, or queues it.
func (s *session) take(l line) {
	if l.schedule = immediately; l.err == nil {
		l.schedule = s.handler.schedule(l.text)
	}
	waits := func(t schedule) bool {
		return slices.ContainsFunc(s.waiting, func(w line) bool { return w.schedule == t })
	}
	now := s.task == nil && len(s.waiting) == 0
	switch l.schedule {
	case immediately:
		now = true
	case adjustsSearch:
		now = now || !waits(startsSearch) && !waits(startsInfinite)
	case stopsSearch:
		// It ends the running search, unless that was stopped before. It also ends
		// a queued search that would never end.
		running := s.task != nil && !s.task.stopped
		now = now || !waits(startsInfinite) && (running || !waits(startsSearch))
		if running && !now {
			s.stop()
		}
	}
	if now {
		s.handle(l)
		return
	}
	if len(s.waiting) >= maxWaiting || s.bytes+len(l.text) > maxWaitingBytes {
		s.handler.sendError(errTooMany)
		return
	}
	s.waiting = append(s.waiting, l)
	s.bytes += len(l.text)
}

func (s *session) handle(l line) {
	s.readAt = l.at
	if l.err != nil {
		s.handler.sendError(l.err)
		return
	}
	s.handler.handle(l.text)
}

// close ends the task without an answer, and closes the engines.
func (s *session) close() {
	s.abandon()
	s.closeEngines()
}

// abandon stops the task and waits for its end.
func (s *session) abandon() {
	if s.task == nil {
		return
	}
	s.task.stop()
	for {
		select {
		case <-s.infos: // or the search would wait for a reader
		case <-s.task.done:
			s.task = nil
			return
		}
	}
}

// closeEngines closes the game, the pool and the engines.
func (s *session) closeEngines() {
	if s.pool == nil {
		return
	}
	s.endGame()
	s.pool.Close()
	for _, e := range s.engines {
		e.Close() // the error does not matter
	}
	s.pool, s.engines, s.warm = nil, nil, nil
}

// endGame closes the game if one is open. No search may run.
func (s *session) endGame() {
	if s.game != nil {
		s.game.Close() // the error does not matter
		s.game = nil
	}
}

// say sends a line.
func (s *session) say(reply fmt.Stringer) { s.out.say(reply.String()) }

func (s *session) sayf(format string, args ...any) { s.out.say(fmt.Sprintf(format, args...)) }

// busy reports whether a task runs.
func (s *session) busy() bool { return s.task != nil }

// quit ends the conversation after the current line. A running task is abandoned.
func (s *session) quit() { s.over = true }

// set sets up a position as catalog.Setup does and plays the moves, in our
// notation. After an error the session has no position. The client is the arbiter:
// if it asks for a move after a repetition, which ends the game by our rules, it
// gets one.
func (s *session) set(gameName, rules, position string, moves []string) error {
	p, err := setUp(gameName, rules, position, moves)
	s.pos = p
	return err
}

// setUp makes the position for set.
func setUp(gameName, rules, position string, moves []string) (game.Position, error) {
	p, err := catalog.Setup(gameName, rules, position)
	if err != nil {
		return nil, err
	}
	game.PlayOn(p)
	for _, text := range moves {
		if _, err := game.PlayText(p, text); err != nil {
			return nil, err
		}
		game.PlayOn(p)
	}
	return p, nil
}

// configure changes the engine's setup, which closes the engines. No search may
// run.
func (s *session) configure(setup Setup) {
	if setup != s.setup {
		s.setup = setup
		s.closeEngines()
	}
}

// limitMemory passes on how many bytes the process may take, after the engines have a setup
// for that.
func (s *session) limitMemory(bytes int64) {
	if s.o.LimitMemory != nil {
		s.o.LimitMemory(bytes)
	}
}

// newGame ends the game: the next search opens another. No search may run.
func (s *session) newGame() {
	s.games++
	s.endGame()
}

// think starts a search of the position for a move. Its clock, if it has one, has
// run since the current line was read. The result, or the error, is passed to
// handler.answer. No search may run.
func (s *session) think(l search.Limits, c *engine.Clock) {
	s.since = time.Time{}
	s.begin(engine.Request{Limits: l, Clock: s.running(c)})
}

// ponder starts a search that gives no answer before stop or hit.
func (s *session) ponder(l search.Limits) {
	s.since = s.readAt
	s.begin(engine.Request{Limits: l, Ponder: true})
}

// fixedClock is the clock of a move with a fixed time.
func fixedClock(d, overhead time.Duration) *engine.Clock {
	return &engine.Clock{Spec: clock.Spec{Kind: clock.PerMove, Period: d}, Overhead: timing.FixedOverhead(d, overhead)}
}

// running returns the clock, started when the current line was read.
func (s *session) running(c *engine.Clock) *engine.Clock {
	if c != nil && c.At.IsZero() {
		at := *c
		at.At = s.readAt
		return &at
	}
	return c
}

func (s *session) begin(r engine.Request) {
	// The search waits until the loop has read its report, or abandon has.
	r.Watch = func(i search.Info) { s.infos <- i }
	run, err := s.ask(r)
	if err != nil {
		s.handler.answer(search.Result{}, err)
		return
	}
	s.task = &task{search: run, done: run.Done(), stop: run.Stop, finish: func() {
		r, err := run.Wait()
		r.Time = s.elapsed(r.Time)
		s.handler.answer(r, err)
	}}
}

// elapsed returns the time of the running search for the client, given that of its clock,
// which starts again at a ponder hit. The nodes count from the beginning, and so does the
// time that clients divide them by.
func (s *session) elapsed(clock time.Duration) time.Duration {
	if s.since.IsZero() {
		return clock
	}
	return time.Since(s.since)
}

// warmUp opens the engine for games like the position's and has it search, which
// allocates its memory. Otherwise the clock of the first move would pay for that.
// It takes moments, in which no line is read. No search may run. In an opening procedure
// it searches the position without it, since the first stones need no search.
func (s *session) warmUp() {
	pos := s.pos
	defer func() { s.pos = pos }()
	s.pos = opening.Plain(pos)
	run, err := s.ask(engine.Request{Limits: search.Limits{Nodes: 1, NoBook: true}})
	if err != nil {
		return // the first search fails too, and says why
	}
	run.Wait()
	s.newGame()
}

// ready warms an engine that has not searched under these rules yet, which may have tables
// of their own. Many clients ask whether it is ready before they set the rules, and again
// after that. A search may run.
func (s *session) ready() {
	if !s.busy() && s.pos != nil && !s.warm[plain(s.pos.Rules())] {
		s.warmUp()
	}
}

// plain returns the name of a rule set without what may change in the course of a game: an
// opening procedure that ends, limits that the client does not observe.
func plain(r *game.Rules) string {
	name, _, _ := strings.Cut(r.Name, "+")
	return name
}

// ask starts a search of the position in the pool.
func (s *session) ask(r engine.Request) (*engine.Search, error) {
	if s.pos == nil {
		return nil, errNoPosition
	}
	if s.pool == nil {
		s.engines, s.warm = map[string]engine.Searcher{}, map[string]bool{}
		s.pool = engine.NewPool(s.setup.Threads)
	}
	if err := s.open(s.pos.Rules()); err != nil {
		return nil, err
	}
	s.warm[plain(s.pos.Rules())] = true
	r.Game, r.Position = s.game, s.pos
	r.Limits.Threads = s.setup.Threads
	return s.pool.Start(r)
}

// open opens a game unless one of the same kind is open.
func (s *session) open(rules *game.Rules) error {
	if s.game != nil && s.game.Options().Rules.Game == rules.Game {
		return nil
	}
	s.endGame()
	e := s.engines[rules.Game]
	if e == nil {
		var err error
		if e, err = s.o.Open(rules.Game, s.setup); err != nil {
			return err
		}
		s.engines[rules.Game] = e
	}
	g, err := e.NewGame(engine.GameOptions{Rules: rules, Seed: s.o.Seed + s.games, OwnTable: true})
	if err == nil {
		s.game = g
	}
	return err
}

// known returns the entry of a position in the game's hash table, see
// engine.ProbeTable. A search may run.
func (s *session) known(p game.Position) (search.TableEntry, bool) {
	return engine.ProbeTable(s.game, p)
}

// stop ends the search, which then answers. Without a search it does nothing.
func (s *session) stop() {
	if s.task != nil {
		s.task.stopped = true
		s.task.stop()
	}
}

// ponderHit tells a pondering search that the expected move was played and its
// clock runs.
func (s *session) ponderHit(c *engine.Clock) {
	if s.task != nil && s.task.search != nil {
		s.task.search.PonderHit(s.running(c))
	}
}

// work runs a task other than a search in a goroutine. It must end soon after stop
// is closed. Finish is called as handler.answer is.
func (s *session) work(do func(stop <-chan struct{}), finish func()) {
	done, stop := make(chan struct{}), make(chan struct{})
	stopped := false
	s.task = &task{done: done, finish: finish, stop: func() {
		if !stopped {
			stopped = true
			close(stop)
		}
	}}
	go func() {
		defer close(done)
		do(stop)
	}()
}
