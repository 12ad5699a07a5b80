package external

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/pipe/external/faultyengine"
	"sparring/pipe/uci"
)

// TestMain lets the test binary run as the faulty engine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		faultyengine.Main()
	}
	if len(os.Args) > 1 && os.Args[1] == "parent" {
		beParent()
	}
	if len(os.Args) > 1 && os.Args[1] == "sau" {
		speakSAU()
	}
	if len(os.Args) > 1 && os.Args[1] == "botzone" {
		speakBotzone()
	}
	if len(os.Args) > 1 && os.Args[1] == "xboard" {
		os.Exit(speakXBoard())
	}
	goleak.VerifyTestMain(m)
}

// patient are times that a busy machine can keep. Tests of timeouts set shorter ones.
var patient = times{start: 20 * time.Second, grace: 15 * time.Second, quit: 500 * time.Millisecond, think: time.Minute}

func faultySpec(t *testing.T, mode string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Dialect: UCI, Path: self, Args: []string{"broken", mode}}
}

func openFaulty(t *testing.T, mode string, change ...func(*Spec)) *Engine {
	t.Helper()
	s := faultySpec(t, mode)
	for _, f := range change {
		f(&s)
	}
	e := open(t, s, "xiangqi")
	e.times = patient
	return e
}

// started returns the processes that this test binary has started, their
// descendants, and zombies. It is always empty on systems other than Linux.
func started(t *testing.T) (pids []int) {
	t.Helper()
	all := descendants(os.Getpid())
	return all
}

// TestFaultyEngines: every mode gives a fault of its kind, whose text has the last
// lines sent and received, and leaves no processes and files.
func TestFaultyEngines(t *testing.T) {
	tests := []struct {
		mode   string
		kind   engine.FaultKind // "" is none
		says   []string
		limits search.Limits
	}{
		{faultyengine.HangStart, engine.FaultStart, []string{"no uciok within 300ms", `last sent "uci"`, "nothing received"}, search.Limits{Depth: 1}},
		{faultyengine.CrashStart, engine.FaultStart, []string{"exit status 3", "no network file"}, search.Limits{Depth: 1}},
		{faultyengine.CloseInput, engine.FaultStart, nil, search.Limits{Depth: 1}},
		{faultyengine.Unflushed, engine.FaultStart, []string{"no uciok"}, search.Limits{Depth: 1}},
		{faultyengine.SlowStart, "", nil, search.Limits{Depth: 1}},
		{faultyengine.NoLineEnd, engine.FaultHang, []string{`no answer within 1s of "stop"`, `last received "bestmove d1e2`, `" without a line end`}, search.Limits{Hard: 50 * time.Millisecond}},
		{faultyengine.HangGo, engine.FaultHang, []string{`no answer within 1s of "stop"`}, search.Limits{Hard: 50 * time.Millisecond}},
		{faultyengine.CrashGo, engine.FaultCrash, []string{"exit status 134", `last sent "go depth 1"`, "assertion failed"}, search.Limits{Depth: 1}},
		{faultyengine.IgnoreStop, engine.FaultHang, []string{`of "stop"`}, search.Limits{}},
		{faultyengine.Flood, engine.FaultFlood, []string{"within a second", "and on"}, search.Limits{Depth: 1}},
		{faultyengine.EndlessLine, engine.FaultFlood, []string{"a line of more than"}, search.Limits{Depth: 1}},
		{faultyengine.Illegal, engine.FaultIllegal, []string{`"bestmove a1i10"`, "rnbakabnr", "illegal move: a0i9, in our notation"}, search.Limits{Depth: 1}},
		{faultyengine.Null, engine.FaultIllegal, []string{`"bestmove 0000"`, "no move"}, search.Limits{Depth: 1}},
		{faultyengine.Opponent, engine.FaultIllegal, nil, search.Limits{Depth: 1}},
		{faultyengine.Ranks, engine.FaultIllegal, nil, search.Limits{Depth: 1}},
		{faultyengine.Fork, "", nil, search.Limits{Depth: 1}},
		{faultyengine.Zombie, "", nil, search.Limits{Depth: 1}},
		{faultyengine.Chatter, "", nil, search.Limits{Depth: 1}},
		{faultyengine.IgnoreClock, "", nil, search.Limits{Hard: 100 * time.Millisecond}},
		{faultyengine.OnlyStop, "", nil, search.Limits{Hard: 50 * time.Millisecond}},
		{faultyengine.IgnoreQuit, "", nil, search.Limits{Depth: 1}},
		{faultyengine.Fine, "", nil, search.Limits{Depth: 1}},
	}
	for _, test := range tests {
		t.Run(test.mode, func(t *testing.T) {
			e := openFaulty(t, test.mode)
			switch {
			case test.kind == engine.FaultHang:
				e.times.grace, e.times.think = time.Second, 100*time.Millisecond
			case test.kind == engine.FaultStart && test.mode != faultyengine.CrashStart:
				e.times.start = 300 * time.Millisecond
			}
			files := openFiles()
			r := find(t, play(t, e), newGame(t, "xiangqi/wxf"), test.limits)
			fault, _ := errors.AsType[*engine.Fault](r.Err)
			switch {
			case test.kind == "" && r.Err != nil:
				t.Fatalf("fault: %v", r.Err)
			case test.kind == "" && (r.Move == game.NoMove || r.Depth != 1):
				t.Errorf("move %#x, depth %d", uint32(r.Move), r.Depth)
			case test.kind != "" && (fault == nil || fault.Kind != test.kind):
				t.Fatalf("got %v, want a fault of kind %s", r.Err, test.kind)
			case test.kind != "" && r.Move != game.NoMove:
				t.Error("a fault and a move")
			}
			for _, s := range test.says {
				if !strings.Contains(fault.Text, s) {
					t.Errorf("%q does not say %q", fault.Text, s)
				}
			}
			if test.kind != "" {
				alone(t, "after the fault", files)
			}
			e.Close()
			alone(t, "after Close", files)
		})
	}
	seen := []string{faultyengine.Memory, faultyengine.Deaf, faultyengine.EndSlowly, faultyengine.Twice, faultyengine.Repeats, // have tests of their own
		faultyengine.CrashPonder, faultyengine.CrashSixth, faultyengine.CrashThrice, faultyengine.EarlyMove, faultyengine.EarlyNull, faultyengine.NullAtStop, faultyengine.SlowStop, faultyengine.DepthInfinite, faultyengine.StopCrosses, faultyengine.ErrorLines, faultyengine.LosesWord, faultyengine.OpenBoard, faultyengine.NoRestart, faultyengine.Suggests,
		faultyengine.HangOnce, faultyengine.DiesIdle, faultyengine.LeaksMove, faultyengine.KeepsBoard, faultyengine.Counts, faultyengine.CountsWrong, faultyengine.PlaysWell, faultyengine.Forbidden} // in doctor
	for _, test := range tests {
		seen = append(seen, test.mode)
	}
	for _, mode := range faultyengine.Modes {
		if !slices.Contains(seen, mode) {
			t.Errorf("mode %s is not tested", mode)
		}
	}
}

// alone waits until no started process runs or has to be reaped, and no more files
// are open than before.
func alone(t *testing.T, when string, files int) {
	t.Helper()
	// A killed process may take a moment to vanish, and so may those that have
	// another parent now.
	for end := time.Now().Add(gametest.Patience); ; time.Sleep(10 * time.Millisecond) {
		pids, now := started(t), openFiles()
		if len(pids) == 0 && now <= files {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: processes %v are left, %d files open, %d before", when, pids, now, files)
		}
	}
}

// openFiles counts this process's open files; 0 if that is not possible.
func openFiles() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", os.Getpid()))
	if err != nil {
		return 0
	}
	return len(names)
}

// TestMemory: a program that exceeds its memory limit is killed.
func TestMemory(t *testing.T) {
	if !canMeasure {
		t.Skip("the memory of other processes can be seen on Linux alone")
	}
	e := openFaulty(t, faultyengine.Memory, func(s *Spec) { s.Memory = 100 << 20 })
	r := find(t, play(t, e), newGame(t, "xiangqi/wxf"), search.Limits{Depth: 1})
	fault, ok := errors.AsType[*engine.Fault](r.Err)
	if !ok || fault.Kind != engine.FaultMemory || !strings.Contains(fault.Text, "limit 100") {
		t.Fatalf("got %v", r.Err)
	}
}

// TestDeaf: a program that does not read its input can't block us.
func TestDeaf(t *testing.T) {
	s := faultySpec(t, faultyengine.Deaf)
	p, err := start(command{path: s.Path, args: s.Args})
	if err != nil {
		t.Fatal(err)
	}
	err = p.send(strings.Repeat("position ", 1<<17))
	if fault, ok := errors.AsType[*engine.Fault](err); !ok || fault.Kind != engine.FaultHang {
		t.Errorf("got %v", err)
	}
	<-p.gone
}

// TestEndSlowly: a program that closes its input because it is ending gets the time
// to do so, for its exit status says why.
func TestEndSlowly(t *testing.T) {
	s := faultySpec(t, faultyengine.EndSlowly)
	p, err := start(command{path: s.Path, args: s.Args})
	if err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "it has closed its input", func() bool {
		err = p.send("isready")
		return err != nil
	})
	if !isCrash(err) || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
}

// endProcess ends the process of a game.
func endProcess(g *externalGame) {
	p := g.current().program
	p.kill()
	<-p.gone
}

// TestStartedAgain: a program that ends between two moves is started again and plays
// on, with an incident; if that happens too often it is a fault, and the next search
// has a working process again.
func TestStartedAgain(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.Fine))
	p := newGame(t, "xiangqi/wxf")
	r := find(t, g, p, search.Limits{Depth: 1})
	for n := range maxRestarts {
		playOn(t, p, r.Move, game.NoMove)
		endProcess(g)
		if r = find(t, g, p, search.Limits{Depth: 1}); r.Err != nil || r.Move == game.NoMove {
			t.Fatalf("end %d: %v, move %#x", n+1, r.Err, uint32(r.Move))
		}
		if len(r.Incidents) != 1 || !strings.HasPrefix(r.Incidents[0], "the engine ended between two moves (the program ended: signal: killed; ") {
			t.Errorf("end %d: told %q", n+1, r.Incidents)
		}
	}
	endProcess(g)
	if r := find(t, g, p, search.Limits{Depth: 1}); !isCrash(r.Err) {
		t.Fatalf("end %d: %v", maxRestarts+1, r.Err)
	}
	if r := find(t, g, p, search.Limits{Depth: 1}); r.Err != nil || r.Move == game.NoMove {
		t.Errorf("the next search: %v", r.Err)
	}
}

func isCrash(err error) bool {
	fault, ok := errors.AsType[*engine.Fault](err)
	return ok && fault.Kind == engine.FaultCrash
}

// TestProcessesOfGames: games played in parallel have a process each. A process whose
// game has ended waits for another game.
func TestProcessesOfGames(t *testing.T) {
	e := openFaulty(t, faultyengine.Fine)
	pids := func(games int) map[int]bool {
		t.Helper()
		seen := map[int]bool{}
		var open []*externalGame
		for range games {
			g, p := play(t, e), newGame(t, "xiangqi/wxf")
			for range 2 {
				r := find(t, g, p, search.Limits{Depth: 1})
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				for _, m := range []game.Move{r.Move, game.NoMove} {
					if m == game.NoMove {
						m = p.Legal(nil)[0]
					}
					if err := p.Play(m); err != nil {
						t.Fatal(err)
					}
				}
				seen[g.current().program.cmd.Process.Pid] = true
			}
			open = append(open, g)
		}
		for _, g := range open {
			g.Close()
			if _, err := g.Search(newGame(t, "xiangqi/wxf"), search.Limits{}, nil); !errors.Is(err, engine.ErrGameClosed) {
				t.Errorf("a closed game: %v", err)
			}
		}
		return seen
	}
	waiting := func() int {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.idle)
	}
	first := pids(maxIdle + 2)
	if len(first) != maxIdle+2 || waiting() != maxIdle {
		t.Errorf("%d processes for %d games at once, %d wait", len(first), maxIdle+2, waiting())
	}
	second := pids(maxIdle)
	for pid := range second {
		if !first[pid] {
			t.Error("a process was started while one was waiting")
		}
	}
	if len(second) != maxIdle || waiting() != maxIdle {
		t.Errorf("%d processes for %d games, %d wait", len(second), maxIdle, waiting())
	}
}

// TestPonder: a search without limits continues until a ponder hit, which gives it
// limits, or until it is stopped.
func TestPonder(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.Fine))
	p := newGame(t, "xiangqi/wxf")
	if err := p.Play(p.Legal(nil)[0]); err != nil {
		t.Fatal(err)
	}
	for _, hit := range []bool{true, false} {
		run, err := g.Search(p, search.Limits{Wait: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		run.Pause()
		select {
		case <-run.Done():
			t.Fatalf("it has ended by itself: %+v", run.Wait())
		case <-time.After(50 * time.Millisecond):
		}
		run.Resume()
		if hit {
			run.PonderHit(search.Limits{Depth: 1})
		} else {
			run.Stop()
		}
		if r := run.Wait(); r.Err != nil || r.Move == game.NoMove {
			t.Errorf("hit %v: %+v", hit, r)
		}
	}
}

// TestLateAnswer: a repeated answer is not used for the next search.
func TestLateAnswer(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.Twice))
	p := newGame(t, "xiangqi/wxf")
	for range 4 {
		run, err := g.Search(p, search.Limits{Wait: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		run.PonderHit(search.Limits{Depth: 1})
		r := run.Wait()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		for _, m := range []game.Move{r.Move, game.NoMove} {
			if m == game.NoMove {
				m = p.Legal(nil)[0]
			}
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRepeatedAnswer: a program that answers a search twice at once loses nothing by that, and
// is reported once. If the second answer is taken for that to the next search, the fault says so.
func TestRepeatedAnswer(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.Repeats))
	p := newGame(t, "xiangqi/wxf")
	var incidents []string
	for range 4 {
		r := find(t, g, p, search.Limits{Depth: 1})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		incidents = append(incidents, r.Incidents...)
		playOn(t, p, r.Move, game.NoMove)
	}
	if len(incidents) != 1 || !strings.Contains(incidents[0], "without being asked") {
		t.Errorf("incidents %q, want one of an answer without being asked", incidents)
	}
}

// TestAnswerThatComesLate: a fault says so if its answer is that to the search before, again.
func TestAnswerThatComesLate(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.HangGo))
	p := newGame(t, "xiangqi/wxf")
	search := func() search.Result {
		run, err := g.Search(p, search.Limits{Depth: 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		<-run.(*running).begun
		g.current().program.inbox.put([]byte("bestmove h3e3"))
		return run.Wait()
	}
	first := search()
	if first.Err != nil {
		t.Fatal(first.Err)
	}
	playOn(t, p, first.Move, game.NoMove)
	if r := search(); r.Err == nil || !strings.Contains(r.Err.Error(), "it is the answer to the search before, again") {
		t.Errorf("fault %v, want that it answered the search before", r.Err)
	}
}

// TestStopCrossesAnswer: a program that has ended its pondering by itself when it reads
// the stop answers that, too. This is not its answer to the search after the ponder hit.
func TestStopCrossesAnswer(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.StopCrosses, func(s *Spec) { s.Dialect = UCCI }))
	p := newGame(t, "xiangqi/wxf")
	playOn(t, p, find(t, g, p, search.Limits{Depth: 1}).Move, game.NoMove)
	process := g.current().program
	for hit := range 4 {
		run, err := g.Search(p, search.Limits{Wait: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		gametest.Eventually(t, "it ponders", func() bool { return process.lastSent() == "go infinite" })
		run.PonderHit(search.Limits{Depth: 1})
		r := run.Wait()
		if r.Err != nil || r.Move == game.NoMove {
			t.Fatalf("hit %d: %v, move %#x", hit, r.Err, uint32(r.Move))
		}
		playOn(t, p, r.Move, game.NoMove)
	}
}

// TestStopAtStart: a search that is stopped while its process starts ends at once,
// without a move.
func TestStopAtStart(t *testing.T) {
	e := openFaulty(t, faultyengine.SlowStart)
	run, err := play(t, e).Search(newGame(t, "xiangqi/wxf"), search.Limits{Depth: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run.Stop()
	if r := run.Wait(); r.Err != nil || r.Move != game.NoMove {
		t.Errorf("got %+v", r)
	}
}

// TestCloseWhileSearching: Close ends searches, and later ones get an error.
func TestCloseWhileSearching(t *testing.T) {
	e := openFaulty(t, faultyengine.Fine)
	g := play(t, e)
	run, err := g.Search(newGame(t, "xiangqi/wxf"), search.Limits{Wait: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := play(t, e).Ready(); err != nil { // one process surely runs
		t.Fatal(err)
	}
	e.Close()
	if r := run.Wait(); !errors.Is(r.Err, ErrClosed) {
		t.Errorf("got %v", r.Err)
	}
	if _, err := g.Search(newGame(t, "xiangqi/wxf"), search.Limits{}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := e.NewGame(engine.GameOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestGames: a program plays all games that it announces, from unusual starts too.
func TestGames(t *testing.T) {
	for _, rules := range []string{"xiangqi/wxf+handicap=horse", "gomoku/freestyle-15", "amazons/10x10"} {
		gameName, _, _ := strings.Cut(rules, "/")
		g := play(t, open(t, faultySpec(t, faultyengine.Fine), gameName))
		p := newGame(t, rules)
		for range 4 {
			r := find(t, g, p, search.Limits{Depth: 1})
			if r.Err != nil {
				t.Fatalf("%s: %v", rules, r.Err)
			}
			if err := p.Play(r.Move); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestOpenRefuses: all errors of a spec are reported at once.
func TestOpenRefuses(t *testing.T) {
	_, err := Open(Spec{Dialect: SAU, Path: "no-such-program-anywhere", Dir: "/no/such/place", Nodes: 5, Options: []Option{{"A", "b"}}}, "xiangqi")
	for _, s := range []string{"sau engines don't play xiangqi; they play amazons, gomoku", "no program no-such-program-anywhere", "/no/such/place", "nodes", "options"} {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("%v does not say %q", err, s)
		}
	}
	for _, path := range []string{"no-such-program-anywhere", "./no-such-program"} {
		if _, err := (Spec{Path: path}).Program(); !errors.Is(err, fs.ErrNotExist) || err.Error() != "no program "+path {
			t.Errorf("%v", err)
		}
	}
	if _, err := Open(Spec{Dialect: "usi"}, "xiangqi"); err == nil || !strings.Contains(err.Error(), "gomocup, sau, ucci, uci, xboard") {
		t.Errorf("got %v", err)
	}
	e := openFaulty(t, faultyengine.Fine, func(s *Spec) { s.Options = []Option{{"Hash", "4000"}, {"Nonsense", "1"}} })
	r := find(t, play(t, e), newGame(t, "xiangqi/wxf"), search.Limits{Depth: 1})
	for _, s := range []string{"Hash", "from 1 to 64", "no option \"Nonsense\""} {
		if r.Err == nil || !strings.Contains(r.Err.Error(), s) {
			t.Errorf("%v does not say %q", r.Err, s)
		}
	}
}

// TestNoProgram: the error of a program that is not found says what may be meant.
func TestNoProgram(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("engine", nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"engine":                 fmt.Sprintf("no program engine on PATH; the one in this folder is .%cengine", os.PathSeparator),
		self + " -q --threads 2": "; arguments follow a program as keys: " + self + ",arg=-q,arg=--threads,arg=2",
	} {
		if _, err := (Spec{Path: path}).Program(); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := errors.Join(os.Mkdir("in", 0o700), os.Rename("engine", filepath.Join("in", "engine"))); err != nil {
		t.Fatal(err)
	}
	want := "no program engine; the one in its working directory is " + filepath.Join("in", "engine")
	if _, err := (Spec{Path: "engine", Dir: "in"}).Program(); !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestDescribe: a game is described with the sizes that the program was told to use:
// the faulty engine has up to 64 MiB of hash and no threads to set.
func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		change func(*Spec)
		hash   int
	}{
		{func(s *Spec) { s.Hash, s.Threads = 16, 2 }, 16},
		{func(s *Spec) { s.Hash, s.Threads = 1000, 2 }, 64},
		{func(s *Spec) { s.Hash, s.Options = 16, []Option{{"hash", "32"}} }, 32},
		{func(*Spec) {}, 0},
	} {
		e := openFaulty(t, faultyengine.Fine, test.change)
		g, err := e.NewGame(engine.GameOptions{Seed: 3, Reproducible: true})
		if err == nil {
			err = g.Ready()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := g.Describe(), (engine.Description{Name: "faulty: fine", HashMB: test.hash, Seed: 3}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// TestAnnounced: what a program says of its options is known before a game, if its
// protocol has a list of them.
func TestAnnounced(t *testing.T) {
	all, known, err := Announced(t.Context(), faultySpec(t, faultyengine.Fine), "xiangqi")
	if hash, ok := options(all).find("hash"); err != nil || !known || !ok || hash.Kind != uci.Spin || hash.Max != 64 {
		t.Errorf("%v, %v: %v", all, known, err)
	}
	gomocup := faultySpec(t, faultyengine.ErrorLines)
	gomocup.Dialect = Gomocup
	if all, known, err := Announced(t.Context(), gomocup, "gomoku"); known || err != nil {
		t.Errorf("gomocup: %v, %v: %v", all, known, err)
	}
	if _, _, err := Announced(t.Context(), faultySpec(t, faultyengine.CrashStart), "xiangqi"); err == nil || !strings.Contains(err.Error(), "no network file") {
		t.Errorf("a program that ends: %v", err)
	}
}
