package arena

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"sparring/protocol"
)

// owners knows which arena referees which game, by a bucket whose keys don't expire: a
// game is an arena's as long as that arena renews its own lease. So a running game
// costs nothing here, however long it takes. Like leases, it only decides which arena
// tries; the logs decide what was done.
type owners struct {
	kv     bucket
	leases *leases
	log    zerolog.Logger

	mu     sync.Mutex
	known  map[string]owner  // by game, as the watcher saw it last
	held   map[string]*owned // games of this process
	taking map[string]bool   // games that are about to be
}

// owner is an entry of the bucket.
type owner struct {
	arena    string // key of its own lease
	revision uint64
}

// owned is a game of this process.
type owned struct {
	revision  uint64
	confirmed uint64 // the own lease under which it is known to be ours, see leases.alive
	lost      context.CancelCauseFunc
}

func newOwners(kv bucket, l *leases, log zerolog.Logger) *owners {
	return &owners{kv: kv, leases: l, log: log,
		known: make(map[string]owner), held: make(map[string]*owned), taking: make(map[string]bool)}
}

// take makes a game ours. The error is errLeased when it is another arena's that is
// alive, or ours already: the second of two that take it must not release it when it
// finds the log begun. If the game is lost later, lost is called with the reason.
func (o *owners) take(ctx context.Context, g string, lost context.CancelCauseFunc) error {
	if o.leases.short() {
		return fmt.Errorf("game %s: %w", g, errNoRoomYet)
	}
	taken, _ := o.leases.alive() // without, the game is not confirmed until we are again
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	o.mu.Lock()
	before, known := o.known[g]
	ours := o.held[g] != nil || o.taking[g]
	if !ours {
		o.taking[g] = true
	}
	o.mu.Unlock()
	if ours {
		return fmt.Errorf("game %s: %w", g, errLeased)
	}
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.taking, g)
	}()
	began := time.Now()
	var revision uint64
	var err error
	if known {
		if before.arena != o.leases.own {
			ended, err := o.leases.ended(ctx, before.arena)
			if err != nil {
				return fmt.Errorf("game %s: %w", g, err)
			}
			if !ended {
				return fmt.Errorf("game %s: %w", g, errLeased)
			}
		}
		revision, err = o.kv.Update(ctx, g, []byte(o.leases.own), before.revision)
	} else {
		revision, err = o.kv.Create(ctx, g, []byte(o.leases.own))
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		o.look(ctx, g)
		return fmt.Errorf("game %s: %w", g, errLeased)
	case err != nil:
		o.leases.noteRoom(err, began)
		return fmt.Errorf("game %s: %w", g, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held[g] = &owned{revision, taken, lost}
	return nil
}

// look reads the owner of a game from the bucket, in case the watcher has missed a change: without
// a connection for longer than markerFor, it never sees that a game was released, and by what it
// knew, nobody could take that game again.
func (o *owners) look(ctx context.Context, g string) {
	o.mu.Lock()
	before := o.known[g].revision
	o.mu.Unlock()
	e, err := o.kv.Get(ctx, g)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.known[g].revision != before: // the watcher has seen it meanwhile
	case errors.Is(err, jetstream.ErrKeyNotFound):
		delete(o.known, g)
	case err == nil:
		o.known[g] = owner{string(e.Value()), e.Revision()}
	}
}

// release makes a game nobody's, so that others don't have to wait until this process
// has ended.
func (o *owners) release(ctx context.Context, g string) {
	o.mu.Lock()
	held := o.held[g]
	delete(o.held, g)
	o.mu.Unlock()
	if held == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, giveBackWithin)
	defer cancel()
	if err := o.kv.Purge(ctx, g, jetstream.LastRevision(held.revision), jetstream.PurgeTTL(markerFor)); err != nil {
		o.log.Debug().Err(err).Str("game", g).Msg("game not released; it stays ours")
	}
}

// drop forgets that a game is ours, without releasing it. If it still is, it counts as
// free for this process alone.
func (o *owners) drop(g string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.held, g)
}

// fresh reports whether no other arena can have taken the game: it is ours, and our own
// lease holds.
func (o *owners) fresh(g string) bool {
	taken, ok := o.leases.alive()
	o.mu.Lock()
	defer o.mu.Unlock()
	held := o.held[g]
	return ok && held != nil && held.confirmed == taken
}

// free reports whether no arena seems to referee the game, and we are alive to do it. It
// may be wrong for a moment; take decides. Arenas of earlier builds hold a lease for
// each game.
func (o *owners) free(g string) bool {
	if _, alive := o.leases.alive(); !alive {
		return false
	}
	o.mu.Lock()
	by, known := o.known[g]
	held := o.held[g]
	o.mu.Unlock()
	switch {
	case held != nil, !o.leases.free(g):
		return false
	case !known, by.arena == o.leases.own:
		return true
	}
	return o.leases.gone(by.arena)
}

// elsewhere reports whether another arena that is alive has the game.
func (o *owners) elsewhere(g string) bool {
	o.mu.Lock()
	by, known := o.known[g]
	o.mu.Unlock()
	return known && by.arena != o.leases.own && !o.leases.gone(by.arena)
}

// confirmAtOnce is how many games are confirmed at the same time.
const confirmAtOnce = 32

// keep makes sure of our games whenever our own lease had expired, until ctx ends:
// meanwhile other arenas may have taken them.
func (o *owners) keep(ctx context.Context) {
	for ctx.Err() == nil {
		sleep(ctx, o.leases.ttl/3)
		taken, ok := o.leases.alive()
		if !ok {
			continue
		}
		unsure := make(map[string]*owned)
		o.mu.Lock()
		for g, held := range o.held {
			if held.confirmed != taken {
				unsure[g] = held
			}
		}
		o.mu.Unlock()
		var several errgroup.Group
		several.SetLimit(confirmAtOnce)
		for g, held := range unsure {
			several.Go(func() error { o.confirm(ctx, taken, g, held); return nil })
		}
		several.Wait()
	}
}

// confirm makes sure of one game, under an own lease.
func (o *owners) confirm(ctx context.Context, taken uint64, g string, held *owned) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	began := time.Now()
	revision, _, err := hold(ctx, o.kv, g, o.leases.own, held.revision)
	switch {
	case errors.Is(err, errLost):
		o.drop(g)
		held.lost(errLost)
		return
	case err != nil:
		o.leases.noteRoom(err, began) // and it is tried again
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	held.revision, held.confirmed = revision, taken
}

// watch follows the bucket until ctx ends. It returns when it has seen all keys.
func (o *owners) watch(ctx context.Context) error {
	return o.kv.follow(ctx, func(c change) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if c.value == nil {
			delete(o.known, c.key)
			return
		}
		o.known[c.key] = owner{string(c.value), c.revision}
	})
}

// tidy removes what arenas left that died between the end of a game and its release.
func (o *owners) tidy(ctx context.Context, unfinished func(protocol.GameID) bool) {
	o.mu.Lock()
	stale := make(map[string]uint64)
	for g, by := range o.known {
		if o.held[g] == nil && !unfinished(protocol.GameID(g)) && (by.arena == o.leases.own || o.leases.gone(by.arena)) {
			stale[g] = by.revision
		}
	}
	o.mu.Unlock()
	for g, revision := range stale {
		within, cancel := context.WithTimeout(ctx, storeWait)
		// It fails if another arena was faster, or else is tried at the next start.
		o.kv.Purge(within, g, jetstream.LastRevision(revision), jetstream.PurgeTTL(markerFor))
		cancel()
	}
}
