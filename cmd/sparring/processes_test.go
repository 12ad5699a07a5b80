package main

import (
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

	"sparring/arena"
	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// TestSeparateProcesses runs the parts as separate processes on loopback:
// nats-server with the shipped configs/nats.conf, an arena that plays one round of
// the ladder, and bots. One of them is killed during the games.
func TestSeparateProcesses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and plays six games: takes half a minute")
	}
	for name, test := range map[string]func(*testing.T, *fleet){
		"bot killed": killBot, "server killed": killServer, "disk full": fillDisk,
		"operator": operate, "rolling upgrade": upgrade, "analyst killed": killAnalyst,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newFleet(t))
		})
	}
}

// killBot kills one of two bot processes. The other takes its seats and finishes all
// games.
func killBot(t *testing.T, h *fleet) {
	_, url := h.startNATS(0)
	games, tap := h.watch(url), h.tap(url)
	arena := h.startArena(url)
	bots := map[protocol.InstanceID]*process{"one": h.startBot(url, "one"), "two": h.startBot(url, "two")}

	// Kill one that is playing, after the first moves.
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
	tap.report()
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

// killServer kills the NATS server and starts it again on the same data. The games
// are finished, and no player loses on time because of it.
func killServer(t *testing.T, h *fleet) {
	port := gametest.FreePort(t)
	server, url := h.startNATS(port)
	games := h.watch(url)
	games.gaps = true
	arena, b := h.startArena(url), h.startBot(url, "one")
	h.wait("a game under way", func() bool { return len(games.heldBy("one")) > 0 })
	server.kill()
	h.wait("the spectator loses its connection", func() bool { return !games.nc.IsConnected() })
	h.startNATS(port)

	h.endWell(t, url)
	b.end(syscall.SIGTERM)
	arena.end(syscall.SIGTERM)
	for _, p := range []*process{b, arena} {
		if !strings.Contains(p.out.String(), "reconnected") {
			t.Errorf("%s did not lose its connection", p.name)
		}
	}
}

// fillDisk fills the disk of the NATS server in mid-round. Every game ends by its own
// moves, and no end is told before it is stored.
func fillDisk(t *testing.T, h *fleet) {
	disk := arenatest.NewSmallDisk(t, "24m")
	port := gametest.FreePort(t)
	own := h.dir
	h.dir = disk.Dir
	server, url := h.startNATS(port)
	h.dir = own
	games := h.watch(url)
	games.gaps = true
	arena, b := h.startArena(url, "SPARRING_LADDER_CLOCK=20+0.5"), h.startBot(url, "one")
	h.wait("three games under way", func() bool { return len(games.heldBy("one")) == 6 })
	h.wait("the ends that are held back", func() bool {
		disk.Fill()
		return strings.Count(arena.out.String(), "nobody is told until that is stored") == 3
	})
	if n := strings.Count(b.out.String(), "game end"); n != 0 {
		t.Errorf("%d ends were told before they were stored", n)
	}
	disk.Empty()
	server.kill()
	h.dir = disk.Dir
	h.startNATS(port)
	h.dir = own
	h.endWell(t, url)
	h.wait("the ends in the bot's log", func() bool { return strings.Count(b.out.String(), "game end") == 6 })
	b.end(syscall.SIGTERM)
	arena.end(syscall.SIGTERM)
}

// endWell waits until three games have ended, by themselves, and are recorded. It asks
// the records: a spectator may have been without its connection when an end was told.
func (h *fleet) endWell(t *testing.T, url string) {
	t.Helper()
	if n := h.records(url); n != 3 { // also waits for the games
		t.Errorf("%d records are stored", n)
	}
	nc, err := protocol.Connect(protocol.Connection{URL: url, Name: "archivist", User: "platform", Password: password("platform"), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range arena.Records(h.ctx, nc, subjects) {
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("game %s (%s): %s by %s after %d plies", r.ID, r.Game, r.Result, r.Reason, len(r.Plies))
		if r.Result == game.Undecided || r.Reason == protocol.ReasonTime || r.Reason == protocol.ReasonAbandoned {
			t.Errorf("game %s ended as %s by %s", r.ID, r.Result, r.Reason)
		}
	}
}

// startArena starts an arena that plays one round of the ladder.
func (h *fleet) startArena(url string, env ...string) *process {
	h.t.Helper()
	p := h.prepareArena(url, env...)
	p.run()
	return p
}

// prepareArena is startArena without the start.
func (h *fleet) prepareArena(url string, env ...string) *process {
	return h.start("arena", "sparring", "arena").with(
		"SPARRING_NATS_URL="+url, "SPARRING_NATS_PASSWORD="+password("platform"),
		"SPARRING_LADDER_ON=true", "SPARRING_LADDER_ROUNDS=1", "SPARRING_LADDER_CLOCK=60+1").with(env...)
}

// startBot starts a bot process that acts for all the shipped players.
func (h *fleet) startBot(url string, id protocol.InstanceID, env ...string) *process {
	h.t.Helper()
	p := h.prepareBot(url, id, env...)
	p.run()
	return p
}

// prepareBot is startBot without the start.
func (h *fleet) prepareBot(url string, id protocol.InstanceID, env ...string) *process {
	h.t.Helper()
	return h.start("bot "+string(id), "sparring", "bot").with(
		"SPARRING_NATS_URL="+url, "SPARRING_NATS_PASSWORD="+password("bots"),
		"SPARRING_INSTANCE="+string(id), "SPARRING_PROFILES="+quickPlayers(h.t, 5*quickNodes), "SPARRING_CORES=1", "SPARRING_HASH_MB=8",
		"SPARRING_DATA="+filepath.Join(h.dir, string(id))).with(env...)
}

// records waits for the records of the games and counts them.
func (h *fleet) records(url string) int {
	h.t.Helper()
	js, done := h.jetStream(url)
	defer done()
	var n uint64
	h.wait("the games' records", func() bool {
		// A request that the server's restart swallowed is never answered.
		ctx, cancel := context.WithTimeout(h.ctx, 30*time.Second)
		defer cancel()
		st, err := js.Stream(ctx, "sparring_records")
		if err != nil {
			h.t.Log(err)
			return false
		}
		n = st.CachedInfo().State.Msgs
		return n >= 3
	})
	return int(n)
}

// jetStream connects to the platform's streams. Call done at the end.
func (h *fleet) jetStream(url string) (js jetstream.JetStream, done func()) {
	h.t.Helper()
	nc, err := protocol.Connect(protocol.Connection{URL: url, Name: "archivist", User: "platform", Password: password("platform"), Log: zerolog.Nop()})
	if err != nil {
		h.t.Fatal(err)
	}
	if js, err = jetstream.New(nc); err != nil {
		h.t.Fatal(err)
	}
	return js, nc.Close
}

// fleet starts processes and ends them with the test.
type fleet struct {
	t         *testing.T
	ctx       context.Context
	dir       string // of the processes' files
	processes []*process
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	ctx := gametest.Context(t)
	return &fleet{t: t, ctx: ctx, dir: t.TempDir()}
}

func password(user string) string { return "secret-" + user }

// process is one of the fleet.
type process struct {
	h     *fleet
	name  string
	cmd   *exec.Cmd
	out   *page
	done  chan struct{}
	err   error // exit status, when done is closed
	slain bool  // killed by the test
}

func (h *fleet) start(name, command string, args ...string) *process {
	p := &process{h: h, name: name, out: newPage(), done: make(chan struct{})}
	p.cmd = exec.CommandContext(h.ctx, command, args...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	// Without the settings of the user who runs the test.
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

// kill kills the process, like kill -9.
func (p *process) kill() {
	p.slain = true
	p.cmd.Process.Kill() // fails only if it has ended
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
	case <-time.After(patience):
		p.h.t.Errorf("%s does not end", p.name)
	}
}

// startNATS starts the server and returns its URL. Port 0 is any free port. All
// servers of a test have the same data.
func (h *fleet) startNATS(port int) (p *process, url string) {
	h.t.Helper()
	conf, err := filepath.Abs(filepath.Join(root, "configs/nats.conf"))
	if err != nil {
		h.t.Fatal(err)
	}
	return h.startServer(h.dir, conf, port)
}

// startServer starts a server with a configuration in a directory, where its data is.
func (h *fleet) startServer(dir, conf string, port int) (p *process, url string) {
	h.t.Helper()
	if port == 0 {
		port = -1
	}
	ports := h.t.TempDir() // where the server writes its ports
	p = h.start("nats-server", "nats-server", "-c", conf, "-a", "127.0.0.1", "-p", fmt.Sprint(port), "-m", "-1", "--ports_file_dir", ports)
	p.cmd.Dir = dir
	for _, user := range []string{"platform", "bots", "guest", "watch"} {
		p.with("SPARRING_" + strings.ToUpper(user) + "_PASSWORD=" + password(user))
	}
	p.run()
	var listens struct {
		NATS []string `json:"nats"`
		TLS  []string `json:"tls"`
	}
	h.wait("the NATS server listens", func() bool {
		files, err := filepath.Glob(filepath.Join(ports, "*.ports"))
		if err != nil || len(files) != 1 {
			return false
		}
		data, err := os.ReadFile(files[0])
		return err == nil && json.Unmarshal(data, &listens) == nil && len(listens.NATS)+len(listens.TLS) > 0
	})
	return p, append(listens.NATS, listens.TLS...)[0]
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
			h.t.Fatalf("timed out waiting for: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// spectator follows all games as user watch.
type spectator struct {
	nc    *nats.Conn
	mu    sync.Mutex
	last  map[protocol.GameID]protocol.Event
	plies map[protocol.GameID]int // at the call of heldBy
	taken int                     // seats taken by another instance
	gaps  bool                    // events may be missed
	each  func(protocol.Event)    // called with every event; nil: not
}

type seatOf struct {
	game protocol.GameID
	seat game.Seat
}

func (h *fleet) watch(url string) *spectator {
	h.t.Helper()
	return h.watchAs(protocol.Connection{URL: url, Name: "spectator", User: "watch", Password: password("watch")})
}

// watchAs is watch for another user.
func (h *fleet) watchAs(c protocol.Connection) *spectator {
	h.t.Helper()
	s := &spectator{last: map[protocol.GameID]protocol.Event{}, plies: map[protocol.GameID]int{}}
	s.connect(h, c)
	return s
}

// connect lets the spectator follow the games over one more connection.
func (s *spectator) connect(h *fleet, c protocol.Connection) {
	h.t.Helper()
	c.Log = zerolog.Nop()
	nc, err := protocol.Connect(c)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(nc.Close)
	s.nc = nc
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		h.t.Fatal(err)
	}
	_, err = nc.Subscribe(subjects.Watch("*"), func(msg *nats.Msg) {
		e, refusal := protocol.Decode[protocol.Event](msg.Data, protocol.Limits{MessageBytes: 1 << 20, Nesting: 16})
		if refusal != nil {
			h.t.Errorf("%s: an invalid event: %v", msg.Subject, refusal)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		before, known := s.last[e.Game]
		if s.gaps && known && e.Index <= before.Index {
			return // over another connection before
		}
		if s.each != nil {
			s.each(e)
		}
		if !s.gaps && known && e.Index != before.Index+1 {
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

// heldBy returns the seats that an instance holds in running games with some moves.
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
