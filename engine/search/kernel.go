package search

import (
	"sync"
	"sync/atomic"
	"time"

	"sparring/game"
)

// Kernel searches positions of one game. Any number of searches may run at
// the same time; they share the hash table.
type Kernel struct {
	params Params
	table  *Table
	salt   uint64
	// evaluates: inner nodes need an evaluation
	needEval bool
	era      atomic.Uint32 // counts calls of Forget

	mu   sync.Mutex
	free []*worker // kept because their tables are large
}

// New makes a kernel for the game that the parameters describe. Kernels of
// several games and evaluations may share a table.
func New(params Params, table *Table) *Kernel {
	params.setDefaults()
	k := &Kernel{params: params, table: table, needEval: params.On.needEval()}
	name := params.Game
	if params.Eval != "" {
		name += "/" + params.Eval
	}
	for i, c := range []byte(name) {
		k.salt ^= game.Zobrist(uint64(c), uint64(i))
	}
	return k
}

// Forget clears the hash table, and what workers have learnt of moves. No search
// may run meanwhile.
func (k *Kernel) Forget() {
	k.table.Clear()
	k.era.Add(1)
}

// Params are the game's parameters.
func (k *Kernel) Params() *Params { return &k.params }

// Search is a running search.
type Search struct {
	k       *Kernel
	limits  atomic.Pointer[Limits] // From is set
	began   time.Time
	report  func(Info)
	spent   atomic.Uint64 // nodes granted to workers, see worker.mayDo
	nodes   atomic.Uint64 // nodes that workers have told of
	halted  atomic.Bool
	halt    chan struct{} // closed with halted
	hit     chan struct{} // closed when Wait no longer holds
	hitOnce sync.Once
	gate    atomic.Pointer[chan struct{}] // not nil: paused until it is closed
	gateMu  sync.Mutex
	slept   atomic.Int64 // time spent paused; of all workers together
	done    chan struct{}
	result  Result
}

// Start begins a search of a position, which it clones. Report, if not nil,
// is called from the search's goroutine after every iteration and line; the
// search waits for it.
func (k *Kernel) Start(pos Position, limits Limits, report func(Info)) *Search {
	s := &Search{k: k, began: time.Now(), report: report,
		halt: make(chan struct{}), hit: make(chan struct{}), done: make(chan struct{})}
	s.setLimits(limits)
	if !limits.Wait {
		s.hitOnce.Do(func() { close(s.hit) })
	}
	k.table.begin()
	workers := make([]*worker, max(limits.Threads, 1))
	for i := range workers {
		workers[i] = k.worker()
		workers[i].reset(s, pos.Clone(), i)
	}
	go s.run(workers)
	return s
}

// run is the life of a search: the first worker decides, the others fill the
// hash table for it (lazy SMP).
func (s *Search) run(workers []*worker) {
	var helpers sync.WaitGroup
	for _, w := range workers[1:] {
		helpers.Go(w.iterate)
	}
	main := workers[0]
	main.iterate()
	<-s.hit // an answer may not come before it is wanted
	s.end()
	helpers.Wait()
	s.result = main.result()
	s.k.release(workers)
	close(s.done)
}

func (s *Search) setLimits(l Limits) {
	if l.From.IsZero() {
		l.From = time.Now()
	}
	s.limits.Store(&l)
}

// Stop ends the search; Wait then gives the best found so far.
func (s *Search) Stop() {
	s.end()
	s.hitOnce.Do(func() { close(s.hit) })
}

// end makes all workers finish.
func (s *Search) end() {
	if !s.halted.Swap(true) {
		close(s.halt)
	}
}

// PonderHit gives a search that was begun without a deadline the limits of time,
// nodes and depth that it runs under from now on: the awaited move was
// played. What says which moves and lines to look at stays as it was.
func (s *Search) PonderHit(l Limits) {
	old := s.limits.Load()
	l.Moves, l.MultiPV, l.Threads = old.Moves, old.MultiPV, old.Threads
	s.setLimits(l)
	if !l.Wait {
		s.hitOnce.Do(func() { close(s.hit) })
	}
}

// Wait waits for the end of the search.
func (s *Search) Wait() Result {
	<-s.done
	return s.result
}

// Done is closed when Wait will not block.
func (s *Search) Done() <-chan struct{} { return s.done }

// Pause makes the search give its cores up until Resume, keeping all it has.
func (s *Search) Pause() {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	if s.gate.Load() == nil {
		c := make(chan struct{})
		s.gate.Store(&c)
	}
}

// Resume lets a paused search go on.
func (s *Search) Resume() {
	s.gateMu.Lock()
	defer s.gateMu.Unlock()
	if c := s.gate.Swap(nil); c != nil {
		close(*c)
	}
}

// elapsed is the time on the clock that the limits count by.
func (s *Search) elapsed() time.Duration { return time.Since(s.limits.Load().From) }

// thought is the time that counts against the soft limit: since the clock
// began to run, or with the time on the opponent's clock where that is more,
// because what was found while pondering need not be found again.
func (s *Search) thought() time.Duration {
	return max(s.elapsed(), time.Since(s.began)-time.Duration(s.slept.Load()))
}

// mayGo is asked by every worker now and then: false ends its search.
func (s *Search) mayGo() bool {
	for c := s.gate.Load(); c != nil; c = s.gate.Load() {
		since := time.Now()
		select {
		case <-*c:
			s.slept.Add(int64(time.Since(since)))
		case <-s.halt:
			return false
		}
	}
	if l := s.limits.Load(); l.Hard > 0 && time.Since(l.From) >= l.Hard {
		s.end()
	}
	return !s.halted.Load()
}

// grant takes up to n nodes from what the limit leaves, maybe none.
func (s *Search) grant(n uint64) uint64 {
	for {
		spent := s.spent.Load()
		if limit := s.limits.Load().Nodes; limit > 0 {
			n = min(n, limit-min(spent, limit))
		}
		if s.spent.CompareAndSwap(spent, spent+n) {
			return n
		}
	}
}

// worker is a free worker, or a new one.
func (k *Kernel) worker() *worker {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.free); n > 0 {
		w := k.free[n-1]
		k.free = k.free[:n-1]
		return w
	}
	return newWorker(k)
}

// release keeps workers for later searches.
func (k *Kernel) release(workers []*worker) {
	for _, w := range workers {
		w.pos, w.exchanger, w.prover, w.foreseer, w.s = nil, nil, nil, nil, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.free = append(k.free, workers...)
}
