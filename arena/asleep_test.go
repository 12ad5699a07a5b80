package arena

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/protocol"
	"sparring/protocol/embedded"
)

// The environment of a test process that is an arena.
const (
	arenaURL      = "SPARRING_TEST_ARENA_URL"
	arenaPassword = "SPARRING_TEST_ARENA_PASSWORD"
)

// runArenaProcess is the main function of such a process.
func runArenaProcess(url string) {
	log := zerolog.New(os.Stderr)
	nc, err := protocol.Connect(protocol.Connection{URL: url, User: "platform", Password: os.Getenv(arenaPassword), Log: log})
	if err != nil {
		log.Fatal().Err(err).Msg("no connection")
	}
	a, err := New(context.Background(), nc, quick(), log)
	if err == nil {
		err = a.Run(context.Background())
	}
	log.Fatal().Err(err).Msg("the arena ends")
}

// An arena that is stopped for longer than a clock has left, as by a pause of its
// machine, costs nobody the game, nor the seat.
func TestStoppedProcess(t *testing.T) {
	t.Parallel()
	srv, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Port: embedded.RandomPort, Log: zerolog.Nop(), Players: []protocol.PlayerID{"ann", "bob"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	arena := exec.Command(os.Args[0])
	arena.Env = append(os.Environ(), arenaURL+"="+srv.URL(), arenaPassword+"="+srv.Password("platform"))
	if testing.Verbose() {
		arena.Stderr = os.Stderr
	}
	if err := arena.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { arena.Process.Kill(); arena.Wait() })
	signal := func(s os.Signal) {
		if err := arena.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}

	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	const left = 8 * time.Second
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) {
			p.play = func(st protocol.State) {
				if len(st.Moves) < 4 {
					p.random(st)
				}
			}
		})
	}
	g := ann.challenge("bob", small(t, "8"), game.First)
	for _, p := range []*player{ann, bob} {
		p.until(g, "some moves", plies(4))
	}
	signal(syscall.SIGSTOP)
	time.Sleep(left + 2*time.Second)
	signal(syscall.SIGCONT)
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = p.random })
		p.mu.Lock()
		st := *p.games[g]
		p.mu.Unlock()
		p.random(st)
	}
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
