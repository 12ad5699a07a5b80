package protocol_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is the longest wait for an expected event, even on a slow machine.
const patience = gametest.Patience

// wire is an embedded server with the players alice and bob.
type wire struct {
	*embedded.Server
	t        *testing.T
	ctx      context.Context
	subjects protocol.Subjects
	platform *nats.Conn // of the last server
}

func newWire(t *testing.T) *wire {
	t.Helper()
	srv, err := embedded.Start(embedded.Config{Players: []protocol.PlayerID{"alice", "bob"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	ctx := gametest.Context(t)
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	return &wire{Server: srv, t: t, ctx: ctx, subjects: subjects}
}

func (w *wire) connect(c protocol.Connection) *nats.Conn {
	w.t.Helper()
	nc, err := protocol.Connect(c)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(nc.Close)
	return nc
}

func (w *wire) server(log io.Writer, limits protocol.Limits) *protocol.Server {
	w.t.Helper()
	w.platform = w.connect(w.Platform())
	return protocol.NewServer(w.platform, w.subjects, limits, nil, zerolog.New(log))
}

func (w *wire) client(player protocol.PlayerID) *protocol.Client {
	w.t.Helper()
	return w.clientOver(w.connect(w.Player(string(player))), player, io.Discard)
}

func (w *wire) clientOver(nc *nats.Conn, player protocol.PlayerID, log io.Writer) *protocol.Client {
	w.t.Helper()
	c, err := protocol.NewClient(nc, w.subjects, player, "i-"+protocol.InstanceID(player), zerolog.New(log))
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// must fails the test on an error. It flushes the connections, so that the server
// has their subscriptions.
func (w *wire) must(err error, flush ...*nats.Conn) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, nc := range flush {
		if err := nc.Flush(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// serve calls stop when the test ends. The last server's subscriptions are known when it
// returns.
func (w *wire) serve(stop func(), err error) {
	w.t.Helper()
	w.must(err, w.platform)
	w.t.Cleanup(stop)
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var terms = protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15", Clock: clock.Spec{Kind: clock.Fischer, Initial: 10 * time.Second, Increment: 100 * time.Millisecond}, Rated: true}

// snapshot of game g between alice and bob.
func snapshot(g protocol.GameID) protocol.Snapshot {
	return protocol.Snapshot{
		Game: g, Terms: terms, Started: time.Now().UTC(), Turn: game.First, Key: "00000000000000ff", Status: protocol.Playing,
		Holders: [2]protocol.Holder{{Player: "alice", Kind: protocol.Bot}, {Player: "bob", Kind: protocol.Bot}},
		Moves:   []string{},
	}
}
