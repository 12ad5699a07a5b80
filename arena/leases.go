package arena

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/protocol"
)

// leases holds this process's leases, in a bucket whose keys expire: one of its own,
// by which its games are its own (see owners) and which shows whether the store has
// room, and one for the ladder. A lease only decides which arena tries; the logs
// decide what was done.
type leases struct {
	kv    bucket
	own   string // key of the own lease, which no other process has had
	value string // of all leases: no other process stores it, whatever its name
	ttl   time.Duration
	log   zerolog.Logger
	off   func(error, time.Time) bool // store.off
	// online reports whether there is a connection. Without one nothing is asked, as
	// [protocol.Client] does.
	online func() bool
	// failOver goes to another server of the cluster through which renewed succeeds, if
	// there is one. The bucket has taken nothing since the time that it gets.
	failOver func(ctx context.Context, since time.Time)

	mu     sync.Mutex
	stored time.Time // when the bucket last took a lease of ours
	noRoom time.Time // when the bucket last had no space
	held   map[string]*lease
	seen   map[string]time.Time // when the watcher last saw a key taken or renewed by any arena
	names  map[string]string    // of arenas, by the keys of their own leases, while these hold
	silent map[string]time.Time // when the watcher last saw an arena's own lease renewed that has expired since, by name
	taken  uint64               // how often the own lease was taken
}

// lease is one that this process holds.
type lease struct {
	key      string
	revision uint64
	renewed  time.Time
	noRoom   time.Time // when the bucket last had no space for a renewal
	lost     context.CancelCauseFunc
}

func newLeases(kv bucket, name string, ttl time.Duration, off func(error, time.Time) bool, online func() bool, log zerolog.Logger) *leases {
	id := protocol.NewID()
	return &leases{
		kv: kv, own: ownLease + id, value: name + " " + id, ttl: ttl, off: off, online: online, log: log, stored: time.Now(),
		held: make(map[string]*lease), seen: make(map[string]time.Time), names: make(map[string]string), silent: make(map[string]time.Time),
	}
}

// errLeased means that another arena holds the lease.
var errLeased = errors.New("another arena holds the lease")

// errNoRoomYet means that the store had no room, or did not answer, until a moment ago, so that the
// arenas that hold leases may not have renewed them yet.
var errNoRoomYet = errors.New("the store had no room, or did not answer, until a moment ago")

// take acquires the lease of a key. The error is errLeased when another arena holds
// it. If the lease is lost later, lost is called with the reason.
func (l *leases) take(ctx context.Context, key string, lost context.CancelCauseFunc) error {
	if l.short() {
		return fmt.Errorf("lease %s: %w", key, errNoRoomYet)
	}
	return l.create(ctx, l.kv, key, lost)
}

// short reports whether the store had no room lately. The games that it could not
// store meanwhile are those of the arenas that had their leases.
func (l *leases) short() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.noRoom) < 2*l.ttl
}

func (l *leases) create(ctx context.Context, kv jetstream.KeyValue, key string, lost context.CancelCauseFunc) error {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	began := time.Now()
	rev, err := kv.Create(ctx, key, []byte(l.value))
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
		return fmt.Errorf("lease %s: %w", key, errLeased)
	case err != nil:
		l.noteRoom(err, began)
		return fmt.Errorf("lease %s: %w", key, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[key] = &lease{key: key, revision: rev, renewed: began, lost: lost}
	l.stored = time.Now()
	if key == l.own {
		l.taken++
	}
	return nil
}

// noteRoom notes that the store has no space, if that is the error.
func (l *leases) noteRoom(err error, at time.Time) {
	if full(err) {
		l.mu.Lock()
		l.noRoom = at
		l.mu.Unlock()
	}
}

// alive reports whether our own lease holds, so that no other arena can have taken our
// games, and how often it was taken: again after it had expired.
func (l *leases) alive() (taken uint64, ok bool) {
	ok = l.fresh(l.own)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken, ok
}

// gone reports whether an arena, by the key of its own lease, seems to have ended. It
// may be wrong for a moment; ended decides.
func (l *leases) gone(own string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.seen[own]) > l.unseen()
}

// unseen is how long nobody has seen a lease that has expired: the watcher may not have
// seen that, either.
func (l *leases) unseen() time.Duration { return l.ttl + l.ttl/3 }

// ended asks the store whether an arena has lost its own lease.
func (l *leases) ended(ctx context.Context, own string) (bool, error) {
	_, err := l.kv.Get(ctx, own)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return true, nil
	}
	return false, err
}

// giveBackWithin bounds the wait for a release; a lease that is not released
// expires anyway.
const giveBackWithin = 500 * time.Millisecond

// release releases a lease, so that others don't have to wait until it expires.
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
		l.log.Debug().Err(err).Str("lease", key).Msg("lease not released; it expires")
	}
}

// drop stops renewing a lease without releasing it.
func (l *leases) drop(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, key)
}

// fresh reports whether a lease was renewed so recently that no other arena can
// hold it. That also holds while the bucket has no space, since then no arena
// can take a lease.
func (l *leases) fresh(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held[key]
	return held != nil && held.holds(time.Now(), l.ttl)
}

// holds reports whether no other arena can hold the lease at a time.
func (held *lease) holds(at time.Time, ttl time.Duration) bool {
	return at.Sub(held.renewed) < ttl || at.Sub(held.noRoom) < ttl
}

// free reports whether no arena seems to hold the key. It may be wrong for a
// moment; take decides.
func (l *leases) free(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.seen[key]) > l.unseen() && l.held[key] == nil
}

// ownLease begins the key of an arena's own lease; an id follows.
const ownLease = "arena-"

// takeOwn takes the own lease. An error does not matter: it is tried again.
func (l *leases) takeOwn(ctx context.Context) { l.create(ctx, l.kv, l.own, func(error) {}) }

// keep renews the leases until ctx ends.
func (l *leases) keep(ctx context.Context) {
	tick := time.NewTicker(l.ttl / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !l.online() {
			continue
		}
		l.mu.Lock()
		own := l.held[l.own] != nil
		l.mu.Unlock()
		if !own {
			l.takeOwn(ctx)
		}
		l.mu.Lock()
		all := make([]*lease, 0, len(l.held))
		for _, held := range l.held {
			all = append(all, held)
		}
		l.mu.Unlock()
		for _, held := range all {
			l.renew(ctx, l.kv, held)
		}
	}
}

// watchOwn says once that the own lease has expired, and once that it holds again, until ctx
// ends. What players send meanwhile is refused without a line for each of them. Without a
// connection, and before the lease was first taken, other lines say what is missing.
func (l *leases) watchOwn(ctx context.Context) {
	expired := false
	for ; ctx.Err() == nil; sleep(ctx, l.ttl/12) {
		taken, ok := l.alive()
		switch {
		case ok && expired:
			l.log.Info().Msg("the store answers again")
		case !ok && !expired && taken > 0 && l.online():
			l.log.Warn().Msg("the store does not answer: games wait until it does")
		default:
			continue
		}
		expired = !ok
	}
}

// cutOff reports whether the bucket has taken nothing for half the time of a lease, and
// since when: the server hangs, or is cut off from the cluster. A full disk is neither.
func (l *leases) cutOff() (since time.Time, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stored, time.Since(l.stored) >= l.ttl/2 && time.Since(l.noRoom) >= 2*l.ttl
}

// leaveMinority goes to another server whenever the bucket has taken nothing for so long
// that our lease has expired, and takes it there, until ctx ends. This server hangs, or is
// cut off from the cluster, so that its clients stay connected and it has no streams.
func (l *leases) leaveMinority(ctx context.Context) {
	for ctx.Err() == nil {
		sleep(ctx, l.ttl/12)
		since, cut := l.cutOff()
		if !cut || !l.online() {
			continue
		}
		within, cancel := context.WithTimeout(ctx, l.ttl/6)
		here := l.renewOwn(within, l.kv)
		cancel()
		if !here {
			l.failOver(ctx, since)
		}
	}
}

// renewOwn extends or takes the own lease through another connection.
func (l *leases) renewOwn(ctx context.Context, kv jetstream.KeyValue) bool {
	l.mu.Lock()
	held := l.held[l.own]
	l.mu.Unlock()
	if held == nil {
		return l.create(ctx, kv, l.own, func(error) {}) == nil
	}
	return l.renew(ctx, kv, held)
}

// renew extends one lease, and reports whether the bucket took it.
func (l *leases) renew(ctx context.Context, kv jetstream.KeyValue, held *lease) bool {
	ctx, cancel := context.WithTimeout(ctx, l.ttl/3)
	defer cancel()
	began := time.Now()
	l.mu.Lock()
	revision := held.revision
	l.mu.Unlock()
	rev, again, err := hold(ctx, kv, held.key, l.value, revision)
	switch {
	case errors.Is(err, errLost):
		l.drop(held.key)
		held.lost(errLost)
		return false
	case err != nil:
		l.refused(held, err, began)
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if again && held.key == l.own { // others may have taken our games
		l.taken++
	}
	if l.held[held.key] == held {
		held.revision, held.renewed = rev, began
	}
	l.stored = time.Now()
	return true
}

// hold stores the value of a key again that was ours at a revision, and returns the new
// one. Again reports that nobody had the key, as when it had expired. The error is
// errLost if somebody else has it.
func hold(ctx context.Context, kv jetstream.KeyValue, key, value string, revision uint64) (next uint64, again bool, err error) {
	for {
		next, err = kv.Update(ctx, key, []byte(value), revision)
		if !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return next, false, err
		}
		switch entry, failed := kv.Get(ctx, key); {
		case errors.Is(failed, jetstream.ErrKeyNotFound):
			next, err = kv.Create(ctx, key, []byte(value))
			return next, true, err
		case failed != nil:
			return 0, false, failed
		case string(entry.Value()) != value:
			return 0, false, errLost
		case entry.Revision() == revision:
			// A leader that is cut off refuses what does not follow an update that it could
			// not store. Nothing has changed, and nothing was stored.
			return 0, false, err
		default: // an earlier attempt of unknown outcome went through, or the bucket went back
			revision = entry.Revision()
		}
	}
}

// refused notes that a renewal failed because the disk is full. A lease that had expired
// before may be another arena's, which took it while there was room.
func (l *leases) refused(held *lease, err error, at time.Time) {
	if !full(err) && !l.off(err, at) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noRoom = at
	if held.holds(at, l.ttl) {
		held.noRoom = at
	}
}

// watch follows which keys are held until ctx ends.
func (l *leases) watch(ctx context.Context) error {
	return l.kv.follow(ctx, func(c change) {
		l.mu.Lock()
		defer l.mu.Unlock()
		now := time.Now()
		if c.value == nil {
			if at, ok := l.seen[c.key]; ok && c.expired && strings.HasPrefix(c.key, ownLease) {
				l.silent[l.names[c.key]] = at
			}
			delete(l.seen, c.key)
			delete(l.names, c.key)
			return
		}
		l.seen[c.key] = now
		if strings.HasPrefix(c.key, ownLease) {
			name, _, _ := strings.Cut(string(c.value), " ")
			l.names[c.key] = name
			delete(l.silent, name)
		}
	})
}

// rememberSilent is how long an arena is remembered whose own lease has expired.
const rememberSilent = time.Hour

// silentArenas returns the other arenas whose own leases have expired, with the latest first.
func (l *leases) silentArenas(now time.Time) (silent []protocol.SilentArena) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.silent, func(_ string, at time.Time) bool { return now.Sub(at) > rememberSilent })
	ours, _, _ := strings.Cut(l.value, " ")
	for name, at := range l.silent {
		if name != ours {
			silent = append(silent, protocol.SilentArena{Instance: protocol.InstanceID(name), HeardMS: now.Sub(at).Milliseconds()})
		}
	}
	slices.SortFunc(silent, func(x, y protocol.SilentArena) int {
		return cmp.Or(cmp.Compare(x.HeardMS, y.HeardMS), cmp.Compare(x.Instance, y.Instance))
	})
	return silent[:min(len(silent), protocol.MaxSilentArenas)]
}
