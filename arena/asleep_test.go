package arena

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/livegame"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

// The environment of a test process that is an arena.
const (
	arenaURL      = "SPARRING_TEST_ARENA_URL"
	arenaPassword = "SPARRING_TEST_ARENA_PASSWORD"
	arenaLadder   = "SPARRING_TEST_ARENA_LADDER" // not empty: it pairs the ladder
	arenaKeep     = "SPARRING_TEST_ARENA_KEEP"   // not empty: it removes old logs
)

// runArenaProcess is the main function of such a process.
func runArenaProcess(url string) {
	log := zerolog.New(os.Stderr)
	nc, err := protocol.Connect(protocol.Connection{URL: url, User: "platform", Password: os.Getenv(arenaPassword), Log: log})
	if err != nil {
		log.Fatal().Err(err).Msg("no connection")
	}
	cfg := quick()
	if os.Getenv(arenaLadder) != "" {
		cfg = takenUpConfig()
	}
	if os.Getenv(arenaKeep) != "" {
		cfg.Retention = removing(1)
	}
	a, err := New(context.Background(), nc, cfg, log)
	if err == nil {
		err = a.Run(context.Background())
	}
	log.Fatal().Err(err).Msg("the arena ends")
}

// startArenaProcess runs an arena in a process of its own.
func startArenaProcess(t *testing.T, url, password string, env ...string) *os.Process {
	t.Helper()
	arena := exec.Command(os.Args[0])
	arena.Env = append(append(os.Environ(), env...), arenaURL+"="+url, arenaPassword+"="+password)
	if testing.Verbose() {
		arena.Stderr = os.Stderr
	}
	if err := arena.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Process.Kill(); arena.Wait() })
	return arena.Process
}

// stopLonger is how long the tests stop a process: longer than the clocks have left.
const (
	left       = 3 * time.Second
	stopLonger = left + time.Second
)

// stopped plays a game during which a process is stopped while a move is on its way,
// and checks that this costs nobody the game, nor the seat.
func stopped(t *testing.T, srv platform, pause, resume func()) {
	t.Helper()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	halt := make(chan struct{}) // closed when the game may go on
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) {
			p.play = func(st protocol.State) {
				if len(st.Moves) < 4 {
					p.random(st)
					return
				}
				p.spawn(func() { <-halt; p.random(st) })
			}
		})
	}
	g := ann.challenge("bob", small(t, left.String()[:1]), game.First)
	for _, p := range []*player{ann, bob} {
		p.until(g, "some moves", plies(4))
	}
	pause()
	close(halt)
	time.Sleep(stopLonger)
	resume()
	st := ann.until(g, "the end", finished)
	if st.Outcome.Reason != game.NoMoves {
		t.Errorf("the game ended by %s", st.Outcome.Reason)
	}
	for seat, h := range st.Holders {
		if h.Epoch != 1 {
			t.Errorf("seat %d is in epoch %d", seat, h.Epoch)
		}
	}
}

// An arena that is stopped for longer than a clock has left, as by a pause of its
// machine, costs nobody anything.
func TestStoppedArena(t *testing.T) {
	t.Parallel()
	srv, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Port: embedded.RandomPort, Log: zerolog.Nop(), Players: []protocol.PlayerID{"ann", "bob"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	arena := startArenaProcess(t, srv.URL(), srv.Password("platform"))
	stopped(t, srv, func() { arenatest.Pause(t, arena) }, func() { arenatest.Continue(t, arena) })
}

// Neither does a NATS server that hangs.
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	runArena(t, p, quick())
	stopped(t, p, p.Pause, p.Continue)
}

// An arena that is stopped for longer than its lease has lost its games to another one.
// When it goes on, it rules on them no more, and tells nobody what it knew of them.
func TestStoppedArenaHasLostItsGames(t *testing.T) {
	t.Parallel()
	srv, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Port: embedded.RandomPort, Log: zerolog.Nop(), Players: []protocol.PlayerID{"ann", "bob"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	first := startArenaProcess(t, srv.URL(), srv.Password("platform"))
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	halt := make(chan struct{}) // closed when the game may go on
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) {
			p.play = func(st protocol.State) {
				p.spawn(func() {
					time.Sleep(200 * time.Millisecond)
					if len(st.Moves) >= 4 {
						<-halt
					}
					p.random(st)
				})
			}
		})
	}
	g := ann.challenge("bob", small(t, "3+1"), game.First)
	bob.until(g, "some moves", plies(2))
	second := runArena(t, srv, quick())
	var told struct {
		sync.Mutex
		latest uint64 // the highest sequence of a state
		old    []uint64
	}
	sub, err := arenatest.Connect(t, srv.Platform()).Subscribe(second.server.Subjects().ToGame("*", g), func(msg *nats.Msg) {
		var st protocol.State
		if err := json.Unmarshal(msg.Data, &st); err != nil {
			t.Error(err)
		}
		told.Lock()
		defer told.Unlock()
		if told.latest = max(told.latest, st.Seq); st.Seq < told.latest {
			told.old = append(told.old, st.Seq)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	// What it was sending when it was stopped may come late: it must have told both.
	for _, p := range []*player{ann, bob} {
		p.until(g, "the move before the stop", plies(4))
	}
	arenatest.Pause(t, first)
	close(halt)
	time.Sleep(stopLonger)
	gametest.Eventually(t, "the game is taken over", func() bool {
		e, _, err := second.store.lastEvent(t.Context(), g)
		return err == nil && e.Term == 2
	})
	arenatest.Continue(t, first)
	if st := ann.until(g, "the end", finished); st.Outcome.Reason != game.NoMoves {
		t.Errorf("the game ended by %s", st.Outcome.Reason)
	}
	time.Sleep(2 * quick().LeaseFor) // the first has noticed
	for _, e := range whole(t, second.store, g) {
		if e.Term > 2 {
			t.Errorf("entry %d is of term %d", e.Index, e.Term)
		}
	}
	told.Lock()
	defer told.Unlock()
	if len(told.old) > 0 {
		t.Errorf("states of entries %v were told after that of a later one", told.old)
	}
}

// Outages are found by the answers to pings alone.
func TestReach(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	r := &reach{until: start}
	r.answered(at(50*time.Millisecond), at(60*time.Millisecond))
	if l := r.outage(at(100 * time.Millisecond)); l != (outage{}) || r.heardUntil() != at(50*time.Millisecond) {
		t.Errorf("%+v after a quick answer, heard until %v", l, r.heardUntil().Sub(start))
	}
	if l := r.outage(at(time.Second)); l != (outage{at(50 * time.Millisecond), at(time.Second)}) {
		t.Errorf("without an answer: %+v", l)
	}
	r.answered(at(1900*time.Millisecond), at(2*time.Second)) // earlier pings got none
	want := outage{at(50 * time.Millisecond), at(2 * time.Second)}
	if l := r.outage(at(2100 * time.Millisecond)); l != want || r.heardUntil() != at(1900*time.Millisecond) {
		t.Errorf("after an answer %+v, want %+v; heard until %v", l, want, r.heardUntil().Sub(start))
	}
	// Of the time since somebody was heard the outages do not count.
	r.answered(at(3*time.Second), at(3*time.Second+10*time.Millisecond)) // an outage from 1.9 s
	r.answered(at(3200*time.Millisecond), at(3200*time.Millisecond))
	for heard, want := range map[time.Duration]time.Duration{
		3100 * time.Millisecond: 100 * time.Millisecond,
		2500 * time.Millisecond: 190 * time.Millisecond, // behind the outage
		20 * time.Millisecond:   220 * time.Millisecond, // and before the first
	} {
		if got := r.silence(at(heard)); got != want {
			t.Errorf("silent for %v since %v, want %v", got, heard, want)
		}
	}
	r.answered(at(2*time.Minute), at(2*time.Minute))
	r.answered(at(4*time.Minute), at(4*time.Minute))
	if len(r.outages) != 1 {
		t.Errorf("%d outages are remembered, want the last one", len(r.outages))
	}
}

// A process that was stopped while a ping was under way sees two outages, which are one piece of news.
func TestLapseIsNews(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	r := &reach{until: start}
	want := func(now time.Duration, want bool) {
		t.Helper()
		if l := r.outage(at(now)); r.news(l) != want {
			t.Errorf("after %v: an outage of %v from %v is news: %t", now, l.to.Sub(l.from), l.from.Sub(start), !want)
		}
	}
	want(4900*time.Millisecond, true)
	want(4900*time.Millisecond, false)                     // to another game
	r.answered(at(50*time.Millisecond), at(5*time.Second)) // a ping from before the stop
	want(5*time.Second, false)
	r.answered(at(5010*time.Millisecond), at(5020*time.Millisecond))
	want(5020*time.Millisecond, false)
	want(7*time.Second, true)
}

// A referee that a busy machine kept from looking for a while charges nobody for all the
// outages since, not only for the last one.
func TestEveryLapseIsUncharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := livegame.Opening{Game: "g1", Terms: small(t, "60")}
		o.Holders[0], o.Holders[1] = protocol.Holder{Player: "ann", Instance: "a1"}, protocol.Holder{Player: "bob", Instance: "b1"}
		live, _, refused := livegame.New(o, livegame.DefaultPolicy(), start)
		if refused != nil {
			t.Fatal(refused)
		}
		live.Commit(1, start)
		r := &referee{a: &Arena{cfg: quick(), reach: &reach{until: start}}, game: live, uncharged: start}
		for range 4 { // an answer after 0.3 s, and one soon after it
			time.Sleep(300 * time.Millisecond)
			r.a.reach.answered(time.Now(), time.Now())
			time.Sleep(200 * time.Millisecond)
			r.a.reach.answered(time.Now(), time.Now())
		}
		for range 2 { // the second time changes nothing
			r.checkOutage()
		}
		if left := live.Snapshot(time.Now()).Clocks.Seats[0].LeftMS; left != 60_000-4*200 {
			t.Errorf("%d ms are left, want %d", left, 60_000-4*200)
		}
		for range 2 { // one is under way: no part of it is taken off twice
			time.Sleep(400 * time.Millisecond)
			if r.checkOutage(); r.uncharged != time.Now() {
				t.Errorf("uncharged up to %v ago", time.Since(r.uncharged))
			}
			if left := live.Snapshot(time.Now()).Clocks.Seats[0].LeftMS; left != 60_000-4*200 {
				t.Errorf("%d ms are left in an outage, want %d", left, 60_000-4*200)
			}
		}
	})
}

// Shortly after an outage a silence is forgiven, until it has lasted very long.
func TestGone(t *testing.T) {
	t.Parallel()
	start := time.Now()
	r := &reach{until: start}
	quick := func(from, to time.Duration) {
		for d := from; d <= to; d += 200 * time.Millisecond {
			r.answered(start.Add(d), start.Add(d))
		}
	}
	check := func(want bool) {
		t.Helper()
		if got := r.gone(start, time.Second); got != want {
			t.Errorf("silent for %v of %v: gone %v", r.silence(start), r.heardUntil().Sub(start), got)
		}
	}
	quick(0, 800*time.Millisecond)
	check(false)
	quick(time.Second, 1200*time.Millisecond)
	check(true)
	quick(1500*time.Millisecond, 2500*time.Millisecond) // an outage of 0.3 s
	check(false)
	quick(2700*time.Millisecond, 2700*time.Millisecond)
	check(true)
	for d := 3 * time.Second; d <= 4*time.Second; d += 500 * time.Millisecond { // one after the other
		r.answered(start.Add(d), start.Add(d))
		check(false)
	}
	quick(4100*time.Millisecond, 4100*time.Millisecond)
	check(true)
}
