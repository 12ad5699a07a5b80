package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/arena"
	"sparring/configs"
	"sparring/game/clock"
	"sparring/protocol"
)

// arenaSettings are the arena command's settings, from the environment.
type arenaSettings struct {
	NATS struct {
		URL      string `default:"nats://127.0.0.1:4222" desc:"NATS server, or several separated by commas"`
		User     string `default:"platform" desc:"user name in the platform's account"`
		Password string `desc:"password of the user"`
		Creds    string `desc:"path of a .creds file, instead of user and password"`
		CA       string `desc:"path of the server's CA certificate; empty: the system's"`
		Prefix   string `default:"sparring" desc:"prefix of all subjects"`
	}
	Arena struct {
		Name         string        `desc:"id of this process among the arenas; empty: random"`
		Replicas     int           `default:"1" desc:"number of NATS servers that keep each stream: 1, 3 or 5"`
		Games        int           `default:"1000" desc:"most games that this process referees at once; further challenges wait"`
		ChallengeFor time.Duration `split_words:"true" default:"1m" desc:"default challenge lifetime"`
		FirstMove    time.Duration `split_words:"true" default:"30s" desc:"time for a seat's first move in bullet and blitz games, longer in slower ones; after it the game is aborted"`
		AbandonAfter time.Duration `split_words:"true" default:"1m" desc:"how long a seat may be empty in bullet and blitz games, longer in slower ones, before its player loses"`
		LostAfter    time.Duration `split_words:"true" default:"1500ms" desc:"time without heartbeats after which an instance's seats are offered to others"`
		HTTP         string        `desc:"address for /healthz, /metrics and the web page, such as 127.0.0.1:8080; empty: none"`
	}
	Ladder struct {
		On     bool              `default:"true" desc:"play rated rounds among the bots that are present"`
		Clock  clock.Spec        `default:"60+1" desc:"clock of the rounds"`
		Rules  map[string]string `desc:"rule set by game, such as gomoku:gomoku/renju-15; other games use their default"`
		Rounds int               `default:"0" desc:"number of rounds to play; 0: no limit"`
		Pause  time.Duration     `default:"1s" desc:"pause between two rounds"`
	}
	LogLevel string `split_words:"true" default:"info" desc:"trace, debug, info, warn or error"`
}

// config returns the arena's configuration.
func (s *arenaSettings) config() arena.Config {
	c := arena.Defaults()
	c.Prefix, c.Name = s.NATS.Prefix, s.Arena.Name
	c.Replicas, c.Games = s.Arena.Replicas, s.Arena.Games
	c.ChallengeFor, c.LostAfter = s.Arena.ChallengeFor, s.Arena.LostAfter
	c.Policy.FirstMove, c.Policy.AbandonAfter = s.Arena.FirstMove, s.Arena.AbandonAfter
	c.Ladder.On, c.Ladder.Clock, c.Ladder.Rules = s.Ladder.On, s.Ladder.Clock, s.Ladder.Rules
	c.Ladder.Rounds, c.Ladder.Pause = s.Ladder.Rounds, s.Ladder.Pause
	return c
}

// connect connects to the server as the platform.
func (s *arenaSettings) connect(name string, log zerolog.Logger) (*nats.Conn, error) {
	return protocol.Connect(protocol.Connection{
		URL: s.NATS.URL, Name: name, User: s.NATS.User, Password: s.NATS.Password,
		Creds: s.NATS.Creds, CA: s.NATS.CA, Log: log,
	})
}

// Validate reports every fault of the settings, one error a line.
func (s *arenaSettings) Validate() error {
	var faults configs.Faults
	if s.NATS.Creds != "" && s.NATS.Password != "" {
		faults.Add("NATS_CREDS", "and a password: want one of them")
	}
	faults.Readable("NATS_CREDS", s.NATS.Creds)
	faults.Readable("NATS_CA", s.NATS.CA)
	faults.Err("ARENA_HTTP", checkAddress(s.Arena.HTTP))
	if _, err := zerolog.ParseLevel(s.LogLevel); err != nil || s.LogLevel == "" {
		faults.Add("LOG_LEVEL", "%.20q: want trace, debug, info, warn or error", s.LogLevel)
	}
	return errors.Join(faults.Join(), s.config().Validate())
}

func arenaCommand() *cobra.Command {
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
			log := newLog(c.ErrOrStderr(), s.LogLevel, unknown...)
			nc, err := s.connect("sparring arena", log)
			if err != nil {
				return err
			}
			defer nc.Close()
			if err := protocol.Await(c.Context(), nc); err != nil {
				return err
			}
			a, err := arena.New(c.Context(), nc, s.config(), log)
			if err != nil {
				return err
			}
			p, err := servePages(c.Context(), s.Arena.HTTP, a.Handler(), log)
			if err != nil {
				return err
			}
			defer p.close()
			return a.Run(c.Context())
		},
	}
	withEnvHelp(c, &arenaSettings{})
	return c
}

// pages is a running HTTP server; the zero value serves nothing.
type pages struct {
	url    string // "": not serving
	server *http.Server
}

// servePages serves HTTP at the address, if it is not empty.
func servePages(ctx context.Context, address string, h http.Handler, log zerolog.Logger) (pages, error) {
	if address == "" {
		return pages{}, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return pages{}, fmt.Errorf("pages: %w", err)
	}
	p := pages{"http://" + l.Addr().String(), &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}}
	go func() {
		if err := p.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("pages")
		}
	}()
	log.Info().Str("url", p.url).Msg("pages")
	return p, nil
}

func (p pages) close() {
	if p.server != nil {
		p.server.Close()
	}
}

// checkAddress reports whether an HTTP address is valid; "" is valid and means none.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("address %.60q: want a port of 0 to 65535", address)
	}
	return nil
}
