package arena

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"sparring/arena/glicko"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// The methods below are for a gateway that serves people from the arena's
// process. They are safe for concurrent use. What they return belongs to the
// platform, not to this arena alone; events must not be modified.

// Conn returns the arena's connection, in the platform's account.
func (a *Arena) Conn() *nats.Conn { return a.nc }

// Subjects returns the platform's subjects.
func (a *Arena) Subjects() protocol.Subjects { return a.server.Subjects() }

// Heartbeat returns how often instances are asked to send alive.
func (a *Arena) Heartbeat() time.Duration { return a.cfg.Heartbeat }

// Running returns the last entries of the logs of all running games, oldest game
// first.
func (a *Arena) Running() []protocol.Event { return a.index.running() }

// CountRunning returns how many games are running. It is much cheaper than Running.
func (a *Arena) CountRunning() int { return a.index.countRunning() }

// RunningOf returns the last entries of the logs of a player's running games,
// oldest game first.
func (a *Arena) RunningOf(p protocol.PlayerID) []protocol.Event { return a.index.runningOf(p) }

// Game returns the last entry of a game's log and its sequence in the stream,
// whether the game is running or has ended. A challenge that did not become a
// game has a log of one entry, of kind end. Game returns an error that wraps
// ErrNoGame if there is no log: a challenge may be waiting.
func (a *Arena) Game(ctx context.Context, g protocol.GameID) (protocol.Event, uint64, error) {
	if e, seq, ok := a.index.entry(g); ok {
		return e, seq, nil
	}
	return a.store.lastEvent(ctx, g)
}

// Follow calls f for each new entry of any game's log, with its sequence in the
// stream, until stop is called. The calls come one at a time, and f must not
// block. Entries of a game arrive in order; after an interruption some may be
// missing.
func (a *Arena) Follow(f func(e protocol.Event, seq uint64)) (stop func()) {
	return a.index.subscribe(f)
}

// Record returns the record of a finished game. It returns an error that wraps
// ErrNoGame if there is none: the game does not exist, is running, or ended a
// moment ago.
func (a *Arena) Record(ctx context.Context, g protocol.GameID) (*record.Record, error) {
	if err := protocol.CheckID("game", g); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGame, err)
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	for _, c := range catalog.Games() {
		if rec, err := a.recordIn(ctx, c.Name, g); !errors.Is(err, ErrNoGame) {
			return rec, err
		}
	}
	return nil, fmt.Errorf("record of game %s: %w", g, ErrNoGame)
}

// recordIn is Record where it is known which game was played.
func (a *Arena) recordIn(ctx context.Context, gameName string, g protocol.GameID) (*record.Record, error) {
	msg, err := a.store.storedRecord(ctx, gameName, g)
	if err != nil {
		return nil, err
	}
	rec, err := record.Decode(msg.Data)
	if err != nil {
		return nil, fmt.Errorf("record of game %s: %w", g, err)
	}
	return rec, nil
}

// RatingChange is how a game changed the rating of one of its players.
type RatingChange struct {
	Before glicko.Rating
	After  Standing
}

// RatingChanges returns how a finished game has changed the ratings of its players, by
// seat; nil for one whose rating another game has changed since. Known is false until
// the game has been rated.
func (a *Arena) RatingChanges(ctx context.Context, s protocol.Snapshot) (changes [2]*RatingChange, known bool, err error) {
	msg, err := a.store.storedRecord(ctx, s.Terms.Game, s.Game)
	if errors.Is(err, ErrNoGame) {
		return changes, false, nil
	}
	if err != nil {
		return changes, false, err
	}
	if !a.ladder.upTo(msg.Sequence) {
		return changes, false, nil
	}
	for seat, h := range s.Holders {
		changes[seat] = a.ladder.changedBy(s.Terms, h.Player, msg.Sequence)
	}
	return changes, true, nil
}

// LadderPool is a pool of the ladder in which people are paired.
type LadderPool struct {
	Terms   protocol.Terms
	Bots    bool // people meet bots, too
	Players int  // who are on it now, free or playing
}

// LadderPools returns the pools in which people are paired; none where there is no
// ladder, or one that plays rounds.
func (a *Arena) LadderPools() []LadderPool {
	if !a.cfg.Ladder.On || a.cfg.Ladder.Rounds > 0 {
		return nil
	}
	now := time.Now()
	var all []LadderPool
	for _, g := range a.ladderGroups() {
		if slices.Contains(g.kinds, protocol.Human) {
			all = append(all, LadderPool{g.terms, slices.Contains(g.kinds, protocol.Bot), len(a.presence.playersPresent(now, g.has))})
		}
	}
	return all
}

// OnLadder reports whether a person is on the ladder under the terms, by an instance of it
// that is present, other than the given one.
func (a *Arena) OnLadder(p protocol.PlayerID, t protocol.Terms, besides protocol.InstanceID) bool {
	groups := a.ladderGroups()
	return a.presence.has(p, time.Now(), func(h *protocol.Hello) bool {
		return h.Instance != besides && slices.ContainsFunc(groups, func(g ladderGroup) bool { return g.terms.Rules == t.Rules && g.terms.Clock == t.Clock && g.has(p, h) })
	})
}

// Rating returns a player's standing in the ladder of a game and speed; ok is false if
// it has none.
func (a *Arena) Rating(gameName string, speed clock.Speed, p protocol.PlayerID) (s Standing, ok bool) {
	return a.ladder.of(gameName, speed, p)
}

// Analyse asks an analyst for the best lines of a position, see
// [protocol.Server.Analyse]. Which positions may be analysed is for the caller to
// decide.
func (a *Arena) Analyse(ctx context.Context, gameName string, r protocol.AnalysisRequest, update func(protocol.Analysis)) (protocol.Analysis, error) {
	return a.server.Analyse(ctx, gameName, r, update)
}

// Instance is an instance of a player that is present on the platform.
type Instance struct {
	Player protocol.PlayerID
	Hello  protocol.Hello // its Secret is left out
	Free   int            // free slots, by its last heartbeat
}

// Instances returns the instances that are present, ordered by player and
// instance.
func (a *Arena) Instances() []Instance { return a.presence.instances(time.Now()) }

// NoRoom reports whether the store has had no room lately, so that no game can begin now.
func (a *Arena) NoRoom() bool { return a.leases.short() }

// Present reports whether an instance of a player is present.
func (a *Arena) Present(p protocol.PlayerID) bool { return a.presence.anyHello(p, time.Now()) != nil }

// Bucket opens a bucket of the platform and creates it if it is missing.
// want.Bucket is its name without the platform's prefix. Replicas and storage are
// the platform's. It returns an error if the bucket there has another time to
// live.
func (a *Arena) Bucket(ctx context.Context, want jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	stream := bucketStream(a.Subjects(), want.Bucket)
	want.Bucket = streamName(a.Subjects(), want.Bucket)
	want.Replicas, want.Storage = a.cfg.Replicas, jetstream.FileStorage
	kv, err := openBucket(ctx, a.store.js, want)
	if err == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.buckets = append(a.buckets, stream)
	}
	return kv, err
}

// People returns the bucket of the people that gateways act for, which never
// expires; single keys may. The key "key" is the platform's own.
func (a *Arena) People() jetstream.KeyValue { return a.store.people }

// Person returns a client for a person, on the arena's connection. The handlers of
// its subscriptions are called while the arena runs, and must not block. Gateways
// that name the same instance act for the person as one.
func (a *Arena) Person(p protocol.PlayerID, instance protocol.InstanceID, log zerolog.Logger) (*protocol.Client, error) {
	c, err := protocol.NewPersonClient(a.nc, a.Subjects(), a.store.peopleKey, p, instance, log)
	if err == nil {
		c.ReceiveBy(a.receiver)
	}
	return c, err
}

// instances returns the instances that are present.
func (p *presence) instances(now time.Time) []Instance {
	p.mu.Lock()
	var all []Instance
	for player, known := range p.players {
		for _, in := range known {
			if p.isPresent(in, now) {
				hello := *in.hello
				hello.Secret = ""
				all = append(all, Instance{player, hello, in.free.all})
			}
		}
	}
	p.mu.Unlock()
	slices.SortFunc(all, func(x, y Instance) int {
		return cmp.Or(cmp.Compare(x.Player, y.Player), cmp.Compare(x.Hello.Instance, y.Hello.Instance))
	})
	return all
}

// Metrics returns where a gateway registers its counters: [Arena.Handler] serves
// them on /metrics with the arena's own.
func (a *Arena) Metrics() prometheus.Registerer { return a.metrics.registry }

// AddCheck makes /healthz report an error that the function returns.
func (a *Arena) AddCheck(f func() error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checks = append(a.checks, f)
}
