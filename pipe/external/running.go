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
	game   *playedGame
	engine *Engine
	query  *query
	report func(search.Info)
	bell   chan struct{} // has one when PonderHit, Pause or Resume was called
	stop   chan struct{} // closed by Stop
	done   chan struct{} // closed when result is set
	result search.Result

	mu      sync.Mutex
	limits  search.Limits
	hit     bool
	stopped bool
	paused  bool

	// The goroutine's own.
	answer *answer       // as it came, once there is one
	lines  []search.Info // the last state of each line, best first
	asked  time.Time     // when it was first asked; zero is not yet
	due    time.Time     // when the answer is due; zero is never
	hushed bool          // no answer had come when it was due, and it was told to stop
}

// PonderHit implements engine.Running.
func (r *running) PonderHit(l search.Limits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.limits.Wait {
		return
	}
	l.MultiPV, l.Moves, l.Wait = r.limits.MultiPV, r.limits.Moves, false
	if l.From.IsZero() {
		l.From = time.Now()
	}
	r.limits, r.hit = r.engine.within(l), true
	r.ring()
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
	r.ring()
}

func (r *running) ring() {
	select {
	case r.bell <- struct{}{}:
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

// orders are what the search has been told from outside.
type orders struct {
	limits               search.Limits
	hit, stopped, paused bool
}

func (r *running) orders() orders {
	r.mu.Lock()
	defer r.mu.Unlock()
	return orders{r.limits, r.hit, r.stopped, r.paused}
}

// run is the search's goroutine.
func (r *running) run() {
	defer close(r.done)
	if o := r.orders(); o.limits.Wait && !r.traits().ponders && !r.rest() {
		return // stopped: there is no move
	}
	select {
	case r.game.turn <- struct{}{}: // the search before has ended
		defer func() { <-r.game.turn }()
	case <-r.stop:
		return
	}
	p, err := r.game.acquire(r.stop)
	if p == nil || err != nil {
		r.result.Err = r.failure(err)
		return
	}
	a, err := r.converse(p)
	if a != nil {
		r.answer = a
		err = r.settle(p, a)
	}
	if err == nil {
		p.inbox.listen(false)
		return
	}
	r.game.end(p)
	r.engine.discard(p)
	if !errors.Is(err, errAbandoned) {
		r.result.Err = r.failure(err)
	}
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

func (r *running) traits() traits { return protocols[r.engine.spec.Dialect] }

// rest waits for Hit, with a program that can't think without an end; false is
// that Stop came instead.
func (r *running) rest() bool {
	for {
		select {
		case <-r.stop:
			return false
		case <-r.bell:
			if r.orders().hit {
				return true
			}
		}
	}
}

// phase is what a search is at.
type phase uint8

const (
	pondering phase = iota // it thinks without an end
	turning                // it was hushed because of a hit, and then has to think under limits
	thinking               // it thinks under limits
	halting                // it was hushed, its answer counts
)

// converse has a process search, and returns its answer; nil without an error
// is that the search was stopped before it was asked for.
func (r *running) converse(p *program) (*answer, error) {
	p.inbox.listen(true)
	p.began = true
	if err := p.setUp(p, r.query); err != nil {
		return nil, err
	}
	c := &conversation{r: r, p: p, phase: pondering, late: time.NewTimer(time.Hour)}
	defer c.late.Stop()
	defer c.suspend(false)
	if r.orders().limits.Wait {
		r.asked = time.Now()
		if err := p.ask(p, r.query, allowance{endless: true, limits: r.orders().limits}); err != nil {
			return nil, err
		}
	} else if !r.awake() {
		return nil, nil
	} else if err := c.think(); err != nil {
		return nil, err
	}
	for {
		if a, err := c.obey(); a != nil || err != nil {
			return a, err
		}
		c.watch()
		select {
		case <-r.bell:
		case <-c.stops():
		case <-p.inbox.bell:
			if a, err := c.listen(); a != nil || err != nil {
				return a, err
			}
		case <-c.late.C:
			if err := c.overdue(); err != nil {
				return nil, err
			}
		}
	}
}

// awake waits until the search may use a core, before the process is asked;
// false is that it was stopped.
func (r *running) awake() bool {
	for r.orders().paused {
		select {
		case <-r.bell:
		case <-r.stop:
			return false
		}
	}
	return true
}

// conversation is the talk with a process during one search.
type conversation struct {
	r         *running
	p         *program
	phase     phase
	early     *answer // of pondering that has ended by itself
	suspended bool
	deadline  time.Time // of the phase; zero is none
	late      *time.Timer
}

// stops is the search's stop, as long as that is news.
func (c *conversation) stops() <-chan struct{} {
	if c.phase == halting {
		return nil
	}
	return c.r.stop
}

// think asks for a move under the limits.
func (c *conversation) think() error {
	a := c.r.allow(time.Now())
	c.phase, c.deadline = thinking, c.r.due
	if c.p.hush() == "" {
		c.deadline = c.deadline.Add(c.p.times.grace) // nothing can be done about it before
	}
	if c.r.asked.IsZero() {
		c.r.asked = time.Now()
	}
	return c.p.ask(c.p, c.r.query, a)
}

// obey does what has been ordered since. An answer is returned where the
// search is over by that.
func (c *conversation) obey() (*answer, error) {
	o := c.r.orders()
	switch {
	case o.stopped && c.early != nil:
		return c.early, nil
	case o.stopped && c.phase == turning:
		c.phase = halting
	case o.stopped && c.phase != halting:
		if c.p.hush() == "" {
			return nil, errAbandoned
		}
		return nil, c.hush(halting)
	case o.hit && c.phase == pondering && c.early != nil:
		c.early = nil
		return nil, c.think()
	case o.hit && c.phase == pondering:
		return nil, c.hush(turning)
	}
	if c.phase == pondering || c.phase == thinking {
		c.suspend(o.paused)
	}
	return nil, nil
}

// hush has the process answer at once.
func (c *conversation) hush(then phase) error {
	c.suspend(false)
	c.p.stale = true
	c.phase, c.deadline = then, time.Now().Add(c.p.times.grace)
	return c.p.send(c.p.hush())
}

func (c *conversation) suspend(on bool) {
	if c.suspended != on {
		c.p.suspend(on)
		c.suspended = on
	}
}

// watch sets the timer to the phase's deadline. Whoever is suspended has none.
func (c *conversation) watch() {
	if c.deadline.IsZero() || c.suspended {
		c.late.Stop()
		return
	}
	c.late.Reset(time.Until(c.deadline))
}

// overdue is called when the deadline is over.
func (c *conversation) overdue() error {
	if c.phase == thinking && c.p.hush() != "" {
		c.r.hushed = true
		return c.hush(halting) // an answer still counts; whether it was late is for others to judge
	}
	if c.p.hush() == "" {
		c.p.fail(engine.FaultHang, "no answer within %v of when it was due", c.p.times.grace)
	} else {
		c.p.fail(engine.FaultHang, "no answer within %v of %q", c.p.times.grace, c.p.hush())
	}
	<-c.p.gone
	return c.p.fault()
}

// listen reads what has come.
func (c *conversation) listen() (*answer, error) {
	ended := isClosed(c.p.gone)
	for _, line := range c.p.inbox.take() {
		a, info := c.p.hear(c.r.query, line)
		if info != nil && c.phase != turning {
			c.r.tell(info)
		}
		if a == nil {
			continue
		}
		switch c.phase {
		case pondering:
			c.early = a
		case turning:
			return nil, c.think()
		default:
			return a, nil
		}
	}
	if ended {
		return nil, c.p.fault()
	}
	return nil, nil
}

// slack is how much later than its hard limit an answer may come before it is
// asked for: the limits are the process's to keep.
const slack = 100 * time.Millisecond

// allow turns the limits into what the process is told now, and says when its
// answer is due.
func (r *running) allow(now time.Time) allowance {
	l := r.orders().limits
	from := l.From
	if from.IsZero() {
		from = now // the program's start is not its thinking
	}
	a := allowance{limits: l}
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

// mostLinesAsked is how many lines of a search are looked at.
const mostLinesAsked = 512

// tell takes in and passes on how the search goes.
func (r *running) tell(i *uci.Info) {
	if i.Score.Unit == uci.NoScore && len(i.PV) == 0 || i.Line < 0 || i.Line > mostLinesAsked {
		return
	}
	info := search.Info{
		Depth: i.Depth, SelDepth: i.SelDepth, Line: max(i.Line, 1), Nodes: i.Nodes, NPS: i.NPS, HashFull: i.HashFull,
		Time: time.Since(r.asked), PV: legalLine(r.query.pos, i.PV),
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

// legalLine is a line of moves as far as it is legal.
func legalLine(from game.Position, texts []string) (line []game.Move) {
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
func (r *running) settle(p *program, a *answer) error {
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
	if a.resign && a.move == "" {
		res.Resign = true
		p.held = nil
		return nil
	}
	illegal := func(why string) error {
		p.fail(engine.FaultIllegal, "it answered %q in %s: %s", clip(a.line), clip(r.query.pos.String()), why)
		<-p.gone
		return p.fault()
	}
	if a.wrong != "" {
		return illegal(a.wrong)
	}
	m, err := r.query.pos.Parse(a.move)
	if err != nil {
		return illegal(err.Error())
	}
	if asked := r.orders().limits.Moves; len(asked) > 0 && !slices.Contains(asked, m) {
		return illegal("none of the moves that were to be searched")
	}
	after := r.query.pos.Clone()
	if err := after.Play(m); err != nil {
		return illegal(err.Error())
	}
	res.Move, res.Resign, res.OfferDraw = m, a.resign, a.draw
	res.PV = []game.Move{m}
	if len(r.lines) > 0 && len(r.lines[0].PV) > 0 && r.lines[0].PV[0] == m {
		res.PV = r.lines[0].PV
	}
	if reply := legalLine(after, []string{a.ponder}); len(reply) == 1 {
		res.Ponder = reply[0]
	} else if len(res.PV) > 1 {
		res.Ponder = res.PV[1]
	}
	p.held = nil
	if !after.Outcome().Over() {
		p.held = r.query.with(r.query.pos.Format(m))
	}
	return nil
}
