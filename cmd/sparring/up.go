package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/arena"
	"sparring/bot"
	"sparring/bot/play"
	"sparring/configs"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/protocol/embedded"
)

// upFlags are the flags of the up command.
type upFlags struct {
	data   string
	clock  string
	rules  map[string]string
	rounds int
	port   int
	http   string
	ponder bool
}

func upCommand() *cobra.Command {
	var f upFlags
	c := &cobra.Command{
		Use:   "up",
		Short: "Run everything in one process: NATS server, platform, and two bots a game",
		Long: `Run everything in one process: a NATS server with JetStream, the platform, and
two bots each for Xiangqi, Gomoku and Amazons, which play rated ladder games
until Ctrl-C. All that is to be kept is below --data; the next start goes on
with the ladder and with unfinished games, their clocks as they stood.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			spec, err := clock.Parse(f.clock)
			if err != nil {
				return usagef("--clock: %w", err)
			}
			if spec.Kind == clock.Unlimited {
				return usagef("--clock: want a limit, or a round would never end")
			}
			if f.rounds < 0 {
				return usagef("--rounds %d: want 0 (for ever) or more", f.rounds)
			}
			if f.port < embedded.RandomPort || f.port > 65535 {
				return usagef("--port %d: want -1 (a free one), 0 (none) or up to 65535", f.port)
			}
			if err := checkAddress(f.http); err != nil {
				return usagef("--http: %w", err)
			}
			for name, rules := range f.rules {
				if r, err := catalog.Rules(name + "/" + strings.TrimPrefix(rules, name+"/")); err != nil {
					return usagef("--rules: %w", err)
				} else {
					f.rules[name] = r.Name
				}
			}
			return up(c.Context(), c.OutOrStdout(), f, spec)
		},
	}
	c.Flags().StringVar(&f.data, "data", "data", "directory for everything that is kept")
	c.Flags().StringVar(&f.clock, "clock", "60+1", "clock of the games: 300, 10+0.1, 60/5x10 (byo-yomi) or 5/move; seconds")
	c.Flags().StringToStringVar(&f.rules, "rules", nil, "rule set by game, such as gomoku=renju-15+swap2; others play their default")
	c.Flags().IntVar(&f.rounds, "rounds", 0, "rounds to play, in each of which a game's bots meet once; 0: until Ctrl-C")
	c.Flags().IntVar(&f.port, "port", 0, "let others join at this port of 127.0.0.1; 0: nobody, -1: a free port")
	c.Flags().StringVar(&f.http, "http", "127.0.0.1:0", "address of the pages, port 0 for a free one; empty: none")
	c.Flags().BoolVar(&f.ponder, "ponder", true, "bots think on their opponents' time")
	return c
}

// stopWithin bounds the end of everything after Ctrl-C.
const stopWithin = 4 * time.Second

// up runs the whole until ctx ends or the rounds are played.
func up(ctx context.Context, out io.Writer, f upFlags, spec clock.Spec) (err error) {
	screen := newDisplay(out)
	shown := &warnings{screen: screen}
	log, logFile, err := openLog(f.data, shown)
	if err != nil {
		return err
	}
	defer logFile.Close()
	srv, err := embedded.Start(embedded.Config{Dir: filepath.Join(f.data, "nats"), Port: f.port, Log: log})
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

	cfg := arena.Defaults()
	cfg.Name = "up"
	cfg.Ladder.On, cfg.Ladder.Clock, cfg.Ladder.Rounds = true, spec, f.rounds
	cfg.Ladder.Rules = f.rules
	a, err := arena.New(ctx, platform, cfg, log)
	if ctx.Err() != nil {
		return nil // Ctrl-C while the store was being opened: the next start does the rest
	}
	if err != nil {
		return err
	}
	s := &scene{screen: screen, arena: a}
	a.OnRound(s.round)
	b, closeBot, err := upBot(players, f, log, s.event)
	if err != nil {
		return err
	}
	defer closeBot()
	keep, err := newKeeper(recordsDir(f.data), platform, log)
	if err != nil {
		return err
	}
	defer keep.close()
	page, err := servePages(ctx, f.http, a.Handler(), log)
	if err != nil {
		return err
	}
	defer page.close()

	s.hail(srv, f, page.url, logFile.Name())
	rounds, err := together(ctx, a, b, keep, func() { shown.hushed.Store(true) })
	s.farewell(recordsDir(f.data), rounds)
	return err
}

// upBot makes the bot process with all the shipped players.
func upBot(nc *nats.Conn, f upFlags, log zerolog.Logger, observe func(play.Event)) (*bot.Bot, func(), error) {
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		return nil, nil, err
	}
	cfg.Instance, cfg.Data, cfg.Ponder, cfg.Tablebase = "up", f.data, f.ponder, tablebaseDir(f.data)
	return newBot(nc, cfg, log, observe)
}

// together runs platform, bots and keeper until ctx ends, the rounds are done,
// or one of them fails. The platform goes first, so that it stops the clocks
// before anybody leaves. Ending is called before the end; rounds says whether
// all were played.
func together(ctx context.Context, a *arena.Arena, b *bot.Bot, keep *keeper, ending func()) (rounds bool, err error) {
	life, end := context.WithCancel(ctx)
	defer end()
	botLife, endBot := context.WithCancel(context.WithoutCancel(ctx))
	defer endBot()
	var wg sync.WaitGroup
	var arenaErr, botErr error
	wg.Go(func() {
		defer endBot()
		defer end()
		arenaErr = a.Run(life)
	})
	wg.Go(func() {
		defer end()
		botErr = b.Run(botLife)
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
		return rounds, errors.Join(arenaErr, botErr)
	case <-time.After(stopWithin):
		return rounds, fmt.Errorf("not everything ended within %v; the next start puts it in order", stopWithin)
	}
}

// openLog opens the log file below the data directory. What is a warning or
// worse is shown too.
func openLog(data string, shown io.Writer) (log zerolog.Logger, file *os.File, err error) {
	if err := os.MkdirAll(data, 0o755); err != nil {
		return log, nil, fmt.Errorf("data directory: %w", err)
	}
	file, err = os.OpenFile(filepath.Join(data, "sparring.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return log, nil, fmt.Errorf("log: %w", err)
	}
	return newLog(zerolog.MultiLevelWriter(file, shown), "info"), file, nil
}
