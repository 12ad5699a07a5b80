package search

import (
	"sync"
	"sync/atomic"
	"time"
)

// Search is a running search. Its methods may be called by any goroutine.
type Search struct {
	game        *Game
	limits      atomic.Pointer[Limits] // with From set
	began       time.Time
	report      func(Info)
	reserved    atomic.Uint64 // nodes handed out to workers, see worker.countNode
	nodes       atomic.Uint64 // nodes that workers have reported
	stopped     atomic.Bool
	stop        chan struct{} // closed when stopped is set
	released    chan struct{} // closed when Limits.Wait no longer holds the answer back
	releaseOnce sync.Once
	paused      atomic.Pointer[chan struct{}] // if not nil: paused until it is closed
	pauseMu     sync.Mutex
	pausedTime  atomic.Int64 // of all workers together
	done        chan struct{}
	result      Result
}

// run is the search: the first worker decides, the others fill the hash table
// for it (lazy SMP). Earlier, if not nil, is the search of the game before it.
func (s *Search) run(earlier *Search, positions []Position) {
	if earlier != nil {
		<-earlier.done
	}
	workers := s.game.workers(s, positions)
	var helpers sync.WaitGroup
	for _, w := range workers[1:] {
		helpers.Go(w.iterate)
	}
	main := workers[0]
	main.iterate()
	<-s.released
	s.end()
	helpers.Wait()
	s.result = main.result()
	s.game.release(s, workers)
	close(s.done)
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
	s.end()
	s.release()
}

// end makes all workers finish.
func (s *Search) end() {
	if !s.stopped.Swap(true) {
		close(s.stop)
	}
}

// PonderHit replaces the limits of time, nodes and depth of a search that was
// started with Limits.Wait: the expected move was played. The root moves and
// the number of lines stay as they were.
func (s *Search) PonderHit(l Limits) {
	old := s.limits.Load()
	l.Moves, l.MultiPV, l.Threads = old.Moves, old.MultiPV, old.Threads
	s.setLimits(l)
	if !l.Wait {
		s.release()
	}
}

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
	}
}

// Resume continues a paused search.
func (s *Search) Resume() {
	s.pauseMu.Lock()
	defer s.pauseMu.Unlock()
	if c := s.paused.Swap(nil); c != nil {
		close(*c)
	}
}

// elapsed returns the time since Limits.From.
func (s *Search) elapsed() time.Duration { return time.Since(s.limits.Load().From) }

// thinkingTime returns what counts against the soft limit: the time since the clock
// began to run, or with that spent pondering if that is more, because what was
// found while pondering need not be found again.
func (s *Search) thinkingTime() time.Duration {
	return max(s.elapsed(), time.Since(s.began)-time.Duration(s.pausedTime.Load()))
}

// running is called by every worker now and then; false ends the search. It
// waits while the search is paused.
func (s *Search) running() bool {
	for c := s.paused.Load(); c != nil; c = s.paused.Load() {
		since := time.Now()
		select {
		case <-*c:
			s.pausedTime.Add(int64(time.Since(since)))
		case <-s.stop:
			return false
		}
	}
	if l := s.limits.Load(); l.Hard > 0 && time.Since(l.From) >= l.Hard {
		s.end()
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
