package pairqueue

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
	"sparring/lab/match"
	"sparring/lab/match/campaign"
	"sparring/protocol"
)

// TestMain lets the test binary be a NATS server.
func TestMain(m *testing.M) {
	arenatest.NATSMain()
	flag.Parse()
	// The tests wait much and compute little: more of them than processors.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// house is a server with the queue's owner.
type house struct {
	t      *testing.T
	ctx    context.Context
	server *arenatest.NATSProcess
	owner  *Queue
	lease  time.Duration
}

func newHouse(t *testing.T) *house {
	t.Helper()
	return newHouseWith(t, 2*time.Second)
}

// newHouseWith returns a server with a queue whose pairs are leased for so long.
func newHouseWith(t *testing.T, lease time.Duration) *house {
	t.Helper()
	ctx := gametest.Context(t)
	h := &house{t: t, ctx: ctx, server: arenatest.StartNATS(t, t.TempDir()), lease: lease}
	h.owner, _ = h.queue()
	if err := h.owner.Begin(ctx, map[string]bool{"m1": true}); err != nil {
		t.Fatal(err)
	}
	return h
}

// queue connects to the queue.
func (h *house) queue() (*Queue, *nats.Conn) {
	h.t.Helper()
	nc, err := protocol.Connect(h.server.Platform())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		h.t.Fatal(err)
	}
	return New(js, "sparring", "a night", h.lease, h.t.Logf), nc
}

// pair returns a pair of games of Amazons.
func (h *house) pair(number int) *campaign.Pair {
	h.t.Helper()
	p := &campaign.Pair{Match: "six", Terms: &match.Terms{V: match.FileVersion, ID: "m1", Game: "amazons", Rules: "amazons/6x6", Players: []string{"a", "b"}, Labels: []string{"a", "b"}}}
	for leg := 1; leg <= 2; leg++ {
		p.Bouts = append(p.Bouts, match.Bout{Pair: number, Leg: leg, Opening: number, Players: [2]int{leg - 1, 2 - leg}, Names: [2]string{"a", "b"}, ID: fmt.Sprintf("m1-%d-%d", number, leg)})
	}
	return p
}

// machine plays games in no time, after what before says. It signs them.
type machine struct {
	name   string
	before func(ctx context.Context, b match.Bout) error
}

func (m *machine) Close() {}

func (m *machine) Play(ctx context.Context, p *campaign.Pair, finished func(*match.Game) error) error {
	for _, b := range p.Bouts {
		if b.Position.Rules().Name != "amazons/6x6" {
			return errors.New("no position")
		}
		if m.before != nil {
			if err := m.before(ctx, b); err != nil {
				return err
			}
		}
		g := match.NewGame(p.Terms, b)
		g.Place = m.name
		g.End(game.Outcome{Result: game.FirstWins, Reason: "no-moves"}, "")
		if err := finished(g); err != nil {
			return err
		}
	}
	return nil
}

// serve lets a machine take pairs.
func (h *house) serve(q *Queue, m *machine) {
	ctx, cancel := context.WithCancel(h.ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		q.Serve(ctx, 1, func() (campaign.Worker, error) { return m, nil }, func(*match.Game) {})
	})
	h.t.Cleanup(func() { cancel(); wg.Wait() })
}

// play has pairs played, and returns who played the games.
func (h *house) play(numbers ...int) map[string]string {
	h.t.Helper()
	var mu sync.Mutex
	by := map[string]string{}
	var wg sync.WaitGroup
	for _, n := range numbers {
		p := h.pair(n)
		wg.Go(func() {
			err := h.owner.Worker().Play(h.ctx, p, func(g *match.Game) error {
				mu.Lock()
				defer mu.Unlock()
				if by[g.ID] != "" {
					h.t.Errorf("game %s came twice", g.ID)
				}
				by[g.ID] = g.Place
				return nil
			})
			if err != nil {
				h.t.Errorf("pair %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	return by
}

// empty checks that neither a pair nor a result is left in the queue.
func (h *house) empty(when string) {
	h.t.Helper()
	pairs, games, _, err := h.owner.streams(h.ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	for what, s := range map[string]jetstream.Stream{"pairs": pairs, "results": games} {
		info, err := s.Info(h.ctx)
		if err != nil {
			h.t.Fatal(err)
		}
		if info.State.Msgs > 0 {
			h.t.Errorf("%s: %d %s are left", when, info.State.Msgs, what)
		}
	}
}

// TestKilledMachine: the pair of a machine that is gone is played by another, but not
// the game of it that is there.
func TestKilledMachine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	q, nc := h.queue()
	stuck := make(chan struct{})
	h.serve(q, &machine{"first", func(ctx context.Context, b match.Bout) error {
		if b.Leg == 2 {
			close(stuck)
			nc.Close() // as for kill -9, or a cable
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}})
	go func() {
		select {
		case <-stuck:
		case <-h.ctx.Done():
			return
		}
		q, _ := h.queue()
		h.serve(q, &machine{name: "second"})
	}()
	by := h.play(1)
	if by["m1-1-1"] != "first" || by["m1-1-2"] != "second" {
		t.Errorf("played by %v", by)
	}
}

// TestLongGame: a machine keeps its pair for as long as it plays, which may be much longer than
// the lease.
func TestLongGame(t *testing.T) {
	t.Parallel()
	h := newHouseWith(t, 4*time.Second)
	var taken sync.Map // who has taken the pair
	for _, name := range []string{"one", "two"} {
		q, _ := h.queue()
		h.serve(q, &machine{name, func(ctx context.Context, b match.Bout) error {
			taken.Store(name, true)
			if b.Leg == 2 {
				return sleep(ctx, 2*h.lease)
			}
			return nil
		}})
	}
	by := h.play(1)
	if _, one := taken.Load("one"); by["m1-1-1"] != by["m1-1-2"] {
		t.Errorf("played by %v", by)
	} else if _, two := taken.Load("two"); one && two {
		t.Error("both machines have taken the pair")
	}
}

// TestLateMachine: a result that comes when another machine has played the game is
// left out.
func TestLateMachine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, games, _, err := h.owner.streams(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "late"} {
		p := h.pair(1)
		if p.Bouts[0].Position, err = catalog.Setup("amazons", "6x6", ""); err != nil {
			t.Fatal(err)
		}
		p.Bouts = p.Bouts[:1]
		m := &machine{name: name}
		if err := m.Play(h.ctx, p, func(g *match.Game) error { return h.owner.send(h.ctx, g, func(*match.Game) {}) }); err != nil {
			t.Fatal(err)
		}
	}
	r, err := h.owner.found(h.ctx, games, h.owner.gameSubject("m1-1-1"))
	if err != nil || r.Game.Place != "first" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestServerRestarts: with a server that restarts, and one that hangs for a while,
// nothing is lost.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	q, _ := h.queue()
	var once, again sync.Once
	h.serve(q, &machine{"one", func(_ context.Context, b match.Bout) error {
		if b.Pair == 2 {
			once.Do(func() { h.server.Signal(syscall.SIGKILL); h.server.Start() })
		}
		if b.Pair == 3 {
			again.Do(func() {
				h.server.Pause()
				time.Sleep(3 * time.Second)
				h.server.Continue()
			})
		}
		return nil
	}})
	if by := h.play(1, 2, 3, 4); len(by) != 8 {
		t.Errorf("played by %v", by)
	}
}

// TestNoRoom: a result for which the server has no room is sent until there is some: it is
// not taken for one that another machine has sent.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, games, _, err := h.owner.streams(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(bytes int64) {
		t.Helper()
		cfg := games.CachedInfo().Config
		cfg.MaxBytes = bytes
		if _, err := h.owner.js.UpdateStream(h.ctx, cfg); err != nil {
			t.Fatal(err)
		}
	}
	limit(1)
	subject := h.owner.gameSubject("m1-1-1")
	ctx, cancel := context.WithTimeout(h.ctx, 2*look)
	defer cancel()
	if err := h.owner.put(ctx, subject, []byte("result")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without room: %v, want %v", err, context.DeadlineExceeded)
	}
	limit(-1)
	if err := h.owner.put(h.ctx, subject, []byte("result")); err != nil {
		t.Fatal(err)
	}
	if data, err := h.owner.stored(h.ctx, games, subject); err != nil || string(data) != "result" {
		t.Errorf("stored: %q, %v", data, err)
	}
}

// TestUnplayable: what a machine can't play in several attempts comes back as an error,
// but not its passing trouble.
func TestUnplayable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	q, _ := h.queue()
	var tries atomic.Int32
	h.serve(q, &machine{"one", func(_ context.Context, b match.Bout) error {
		if n := tries.Add(1); b.Pair == 1 || n == maxFails+1 {
			return errors.New("no such rules")
		}
		return nil
	}})
	err := h.owner.Worker().Play(h.ctx, h.pair(1), func(*match.Game) error { return nil })
	if err == nil || err.Error() != "no such rules" || tries.Load() != maxFails {
		t.Errorf("%v after %d attempts", err, tries.Load())
	}
	h.empty("after an error") // or the next run could not play it, either
	if by := h.play(2); len(by) != 2 {
		t.Errorf("after one error: played by %v", by)
	}
	h.empty("after a pair that was played")
}

// TestUnreadableResult: a result that nobody can read, such as one of a newer build, ends
// no machine. The game has its result, and the machine plays the pair's other one.
func TestUnreadableResult(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p := h.pair(1)
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for subject, data := range map[string][]byte{h.owner.gameSubject(p.Bouts[0].ID): []byte("?"), h.owner.pairSubject("m1", 1): data} {
		if err := h.owner.put(h.ctx, subject, data); err != nil {
			t.Fatal(err)
		}
	}
	q, _ := h.queue()
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	var games []string
	err = q.Serve(ctx, 1, func() (campaign.Worker, error) { return &machine{name: "one"}, nil }, func(g *match.Game) {
		games = append(games, g.ID)
		cancel()
	})
	if !errors.Is(err, context.Canceled) || len(games) != 1 || games[0] != p.Bouts[1].ID {
		t.Errorf("played %v, and ended with %v", games, err)
	}
	if err := h.owner.Worker().Play(h.ctx, p, func(*match.Game) error { return nil }); err == nil {
		t.Error("the owner read it")
	}
}

// TestOtherVersion: pairs of which a machine has another version go to others, however
// often it was offered them. It says so once, and plays what it can play.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	q, _ := h.queue()
	const common = 5 // the pair that both machines can play
	var said, refused atomic.Int32
	q.say = func(format string, args ...any) { said.Add(1); t.Logf(format, args...) }
	played := make(chan struct{})
	h.serve(q, &machine{"stale", func(_ context.Context, b match.Bout) error {
		if b.Pair != common {
			refused.Add(1)
			return fmt.Errorf("a: %w", campaign.ErrVersion)
		}
		if b.Leg == 2 {
			close(played)
		}
		return nil
	}})
	go func() {
		select {
		case <-played:
		case <-h.ctx.Done():
			return
		}
		for refused.Load() <= maxFails*common && h.ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		q, _ := h.queue()
		h.serve(q, &machine{name: "good"})
	}()
	by := h.play(1, 2, 3, 4, common)
	for pair := 1; pair <= common; pair++ {
		want := "good"
		if pair == common {
			want = "stale"
		}
		if who := by[fmt.Sprintf("m1-%d-1", pair)]; who != want {
			t.Errorf("pair %d was played by %q, want %q", pair, who, want)
		}
	}
	if n := said.Load(); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// TestBegin withdraws the pairs that nobody wants any more.
func TestBegin(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, id := range []string{"m1", "m2"} {
		if err := h.owner.put(h.ctx, h.owner.pairSubject(id, 1), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.owner.Begin(h.ctx, map[string]bool{"m1": true}); err != nil {
		t.Fatal(err)
	}
	pairs, _, _, err := h.owner.streams(h.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"m1": true, "m2": false} {
		_, err := pairs.GetLastMsgForSubject(h.ctx, h.owner.pairSubject(id, 1))
		if got := err == nil; got != want || err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			t.Errorf("pair of %s is there: %t, %v", id, got, err)
		}
	}
}
