package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/arena"
	"sparring/arena/web"
	"sparring/configs"
	"sparring/engine"
	"sparring/game/clock"
	"sparring/internal/diskspace"
	"sparring/internal/httpserver"
	"sparring/protocol"
	"sparring/record"
)

// arenaSettings are the arena command's settings, from the environment.
type arenaSettings struct {
	NATS struct {
		URL      string `default:"nats://127.0.0.1:4222" desc:"NATS server, or several separated by commas"`
		User     string `default:"platform" desc:"user name in the platform's account"`
		Password string `desc:"password of the user"`
		Creds    string `desc:"path of a .creds file, instead of user and password; it is read again at each reconnection"`
		CA       string `desc:"path of the server's CA certificate; empty: the system's"`
		Prefix   string `default:"sparring" desc:"prefix of all subjects"`
	}
	Arena struct {
		Name         string        `desc:"id of this process among the arenas; empty: random"`
		Replicas     int           `default:"1" desc:"number of NATS servers that keep each stream: 1, 3 or 5"`
		Games        int           `default:"1000" desc:"maximum number of games that this process referees at once; further challenges wait"`
		ChallengeFor time.Duration `split_words:"true" default:"1m" desc:"default challenge lifetime"`
		FirstMove    time.Duration `split_words:"true" default:"30s" desc:"time for a seat's first move in bullet and blitz games, longer in slower ones; after it the game is aborted"`
		AbandonAfter time.Duration `split_words:"true" default:"1m" desc:"how long a seat may be empty in bullet and blitz games, longer in slower ones, before its player loses"`
		LostAfter    time.Duration `split_words:"true" default:"1500ms" desc:"time without heartbeats after which an instance's seats are offered to others"`
		Disk         string        `desc:"directory of the NATS server's store, if it is on this machine, to warn before the disk is full; empty: none"`
		HTTP         string        `desc:"address for /healthz and /metrics, such as 127.0.0.1:8081, which only operators should reach; empty: with the page if its address is loopback, otherwise none"`
	}
	Web    webSettings
	Ladder struct {
		On     bool          `default:"true" desc:"pair the players who are free for rated games"`
		Clock  []clock.Spec  `default:"60+1" desc:"clocks, separated by commas; each is a ladder of its own, with the ratings of its speed"`
		Rules  ladderRules   `desc:"rule sets by game, such as gomoku:gomoku/renju-15,gomoku:gomoku/standard-15; other games have their default"`
		Games  int           `default:"1" desc:"games of the ladder that a player plays at once"`
		Losses int           `default:"1" desc:"how many bot processes may be lost at once, whichever they are, so that others of their players have free slots for their games: no pairing takes these; 0: none"`
		People ladderPeople  `default:"together" desc:"whether people and bots meet: together or apart"`
		Levels bool          `default:"false" desc:"the levels anchor the ladder: they have the ratings of their measured strength, and do not meet each other; see SPARRING_LEVELS_LADDER of a bot"`
		Pause  time.Duration `default:"1s" desc:"how long a player rests between two games; also the pause between two rounds"`
		Rounds int           `default:"0" desc:"number of rounds to play, in which all bots meet once, for a few bots; 0: whoever is free is paired, without end"`
	}
	Warn     spaceWarning
	Keep     keepSettings
	LogLevel string `split_words:"true" default:"info" desc:"trace, debug, info, warn or error"`
}

// keepSettings say what is kept of finished games.
type keepSettings struct {
	Logs      time.Duration `desc:"how long the logs of finished games are kept, such as 720h; 0: for ever"`
	LogsMB    int           `split_words:"true" desc:"maximum size of the logs in MiB: beyond it those of finished games are removed, the oldest first; 0: any size"`
	Records   time.Duration `desc:"how long the platform's records are kept; 0: for ever"`
	RecordsMB int           `split_words:"true" desc:"maximum size of the platform's records in MiB; 0: any size"`
}

// apply puts the settings into an arena's.
func (k keepSettings) apply(c *arena.Retention) {
	c.Logs = record.Bounds{Age: k.Logs, Bytes: int64(k.LogsMB) << 20}
	c.Records = record.Bounds{Age: k.Records, Bytes: int64(k.RecordsMB) << 20}
}

// spaceWarning says when the operator is warned that something will be full.
type spaceWarning struct {
	Within  time.Duration `default:"24h" desc:"warn of a disk, stream or account that will be full within this time, as it has grown lately; 0: never"`
	Percent int           `default:"90" desc:"warn of one that is this full, in percent; 0: never"`
}

func (w spaceWarning) limits() diskspace.Limits {
	return diskspace.Limits{Within: w.Within, Share: float64(w.Percent) / 100}
}

// ladderRules are rule sets by game: pairs of game and rule set, separated by commas.
type ladderRules map[string][]string

// Decode implements envconfig.Decoder.
func (r *ladderRules) Decode(text string) error {
	*r = ladderRules{}
	if text == "" {
		return nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, rules, ok := strings.Cut(strings.TrimSpace(pair), ":")
		if !ok {
			return fmt.Errorf("%.60q: want game:rules", pair)
		}
		(*r)[name] = append((*r)[name], rules)
	}
	return nil
}

// ladderPeople says whether people meet bots on the ladder.
type ladderPeople string

// The choices.
const (
	peopleTogether ladderPeople = "together"
	peopleApart    ladderPeople = "apart"
)

// Decode implements envconfig.Decoder.
func (p *ladderPeople) Decode(text string) error {
	*p = ladderPeople(text)
	if *p != peopleTogether && *p != peopleApart {
		return errors.New("want together or apart")
	}
	return nil
}

// config returns the arena's configuration.
func (s *arenaSettings) config() arena.Config {
	c := arena.Defaults()
	c.Prefix, c.Name, c.Build = s.NATS.Prefix, s.Arena.Name, engine.Build()
	c.Replicas, c.Games = s.Arena.Replicas, s.Arena.Games
	c.ChallengeFor, c.LostAfter = s.Arena.ChallengeFor, s.Arena.LostAfter
	c.Policy.FirstMove, c.Policy.AbandonAfter = s.Arena.FirstMove, s.Arena.AbandonAfter
	c.Ladder.On, c.Ladder.Clocks, c.Ladder.Rules = s.Ladder.On, s.Ladder.Clock, s.Ladder.Rules
	c.Ladder.Losses = s.Ladder.Losses
	c.Ladder.Games, c.Ladder.Apart = s.Ladder.Games, s.Ladder.People == peopleApart
	if s.Ladder.Levels {
		c.Ladder.Anchors = levelAnchors()
	}
	c.Ladder.Rounds, c.Ladder.Pause = s.Ladder.Rounds, s.Ladder.Pause
	c.Disk, c.Warn = s.Arena.Disk, s.Warn.limits()
	s.Keep.apply(&c.Retention)
	return c
}

// connectTo puts flags in the place of settings.
func (s *arenaSettings) connectTo(f *serverFlags) {
	f.override(&s.NATS.URL, &s.NATS.Password, &s.NATS.Creds, &s.NATS.CA)
}

// connection returns how to connect to the server as the platform.
func (s *arenaSettings) connection(name string, log zerolog.Logger) protocol.Connection {
	return protocol.Connection{
		URL: s.NATS.URL, Name: name, User: s.NATS.User, Password: s.NATS.Password,
		Creds: s.NATS.Creds, CA: s.NATS.CA, Log: log,
	}
}

// Validate reports every fault of the settings, one error a line.
func (s *arenaSettings) Validate() error {
	var faults configs.Faults
	if s.NATS.Creds != "" && s.NATS.Password != "" {
		faults.Add("NATS_CREDS", "and a password: want one of them")
	}
	if s.NATS.Creds != "" {
		_, err := protocol.ReadCreds(s.NATS.Creds)
		faults.Err("NATS_CREDS", err)
	}
	faults.Readable("NATS_CA", s.NATS.CA)
	faults.Err("ARENA_HTTP", httpserver.CheckAddress(s.Arena.HTTP))
	s.Web.validate(&faults)
	if s.Web.Address != "" && s.Web.Address == s.Arena.HTTP {
		faults.Add("ARENA_HTTP", "%s: is the page's address", s.Arena.HTTP)
	}
	if _, err := zerolog.ParseLevel(s.LogLevel); err != nil || s.LogLevel == "" {
		faults.Add("LOG_LEVEL", "%.20q: want trace, debug, info, warn or error", s.LogLevel)
	}
	return errors.Join(faults.Join(), s.config().Validate())
}

func arenaCommand() *cobra.Command {
	var server serverFlags
	c := &cobra.Command{
		Use:   "arena",
		Short: "Run the platform on a NATS server: matchmaker, referee, ladder",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var s arenaSettings
			unknown, err := load(&s)
			if err != nil {
				return err
			}
			s.connectTo(&server)
			log := newLog(c.ErrOrStderr(), s.LogLevel, unknown...)
			nc, err := protocol.Connect(s.connection("sparring arena", log))
			if err != nil {
				return err
			}
			defer nc.Close()
			if err := protocol.Await(c.Context(), nc); err != nil {
				return err
			}
			return runArena(c.Context(), nc, &s, log)
		},
	}
	server.add(c)
	withEnvHelp(c, &arenaSettings{})
	return c
}

// runArena runs the platform and its page until ctx ends or one of them fails.
func runArena(ctx context.Context, nc *nats.Conn, s *arenaSettings, log zerolog.Logger) error {
	a, err := arena.New(ctx, nc, s.config(), log)
	if err != nil {
		return err
	}
	operator, err := httpserver.Listen(ctx, s.Arena.HTTP)
	if err != nil {
		return fmt.Errorf("SPARRING_ARENA_HTTP: %w", err)
	}
	if operator != nil {
		defer operator.Serve(a.Handler(), log)()
	}
	address, err := httpserver.Listen(ctx, s.Web.Address)
	if err != nil {
		return fmt.Errorf("SPARRING_WEB_ADDRESS: %w", err)
	}
	if address != nil && s.Web.Cert != "" {
		address.Certificate = httpserver.NewKeyPair(s.Web.Cert, s.Web.Key, log)
	}
	page, err := openGateway(ctx, a, address, web.Config{
		URL: s.Web.URL, Proxies: s.Web.Proxies, Files: s.Web.Files, Searches: s.Web.Reviews, ReviewTime: s.Web.ReviewTime, Operator: operator == nil && address.IsLoopback(),
	}, log)
	if err != nil {
		return err
	}
	defer page.close()
	life, end := context.WithCancel(ctx)
	defer end()
	var wg sync.WaitGroup
	var pageErr error
	wg.Go(func() {
		defer end()
		pageErr = page.run(life)
	})
	err = a.Run(life)
	end()
	wg.Wait()
	return errors.Join(err, pageErr)
}
