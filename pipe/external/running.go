package external

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/engine/timing"
	"sparring/game"
	"sparring/game/clock"
	"sparring/pipe/uci"
)

// running is a search under way. Only its goroutine uses the process.
type running struct {
	game    *externalGame
	engine  *Engine
	query   *query
	report  func(search.Info)
	changed chan struct{} // has a value after PonderHit, Pause or Resume
	stop    chan struct{} // closed by Stop
	begun   chan struct{} // closed when the program searches, or is known not to before a ponder hit
	done    chan struct{} // closed when result is set
	result  search.Result

	mu      sync.Mutex
	limits  search.Limits
	hit     bool
	stopped bool
	paused  bool

	// Used by the goroutine only.
	answer     *answer       // as received; nil before
	lines      []search.Info // the last state of each line, best first
	nodes      uint64        // the most that it has told
	asked      time.Time     // when the search began; zero before
	due        time.Time     // when the answer is due; zero if never
	forcedStop bool          // there was no answer in time, and the program was told to stop
	stopSent   time.Time     // when it was last told to stop; zero if never
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

// Pause implements engine.Running. It suspends a process that searches.
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

// state is what the methods of engine.Running have set.
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
	defer r.game.ended(r)
	if o := r.state(); o.limits.Wait && !r.capabilities().ponders && !r.waitForHit() {
		return // stopped without a move
	}
	select {
	case r.game.turn <- struct{}{}: // the search before has ended
		defer func() { <-r.game.turn }()
	case <-r.stop:
		return
	}
	for r.attempt() && r.waitForHit() {
		// The program failed while pondering. Another process searches for the move.
	}
}

// attempt searches with the game's process. It reports whether the process failed
// before a move was due, so that another one has to search.
func (r *running) attempt() (again bool) {
	p, err := r.game.acquire(r.stop)
	if p == nil || err != nil {
		r.result.Err = r.failure(err)
		return false
	}
	a, err := r.converse(p)
	due := r.moveDue()
	if a != nil {
		r.answer = a
		err = r.finish(p, a)
		if due {
			r.noteClock(p.movedAt)
		}
	}
	if due { // otherwise the result is not used
		r.result.Incidents = r.game.incidents.take()
	}
	if err == nil {
		p.inbox.listen(false)
		if r.capabilities().oneMove {
			r.game.forget(p)
			r.engine.keep(p) // ends it
		}
		return false
	}
	r.game.forget(p)
	r.engine.discard(p)
	if fault, ok := errors.AsType[*engine.Fault](err); ok && !due && !r.game.isLost() && !r.engine.isClosed() {
		r.game.incidents.add("the engine failed while pondering and is started again (%s): %s", fault.Kind, fault.Text)
		return r.game.begin() == nil
	}
	if !errors.Is(err, errAbandoned) {
		r.result.Err = r.failure(err)
	}
	return false
}

// begin notes that the search has begun.
func (r *running) begin() {
	if !isClosed(r.begun) {
		close(r.begun)
	}
}

// failure returns the error of a search, ErrClosed after Engine.Close.
func (r *running) failure(err error) error {
	if err != nil && r.engine.isClosed() {
		return ErrClosed
	}
	return err
}

// errAbandoned means that the search was stopped and the protocol has no stop
// command, so that the process has to be killed.
var errAbandoned = errors.New("abandoned")

func (r *running) capabilities() capabilities { return protocols[r.engine.spec.Dialect] }

// moveDue reports whether a move is wanted. It is not while pondering, nor after
// that was stopped.
func (r *running) moveDue() bool { return !r.state().limits.Wait }

// waitForHit waits for PonderHit while the program does not search. It returns
// false if Stop came first.
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

// slack is how late an answer may be before the program is told to stop. Keeping
// the limits is its own business.
const slack = 100 * time.Millisecond

// searchLimits converts the limits for the program at this moment, and sets when
// its answer is due.
func (r *running) searchLimits(now time.Time) searchLimits {
	l := r.state().limits
	from := l.From
	if from.IsZero() {
		from = now // without the time that its start has taken
	}
	a := searchLimits{limits: l}
	r.due = from.Add(r.engine.times.think)
	var flag time.Time // when it falls; zero: never
	if c := l.Clock; c != nil {
		if c.At.IsZero() {
			running := *c
			running.At = from
			c = &running
		}
		if budget, limited := c.Spec.Budget(c.Mine); limited {
			if c.MoveLimit > 0 {
				budget = min(budget, c.MoveLimit)
			}
			flag = c.At.Add(budget)
			r.due = inTime(now, flag, c.Overhead)
		}
		gone := now.Sub(c.At) + c.Overhead
		switch t := c.Spec.Traits(); {
		case !t.Limited, t.Saves && t.Period > 0, t.Saves && c.MoveLimit > 0 && r.engine.spec.Dialect != Gomocup:
			// The protocols have no such clock: the move gets the time manager's limits.
		case t.Saves:
			stop := r.engine.stops.longest()
			r.due = inTime(now, flag, c.Overhead+stop)
			a.clocked = true
			a.mine, a.theirs = told(c, c.Mine.Left-gone, stop), max(c.Theirs.Left, time.Millisecond)
			a.initial, a.increment, a.theirIncrement = c.Spec.Initial, t.Increment, t.Increment
			if c.TheirSpec != (clock.Spec{}) {
				a.theirIncrement = c.TheirSpec.Traits().Increment
			}
			if c.MoveLimit > 0 {
				a.move = max(c.MoveLimit-gone, time.Millisecond)
			}
			return a
		default:
			// The protocols count in milliseconds or longer units, and cut off the rest.
			a.move = max((t.Period - gone).Round(time.Millisecond), time.Millisecond)
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
	if !flag.IsZero() {
		r.due = earlier(r.due, inTime(now, flag, l.Clock.Overhead))
	}
	return a
}

// minTold is the share of what is left on a clock that a program is told at least.
const minTold = 8

// told returns how much of what is left a program is told: without the reserve that our own
// engine keeps for moves that cost more than was ever measured, and which has to do for a
// stop, since the next ponder hit or miss needs that before the program can think. Some
// programs spend all but their last tenths of a second. Where moves have no overhead,
// in a match of the runner, they are told all.
func told(c *search.Clock, left, stop time.Duration) time.Duration {
	keep := stop
	if c.Overhead > 0 {
		keep = max(stop, timing.Reserve(c.Spec, c.Overhead))
	}
	if keep > 0 {
		left = max(left-keep, left/minTold)
	}
	return max(left, time.Millisecond)
}

// inTime returns when to tell a program to stop, so that its move arrives before the flag
// falls: that long before it. The program has some time to find a move at all, though: one
// that is stopped at once may answer without a move.
func inTime(now, flag time.Time, before time.Duration) time.Time {
	if due := flag.Add(-before); due.After(now.Add(slack)) {
		return due
	}
	return earlier(now.Add(slack), flag)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// maxMultiPV is the highest line number that is read.
const maxMultiPV = 512

// onInfo records and reports the state of the search. Of a message without a score only the
// moves and the nodes count: the score and its depth are those of the message before. UCCI
// has a message of its own for the nodes, and UCI programs send one at the end.
func (r *running) onInfo(i *uci.Info) {
	r.nodes = max(r.nodes, i.Nodes)
	if i.Score.Unit == uci.NoScore && len(i.PV) == 0 || i.Line < 0 || i.Line > maxMultiPV {
		return
	}
	info := search.Info{
		Depth: depthOf(i.Depth), SelDepth: depthOf(i.SelDepth), Line: max(i.Line, 1), Nodes: cmp.Or(i.Nodes, r.nodes), NPS: i.NPS, HashFull: i.HashFull,
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
	if i.Score.Unit == uci.NoScore {
		// Whoever sees a depth takes the chance beside it for the program's own.
		r.lines[info.Line-1].PV = info.PV
		return
	}
	r.lines[info.Line-1] = info
	if r.report != nil {
		r.report(info)
	}
}

// maxDepth is above every depth that programs search to.
const maxDepth = 1000

// depthOf returns the depth that a program gives, 0 (unknown) for an impossible one, which
// would spoil the record and every mean.
func depthOf(n int) int {
	if n < 0 || n > maxDepth {
		return 0
	}
	return n
}

// legalPrefix parses moves up to the first illegal one.
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

// finish checks an answer against the rules and sets the result.
func (r *running) finish(p *program, a *answer) error {
	res := &r.result
	res.Time, res.Source, res.WinProb, res.Nodes = time.Since(r.asked), search.FromExternal, 0.5, r.nodes
	if len(r.lines) > 0 {
		best := r.lines[0]
		res.Score, res.WinProb, res.Depth, res.SelDepth = best.Score, best.WinProb, best.Depth, best.SelDepth
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
	repeated := a.line == p.answered
	p.answered = a.line
	switch {
	case why != "" && r.moveDue():
		if repeated {
			why += "; it is the answer to the search before, again"
		}
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

// check parses the move of an answer and plays it. Why is the reason if the answer
// is not a legal move.
func (r *running) check(a *answer) (m game.Move, after game.Position, why string) {
	if a.invalid != "" {
		return game.NoMove, nil, a.invalid
	}
	m, err := r.query.pos.Parse(a.move)
	switch {
	case err != nil && !strings.Contains(a.line, a.move): // the program names points in another way
		return game.NoMove, nil, err.Error() + ", in our notation"
	case err != nil:
		return game.NoMove, nil, err.Error()
	}
	if asked := r.state().limits.Moves; len(asked) > 0 && !slices.Contains(asked, m) {
		return game.NoMove, nil, "not one of the moves to be searched"
	}
	after = r.query.pos.Clone()
	if err := after.Play(m); err != nil {
		return game.NoMove, nil, err.Error()
	}
	return m, after, ""
}
