package frontend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// speaker is one protocol's side of a conversation; the package documentation
// says who calls it when. All calls come from one goroutine.
type speaker interface {
	// turn says when a line is to be obeyed, as it comes in.
	turn(line string) turn
	// obey does what a line says.
	obey(line string)
	// report tells of the search under way.
	report(search.Info)
	// answer gives what the search has found. The error says why it has found
	// nothing: game.ErrOver, game.ErrRules, *engine.Fault, or errNoPosition.
	answer(search.Result, error)
	// complain tells that something is wrong with what was sent.
	complain(error)
	// patient reports whether, when the input ends, searches are to be
	// finished; else the one that runs, and those that lines which wait start,
	// are stopped at once and say what they have.
	patient() bool
}

// turn is when a line is obeyed that comes while a search runs, or behind lines
// that wait.
type turn int

const (
	inTurn  turn = iota // when no search runs and the lines before it are obeyed
	begins              // likewise, and it may begin a search
	endless             // likewise, one that only another line ends
	ends                // it ends a search: see session.take
	steers              // it says more of the search that was asked for last: at once, unless that is to begin yet
	atOnce              // now
)

// What may wait. Who sends more while a search runs has stopped listening.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 16 << 20
)

// errCrowd is the complaint about a command that was dropped because too many wait.
var errCrowd = errors.New("too many commands while a search runs: ignored")

// session is a conversation: the core that every protocol shares.
type session struct {
	o     Options
	setup Setup
	out   *output
	speak speaker

	pos     game.Position // nil: there is none to think about
	pool    *engine.Pool  // nil until the first search with this setup
	engines map[string]engine.Searcher
	game    engine.Game // nil until the first search of the game

	// What the client has set of opening books. The one in use is in setup.
	ownBook  bool
	bookFile string
	games    uint64 // number of earlier games, added to the seed

	task    *task // what runs, nil when idle
	infos   chan search.Info
	waiting []line
	bytes   int       // of the lines that wait
	readAt  time.Time // when the line that is being obeyed was read
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

// run is the conversation.
func (s *session) run(ctx context.Context, in io.Reader) error {
	s.infos = make(chan search.Info)
	lines, ended, done := make(chan line), make(chan error, 1), make(chan struct{})
	defer close(done)
	go readLines(in, lines, ended, done)
	defer s.close()
	var readErr error
	for eof := false; !s.over && s.out.failed() == nil; {
		if len(s.waiting) > 0 && (s.task == nil || s.waiting[0].turn >= ends) {
			l := s.waiting[0]
			s.waiting = s.waiting[1:]
			s.bytes -= len(l.text)
			s.obey(l)
			continue
		}
		if eof && s.task == nil {
			break
		}
		var taskDone <-chan struct{}
		if s.task != nil {
			if eof && !s.speak.patient() {
				s.stop()
			}
			taskDone = s.task.done
		}
		select {
		case l := <-lines:
			s.take(l)
		case i := <-s.infos:
			s.speak.report(i)
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

// take obeys a line now, or queues it.
func (s *session) take(l line) {
	if l.turn = atOnce; l.err == nil {
		l.turn = s.speak.turn(l.text)
	}
	waits := func(t turn) bool { return slices.ContainsFunc(s.waiting, func(w line) bool { return w.turn == t }) }
	now := s.task == nil && len(s.waiting) == 0
	switch l.turn {
	case atOnce:
		now = true
	case steers:
		now = now || !waits(begins) && !waits(endless)
	case ends:
		// It ends the running search, unless that was stopped before. It also ends
		// a queued search that would never end.
		running := s.task != nil && !s.task.stopped
		now = now || !waits(endless) && (running || !waits(begins))
		if running && !now {
			s.stop()
		}
	}
	if now {
		s.obey(l)
		return
	}
	if len(s.waiting) >= maxWaiting || s.bytes+len(l.text) > maxWaitingBytes {
		s.speak.complain(errCrowd)
		return
	}
	s.waiting = append(s.waiting, l)
	s.bytes += len(l.text)
}

func (s *session) obey(l line) {
	s.readAt = l.at
	if l.err != nil {
		s.speak.complain(l.err)
		return
	}
	s.speak.obey(l.text)
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
		e.Close() // it has nothing to lose
	}
	s.pool, s.engines = nil, nil
}

// endGame closes the game if one is open. No search may run.
func (s *session) endGame() {
	if s.game != nil {
		s.game.Close() // it has nothing to lose
		s.game = nil
	}
}

// say says a line.
func (s *session) say(reply fmt.Stringer) { s.out.say(reply.String()) }

func (s *session) sayf(format string, args ...any) { s.out.say(fmt.Sprintf(format, args...)) }

// thinking reports whether work is under way.
func (s *session) thinking() bool { return s.task != nil }

// quit ends the conversation after the current line. A running task is abandoned.
func (s *session) quit() { s.over = true }

// set sets up a position as catalog.Setup does and plays the moves, in our
// texts. An error leaves the session without a position. What our rules call
// the end of the game need not be one: the arbiter is the other side, and when
// it wants a move after a repetition, it gets one.
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

// newGame ends the game: the next search opens another. No search may run.
func (s *session) newGame() {
	s.games++
	s.endGame()
}

// think starts a search of the position for a move; its clock, if it has one,
// has run since the line that is being obeyed was read. What it finds, or why
// it can't begin, comes by speaker.answer. Not while a search runs.
func (s *session) think(l search.Limits, c *engine.Clock) {
	s.begin(engine.Request{Limits: l, Clock: s.running(c)})
}

// ponder starts a search that gives no answer before stop or hit.
func (s *session) ponder(l search.Limits) {
	s.begin(engine.Request{Limits: l, Ponder: true})
}

// running is the clock as it stood when the line was read.
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
		s.speak.answer(search.Result{}, err)
		return
	}
	s.task = &task{search: run, done: run.Done(), stop: run.Stop, finish: func() {
		s.speak.answer(run.Wait())
	}}
}

// warm opens the engine for games like the position's and has it search, which
// allocates its memory. Otherwise the clock of the first move would pay for that.
// It takes moments, in which no line is read. No search may run.
func (s *session) warm() {
	run, err := s.ask(engine.Request{Limits: search.Limits{Nodes: 1, NoBook: true}})
	if err != nil {
		return // the first search fails too, and says why
	}
	run.Wait()
	s.newGame()
}

// ready warms an engine that has not searched yet. A search may run.
func (s *session) ready() {
	if !s.thinking() && s.pos != nil && s.engines[s.pos.Rules().Game] == nil {
		s.warm()
	}
}

// ask starts a search of the position in the pool.
func (s *session) ask(r engine.Request) (*engine.Search, error) {
	if s.pos == nil {
		return nil, errNoPosition
	}
	if s.pool == nil {
		s.engines = map[string]engine.Searcher{}
		s.pool = engine.NewPool(s.setup.Threads)
	}
	if err := s.open(s.pos.Rules()); err != nil {
		return nil, err
	}
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

// hit tells a pondering search that the expected move was played: its clock
// runs from now on.
func (s *session) hit(c *engine.Clock) {
	if s.task != nil && s.task.search != nil {
		s.task.search.PonderHit(s.running(c))
	}
}

// work starts other work than a search, in a goroutine of its own. It must
// end soon after stop is closed. Finish is called like speaker.answer.
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
