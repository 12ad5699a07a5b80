package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/protocol"
)

// The parts as processes of their own, on loopback: nats-server (its module's
// own main) on the shipped configs/nats.conf, an arena, and two bot processes.
// One of the bots is killed in mid-game; the other takes its seats, and all
// games are finished.
func TestSeparateProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes and plays three games: takes half a minute")
	}
	h := newFleet(t)
	h.build("sparring", ".")
	h.build("nats-server", "github.com/nats-io/nats-server/v2")
	url := h.startNATS()

	games := h.watch(url)
	arena := h.start("arena", "sparring", "arena").with(
		"SPARRING_NATS_URL="+url, "SPARRING_NATS_PASSWORD="+password("platform"),
		"SPARRING_LADDER_ON=true", "SPARRING_LADDER_ROUNDS=1", "SPARRING_LADDER_CLOCK=60+1")
	arena.run()
	bots := map[protocol.InstanceID]*process{}
	for _, id := range []protocol.InstanceID{"one", "two"} {
		bots[id] = h.start("bot "+string(id), "sparring", "bot").with(
			"SPARRING_NATS_URL="+url, "SPARRING_NATS_PASSWORD="+password("bots"),
			"SPARRING_INSTANCE="+string(id), "SPARRING_PROFILES="+h.quickPlayers(), "SPARRING_CORES=1", "SPARRING_HASH_MB=8",
			"SPARRING_DATA="+filepath.Join(h.dir, string(id)))
		bots[id].run()
	}

	// Kill one that plays, as soon as there are moves.
	victim, other := protocol.InstanceID("one"), protocol.InstanceID("two")
	var seats map[seatOf]bool
	h.wait("a game under way", func() bool {
		victim, other = other, victim
		seats = games.heldBy(victim)
		return len(seats) > 0
	})
	t.Logf("killing bot %s, which holds %v", victim, seats)
	bots[victim].kill()

	h.wait("all games finished", func() bool { return games.finished() == 3 })
	if n := h.records(url); n != 3 {
		t.Errorf("%d records are stored", n)
	}
	games.mu.Lock()
	defer games.mu.Unlock()
	for id, e := range games.last {
		t.Logf("game %s (%s): %s by %s after %d plies, index %d", id, e.Terms.Game, e.Outcome.Result, e.Outcome.Reason, len(e.Moves), e.Index)
		if e.Outcome.Result == game.Undecided || e.Outcome.Reason == protocol.ReasonTime || e.Outcome.Reason == protocol.ReasonAbandoned {
			t.Errorf("game %s ended as %+v", id, e.Outcome)
		}
		for seat, holder := range e.Holders {
			was := seats[seatOf{id, game.Seat(seat)}]
			if was && len(e.Moves) > games.plies[id]+10 && holder.Instance != other {
				t.Errorf("game %s: seat %v is held by %q, %s was killed", id, game.Seat(seat), holder.Instance, victim)
			}
		}
	}
	if games.taken == 0 {
		t.Errorf("no seat changed hands")
	}
	bots[other].end(syscall.SIGTERM)
	arena.end(syscall.SIGTERM)
}

// records waits for the records of the games and counts them.
func (h *fleet) records(url string) int {
	h.t.Helper()
	nc, err := protocol.Connect(protocol.Connection{URL: url, Name: "archivist", User: "platform", Password: password("platform"), Log: zerolog.Nop()})
	if err != nil {
		h.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		h.t.Fatal(err)
	}
	st, err := js.Stream(h.ctx, "sparring_records")
	if err != nil {
		h.t.Fatal(err)
	}
	var n uint64
	h.wait("the games' records", func() bool {
		info, err := st.Info(h.ctx)
		if err != nil {
			h.t.Fatal(err)
		}
		n = info.State.Msgs
		return n >= 3
	})
	return int(n)
}

// fleet starts processes and ends them with the test.
type fleet struct {
	t         *testing.T
	ctx       context.Context
	dir       string
	processes []*process
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return &fleet{t: t, ctx: ctx, dir: t.TempDir()}
}

func password(user string) string { return "secret-" + user }

func (h *fleet) build(name, pkg string) {
	h.t.Helper()
	out, err := exec.CommandContext(h.ctx, "go", "build", "-o", filepath.Join(h.dir, name), pkg).CombinedOutput()
	if err != nil {
		h.t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
}

// process is one of the fleet.
type process struct {
	h     *fleet
	name  string
	cmd   *exec.Cmd
	out   bytes.Buffer // whole once done is closed
	done  chan struct{}
	err   error // of its end, once done is closed
	slain bool  // killed by us
}

func (h *fleet) start(name, binary string, args ...string) *process {
	p := &process{h: h, name: name, done: make(chan struct{})}
	p.cmd = exec.CommandContext(h.ctx, filepath.Join(h.dir, binary), args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	// Nothing of the tester's own settings.
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SPARRING_") })
	return p
}

func (p *process) with(env ...string) *process {
	p.cmd.Env = append(p.cmd.Env, env...)
	return p
}

func (p *process) run() {
	p.h.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.h.t.Fatal(err)
	}
	p.h.processes = append(p.h.processes, p)
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	p.h.t.Cleanup(func() {
		p.kill()
		if p.h.t.Failed() {
			p.h.t.Logf("--- %s\n%s", p.name, tail(p.out.String(), 40))
		}
	})
}

func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	p.slain = true
	p.cmd.Process.Kill() // fails only when it is gone
	<-p.done
}

// end sends a signal, if the process has not ended by itself, and waits for a
// clean exit.
func (p *process) end(s os.Signal) {
	p.h.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.h.t.Fatalf("%s: %v", p.name, err)
	}
	select {
	case <-p.done:
		if p.err != nil {
			p.h.t.Errorf("%s ended with %v", p.name, p.err)
		}
	case <-time.After(30 * time.Second):
		p.h.t.Errorf("%s does not end", p.name)
	}
}

// startNATS starts the server on free ports and returns its URL.
func (h *fleet) startNATS() string {
	h.t.Helper()
	conf, err := filepath.Abs(filepath.Join(root, "configs/nats.conf"))
	if err != nil {
		h.t.Fatal(err)
	}
	p := h.start("nats-server", "nats-server", "-c", conf, "-a", "127.0.0.1", "-p", "-1", "-m", "-1", "--ports_file_dir", h.dir)
	p.cmd.Dir = h.dir // where the configuration's data/nats is to be
	for _, user := range []string{"platform", "bots", "guest", "watch"} {
		p.with("SPARRING_" + strings.ToUpper(user) + "_PASSWORD=" + password(user))
	}
	p.run()
	var ports struct {
		NATS []string `json:"nats"`
	}
	h.wait("the NATS server listens", func() bool {
		files, err := filepath.Glob(filepath.Join(h.dir, "*.ports"))
		if err != nil || len(files) != 1 {
			return false
		}
		data, err := os.ReadFile(files[0])
		return err == nil && json.Unmarshal(data, &ports) == nil && len(ports.NATS) > 0
	})
	return ports.NATS[0]
}

// quickPlayers writes the shipped players with few nodes a move: the games
// are about hand-over, not about strength.
func (h *fleet) quickPlayers() string {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "configs/bots.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	var file struct {
		Players []map[string]any `json:"players"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		h.t.Fatal(err)
	}
	for _, p := range file.Players {
		p["nodes"] = 40000
	}
	if data, err = json.Marshal(file); err != nil {
		h.t.Fatal(err)
	}
	path := filepath.Join(h.dir, "players.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// wait waits for a condition, as long as no process fails.
func (h *fleet) wait(what string, ok func() bool) {
	h.t.Helper()
	for !ok() {
		for _, p := range h.processes {
			select {
			case <-p.done:
				if p.err != nil && !p.slain {
					h.t.Fatalf("%s ended with %v, waiting for: %s", p.name, p.err, what)
				}
			default:
			}
		}
		select {
		case <-h.ctx.Done():
			h.t.Fatalf("waited in vain: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// spectator follows all games as anybody may.
type spectator struct {
	mu    sync.Mutex
	last  map[protocol.GameID]protocol.Event
	plies map[protocol.GameID]int // when heldBy was asked
	taken int                     // seats that another instance took
}

type seatOf struct {
	game protocol.GameID
	seat game.Seat
}

func (h *fleet) watch(url string) *spectator {
	h.t.Helper()
	nc, err := protocol.Connect(protocol.Connection{URL: url, Name: "spectator", User: "watch", Password: password("watch"), Log: zerolog.Nop()})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(nc.Close)
	s := &spectator{last: map[protocol.GameID]protocol.Event{}, plies: map[protocol.GameID]int{}}
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = nc.Subscribe(subjects.Watch("*"), func(msg *nats.Msg) {
		e, refusal := protocol.Decode[protocol.Event](msg.Data, protocol.Limits{MessageBytes: 1 << 20, Nesting: 16})
		if refusal != nil {
			h.t.Errorf("%s: an event that is none: %v", msg.Subject, refusal)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		before, known := s.last[e.Game]
		if known && e.Index != before.Index+1 {
			h.t.Errorf("game %s: event %d follows %d", e.Game, e.Index, before.Index)
		}
		if e.Kind == protocol.EventSeat && e.Seat != nil && e.Holders[*e.Seat].Instance != "" {
			s.taken++
		}
		s.last[e.Game] = e
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		h.t.Fatal(err)
	}
	return s
}

// count counts games by their last event.
func (s *spectator) count(ok func(protocol.Event) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.last {
		if ok(e) {
			n++
		}
	}
	return n
}

func (s *spectator) finished() int {
	return s.count(func(e protocol.Event) bool { return e.Status == protocol.Finished })
}

// heldBy are the seats that an instance holds in running games, of which some
// moves have been made.
func (s *spectator) heldBy(id protocol.InstanceID) map[seatOf]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := map[seatOf]bool{}
	for g, e := range s.last {
		s.plies[g] = len(e.Moves)
		for seat, holder := range e.Holders {
			if e.Status == protocol.Playing && len(e.Moves) >= 2 && holder.Instance == id {
				held[seatOf{g, game.Seat(seat)}] = true
			}
		}
	}
	return held
}

func (s seatOf) String() string { return fmt.Sprintf("%s/%s", s.game, s.seat) }
