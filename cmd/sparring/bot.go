package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/bot"
	"sparring/bot/play"
	"sparring/configs"
	"sparring/engine"
	"sparring/engine/amazons/areas"
	"sparring/engine/book"
	"sparring/engine/tablebase"
	"sparring/engine/xiangqi"
	"sparring/pipe/playerspec"
	"sparring/protocol"
	"sparring/record"
)

func botCommand() *cobra.Command {
	var server serverFlags
	c := &cobra.Command{
		Use:   "bot",
		Short: "Run a bot process on a NATS server: it takes matches and plays them",
		Long: `Run a bot process on a NATS server: it takes matches from the queue and plays
them. At SIGHUP it reads the file of its players again. After the first SIGTERM or
Ctrl-C it takes no new games and ends when the running ones have; the second hands
them over to other instances at once.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var cfg bot.Config
			unknown, err := load(&cfg)
			if err != nil {
				return err
			}
			server.override(&cfg.NATS.URL, &cfg.NATS.Password, &cfg.NATS.Creds, &cfg.NATS.CA)
			if cfg.Instance == "" {
				cfg.Instance = protocol.InstanceID(protocol.NewID())
			}
			log := newLog(c.ErrOrStderr(), cfg.LogLevel, unknown...)
			nc, err := protocol.Connect(cfg.Connection(log))
			if err != nil {
				return err
			}
			defer nc.Close()
			b, done, err := newBot(nc, cfg, log, nil)
			if err != nil {
				return err
			}
			defer done()
			ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context()))
			defer cancel()
			defer obeySignals(c.Context().Done(), b, cancel, true, log)()
			return b.Run(ctx)
		},
	}
	server.add(c)
	withEnvHelp(c, &bot.Config{})
	return c
}

// newBot connects a bot to its engines and records. Call done after Run.
func newBot(nc *nats.Conn, cfg bot.Config, log zerolog.Logger, observe func(play.Event)) (b *bot.Bot, done func(), err error) {
	return newBotWith(nc, cfg, bot.Deps{Log: log, Observe: observe})
}

// newBotWith is newBot with what the caller sets of the dependencies; it sets the others.
func newBotWith(nc *nats.Conn, cfg bot.Config, d bot.Deps) (b *bot.Bot, done func(), err error) {
	log := d.Log
	records, err := recordsOf(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	endTrim := trimRecords(records, "bot-", record.Bounds{Age: cfg.Keep.Records, Bytes: int64(cfg.Keep.RecordsMB) << 20}, cfg.RecordsDir(), log)
	tables, closeTables := endgames(cfg, log)
	table, closeAreas := areaTable(cfg, log)
	engines, pool := playerspec.NewEngines(players(cfg, tables, table, log)), engine.NewPool(cfg.Cores)
	var playerPool *engine.Pool
	if cfg.PlayerCores > 0 {
		playerPool = engine.NewPool(cfg.PlayerCores)
	}
	done = func() {
		if playerPool != nil {
			playerPool.Close()
		}
		pool.Close()
		engines.Close() // the error does not matter at the end
		closeAreas()
		closeTables()
		endTrim()
		if err := records.Close(); err != nil {
			log.Warn().Err(err).Msg("can't close the records")
		}
	}
	d.NewGame, d.KeepEngines, d.Pool, d.PlayerPool, d.Build, d.Records = engines.NewGame, engines.Keep, pool, playerPool, engine.Build(), records
	b, err = bot.New(nc, cfg, d)
	if err != nil {
		done()
		return nil, nil, err
	}
	return b, done, nil
}

// recordsOf opens the records of a bot process. A game logs that its record could not be
// written, the first of several; the log says here when that is over.
func recordsOf(cfg bot.Config, log zerolog.Logger) (*record.Writer, error) {
	w, err := record.NewWriter(cfg.RecordsDir(), "bot-"+string(cfg.Instance), 0)
	if err != nil {
		return nil, err
	}
	w.Resumed(func(lost uint64) { log.Warn().Uint64("lost", lost).Msg("records are kept again") })
	return w, nil
}

// trimNotice is the time between the line that says which records will be removed and
// their removal; trimEvery is that between two removals.
const (
	trimNotice = 10 * time.Minute
	trimEvery  = 10 * time.Minute
)

// trimRecords removes the files of records whose names begin with prefix that the bounds
// do not keep, from now on until end is called.
func trimRecords(w *record.Writer, prefix string, b record.Bounds, dir string, log zerolog.Logger) (end func()) {
	if b.None() {
		return func() {}
	}
	w.Keep(prefix, b)
	if paths, bytes, err := record.Excess(dir, prefix, b, time.Now()); len(paths) > 0 && err == nil {
		log.Warn().Int("files", len(paths)).Int64("bytes", bytes).Str("dir", dir).Stringer("in", trimNotice).
			Msg("old records will be removed, as the settings say; stop this process to keep them")
	}
	ctx, cancel := context.WithCancel(context.Background())
	var trimming sync.WaitGroup
	trimming.Go(func() {
		for wait := trimNotice; ; wait = trimEvery {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			switch n, bytes, err := w.Trim(); {
			case err != nil:
				log.Warn().Err(err).Msg("old records not removed; trying again")
			case n > 0:
				log.Info().Int("files", n).Int64("bytes", bytes).Str("dir", dir).Msg("old records removed")
			}
		}
	})
	return func() { cancel(); trimming.Wait() }
}

// players returns the defaults for the specs of a bot's players, with the opening
// books that the settings name. It warns once of books that are missing or damaged.
func players(cfg bot.Config, tables xiangqi.Tables, table *areas.Table, log zerolog.Logger) playerspec.Options {
	warn := func(err error) {
		log.Warn().Err(err).Msg("opening books: playing without those that are missing or damaged")
	}
	books, err := book.Open(cfg.Book, "", configs.Books())
	if err != nil {
		warn(err)
	}
	return playerspec.Options{HashBytes: cfg.HashMB << 20, Threads: cfg.Threads, Books: books, Book: cfg.Book, Shipped: configs.Books(), Warn: warn, Tables: tables, Areas: table, LevelElo: levelElo, Likeness: newImitator(context.Background(), log).find}
}

// endgames opens a bot's endgame tables, if the settings name any, and starts to
// build missing ones. The function returned stops that and closes the tables.
func endgames(cfg bot.Config, log zerolog.Logger) (tables xiangqi.Tables, done func()) {
	if cfg.Tablebase == "" {
		return nil, func() {}
	}
	warn := func(err error) {
		log.Warn().Err(err).Msg("endgame tables: playing without those that are missing or damaged")
	}
	open, err := tablebase.Open(cfg.Tablebase, warn)
	if err != nil {
		warn(err)
		return nil, func() {}
	}
	stop := buildTables(cfg, "endgame tables", warn, log, func(ctx context.Context) (built int, err error) {
		err = open.Complete(ctx, tablebase.UpTo(tablebase.Usual), tablebase.Options{Workers: 1, Gentle: true, Report: func(p tablebase.Progress) {
			if p.Done {
				built++
			}
		}})
		return built, err
	})
	return open, func() {
		stop()
		open.Close() // they were only read
	}
}

// buildTables starts to build the missing tables of a kind, if the settings want that.
// The function returned stops it; the next start continues.
func buildTables(cfg bot.Config, what string, warn func(error), log zerolog.Logger, build func(context.Context) (built int, err error)) (stop func()) {
	if !cfg.TablebaseBuild {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var building sync.WaitGroup
	building.Go(func() {
		began := time.Now()
		built, err := build(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			warn(err)
		case built > 0:
			log.Info().Int("tables", built).Dur("took_ms", time.Since(began)).Str("dir", cfg.Tablebase).Msg(what + " built")
		}
	})
	return func() {
		cancel()
		building.Wait()
	}
}

// areaTable opens a bot's table of Amazons areas, in the directory of its endgame
// tables, and starts to build what is missing. The function returned stops that.
func areaTable(cfg bot.Config, log zerolog.Logger) (table *areas.Table, done func()) {
	if cfg.Tablebase == "" {
		return nil, func() {}
	}
	warn := func(err error) {
		log.Warn().Err(err).Msg("table of areas: playing without what is missing or damaged")
	}
	table, err := areas.Open(cfg.Tablebase)
	if err != nil {
		warn(err)
	}
	return table, buildTables(cfg, "tables of areas", warn, log, func(ctx context.Context) (int, error) {
		return table.Complete(ctx, areas.OneAmazon, true)
	})
}

// obeySignals drains the bot at the first signal and ends it at the second; one that rereads
// reads its players again at SIGHUP. Before is closed if a signal came before anything here
// listened. The function returned stops this.
func obeySignals(before <-chan struct{}, b *bot.Bot, end context.CancelFunc, rereads bool, log zerolog.Logger) func() {
	signals, reload := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(signals, ends(rereads)...)
	if rereads {
		signal.Notify(reload, syscall.SIGHUP)
	}
	select {
	case <-before:
		log.Info().Msg("told to end before the start: accepting no games")
		b.Drain()
	default:
	}
	quit := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			case <-reload:
				b.Reload() // logs what is wrong
				n--
				continue
			case <-signals:
			}
			if n == 0 {
				log.Info().Msg("draining: finishing the running games, accepting no new ones; a second signal hands them over")
				b.Drain()
				continue
			}
			log.Info().Msg("handing games over")
			end()
		}
	}()
	return func() { signal.Stop(signals); signal.Stop(reload); close(quit) }
}
