package arena

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// reach knows up to when everything that players sent has reached this process. It
// pings the NATS server: the answer comes behind all messages that the server had
// for us before it. Without answers the server hangs, the network is slow, or this
// process was stopped, as by a pause of its machine; which of them does not matter,
// for none is the players' fault.
type reach struct {
	nc *nats.Conn

	mu    sync.Mutex
	until time.Time // when the last ping that was answered was sent
	last  lapse     // the last one that has ended
}

// lapse is a time in which players may not have reached us.
type lapse struct{ from, to time.Time }

const (
	pingEvery   = 50 * time.Millisecond
	pingTimeout = 2 * time.Second
	// minLapse is the shortest lapse: a busy machine may take some pings to answer.
	minLapse = 250 * time.Millisecond
)

func newReach(nc *nats.Conn) *reach { return &reach{nc: nc, until: time.Now()} }

// run pings the server until ctx ends.
func (r *reach) run(ctx context.Context) {
	for ctx.Err() == nil {
		sent := time.Now()
		within, cancel := context.WithTimeout(ctx, pingTimeout)
		if err := r.nc.FlushWithContext(within); err == nil {
			r.answered(sent, time.Now())
		}
		cancel()
		rest(ctx, pingEvery)
	}
}

// answered notes the answer to a ping.
func (r *reach) answered(sent, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.until) >= minLapse {
		r.last = lapse{r.until, now}
	}
	r.until = sent
}

// missed notes a lapse of which the pings know nothing: the server answered, but it was
// cut off from others.
func (r *reach) missed(from, to time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.until = lapse{from, to}, to
}

// heardUntil returns the time up to which everything that players sent has reached
// this process.
func (r *reach) heardUntil() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until
}

// longLapse is the shortest lapse in which an answer may be lost: with it, a connection may
// have been given up.
const longLapse = storeWait / 4

// lapsed reports whether there was a long lapse since a time, or is one.
func (r *reach) lapsed(since, now time.Time) bool {
	l := r.lapse(now)
	return l.to.After(since) && l.to.Sub(l.from) >= longLapse
}

// lapse returns the lapse under way, or the last one.
func (r *reach) lapse(now time.Time) lapse {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.until) >= minLapse {
		return lapse{r.until, now}
	}
	return r.last
}
