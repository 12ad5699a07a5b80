package arena

import (
	"maps"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sparring/protocol"
)

// recentFor is how long a recent remembers.
const recentFor = 30 * time.Second

// recent remembers for a while to whom or where something happened. It is safe for
// concurrent use.
type recent[K comparable] struct {
	mu    sync.Mutex
	until map[K]time.Time
}

// add notes that it happens now.
func (r *recent[K]) add(k K, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = make(map[K]time.Time)
	}
	maps.DeleteFunc(r.until, func(_ K, until time.Time) bool { return now.After(until) })
	r.until[k] = now.Add(recentFor)
}

// has reports whether it happened within recentFor.
func (r *recent[K]) has(k K, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.until[k])
}

// complaint is what is wrong with a pool: with answers to offers there, or with its
// challenges.
type complaint struct {
	pool  protocol.Pool
	fault string
}

// complain logs what is wrong with a pool, at most once in recentFor: whoever answers one
// offer wrongly does so with all, and what fails is tried again and again. The caller adds
// fields to the line.
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
