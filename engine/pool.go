package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/engine/timing"
	"sparring/game"
)

// ErrClosed: the pool takes no more requests.
var ErrClosed = errors.New("think pool is closed")

// Pool lets the searches of many games share the cores. Who is on the clock
// goes first, at once, by making pondering pause; with more players on the
// clock than cores, the earliest deadline goes first, and nobody waits longer
// than half of the time that was meant for the move. Pondering gets what is
// left.
type Pool struct {
	cores int

	// mu guards what follows and the mutable part of every Thought. It is
	// never held while a search starts, reports or ends.
	mu       sync.Mutex
	thoughts []*Thought // in order of arrival
	timer    *time.Timer
	closed   bool
	living   sync.WaitGroup
}

// Numbers for requests that have no time limit of their own.
const (
	usualThought = 10 * time.Second // when such a request is taken to be due
	usualLength  = 80               // plies of a game of which nothing is known
)

// NewPool makes a pool of so many cores, runtime.GOMAXPROCS when 0. Close it.
func NewPool(cores int) *Pool {
	if cores <= 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	return &Pool{cores: cores}
}

// Clock is the time that a move has.
type Clock = search.Clock

// Request is a position of a game to think about.
type Request struct {
	Game     Game          // stays open until the thought has ended
	Position game.Position // copied
	// Limits besides the clock's. The clock, if there is one, sets Soft, Hard,
	// From and SoftScale.
	Limits search.Limits
	Clock  *Clock
	// Ponder: think until PonderHit or Stop; Clock and the time in Limits are not
	// used.
	Ponder bool
	Watch  func(search.Info) // as in Game.Search
}

// Thought is a request being worked on. Its methods may be called by any
// goroutine at any time.
type Thought struct {
	pool     *Pool
	game     Game
	position game.Position
	watch    func(search.Info)
	granted  chan struct{} // closed when a core is first granted
	stop     chan struct{} // closed by Stop
	done     chan struct{} // closed when result and err are set

	// Guarded by pool.mu.
	limits  search.Limits
	playing bool      // on the clock, not pondering
	due     time.Time // the deadline that requests are ordered by
	urgent  time.Time // from here on it goes without regard to cores
	awake   bool
	stopped bool
	run     Running     // nil until started
	flag    *time.Timer // stops the search of a reproducible game; nil without a clock
	timeOut bool        // it has

	result search.Result
	err    error
}

// Think begins to work on a request and returns at once. The error wraps
// game.ErrOver or ErrClosed.
func (p *Pool) Think(r Request) (*Thought, error) {
	if out := r.Position.Outcome(); out.Over() {
		return nil, fmt.Errorf("%w: %s by %s", game.ErrOver, out.Result, out.Reason)
	}
	t := &Thought{pool: p, game: r.Game, position: r.Position.Clone(), watch: r.Watch, limits: r.Limits,
		granted: make(chan struct{}), stop: make(chan struct{}), done: make(chan struct{})}
	if r.Ponder {
		t.limits.Soft, t.limits.Hard, t.limits.Wait = 0, 0, true
	} else {
		t.play(r.Clock)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	p.thoughts = append(p.thoughts, t)
	p.living.Go(t.live)
	p.schedule()
	return t, nil
}

// Close stops all thoughts and waits for their end.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	all := slices.Clone(p.thoughts)
	p.mu.Unlock()
	for _, t := range all {
		t.Stop()
	}
	p.living.Wait()
}

// play puts a thought on the clock.
func (t *Thought) play(c *Clock) {
	l := &t.limits
	l.Wait = false
	if l.From.IsZero() {
		l.From = time.Now()
	}
	if c != nil {
		length := usualLength
		if a, err := Adapter(t.position.Rules().Game); err == nil {
			length = a.Length
		}
		b := timing.Allot(timing.Situation{Clock: c.Spec, Mine: c.Mine, Theirs: c.Theirs,
			Ply: t.position.Ply(), Length: length, MovesToGo: l.MovesToGo, Overhead: c.Overhead})
		l.Soft, l.Hard, l.SoftScale, l.Clock = b.Soft, b.Hard, timing.SoftScale, c
		if !c.At.IsZero() {
			l.From = c.At
		}
	}
	meant := l.Soft
	if meant == 0 {
		meant = l.Hard
	}
	if meant == 0 {
		meant = usualThought
	}
	last := l.Hard
	if last == 0 {
		last = meant
	}
	t.playing, t.due, t.urgent = true, l.From.Add(last), l.From.Add(meant/2)
	if t.game.Options().Reproducible {
		t.untimed()
	}
}

// untimed takes the time out of a search's limits: it is to find the same move on
// any machine. A time limit only stops a search that would lose on time.
func (t *Thought) untimed() {
	l := &t.limits
	if l.Hard > 0 {
		t.flag = time.AfterFunc(time.Until(l.From.Add(l.Hard)), func() {
			t.pool.mu.Lock()
			t.timeOut = true
			t.pool.mu.Unlock()
			t.Stop()
		})
	}
	l.Soft, l.Hard, l.SoftScale, l.Clock = 0, 0, nil, nil
}

// live is a thought's goroutine.
func (t *Thought) live() {
	defer close(t.done)
	p := t.pool
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.thoughts = slices.DeleteFunc(p.thoughts, func(o *Thought) bool { return o == t })
		if t.flag != nil {
			t.flag.Stop()
		}
		t.result.TimedOut = t.timeOut
		p.schedule()
	}()
	select {
	case <-t.granted:
	case <-t.stop:
		select {
		case <-t.granted: // both: who stops a search that may run wants its move
		default:
			return // never began: no move
		}
	}
	p.mu.Lock()
	limits, playing := t.limits, t.playing
	p.mu.Unlock()
	if !opening.Running(t.position) {
		t.result, t.err = t.search(t.position, limits, playing)
		return
	}
	var found search.Result
	var incidents []string
	find := func(pos game.Position, l search.Limits) (search.Result, error) {
		ours := limits
		ours.Moves, ours.MultiPV = l.Moves, l.MultiPV
		ours.NoBook = true // scores are compared, which a book does not have
		var err error
		found, err = t.search(pos, ours, playing)
		incidents = append(incidents, found.Incidents...)
		return found, err
	}
	// Depth, score and line are about another position than the one where the
	// choice is made, and stay out of what is said about it.
	t.result = search.Result{Source: search.FromSearch}
	t.result.Move, t.err = opening.Choose(t.position, find, rand.New(rand.NewPCG(t.game.Options().Seed, uint64(t.position.Ply()))))
	t.result.Nodes, t.result.Time, t.result.Incidents = found.Nodes, found.Time, incidents
	if t.result.Move != game.NoMove {
		t.result.PV = []game.Move{t.result.Move}
	}
}

// search runs the thought's one search to its end; playing is whether limits
// are those of a move on the clock already.
func (t *Thought) search(pos game.Position, limits search.Limits, playing bool) (search.Result, error) {
	run, err := t.game.Search(pos, limits, t.watch)
	if err != nil {
		return search.Result{}, err
	}
	p := t.pool
	p.mu.Lock()
	t.run = run
	if t.playing != playing {
		run.PonderHit(t.limits)
	}
	if t.stopped {
		run.Stop()
	}
	if !t.awake {
		run.Pause()
	}
	p.mu.Unlock()
	r := run.Wait()
	return r, r.Err
}

// schedule decides who may use the cores now. The caller holds mu.
func (p *Pool) schedule() {
	now := time.Now()
	var plays, ponders []*Thought
	for _, t := range p.thoughts {
		if t.playing {
			plays = append(plays, t)
		} else {
			ponders = append(ponders, t)
		}
	}
	slices.SortStableFunc(plays, func(a, b *Thought) int { return a.due.Compare(b.due) })
	free := p.cores
	var next time.Time
	for _, t := range plays {
		ready := free > 0 || !t.urgent.After(now)
		if !ready && (next.IsZero() || t.urgent.Before(next)) {
			next = t.urgent
		}
		if ready {
			free -= max(t.limits.Threads, 1)
		}
		t.rouse(ready)
	}
	for _, t := range ponders {
		ready := free > 0
		if ready {
			free -= max(t.limits.Threads, 1)
		}
		t.rouse(ready)
	}
	p.wakeAt(next, now)
}

// wakeAt makes the pool look again when the next waiting thought gets urgent.
func (p *Pool) wakeAt(next, now time.Time) {
	if p.timer != nil {
		p.timer.Stop()
	}
	if next.IsZero() || p.closed {
		return
	}
	p.timer = time.AfterFunc(next.Sub(now), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.schedule()
	})
}

// rouse wakes a thought or puts it to sleep. The caller holds mu.
func (t *Thought) rouse(ready bool) {
	if ready == t.awake {
		return
	}
	t.awake = ready
	switch {
	case t.run == nil && ready:
		select {
		case <-t.granted: // before, and it is just starting
		default:
			close(t.granted)
		}
	case t.run == nil:
	case ready:
		t.run.Resume()
	default:
		t.run.Pause()
	}
}

// PonderHit tells a pondering thought that the awaited move was played: from now on
// it thinks about a move, under this clock. Nil keeps the other limits alone.
func (t *Thought) PonderHit(c *Clock) {
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.playing {
		return
	}
	t.limits.From = time.Time{}
	t.play(c)
	if t.run != nil {
		t.run.PonderHit(t.limits)
	}
	p.schedule()
}

// Stop ends the thought at once.
func (t *Thought) Stop() {
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.stopped {
		return
	}
	t.stopped = true
	close(t.stop)
	if t.run != nil {
		t.run.Stop()
	}
}

// Done is closed when the thought has ended.
func (t *Thought) Done() <-chan struct{} { return t.done }

// Wait is the answer of an ended thought. One that was stopped before it began
// has no move. The error says why it could not search.
func (t *Thought) Wait() (search.Result, error) {
	<-t.done
	return t.result, t.err
}
