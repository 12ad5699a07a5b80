package arena

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
)

// leases are the claims of this process, in a bucket whose keys expire: one for
// each game it referees and one for the rounds of the ladder. A lease decides
// who tries; what was really done, the logs decide.
type leases struct {
	kv   jetstream.KeyValue
	name string
	ttl  time.Duration
	log  zerolog.Logger
	off  func(error) bool // store.off

	mu   sync.Mutex
	held map[string]*lease
	seen map[string]time.Time // when the watcher last saw a key taken or renewed, by anybody
}

// lease is a claim that is held.
type lease struct {
	key      string
	revision uint64
	renewed  time.Time
	noRoom   time.Time // when the bucket last refused a renewal for want of space
	lost     context.CancelCauseFunc
}

func newLeases(kv jetstream.KeyValue, name string, ttl time.Duration, off func(error) bool, log zerolog.Logger) *leases {
	return &leases{kv: kv, name: name, ttl: ttl, off: off, log: log, held: make(map[string]*lease), seen: make(map[string]time.Time)}
}

// take claims a key; ok is false when somebody else has it, or the bucket
// can't be reached. When the claim is lost later, lost is called with the reason.
func (l *leases) take(ctx context.Context, key string, lost context.CancelCauseFunc) bool {
	try, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	began := time.Now()
	rev, err := l.kv.Create(try, key, []byte(l.name))
	if err != nil {
		if !errors.Is(err, jetstream.ErrKeyExists) && ctx.Err() == nil {
			l.log.Warn().Err(err).Str("lease", key).Msg("lease not taken")
		}
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[key] = &lease{key: key, revision: rev, renewed: began, lost: lost}
	return true
}

// giveBackWithin bounds the wait for a courtesy: a lease that is not given back
// expires.
const giveBackWithin = 500 * time.Millisecond

// release gives a claim back, so that others need not wait until it expires.
func (l *leases) release(ctx context.Context, key string) {
	l.mu.Lock()
	held := l.held[key]
	delete(l.held, key)
	l.mu.Unlock()
	if held == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, giveBackWithin)
	defer cancel()
	if err := l.kv.Delete(ctx, key, jetstream.LastRevision(held.revision)); err != nil {
		l.log.Debug().Err(err).Str("lease", key).Msg("lease not given back; it expires")
	}
}

// drop forgets a claim without giving it back.
func (l *leases) drop(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, key)
}

// fresh reports whether a claim was renewed so lately that nobody else can
// have it, or the bucket has no room: then nobody else can claim anything.
func (l *leases) fresh(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held[key]
	return held != nil && (time.Since(held.renewed) < l.ttl || time.Since(held.noRoom) < l.ttl)
}

// free reports whether nobody seems to hold the key. It may be wrong either
// way for a moment; take finds out.
func (l *leases) free(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.seen[key]) > 2*l.ttl && l.held[key] == nil
}

// renewAtOnce is how many claims are renewed at the same time.
const renewAtOnce = 32

// keep renews the claims until ctx ends.
func (l *leases) keep(ctx context.Context) {
	tick := time.NewTicker(l.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l.mu.Lock()
		all := make([]*lease, 0, len(l.held))
		for _, held := range l.held {
			all = append(all, held)
		}
		l.mu.Unlock()
		var several errgroup.Group
		several.SetLimit(renewAtOnce)
		for _, held := range all {
			several.Go(func() error { l.renew(ctx, held); return nil })
		}
		several.Wait()
	}
}

// renew prolongs one claim, if the bucket can be reached.
func (l *leases) renew(ctx context.Context, held *lease) {
	ctx, cancel := context.WithTimeout(ctx, l.ttl/3)
	defer cancel()
	began := time.Now()
	rev, err := l.kv.Update(ctx, held.key, []byte(l.name), held.revision)
	if err != nil && !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		l.refused(held, err, began)
		return
	}
	if err != nil {
		// Expired, or an earlier renewal of unknown outcome went through.
		entry, getErr := l.kv.Get(ctx, held.key)
		switch {
		case getErr == nil && string(entry.Value()) == l.name:
			rev = entry.Revision()
		case errors.Is(getErr, jetstream.ErrKeyNotFound):
			if rev, err = l.kv.Create(ctx, held.key, []byte(l.name)); err != nil {
				l.refused(held, err, began)
				return
			}
		case getErr == nil:
			l.drop(held.key)
			held.lost(errLost)
			return
		default:
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[held.key] == held {
		held.revision, held.renewed = rev, began
	}
}

// refused notes a renewal that failed because the disk is full.
func (l *leases) refused(held *lease, err error, at time.Time) {
	if full(err) || l.off(err) {
		l.mu.Lock()
		held.noRoom = at
		l.mu.Unlock()
	}
}

// watch follows who holds what until ctx ends.
func (l *leases) watch(ctx context.Context) error {
	w, err := l.kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	go func() {
		defer w.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case entry, ok := <-w.Updates():
				if !ok {
					return
				}
				if entry == nil {
					continue // all that was there has been seen
				}
				l.mu.Lock()
				if entry.Operation() == jetstream.KeyValuePut {
					l.seen[entry.Key()] = time.Now()
				} else {
					delete(l.seen, entry.Key())
				}
				l.mu.Unlock()
			}
		}
	}()
	return nil
}
