package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/protocol"
)

var (
	upgradeBots   = flag.Int("upgrade.bots", 2, "bot processes at a time in the rolling upgrade of TestSeparateProcesses")
	upgradeRounds = flag.Int("upgrade.rounds", 1, "how often the rolling upgrade replaces all of them, and the arena")
	previous      = flag.String("upgrade.from", "", "commit of the build that the rolling upgrade begins with, such as HEAD~1; empty: this one")
)

// operator runs a command of the operator in this process, since tests ask again and again,
// and returns its standard output.
func (h *fleet) operator(url string, args ...string) (string, error) {
	h.t.Helper()
	var out, errs bytes.Buffer
	server := strings.Replace(url, "://", "://platform:"+password("platform")+"@", 1)
	if code := run(slices.Concat([]string{"fleet"}, args, []string{"--nats", server}), strings.NewReader(""), &out, &errs); code != exitOK {
		return out.String(), fmt.Errorf("sparring fleet %s: exit code %d\n%s%s", strings.Join(args, " "), code, out.String(), errs.String())
	}
	return out.String(), nil
}

// asked runs a command of the operator that must succeed, and decodes its output.
func (h *fleet) asked(into any, url string, args ...string) {
	h.t.Helper()
	out, err := h.operator(url, append(args, "--json")...)
	if err == nil {
		err = json.Unmarshal([]byte(out), into)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// list returns what sparring fleet ls shows: nothing if no process answers.
func (h *fleet) list(url string) (v fleetView) {
	h.t.Helper()
	out, err := h.operator(url, "ls", "--json")
	if err != nil && strings.Contains(err.Error(), "no process of a fleet answered") {
		return v
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &v)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// mode returns the mode of a bot process; "" if it does not answer.
func (v fleetView) mode(id protocol.InstanceID) protocol.Mode {
	for _, r := range v.Reports {
		if r.Instance == id {
			return r.Mode
		}
	}
	return ""
}

// operate uses every verb of the operator on real processes.
func operate(t *testing.T, h *fleet) {
	_, url := h.startNATS(0)
	games := h.watch(url)
	if _, err := h.operator(url, "ls", "--timeout", "300ms"); err == nil || !strings.Contains(err.Error(), "no process of a fleet answered") {
		t.Errorf("without a fleet: %v", err)
	}
	h.startArena(url, "SPARRING_LADDER_ROUNDS=0", "SPARRING_ARENA_NAME=main")
	one := h.startBot(url, "one")
	two := h.startBot(url, "two", "SPARRING_DATA="+filepath.Join(h.dir, "two"))
	h.wait("all processes answer", func() bool {
		v := h.list(url)
		return len(v.Reports) == 3 && len(v.Silent)+len(v.Others) == 0
	})
	if out, err := h.operator(url, "ls"); err != nil || strings.Count(out, "running") != 3 || !strings.Contains(out, "one") || !strings.Contains(out, "main") {
		t.Errorf("ls: %s %v", out, err)
	}
	for name, env := range map[string]string{"guest": "SPARRING_NATS_USER=guest", "spectator": "SPARRING_NATS_USER=watch", "bots": "SPARRING_NATS_USER=bots"} {
		user := strings.TrimPrefix(env, "SPARRING_NATS_USER=")
		cmd := exec.CommandContext(h.ctx, "sparring", "fleet", "pause", "one")
		cmd.Env = append(one.cmd.Env[:0:0], "SPARRING_NATS_URL="+url, env, "SPARRING_NATS_PASSWORD="+password(user), "HOME="+h.dir)
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("%s paused a bot: %s", name, out)
		}
	}
	if v := h.list(url); v.mode("one") != protocol.ModeRunning {
		t.Errorf("one is %q after others tried to pause it", v.mode("one"))
	}

	// A paused process is paused again after kill -9.
	var done []controlled
	h.asked(&done, url, "pause", "one", "--why", "new disk")
	if len(done) != 1 || done[0].Report.Mode != protocol.ModePaused {
		t.Errorf("pause: %+v", done)
	}
	one.kill()
	h.startBot(url, "one")
	h.wait("the paused process is back", func() bool { return h.list(url).mode("one") == protocol.ModePaused })
	h.asked(&done, url, "resume", "one")
	if h.list(url).mode("one") != protocol.ModeRunning {
		t.Error("resumed, but not running")
	}

	// A process that hangs is listed.
	arenatest.Pause(t, two.cmd.Process)
	v := h.list(url)
	if len(v.Silent) != 1 || v.Silent[0].Instance != "two" || v.mode("two") != "" {
		t.Errorf("a process that was stopped: %+v, %+v", v.Silent, v.Reports)
	}
	if out, err := h.operator(url, "ls"); err != nil || !strings.Contains(out, "two DOES NOT ANSWER") {
		t.Errorf("ls: %s %v", out, err)
	}
	if out, err := h.operator(url, "pause", "two", "--timeout", "500ms"); err == nil {
		t.Errorf("a process that hangs was paused: %s", out)
	}
	arenatest.Continue(t, two.cmd.Process)
	h.wait("it answers again", func() bool { return h.list(url).mode("two") != "" })
	h.asked(&done, url, "resume", "--all")

	out, err := h.operator(url, "top", "--rounds", "2", "--every", "300ms", "--json")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); err != nil || len(lines) != 2 || !json.Valid([]byte(lines[1])) {
		t.Errorf("top: %s %v", out, err)
	}

	// The operator ends a game.
	var g protocol.GameID
	h.wait("a game under way", func() bool {
		games.mu.Lock()
		defer games.mu.Unlock()
		for id, e := range games.last {
			if e.Status == protocol.Playing && len(e.Moves) < 10 {
				g = id
			}
		}
		return g != ""
	})
	if _, err := h.operator(url, "abort", string(g), "--why", "a test"); err != nil {
		games.mu.Lock()
		last := games.last[g]
		games.mu.Unlock()
		if last.Outcome.Reason == protocol.ReasonVoid || !strings.Contains(err.Error(), "has ended") { // it may have ended by itself
			t.Error(err)
		}
	} else {
		h.wait("the end of the game", func() bool {
			return games.count(func(e protocol.Event) bool { return e.Game == g && e.Outcome.Reason == protocol.ReasonVoid }) == 1
		})
	}
	if out, err := h.operator(url, "abort", "nothing"); err == nil || !strings.Contains(err.Error(), "no such game") {
		t.Errorf("abort of an unknown game: %s %v", out, err)
	}

	h.asked(&done, url, "drain", "--all", "--wait")
	v = h.list(url)
	if len(v.Reports) != 1 || v.Reports[0].Arena == nil || len(v.Silent) != 0 {
		t.Errorf("after the drain: %+v, silent %+v", v.Reports, v.Silent)
	}
}

// upgrade replaces all bot processes and the arena, one after another, while they play.
// No game is lost, doubled, or lost on time.
func upgrade(t *testing.T, h *fleet) {
	old := "sparring"
	if *previous != "" {
		old = h.build(*previous)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+*upgradeRounds)*5*time.Minute)
	t.Cleanup(cancel)
	h.ctx = ctx
	_, url := h.startNATS(0)
	games := h.watch(url)
	n := 0 // processes so far
	start := func(binary, kind string, env ...string) *process {
		n++
		name := fmt.Sprintf("%s%d", kind, n)
		p := h.prepareBot(url, protocol.InstanceID(name), "SPARRING_SLOTS=4", "SPARRING_MATCH_ON=true", "SPARRING_MATCH_INTERVAL=1s", "SPARRING_MATCH_LONGEST=2s")
		if kind == "arena" {
			p = h.prepareArena(url, "SPARRING_LADDER_ROUNDS=0", "SPARRING_LADDER_PAUSE=1ms", "SPARRING_ARENA_NAME="+name)
		}
		p.name = name
		if binary != "sparring" {
			p.cmd.Path = binary
		}
		p.with(env...)
		p.run()
		return p
	}
	arena := start(old, "arena")
	var bots []*process
	for range *upgradeBots {
		bots = append(bots, start(old, "bot"))
	}
	playing := func(p *process) func() bool {
		return func() bool { return len(games.heldBy(protocol.InstanceID(p.name))) > 0 }
	}
	for round := range *upgradeRounds {
		for i, p := range bots {
			h.wait(p.name+" plays", playing(p))
			fresh := start("sparring", "bot")
			h.wait(fresh.name+" plays", playing(fresh))
			before := games.finished()
			if *previous != "" && round == 0 { // it may not know the operator
				if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
			} else if _, err := h.operator(url, "drain", p.name, "--wait", "--why", "upgrade"); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.done:
				if p.err != nil {
					t.Errorf("%s ended with %v", p.name, p.err)
				}
			case <-h.ctx.Done():
				t.Fatalf("%s does not end", p.name)
			}
			t.Logf("round %d: %s replaced by %s; %d games had ended, %d now", round+1, p.name, fresh.name, before, games.finished())
			bots[i] = fresh
		}
		fresh := start("sparring", "arena")
		h.wait("the new arena answers", func() bool { return h.list(url).mode(protocol.InstanceID(fresh.name)) != "" })
		arena.end(syscall.SIGTERM)
		before := games.finished()
		arena = fresh
		h.wait("games end after the change of arena", func() bool { return games.finished() > before })
		t.Logf("round %d: the arena replaced by %s", round+1, fresh.name)
	}
	if _, err := h.operator(url, "drain", "--all", "--wait"); err != nil {
		t.Fatal(err)
	}
	h.wait("the records of all games", func() bool { return len(h.recorded(url)) >= games.played() })
	games.mu.Lock()
	defer games.mu.Unlock()
	began, reasons := 0, map[game.Reason]int{}
	for id, e := range games.last {
		if e.Index == 1 && e.Status == protocol.Finished {
			continue // a challenge that did not become a game
		}
		began++
		reasons[e.Outcome.Reason]++
		if e.Status != protocol.Finished || e.Outcome.Result == game.Undecided || e.Outcome.Reason == protocol.ReasonTime || e.Outcome.Reason == protocol.ReasonAbandoned {
			t.Errorf("game %s: %s, %+v after %d plies", id, e.Status, e.Outcome, len(e.Moves))
		}
	}
	records := h.recorded(url)
	for id, n := range records {
		if _, known := games.last[id]; n != 1 || !known {
			t.Errorf("game %s has %d records", id, n)
		}
	}
	if len(records) != began {
		t.Errorf("%d games have records, %d began", len(records), began)
	}
	t.Logf("%d games, ends %v, %d seats changed hands", began, reasons, games.taken)
	if began < 3*(*upgradeBots) {
		t.Errorf("only %d games were played", began)
	}
}

// played counts the challenges that became games.
func (s *spectator) played() int {
	return s.count(func(e protocol.Event) bool { return e.Index > 1 || e.Status != protocol.Finished })
}

// recorded counts the records of each game.
func (h *fleet) recorded(url string) map[protocol.GameID]uint64 {
	h.t.Helper()
	js, done := h.jetStream(url)
	defer done()
	var info *jetstream.StreamInfo
	h.wait("the stream of records", func() bool { // a server of a cluster may not serve it yet
		st, err := js.Stream(h.ctx, "sparring_records")
		if err == nil {
			info, err = st.Info(h.ctx, jetstream.WithSubjectFilter("sparring.record.>"))
		}
		return err == nil
	})
	counts := map[protocol.GameID]uint64{}
	for subject, n := range info.State.Subjects {
		counts[protocol.GameID(subject[strings.LastIndex(subject, ".")+1:])] += n
	}
	return counts
}

// build builds the program of a commit, and returns its path.
func (h *fleet) build(commit string) string {
	h.t.Helper()
	run := func(dir, name string, args ...string) {
		cmd := exec.CommandContext(h.t.Context(), name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			h.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	tree, binary := h.t.TempDir(), filepath.Join(h.t.TempDir(), "sparring-before")
	archive := filepath.Join(h.t.TempDir(), "tree.tar")
	run(root, "git", "archive", "--output", archive, commit)
	run(tree, "tar", "-xf", archive)
	run(tree, "go", "build", "-o", binary, "./cmd/sparring")
	return binary
}

// The command refuses what it can't do, before it connects.
func TestFleetUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "want ls, top, pause, drain, resume, abort or plan"},
		{"plan --games 0", "games 0: want at least 1"},
		{"pause", "want either instances"},
		{"drain one --all", "want either instances"},
		{"resume a.b", "instance"},
		{"abort", "want one game"},
		{"abort a.>", "game"},
		{"ls --timeout -1s", "--timeout"},
		{"top --every 0s", "--every"},
	} {
		var out, errs bytes.Buffer
		code := run(append([]string{"fleet"}, strings.Fields(c.args)...), nil, &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), c.want) {
			t.Errorf("fleet %s: exit code %d, %s", c.args, code, errs.String())
		}
	}
}

// A view compares what the processes say with what the arenas know.
func TestFleetView(t *testing.T) {
	now := time.Now().UTC()
	bot := protocol.Report{Process: protocol.BotProcess, Instance: "b1", Mode: protocol.ModePaused, Text: "new disk", Started: now.Add(-time.Hour),
		Answer: protocol.Answer{ServerTime: now}, Bot: &protocol.BotReport{Slots: 8, Games: 2, Moves: 100, Cores: 2, LastFault: "the engine failed"}}
	arena := protocol.Report{Process: protocol.ArenaProcess, Instance: "a1", Mode: protocol.ModeRunning, Started: now, Arena: &protocol.ArenaReport{Instances: []protocol.KnownInstance{
		{Instance: "b1", Player: "p", Players: 1, Fleet: true}, {Instance: "b2", Player: "p", Players: 3, Fleet: true, HeardMS: 90_000, Games: 2},
		{Instance: "x1", Player: "guest", Players: 1, Build: "foreign 1"},
	}}}
	other := protocol.Report{Process: protocol.ArenaProcess, Instance: "a2", Arena: &protocol.ArenaReport{Instances: []protocol.KnownInstance{
		{Instance: "b2", Player: "p", Players: 3, Fleet: true, HeardMS: 89_000, Games: 2}}}}
	arena.Arena.SilentArenas = []protocol.SilentArena{{Instance: "a3", HeardMS: 12_000}, {Instance: "a2", HeardMS: 9_000}}
	other.Arena.SilentArenas = []protocol.SilentArena{{Instance: "a3", HeardMS: 11_000}}
	v := fleetViewOf([]protocol.Report{arena, other, bot})
	if len(v.Silent) != 1 || v.Silent[0].HeardMS != 89_000 || len(v.Others) != 1 || v.Others[0].Instance != "x1" || v.Reports[0].Instance != "b1" {
		t.Errorf("%+v", v)
	}
	if want := []protocol.SilentArena{{Instance: "a3", HeardMS: 11_000}}; !slices.Equal(v.SilentArenas, want) { // a2 answers
		t.Errorf("silent arenas: %+v, want %+v", v.SilentArenas, want)
	}
	later := bot
	six := 6
	later.ServerTime, later.Bot = now.Add(2*time.Second), &protocol.BotReport{Slots: 8, Offered: &six, Started: 40, StartedLate: 10, Moves: 105, Cores: 2}
	text := strings.Join(fleetViewOf([]protocol.Report{arena, later}).lines(&v), "\n")
	for _, want := range []string{"b2 DOES NOT ANSWER: p and 2 other players, last heard 90s ago, 2 seats", "arena a3 DOES NOT ANSWER: last heard 12s ago", "x1 is not of the fleet", "b1 is paused: new disk", "2.5", "0/8",
		"b1: searches start late (10 of 40 so far): it offers 6 of 8 slots, and does not ponder"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if got := stopped(canceled()); got != nil {
		t.Errorf("Ctrl-C: %v", got)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("denied"))
	if got := stopped(ctx); got == nil {
		t.Error("a denied user: no error")
	}
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestDrainOfOneProcess: a command that waits for the end of a process does not drain the
// next one with its instance id, which a supervisor starts at once, nor one that somebody has
// resumed.
func TestDrainOfOneProcess(t *testing.T) {
	t.Parallel()
	srv, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	connect := func(c protocol.Connection) *nats.Conn {
		nc, err := protocol.Connect(c)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	ctx := gametest.Context(t)
	bots := connect(srv.Player("bots"))
	var drains atomic.Int32
	var stop func() // of the process that runs
	start := func(mode protocol.Mode, ended func()) {
		var err error
		if stop, err = protocol.ServeFleet(ctx, bots, subjects, protocol.FleetProcess{
			Process: protocol.BotProcess, Instance: "one", Report: func() protocol.Report { return protocol.Report{Mode: mode, Bot: &protocol.BotReport{}} },
			Control: func(protocol.FleetVerb, string) *protocol.Error {
				drains.Add(1)
				go ended()
				return nil
			},
		}); err != nil {
			t.Error(err)
		}
	}
	again := make(chan struct{})
	start(protocol.ModeDraining, func() {
		time.Sleep(100 * time.Millisecond) // for the answer
		stop()
		start(protocol.ModeRunning, func() {})
		close(again)
	})
	f := fleetFlags{timeout: patience, controlTime: patience}
	op := protocol.NewOperator(connect(srv.Platform()), subjects)
	r := f.control(ctx, op, "one", protocol.FleetDrain, new(lookout))
	<-again
	defer func() { stop() }()
	if r.Error != "" || drains.Load() != 1 {
		t.Errorf("%d processes were drained (%s), want one", drains.Load(), r.Error)
	}
	var out strings.Builder
	if err := f.printControlled(&out, []controlled{r}, "draining"); err != nil || out.String() != "one: ended\n" {
		t.Errorf("after its end the command says %q (%v)", out.String(), err)
	}

	stop()
	drains.Store(0)
	start(protocol.ModeRunning, func() {}) // as if it had been resumed at once
	r = f.control(ctx, op, "one", protocol.FleetDrain, new(lookout))
	if !strings.Contains(r.Error, "is running") || drains.Load() != 1 {
		t.Errorf("a process that was resumed: %q, drained %d times", r.Error, drains.Load())
	}
}

// The list says how many vacant seats there are, and how many losses leave each seat a slot: the
// fewest that an arena knows.
func TestFleetRoom(t *testing.T) {
	arena := func(vacant int, survives ...int) protocol.Report {
		r := protocol.Report{Process: protocol.ArenaProcess, Arena: &protocol.ArenaReport{Vacant: vacant}}
		if len(survives) > 0 {
			r.Arena.Survives = &survives[0]
		}
		return r
	}
	for _, c := range []struct {
		reports []protocol.Report
		want    string
		not     string
	}{
		{[]protocol.Report{arena(0)}, "", "slot elsewhere"},
		{[]protocol.Report{arena(0, 2), arena(1, 1)}, "1 seat of running games is vacant", "2 bot processes"},
		{[]protocol.Report{arena(0, 2)}, "any 2 bot processes are lost", "vacant"},
		{[]protocol.Report{arena(2, 0)}, "would leave seats without a free slot", "elsewhere if"},
	} {
		text := strings.Join(fleetViewOf(c.reports).lines(nil), "\n")
		if !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("want %q and not %q:\n%s", c.want, c.not, text)
		}
	}
}

// A process that has just started is not taken for one of an older build.
func TestFleetOthers(t *testing.T) {
	for known, want := range map[int64]string{0: "a build that does not answer", 3_000: "has just started", 60_000: "a build that does not answer"} {
		r := protocol.Report{Process: protocol.ArenaProcess, Arena: &protocol.ArenaReport{
			Instances: []protocol.KnownInstance{{Instance: "one", Player: "ann", Players: 1, KnownMS: known}}}}
		if text := strings.Join(fleetViewOf([]protocol.Report{r}).lines(nil), "\n"); !strings.Contains(text, want) {
			t.Errorf("known for %d ms: want %q:\n%s", known, want, text)
		}
	}
}
