package arena

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/protocol"
	"sparring/protocol/embedded"
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
		cfg.Keep = removing(1)
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
func stopped(t *testing.T, srv platform, signal func(os.Signal)) {
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
				p.wg.Go(func() { <-halt; p.random(st) })
			}
		})
	}
	g := ann.challenge("bob", small(t, left.String()[:1]), game.First)
	for _, p := range []*player{ann, bob} {
		p.until(g, "some moves", plies(4))
	}
	signal(syscall.SIGSTOP)
	close(halt)
	time.Sleep(stopLonger)
	signal(syscall.SIGCONT)
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
	stopped(t, srv, func(s os.Signal) { arenatest.Signal(t, arena, s) })
}

// Neither does a NATS server that hangs.
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	p := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	runArena(t, p, quick())
	stopped(t, p, p.Signal)
}

// Lapses are found by the answers to pings alone.
func TestReach(t *testing.T) {
	t.Parallel()
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	r := &reach{until: start}
	r.answered(at(50*time.Millisecond), at(60*time.Millisecond))
	if l := r.lapse(at(100 * time.Millisecond)); l != (lapse{}) || r.heardUntil() != at(50*time.Millisecond) {
		t.Errorf("%+v after a quick answer, heard until %v", l, r.heardUntil().Sub(start))
	}
	if l := r.lapse(at(time.Second)); l != (lapse{at(50 * time.Millisecond), at(time.Second)}) {
		t.Errorf("without an answer: %+v", l)
	}
	r.answered(at(1900*time.Millisecond), at(2*time.Second)) // earlier pings got none
	want := lapse{at(50 * time.Millisecond), at(2 * time.Second)}
	if l := r.lapse(at(2100 * time.Millisecond)); l != want || r.heardUntil() != at(1900*time.Millisecond) {
		t.Errorf("after an answer %+v, want %+v; heard until %v", l, want, r.heardUntil().Sub(start))
	}
}
