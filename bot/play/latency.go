package play

import (
	"slices"
	"sync"
	"time"
)

// meter measures what a move costs its clock beyond the thinking: from its
// dispatch until the platform accepted it. It is safe for concurrent use.
type latency struct {
	mu      sync.Mutex
	samples [50]time.Duration // the last ones, a ring
	n       int               // ever taken
}

// Bounds of what a meter says.
const (
	// minOverhead is what two goroutines and a timer cost at any time.
	minOverhead = 5 * time.Millisecond
	// overheadPercentile is the percentile: one move in twenty may cost more, and
	// the time manager's own reserve is for those.
	overheadPercentile = 95
)

// newLatency makes a meter whose first measurement is a guess, such as the time
// of a heartbeat there and back.
func newLatency(first time.Duration) *latency {
	m := new(latency)
	m.Add(first)
	return m
}

// Add takes one measurement.
func (m *latency) Add(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples[m.n%len(m.samples)] = max(d, 0)
	m.n++
}

// Overhead is the 95th percentile of the last 50 measurements.
func (m *latency) Overhead() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	sorted := slices.Sorted(slices.Values(m.samples[:min(m.n, len(m.samples))]))
	rank := (len(sorted)*overheadPercentile + 99) / 100 // the smallest with 95 % at or below it
	return max(sorted[rank-1], minOverhead)
}

// ServerClock keeps the platform's clock beside ours, by the answers to heartbeats:
// the answer that took least time there and back says best how the two stand
// (Cristian 1989). It is safe for concurrent use.
type ServerClock struct {
	mu     sync.Mutex
	trip   time.Duration // there and back, of the sample in use
	server time.Time     // what their clock showed
	local  time.Time     // at this moment of ours (with its monotonic reading)
}

// maxSampleAge is how long a good sample is kept: clocks drift apart by some
// ten microseconds a second.
const maxSampleAge = time.Minute

// Observe takes an answer: when it was asked for, when it came, and the time
// that it carries.
func (p *ServerClock) Observe(sent, received, server time.Time) {
	trip := received.Sub(sent)
	if server.IsZero() || trip < 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	local := sent.Add(trip / 2)
	off := p.server.Add(local.Sub(p.local)).Sub(server).Abs() // what the sample in use would have said
	// Both can be wrong by half their trips; more means that a clock was set.
	jumped := off > (p.trip+trip)/2+time.Millisecond*100
	if p.local.IsZero() || jumped || trip <= p.trip || received.Sub(p.local) > maxSampleAge {
		p.trip, p.server, p.local = trip, server, local
	}
}

// RoundTrip is the time there and back of the best recent answer; 0: none yet.
func (p *ServerClock) RoundTrip() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trip
}

// Age is how long ago, at our time now, the platform's clock showed server.
// It is never negative, and 0 as long as no answer has been seen.
func (p *ServerClock) Age(server, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.local.IsZero() || server.IsZero() {
		return 0
	}
	theirs := p.server.Add(now.Sub(p.local))
	return max(theirs.Sub(server), 0)
}
