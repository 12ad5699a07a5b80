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

	mu     sync.Mutex
	until  time.Time // when the last ping that was answered was sent
	last   lapse     // the last one that has ended
	lapses []lapse   // those that have ended within rememberLapses, oldest first
	told   time.Time // up to when lapses have been logged
}

// lapse is a time in which players may not have reached us.
type lapse struct{ from, to time.Time }

const (
	pingEvery   = 50 * time.Millisecond
	pingTimeout = 2 * time.Second
	// minLapse is the shortest lapse: a busy machine may take some pings to answer.
	minLapse = 250 * time.Millisecond
	// rememberLapses is much longer than an instance may be silent.
	rememberLapses = time.Minute
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
		sleep(ctx, pingEvery)
	}
}

// answered notes the answer to a ping.
func (r *reach) answered(sent, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.until) >= minLapse {
		r.ended(lapse{r.until, now})
	}
	r.until = sent
}

// ended notes a lapse that has ended. The caller holds r.mu.
func (r *reach) ended(l lapse) {
	old := slices.IndexFunc(r.lapses, func(o lapse) bool { return l.to.Sub(o.to) < rememberLapses })
	if old < 0 {
		old = len(r.lapses)
	}
	r.last, r.lapses = l, append(slices.Delete(r.lapses, 0, old), l)
}

// missed notes a lapse of which the pings know nothing: the server answered, but it was
// cut off from others.
func (r *reach) missed(from, to time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended(lapse{from, to})
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
// at a time, although it could have. Lapses do not count, or on a busy machine, which has one
// every second, nobody would ever be gone.
func (r *reach) silence(heard time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	silent, from := r.until.Sub(heard), heard
	for _, l := range r.lapses { // one may begin before the last ends, when the ping was sent that ended it
		if l.from.After(from) {
			from = l.from
		}
		to := l.to
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
// most. Right after a lapse that is forgiven, since what was sent may still be on its way
// through this process, but not for ever: on a busy machine the next lapse follows at once.
func (r *reach) gone(heard time.Time, most time.Duration) bool {
	until, last := r.heardUntil(), r.ending()
	return r.silence(heard) > most && (until.Sub(last) > most || until.Sub(heard) > maxForgiven*most)
}

// maxForgiven is how many times as long as it may be silent an instance is waited for at
// most while lapses follow each other.
const maxForgiven = 4

// ending returns the end of the last lapse that has ended.
func (r *reach) ending() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.to
}

// longLapse is the shortest lapse in which an answer may be lost: with it, a connection may
// have been given up.
const longLapse = storeWait / 4

// lapsed reports whether there was a long lapse since a time, or is one.
func (r *reach) lapsed(since, now time.Time) bool {
	l := r.lapse(now)
	return l.to.After(since) && l.to.Sub(l.from) >= longLapse
}

// news reports whether a lapse has not been logged yet: each of a thousand games notices it,
// and of a process that was stopped two are seen, of which one begins just after the other.
func (r *reach) news(l lapse) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.from.Before(r.told) {
		return false
	}
	r.told = l.to
	return true
}

// since returns the lapses that ended after a time, oldest first, with the one under way.
func (r *reach) since(at, now time.Time) (all []lapse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lapses {
		if l.to.After(at) {
			all = append(all, l)
		}
	}
	if now.Sub(r.until) >= minLapse && now.After(at) {
		all = append(all, lapse{r.until, now})
	}
	return all
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
