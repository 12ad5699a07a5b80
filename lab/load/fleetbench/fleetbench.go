// Package fleetbench measures how many games a fleet plays at once: it keeps a number
// of games running on a NATS server, an arena and one bot process or several, and
// reports what a move and a game cost there, and how long a move takes to its opponent.
//
//	fleetbench.go  Plan, Run: the steps
//	step.go        what a step has measured
//	fleet.go       the processes, as the caller starts them
//	load.go        posts the games, and replaces those that end
//	losses.go      RunLosses: processes that are lost while games run
//	lossbook.go    what becomes of the games then
//	relay.go       a game of two players of its own, whose moves are timed
//	report.go      the table and the drawing
package fleetbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/texttable"
	"sparring/protocol"
)

// Plan says what to measure.
type Plan struct {
	Games  []int         // games at once, a step each, in ascending order
	Window time.Duration // of each step, once its games are running
	Limit  time.Duration // no step begins after this time
	Rules  []string      // rule sets of the games, in turn, by full name
	Clock  clock.Spec
	// Pace is the shortest time for a move, if the clock allows: the players are cheap,
	// and would otherwise play as fast as the processes can.
	Pace    time.Duration
	Players int // of a bot process; 0: one for ten games, up to MaxPlayers
	// Bots has the capacity of each bot process, as a share of all; nil: one process. All of
	// them have the same players, as instances of them.
	Bots   []int
	Starts int // games started a second at most
	MaxP99 time.Duration
	// Profile, if set, is a folder for a CPU profile and a heap profile of each process in
	// each step.
	Profile string
}

// MaxPlayers is how many players the bot process has, unless a plan says otherwise.
const MaxPlayers = 256

// Validate returns an error if the plan can't be carried out.
func (p *Plan) Validate() error {
	before := 0
	for _, n := range p.Games {
		if n <= before {
			return fmt.Errorf("games %d: want numbers above 0 in ascending order", n)
		}
		before = n
	}
	switch {
	case len(p.Games) == 0:
		return errors.New("games: missing")
	case p.Window < 100*time.Millisecond:
		return fmt.Errorf("window %v: want at least 100ms", p.Window)
	case p.Limit <= 0:
		return fmt.Errorf("limit %v: want more than 0", p.Limit)
	case p.Pace < 0:
		return fmt.Errorf("pace %v: want 0 or more", p.Pace)
	case p.Players != 0 && (p.Players < 2 || p.Players%2 != 0):
		return fmt.Errorf("players %d: want an even number, or 0", p.Players)
	case slices.ContainsFunc(p.Bots, func(n int) bool { return n < 1 }):
		return fmt.Errorf("bots %v: want capacities above 0", p.Bots)
	case slices.Max(p.seats(before)) > p.players(before)*protocol.MaxPlaying:
		return fmt.Errorf("players %d: too few for %d games: each plays at most %d at once", p.players(before), before, protocol.MaxPlaying)
	case p.Starts < 1:
		return fmt.Errorf("starts %d: want at least 1", p.Starts)
	case p.MaxP99 <= 0:
		return fmt.Errorf("p99 %v: want more than 0", p.MaxP99)
	case !p.Clock.Traits().Limited:
		return fmt.Errorf("clock %v: want a time limit, or nobody could lose on time", p.Clock)
	case len(p.Rules) == 0:
		return errors.New("rules: missing")
	}
	for _, name := range p.Rules {
		if _, err := catalog.Rules(name); err != nil {
			return err
		}
	}
	return nil
}

// bots returns the capacities of the bot processes.
func (p *Plan) bots() []int {
	if len(p.Bots) == 0 {
		return []int{1}
	}
	return p.Bots
}

// seats returns how many seats each bot process takes at most, so that n games fit with
// a tenth to spare, whoever takes them.
func (p *Plan) seats(n int) []int {
	bots := p.bots()
	if len(bots) == 1 {
		return []int{2 * n}
	}
	total := 0
	for _, share := range bots {
		total += share
	}
	var seats []int
	for _, share := range bots {
		seats = append(seats, (22*n*share+10*total-1)/(10*total))
	}
	return seats
}

// players returns how many players play n games.
func (p *Plan) players(n int) int {
	if p.Players > 0 {
		return p.Players
	}
	return min(max(2*((n+19)/20), 4), MaxPlayers)
}

// Result is what a run has measured.
type Result struct {
	// Alone and AloneBare are the times of the relay and of a bare request before there
	// were any games.
	Alone     Latency `json:"alone"`
	AloneBare Latency `json:"alone_bare"`
	Steps     []Step  `json:"steps"`
}

// Launch starts the processes of a fleet for games up to a number, with players of the
// bot processes that move at a pace.
type Launch func(ctx context.Context, w Want) (Fleet, error)

// Want is what a fleet has to have.
type Want struct {
	Games   int
	Seats   []int               // most of each bot process
	Players []protocol.PlayerID // of all bot processes
	Kinds   []string            // the games that they play
	Pace    time.Duration       // shortest time for a move
	// Fleet: the bot processes belong to the operator's fleet, and search as long as the clock gives
	// them, without a limit of nodes.
	Fleet bool
}

// Watch is called with what the run is doing.
type Watch func(format string, args ...any)

// Run measures the steps of the plan, until one has a time loss or too slow a relay, the
// time is up, or ctx ends. It returns what was measured until then, also with an error.
func Run(ctx context.Context, p Plan, launch Launch, watch Watch, log zerolog.Logger) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	began := time.Now()
	result := &Result{}
	for i, n := range p.Games {
		if i > 0 && time.Since(began) >= p.Limit {
			result.Steps[i-1].Stop = fmt.Sprintf("%v are up", p.Limit)
			break
		}
		s := &session{plan: &p, games: n, watch: watch, log: log, result: result}
		step, err := s.run(ctx, launch)
		if step != nil {
			result.Steps = append(result.Steps, *step)
		}
		if err != nil {
			return result, fmt.Errorf("%d games: %w", n, err)
		}
		if step.Stop != "" {
			break
		}
	}
	return result, nil
}

// session is one step as it is made.
type session struct {
	plan   *Plan
	games  int
	watch  Watch
	log    zerolog.Logger
	result *Result

	fleet    Fleet
	platform *nats.Conn
	subjects protocol.Subjects
	load     *load
	relay    *relay
}

// Times of a step.
const (
	patience  = time.Minute            // for the processes to be ready
	aloneFor  = 4 * time.Second        // at most, or the window
	lookEvery = 200 * time.Millisecond // at the number of games
)

func (s *session) run(ctx context.Context, launch Launch) (step *Step, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	want := Want{Games: s.games, Seats: s.plan.seats(s.games), Players: playerNames(s.plan.players(s.games)), Kinds: kinds(s.plan.Rules), Pace: s.plan.Pace}
	s.watch("%d games: starting the processes", s.games)
	if s.fleet, err = launch(ctx, want); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.fleet.Close()) }()
	if s.subjects, err = protocol.NewSubjects(protocol.DefaultPrefix); err != nil {
		return nil, err
	}
	if s.platform, err = protocol.Connect(s.fleet.Connection(Platform, s.log)); err != nil {
		return nil, err
	}
	defer s.platform.Close()
	if err := s.awaitPlayers(ctx, want); err != nil {
		return nil, err
	}
	if s.load, err = newLoad(s, want.Players); err != nil {
		return nil, err
	}
	defer s.load.close()
	if s.relay, err = newRelay(ctx, s); err != nil {
		return nil, err
	}
	defer s.relay.close()
	if err := s.relay.begin(ctx); err != nil {
		return nil, err
	}
	if len(s.result.Steps) == 0 {
		s.watch("relay of moves without games")
		if err := s.relay.measure(ctx, min(aloneFor, s.plan.Window)); err != nil {
			return nil, err
		}
		s.result.Alone, s.result.AloneBare = s.relay.latencies()
	}
	base, err := s.stats(ctx, true)
	if err != nil {
		return nil, err
	}
	step = &Step{Games: s.games, Players: len(want.Players)}
	if err := s.start(ctx, step); err != nil {
		return nil, err
	}
	return s.measure(ctx, base, *step)
}

// awaitPlayers waits until the arena knows all players of all bot processes.
func (s *session) awaitPlayers(ctx context.Context, w Want) error {
	all := len(w.Players) * len(w.Seats)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		st, err := s.fleet.Stats(ctx, ArenaPart, false)
		if err != nil {
			return err
		}
		if st.Present >= all {
			return nil
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return fmt.Errorf("%d of %d players are known to the arena: %w", st.Present, all, err)
		}
	}
}

// allStats are the figures of the parts.
type allStats struct {
	at   time.Time
	part map[Part]Stats
}

// stats reads the figures of all parts, with collect after a garbage collection.
func (s *session) stats(ctx context.Context, collect bool) (allStats, error) {
	all := allStats{at: time.Now(), part: make(map[Part]Stats)}
	for _, part := range Parts {
		st, err := s.fleet.Stats(ctx, part, collect)
		if err != nil {
			return all, err
		}
		all.part[part] = st
	}
	return all, nil
}

// start starts the games, and notes how many a second. It gives up when the bot processes
// take no more, or they take too long.
func (s *session) start(ctx context.Context, step *Step) error {
	began := time.Now()
	bound := time.Duration(float64(s.games)/float64(s.plan.Starts)*2*float64(time.Second)) + patience
	go s.load.run(ctx, s.games, s.plan.Starts)
	for {
		st, err := s.fleet.Stats(ctx, ArenaPart, false)
		if err != nil {
			return err
		}
		bot, err := s.fleet.Stats(ctx, BotPart, false)
		if err != nil {
			return err
		}
		running, took := st.Games-1, time.Since(began) // one is the relay's
		step.StartsPerSecond = float64(st.Started-1) / took.Seconds()
		s.watch("%d games: %d running, %.0f started a second", s.games, running, step.StartsPerSecond)
		if err := s.load.failure(); err != nil {
			return err
		}
		switch {
		case running >= s.games:
			return nil
		case bot.Offered > 0:
			step.Stop = startsLate(bot)
			return nil
		case took > bound:
			step.Stop = fmt.Sprintf("only %d games are running after %v", running, took.Round(time.Second))
			return nil
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// startsLate says that bot processes take fewer games; "" if they do not.
func startsLate(bot Stats) string {
	if bot.Offered == 0 {
		return ""
	}
	return fmt.Sprintf("searches start late, and no more than %s taken", texttable.Count(bot.Offered, "seat is", "seats are"))
}

// measure watches the running games for the plan's window. When ctx ends meanwhile, it
// returns what it has seen until then, with the error.
func (s *session) measure(ctx context.Context, base allStats, step Step) (*Step, error) {
	before, err := s.stats(ctx, false)
	if err != nil {
		return nil, err
	}
	endedBefore := s.load.tally()
	if s.plan.Profile != "" {
		for _, part := range Parts {
			name := fmt.Sprintf("%s/%s-%d", s.plan.Profile, part, s.games)
			if err := s.fleet.Profile(ctx, part, name, s.plan.Window); err != nil {
				return nil, err
			}
		}
	}
	s.watch("%d games: measuring for %v", s.games, s.plan.Window)
	interrupted := s.relay.measure(ctx, s.plan.Window)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	after, err := s.stats(end, false)
	if err != nil {
		return nil, errors.Join(interrupted, err)
	}
	live, err := s.stats(end, true)
	if err != nil {
		return nil, errors.Join(interrupted, err)
	}
	step.Relay, step.Bare = s.relay.latencies()
	step.fill(base, before, after, live)
	step.count(endedBefore, s.load.tally())
	step.Stop = cmp.Or(step.stop(s.plan.MaxP99), step.Stop, startsLate(after.part[BotPart]))
	if interrupted != nil {
		step.Stop = "interrupted"
	}
	return &step, interrupted
}

// kinds returns the games that rule sets belong to, each once.
func kinds(rules []string) (games []string) {
	seen := make(map[string]bool)
	for _, name := range rules {
		if r, err := catalog.Rules(name); err == nil && !seen[r.Game] {
			seen[r.Game] = true
			games = append(games, r.Game)
		}
	}
	return games
}

func playerNames(n int) []protocol.PlayerID {
	names := make([]protocol.PlayerID, n)
	for i := range names {
		names[i] = protocol.PlayerID(fmt.Sprintf("bench-%d", i+1))
	}
	return names
}

// sleep waits for d. It returns the cause of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
