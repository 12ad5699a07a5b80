package arena

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/protocol"
)

// leaseArena opens the store of an arena, which does not run.
func leaseArena(t *testing.T) *Arena {
	t.Helper()
	cfg := quick()
	cfg.LeaseFor = 4 * time.Second // longer than a slow machine takes for a step
	a, err := New(t.Context(), arenatest.Connect(t, arenatest.StartServer(t, "").Platform()), cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// arenaLeases opens the leases and games of an arena that is no more than that.
func arenaLeases(t *testing.T, a *Arena, name string) (*leases, *owners) {
	t.Helper()
	l := newLeases(a.store.leases, name, a.cfg.LeaseFor, a.store.off, a.nc.IsConnected, zerolog.Nop())
	o := newOwners(a.store.owners, l, zerolog.Nop())
	if err := errors.Join(l.watch(t.Context()), o.watch(t.Context())); err != nil {
		t.Fatal(err)
	}
	l.takeOwn(t.Context())
	return l, o
}

// arenaWithGame is an arena that is no more than its leases and games, and owns the game "g1".
func arenaWithGame(t *testing.T) (*Arena, *owners) {
	t.Helper()
	a := leaseArena(t)
	l, o := arenaLeases(t, a, "one")
	go l.keep(t.Context())
	gametest.Eventually(t, "the game is taken", func() bool { return o.take(t.Context(), "g1", func(error) {}) == nil })
	gametest.Eventually(t, "the owner is known", func() bool { return o.knows("g1") })
	return a, o
}

// A store that has taken nothing for half the time of a lease may be cut off with the arena:
// players with another server to go to are not kept until the lease expires.
func TestCanStore(t *testing.T) {
	t.Parallel()
	a := leaseArena(t)
	a.leases.takeOwn(t.Context())
	silent := func(d time.Duration) {
		a.leases.mu.Lock()
		defer a.leases.mu.Unlock()
		a.leases.stored, a.leases.held[a.leases.own].renewed = time.Now().Add(-d), time.Now()
	}
	silent(0)
	if !a.canStore() {
		t.Error("a lease was just taken: want an arena that can store")
	}
	silent(a.cfg.LeaseFor / 2)
	if _, alive := a.leases.alive(); !alive || a.canStore() {
		t.Errorf("silent for half a lease: the lease holds: %v, want true; it can store: %v, want false", alive, a.canStore())
	}
	a.leases.noteRoom(&jetstream.APIError{ErrorCode: codeStorage}, time.Now())
	if !a.canStore() {
		t.Error("a full disk counts as a store that does not answer")
	}
}

// A game is its owner's as long as that renews its own lease. An arena whose lease had
// expired keeps the games that nobody took meanwhile, and loses the others.
func TestOwners(t *testing.T) {
	t.Parallel()
	a := leaseArena(t)
	ours, first := arenaLeases(t, a, "one")
	theirs, second := arenaLeases(t, a, "two")
	go theirs.keep(t.Context())
	lost := make(map[string]chan error)
	for _, g := range []string{"g1", "g2"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		lost[g] = make(chan error, 1)
		context.AfterFunc(ctx, func() { lost[g] <- context.Cause(ctx) })
		gametest.Eventually(t, "the first game is taken", func() bool { return first.take(t.Context(), g, cancel) == nil })
	}
	gametest.Eventually(t, "the other knows the owner", func() bool { return !second.free("g1") })
	// On a slow machine the store may seem to have no room.
	if err := second.take(t.Context(), "g1", func(error) {}); !errors.Is(err, errLeased) && !errors.Is(err, errNoRoomYet) {
		t.Fatalf("the game of an arena that is alive: %v, want %v", err, errLeased)
	}
	if !first.fresh("g1") || second.fresh("g1") {
		t.Error("the owner does not count as the owner")
	}

	// Its lease is not renewed, and expires.
	gametest.Eventually(t, "the game is free", func() bool { return second.free("g1") })
	gametest.Eventually(t, "the game is taken", func() bool { return second.take(t.Context(), "g1", func(error) {}) == nil })
	if first.fresh("g1") || first.fresh("g2") {
		t.Error("a game counts as ours while our lease has expired")
	}
	go ours.keep(t.Context())
	go first.keep(t.Context())
	select {
	case why := <-lost["g1"]:
		if !errors.Is(why, errLost) {
			t.Errorf("the game that another took ends with %v, want %v", why, errLost)
		}
	case <-time.After(patience):
		t.Fatal("the loss of the game is not noticed")
	}
	gametest.Eventually(t, "the other game is ours again", func() bool { return first.fresh("g2") })
	first.release(t.Context(), "g2")
	gametest.Eventually(t, "the game that was released is free", func() bool { return second.free("g2") })
	gametest.Eventually(t, "it is taken", func() bool { return second.take(t.Context(), "g2", func(error) {}) == nil })
	if len(lost["g2"]) > 0 {
		t.Error("a game that nobody had taken was lost")
	}
}

// A challenge that the queue delivers twice at once starts one game: the second of the two
// does not get it, so that it can't make it nobody's when it finds the log begun.
func TestTakenTwice(t *testing.T) {
	t.Parallel()
	_, o := arenaWithGame(t)
	if err := o.take(t.Context(), "g1", func(error) {}); !errors.Is(err, errLeased) && !errors.Is(err, errNoRoomYet) {
		t.Errorf("our game once more: %v, want %v", err, errLeased)
	}

	results := make(chan error, 2)
	for range 2 {
		go func() { results <- o.take(t.Context(), "g2", func(error) {}) }()
	}
	if one, two := <-results, <-results; one == nil && two == nil {
		t.Error("a game is taken twice at once")
	}
	o.release(t.Context(), "g1")
	gametest.Eventually(t, "the game is taken again", func() bool { return o.take(t.Context(), "g1", func(error) {}) == nil })
}

// A game that was released while an arena had no connection, for so long that even the
// marker of that is gone, can be taken by that arena.
func TestReleasedUnseen(t *testing.T) {
	t.Parallel()
	a, o := arenaWithGame(t)
	o.drop("g1") // its log showed that another arena had it meanwhile
	stream, err := a.store.js.Stream(t.Context(), "KV_"+a.store.owners.Bucket())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject("$KV."+a.store.owners.Bucket()+".g1")); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the game is taken again", func() bool { return o.take(t.Context(), "g1", func(error) {}) == nil })
}

// An arena that was stopped until its lease of the ladder had expired does not take it for its
// own when another arena of the same name, as of the same file of settings, has it now: both
// would pair the players.
func TestLeaseOfTheSameName(t *testing.T) {
	t.Parallel()
	a := leaseArena(t)
	first, _ := arenaLeases(t, a, "one")
	second, _ := arenaLeases(t, a, "one")
	go second.keep(t.Context())
	lost := make(chan error, 1)
	gametest.Eventually(t, "the lease is taken", func() bool {
		return first.take(t.Context(), roundLease, func(why error) { lost <- why }) == nil
	})
	gametest.Eventually(t, "the other takes it when it has expired", func() bool {
		return second.take(t.Context(), roundLease, func(error) {}) == nil
	})
	first.mu.Lock()
	held := first.held[roundLease]
	first.mu.Unlock()
	if first.renew(t.Context(), first.kv, held) {
		t.Error("the lease of another arena was renewed")
	}
	select {
	case why := <-lost:
		if !errors.Is(why, errLost) {
			t.Errorf("the lease ends with %v, want %v", why, errLost)
		}
	default:
		t.Error("the loss of the lease is not told")
	}
}

// A lease that had expired when the store had no more room may be another arena's.
func TestExpiredBeforeNoRoom(t *testing.T) {
	t.Parallel()
	l := &leases{ttl: time.Minute, held: make(map[string]*lease)}
	noSpace := &jetstream.APIError{ErrorCode: codeResources}
	now := time.Now()
	for renewed, fresh := range map[time.Duration]bool{-90 * time.Second: true, -3 * time.Minute: false} {
		held := &lease{key: "k", renewed: now.Add(renewed)}
		l.held["k"] = held
		for at := -45 * time.Second; at < 0; at += 20 * time.Second {
			l.refused(held, noSpace, now.Add(at))
		}
		if l.fresh("k") != fresh {
			t.Errorf("renewed %v ago, refused since 45 s: fresh %v", -renewed, !fresh)
		}
		if !l.short() {
			t.Error("the store seems to have room")
		}
	}
}

// What a dead arena left of games that have ended is removed.
func TestTidyOwners(t *testing.T) {
	t.Parallel()
	a := leaseArena(t)
	_, o := arenaLeases(t, a, "one")
	for _, g := range []string{"ended", "running"} {
		if _, err := a.store.owners.Create(t.Context(), g, []byte("arena-dead")); err != nil {
			t.Fatal(err)
		}
	}
	gametest.Eventually(t, "both are known", func() bool { return o.free("running") && o.knows("running") && o.knows("ended") })
	o.tidy(t.Context(), func(g protocol.GameID) bool { return g == "running" })
	gametest.Eventually(t, "one is gone", func() bool { return !o.knows("ended") })
	if !o.knows("running") {
		t.Error("the owner of a running game was forgotten")
	}
}

func (o *owners) knows(g string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.known[g]
	return ok
}

// cutOff is a bucket whose leader is cut off: it refuses what does not follow an update
// that it could not store, and its server still answers what was stored before.
type cutOff struct{ jetstream.KeyValue }

func (b cutOff) Update(context.Context, string, []byte, uint64) (uint64, error) {
	return 0, jetstream.ErrKeyRevisionMismatch
}

// TestHold: a key that is held again was stored.
func TestHold(t *testing.T) {
	t.Parallel()
	a := leaseArena(t)
	kv := a.store.owners
	revision, err := kv.Create(t.Context(), "g1", []byte("arena-one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := hold(t.Context(), cutOff{kv}, "g1", "arena-one", revision); !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		t.Errorf("held by a server that is cut off: %v", err)
	}
	through, err := kv.Update(t.Context(), "g1", []byte("arena-one"), revision) // its answer got lost
	if err != nil {
		t.Fatal(err)
	}
	if next, again, err := hold(t.Context(), kv, "g1", "arena-one", revision); err != nil || again || next <= through {
		t.Errorf("after an attempt of unknown outcome: revision %d, again %v, %v; want one after %d", next, again, err, through)
	}
	// After a power cut of the server the bucket has the key at an older revision.
	if _, again, err := hold(t.Context(), kv, "g1", "arena-one", through+100); err != nil || again {
		t.Errorf("a key with an older revision: again %v, %v", again, err)
	}
	if _, _, err := hold(t.Context(), kv, "g1", "arena-two", through); !errors.Is(err, errLost) {
		t.Errorf("another's key: %v, want %v", err, errLost)
	}
	if err := kv.Purge(t.Context(), "g1"); err != nil {
		t.Fatal(err)
	}
	if _, again, err := hold(t.Context(), kv, "g1", "arena-one", through); err != nil || !again {
		t.Errorf("a key that was gone: again %v, %v", again, err)
	}
}
