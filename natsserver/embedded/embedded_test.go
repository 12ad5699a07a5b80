package embedded

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"sparring/game/gametest"
	"sparring/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, c Config) *Server {
	t.Helper()
	srv, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

func connect(t *testing.T, c protocol.Connection) *nats.Conn {
	t.Helper()
	nc, err := protocol.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// A request goes from a player's account to the platform's and back, with and
// without a socket.
func TestRequestAcrossAccounts(t *testing.T) {
	for name, port := range map[string]int{"in process": NoPort, "socket": RandomPort} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, Config{Port: port, Players: []protocol.PlayerID{"alice"}})
			platform := connect(t, srv.Platform())
			if _, err := platform.Subscribe("sparring.play.*.hello", func(m *nats.Msg) { m.Respond([]byte("yes")) }); err != nil {
				t.Fatal(err)
			}
			if err := platform.Flush(); err != nil {
				t.Fatal(err)
			}
			for user, player := range map[string]string{"alice": "alice", "guest": "guest", "bots": "gomoku-hare"} {
				nc := connect(t, srv.Player(user))
				msg, err := nc.Request("sparring.play."+player+".hello", nil, 5*time.Second)
				if err != nil || string(msg.Data) != "yes" {
					t.Errorf("user %s as %s: %v %v", user, player, msg, err)
				}
			}
		})
	}
}

// Only the platform's account has JetStream, regardless of permissions.
func TestJetStream(t *testing.T) {
	srv := start(t, Config{})
	for name, want := range map[string]bool{"PLATFORM": true, "PLAYERS": false, "WATCH": false} {
		account, err := srv.ns.LookupAccount(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := account.JetStreamEnabled(); got != want {
			t.Errorf("account %s: JetStream %v, want %v", name, got, want)
		}
	}
}

// Of the store the disk is the limit: that of nats.conf, for a server of its own, is one
// that nobody is warned of.
func TestStoreMayFillTheDisk(t *testing.T) {
	srv := start(t, Config{})
	if most, least := srv.ns.JetStreamConfig().MaxStore, int64(1<<50); most < least {
		t.Errorf("the store may have %d bytes, want any number", most)
	}
	js, err := jetstream.New(connect(t, srv.Platform()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "large", Subjects: []string{"large"}, MaxBytes: 1 << 40}); err != nil {
		t.Errorf("a stream that may have a TiB: %v", err)
	}
}

// The user "bots" may act for every player in configs/bots.json, and receives the
// offers in the pools of its games.
func TestShippedPlayers(t *testing.T) {
	data, err := os.ReadFile("../../configs/bots.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Players []struct {
			Player protocol.PlayerID `json:"player"`
			Games  []string          `json:"games"`
		} `json:"players"`
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Players) == 0 {
		t.Fatalf("%d players: %v", len(file.Players), err)
	}
	srv := start(t, Config{})
	platform, bots := connect(t, srv.Platform()), connect(t, srv.Player("bots"))
	answer := func(m *nats.Msg) { m.Respond(nil) }
	if _, err := platform.Subscribe("sparring.play.>", answer); err != nil {
		t.Fatal(err)
	}
	if err := platform.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, p := range file.Players {
		pools := []protocol.Pool{protocol.OwnPool(p.Player)}
		for _, g := range p.Games {
			pools = append(pools, protocol.Pool(g+".blitz"))
		}
		for _, pool := range pools {
			if _, err := bots.QueueSubscribe("sparring.offer."+string(pool), protocol.BotsQueue, answer); err != nil {
				t.Fatal(err)
			}
			if err := bots.Flush(); err != nil {
				t.Fatal(err)
			}
			if _, err := platform.Request("sparring.offer."+string(pool), nil, 5*time.Second); err != nil {
				t.Errorf("offer to %s: %v", pool, err)
			}
		}
		if _, err := bots.Request("sparring.play."+string(p.Player)+".hello", nil, 5*time.Second); err != nil {
			t.Errorf("hello of %s: %v", p.Player, err)
		}
	}
}

// fill makes a stream of n messages and a durable consumer in dir, and closes.
func fill(t *testing.T, dir string, n int) {
	t.Helper()
	srv, err := Start(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	nc, err := protocol.Connect(srv.Platform())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx := gametest.Context(t)
	st, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "GAMES", Subjects: []string{"sparring.game.*.log"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m := nats.NewMsg(fmt.Sprintf("sparring.game.g%d.log", i%7))
		m.Data = fmt.Appendf(nil, "event %d", i)
		if i%3 == 0 {
			m.Header.Set(jetstream.MsgIDHeader, fmt.Sprint(i))
		}
		if _, err := js.PublishMsg(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.DeleteMsg(ctx, 2); n > 2 && err != nil { // leaves a tombstone
		t.Fatal(err)
	}
	if _, err := st.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{Durable: "arena"}); err != nil {
		t.Fatal(err)
	}
}

// Stored messages survive a restart.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 40)
	srv := start(t, Config{Dir: dir})
	js, err := jetstream.New(connect(t, srv.Platform()))
	if err != nil {
		t.Fatal(err)
	}
	st, err := js.Stream(t.Context(), "GAMES")
	if err != nil {
		t.Fatal(err)
	}
	if s := st.CachedInfo().State; s.Msgs != 39 || s.LastSeq != 40 {
		t.Errorf("after the restart: %d messages up to %d, want 39 up to 40", s.Msgs, s.LastSeq)
	}
}

func recordSize(block []byte) int { return int(binary.LittleEndian.Uint32(block) &^ hasHeaders) }

const stream = "jetstream/PLATFORM/streams/GAMES"

// On damaged data the server does not start. The error names the file, and nothing
// on disk is changed.
func TestDamage(t *testing.T) {
	flip := func(back int) func([]byte) []byte { // a bit of the byte that far from the end
		return func(b []byte) []byte { b[len(b)-back] ^= 1; return b }
	}
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	for name, c := range map[string]struct {
		file   string
		damage func([]byte) []byte // nil: remove it
		want   string
	}{
		"flipped description":       {stream + "/meta.inf", flip(20), "checksum"},
		"cut description":           {stream + "/meta.inf", cut(10), "checksum"},
		"empty description":         {stream + "/meta.inf", func([]byte) []byte { return nil }, "checksum"},
		"no description":            {stream + "/meta.inf", nil, "no such file"},
		"no checksum":               {stream + "/meta.sum", nil, "no such file"},
		"flipped last message":      {stream + "/msgs/1.blk", flip(12), "checksum"},
		"flipped early message":     {stream + "/msgs/1.blk", func(b []byte) []byte { b[60] ^= 4; return b }, "checksum"},
		"flipped length":            {stream + "/msgs/1.blk", func(b []byte) []byte { b[2] ^= 255; return b }, "ends within"},
		"messages cut off":          {stream + "/msgs/1.blk", cut(300), "missing"},
		"cut at a record":           {stream + "/msgs/1.blk", func(b []byte) []byte { return b[:recordSize(b)] }, "missing"},
		"cut within the last":       {stream + "/msgs/1.blk", cut(3), "missing"},
		"no messages":               {stream + "/msgs/1.blk", nil, "missing"},
		"flipped consumer":          {stream + "/obs/arena/meta.inf", flip(9), "checksum"},
		"consumer without checksum": {stream + "/obs/arena/meta.sum", nil, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 40)
			path := filepath.Join(dir, c.file)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if c.damage == nil {
				err = os.Remove(path)
			} else {
				data = c.damage(data)
				err = os.WriteFile(path, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			srv, err := Start(Config{Dir: dir})
			if err == nil {
				srv.Close()
				t.Fatal("started on damaged data")
			}
			named := filepath.FromSlash(c.file)
			if name == "no messages" || name == "cut at a record" {
				named = filepath.Dir(named)
			}
			for _, want := range []string{named, c.want, "damaged"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if now, _ := os.ReadFile(path); c.damage != nil && string(now) != string(data) {
				t.Error("the attempt changed the file")
			}
		})
	}
}

// The server does not start either if it can't recover a stream that looks intact.
func TestNotRecovered(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 5)
	// A copy beside the original: its description names the original.
	twin := filepath.Join(dir, filepath.Dir(stream), "TWIN")
	if err := os.CopyFS(twin, os.DirFS(filepath.Join(dir, stream))); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(twin, "obs")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(twin, "msgs")); err != nil {
		t.Fatal(err)
	}
	meta, err := os.ReadFile(filepath.Join(twin, "meta.inf"))
	if err != nil {
		t.Fatal(err)
	}
	h := newHash("TWIN")
	h.Write(meta)
	if err := os.WriteFile(filepath.Join(twin, "meta.sum"), fmt.Appendf(nil, "%x", h.Sum(nil)), 0o600); err != nil {
		t.Fatal(err)
	}
	srv, err := Start(Config{Dir: dir})
	if err == nil {
		srv.Close()
		t.Fatal("started with a stream that is not there")
	}
	if !strings.Contains(err.Error(), twin) || !strings.Contains(err.Error(), "could not recover") {
		t.Error(err)
	}
}

// A crash leaves no summary, and perhaps half a message at the end. The server
// starts with the rest.
func TestTornWrite(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 40)
	if err := os.Remove(filepath.Join(dir, stream, "msgs", "index.db")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, stream, "msgs", "1.blk"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte{80, 0, 0, 0, 41, 0})
	f.Close()
	var log strings.Builder
	srv := start(t, Config{Dir: dir, Log: zerolog.New(zerolog.SyncWriter(&log))})
	c := srv.Platform()
	c.Log = zerolog.Nop()
	js, err := jetstream.New(connect(t, c))
	if err != nil {
		t.Fatal(err)
	}
	st, err := js.Stream(t.Context(), "GAMES")
	if err != nil {
		t.Fatal(err)
	}
	if s := st.CachedInfo().State; s.Msgs != 39 || s.LastSeq != 40 {
		t.Errorf("%d messages up to %d, want 39 up to 40", s.Msgs, s.LastSeq)
	}
	srv.Close() // and everything that writes to the log
	if !strings.Contains(log.String(), "1.blk") {
		t.Errorf("the log does not name the file: %s", log.String())
	}
}

func TestDirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	first := start(t, Config{Dir: dir})
	_, err := Start(Config{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Fatalf("second server in one directory: %v", err)
	}
	first.Close()
	start(t, Config{Dir: dir})
}

func TestDirectoryNotUsable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Config{Dir: filepath.Join(file, "data")}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("directory below a file: %v", err)
	}
	t.Run("read only", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may write everywhere")
		}
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("read-only directory: %v", err)
		}
	})
}

func TestPortInUse(t *testing.T) {
	srv := start(t, Config{Port: RandomPort})
	port := srv.ns.Addr().String()
	var n int
	fmt.Sscanf(port[strings.LastIndex(port, ":")+1:], "%d", &n)
	var log bytes.Buffer
	if _, err := Start(Config{Port: n, Log: zerolog.New(&log)}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("second server on port %d: %v", n, err)
	}
	if strings.Contains(log.String(), "in use") {
		t.Errorf("the error that is returned is logged, too: %s", &log)
	}
}

// The user may stand in the URL, with its password or without.
func TestUserOfURL(t *testing.T) {
	srv := start(t, Config{Port: RandomPort})
	for _, c := range []struct{ inURL, user, password string }{
		{"guest:" + srv.Password("guest") + "@", "bots", "other"}, {"guest@", "bots", srv.Password("guest")}, {"", "guest", srv.Password("guest")},
	} {
		at := strings.Replace(srv.URL(), "nats://", "nats://"+c.inURL, 1)
		nc := connect(t, protocol.Connection{URL: at, User: c.user, Password: c.password, Log: zerolog.Nop()})
		// The permissions allow the inbox and the watch of this user.
		sub, err := nc.SubscribeSync(nc.NewInbox())
		if err == nil {
			err = nc.FlushTimeout(5 * time.Second)
		}
		if err != nil || nc.LastError() != nil || !strings.HasPrefix(sub.Subject, "_INBOX_guest.") {
			t.Errorf("%q: %v %v, inbox %s", c.inURL, err, nc.LastError(), sub.Subject)
		}
	}
}

func TestPlayerNames(t *testing.T) {
	for _, name := range []protocol.PlayerID{"*", ">", "a.b", "Alice", "", "bots", "guest", "platform"} {
		if srv, err := Start(Config{Players: []protocol.PlayerID{name}}); err == nil {
			srv.Close()
			t.Errorf("player %q: accepted", name)
		}
	}
}
