package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/natsserver/natsconf"
	"sparring/protocol"
)

// startCluster runs three servers that keep everything three times, and returns the
// connection of the platform.
func startCluster(t *testing.T) protocol.Connection {
	t.Helper()
	const servers = 3
	var routes []*url.URL
	var ports [servers]int
	for i := range ports {
		ports[i] = gametest.FreePort(t)
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", ports[i])})
	}
	var all []*server.Server
	for i, port := range ports {
		o, err := natsconf.Options(map[string]string{"platform": "p"})
		if err != nil {
			t.Fatal(err)
		}
		o.ServerName, o.StoreDir, o.NoSigs, o.NoLog = fmt.Sprintf("nats-%d", i+1), t.TempDir(), true, true
		o.Host, o.Port, o.HTTPPort = "127.0.0.1", server.RANDOM_PORT, 0
		o.Cluster, o.Routes = server.ClusterOpts{Name: "sparring", Host: "127.0.0.1", Port: port}, routes
		s, err := server.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		s.Start()
		all = append(all, s)
	}
	gametest.Eventually(t, "the cluster has a leader", func() bool {
		for _, s := range all {
			if s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == servers {
				return true
			}
		}
		return false
	})
	return protocol.Connection{URL: all[0].ClientURL(), Name: "platform", User: "platform", Password: "p"}
}

// askJetStream sends a request of JetStream's API and decodes the answer.
func askJetStream(ctx context.Context, nc *nats.Conn, subject string, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	msg, err := nc.RequestWithContext(ctx, subject, body)
	if err != nil {
		return err
	}
	var refused struct {
		Error *server.ApiError `json:"error"`
	}
	if err := errors.Join(json.Unmarshal(msg.Data, &refused), json.Unmarshal(msg.Data, answer)); err != nil {
		return err
	}
	if refused.Error != nil {
		return refused.Error
	}
	return nil
}

// streamBackup is what "nats account backup" keeps of a stream: backup.json and stream.tar.s2.
type streamBackup struct {
	about  server.JSApiStreamRestoreRequest
	chunks [][]byte
}

// backUp does what "nats account backup" does with each stream.
func backUp(t *testing.T, ctx context.Context, nc *nats.Conn, stream string) (b streamBackup) {
	t.Helper()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	body, err := json.Marshal(server.JSApiStreamSnapshotRequest{DeliverSubject: inbox})
	if err != nil {
		t.Fatal(err)
	}
	if err := askJetStream(ctx, nc, fmt.Sprintf(server.JSApiStreamSnapshotT, stream), body, &b.about); err != nil {
		t.Fatalf("backup of %s: %v", stream, err)
	}
	for {
		msg, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatalf("backup of %s: %v", stream, err)
		}
		if len(msg.Data) == 0 {
			if status := msg.Header.Get("Status"); status != "" && status != "204" { // "" after a single chunk
				t.Fatalf("backup of %s: %q", stream, msg.Header)
			}
			return b
		}
		b.chunks = append(b.chunks, msg.Data)
		if msg.Reply != "" {
			if err := msg.Respond(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// restore does what "nats stream restore" does.
func (b streamBackup) restore(ctx context.Context, nc *nats.Conn) error {
	body, err := json.Marshal(b.about)
	if err != nil {
		return err
	}
	var to server.JSApiStreamRestoreResponse
	if err := askJetStream(ctx, nc, fmt.Sprintf(server.JSApiStreamRestoreT, b.about.Config.Name), body, &to); err != nil {
		return err
	}
	for _, chunk := range b.chunks {
		within, cancel := context.WithTimeout(ctx, patience)
		_, err := nc.RequestWithContext(within, to.DeliverSubject, chunk)
		cancel()
		if err != nil {
			return err
		}
	}
	var restored server.JSApiStreamCreateResponse
	return askJetStream(ctx, nc, to.DeliverSubject, nil, &restored)
}

// The backup of a cluster is restored on a single server by "nats stream restore --replicas 1"
// for each stream, as docs/operating.md says; the server refuses it with the replicas of the
// cluster. The game that ran goes on, and the challenge that waited becomes a game.
func TestClusterRestoredOnOneServer(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	ctx := gametest.Context(t)
	nc := arenatest.Connect(t, startCluster(t))
	cfg := steady()
	cfg.Replicas = 3
	a, err := New(ctx, nc, cfg, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	begun(t, a.store, "running", small(t, "60"), 6)
	before, _, err := a.store.lastEvent(ctx, "running")
	if err != nil {
		t.Fatal(err)
	}
	ch := protocol.Challenge{V: protocol.Version, Game: "waiting", Terms: small(t, "60"), Created: time.Now(), Expires: time.Now().Add(time.Hour)}
	ch.Seats = [2]protocol.SeatWanted{{Player: "ann", Instance: "a1"}, {Player: "bob"}}
	if _, err := a.post(ctx, protocol.OwnPool("bob"), ch); err != nil {
		t.Fatal(err)
	}
	var backups []streamBackup
	names := a.store.js.StreamNames(ctx)
	for name := range names.Name() {
		backups = append(backups, backUp(t, ctx, nc, name))
	}
	if err := names.Err(); err != nil || len(backups) != len(a.store.streams()) {
		t.Fatalf("%d streams, want %d (%v)", len(backups), len(a.store.streams()), err)
	}

	srv := arenatest.StartServer(t, "", "ann", "bob")
	single := arenatest.Connect(t, srv.Platform())
	for _, b := range backups {
		if b.about.Config.Replicas != 3 {
			t.Errorf("%s: %d replicas in the cluster", b.about.Config.Name, b.about.Config.Replicas)
		}
		if err := b.restore(ctx, single); err == nil || !contains(err, "replicas > 1 not supported") {
			t.Errorf("%s with the replicas of the cluster: %v", b.about.Config.Name, err)
		}
		b.about.Config.Replicas = 1
		if err := b.restore(ctx, single); err != nil {
			t.Fatalf("%s: %v", b.about.Config.Name, err)
		}
	}
	one := runArena(t, srv, steady())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.follow("waiting")
	for _, g := range []protocol.GameID{"running", "waiting"} {
		for _, p := range []*player{ann, bob} {
			p.until(g, "the end", finished)
		}
		gametest.Eventually(t, "the record", func() bool {
			_, err := one.Record(ctx, g)
			return err == nil
		})
	}
	restored := whole(t, one.store, "running")
	if end := restored[len(restored)-1]; !slices.Equal(end.Moves[:len(before.Moves)], before.Moves) || len(end.Moves) == len(before.Moves) {
		t.Errorf("the game went on from %v to %v", before.Moves, end.Moves)
	}
	for _, name := range one.store.streams() {
		if s, err := one.store.js.Stream(ctx, name); err != nil || s.CachedInfo().Config.Replicas != 1 || s.CachedInfo().Config.Storage != jetstream.FileStorage {
			t.Errorf("stream %s: %+v, %v", name, s, err)
		}
	}
}
