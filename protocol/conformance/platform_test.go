package conformance_test

import (
	"context"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/internal/netfault"
	"sparring/natsserver/embedded"
	"sparring/protocol"
	"sparring/protocol/conformance"
	"sparring/protocol/conformance/scripted"
)

// players are those whom the suite plays.
var players = [3]protocol.PlayerID{"ann", "bob", "eve"}

// scriptedConfig is that of a platform of another make, with subjects of its own and no
// JetStream.
func scriptedConfig() scripted.Config {
	return scripted.Config{Prefix: foreign, Matching: true, LostAfter: 12 * time.Second, Limits: protocol.DefaultLimits}
}

// startPlatform runs such a platform.
func startPlatform(t testing.TB, b *bench, cfg scripted.Config, hooks func(*scripted.Platform) scripted.Hooks) {
	t.Helper()
	cfg.Log = zerolog.Nop()
	p, err := scripted.NewPlatform(b.connect(b.proxied()), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if hooks != nil {
		p.SetHooks(hooks(p))
	}
}

// foreignConfig is how the suite meets it.
func (b *bench) foreignConfig() conformance.PlatformConfig {
	return conformance.PlatformConfig{
		Player: func(protocol.PlayerID) protocol.Connection { return b.direct() },
		Prefix: foreign, Players: players, Proxy: b.proxy, Ease: ease, Log: zerolog.Nop(),
	}
}

// arenaServer starts a server with the production accounts, and returns where a platform
// connects to it.
func arenaServer(t testing.TB) (cfg conformance.PlatformConfig, platform protocol.Connection) {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Port: embedded.RandomPort, Log: zerolog.Nop(), Players: players[:]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	proxy, err := netfault.Listen(srv.URL()[len("nats://"):])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	platform = srv.Platform()
	platform.URL = "nats://" + proxy.Addr()
	return conformance.PlatformConfig{
		Player:  func(p protocol.PlayerID) protocol.Connection { return srv.Player(string(p)) },
		Players: players, Proxy: proxy, Ease: ease, Log: zerolog.Nop(),
	}, platform
}

func arenaConfig() arena.Config {
	cfg := arena.Defaults()
	cfg.Ladder.On = false
	cfg.LostAfter = 4 * time.Second // as long as a busy machine needs
	return cfg
}

// ourArena runs our own platform.
func ourArena(t testing.TB, change ...func(*arena.Config)) conformance.PlatformConfig {
	t.Helper()
	cfg, at := arenaServer(t)
	nc, err := protocol.Connect(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	settings := arenaConfig()
	for _, f := range change {
		f(&settings)
	}
	a, err := arena.New(t.Context(), nc, settings, zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return cfg
}

func checkPlatform(t testing.TB, cfg conformance.PlatformConfig, o conformance.Options) conformance.Report {
	t.Helper()
	rep, err := conformance.CheckPlatform(testContext(t), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	logResults(t, rep)
	return rep
}

// TestPlatforms: our arena keeps everything, and one of another make all that it can.
func TestPlatforms(t *testing.T) {
	scenarios := conformance.PlatformScenarios()
	inShards(t, "ours", scenarios, func(t *testing.T, o conformance.Options) conformance.Report {
		return checkPlatform(t, ourArena(t), o)
	})
	inShards(t, "of another make", scenarios, func(t *testing.T, o conformance.Options) conformance.Report {
		b := newBench(t)
		startPlatform(t, b, scriptedConfig(), nil)
		return checkPlatform(t, b.foreignConfig(), o)
	}, "hang") // it charges the time in which its server hung
}

// TestBadInputWithoutEase: what our arena takes to refuse a request, at its usual heartbeat, the
// suite waits for without an allowance for slow programs.
func TestBadInputWithoutEase(t *testing.T) {
	t.Parallel()
	cfg := ourArena(t)
	cfg.Ease = 1
	rep := checkPlatform(t, cfg, conformance.Options{Only: []string{"bad-input"}})
	if rep.Count(conformance.Pass) != 1 {
		t.Errorf("%+v, want one scenario that passes", rep.Results)
	}
}
