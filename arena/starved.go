package arena

import (
	"maps"
	"sync"
	"time"
)

// starvedFor is how long a pool or player that let an offer run out is remembered.
const starvedFor = 30 * time.Second

// starved remembers where offers ran out without an answer. Anybody in a pool can
// subscribe to its queue many times and never answer: then the offers go to the
// pool's members by name for a while, and not to those who were silent.
type starved[K comparable] struct {
	mu    sync.Mutex
	until map[K]time.Time
}

// add notes that nobody answered an offer.
func (s *starved[K]) add(k K, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = make(map[K]time.Time)
	}
	maps.DeleteFunc(s.until, func(_ K, until time.Time) bool { return now.After(until) })
	s.until[k] = now.Add(starvedFor)
}

// has reports whether an offer ran out lately.
func (s *starved[K]) has(k K, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.until[k])
}
