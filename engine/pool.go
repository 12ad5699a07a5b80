package engine

import (
	"cmp"
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

// ErrClosed is returned by Pool.Start after Pool.Close.
var ErrClosed = errors.New("the search pool is closed")

// Pool schedules the searches of many games on the cores, in this order:
//
//   - Searches for a move begin at once. If there are more of them than cores, the
//     earliest deadline goes first, but none waits longer than half of the time planned for
//     its move, unless maxPerCore searches share each core already, or one of few nodes will
//     soon leave its own. Those of few nodes are never paused.
//   - Analyses get the cores that are left, hints before reviews.
//   - Pondering gets what these leave, since a person waits for an analysis, while
//     pondering never ends by itself and would keep the cores.
type Pool struct {
	cores int

	// mu guards what follows and the mutable fields of every Search. It is
	// never held while a search starts, reports or ends.
	mu       sync.Mutex
	waiting  searchHeap // see heapKind
	early    searchHeap
	urgent   searchHeap
	awake    []*Search // those that may run
	spare    []*Search // room for schedule; the same for others
	others   []*Search
	started  uint64
	timer    *time.Timer
	timerAt  time.Time // when it schedules again; zero if it does not
	closed   bool
	running  sync.WaitGroup
	load     Load
	loadAt   time.Time // up to when load.Busy counts
	noPonder bool
}

const (
	defaultBudget = 10 * time.Second // schedules a search that has no limit of time
	defaultLength = 80               // plies of a game without an adapter
)

// NewPool makes a pool that uses the given number of cores; 0 means
// runtime.GOMAXPROCS. The caller must Close it.
func NewPool(cores int) *Pool {
	if cores <= 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	p := &Pool{cores: cores, loadAt: time.Now()}
	p.waiting = searchHeap{kind: heapWaiting, before: (*Search).before}
	p.early = searchHeap{kind: heapEarly, before: (*Search).urgentBefore}
	p.urgent = searchHeap{kind: heapUrgent, before: (*Search).before}
	return p
}

// Clock is the time that a move has.
type Clock = search.Clock

// Request asks for a search.
type Request struct {
	Game     Game          // open until the search has ended
	Position game.Position // of that game; copied
	// Limits besides the clock's. The clock, if there is one, sets Soft, Hard,
	// From and SoftScale. In a reproducible game it sets only From if there is a
	// limit of nodes or depth, and ends the search only before it would lose on
	// time.
	Limits search.Limits
	Clock  *Clock
	// Ponder: search until PonderHit or Stop. Clock and the limits of time are
	// not used.
	Ponder bool
	// Purpose is ForHint or ForReview for an analysis, a search outside of any game. It
	// gives its core to a search for a move at once, and no limit ends it while it waits:
	// the caller stops it.
	Purpose Purpose
	// Watch is as the report of Game.Search. It is not called in an opening procedure,
	// whose choices are made by searches of other positions.
	Watch func(search.Info)
}

// Purpose is what a search is for.
type Purpose uint8

// The purposes of a search.
const (
	ForMove   Purpose = iota // a move of a game
	ForHint                  // an analysis of a position for which somebody waits
	ForReview                // an analysis of one of many positions
)

// rank orders searches: a lower one gets a core first.
type rank uint8

const (
	rankMove rank = iota
	rankHint
	rankReview
	rankPonder
)

// Search is a request that waits for a core or is being searched. Its methods
// may be called by any goroutine at any time.
type Search struct {
	pool     *Pool
	game     Game
	position game.Position
	watch    func(search.Info)
	quick    bool          // few nodes end it
	untimed  bool          // the clock does not limit the search, but ends it before it loses on time
	done     chan struct{} // closed when result and err are set

	// Guarded by pool.mu.
	limits  search.Limits
	rank    rank
	number  uint64         // in the order of arrival
	place   [heapKinds]int // in the heaps, from 1; 0 if it is not there
	asked   time.Time      // when it became a search for a move
	planned time.Duration
	counted bool      // in Load.Started
	due     time.Time // deadline
	urgent  time.Time // from then on it runs even without a free core
	begun   bool      // it has had a core
	awake   bool      // it may run
	awakeAt time.Time // when it was let run last
	stopped bool
	ended   bool
	run     Running     // nil before it runs
	flag    *time.Timer // ends an untimed search; nil without a clock
	flagged bool        // it has

	result search.Result
	err    error
}

// Start starts a search, which runs when there is a core for it, and returns at
// once. The error wraps game.ErrOver or ErrClosed.
func (p *Pool) Start(r Request) (*Search, error) {
	if out := r.Position.Outcome(); out.Over() {
		return nil, fmt.Errorf("%w: %s by %s", game.ErrOver, out.Result, out.Reason)
	}
	s := &Search{pool: p, game: r.Game, position: r.Position.Clone(), watch: r.Watch, limits: r.Limits, untimed: untimed(r.Game, r.Limits), quick: fewNodes(r.Game, r.Limits),
		done: make(chan struct{})}
	switch {
	case r.Ponder:
		s.rank = rankPonder
		s.limits.Soft, s.limits.Hard, s.limits.Wait = 0, 0, true
	case r.Purpose == ForHint:
		s.rank = rankHint
	case r.Purpose == ForReview:
		s.rank = rankReview
	default:
		s.play(r.Clock)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	p.started++
	s.number = p.started
	p.wait(s)
	p.schedule()
	return s, nil
}

// untimed reports whether the clock must not limit a search.
func untimed(g Game, l search.Limits) bool {
	if !g.Options().Reproducible {
		return false
	}
	d := g.Describe()
	return max(l.Nodes, d.Nodes) > 0 || max(l.Depth, d.Depth) > 0
}

// Close stops all searches and waits for their end.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	all := slices.Concat(p.awake, p.waiting.list)
	p.mu.Unlock()
	for _, s := range all {
		s.Stop()
	}
	p.running.Wait()
}

// play makes it a search for a move, with the limits that the clock sets.
func (s *Search) play(c *Clock) {
	l := &s.limits
	l.Wait = false
	if l.From.IsZero() {
		l.From = time.Now()
	}
	soft, hard := l.Soft, l.Hard
	if c != nil {
		length := defaultLength
		if a, err := Adapter(s.position.Rules().Game); err == nil {
			length = a.Length
		}
		b := timing.Allot(timing.Situation{Clock: c.Spec, Mine: c.Mine, Theirs: c.Theirs,
			Ply: s.position.Ply(), Length: length, MovesToGo: l.MovesToGo, Overhead: c.Overhead, MoveLimit: c.MoveLimit})
		soft, hard = b.Soft, b.Hard
		if !s.untimed {
			l.Soft, l.Hard, l.SoftScale, l.Clock = soft, hard, timing.SoftScale, c
		}
		if !c.At.IsZero() {
			l.From = c.At
		}
	}
	planned := cmp.Or(soft, hard, defaultBudget)
	longest := cmp.Or(hard, planned)
	s.rank, s.due, s.urgent = rankMove, l.From.Add(longest), l.From.Add(planned/2)
	s.asked, s.planned = time.Now(), planned
	if s.untimed && hard > 0 {
		s.flag = time.AfterFunc(time.Until(l.From.Add(hard)), func() {
			s.pool.mu.Lock()
			s.flagged = true
			s.pool.mu.Unlock()
			s.Stop()
		})
	}
}

// work is the search's goroutine, from when it first gets a core.
func (s *Search) work() {
	p := s.pool
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		s.end()
	}()
	p.mu.Lock()
	limits, ranked := s.limits, s.rank
	p.mu.Unlock()
	if !opening.Running(s.position) {
		s.result, s.err = s.search(s.position, limits, ranked, s.watch)
		return
	}
	var found search.Result
	var incidents []string
	find := func(pos game.Position, l search.Limits) (search.Result, error) {
		ours := limits
		ours.Moves, ours.MultiPV = l.Moves, l.MultiPV
		ours.NoBook = true // scores are compared, which a book does not have
		var err error
		found, err = s.search(pos, ours, ranked, nil)
		incidents = append(incidents, found.Incidents...)
		return found, err
	}
	// Depth, score and line are about the outcomes of a choice, not about the
	// position in which it is made, and are left out.
	s.result = search.Result{Source: search.FromSearch}
	s.result.Move, s.err = opening.Choose(s.position, limits.Moves, find, rand.New(rand.NewPCG(s.game.Options().Seed, uint64(s.position.Ply()))))
	s.result.Nodes, s.result.Time, s.result.Incidents = found.Nodes, found.Time, incidents
	if s.result.Move != game.NoMove {
		s.result.PV = []game.Move{s.result.Move}
	}
}

// end ends the search, whose result is set. The caller holds mu.
func (s *Search) end() {
	p := s.pool
	s.ended = true
	p.remove(s)
	if s.flag != nil {
		s.flag.Stop()
	}
	s.result.TimedOut = s.flagged
	close(s.done)
	p.schedule()
}

// search searches a position to the end. The limits are those of the given rank.
func (s *Search) search(pos game.Position, limits search.Limits, ranked rank, watch func(search.Info)) (search.Result, error) {
	run, err := s.game.Search(pos, limits, watch)
	if err != nil {
		return search.Result{}, err
	}
	p := s.pool
	p.mu.Lock()
	s.run = run
	if s.rank == rankMove && !s.counted {
		s.counted = true
		p.load.Started++
		if time.Since(s.asked) > s.planned/latePart {
			p.load.Late++
		}
	}
	if s.rank != ranked {
		run.PonderHit(s.limits)
	}
	if s.stopped {
		run.Stop()
	}
	if !s.awake {
		run.Pause()
	}
	p.mu.Unlock()
	r := run.Wait()
	return r, r.Err
}

// PonderHit tells a pondering search that the expected move was played: it goes
// on as a search for a move, under this clock. With nil only the other limits
// hold. A search that has ended, as that of a program that failed, stays ended.
func (s *Search) PonderHit(c *Clock) {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.rank != rankPonder || s.ended {
		return
	}
	s.limits.From = time.Time{}
	if !s.awake {
		p.remove(s)
	}
	s.play(c)
	if !s.awake {
		p.wait(s)
	}
	if s.run != nil {
		s.run.PonderHit(s.limits)
	}
	p.schedule()
}

// Stop ends the search at once.
func (s *Search) Stop() {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.stopped {
		return
	}
	s.stopped = true
	switch {
	case s.run != nil:
		s.run.Stop()
	case !s.begun && !s.ended:
		s.end() // without a move
	}
}

// Done is closed when the search has ended.
func (s *Search) Done() <-chan struct{} { return s.done }

// Wait waits for the end of the search and returns its result, without a move if
// it was stopped before it ran. The error says why it could not search.
func (s *Search) Wait() (search.Result, error) {
	<-s.done
	return s.result, s.err
}
