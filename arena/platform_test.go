package arena

import (
	"context"
	"flag"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/natsserver/credentials/credentialstest"
	"sparring/protocol"
)

func TestMain(m *testing.M) {
	arenatest.NATSMain()
	if url := os.Getenv(arenaURL); url != "" {
		runArenaProcess(url)
		return
	}
	flag.Parse()
	// The tests wait much and compute little: more of them than processors.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of the tests.
const patience = gametest.Patience

// platform is a server that one can connect to as the platform or as a player.
type platform interface {
	Platform() protocol.Connection
	Player(user string) protocol.Connection
}

// onEither runs a test of hostile players on a server with the passwords of nats.conf, and
// on one with TLS and the credentials of package credentials. The players are ann, bob and
// eve.
func onEither(t *testing.T, test func(*testing.T, platform)) {
	t.Run("passwords", func(t *testing.T) {
		t.Parallel()
		test(t, arenatest.StartServer(t, t.TempDir(), "ann", "bob", "eve"))
	})
	t.Run("credentials", func(t *testing.T) {
		t.Parallel()
		test(t, credentialstest.Start(t, "ann", "bob", "eve"))
	})
}

// quick are settings with short waits.
func quick() Config {
	cfg := Defaults()
	cfg.Heartbeat, cfg.LostAfter = 100*time.Millisecond, time.Second
	cfg.LeaseFor = time.Second
	cfg.RetryAfter, cfg.RetryMax = 50*time.Millisecond, 200*time.Millisecond
	cfg.Limits.PerSecond, cfg.Limits.ChallengesPerSecond = 10000, 10000
	cfg.Patience = 100 * time.Millisecond
	cfg.Linger = 2 * time.Second
	return cfg
}

// steady returns quick settings with which no instance or arena seems dead on a slow
// machine.
func steady() Config {
	cfg := quick()
	cfg.LostAfter, cfg.LeaseFor = patience, patience
	return cfg
}

// running is a running arena.
type running struct {
	*Arena
	t      testing.TB
	nc     *nats.Conn
	cancel context.CancelFunc
	ended  chan error
	once   sync.Once
}

// prepareArena makes an arena.
func prepareArena(t testing.TB, srv platform, cfg Config) *running {
	t.Helper()
	return prepareArenaLog(t, srv, cfg, arenatest.Log(t))
}

func prepareArenaLog(t testing.TB, srv platform, cfg Config, log zerolog.Logger) *running {
	t.Helper()
	r := &running{t: t, nc: arenatest.Connect(t, srv.Platform()), ended: make(chan error, 1)}
	a, err := New(context.Background(), r.nc, cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	r.Arena = a
	return r
}

// runArena makes an arena and lets it run until the test ends or stop is called.
func runArena(t testing.TB, srv platform, cfg Config) *running {
	t.Helper()
	r := prepareArena(t, srv, cfg)
	r.start()
	return r
}

func (r *running) start() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go func() { r.ended <- r.Run(ctx) }()
	r.t.Cleanup(r.stop)
	select {
	case <-r.serving:
	case <-time.After(patience):
		r.t.Fatal("the arena does not serve")
	}
}

// stop shuts the arena down and waits for it.
func (r *running) stop() {
	r.once.Do(func() {
		r.cancel()
		select {
		case err := <-r.ended:
			if err != nil && !r.nc.IsClosed() {
				r.t.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			r.t.Error("Run did not end")
		}
	})
}

// crash cuts the arena off, like a kill: it can no longer store or send anything.
func (r *running) crash() {
	r.nc.Close()
	r.stop()
}

// visitor is a request that looks into a referee.
type visitor func()

func (v visitor) serve(*referee) { v() }

// at returns the referee of a game.
func (r *running) at(g protocol.GameID) *referee {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.referees[g] == nil {
		r.t.Fatalf("game %s has no referee here", g)
	}
	return r.referees[g]
}

// visit runs f in the goroutine of a game's referee, after the requests that
// have arrived, and returns when it has run.
func (r *running) visit(g protocol.GameID, f func(*referee)) {
	r.t.Helper()
	host, done := r.at(g), make(chan struct{})
	host.send(visitor(func() { f(host); close(done) }))
	select {
	case <-done:
	case <-host.done:
		r.t.Fatalf("the referee of game %s stops", g)
	}
}
