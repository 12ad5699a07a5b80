package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// A request is repeated with the same bytes until it is answered.
func TestRepeatsUntilAnswered(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("alice"))
	alice := w.clientOver(nc, "alice", io.Discard)
	type result struct {
		ans protocol.ActAnswer
		err error
	}
	done := make(chan result, 1)
	go func() {
		ans, err := alice.Move(w.ctx, "g1", 1, 0, "h8", "")
		done <- result{ans, err}
	}()
	var mu sync.Mutex
	var got []string
	platform := w.connect(w.Platform())
	gametest.Eventually(t, "the first no-responders reply", func() bool { return nc.Stats().InMsgs > 0 })
	_, err := platform.Subscribe(w.subjects.ActAny("alice", "g1"), func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, string(m.Data))
		var req protocol.MoveRequest
		if err := json.Unmarshal(m.Data, &req); err != nil {
			t.Error(err)
		}
		switch len(got) {
		case 1: // lost
		case 2:
			m.Respond([]byte("no answer at all"))
		case 3:
			m.Respond(encode(t, protocol.ActAnswer{Answer: protocol.Answer{Header: protocol.Header{V: 1, ID: "another"}}}))
		default:
			m.Respond(encode(t, protocol.ActAnswer{Answer: protocol.Answer{Header: req.Header, Code: protocol.Accepted}, Ply: 1}))
		}
	})
	w.must(err)
	r := <-done
	if r.err != nil || r.ans.Ply != 1 {
		t.Errorf("%+v %v", r.ans, r.err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) != 4 {
		t.Errorf("asked %d times, want 4", len(got))
	}
	for _, g := range got {
		if g != got[0] {
			t.Errorf("repeated as %s, first was %s", g, got[0])
		}
	}
}

// accept answers a first move.
func accept(t *testing.T, m *nats.Msg) {
	var req protocol.MoveRequest
	if err := json.Unmarshal(m.Data, &req); err != nil {
		t.Error(err)
	}
	m.Respond(encode(t, protocol.ActAnswer{Answer: protocol.Answer{Header: req.Header, Code: protocol.Accepted}, Ply: 1}))
}

// A request that was lost with the game's referee is repeated as soon as another one sends a
// state, and not when the try's time is over.
func TestRepeatsOnceAStateComes(t *testing.T) {
	w := newWire(t)
	alice := w.client("alice")
	alice.WaitFor(time.Hour)
	_, err := alice.Game("g1", func(protocol.State) {})
	w.must(err)
	s := w.server(io.Discard, protocol.Limits{})
	var asked atomic.Int32
	_, err = w.platform.Subscribe(w.subjects.ActAny("alice", "g1"), func(m *nats.Msg) {
		if asked.Add(1) == 1 { // lost; then the next referee begins
			s.Tell("alice", protocol.State{Seq: 1, Snapshot: snapshot("g1")})
			return
		}
		accept(t, m)
	})
	w.must(err)
	w.must(w.platform.Flush())
	if ans, err := alice.Move(w.ctx, "g1", 1, 0, "h8", ""); err != nil || ans.Ply != 1 {
		t.Errorf("%+v %v", ans, err)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times, want 2", n)
	}
}

// A repeated request that exceeds the limits, as all tries do that a hung platform gets at
// once, may have been accepted before: its answer is asked for. One that was never lost is
// refused at once, and so is one that stays beyond the limits.
func TestRepeatsBeyondLimits(t *testing.T) {
	for name, c := range map[string]struct {
		tries    []protocol.Code // "": lost
		accepted bool
	}{
		"hung":    {[]protocol.Code{"", protocol.RateLimited, protocol.RateLimited, protocol.Accepted}, true},
		"refused": {[]protocol.Code{protocol.RateLimited}, false},
		"stays":   {[]protocol.Code{"", protocol.RateLimited, protocol.RateLimited, protocol.RateLimited, protocol.RateLimited, protocol.RateLimited}, false},
		"other":   {[]protocol.Code{"", protocol.Denied}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t)
			var asked atomic.Int64
			_, err := w.connect(w.Platform()).Subscribe(w.subjects.ActAny("alice", "g1"), func(m *nats.Msg) {
				n := asked.Add(1)
				if int(n) > len(c.tries) || c.tries[n-1] == "" {
					return
				}
				var req protocol.MoveRequest
				if err := json.Unmarshal(m.Data, &req); err != nil {
					t.Error(err)
				}
				ans := protocol.Answer{Header: req.Header, Code: c.tries[n-1]}
				if ans.Code != protocol.Accepted {
					ans.Error = protocol.Refuse(ans.Code, "as the test wants")
				}
				m.Respond(encode(t, protocol.ActAnswer{Answer: ans}))
			})
			w.must(err)
			_, err = w.clientOver(w.connect(w.Player("alice")), "alice", io.Discard).Move(w.ctx, "g1", 1, 0, "h8", "")
			if (err == nil) != c.accepted || int(asked.Load()) != len(c.tries) {
				t.Errorf("%d tries: %v; want %d", asked.Load(), err, len(c.tries))
			}
		})
	}
}

// If nobody answers, a request ends with its context, and the error says why.
func TestGivesUpWithItsContext(t *testing.T) {
	w := newWire(t)
	reason := errors.New("game over")
	ctx, cancel := context.WithCancelCause(w.ctx)
	nc := w.connect(w.Player("alice"))
	done := make(chan error, 1)
	go func() {
		_, err := w.clientOver(nc, "alice", io.Discard).Move(ctx, "g1", 1, 0, "h8", "")
		done <- err
	}()
	// After the second no-responders reply, the first attempt has ended.
	gametest.Eventually(t, "the second no-responders reply", func() bool { return nc.Stats().InMsgs > 1 })
	cancel(reason)
	err := <-done
	if !errors.Is(err, reason) || !errors.Is(err, nats.ErrNoResponders) || !strings.Contains(err.Error(), "alice.game.g1.move") {
		t.Errorf("%v", err)
	}
}

// A refusal without an id ends the repetition: the request could not be read.
func TestRefusedUnread(t *testing.T) {
	w := newWire(t)
	s := w.server(io.Discard, protocol.DefaultLimits)
	w.serve(s.ServeGame("g1", []protocol.PlayerID{"alice", "bob"}, acts(new(atomic.Int64))))
	if _, err := w.client("alice").Chat(w.ctx, "g1", 1, strings.Repeat("x", 20<<10)); !errors.Is(err, &protocol.Error{Code: protocol.TooLarge}) {
		t.Errorf("%v", err)
	}
}

// The client passes on states in order. It drops outdated and forged ones and
// those of other games. An older one that was sent much later is not outdated: the platform
// has gone back.
func TestStates(t *testing.T) {
	w := newWire(t)
	var log gametest.Output
	s := w.server(io.Discard, protocol.DefaultLimits)
	nc := w.connect(w.Player("alice"))
	alice := w.clientOver(nc, "alice", &log)
	states, notices := make(chan protocol.State, 10), make(chan protocol.Notice, 10)
	_, err := alice.Game("g1", func(st protocol.State) { states <- st })
	w.must(err)
	_, err = alice.Notices(func(n protocol.Notice) { notices <- n })
	w.must(err, nc)
	tell := func(seq uint64, moves ...string) {
		sn := snapshot("g1")
		sn.Moves = moves
		s.Tell("alice", protocol.State{Seq: seq, Snapshot: sn})
	}
	tell(1, "h8")
	tell(3, "h8", "h9", "h10")
	tell(2, "h8", "h9") // late
	platform := w.connect(w.Platform())
	state := func(to string, of protocol.GameID) []byte {
		return encode(t, protocol.State{V: protocol.Version, To: to, Seq: 99, Snapshot: snapshot(of)})
	}
	toGame := w.subjects.ToGame("alice", "g1")
	for _, forged := range [][]byte{
		nil, []byte("{}"), []byte(strings.Repeat("[", 1000)), state(toGame, "g2"), state("", "g1"), state(w.subjects.ToGame("bob", "g1"), "g1"),
	} {
		w.must(platform.Publish(toGame, forged), platform)
	}
	for _, forged := range []string{"", "{}", `{"v":1,"kind":"chat","from":"eve","text":"hi"}`} {
		w.must(platform.Publish(w.subjects.ToNotice("alice"), []byte(forged)), platform)
	}
	tell(4, "h8", "h9", "h10", "h11")
	s.Notify("alice", protocol.Notice{Kind: protocol.NoticeChat, From: "bob", Text: "hi"})
	var seqs []uint64
	for len(seqs) < 3 {
		select {
		case st := <-states:
			seqs = append(seqs, st.Seq)
			if len(st.Moves) != int(st.Seq) || st.ServerTime.IsZero() {
				t.Errorf("state %+v", st)
			}
		case <-w.ctx.Done():
			t.Fatalf("got only %v", seqs)
		}
	}
	if seqs[0] != 1 || seqs[1] != 3 || seqs[2] != 4 {
		t.Errorf("states %v, want 1 3 4", seqs)
	}
	rewound := protocol.State{V: protocol.Version, To: toGame, Seq: 2, Snapshot: snapshot("g1"), ServerTime: time.Now().Add(time.Minute)}
	w.must(platform.Publish(toGame, encode(t, rewound)), platform)
	select {
	case st := <-states:
		if st.Seq != 2 {
			t.Errorf("state %+v", st)
		}
	case <-w.ctx.Done():
		t.Error("the state of a platform that has gone back did not come")
	}
	select {
	case n := <-notices:
		if n.From != "bob" || n.Text != "hi" {
			t.Errorf("notice %+v", n)
		}
	case <-w.ctx.Done():
		t.Error("no notice")
	}
	if log.Count("invalid state ignored") != 1 || log.Count("invalid notice ignored") != 1 {
		t.Errorf("each kind of forgery is logged once: %s", log.String())
	}
}

func TestClientChecksNames(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("alice"))
	for _, c := range [][2]string{{"*", "i"}, {"alice", ">"}, {"", "i"}, {"a.b", "i"}} {
		if _, err := protocol.NewClient(nc, w.subjects, protocol.PlayerID(c[0]), protocol.InstanceID(c[1]), zerolog.Nop()); err == nil {
			t.Errorf("player %q, instance %q: accepted", c[0], c[1])
		}
	}
	alice := w.client("alice")
	if _, err := alice.Game("g.>", nil); err == nil {
		t.Error("a game with a wildcard was subscribed to")
	}
	if _, err := alice.Offers("gomoku.*", nil); err == nil {
		t.Error("a pool with a wildcard was subscribed to")
	}
}

// If the server restarts during a request, the request is answered and the
// subscriptions work again.
func TestServerRestart(t *testing.T) {
	port, dir := gametest.FreePort(t), t.TempDir()
	config := embedded.Config{Dir: dir, Port: port, Players: []protocol.PlayerID{"alice"}}
	srv, err := embedded.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Server: srv, t: t, subjects: mustSubjects(t)}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	w.ctx = ctx
	nc := w.connect(srv.Player("alice"))
	alice := w.clientOver(nc, "alice", io.Discard)
	states := make(chan protocol.State, 10)
	_, err = alice.Game("g1", func(st protocol.State) { states <- st })
	w.must(err, nc)
	password := srv.Password("alice")
	srv.Close()
	gametest.Eventually(t, "the connection is seen to be down", func() bool { return !nc.IsConnected() })

	done := make(chan error, 1)
	go func() {
		_, err := alice.Move(ctx, "g1", 1, 0, "h8", "")
		done <- err
	}()
	// The server of an operator has the same passwords after a restart, too.
	config.Passwords = map[string]string{"alice": password}
	if srv, err = embedded.Start(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	w.Server = srv
	s := w.server(io.Discard, protocol.DefaultLimits)
	w.serve(s.ServeGame("g1", []protocol.PlayerID{"alice", "bob"}, acts(new(atomic.Int64))))
	if err := <-done; err != nil {
		t.Fatalf("the move was not answered after the restart: %v", err)
	}
	s.Tell("alice", protocol.State{Seq: 1, Snapshot: snapshot("g1")})
	select {
	case <-states:
	case <-ctx.Done():
		t.Error("the subscription receives nothing after the restart")
	}
}

func mustSubjects(t *testing.T) protocol.Subjects {
	t.Helper()
	s, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConnectRefused(t *testing.T) {
	srv, err := embedded.Start(embedded.Config{Port: embedded.RandomPort})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	c := srv.Player("guest")
	c.Password = "wrong"
	nc, err := protocol.Connect(c)
	if err == nil {
		nc.Close()
		t.Fatal("connected with a wrong password")
	}
	if !errors.Is(err, nats.ErrAuthorization) || !strings.Contains(err.Error(), `"guest"`) {
		t.Error(err)
	}
	c.User, c.Password = "", ""
	if nc, err = protocol.Connect(c); err == nil {
		nc.Close()
		t.Error("connected without a user")
	}
}

func TestConnectMistakes(t *testing.T) {
	for name, c := range map[string]protocol.Connection{
		"no such CA file":    {URL: "nats://127.0.0.1:1", CA: "/does/not/exist.pem"},
		"no such creds file": {URL: "nats://127.0.0.1:1", Creds: "/does/not/exist.creds"},
		"not a URL":          {URL: "nats://user:secret@[::1"},
		"another protocol's": {URL: "nats://127.0.0.1:1,http://user:secret@127.0.0.1:8222"},
	} {
		nc, err := protocol.Connect(c)
		if err == nil {
			nc.Close()
			t.Errorf("%s: connected", name)
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error reveals the password: %v", name, err)
		}
	}
}

// Connect waits for a server that is not there yet, and logs that.
func TestConnectWaits(t *testing.T) {
	port := gametest.FreePort(t)
	config := embedded.Config{Port: port, Passwords: map[string]string{"guest": "known"}}
	var log gametest.Output
	nc, err := protocol.Connect(protocol.Connection{URL: fmt.Sprintf("nats://127.0.0.1:%d", port), Name: "early", User: "guest", Password: "known", Log: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if n := log.Count("waiting for one"); n != 1 {
		t.Errorf("the wait was logged %d times: %s", n, log.String())
	}
	if err := nc.Publish("sparring.play.guest.hello", nil); !errors.Is(err, nats.ErrReconnectBufExceeded) {
		t.Errorf("published without a recipient: %v", err)
	}
	impatient, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := protocol.Await(impatient, nc); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waited for a reply without a recipient: %v", err)
	}
	srv, err := embedded.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	ctx := gametest.Context(t)
	if err := protocol.Await(ctx, nc); err != nil || !nc.IsConnected() {
		t.Errorf("the connection is not established: %v", err)
	}
	nc.Close()
	if err := protocol.Await(ctx, nc); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("awaited a closed connection: %v", err)
	}
}

// A consumer that misses its heartbeats is an error, but while there is no connection, when
// each does so all the time, only the loss of the connection is. Nor is a write that fails
// because the connection breaks.
func TestErrorsWithoutAConnection(t *testing.T) {
	srv, err := embedded.Start(embedded.Config{Port: gametest.FreePort(t), Passwords: map[string]string{"guest": "known"}})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	var log gametest.Output
	c := srv.Player("guest")
	c.Log = zerolog.New(&log)
	nc, err := protocol.Connect(c)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	failures := func() int { return log.Count(`"level":"error"`) }
	nc.Opts.AsyncErrorCB(nc, nil, nats.ErrConsumerNotActive)
	if n := failures(); n != 1 {
		t.Errorf("%d errors with a connection: %s", n, log.String())
	}
	nc.Opts.AsyncErrorCB(nc, nil, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE})
	if n := failures(); n != 1 {
		t.Errorf("%d errors while the connection breaks: %s", n, log.String())
	}
	srv.Close()
	gametest.Eventually(t, "the connection is seen to be down", func() bool { return !nc.IsConnected() })
	nc.Opts.AsyncErrorCB(nc, nil, nats.ErrConsumerNotActive)
	if n := failures(); n != 1 {
		t.Errorf("%d errors without a connection: %s", n, log.String())
	}
}

// A request under way is sent again when its connection goes to another server.
func TestRequestMovesElsewhere(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("alice"))
	first := true
	platform := w.connect(w.Platform())
	_, err := platform.Subscribe(w.subjects.ActAny("alice", "g1"), func(m *nats.Msg) {
		if first { // and is not answered
			first = false
			if err := nc.ForceReconnect(); err != nil {
				t.Error(err)
			}
			return
		}
		accept(t, m)
	})
	w.must(err)
	w.must(platform.Flush())
	if ans, err := w.clientOver(nc, "alice", io.Discard).Move(w.ctx, "g1", 1, 0, "h8", ""); err != nil || ans.Ply != 1 {
		t.Errorf("%+v %v", ans, err)
	}
}

// While there is no connection, a request leaves nothing behind.
func TestNothingIsQueuedWithoutAConnection(t *testing.T) {
	nc, err := nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", gametest.FreePort(t)), nats.RetryOnFailedConnect(true), nats.ReconnectBufSize(-1))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	alice, err := protocol.NewClient(nc, subjects, "alice", "i1", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := alice.Alive(ctx, protocol.Alive{Free: 1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a heartbeat without a connection: %v", err)
		}
		cancel()
	}
	// What the library keeps for the answers.
	if n := reflect.ValueOf(nc).Elem().FieldByName("respMap").Len(); n > 0 {
		t.Errorf("%d requests are kept", n)
	}
}
