package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/bot/play"
	"sparring/bot/policy"
	"sparring/engine"
	"sparring/engine/level"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// Deps are a bot's dependencies.
type Deps struct {
	// NewGame opens a game for the player whose engine a spec names, as package
	// playerspec reads it; "" is our own engine. The searches of all games share
	// the cores of the pool.
	NewGame func(spec string, o engine.GameOptions) (engine.Game, error)
	Pool    *engine.Pool
	// PlayerPool, if set, has the cores for the games of profiles; the levels and
	// analyses then use Pool alone.
	PlayerPool *engine.Pool
	Build      string // for hellos and records
	// KeepEngines, if set, is told for which specs and kinds of game, reproducible or not,
	// NewGame will be called again, when the profiles have changed: what the engines of
	// others hold is not needed beyond their running games.
	KeepEngines func(needed func(spec, gameName string, reproducible bool) bool)
	// RetryEngines is how often engines that do not start are tried again; 0: every 30 s.
	RetryEngines time.Duration
	// Guest is set for a bot on a platform of somebody else: it does not answer that
	// operator's requests.
	Guest bool
	// Records, if set, gets the record of every game when it ends.
	Records play.Records
	Log     zerolog.Logger
	// Observe, if set, is called with the events of the games, by several
	// goroutines concurrently. Games wait for it.
	Observe func(play.Event)
}

// Bot is the bot process.
type Bot struct {
	nc       *nats.Conn
	cfg      Config
	deps     Deps
	log      zerolog.Logger
	subjects protocol.Subjects
	ledger   *policy.Ledger
	disk     diskLevel
	clock    *play.ServerClock
	queues   []*queue
	base     *protocol.Client   // of the first player
	receiver *protocol.Receiver // of the states of all games
	launch   func(*player)      // starts a player's goroutines, while Run runs
	// leaving is closed, for each player that was removed, once its farewell was answered, or
	// given up. Only Run uses it.
	leaving    map[protocol.PlayerID]chan struct{}
	analyst    *analyst
	lastAnswer atomic.Pointer[time.Time] // of the platform, to any player
	// lastUnavailable is when a heartbeat was refused last because the platform can't store.
	lastUnavailable atomic.Pointer[time.Time]

	mode         *mode
	following    sync.Mutex  // see followMode
	tally        *play.Tally // of all sessions
	busy         busyMeter
	warmUps      sync.Map // of warmKey to *warmUp
	overload     *overload
	answersFleet atomic.Bool // the operator's requests

	wake chan struct{} // signals that a player may join or leave queues
	// displaced is closed when another process turns out to act as the same instance.
	displaced chan struct{}
	giveWay   func() // closes displaced

	games    context.Context // of the sessions
	mu       sync.Mutex
	players  []*player
	reloaded []Profile // read again, and not acted on yet
	stopping bool
	running  sync.WaitGroup // sessions, and requests that outlive them
}

const (
	checkInterval = time.Second     // of the watchdog, and to join queues again
	probeTimeout  = 2 * time.Second // for the server to answer
	stopTimeout   = 1500 * time.Millisecond
)

// New checks the settings and makes a bot on a connection, which the caller closes
// after Run.
func New(nc *nats.Conn, cfg Config, d Deps) (*Bot, error) {
	if d.NewGame == nil || d.Pool == nil {
		return nil, errors.New("bot: no engine")
	}
	if cfg.Instance == "" {
		cfg.Instance = protocol.InstanceID(protocol.NewID())
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	profiles, err := cfg.players()
	if err != nil {
		return nil, err
	}
	subjects, err := protocol.NewSubjects(cfg.NATS.Prefix)
	if err != nil {
		return nil, err
	}
	b := &Bot{
		nc: nc, cfg: cfg, deps: d, subjects: subjects, receiver: protocol.NewReceiver(nc),
		log:    d.Log.With().Str("instance", string(cfg.Instance)).Logger(),
		ledger: policy.NewLedger(cfg.limits()), clock: new(play.ServerClock), tally: play.NewTally(), wake: make(chan struct{}, 1),
		leaving: make(map[protocol.PlayerID]chan struct{}), displaced: make(chan struct{}),
	}
	b.giveWay = sync.OnceFunc(func() { close(b.displaced) })
	if b.mode, err = newMode(cfg.Data, cfg.Instance); err != nil {
		return nil, err
	}
	pool := d.Pool
	if d.PlayerPool != nil {
		pool = d.PlayerPool
	}
	b.overload = newOverload(pool, b.ledger, cfg.slots(), cfg.Ponder, b.log)
	for _, profile := range profiles {
		p, err := newPlayer(b, profile)
		if err != nil {
			return nil, err
		}
		b.players = append(b.players, p)
	}
	b.queues = arrange(nil, b.players, b)
	b.analyst = newAnalyst(b)
	b.followMode()
	return b, nil
}

// Drain makes the bot take no more games. Run returns once those under way have
// ended, or when the platform has not answered for Config.DrainSilence. End Run's
// context to hand the games over at once.
func (b *Bot) Drain() { b.setMode(protocol.ModeDraining, "a signal", true) } // refused only if it is ending

// Run plays until ctx ends, or until the games have ended after Drain. It then gives
// the seats back to the platform and returns within three seconds. It returns an
// error when the connection is closed, and ErrSameInstance. It can be called once.
func (b *Bot) Run(ctx context.Context) error {
	b.warnOfCap()
	b.warmUp(ctx)
	games, stopGames := context.WithCancel(ctx)
	defer stopGames()
	b.games = games
	begun := time.Now()
	b.lastAnswer.Store(&begun)
	status := b.nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer b.nc.RemoveStatusListener(status)

	alive, stopHeartbeats := context.WithCancel(ctx)
	defer stopHeartbeats()
	var wg sync.WaitGroup
	receiving, stopReceiving := context.WithCancel(context.WithoutCancel(ctx))
	var receivers sync.WaitGroup
	receivers.Go(func() { b.receiver.Run(receiving) })
	defer receivers.Wait()
	defer stopReceiving() // after the sessions have ended
	b.launch = func(p *player) {
		var life context.Context
		life, p.end = context.WithCancel(alive)
		after := b.leaving[p.profile().Player]
		wg.Go(func() {
			if after != nil { // or a farewell that is sent again would come behind the hello
				<-after
			}
			p.run(life)
		})
		wg.Go(func() { p.repair(life, cmp.Or(b.deps.RetryEngines, retryEngines)) })
		if b.cfg.Match.On && p.profile().level == 0 { // levels are there to be asked
			wg.Go(func() { p.matchmake(life) })
		}
	}
	for _, p := range b.roster() {
		b.launch(p)
	}
	wg.Go(func() { b.watchdog(alive) })
	wg.Go(func() { b.watchCluster(alive) })
	wg.Go(func() { b.watchDisk(alive) })
	if !b.deps.Guest {
		wg.Go(func() { b.serveFleet(alive) })
	}
	wg.Go(func() { b.analyst.start(alive, games) })
	b.followMode()
	if now, why, since := b.mode.current(); now == protocol.ModePaused {
		b.log.Warn().Time("since", since).Str("why", why).Msg("paused before the start: no new games until the operator resumes this instance")
	}

	err := b.serve(ctx, status)
	b.analyst.end()

	b.ledger.Admit(policy.AdmitNone)
	for _, q := range b.queues {
		q.update()
	}
	stopGames()
	stopHeartbeats()
	wg.Wait()
	b.stop()
	return err
}

// warnOfCap says that fewer games are offered than the settings ask for.
func (b *Bot) warnOfCap() {
	c := b.cfg
	if offered := c.slots(); offered < c.Slots {
		b.log.Warn().Int("slots", c.Slots).Int("offered", offered).Int("cores", c.cores()).Int("games_per_core", c.GamesPerCore).Int("threads", c.Threads).
			Msg("fewer slots are offered than SPARRING_SLOTS: the cores are for no more; raise SPARRING_GAMES_PER_CORE if they do")
	}
}

// warmUp starts the players' engines before any clock runs. A player whose engine
// fails does not keep the others waiting, and takes no games until it starts.
func (b *Bot) warmUp(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var wg sync.WaitGroup
		for _, p := range b.roster() {
			for _, g := range p.profile().Games {
				wg.Go(func() {
					if err := b.tryEngine(p, g); err != nil && ctx.Err() == nil {
						p.EngineFailed(g, err)
					}
				})
			}
		}
		wg.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done(): // closing the engines ends those that are starting
	}
}

// tryEngine starts a player's engine for a game. A program then waits for the
// first game. Our own engine makes its tables for the usual rule sets in a first
// search, which took seconds off the clock of the first move on a busy machine.
func (b *Bot) tryEngine(p *player, gameName string) error {
	kind, err := catalog.Game(gameName)
	if err != nil {
		return err
	}
	sets := kind.Common
	if !p.warms() {
		sets = []string{kind.Default}
	}
	for _, name := range sets {
		if err := b.trySearch(p, kind, name); err != nil {
			return err
		}
	}
	return nil
}

// warms reports whether a search of the player makes tables of our own engine. All
// levels of a game share them, so that one of them is enough.
func (p *player) warms() bool {
	return !p.profile().external() && p.profile().level <= level.Weakest
}

// trySearch opens a game under a rule set and, with our own engine, searches its
// start position.
func (b *Bot) trySearch(p *player, kind game.Game, rulesName string) error {
	rules, err := catalog.Rules(rulesName)
	if err != nil {
		return err
	}
	g, err := b.deps.NewGame(p.profile().spec(), engine.GameOptions{Rules: rules, Reproducible: p.profile().Reproducible})
	if err != nil {
		return err
	}
	defer g.Close()
	err = g.Ready()
	if rules.Name == kind.Default {
		p.describe(kind.Name, g.Describe())
	}
	if err != nil || !p.warms() {
		return err
	}
	start, err := rules.New("")
	if err != nil || opening.Running(start) {
		return err
	}
	w, _ := b.warmUps.LoadOrStore(warmKey{p.profile().spec(), rulesName, p.profile().Reproducible}, new(warmUp))
	return w.(*warmUp).search(g, start)
}

// warmUp is the search that makes the tables which the players of an engine share. One
// for each of hundreds of players at once would need gigabytes for their histories.
type warmUp struct {
	mu   sync.Mutex
	done bool
}

// search searches, unless it has been done. Callers that come meanwhile wait: without
// the tables, a game's first search would make them on its clock. A failure is tried again.
func (w *warmUp) search(g engine.Game, start game.Position) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return nil
	}
	run, err := g.Search(start, search.Limits{Nodes: 1000, NoBook: true}, nil)
	if err != nil {
		return err
	}
	err = run.Wait().Err
	w.done = err == nil
	return err
}

// warmKey is what the players whose games share tables have in common.
type warmKey struct {
	spec, rules  string
	reproducible bool
}

// serve joins and leaves queues until there is a reason to end.
func (b *Bot) serve(ctx context.Context, status <-chan nats.Status) error {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for {
		b.updateRoster()
		for _, q := range b.queues {
			q.update()
		}
		now, _, since := b.mode.current()
		switch {
		case b.nc.IsClosed():
			return fmt.Errorf("bot: %w", nats.ErrConnectionClosed)
		case now != protocol.ModeDraining:
		case b.ledger.Used() == 0:
			if b.mode.end() {
				return nil
			}
		case min(time.Since(since), b.Silence()) >= b.cfg.DrainSilence && b.mode.end():
			b.log.Warn().Int("games", b.ledger.Used()).Msg("draining without a platform; leaving the games to other instances")
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-b.displaced:
			return fmt.Errorf("%w (%s)", ErrSameInstance, b.cfg.Instance)
		case <-b.ledger.Changed():
		case <-b.wake:
		case <-tick.C: // a queue that could not be joined is tried again
			b.busy.mark(time.Now(), b.load().Busy)
			b.overload.check(time.Now())
		case s := <-status:
			if s == nats.CONNECTED {
				b.requestHellos()
			}
		}
	}
}

// stop gives all seats back, unless they are another process's, and waits up to stopTimeout for the sessions.
func (b *Bot) stop() {
	b.mu.Lock()
	b.stopping = true
	b.mu.Unlock()
	var wg sync.WaitGroup
	var kept atomic.Int64 // players who have not given their seats back
	var why atomic.Pointer[error]
	for _, p := range b.roster() {
		if p.known() && !b.isDisplaced() {
			wg.Go(func() {
				if err := p.leave(); err != nil {
					kept.Add(1)
					why.Store(&err)
				}
			})
		}
	}
	ended := make(chan struct{})
	go func() {
		b.running.Wait()
		close(ended)
	}()
	wg.Wait()
	if n := kept.Load(); n > 0 { // once, for hundreds of players
		warnNotGivenBack(b.log, *why.Load(), int(n))
	}
	select {
	case <-ended:
	case <-time.After(stopTimeout):
		b.log.Error().Int("games", b.ledger.Used()).Msg("some games did not stop; their records are lost")
	}
}

// spawn runs f in a goroutine that stop waits for. It returns false after stop.
func (b *Bot) spawn(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopping {
		return false
	}
	b.running.Go(f)
	return true
}

// lookAtQueues makes Run join and leave queues, as slots are free.
func (b *Bot) lookAtQueues() {
	select {
	case b.wake <- struct{}{}:
	default: // a look is already requested
	}
}

// requestHellos makes all players say hello.
func (b *Bot) requestHellos() {
	for _, p := range b.roster() {
		p.RequestHello()
	}
}
