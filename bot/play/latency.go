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
	samples samples
}

const (
	// minOverhead is the time of two goroutines and a timer.
	minOverhead = 5 * time.Millisecond
	// One move in twenty may cost more. The time manager keeps a reserve for those.
	overheadPercentile = 95
	// latencySamples are the measurements that count.
	latencySamples = 50
)

// newLatency starts with an estimate, such as the round trip of a heartbeat.
func newLatency(first time.Duration) *latency {
	l := &latency{samples: newSamples(latencySamples)}
	l.Add(first)
	return l
}

// Add adds a measurement.
func (l *latency) Add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples.add(d)
}

// Overhead returns the 95th percentile of the last 50 measurements.
func (l *latency) Overhead() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.samples.percentiles(overheadPercentile)[0], minOverhead)
}

// samples are the latest measurements, as a ring.
type samples struct {
	ring []time.Duration
	n    int // total number
}

// newSamples keeps the latest measurements, up to most.
func newSamples(most int) samples { return samples{ring: make([]time.Duration, most)} }

func (s *samples) add(d time.Duration) {
	s.ring[s.n%len(s.ring)] = max(d, 0)
	s.n++
}

// kept returns how many measurements are kept.
func (s *samples) kept() int { return min(s.n, len(s.ring)) }

// percentiles returns, for each percentage, the smallest measurement with that share at
// or below it; 0 without a measurement.
func (s *samples) percentiles(of ...int) []time.Duration {
	sorted := slices.Sorted(slices.Values(s.ring[:s.kept()]))
	values := make([]time.Duration, len(of))
	for i, percent := range of {
		if rank := (len(sorted)*percent + 99) / 100; rank > 0 {
			values[i] = sorted[rank-1]
		}
	}
	return values
}
