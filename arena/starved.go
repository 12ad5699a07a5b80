package arena

import (
	"maps"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sparring/protocol"
)

// starvedFor is how long a pool or player that let an offer run out is remembered.
const starvedFor = 30 * time.Second

// starved remembers where offers ran out without an answer, or were answered wrongly.
// Anybody in a pool can subscribe to its queue many times and never answer: then the
// offers go to the pool's members by name for a while, and not to those who were silent.
type starved[K comparable] struct {
	mu    sync.Mutex
	until map[K]time.Time
}

// add notes that nobody answered an offer, or somebody wrongly.
func (s *starved[K]) add(k K, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until == nil {
		s.until = make(map[K]time.Time)
	}
	maps.DeleteFunc(s.until, func(_ K, until time.Time) bool { return now.After(until) })
	s.until[k] = now.Add(starvedFor)
}

// has reports whether that was so lately.
func (s *starved[K]) has(k K, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return now.Before(s.until[k])
}

// complaint is what is wrong with a pool: with answers to offers there, or with its
// challenges.
type complaint struct {
	pool  protocol.Pool
	fault string
}

// complain logs what is wrong with a pool, at most once in starvedFor: whoever answers one
// offer wrongly does so with all, and what fails is tried again and again. The line has
// the fields that the caller adds to it.
func (a *Arena) complain(pool protocol.Pool, fault string, with func(*zerolog.Event)) {
	c, now := complaint{pool, fault}, time.Now()
	if a.complaints.has(c, now) {
		return
	}
	a.complaints.add(c, now)
	line := a.log.Warn().Str("pool", string(pool))
	with(line)
	line.Msg(fault)
}
