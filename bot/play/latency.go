package play

import (
	"slices"
	"sync"
	"time"
)

// latency measures what a move costs on the clock beyond the thinking: the time
// from sending it until the platform has accepted it. It is safe for concurrent
// use.
type latency struct {
	mu      sync.Mutex
	samples [50]time.Duration // the latest, as a ring
	n       int               // total number
}

const (
	// minOverhead is the time of two goroutines and a timer.
	minOverhead = 5 * time.Millisecond
	// One move in twenty may cost more. The time manager keeps a reserve for those.
	overheadPercentile = 95
)

// newLatency starts with an estimate, such as the round trip of a heartbeat.
func newLatency(first time.Duration) *latency {
	l := new(latency)
	l.Add(first)
	return l
}

// Add adds a measurement.
func (l *latency) Add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples[l.n%len(l.samples)] = max(d, 0)
	l.n++
}

// Overhead returns the 95th percentile of the last 50 measurements.
func (l *latency) Overhead() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	sorted := slices.Sorted(slices.Values(l.samples[:min(l.n, len(l.samples))]))
	rank := (len(sorted)*overheadPercentile + 99) / 100 // the smallest with 95 % at or below it
	return max(sorted[rank-1], minOverhead)
}
