package conformance_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/protocol/conformance"
	"sparring/protocol/conformance/scripted"
)

// The environment of a test process that is a program under test.
const (
	actAs       = "SPARRING_CONFORMANCE_AS" // one of programs
	actURL      = "SPARRING_CONFORMANCE_URL"
	actUser     = "SPARRING_CONFORMANCE_USER"
	actPassword = "SPARRING_CONFORMANCE_PASSWORD"
)

// programs are what such a process can be.
var programs = map[string]func(context.Context, protocol.Connection) error{
	"arena": func(ctx context.Context, at protocol.Connection) error {
		nc, err := protocol.Connect(at)
		if err != nil {
			return err
		}
		defer nc.Close()
		a, err := arena.New(ctx, nc, arenaConfig(), zerolog.Nop())
		if err != nil {
			return err
		}
		return a.Run(ctx)
	},
	"bot": runOurs,
	// A platform that keeps nothing.
	"forgetful platform": func(ctx context.Context, at protocol.Connection) error {
		nc, err := protocol.Connect(at)
		if err != nil {
			return err
		}
		defer nc.Close()
		p, err := scripted.NewPlatform(nc, scriptedConfig())
		if err != nil {
			return err
		}
		defer p.Close()
		<-ctx.Done()
		return nil
	},
	// A bot that ends at once, without a word.
	"rude bot": func(ctx context.Context, at protocol.Connection) error {
		nc, err := protocol.Connect(at)
		if err != nil {
			return err
		}
		defer nc.Close()
		p, err := scripted.NewPlayer(nc, scripted.PlayerConfig{Prefix: foreign, Player: "hare"})
		if err != nil {
			return err
		}
		p.SetHooks(scripted.PlayerHooks{Offer: func(o protocol.Offer) protocol.OfferAnswer {
			if o.Kind == protocol.OfferSeat {
				return protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineGame}
			}
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: o.Player}
		}})
		if err := p.Start(ctx); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	},
}

// actInstead makes this process a program under test if it was started as one.
func actInstead() {
	name := os.Getenv(actAs)
	if name == "" {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	err := programs[name](ctx, protocol.Connection{URL: os.Getenv(actURL), User: os.Getenv(actUser), Password: os.Getenv(actPassword), Log: zerolog.Nop()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// program is this test program as a program under test.
func program(name string, at protocol.Connection) *conformance.Program {
	return conformance.NewProgram("'"+os.Args[0]+"'", []string{actAs + "=" + name, actURL + "=" + at.URL, actUser + "=" + at.User, actPassword + "=" + at.Password}, os.Stderr)
}

// TestProcesses: what is killed and paused loses nothing.
func TestProcesses(t *testing.T) {
	gametest.SkipShort(t)
	t.Run("bot", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		rep := checkBot(t, b, conformance.Options{Only: []string{"kill", "pause", "drain"}}, func(c *conformance.BotConfig) { c.Program = program("bot", b.proxied()) })
		if n := rep.Count(conformance.Pass); n != 3 {
			t.Errorf("%d of 3 passed", n)
		}
	})
	t.Run("arena", func(t *testing.T) {
		t.Parallel()
		cfg, at := arenaServer(t)
		cfg.Program = program("arena", at)
		rep := checkPlatform(t, cfg, conformance.Options{Only: []string{"kill", "kill-at-end", "pause"}})
		if n := rep.Count(conformance.Pass); n != 3 {
			t.Errorf("%d of 3 passed", n)
		}
	})
	t.Run("broken bot", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		for scenario, want := range map[string]string{"kill": "free slot", "drain": "without giving its seat back"} {
			rep := checkBot(t, b, conformance.Options{Only: []string{scenario}, Limit: 2 * brokenLimit}, func(c *conformance.BotConfig) { c.Program = program("rude bot", b.proxied()) })
			foundOut(t, rep, scenario, want)
		}
	})
	t.Run("broken platform", func(t *testing.T) {
		t.Parallel()
		for scenario, want := range map[string]string{"kill": "waited in vain", "pause": "time"} {
			b := newBench(t)
			cfg := b.foreignConfig()
			cfg.Program = program("forgetful platform", b.proxied())
			foundOut(t, checkPlatform(t, cfg, conformance.Options{Only: []string{scenario}, Limit: 2 * brokenLimit}), scenario, want)
		}
	})
}
