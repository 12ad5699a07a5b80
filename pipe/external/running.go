package external

import (
	"errors"
	"slices"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/pipe/uci"
)

// running is a search under way. Its goroutine alone talks to the process.
type running struct {
	game    *externalGame
	engine  *Engine
	query   *query
	report  func(search.Info)
	changed chan struct{} // has one when PonderHit, Pause or Resume was called
	stop    chan struct{} // closed by Stop
	done    chan struct{} // closed when result is set
	result  search.Result

	mu      sync.Mutex
	limits  search.Limits
	hit     bool
	stopped bool
	paused  bool

	// The goroutine's own.
	answer     *answer       // as it came, once there is one
	lines      []search.Info // the last state of each line, best first
	asked      time.Time     // when it was first asked; zero is not yet
	due        time.Time     // when the answer is due; zero is never
	forcedStop bool          // no answer had come when it was due, and it was told to stop
}

// PonderHit implements engine.Running.
func (r *running) PonderHit(l search.Limits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.limits.Wait || r.stopped {
		return
	}
	l.MultiPV, l.Moves, l.Wait = r.limits.MultiPV, r.limits.Moves, false
	if l.From.IsZero() {
		l.From = time.Now()
	}
	r.limits, r.hit = r.engine.within(l), true
	r.signal()
}

// Stop implements engine.Running.
func (r *running) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.stopped = true
		close(r.stop)
	}
}

// Pause implements engine.Running: a process that thinks is suspended.
func (r *running) Pause() { r.pause(true) }

// Resume implements engine.Running.
func (r *running) Resume() { r.pause(false) }

func (r *running) pause(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paused = on
	r.signal()
}

func (r *running) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// Done implements engine.Running.
func (r *running) Done() <-chan struct{} { return r.done }

// Wait implements engine.Running.
func (r *running) Wait() search.Result {
	<-r.done
	return r.result
}

// state are what the search has been told from outside.
type state struct {
	limits               search.Limits
	hit, stopped, paused bool
}

func (r *running) state() state {
	r.mu.Lock()
	defer r.mu.Unlock()
	return state{r.limits, r.hit, r.stopped, r.paused}
}

// run is the search's goroutine.
func (r *running) run() {
	defer close(r.done)
	if o := r.state(); o.limits.Wait && !r.capabilities().ponders && !r.waitForHit() {
		return // stopped: there is no move
	}
	select {
	case r.game.turn <- struct{}{}: // the search before has ended
		defer func() { <-r.game.turn }()
	case <-r.stop:
		return
	}
	for r.attempt() && r.waitForHit() {
		// The program failed while pondering. Another process has to find the move.
	}
}

// attempt searches with the game's process. It reports whether the process has
// failed before a move was due, so that another one can go on.
func (r *running) attempt() (again bool) {
	p, err := r.game.acquire(r.stop)
	if p == nil || err != nil {
		r.result.Err = r.failure(err)
		return false
	}
	a, err := r.converse(p)
	if a != nil {
		r.answer = a
		err = r.finish(p, a)
	}
	due := r.moveDue()
	if due { // else nobody looks at the result
		r.result.Incidents = r.game.incidents.take()
	}
	if err == nil {
		p.inbox.listen(false)
		return false
	}
	r.game.forget(p)
	r.engine.discard(p)
	if fault, ok := errors.AsType[*engine.Fault](err); ok && !due && !r.game.isLost() && !r.engine.isClosed() {
		r.game.incidents.add("the program failed while pondering and is started again (%s): %s", fault.Kind, fault.Text)
		return r.game.begin()
	}
	if !errors.Is(err, errAbandoned) {
		r.result.Err = r.failure(err)
	}
	return false
}

// failure is what a search says of an error.
func (r *running) failure(err error) error {
	if err != nil && r.engine.isClosed() {
		return ErrClosed
	}
	return err
}

// errAbandoned: the search was stopped, and there is no word to stop its
// process with, which has to go.
var errAbandoned = errors.New("abandoned")

func (r *running) capabilities() capabilities { return protocols[r.engine.spec.Dialect] }

// moveDue reports whether a move is wanted. It is not while pondering, nor where
// that was stopped.
func (r *running) moveDue() bool { return !r.state().limits.Wait }

// rest waits for Hit, with a program that can't think without an end; false is
// that Stop came instead.
func (r *running) waitForHit() bool {
	for !r.state().hit {
		select {
		case <-r.stop:
			return false
		case <-r.changed:
		}
	}
	return true
}

// slack is how much later than its hard limit an answer may come before it is
// asked for: the limits are the process's to keep.
const slack = 100 * time.Millisecond

// allow turns the limits into what the process is told now, and says when its
// answer is due.
func (r *running) searchLimits(now time.Time) searchLimits {
	l := r.state().limits
	from := l.From
	if from.IsZero() {
		from = now // the program's start is not its thinking
	}
	a := searchLimits{limits: l}
	r.due = from.Add(r.engine.times.think)
	if c := l.Clock; c != nil {
		if c.At.IsZero() {
			c = &search.Clock{Spec: c.Spec, Mine: c.Mine, Theirs: c.Theirs, At: from, Overhead: c.Overhead}
		}
		if budget, limited := c.Spec.Budget(c.Mine); limited {
			r.due = c.At.Add(budget)
		}
		gone := now.Sub(c.At) + c.Overhead
		switch t := c.Spec.Traits(); {
		case !t.Limited, t.Saves && t.Period > 0:
			// The protocols have no such clock: the move gets the time manager's limits.
		case t.Saves:
			a.clocked = true
			a.mine, a.theirs = max(c.Mine.Left-gone, time.Millisecond), max(c.Theirs.Left, time.Millisecond)
			a.initial, a.increment = c.Spec.Initial, t.Increment
			return a
		default:
			a.move = max(t.Period-gone, time.Millisecond)
			return a
		}
	}
	switch rest := func(d time.Duration) time.Duration { return max(from.Add(d).Sub(now), time.Millisecond) }; {
	case l.Soft > 0:
		a.move = rest(l.Soft)
	case l.Hard > 0:
		a.move = rest(l.Hard)
	}
	if l.Hard > 0 {
		r.due = from.Add(l.Hard + slack)
	} else if l.Soft > 0 {
		r.due = from.Add(2*l.Soft + slack)
	}
	return a
}

// maxMultiPV is how many lines of a search are looked at.
const maxMultiPV = 512

// tell takes in and passes on how the search goes.
func (r *running) onInfo(i *uci.Info) {
	if i.Score.Unit == uci.NoScore && len(i.PV) == 0 || i.Line < 0 || i.Line > maxMultiPV {
		return
	}
	info := search.Info{
		Depth: i.Depth, SelDepth: i.SelDepth, Line: max(i.Line, 1), Nodes: i.Nodes, NPS: i.NPS, HashFull: i.HashFull,
		Time: time.Since(r.asked), PV: legalPrefix(r.query.pos, i.PV),
	}
	info.Score, info.WinProb = r.engine.value(i)
	switch i.Score.Bound {
	case uci.Lower:
		info.Bound = search.Lower
	case uci.Upper:
		info.Bound = search.Upper
	default:
		info.Bound = search.Exact
	}
	for len(r.lines) < info.Line {
		r.lines = append(r.lines, search.Info{Line: len(r.lines) + 1, WinProb: 0.5})
	}
	r.lines[info.Line-1] = info
	if r.report != nil {
		r.report(info)
	}
}

// legalPrefix is a line of moves as far as it is legal.
func legalPrefix(from game.Position, texts []string) (line []game.Move) {
	p := from.Clone()
	for _, t := range texts {
		m, err := game.PlayText(p, t)
		if err != nil {
			break
		}
		line = append(line, m)
	}
	return line
}

// settle checks an answer against the rules and makes the result of it.
func (r *running) finish(p *program, a *answer) error {
	res := &r.result
	res.Time, res.Source, res.WinProb = time.Since(r.asked), search.FromExternal, 0.5
	if len(r.lines) > 0 {
		best := r.lines[0]
		res.Score, res.WinProb, res.Depth, res.SelDepth, res.Nodes = best.Score, best.WinProb, best.Depth, best.SelDepth, best.Nodes
		for _, l := range r.lines {
			if len(l.PV) > 0 {
				res.Lines = append(res.Lines, l)
			}
		}
	}
	if a.resign && a.move == "" && r.moveDue() {
		res.Resign = true
		p.board = nil
		return nil
	}
	m, after, why := r.check(a)
	switch {
	case why != "" && r.moveDue():
		p.fail(engine.FaultIllegal, "it answered %q in %s: %s", clip(a.line), clip(r.query.pos.String()), why)
		<-p.gone
		return p.fault()
	case why != "":
		r.game.incidents.add("told to stop pondering, the engine answered %q in %s: %s; ignored", clip(a.line), clip(r.query.pos.String()), why)
		return nil
	}
	res.Move, res.Resign, res.OfferDraw = m, a.resign, a.draw
	res.PV = []game.Move{m}
	if len(r.lines) > 0 && len(r.lines[0].PV) > 0 && r.lines[0].PV[0] == m {
		res.PV = r.lines[0].PV
	}
	if reply := legalPrefix(after, []string{a.ponder}); len(reply) == 1 {
		res.Ponder = reply[0]
	} else if len(res.PV) > 1 {
		res.Ponder = res.PV[1]
	}
	p.board = nil
	if !after.Outcome().Over() {
		p.board = r.query.after(r.query.pos.Format(m))
	}
	return nil
}

// check reads the move of an answer and plays it; why says what is wrong with
// the answer, if anything is.
func (r *running) check(a *answer) (m game.Move, after game.Position, why string) {
	if a.invalid != "" {
		return game.NoMove, nil, a.invalid
	}
	m, err := r.query.pos.Parse(a.move)
	if err != nil {
		return game.NoMove, nil, err.Error()
	}
	if asked := r.state().limits.Moves; len(asked) > 0 && !slices.Contains(asked, m) {
		return game.NoMove, nil, "none of the moves that were to be searched"
	}
	after = r.query.pos.Clone()
	if err := after.Play(m); err != nil {
		return game.NoMove, nil, err.Error()
	}
	return m, after, ""
}
