package play

import (
	"sync"
	"time"
)

// ServerClock estimates the platform's clock from the answers to heartbeats. The
// answer with the shortest round trip is the most accurate (Cristian 1989). It is
// safe for concurrent use.
type ServerClock struct {
	mu     sync.Mutex
	trip   time.Duration // round trip of the sample in use
	server time.Time     // the platform's time
	local  time.Time     // the same moment on our clock, with its monotonic reading
}

// maxSampleAge is how long a sample with a short round trip is preferred. Clocks
// drift apart by about ten microseconds a second.
const maxSampleAge = time.Minute

// Observe adds an answer with the platform's time.
func (c *ServerClock) Observe(sent, received, server time.Time) {
	trip := received.Sub(sent)
	if server.IsZero() || trip < 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	local := sent.Add(trip / 2)
	off := c.server.Add(local.Sub(c.local)).Sub(server).Abs() // from what the sample in use predicts
	// Each can be wrong by half its round trip. More means that a clock was set.
	jumped := off > (c.trip+trip)/2+time.Millisecond*100
	if c.local.IsZero() || jumped || trip <= c.trip || received.Sub(c.local) > maxSampleAge {
		c.trip, c.server, c.local = trip, server, local
	}
}

// RoundTrip returns the round trip of the sample in use, 0 before the first.
func (c *ServerClock) RoundTrip() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trip
}

// Age returns the time from server, on the platform's clock, to now on ours. It is never
// negative, and 0 before the first sample.
func (c *ServerClock) Age(server, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.local.IsZero() || server.IsZero() {
		return 0
	}
	theirs := c.server.Add(now.Sub(c.local))
	return max(theirs.Sub(server), 0)
}
