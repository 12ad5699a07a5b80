package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/bot"
	"sparring/configs"
	"sparring/engine"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/httpserver"
	"sparring/internal/texttable"
	"sparring/natsserver/embedded"
	"sparring/pipe/playerspec"
	"sparring/protocol"
)

// ladderFlags say which ladder is meant.
type ladderFlags struct {
	nats        serverFlags
	data, login string

	as login // of the file that login names
}

func ladderCommand() *cobra.Command {
	var f ladderFlags
	c := &cobra.Command{
		Use:   "ladder",
		Short: "Put an engine on a ladder, with ten levels as opponents: join, levels, show",
		Long: `Put an engine on a ladder of rated games. "sparring ladder join" alone is enough: if
no ladder runs with the data of --data, it starts one in its own process, with a page,
and ten levels of the game as opponents. Other engines join that one by the same
command in other terminals. On other machines --login joins the ladder of
"sparring up --ladder --teams", and --nats that of a platform.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			switch {
			case f.login == "":
			case f.nats.given():
				err = usagef("--login: names a server and its user, as --nats and --creds do; want one of them")
			default:
				if f.as, err = readLogin(f.login); err != nil {
					err = usagef("--login: %w", err)
				}
			}
			return err
		},
	}
	f.nats.add(c)
	c.PersistentFlags().StringVar(&f.login, "login", "", "file with server, user and password, as \"sparring up --ladder --teams\" writes it for each team")
	c.PersistentFlags().StringVar(&f.data, "data", "data", "data directory: of the ladder on this machine, and for records")
	c.AddCommand(ladderJoin(&f), ladderLevels(&f), ladderShow(&f))
	return c
}

// server returns the URL of the server that the flags or the environment name; "" if
// the ladder is one of this machine.
func (f *ladderFlags) server() string {
	return cmp.Or(f.as.url, f.nats.url, os.Getenv("SPARRING_NATS_URL"))
}

// remote reports whether the flags or the environment name a server.
func (f *ladderFlags) remote() bool { return f.server() != "" || f.nats.given() }

// user returns the user for a server: that of the login, the credentials, the URL or the
// environment; "" if none names one.
func (f *ladderFlags) user() string {
	inURL, _, _ := protocol.URLUser(f.server())
	as := protocol.Connection{User: cmp.Or(inURL, os.Getenv("SPARRING_NATS_USER")), Creds: cmp.Or(f.nats.creds, os.Getenv("SPARRING_NATS_CREDS"))}
	return cmp.Or(f.as.user, as.WithUser().User)
}

// reach connects to the ladder that the flags name: on a server, as the user in its URL,
// that of the environment, or the one given; otherwise the one that runs with the data,
// as its owner. The error wraps protocol.ErrNoServer if none runs.
func (f *ladderFlags) reach(ctx context.Context, user, name string, log zerolog.Logger) (nc *nats.Conn, subjects protocol.Subjects, as string, err error) {
	var cfg bot.Config
	if err := configs.FromEnv(configs.Prefix, &cfg); err != nil {
		return nil, subjects, "", usagef("settings:\n%w", err)
	}
	f.nats.override(&cfg.NATS.URL, &cfg.NATS.Password, &cfg.NATS.Creds, &cfg.NATS.CA)
	to := cfg.Connection(log)
	if f.remote() {
		to.User = cmp.Or(f.user(), user)
		if f.as.password != "" {
			to.URL, to.Password, to.Creds = f.as.url, f.as.password, ""
		}
		to = to.WithUser()
	} else {
		d, ok, err := readEndpoint(f.data)
		if err != nil {
			return nil, subjects, "", err
		}
		if !ok {
			return nil, subjects, "", fmt.Errorf("%w: no ladder runs with the data in %s; \"sparring ladder join\" or \"sparring up --ladder\" starts one, --nats names one elsewhere", protocol.ErrNoServer, f.data)
		}
		to = protocol.Connection{URL: d.URL, User: d.User, Password: d.Password, Log: log}
		cfg.NATS.Prefix = protocol.DefaultPrefix
	}
	to.Name = name
	if subjects, err = protocol.NewSubjects(cfg.NATS.Prefix); err != nil {
		return nil, subjects, "", usage(err)
	}
	within, cancel := context.WithTimeoutCause(ctx, reachTime, fmt.Errorf("no answer within %v", reachTime))
	defer cancel()
	nc, err = protocol.Dial(within, to)
	if err != nil && !f.remote() {
		err = fmt.Errorf("the ladder with the data in %s does not answer: %w", f.data, err)
	}
	return nc, subjects, to.User, err
}

// joinFlags are the flags of ladder join.
type joinFlags struct {
	*ladderFlags
	engine, game, name, clock, rules, http, log string
	games                                       int
	ponder                                      bool
}

func ladderJoin(l *ladderFlags) *cobra.Command {
	f := joinFlags{ladderFlags: l}
	c := &cobra.Command{
		Use:   "join",
		Short: "Let an engine play on the ladder, until it has a rating",
		Long: `Let an engine play rated games on the ladder. It plays one game at a time, and after
each the command prints the result and the engine's rating with its error (95 %).

The ladder is that of --nats, or else the one that runs on this machine with the data
of --data. If there is none, it is started in this process: a NATS server, a platform
with its page, and the ten levels of the game, whose ratings are their measured
strength. --clock, --rules and --http are for that case. On a ladder of --nats the
engine's id is the name of the user, who may act for no other; --name is what people
read. The password belongs in SPARRING_NATS_PASSWORD: everybody on this machine can
read a command line.

Ctrl-C lets the engine finish its game and leaves the ladder; a second one leaves at
once, and the game is lost unless this command is given again within a minute. With
--games it leaves after so many games. Two sentences sum up what it did.

A ladder that this command has started ends with it. It starts no more games from the
first Ctrl-C or the last of --games on, and waits for the running games of others; Ctrl-C
again cuts these off. A command that plays on the ladder of another ends with exit code 1
if that is gone: some seconds after it has ended, a minute after it was killed, and with
--nats after five minutes without an answer.`,
		Example: `  sparring ladder join --engine uci:fairy-stockfish --game xiangqi --games 20
  sparring ladder join --engine gomocup:./pbrain-ten --name "Team Ten" --clock 10+0.1
  sparring ladder join --engine "ucci:C:\Program Files\eleeye\eleeye.exe" --nats nats://red@ladder.example.org`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, err := f.team(c)
			if err != nil {
				return err
			}
			if c.Flags().Changed("clock") || c.Flags().Changed("rules") || c.Flags().Changed("http") {
				t.hosts = "--clock, --rules and --http"
			}
			return f.run(c, t)
		},
	}
	c.Flags().StringVar(&f.engine, "engine", "", "spec of the engine, such as uci:./my-engine (required)")
	c.Flags().StringVar(&f.game, "game", "", anyGame()+"; may be left out if engines of the protocol play just one")
	c.Flags().StringVar(&f.name, "name", "", "name on the ladder, in any script (default: the program's name, and with --nats the name of the user)")
	c.Flags().IntVar(&f.games, "games", 0, "leave after so many games; 0: at Ctrl-C")
	c.Flags().StringVar(&f.clock, "clock", ladderClock, "clock of a ladder that this command starts")
	c.Flags().StringVar(&f.rules, "rules", "", "rule set of a ladder that this command starts (default: the game's)")
	c.Flags().StringVar(&f.http, "http", "127.0.0.1:8080", "address of the page of a ladder that this command starts; empty: none")
	fileFlag(c.Flags(), &f.log, "log", "folder for all that is said to and by the engine, one file per game")
	c.Flags().BoolVar(&f.ponder, "ponder", true, "the engine thinks on its opponents' time, if its protocol allows")
	return c
}

// team checks the flags, and that the engine starts.
func (f *joinFlags) team(c *cobra.Command) (*team, error) {
	if f.engine == "" {
		return nil, usagef("--engine: want the spec of your engine, such as uci:./my-engine")
	}
	if f.games < 0 {
		return nil, usagef("--games %d: want 0 (until Ctrl-C) or more", f.games)
	}
	spec, err := playerspec.Parse(f.engine)
	if err != nil {
		return nil, usagef("--engine: %w", err)
	}
	if f.game == "" && spec.Outside != nil && len(spec.Outside.Dialect.Games()) == 1 {
		f.game = spec.Outside.Dialect.Games()[0]
	}
	if f.game == "" {
		return nil, usagef("--game: want %s", anyGame())
	}
	kind, err := catalog.Game(f.game)
	if err != nil {
		return nil, usagef("--game: %w", err)
	}
	rules, err := rulesOfLadder(f.game, cmp.Or(f.rules, kind.Default))
	if err != nil {
		return nil, usagef("--rules: %w", err)
	}
	if err := spec.Check(f.game); err != nil {
		return nil, usagef("--engine: %w", err)
	}
	t := &team{game: f.game, engine: f.engine, log: f.log, games: f.games, ponder: f.ponder, data: f.data, screen: newDisplay(c.OutOrStdout()),
		interrupted: c.Context().Done()}
	if spec.Outside != nil { // ours starts
		about, err := tryProgram(c.Context(), f.engine, engine.GameOptions{Rules: rules})
		if c.Context().Err() != nil {
			return nil, context.Cause(c.Context())
		}
		if err != nil {
			return nil, fmt.Errorf("the engine does not start: %w\ntry: sparring engine check %q --game %s", err, f.engine, f.game)
		}
		t.program = protocol.Engine(about).String()
		t.public = bot.PublicEngine(spec, about)
	} else {
		t.public = protocol.Engine{Spec: spec.Public()}
	}
	name := f.name
	if user := f.user(); f.remote() && user != "" { // who may act only for the player of its name
		if t.id = protocol.PlayerID(user); protocol.CheckID("player", t.id) != nil {
			return nil, usagef("the user %q of the server can't be a player: want 1 to 32 of a-z 0-9 _ -", user)
		}
		if name != "" && name != user {
			t.display = name
		}
		return t, nil
	}
	if name == "" {
		name = strings.TrimPrefix(spec.String(), playerspec.Self+":")
		if o := spec.Outside; o != nil {
			base := o.Path[strings.LastIndexAny(o.Path, `/\`)+1:]
			name = strings.TrimSuffix(base, filepath.Ext(base))
		}
	}
	if t.id, err = playerOf(name); err != nil {
		return nil, usagef("--name: %w", err)
	}
	if name != string(t.id) {
		t.display = name
	}
	return t, nil
}

// tryProgram starts a program, until ctx ends, and returns what it says of itself.
func tryProgram(ctx context.Context, spec string, o engine.GameOptions) (about engine.Description, err error) {
	engines := playerspec.NewEngines(playerspec.Options{HashBytes: 1 << 20, Threads: 1})
	defer engines.Close() // the error does not matter
	g, err := engines.NewGame(spec, o)
	if err != nil {
		return about, err
	}
	defer g.Close()
	if err := engine.Ready(ctx, g); err != nil {
		return about, err
	}
	return g.Describe(), nil
}

// run joins the ladder that the flags name, or one that it starts.
func (f *joinFlags) run(c *cobra.Command, t *team) error {
	ctx := context.WithoutCancel(c.Context()) // the team obeys Ctrl-C
	for tries := 0; ; tries++ {
		shown := newWarnings(t.screen)
		shown.Show()
		file, logFile, err := openLog(f.data, shown)
		if err != nil {
			return err
		}
		nc, subjects, _, err := f.reach(c.Context(), string(t.id), "sparring ladder join", file)
		if err == nil {
			defer logFile.Close()
			defer nc.Close()
			if !f.remote() {
				t.left = hasEnded(f.data)
			}
			if t.hosts != "" {
				t.screen.Say("note: the ladder runs already; %s are ignored", t.hosts)
			}
			return t.playOn(ctx, nc, subjects, file)
		}
		logFile.Close()
		if f.remote() || !errors.Is(err, protocol.ErrNoServer) {
			return err
		}
		err = f.host(c, t)
		// Another process may have started it just now.
		if used := (*embedded.InUseError)(nil); errors.As(err, &used) && tries < 20 && c.Context().Err() == nil {
			time.Sleep(250 * time.Millisecond)
			continue
		} else if used != nil {
			return fmt.Errorf("another sparring already runs with the data in %s (process %s), and no ladder that others may join; end it, start it with \"sparring up --ladder\", or choose another --data", f.data, used.Process)
		}
		return err
	}
}

// host starts a ladder in this process, and joins it.
func (f *joinFlags) host(c *cobra.Command, t *team) error {
	spec, err := clock.Parse(f.clock)
	if err == nil && !spec.Traits().Limited {
		err = errors.New("want a time limit, or a game might never end")
	}
	if err == nil {
		err = spec.Check()
	}
	if err != nil {
		return usagef("--clock: %w", err)
	}
	if err := httpserver.CheckAddress(f.http); err != nil {
		return usagef("--http: %w", err)
	}
	u := upFlags{data: f.data, clock: f.clock, rules: map[string]string{}, port: embedded.RandomPort, http: f.http, levels: 200, ladder: true, team: t,
		anyPort: !c.Flags().Changed("http"), noTables: true}
	if f.rules != "" {
		u.rules[f.game] = f.game + "/" + strings.TrimPrefix(f.rules, f.game+"/")
	}
	return up(c.Context(), c.OutOrStdout(), u, spec)
}

func ladderLevels(l *ladderFlags) *cobra.Command {
	var games []string
	c := &cobra.Command{
		Use:   "levels",
		Short: "Let the ten levels of our engine play on a ladder, until Ctrl-C",
		Long: `Let the ten levels of games play on a ladder, as a bot process for it (user "bots",
unless the environment or --nats names another). The ladder should know them as its
anchors: an arena with SPARRING_LADDER_LEVELS=true, or "sparring up --ladder", which
has them already, as has a ladder that "sparring ladder join" has started.`,
		Example: `  sparring ladder levels --game xiangqi --nats nats://127.0.0.1:4222   # the password in SPARRING_NATS_PASSWORD`,
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, g := range games {
				if _, err := catalog.Game(g); err != nil {
					return usagef("--game: %w", err)
				}
			}
			var cfg bot.Config
			if _, err := load(&cfg); err != nil {
				return err
			}
			cfg.Players, cfg.Profiles, cfg.Analyses = nil, "", 0
			cfg.Levels, cfg.LevelGames, cfg.LevelsLadder, cfg.Data = cmp.Or(cfg.Levels, 200), games, true, l.data
			cfg.Instance = cmp.Or(cfg.Instance, protocol.InstanceID("levels-"+protocol.NewID()[:8]))
			log := newLog(c.ErrOrStderr(), cfg.LogLevel)
			nc, _, as, err := l.reach(c.Context(), cfg.NATS.User, "sparring ladder levels", log)
			if err != nil {
				return err
			}
			defer nc.Close()
			b, done, err := newBotWith(nc, cfg, bot.Deps{Guest: as == embedded.Owner, Log: log})
			if err != nil {
				return err
			}
			defer done()
			what := "all games"
			if len(games) > 0 {
				what = strings.Join(games, ", ")
			}
			fmt.Fprintf(c.OutOrStdout(), "the ten levels of %s wait for opponents at %s as user %s; Ctrl-C ends them\n", what, nc.ConnectedUrlRedacted(), as)
			ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context()))
			defer cancel()
			defer obeySignals(c.Context().Done(), b, cancel, false, log)()
			if l.remote() {
				return b.Run(ctx)
			}
			gone := make(chan error, 1)
			go func() {
				gone <- awaitGone(ctx, b.Silence, nc.ConnectedUrlRedacted(), hasEnded(l.data))
				cancel()
			}()
			err = b.Run(ctx)
			cancel()
			return errors.Join(err, <-gone)
		},
	}
	c.Flags().StringSliceVar(&games, "game", nil, anyGame()+", or several, separated by commas (default: all)")
	return c
}

func ladderShow(l *ladderFlags) *cobra.Command {
	var games []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "show",
		Short: "Print the ladder: ratings with their errors",
		Long: `Print the ladder of each game and speed: ratings with their errors (95 %). The ladder
is that of --nats, or the one that runs on this machine with the data of --data.
Ratings marked = are those of levels, which are the scale and do not change.`,
		Example: `  sparring ladder show --game xiangqi
  sparring ladder show --nats nats://red@ladder.example.org --json   # the password in SPARRING_NATS_PASSWORD`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			for _, g := range games {
				if _, err := catalog.Game(g); err != nil {
					return usagef("--game: %w", err)
				}
			}
			nc, subjects, as, err := l.reach(c.Context(), "guest", "sparring ladder show", zerolog.Nop())
			if err != nil {
				return err
			}
			defer nc.Close()
			all := map[string][]protocol.Standing{}
			if len(games) == 0 {
				games = catalog.Names()
			}
			for _, g := range games {
				if all[g], err = standingsOf(c.Context(), nc, subjects, protocol.PlayerID(as), g); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), all)
			}
			t := texttable.Table{{"game", "speed", "place", "player", "rating", "+-", "games", "won", "drawn", "lost"}}
			for _, g := range games {
				for _, s := range all[g] {
					plusMinus := fmt.Sprintf("%.0f", s.Error)
					if s.Fixed {
						plusMinus = "="
					}
					t.Add(g, s.Speed, s.Rank, cmp.Or(s.Display, string(s.Player)), fmt.Sprintf("%.0f", s.Rating), plusMinus, s.Games, s.Wins, s.Draws, s.Losses)
				}
			}
			if len(t) == 1 {
				fmt.Fprintln(c.OutOrStdout(), "no rated game has been played yet")
				return nil
			}
			return t.Write(c.OutOrStdout())
		},
	}
	c.Flags().StringSliceVar(&games, "game", nil, anyGame()+", or several, separated by commas (default: all)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// standingsOf asks a platform for the ladder of a game, as a player.
func standingsOf(ctx context.Context, nc *nats.Conn, subjects protocol.Subjects, as protocol.PlayerID, gameName string) ([]protocol.Standing, error) {
	client, err := protocol.NewClient(nc, subjects, as, "standings", zerolog.Nop())
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeoutCause(ctx, reachTime, fmt.Errorf("no platform answers player %s at %s: none runs there, or the user may not act for this player", as, nc.ConnectedUrlRedacted()))
	defer cancel()
	ans, err := client.Standings(within, gameName)
	for errors.Is(err, &protocol.Error{Code: protocol.RateLimited}) && within.Err() == nil { // others ask as this player, too
		time.Sleep(time.Second / 2)
		ans, err = client.Standings(within, gameName)
	}
	if err != nil && within.Err() != nil {
		err = context.Cause(within)
	}
	return slices.Clone(ans.Standings), err
}
