package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/arena"
	"sparring/arena/web"
	"sparring/bot"
	"sparring/bot/play"
	"sparring/configs"
	"sparring/engine"
	"sparring/engine/level"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/httpserver"
	"sparring/internal/logfile"
	"sparring/lab/match/event"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// upFlags are the flags of the up command.
type upFlags struct {
	data   string
	clock  string
	rules  map[string]string
	rounds int
	port   int
	http   string
	files  string
	levels int
	ponder bool
	events []string
	ladder bool
	teams  []string

	team     *team         // plays on the ladder against the levels of its game alone, and ends it all when it has done
	anyPort  bool          // http may be another port, if that is in use
	profiles string        // JSON file of the players, set by tests; empty: the shipped ones
	pause    time.Duration // shortest time for a move against people, set by tests; 0: the shipped one
	hash     int           // MiB of a hash table, set by tests; 0: the shipped size
	noTables bool          // no endgame tables are built, set by tests
	patience time.Duration // for the shutdown, set by tests; 0: stopWithin
}

// upSettings are the settings of the up command from the environment. All else has flags.
type upSettings struct {
	Keep keepSettings
	Warn spaceWarning
}

// config returns the arena's configuration with them.
func (s *upSettings) config() arena.Config {
	c := arena.Defaults()
	c.Warn = s.Warn.limits()
	s.Keep.apply(&c.Retention)
	return c
}

// Validate reports every fault of the settings, one error a line.
func (s *upSettings) Validate() error { return s.config().Validate() }

func upCommand() *cobra.Command {
	var f upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "Run everything in one process: NATS server, platform with its page, and bots",
		Long: `Run everything in one process: a NATS server with JetStream, the platform, and
bots. The first line of the output is the address of the page on which people play
Xiangqi, Gomoku and Amazons against ten levels of each, or each other. Meanwhile
two bots of each game play rated ladder games until Ctrl-C. All data is stored
below --data. The next start resumes the ladder and unfinished games, with their
clocks unchanged.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.follow(c); err != nil {
				return err
			}
			spec, err := f.validate(c)
			if err != nil {
				return err
			}
			f.anyPort = !c.Flags().Changed("http")
			return up(c.Context(), c.OutOrStdout(), f, spec)
		},
	}
	c.Flags().StringVar(&f.data, "data", "data", "data directory")
	c.Flags().StringVar(&f.clock, "clock", ladderClock, "clock of the games: 300, 10+0.1, 60/5x10 (byo-yomi) or 5/move; seconds")
	c.Flags().StringToStringVar(&f.rules, "rules", nil, "rule set by game, such as gomoku=renju-15+swap2; others play their default")
	c.Flags().IntVar(&f.rounds, "rounds", 0, "rounds to play, in which the bots of a game meet once; 0: whoever is free is paired, until Ctrl-C")
	c.Flags().StringArrayVar(&f.events, "event", nil, anEvent+": the rules of its game and the clock of all, where no flag says otherwise; repeatable")
	c.Flags().IntVar(&f.port, "port", 0, "port on 127.0.0.1 for other players; 0: none, -1: any free port; with --teams on all addresses, 4222 unless it is given")
	c.Flags().StringVar(&f.http, "http", "127.0.0.1:8080", "address of the page; :8080 admits other machines; port 0: any free port; empty: none. Only the default, if it is in use, is replaced by a free port")
	c.Flags().StringVar(&f.files, "files", "", "path of a checkout of the program, to read the page's files from at each request; empty: those in the program")
	c.Flags().IntVar(&f.levels, "levels", 200, "maximum number of games at once of the ten levels of each game, which play people, and with --ladder on the ladder; 0: no levels")
	c.Flags().BoolVar(&f.ladder, "ladder", false, "the levels play on the ladder, too, and \"sparring ladder join\" on this machine finds it")
	c.Flags().StringSliceVar(&f.teams, "teams", nil, "teams that join the --ladder from other machines in the network, as red,blue: each gets a user, and a file with which it joins")
	c.Flags().BoolVar(&f.ponder, "ponder", true, "bots think on their opponents' time")
	withEnvHelp(c, &upSettings{})
	return c
}

// validate checks the flags, writes rule sets in full, and returns the clock of the ladder.
func (f *upFlags) validate(c *cobra.Command) (spec clock.Spec, err error) {
	spec, err = clock.Parse(f.clock)
	if err != nil {
		return spec, usagef("--clock: %w", err)
	}
	if !spec.Traits().Limited {
		return spec, usagef("--clock: want a time limit, or a round would never end")
	}
	if err := spec.Check(); err != nil {
		return spec, usagef("--clock: %w", err)
	}
	if f.rounds < 0 {
		return spec, usagef("--rounds %d: want 0 (for ever) or more", f.rounds)
	}
	if f.port < embedded.RandomPort || f.port > 65535 {
		return spec, usagef("--port %d: want -1 (any free port), 0 (no port) or up to 65535", f.port)
	}
	if err := httpserver.CheckAddress(f.http); err != nil {
		return spec, usagef("--http: %w", err)
	}
	for name, rules := range f.rules {
		r, err := rulesOfLadder(name, rules)
		if err != nil {
			return spec, usagef("--rules: %w", err)
		}
		f.rules[name] = r.Name
	}
	if err := pageFiles(f.files); err != nil {
		return spec, usagef("--files: %w", err)
	}
	if most := len(catalog.Names()) * level.Strongest * protocol.MaxPlaying; f.levels < 0 || f.levels > most {
		return spec, usagef("--levels %d: want 0 (no levels) to %d", f.levels, most)
	}
	if f.ladder && f.levels == 0 {
		return spec, usagef("--ladder: is a ladder of the levels; want --levels above 0")
	}
	if f.ladder && f.rounds > 0 {
		return spec, usagef("--ladder: pairs whoever is free; want no --rounds")
	}
	if len(f.teams) > 0 {
		if err := f.checkTeams(c.Flags().Changed("port")); err != nil {
			return spec, usagef("--teams: %w", err)
		}
	}
	return spec, nil
}

// rulesOfLadder returns the rule set of a game that --rules names for a ladder.
func rulesOfLadder(gameName, rules string) (*game.Rules, error) {
	r, err := catalog.RulesOf(gameName, rules)
	if err == nil {
		err = arena.LadderRules(r)
	}
	return r, err
}

// follow takes over what --event prescribes for the ladder, which has one clock for all
// games.
func (f *upFlags) follow(c *cobra.Command) error {
	rules, clocked := map[string]string{}, (*event.Event)(nil)
	for _, name := range f.events {
		e, err := openEvent(name)
		if err != nil {
			return err
		}
		g := e.Rules.Game
		if rules[g] != "" {
			return usagef("--event: there are two for %s", g)
		}
		rules[g] = e.Rules.Name
		if given, ok := f.rules[g]; ok {
			if given = g + "/" + strings.TrimPrefix(given, g+"/"); given != rules[g] {
				fmt.Fprintf(c.ErrOrStderr(), "event %s: --rules %s instead of %s\n", e.Name, given, rules[g])
			}
			rules[g] = given
		}
		switch {
		case e.Clock == nil:
		case clocked != nil && *clocked.Clock != *e.Clock && !c.Flags().Changed("clock"):
			return usagef("--event: %s has the clock %s, and %s %s; give --clock", clocked.Name, clocked.Clock, e.Name, e.Clock)
		default:
			clocked = e
		}
	}
	if f.rules == nil {
		f.rules = map[string]string{}
	}
	maps.Copy(f.rules, rules)
	if clocked == nil {
		return nil
	}
	return follow(c, clocked, prescription{"clock", clockOf(clocked)})
}

// stopWithin bounds the time from Ctrl-C to the end of the process.
const stopWithin = 4 * time.Second

// up runs until ctx ends or all rounds are played.
func up(ctx context.Context, out io.Writer, f upFlags, spec clock.Spec) (err error) {
	var env upSettings
	unknown, err := load(&env)
	if err != nil {
		return err
	}
	screen := newDisplay(out)
	shown := newWarnings(screen)
	if f.team != nil {
		screen = f.team.screen
		shown = newWarnings(screen, "refused") // the result says why a move came too late
	}
	defer shown.Show() // if the start fails
	log, file, err := openLog(f.data, shown, unknown...)
	if err != nil {
		return err
	}
	defer file.Close()
	address, err := f.listen(ctx)
	if err != nil {
		return err
	}
	if address != nil {
		defer address.Close()
	}
	guests := f.port != embedded.NoPort && f.team == nil && len(f.teams) == 0
	if f.ladder && f.port == embedded.NoPort {
		f.port = embedded.RandomPort
	}
	srv, err := f.startNATS(log)
	if err != nil {
		return err
	}
	defer srv.Close()
	platform, err := protocol.Connect(srv.Platform())
	if err != nil {
		return err
	}
	defer platform.Close()
	players, err := protocol.Connect(srv.Player("bots"))
	if err != nil {
		return err
	}
	defer players.Close()

	cfg := f.arena(&env, spec)
	a, err := arena.New(ctx, platform, cfg, log)
	if ctx.Err() != nil {
		return nil // Ctrl-C while opening the store; the next start completes it
	}
	if err != nil {
		return err
	}
	s := &scene{screen: screen, arena: a}
	a.OnRound(s.round)
	observe := s.event
	if f.team != nil {
		observe = nil
	}
	b, closeBot, err := upBot(players, f, env, log, observe)
	if err != nil {
		return err
	}
	defer closeBot()
	keep, err := newKeeper(recordsDir(f.data), cfg.Retention.Records, platform, log)
	if err != nil {
		return err
	}
	defer keep.close()
	page, err := openGateway(ctx, a, address, web.Config{Files: f.files, Operator: address.IsLoopback()}, log)
	if ctx.Err() != nil {
		return nil // as above
	}
	if err != nil {
		return err
	}
	defer page.close()
	health, end, err := upHealth(ctx, a, page, log)
	if err != nil {
		return err
	}
	defer end()

	guest, teams, removeLogins, err := f.writeLogins(srv, page, guests)
	if err != nil {
		return err
	}
	defer removeLogins()
	s.start(srv, f, page, health, file.Name(), guest, teams)
	shown.Show()
	if f.team != nil {
		return upTeam(ctx, f, srv, a, log, func(ctx context.Context) error {
			_, err := together(ctx, a, b, page, keep, shown.Mute, cmp.Or(f.patience, stopWithin))
			return err
		})
	}
	if f.rounds == 0 {
		life, end := context.WithCancel(ctx)
		defer end()
		go s.ladder(life)
	}
	rounds, err := together(ctx, a, b, page, keep, shown.Mute, cmp.Or(f.patience, stopWithin))
	s.finish(recordsDir(f.data), rounds)
	return err
}

// listen opens the address of the page; nil without one.
func (f *upFlags) listen(ctx context.Context) (*httpserver.Listener, error) {
	open := httpserver.Listen
	if f.anyPort {
		open = httpserver.ListenNear
	}
	at, err := open(ctx, f.http)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--http: %w; choose another port, such as --http :8081, or :0 for any", err)
	}
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	return at, nil
}

// startNATS starts the server, with a user for each team.
func (f *upFlags) startNATS(log zerolog.Logger) (*embedded.Server, error) {
	cfg := embedded.Config{Dir: filepath.Join(f.data, "nats"), Port: f.port, Owner: f.ladder, Log: log}
	if len(f.teams) > 0 {
		f.admitTeams(&cfg)
	}
	srv, err := embedded.Start(cfg)
	if used := (*embedded.InUseError)(nil); errors.As(err, &used) {
		return nil, fmt.Errorf("another sparring already runs with this data (process %s); use its page, or choose another folder with --data: %w", used.Process, err)
	}
	if err != nil && f.port > 0 && strings.Contains(err.Error(), "listening on port") { // the server's words, which wrap nothing
		return nil, fmt.Errorf("--port %d: %w; choose another port, or -1 for any", f.port, err)
	}
	return srv, err
}

// arena returns the configuration of the arena.
func (f *upFlags) arena(env *upSettings, spec clock.Spec) arena.Config {
	cfg := env.config()
	cfg.Name, cfg.Build, cfg.Disk = "up", engine.Build(), f.data
	cfg.Ladder.On, cfg.Ladder.Clocks, cfg.Ladder.Rounds = true, []clock.Spec{spec}, f.rounds
	cfg.Ladder.Rules = make(map[string][]string)
	for name, rules := range f.rules {
		cfg.Ladder.Rules[name] = []string{rules}
	}
	if f.ladder {
		cfg.Ladder.Anchors = levelAnchors()
	}
	return cfg
}

// upBot returns a bot with all shipped players and the levels; for a team the levels of
// its game alone.
func upBot(nc *nats.Conn, f upFlags, env upSettings, log zerolog.Logger, observe func(play.Event)) (*bot.Bot, func(), error) {
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		return nil, nil, err
	}
	cfg.Keep.Records, cfg.Keep.RecordsMB = env.Keep.Records, env.Keep.RecordsMB
	cfg.Warn.Within, cfg.Warn.Percent = env.Warn.Within, env.Warn.Percent
	cfg.Instance, cfg.Data, cfg.Ponder, cfg.Tablebase = "up", f.data, f.ponder, tablebaseDir(f.data)
	cfg.Profiles, cfg.Levels, cfg.TablebaseBuild = f.profiles, f.levels, !f.noTables
	cfg.LevelsLadder = f.ladder
	if f.team != nil {
		cfg.Players, cfg.LevelGames = nil, []string{f.team.game}
	}
	if f.hash > 0 {
		cfg.HashMB = f.hash
	}
	// The ladder never rests. A core less for it leaves one to the people.
	cfg.PlayerCores = max(1, runtime.GOMAXPROCS(0)-1)
	if f.pause > 0 {
		cfg.Play.HumanDelay = f.pause
	}
	return newBot(nc, cfg, log, observe)
}

// upHealth serves /healthz and /metrics at an address of their own if the page's is
// reached by other machines. It returns where they are; "" without a page.
func upHealth(ctx context.Context, a *arena.Arena, page *gateway, log zerolog.Logger) (url string, end func(), err error) {
	if page == nil || page.operator {
		if page != nil {
			url = page.url
		}
		return url, func() {}, nil
	}
	l, err := httpserver.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	return l.URL(), l.Serve(a.Handler(), log), nil
}

// together runs platform, page, bots and keeper until ctx ends, all rounds are played,
// or one of them fails. The platform stops first, so that the clocks are stopped
// before any player leaves. Ending is called before shutdown, which may take as long as patience; rounds
// reports whether all rounds were played.
func together(ctx context.Context, a *arena.Arena, b *bot.Bot, page *gateway, keep *keeper, ending func(), patience time.Duration) (rounds bool, err error) {
	life, end := context.WithCancel(ctx)
	defer end()
	botLife, endBot := context.WithCancel(context.WithoutCancel(ctx))
	defer endBot()
	var wg sync.WaitGroup
	var arenaErr, botErr, pageErr error
	wg.Go(func() {
		defer endBot()
		defer end()
		arenaErr = a.Run(life)
	})
	wg.Go(func() {
		defer end()
		botErr = b.Run(botLife)
	})
	wg.Go(func() {
		defer end()
		pageErr = page.run(life)
	})
	wg.Go(func() { keep.follow(botLife, a) })
	select {
	case <-life.Done():
	case <-a.RoundsDone():
		rounds = true
		keep.catchUp(ctx)
	}
	ending()
	end()
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	select {
	case <-ended:
		return rounds, errors.Join(arenaErr, botErr, pageErr)
	case <-time.After(patience):
		return rounds, fmt.Errorf("shutdown did not complete within %v; the next start recovers", patience)
	}
}

// openLog opens the log file in the data directory. Warnings and errors are also
// written to shown.
func openLog(data string, shown io.Writer, unknown ...string) (log zerolog.Logger, file *logfile.File, err error) {
	if err := os.MkdirAll(data, 0o755); err != nil {
		return log, nil, dataError(data, "data directory", err)
	}
	file, err = logfile.Open(filepath.Join(data, "sparring.log"), logfile.MaxSize)
	if err != nil {
		return log, nil, dataError(data, "log", err)
	}
	return newLog(zerolog.MultiLevelWriter(logfile.NewKeptUp(file, shown), shown), "info", unknown...), file, nil
}

// dataError says what to do if a part of the data directory may not be written.
func dataError(data, part string, err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the data directory %s is not writable; choose another with --data: %w", data, err)
	}
	return fmt.Errorf("%s: %w", part, err)
}
