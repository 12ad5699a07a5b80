package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// startListening runs a NATS server on a port, so that another can take its place.
func startListening(t testing.TB, dir string, port int) *embedded.Server {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{Dir: dir, Port: port, Log: zerolog.Nop(), Players: []protocol.PlayerID{"hare"},
		Passwords: map[string]string{"platform": "p", "hare": "h"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// quick are settings with short waits.
func quick() arena.Config {
	cfg := arena.Defaults()
	cfg.Heartbeat, cfg.LostAfter = 100*time.Millisecond, 2*time.Second
	cfg.LeaseFor = time.Second
	cfg.RetryAfter, cfg.RetryMax = 50*time.Millisecond, 200*time.Millisecond
	cfg.Linger = 2 * time.Second
	cfg.Policy.FirstMove, cfg.Policy.AbandonAfter = 20*patience, 20*patience // on a slow machine, too
	return cfg
}

// gateway is a running arena with its gateway. Its sockets are those of whom the
// query of the address names: sessions have tests of their own.
type gateway struct {
	*hub
	server *Server
	t      testing.TB
	nc     *nats.Conn
	http   *httptest.Server
	cancel context.CancelFunc
	ended  sync.WaitGroup
	once   sync.Once
}

// plentiful are limits that no test of something else reaches: all its pages have one
// address.
func plentiful() Limits {
	l := DefaultLimits()
	plenty := Rate{PerMinute: 1e6, Burst: 1e6}
	l.Challenges, l.Acts, l.Chats, l.Hints, l.Lookups = plenty, plenty, plenty, plenty, plenty
	l.AddressGames, l.PersonGames = 1e6, 1e6
	return l
}

// startGateway runs an arena with its gateway until the test ends. Change, if not
// nil, is called before the hub starts.
func startGateway(t testing.TB, srv interface{ Platform() protocol.Connection }, cfg arena.Config, change func(*hub)) *gateway {
	t.Helper()
	g := &gateway{t: t, nc: arenatest.Connect(t, srv.Platform())}
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	a, err := arena.New(ctx, g.nc, cfg, arenatest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(ctx, a, Config{Limits: plentiful()}, arenatest.Log(t))
	if err != nil {
		t.Fatal(err)
	}
	g.hub, g.server = s.hub, s
	if change != nil {
		change(g.hub)
	}
	g.ended.Go(func() {
		if err := a.Run(ctx); err != nil && !g.nc.IsClosed() {
			t.Errorf("arena: %v", err)
		}
	})
	g.ended.Go(func() { s.Run(ctx) })
	g.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ws" {
			a.Handler().ServeHTTP(w, r)
			return
		}
		q := r.URL.Query()
		g.admit(q.Get("address"))
		g.serveSocket(w, r, visitor{
			person:  person{ID: protocol.PlayerID(q.Get("player")), Name: q.Get("name"), session: q.Get("session")},
			address: q.Get("address"), base: "http://" + r.Host,
		})
	}))
	t.Cleanup(g.stop)
	gametest.Eventually(t, "the arena", func() bool {
		res, err := g.http.Client().Get(g.http.URL + "/healthz")
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return g
}

func (g *gateway) stop() {
	g.once.Do(func() {
		g.cancel()
		g.ended.Wait()
		g.http.Close()
	})
}

// crash cuts the arena off, like a kill.
func (g *gateway) crash() {
	g.nc.Close()
	g.http.CloseClientConnections()
	g.stop()
}
