package search

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Search is a running search, of the kernel or of another searcher that a [Queue]
// starts. Its methods may be called by any goroutine.
type Search struct {
	limits      atomic.Pointer[Limits] // with From set
	began       time.Time
	report      func(Info)
	reserved    atomic.Uint64 // nodes handed out to workers, see NodeCounter
	nodes       atomic.Uint64 // nodes that workers have reported
	stopped     atomic.Bool
	stop        chan struct{} // closed when stopped is set
	released    chan struct{} // closed when Limits.Wait no longer holds the answer back
	releaseOnce sync.Once
	paused      atomic.Pointer[chan struct{}] // if not nil: paused until it is closed
	pauseMu     sync.Mutex
	pausedAt    time.Time                // while it is paused; guarded by pauseMu
	pausedFor   time.Duration            // before; guarded by pauseMu
	finished    atomic.Pointer[Progress] // at the last iteration that has ended
	done        chan struct{}
	result      Result
}

// Queue runs the searches of a game one at a time, in the order of their starts.
// Its zero value is ready for use.
type Queue struct {
	mu         sync.Mutex
	unfinished []*Search
}

// Start begins a search and returns at once. When all earlier ones have ended, run
// is called in a goroutine; it searches until a limit is met or the search is
// stopped, and returns the result. Report may be nil. The result is held back as
// Limits.Wait demands.
func (q *Queue) Start(limits Limits, report func(Info), run func(*Search) Result) *Search {
	s := &Search{began: time.Now(), report: report, stop: make(chan struct{}), released: make(chan struct{}), done: make(chan struct{})}
	s.setLimits(limits)
	if !limits.Wait {
		s.release()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var earlier *Search
	if n := len(q.unfinished); n > 0 {
		earlier = q.unfinished[n-1]
	}
	q.unfinished = append(q.unfinished, s)
	go func() {
		growStack()
		if earlier != nil {
			<-earlier.done
		}
		s.result = run(s)
		q.mu.Lock()
		q.unfinished = slices.DeleteFunc(q.unfinished, func(other *Search) bool { return other == s })
		q.mu.Unlock()
		close(s.done)
	}()
	return s
}

// growStack makes the goroutine's stack as large as a search needs it. Growing by
// doubling, with the frames of a search to copy each time, took as long as ten nodes.
//
//go:noinline
func growStack() {
	var room [24 << 10]byte
	runtime.KeepAlive(&room)
}

// Stop stops all searches and waits for their end.
func (q *Queue) Stop() {
	q.mu.Lock()
	searches := slices.Clone(q.unfinished)
	q.mu.Unlock()
	for _, s := range searches {
		s.Stop()
	}
	for _, s := range searches {
		s.Wait()
	}
}

// RunWorkers calls every worker in a goroutine of its own, the first in this one.
// When the first has returned and the result is no longer held back, it ends the
// search and waits for the others.
func (s *Search) RunWorkers(workers ...func()) {
	var helpers sync.WaitGroup
	for _, w := range workers[1:] {
		helpers.Go(w)
	}
	workers[0]()
	<-s.released
	s.End()
	helpers.Wait()
}

func (s *Search) setLimits(l Limits) {
	if l.From.IsZero() {
		l.From = time.Now()
	}
	s.limits.Store(&l)
}

// release lets the answer come.
func (s *Search) release() { s.releaseOnce.Do(func() { close(s.released) }) }

// Stop ends the search; Wait then returns the best move found so far.
func (s *Search) Stop() {
	s.End()
	s.release()
}

// End makes all workers finish. Unlike Stop it does not release a result that
// Limits.Wait holds back.
func (s *Search) End() {
	if !s.stopped.Swap(true) {
		close(s.stop)
	}
}

// PonderHit replaces the limits of time, nodes and depth of a search that was
// started with Limits.Wait: the expected move was played. The root moves and
// the number of lines stay as they were. A search that has pondered for longer than its
// soft limit ends at once: the iteration that it is in may take many times that.
func (s *Search) PonderHit(l Limits) {
	old := s.limits.Load()
	l.Moves, l.MultiPV, l.Threads = old.Moves, old.MultiPV, old.Threads
	s.setLimits(l)
	if l.Wait {
		return
	}
	if p := s.finished.Load(); p != nil && s.SoftLimitReached(func() Progress { return *p }) {
		s.End()
	}
	s.release()
}

// Iterated notes that an iteration has ended, which gives the search a result.
func (s *Search) Iterated(p Progress) { s.finished.Store(&p) }

// Wait waits for the end of the search.
func (s *Search) Wait() Result {
	<-s.done
	return s.result
}

// Done is closed when Wait will not block.
func (s *Search) Done() <-chan struct{} { return s.done }

// Pause suspends the search until Resume. It keeps its state but no core.
func (s *Search) Pause() {
	s.pauseMu.Lock()
	defer s.pauseMu.Unlock()
	if s.paused.Load() == nil {
		c := make(chan struct{})
		s.paused.Store(&c)
		s.pausedAt = time.Now()
	}
}

// Resume continues a paused search.
func (s *Search) Resume() {
	s.pauseMu.Lock()
	defer s.pauseMu.Unlock()
	if c := s.paused.Swap(nil); c != nil {
		s.pausedFor += time.Since(s.pausedAt)
		close(*c)
	}
}

// pausedTime returns for how long the search has been paused.
func (s *Search) pausedTime() time.Duration {
	s.pauseMu.Lock()
	defer s.pauseMu.Unlock()
	if s.paused.Load() != nil {
		return s.pausedFor + time.Since(s.pausedAt)
	}
	return s.pausedFor
}

// Limits returns the limits, with From set. PonderHit changes them.
func (s *Search) Limits() *Limits { return s.limits.Load() }

// Stopped reports whether the search has ended.
func (s *Search) Stopped() bool { return s.stopped.Load() }

// Nodes returns the nodes that workers have reported, see NodeCounter.Flush.
func (s *Search) Nodes() uint64 { return s.nodes.Load() }

// Elapsed returns the time since Limits.From.
func (s *Search) Elapsed() time.Duration { return time.Since(s.limits.Load().From) }

// Report passes the state of a line on, with the nodes and the time filled in, and
// returns it.
func (s *Search) Report(info Info) Info {
	info.Nodes, info.Time = s.Nodes(), s.Elapsed()
	info.NPS = uint64(float64(info.Nodes) / max(time.Since(s.began).Seconds(), 1e-6))
	if s.report != nil {
		s.report(info)
	}
	return info
}

// SoftLimitReached reports whether the soft limit, scaled by how the search is
// going, has been reached. Progress is not called without a soft limit.
func (s *Search) SoftLimitReached(progress func() Progress) bool {
	limits := s.limits.Load()
	if limits.Soft == 0 {
		return false
	}
	soft := limits.Soft
	if limits.SoftScale != nil {
		soft = time.Duration(float64(soft) * limits.SoftScale(progress()))
	}
	return s.thinkingTime() >= soft
}

// thinkingTime returns what counts against the soft limit: the time since the clock
// began to run, or with that spent pondering if that is more, because what was
// found while pondering need not be found again.
func (s *Search) thinkingTime() time.Duration {
	return max(s.Elapsed(), time.Since(s.began)-s.pausedTime())
}

// taken reports whether the search has taken one part in share of its time, if that is
// limited.
func (s *Search) taken(share int) bool {
	limits := s.limits.Load()
	most := cmp.Or(limits.Soft, limits.Hard)
	return most > 0 && s.thinkingTime() >= most/time.Duration(share)
}

// running is called by every worker now and then; false ends the search. It
// waits while the search is paused.
func (s *Search) running() bool {
	for c := s.paused.Load(); c != nil; c = s.paused.Load() {
		select {
		case <-*c:
		case <-s.stop:
			return false
		}
	}
	// However late it begins, a search has its first nodes. Without any it would play the
	// first move in order, which may be a capture that loses a piece.
	if l := s.limits.Load(); l.Hard > 0 && time.Since(l.From) >= l.Hard && s.Nodes() >= pollEvery {
		s.End()
	}
	return !s.stopped.Load()
}

// reserveNodes hands out up to n of the nodes that the limit leaves.
func (s *Search) reserveNodes(n uint64) uint64 {
	for {
		reserved := s.reserved.Load()
		if limit := s.limits.Load().Nodes; limit > 0 {
			n = min(n, limit-min(reserved, limit))
		}
		if s.reserved.CompareAndSwap(reserved, reserved+n) {
			return n
		}
	}
}
