package arena

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/livegame"
	"sparring/game"
	"sparring/protocol"
)

// Arena is one process of the platform. Create it with [New] and start it with
// [Arena.Run].
type Arena struct {
	cfg      Config
	log      zerolog.Logger
	nc       *nats.Conn
	server   *protocol.Server
	receiver *protocol.Receiver // of people
	store    *store
	leases   *leases
	owners   *owners
	presence *presence
	index    *gameIndex
	ladder   *ladder
	history  *history
	metrics  *metrics
	waiting  *waiting // challenges

	onRound    func(Round)
	roundsDone chan struct{}
	serving    chan struct{}

	// life is the context of everything that Run starts. It ends after Run's
	// own context, when the games have been paused.
	life context.Context
	kill context.CancelCauseFunc
	wg   sync.WaitGroup

	reserved reservations
	// Where offers ran out without an answer, or were answered wrongly: pools by their
	// queues, and players by name. Anybody in a pool can subscribe to its queue many times
	// and never answer. Then offers go to the pool's members by name for a while, and not
	// to those who were silent.
	silentPools   recent[protocol.Pool]
	silentPlayers recent[protocol.PlayerID]
	// What was logged lately about answers to offers.
	complaints recent[complaint]
	reach      *reach
	space      spaceLevels
	lost       atomic.Pointer[lostStreams]
	unkept     atomic.Int64 // games that go on without their logs
	returned   atomic.Int64 // challenges that wait in the queue for their next attempt

	mu       sync.Mutex
	ran      bool
	referees map[protocol.GameID]*referee
	deciding int // challenges that are being decided
	draining bool
	checks   []func() error
	buckets  []string // streams of the buckets of gateways
}

// New checks the settings and the streams, and creates missing streams. While the
// store has no room it waits. It does not serve yet. nc is a connection of the platform's account; the caller
// closes it.
func New(ctx context.Context, nc *nats.Conn, cfg Config, log zerolog.Logger) (*Arena, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	if cfg.Name == "" {
		cfg.Name = protocol.NewID()
	}
	subjects, err := protocol.NewSubjects(cfg.Prefix)
	if err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	a := &Arena{
		reach: newReach(nc),
		cfg:   cfg, nc: nc, receiver: protocol.NewReceiver(nc), log: log.With().Str("arena", cfg.Name).Logger(),
		metrics: newMetrics(), waiting: newWaiting(), presence: newPresence(cfg.LostAfter),
		reserved: reservations{players: make(map[protocol.PlayerID]reservation)},
		referees: make(map[protocol.GameID]*referee), roundsDone: make(chan struct{}), serving: make(chan struct{}),
	}
	if err = awaitStore(ctx, nc, a.log, func(ctx context.Context) (err error) {
		a.store, err = openStore(ctx, nc, subjects, cfg)
		return err
	}); err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	a.metrics.gauge("games_unkept", "Games that go on without their logs now, for lack of space.", func() float64 { return float64(a.unkept.Load()) })
	a.metrics.gauge("seats_vacant", "Seats without a holder in the running games that this process referees.", func() float64 { return float64(a.vacantSeats()) })
	a.metrics.gauge("fleet_survives_losses", "How many of the operator's bot processes can be lost at once with a free slot elsewhere for each of their seats.", func() float64 {
		n, _ := a.survivedLosses(time.Now())
		return float64(n)
	})
	a.server = protocol.NewServer(nc, subjects, cfg.Limits, a.store.peopleKey, a.log)
	a.metrics.count("requests_dropped_total", "Requests dropped because their players had sent too many.", func() float64 { return float64(a.server.Dropped()) })
	a.leases = newLeases(a.store.leases, cfg.Name, cfg.LeaseFor, a.store.off, nc.IsConnected, a.log)
	a.leases.failOver = a.failOver
	a.owners = newOwners(a.store.owners, a.leases, a.log)
	a.index = newGameIndex(subjects, cfg.Linger+time.Second, a.log, a.metrics.corrupt.Inc)
	a.index.subscribe(a.waiting.noteLog)
	if err := awaitStore(ctx, nc, a.log, func(ctx context.Context) (err error) {
		if a.history, err = openHistory(ctx, a.store.js, a.store.history, a.log); err != nil {
			return err
		}
		if err = a.history.load(ctx, a.store); err != nil {
			return err
		}
		a.ladder = newLadder(a.store.ladder, cfg.Ladder.Anchors, a.log)
		return a.ladder.load(ctx, a.store.records)
	}); err != nil {
		return nil, fmt.Errorf("arena: %w", err)
	}
	return a, nil
}

// failOver moves to another server of the cluster through which our lease can be renewed,
// if there is one. It could not be since the given time.
func (a *Arena) failOver(ctx context.Context, since time.Time) {
	if !protocol.CanFailOver(a.nc) {
		return
	}
	from := a.nc.ConnectedUrlRedacted()
	if !protocol.FailOver(ctx, a.nc, a.reachesStore) {
		return
	}
	// Players went there before us, or come later.
	a.reach.missed(since, time.Now())
	a.log.Warn().Str("url", from).Msg("the streams can't be reached from this server; going to another one of the cluster")
}

// reachesStore reports whether our lease can be renewed through another connection.
func (a *Arena) reachesStore(ctx context.Context, nc *nats.Conn) bool {
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(storeWait/4))
	if err != nil {
		return false
	}
	kv, err := js.KeyValue(ctx, a.store.leases.Bucket())
	return err == nil && a.leases.renewOwn(ctx, kv)
}

// stopWithin bounds how long a stopping arena stores the clocks of its games and
// releases them.
const stopWithin = 1500 * time.Millisecond

// Run serves players until ctx ends. Then it stops the clocks, leaves its games
// to the platform's other arenas or a later start, and returns within two
// seconds. It returns an error when it can't start or loses its connection for
// good. An Arena runs once.
func (a *Arena) Run(ctx context.Context) error {
	a.mu.Lock()
	again := a.ran
	a.ran = true
	a.mu.Unlock()
	if again {
		return errors.New("arena: Run was called twice")
	}
	a.life, a.kill = context.WithCancelCause(context.WithoutCancel(ctx))
	defer a.wg.Wait()
	defer a.kill(errStopped)
	closed := a.nc.StatusChanged(nats.CLOSED)
	defer a.nc.RemoveStatusListener(closed)
	stop, err := a.open(ctx)
	defer stop()
	if err != nil {
		return fmt.Errorf("arena: %w", err)
	}
	a.log.Info().Str("prefix", a.cfg.Prefix).Int("unfinished", len(a.index.unfinished())).Msg("arena is serving")
	close(a.serving)
	select {
	case <-ctx.Done():
		a.pauseAll(ctx)
		return nil
	case <-closed:
		return errors.New("arena: connection closed")
	}
}

// open starts everything. The returned function stops listening to players.
func (a *Arena) open(ctx context.Context) (stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	// In a cluster, what new consumers need may be without a leader just now.
	if err := awaitStore(ctx, a.nc, a.log, func(context.Context) error { return a.index.follow(a.life, a.store.js, a.store.games) }); err != nil {
		return stop, err
	}
	if err := awaitStore(ctx, a.nc, a.log, func(context.Context) error { return a.leases.watch(a.life) }); err != nil {
		return stop, fmt.Errorf("bucket %s: %w", a.store.leases.Bucket(), err)
	}
	if err := awaitStore(ctx, a.nc, a.log, func(context.Context) error { return a.owners.watch(a.life) }); err != nil {
		return stop, fmt.Errorf("bucket %s: %w", a.store.owners.Bucket(), err)
	}
	a.store.mayHaveLost = a.reach.mayHaveLost
	a.leases.takeOwn(a.life)
	for _, listen := range []func() (func(), error){
		func() (func(), error) {
			return a.server.Observe(protocol.Observer{Hello: a.presence.observeHello, Alive: a.presence.alive, Leave: a.left})
		},
		func() (func(), error) { return a.server.ServeOrphans(a.served, a.orphan) },
		func() (func(), error) {
			return a.server.ServeVerbs(protocol.Verbs{
				Hello: a.hello, Alive: a.alive, Leave: a.leave, Challenge: a.challenge, Withdraw: a.withdraw, Standings: a.askedStandings,
			})
		},
	} {
		s, err := listen()
		if err != nil {
			return stop, err
		}
		stops = append(stops, s)
	}
	a.wg.Go(func() { a.receiver.Run(a.life) })
	a.wg.Go(func() { a.leases.keep(a.life) })
	a.wg.Go(func() { a.leases.leaveMinority(a.life) })
	a.wg.Go(func() { a.leases.watchOwn(a.life) })
	a.wg.Go(func() { a.owners.keep(a.life) })
	a.wg.Go(func() { a.reach.run(a.life) })
	a.wg.Go(func() { a.watchSeats(a.life) })
	a.wg.Go(func() { a.sweep(ctx) })
	a.wg.Go(func() { a.matchmake(ctx) })
	a.wg.Go(func() { a.keepPosted(a.life) })
	a.wg.Go(func() { a.serveFleet(a.life) })
	a.wg.Go(func() { a.retain(ctx) })
	a.wg.Go(func() { a.watchSpace(a.life) })
	a.wg.Go(func() { a.watchLost(a.life) })
	a.wg.Go(func() { a.ladder.forgetErased(a.life, a.nc) })
	a.followRecords(a.history.follow, func(line *zerolog.Event) {
		line.Msg("records can't be read, so players' games are not listed; trying again")
	})
	a.followRecords(a.ladder.follow, func(line *zerolog.Event) {
		line.Msg("records can't be read, so games are not rated; trying again")
	})
	if a.cfg.Ladder.On {
		a.wg.Go(func() { a.runLadder(ctx) })
	}
	return stop, nil
}

// followRecords follows the records in the background for as long as the arena lives, and
// tries again if they can't be read; trouble logs that.
func (a *Arena) followRecords(follow func(context.Context, *store) error, trouble func(line *zerolog.Event)) {
	a.wg.Go(func() {
		for a.life.Err() == nil {
			if err := follow(a.life, a.store); err != nil && a.life.Err() == nil {
				trouble(a.log.Error().Err(err))
			}
			sleep(a.life, time.Second)
		}
	})
}

// pauseAll pauses the games of this process and releases them.
func (a *Arena) pauseAll(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	var all sync.WaitGroup
	a.log.Info().Int("games", a.gamesHere()).Msg("arena stops: its games continue on another arena, or when one is started")
	for _, r := range a.refereed() {
		all.Go(func() {
			r.send(pause{ctx})
			<-r.done
		})
	}
	for _, p := range a.presence.playersPresent(time.Now(), func(protocol.PlayerID, *protocol.Hello) bool { return true }) {
		a.server.Notify(p, protocol.Notice{Kind: protocol.NoticeShutdown, Text: "the platform pauses; games continue later"})
	}
	inTime := context.AfterFunc(ctx, func() { a.kill(errStopped) }) // referees then end at once
	all.Wait()
	a.leases.release(ctx, a.leases.own) // others need not wait for games that could not be released
	if !inTime() {
		a.log.Warn().Msg("some games could not be paused in time; they continue from the last entry of their logs")
	}
	a.kill(errStopped)
	a.nc.FlushTimeout(100 * time.Millisecond)
}

// refereed returns the referees of this process.
func (a *Arena) refereed() []*referee {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]*referee, 0, len(a.referees))
	for _, r := range a.referees {
		all = append(all, r)
	}
	return all
}

// sweepEvery is how often the arena looks for games without a referee.
const sweepEvery = 500 * time.Millisecond

// sweep adopts games without a referee, until ctx ends.
func (a *Arena) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	a.owners.tidy(ctx, a.index.isUnfinished)
	for ctx.Err() == nil {
		now := time.Now()
		a.presence.forget(now)
		a.index.forget(now)
		for _, g := range a.index.unfinished() {
			if ctx.Err() == nil && !a.leases.short() && a.owners.free(string(g)) && !a.refereeing(g) {
				a.adopt(ctx, g)
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (a *Arena) refereeing(g protocol.GameID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.referees[g] != nil
}

// adopt resumes a game from the last entry of its log.
func (a *Arena) adopt(ctx context.Context, g protocol.GameID) {
	life, stop := context.WithCancelCause(a.life)
	if err := a.owners.take(ctx, string(g), stop); err != nil {
		stop(errLost)
		if !errors.Is(err, errLeased) && ctx.Err() == nil {
			a.log.Warn().Err(err).Str("game", string(g)).Msg("game not taken over")
		}
		return
	}
	giveUp := func(err error) {
		stop(err)
		a.owners.release(ctx, string(g))
	}
	last, seq, err := a.store.lastEvent(ctx, g)
	if err != nil || isFinal(last) {
		switch {
		case errors.Is(err, ErrNoGame):
			a.index.removed(g)
		case err != nil:
			a.log.Warn().Err(err).Str("game", string(g)).Msg("game not taken over")
		}
		giveUp(err)
		return
	}
	live, event, err := livegame.Restore(last, seq, a.cfg.Policy, time.Now())
	if err != nil {
		a.index.damaged(g, err)
		giveUp(err)
		return
	}
	j := a.store.journal(g, seq, a.metrics.retries.Inc)
	if event != nil {
		if err := j.append(life, event, a.cfg.Patience); err != nil {
			if !errors.Is(err, errLost) && ctx.Err() == nil {
				a.log.Warn().Err(err).Str("game", string(g)).Msg("game not taken over")
			}
			giveUp(err)
			return
		}
		live.Commit(j.last, time.Now())
		a.metrics.takeovers.Inc()
		a.log.Info().Str("game", string(g)).Uint64("term", live.Term()).Int("ply", live.Ply()).Msg("game taken over")
		if err := a.endAsRecorded(life, live, j); err != nil {
			if !errors.Is(err, errLost) && ctx.Err() == nil {
				a.log.Warn().Err(err).Str("game", string(g)).Msg("game not taken over")
			}
			giveUp(err)
			return
		}
	}
	a.own(life, stop, live, j).vacateGiven(&last)
}

// grant starts a game by writing the first entry of its log. errLost means that
// the log has begun already.
func (a *Arena) grant(ctx context.Context, o livegame.Opening) error {
	life, stop := context.WithCancelCause(a.life)
	if err := a.owners.take(ctx, string(o.Game), stop); err != nil {
		stop(errLost)
		return err
	}
	live, event, refused := livegame.New(o, a.cfg.Policy, time.Now())
	var err error
	if refused != nil {
		err = refused
	}
	j := a.store.journal(o.Game, 0, a.metrics.retries.Inc)
	if err == nil {
		err = j.append(ctx, event, 0)
	}
	if err != nil {
		stop(err)
		a.owners.release(context.WithoutCancel(ctx), string(o.Game))
		return err
	}
	live.Commit(j.last, time.Now())
	a.metrics.granted.WithLabelValues(o.Terms.Game).Inc()
	a.log.Info().Str("game", string(o.Game)).Str("rules", o.Terms.Rules).Stringer("clock", o.Terms.Clock).
		Str("first", string(o.Holders[game.First].Player)).Str("second", string(o.Holders[game.Second].Player)).Msg("game starts")
	a.own(life, stop, live, j)
	return nil
}
