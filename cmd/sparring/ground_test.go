package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/bot"
	"sparring/configs"
)

// ground is a platform with a bot process, both in this process.
type ground struct {
	*arena.Arena
	platform *nats.Conn
	stop     func() // ends both; the test's end does, too
}

// newGround starts a ground.
func newGround(t *testing.T, cfg arena.Config, botCfg bot.Config) *ground {
	t.Helper()
	srv := arenatest.StartServer(t, t.TempDir())
	g := &ground{platform: arenatest.Connect(t, srv.Platform())}
	log := arenatest.Log(t).Level(zerolog.WarnLevel)
	var err error
	if g.Arena, err = arena.New(t.Context(), g.platform, cfg, log); err != nil {
		t.Fatal(err)
	}
	b, closeBot, err := newBot(arenatest.Connect(t, srv.Player("bots")), botCfg, log, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{g.Run, b.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	g.stop = sync.OnceFunc(func() {
		end()
		running.Wait()
		closeBot()
	})
	t.Cleanup(g.stop)
	return g
}

// botOf returns the settings of a bot process with players, by their profiles.
func botOf(t *testing.T, data string, profiles ...string) bot.Config {
	t.Helper()
	var cfg bot.Config
	if err := configs.Defaults(&cfg); err != nil {
		t.Fatal(err)
	}
	cfg.Profiles = filepath.Join(t.TempDir(), "players.json")
	if err := os.WriteFile(cfg.Profiles, []byte(`{"players": [`+strings.Join(profiles, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Instance, cfg.Data, cfg.HashMB, cfg.Slots = "test", data, 1, 12
	return cfg
}
