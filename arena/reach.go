package arena

import (
	"context"
	"slices"
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

	mu          sync.Mutex
	until       time.Time // when the last ping that was answered was sent
	last        outage    // the last one that has ended
	outages     []outage  // those that have ended within rememberOutages, oldest first
	told        time.Time // up to when outages have been logged
	reconnects  uint64    // how often the connection was made again, as noticed
	reconnected time.Time // when that was noticed last
}

// outage is a time in which players may not have reached us.
type outage struct{ from, to time.Time }

const (
	pingEvery   = 50 * time.Millisecond
	pingTimeout = 2 * time.Second
	// minOutage is the shortest outage: a busy machine may take some pings to answer.
	minOutage = 250 * time.Millisecond
	// rememberOutages is much longer than an instance may be silent.
	rememberOutages = time.Minute
)

func newReach(nc *nats.Conn) *reach {
	return &reach{nc: nc, until: time.Now(), reconnects: nc.Stats().Reconnects}
}

// run pings the server until ctx ends.
func (r *reach) run(ctx context.Context) {
	for ctx.Err() == nil {
		sent := time.Now()
		within, cancel := context.WithTimeout(ctx, pingTimeout)
		if err := r.nc.FlushWithContext(within); err == nil {
			r.answered(sent, time.Now())
		}
		cancel()
		r.noteReconnects()
		sleep(ctx, pingEvery)
	}
}

// answered notes the answer to a ping.
func (r *reach) answered(sent, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.until) >= minOutage {
		r.ended(outage{r.until, now})
	}
	r.until = sent
}

// ended notes an outage that has ended. The caller holds r.mu.
func (r *reach) ended(o outage) {
	old := slices.IndexFunc(r.outages, func(earlier outage) bool { return o.to.Sub(earlier.to) < rememberOutages })
	if old < 0 {
		old = len(r.outages)
	}
	r.last, r.outages = o, append(slices.Delete(r.outages, 0, old), o)
}

// missed notes an outage of which the pings know nothing: the server answered, but it was
// cut off from others.
func (r *reach) missed(from, to time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended(outage{from, to})
	r.until = to
}

// heardUntil returns the time up to which everything that players sent has reached
// this process.
func (r *reach) heardUntil() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.until
}

// silence returns for how long nothing of somebody has reached this process that was last heard
// at a time, although it could have. Outages do not count, or on a busy machine, which has one
// every second, nobody would ever be gone.
func (r *reach) silence(heard time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	silent, from := r.until.Sub(heard), heard
	for _, o := range r.outages { // one may begin before the last ends, when the ping was sent that ended it
		if o.from.After(from) {
			from = o.from
		}
		to := o.to
		if to.After(r.until) {
			to = r.until
		}
		if to.After(from) {
			silent -= to.Sub(from)
			from = to
		}
	}
	return silent
}

// gone reports whether somebody who was last heard at a time has been silent for longer than
// most. Right after an outage that is forgiven, since what was sent may still be on its way
// through this process, but not for ever: on a busy machine the next outage follows at once.
func (r *reach) gone(heard time.Time, most time.Duration) bool {
	until, last := r.heardUntil(), r.ending()
	return r.silence(heard) > most && (until.Sub(last) > most || until.Sub(heard) > maxForgiven*most)
}

// maxForgiven is how many times as long as it may be silent an instance is waited for at
// most while outages follow each other.
const maxForgiven = 4

// ending returns the end of the last outage that has ended.
func (r *reach) ending() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.to
}

// longOutage is the shortest outage in which an answer may be lost: with it, a connection may
// have been given up.
const longOutage = storeWait / 4

// mayHaveLost reports whether an answer to what was asked since a time may be lost: there was a
// long outage, or is one, or the connection was made again, however fast.
func (r *reach) mayHaveLost(since, now time.Time) bool {
	o := r.outage(now)
	return o.to.After(since) && o.to.Sub(o.from) >= longOutage || r.noteReconnects().After(since)
}

// noteReconnects returns when a new connection was last noticed, which is after it was made.
func (r *reach) noteReconnects() time.Time {
	n := r.nc.Stats().Reconnects
	r.mu.Lock()
	defer r.mu.Unlock()
	if n != r.reconnects {
		r.reconnects, r.reconnected = n, time.Now()
	}
	return r.reconnected
}

// news reports whether an outage has not been logged yet: each of a thousand games notices it,
// and of a process that was stopped two are seen, of which one begins just after the other.
func (r *reach) news(o outage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.from.Before(r.told) {
		return false
	}
	r.told = o.to
	return true
}

// outagesSince returns the outages that ended after a time, oldest first, with the one under way.
func (r *reach) outagesSince(at, now time.Time) (all []outage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.outages {
		if o.to.After(at) {
			all = append(all, o)
		}
	}
	if now.Sub(r.until) >= minOutage && now.After(at) {
		all = append(all, outage{r.until, now})
	}
	return all
}

// outage returns the outage under way, or the last one.
func (r *reach) outage(now time.Time) outage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.until) >= minOutage {
		return outage{r.until, now}
	}
	return r.last
}
