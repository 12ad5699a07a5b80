package arena

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// bare is a server without accounts that can be made to switch its JetStream
// off, as it does itself when the disk is full, and be started again.
type bare struct {
	t  *testing.T
	mu sync.Mutex
	ns *server.Server
	on string
}

func (b *bare) Platform() protocol.Connection {
	return protocol.Connection{InProcess: b, Name: "platform"}
}

func (b *bare) Player(user string) protocol.Connection {
	return protocol.Connection{InProcess: b, Name: user}
}

// InProcessConn connects to the server that runs now.
func (b *bare) InProcessConn() (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ns.InProcessConn()
}

func (b *bare) start() {
	b.t.Helper()
	ns, err := server.NewServer(&server.Options{DontListen: true, JetStream: true, StoreDir: b.on, NoSigs: true, NoLog: true})
	if err != nil {
		b.t.Fatal(err)
	}
	ns.Start()
	if !ns.ReadyForConnections(patience) {
		b.t.Fatal("the server does not start")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ns = ns
}

func (b *bare) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ns.Shutdown()
	b.ns.WaitForShutdown()
}

func startBare(t *testing.T) *bare {
	t.Helper()
	b := &bare{t: t, on: t.TempDir()}
	b.start()
	t.Cleanup(b.stop)
	return b
}

// recordOfGame waits for the record of a game.
func recordOfGame(t *testing.T, s *store, g protocol.GameID) *record.Record {
	t.Helper()
	var rec *record.Record
	gametest.Eventually(t, "the record of the game", func() bool {
		msg, err := s.records.GetLastMsgForSubject(t.Context(), s.subjects.Record("amazons", g))
		if err != nil {
			return false
		}
		if rec, err = record.Decode(msg.Data); err != nil {
			t.Fatal(err)
		}
		return true
	})
	return rec
}

// health asks the arena's /healthz.
func health(a *running) (code int, text string) {
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	return w.Code, w.Body.String()
}

// withoutSpace plays a game during which the store has no room for a while.
// The game continues, a log line says so, and the log and the record are complete at
// the end.
func withoutSpace(t *testing.T, srv platform, full func(a *running), room func(a *running)) {
	lines := &logLines{}
	a := prepareArenaLog(t, srv, quick(), zerolog.New(zerolog.MultiLevelWriter(lines, zerolog.NewTestWriter(t))))
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 100*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	bob.until(g, "some moves", plies(2))
	full(a)
	n := len(bob.until(g, "a state", plies(0)).Moves) + 4
	bob.until(g, "moves without a log", plies(n))
	said := map[string]any{"level": "error", "game": g, "message": "no space: the game continues without its log; a restart would return to the last stored entry"}
	if n := lines.count(said); n != 1 {
		t.Errorf("logged %d times, want once", n)
	}
	if code, text := health(a); code != http.StatusServiceUnavailable || !strings.Contains(text, "games that go on in this process alone: 1; make room") {
		t.Errorf("/healthz says %d %q", code, text)
	}
	room(a)
	st := bob.until(g, "the end", finished)
	if st.Outcome.Reason != game.NoMoves {
		t.Errorf("outcome %+v, want a game played out", st.Outcome)
	}
	gametest.Eventually(t, "/healthz to be content", func() bool { code, _ := health(a); return code == http.StatusOK })
	rec := recordOfGame(t, a.store, g)
	if len(rec.Plies) != len(st.Moves) || rec.Result != st.Outcome.Result || rec.Reason != st.Outcome.Reason {
		t.Errorf("the record has %d plies and %s by %s, the game %d and %+v", len(rec.Plies), rec.Result, rec.Reason, len(st.Moves), st.Outcome)
	}
	for i, p := range rec.Plies {
		if p.Move != st.Moves[i] || p.Receipt == nil {
			t.Errorf("ply %d of the record: %s with receipt %v, want %s with one", i+1, p.Move, p.Receipt, st.Moves[i])
		}
	}
	events := whole(t, a.store, g)
	caught := 0
	for i, e := range events {
		if i > 0 && len(e.Moves) > len(events[i-1].Moves)+1 && (e.Kind == protocol.EventSnapshot || e.Kind == protocol.EventEnd) {
			caught++
			if e.Text == "" {
				t.Errorf("entry %d does not say what is missing", i+1)
			}
		}
	}
	if caught != 1 {
		t.Errorf("the log is continued %d times, want once", caught)
	}
}

func TestStreamFull(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	withoutSpace(t, srv, fullStream, roomInStream)
}

// fullStream leaves the stream of logs no room.
func fullStream(a *running) { limitStream(a.t, a.store, 1) }

// roomInStream undoes fullStream.
func roomInStream(a *running) { limitStream(a.t, a.store, -1) }

func limitStream(t testing.TB, s *store, bytes int64) {
	t.Helper()
	info, err := s.games.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cfg := info.Config
	cfg.MaxBytes = bytes
	if bytes > 0 {
		cfg.MaxBytes = int64(info.State.Bytes)
	}
	if _, err := s.js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// The end of a game on a full disk is told to nobody before it is stored: neither
// the arena that ruled it nor, after its death, the next one tells two ends.
func TestEndOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, dies := range []bool{false, true} {
		srv := arenatest.StartServer(t, t.TempDir(), "ann", "bob")
		lines := &logLines{}
		a := prepareArenaLog(t, srv, quick(), zerolog.New(lines))
		a.start()
		ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
		told := make(map[game.Outcome]int)
		var mu sync.Mutex
		for _, p := range []*player{ann, bob} {
			p.set(func(p *player) {
				p.play = func(st protocol.State) {
					mu.Lock()
					if st.Status == protocol.Finished {
						told[st.Outcome]++
					}
					mu.Unlock()
					time.Sleep(5 * time.Millisecond) // until the store is full
					p.random(st)
				}
			})
		}
		ends := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(told)
		}
		g := ann.challenge("bob", small(t, "60+1"), game.First)
		bob.until(g, "some moves", plies(2))
		fullStream(a)
		gametest.Eventually(t, "the end that is held back", func() bool {
			return lines.count(map[string]any{"level": "error", "game": g, "message": "no space: the game has ended, and nobody is told until that is stored"}) == 1
		})
		halted := func(st protocol.State) bool { return st.Status == protocol.Halted }
		for _, p := range []*player{ann, bob} {
			p.until(g, "the halt", halted)
		}
		if n := ends(); n != 0 {
			t.Errorf("%d ends were told before one was stored", n)
		}
		b := a
		if dies {
			a.crash()
			b = prepareArena(t, srv, quick())
		}
		roomInStream(b)
		if dies {
			b.start()
		}
		st := ann.until(g, "the end", finished)
		rec := recordOfGame(t, b.store, g)
		if rec.Result != st.Outcome.Result || rec.Reason != st.Outcome.Reason || rec.Reason != game.NoMoves {
			t.Errorf("the record says %s by %s, the players were told %+v", rec.Result, rec.Reason, st.Outcome)
		}
		bob.until(g, "the end", finished)
		if n := ends(); n != 1 {
			t.Errorf("%d different ends were told", n)
		}
		if n := counterValue(t, b.Arena, "sparring_arena_games_ended_total"); n != 1 {
			t.Errorf("%v ends counted, want 1", n)
		}
		whole(t, b.store, g)
	}
}

// An arena that is started on a full disk waits for room.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	for _, used := range []bool{false, true} {
		disk := arenatest.NewSmallDisk(t, "24m")
		dir := filepath.Join(disk.Dir, "platform")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		p := arenatest.StartNATS(t, filepath.Join(dir, "nats"))
		nc := arenatest.Connect(t, p.Platform())
		if used {
			if _, err := New(t.Context(), nc, quick(), zerolog.Nop()); err != nil {
				t.Fatal(err)
			}
		}
		disk.Fill()
		lines := &logLines{}
		begun := make(chan error, 1)
		go func() {
			_, err := New(t.Context(), nc, quick(), zerolog.New(lines))
			begun <- err
		}()
		gametest.Eventually(t, "the report", func() bool { return lines.count(map[string]any{"level": "error"}) == 1 })
		disk.Empty()
		p.Close()
		p.Start()
		select {
		case err := <-begun:
			if err != nil {
				t.Errorf("used before %v: %v", used, err)
			}
		case <-time.After(patience):
			t.Errorf("used before %v: the arena does not start although there is room", used)
		}
	}
}

// An arena that is started while the server hangs waits for it.
func TestStartWhileTheServerHangs(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	nc := arenatest.Connect(t, p.Platform())
	p.Pause()
	lines := &logLines{}
	begun := make(chan error, 1)
	go func() {
		_, err := New(t.Context(), nc, quick(), zerolog.New(lines))
		begun <- err
	}()
	gametest.Eventually(t, "the report", func() bool { return lines.count(map[string]any{"level": "error"}) == 1 })
	p.Continue()
	select {
	case err := <-begun:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("the arena does not start although the server goes on")
	}
}

// The server in the process of `sparring up` goes on by itself when there is room.
func TestEmbeddedServerFull(t *testing.T) {
	t.Parallel()
	disk := arenatest.NewSmallDisk(t, "24m")
	srv := arenatest.StartServer(t, filepath.Join(disk.Dir, "nats"), "ann", "bob")
	full := func(a *running) {
		gametest.Eventually(t, "the store has no room", func() bool { disk.Fill(); return a.unkept.Load() > 0 })
	}
	withoutSpace(t, srv, full, func(*running) { disk.Empty() })
}

// A server that runs out of disk switches JetStream off until it is started
// again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	srv := startBare(t)
	withoutSpace(t, srv, func(*running) {
		if err := srv.ns.DisableJetStream(); err != nil {
			t.Fatal(err)
		}
	}, func(*running) {
		srv.stop()
		srv.start()
	})
}

// A restart of the server alone costs neither a game nor a lease.
func TestServerRestart(t *testing.T) {
	t.Parallel()
	srv := startBare(t)
	a := runArena(t, srv, quick())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 30*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	for n := range 3 {
		bob.until(g, "some moves", plies(3*n+2))
		srv.stop()
		srv.start()
	}
	if st := bob.until(g, "the end", finished); st.Outcome.Reason != game.NoMoves {
		t.Errorf("outcome %+v, want a game played out", st.Outcome)
	}
	recordOfGame(t, a.store, g)
	whole(t, a.store, g)
	after := ann.challenge("bob", small(t, "60+1"), game.First)
	ann.until(after, "the end of another game", finished)
}

// A log whose last entry can't be read is reported with its subject and left
// unchanged; the other games continue.
func TestCorruptLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	srv := arenatest.StartServer(t, dir, "ann", "bob")
	a := runArena(t, srv, quick())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(bob, 20*time.Millisecond)
	good := ann.challenge("bob", small(t, "60+1"), game.First)
	bad := ann.challenge("bob", small(t, "60+1"), game.First)
	torn := ann.challenge("bob", small(t, "60+1"), game.First)
	for _, g := range []protocol.GameID{good, bad, torn} {
		bob.until(g, "some moves", plies(4))
	}
	ann.set(func(p *player) { p.play = nil })
	bob.set(func(p *player) { p.play = nil })
	a.stop()
	last, _, err := a.store.lastEvent(t.Context(), torn)
	if err != nil {
		t.Fatal(err)
	}
	subjects := a.server.Subjects()
	if _, err := a.store.js.Publish(t.Context(), subjects.Log(bad), []byte(`{"v":1,"kind":"mo`)); err != nil {
		t.Fatal(err)
	}
	event := last
	event.Moves = append(append([]string{}, last.Moves...), "a1a1/a1")
	event.Index++
	if err := a.store.journal(torn, lastSeq(t, a.store, torn), nil).append(t.Context(), &event, 0); err != nil {
		t.Fatal(err)
	}

	lines := &logLines{}
	b := prepareArenaLog(t, srv, quick(), zerolog.New(lines))
	b.start()
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) {
			p.play = func(st protocol.State) {
				if st.Game == good {
					p.random(st)
				}
			}
		})
	}
	bob.until(good, "the end", finished)
	for g, message := range map[protocol.GameID]string{
		bad:  "game not refereed: the last entry of its log can't be read",
		torn: "game not refereed: the moves of its log can't be replayed",
	} {
		said := map[string]any{"level": "error", "subject": subjects.Log(g), "message": message}
		gametest.Eventually(t, fmt.Sprintf("the report of %s", g), func() bool { return lines.count(said) == 1 })
	}
	before := lastSeq(t, b.store, bad) + lastSeq(t, b.store, torn)
	// A whole sweep over all games lies between the adoptions of two games of
	// which the second began after the first was adopted.
	for _, g := range []protocol.GameID{"mark1", "mark2"} {
		begun(t, b.store, g, small(t, "60+1"), 0)
		gametest.Eventually(t, "the next sweep", func() bool { return b.refereeing(g) })
	}
	if after := lastSeq(t, b.store, bad) + lastSeq(t, b.store, torn); after != before {
		t.Errorf("a corrupt log was changed")
	}
	if n := counterValue(t, b.Arena, "sparring_arena_logs_corrupt_total"); n != 2 {
		t.Errorf("%v corrupt logs counted, want 2", n)
	}
	for _, g := range []protocol.GameID{bad, torn} {
		if !b.index.isCorrupt(g) || slices.Contains(b.index.unfinished(), g) || slices.ContainsFunc(b.Running(), func(e protocol.Event) bool { return e.Game == g }) {
			t.Errorf("game %s is listed as one that goes on", g)
		}
	}
}

func lastSeq(t *testing.T, s *store, g protocol.GameID) uint64 {
	t.Helper()
	msg, err := s.lastEntry(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return msg.Sequence
}

// A silent store counts as full only if its server answers at once: a server that is
// slow for us may serve another referee.
func TestSlowIsNotFull(t *testing.T) {
	t.Parallel()
	srv := startBare(t)
	gate := &gate{to: srv}
	nc := arenatest.Connect(t, protocol.Connection{InProcess: gate, Name: "platform"})
	a, err := New(t.Context(), nc, quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	silent := fmt.Errorf("append: %w", context.DeadlineExceeded)
	if !a.store.off(silent, time.Now()) {
		t.Error("a silent stream on a quick server does not count as full")
	}
	if a.store.off(errors.New("anything else"), time.Now()) {
		t.Error("any error counts as a full disk")
	}
	outages := newReach(nc)
	a.store.mayHaveLost = outages.mayHaveLost
	for _, test := range []struct {
		ended, asked time.Duration // before now
		off          bool
	}{{time.Second, 2 * time.Second, false}, {2 * time.Second, time.Second, true}} {
		outages.missed(time.Now().Add(-time.Hour), time.Now().Add(-test.ended))
		outages.until = time.Now().Add(time.Hour) // none is under way
		if off := a.store.off(silent, time.Now().Add(-test.asked)); off != test.off {
			t.Errorf("asked %v ago, with an outage that ended %v ago: %v, want %v", test.asked, test.ended, off, test.off)
		}
	}
	asked := time.Now()
	if err := nc.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the new connection", func() bool { return nc.Stats().Reconnects == 1 && nc.IsConnected() })
	if a.store.off(silent, asked) {
		t.Error("a request that was lost with its connection counts as refused")
	}
	if !a.store.off(silent, time.Now()) {
		t.Error("a silent stream does not count as full because the connection was lost before")
	}
	a.store.mayHaveLost = nil
	gate.shut.Lock()
	if a.store.off(silent, time.Now()) {
		t.Error("a slow server counts as full")
	}
	gate.shut.Unlock()
}

// gate is a connection to a server that can be blocked: messages arrive when it is
// opened again.
type gate struct {
	to   *bare
	shut sync.RWMutex
}

// InProcessConn connects through the gate.
func (g *gate) InProcessConn() (net.Conn, error) {
	inner, err := g.to.InProcessConn()
	return gatedConn{inner, g}, err
}

type gatedConn struct {
	net.Conn
	gate *gate
}

func (c gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.gate.shut.RLock()
	defer c.gate.shut.RUnlock()
	return n, err
}
