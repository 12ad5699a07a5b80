package match

import (
	"sync"
	"time"
)

// stalls counts how often this process did not run for a while: it was stopped, as by
// SIGSTOP, or the machine was too busy. The time of a move says nothing then.
type stalls struct {
	mu   sync.Mutex
	last time.Time // of the latest look
	n    int
	end  chan struct{}
}

// stallTime is what a process is off for at least to be counted, and stallLook how
// often it looks.
const (
	stallTime = 500 * time.Millisecond
	stallLook = 100 * time.Millisecond
)

// watchStalls begins to count. Close it.
func watchStalls() *stalls {
	s := &stalls{last: time.Now(), end: make(chan struct{})}
	go func() {
		tick := time.NewTicker(stallLook)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.count()
			case <-s.end:
				return
			}
		}
	}()
	return s
}

// count returns how many stalls there were, one that has just ended included.
func (s *stalls) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.last) > stallTime {
		s.n++
	}
	s.last = now
	return s.n
}

func (s *stalls) close() { close(s.end) }
