package doctor

import (
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/pipe/external"
	"sparring/pipe/external/faultyengine"
)

// TestMain lets the test binary run as the faulty engine, and as a bot for Botzone.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "broken":
			faultyengine.Main()
		case "botzone":
			botzone()
		}
	}
	os.Exit(m.Run())
}

func faultySpec(t *testing.T, d external.Dialect, mode string) external.Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return external.Spec{Dialect: d, Path: self, Args: []string{"broken", mode}}
}

// openChecker returns a check that has not begun.
func openChecker(t *testing.T, s external.Spec, o Options) *checker {
	t.Helper()
	return openCheckerWith(t, s, o, patience)
}

func openCheckerWith(t *testing.T, s external.Spec, o Options, w external.Patience) *checker {
	t.Helper()
	x, err := newChecker(s, o, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.program.Close() })
	return x
}

// shortGrace is how long an engine that hangs is waited for.
const shortGrace = time.Second

// examine returns the findings of the named steps, of all if none is named; of several of a
// step, the worst.
func examine(t *testing.T, x *checker, names ...string) map[string]Finding {
	t.Helper()
	var some []step
	for _, s := range steps {
		if len(names) == 0 || slices.Contains(names, s.name) {
			some = append(some, s)
		}
	}
	if len(names) > 0 && len(some) != len(names) {
		t.Fatalf("%v: not all are steps", names)
	}
	found := map[string]Finding{}
	worse := []Verdict{"", Good, Skip, Warn, Bad}
	err := x.run(t.Context(), some, func(f Finding) {
		t.Logf("%-5s %s: %s", f.Verdict, f.Check, f.Text)
		if slices.Index(worse, f.Verdict) > slices.Index(worse, found[f.Check].Verdict) {
			found[f.Check] = f
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// canMeasure reports whether other processes can be seen.
const canMeasure = runtime.GOOS == "linux"

// untold reports whether this machine was too busy for a finding about time.
func untold(f Finding) bool { return strings.Contains(f.Text, "too busy to tell") }

// onlyRule leaves one position about a rule: each wrong answer starts the program again.
func (x *checker) onlyRule(rule string) {
	x.positions = slices.DeleteFunc(x.positions, func(p position) bool { return p.rule != rule })[:1]
}

// fault is a faulty engine, and what the check says about it.
type fault struct {
	mode    string
	options Options
	steps   string // the last one finds it; "" is all of them, and nothing to be found
	verdict Verdict
	says    []string
}

func (f *fault) name() string {
	_, rules, _ := strings.Cut(f.options.Rules, "/")
	return f.mode + " " + cmp.Or(rules, f.options.Game)
}

// faults are also what docs/engine.md has examples of.
func faults() []fault {
	xiangqi, long := Options{Game: "xiangqi"}, Options{Game: "xiangqi", Moves: 30}
	amazons, gomoku, renju := Options{Game: "amazons"}, Options{Game: "gomoku"}, Options{Game: "gomoku", Rules: "gomoku/renju-15"}
	all := []fault{
		{faultyengine.Fine, long, "", Good, nil},
		{faultyengine.Counts, xiangqi, "perft", Good, []string{"leaves of 64 positions"}},
		{faultyengine.PlaysWell, gomoku, "", Good, nil},

		{faultyengine.Unflushed, xiangqi, "start", Bad, []string{"flush the output", `last sent "uci"`}},
		{faultyengine.CrashStart, xiangqi, "start", Bad, []string{"exit status 3", "no network file"}},
		{faultyengine.Ranks, xiangqi, "moves", Bad, []string{"illegal", "bestmove", "ranks start at 0"}},
		{faultyengine.Opponent, xiangqi, "moves", Bad, []string{"a move of the other side"}},
		{faultyengine.Null, xiangqi, "moves", Bad, []string{"bestmove 0000", "no move"}},
		{faultyengine.CrashSixth, xiangqi, "moves time", Bad, []string{"crash", "exit status 134"}},
		{faultyengine.IgnoreClock, xiangqi, "time", Bad, []string{"a move of 200ms", "ignores its clock"}},
		{faultyengine.OnlyStop, xiangqi, "clock", Bad, []string{"with 1s left", "until it is told to stop"}},
		{faultyengine.IgnoreStop, xiangqi, "stop", Bad, []string{"hang", `"stop"`}},
		{faultyengine.EarlyMove, xiangqi, "stop", Warn, []string{"not tested: ", `to "go infinite" before it was told to stop`}},
		{faultyengine.EarlyNull, xiangqi, "stop", Warn, []string{`"bestmove (none)" to "go infinite"`, "no more pondering"}},
		{faultyengine.HangOnce, Options{Game: "xiangqi", Moves: 80}, "soak", Bad, []string{"1 fault after ", "hang: no answer"}},
		{faultyengine.KeepsBoard, Options{Game: "amazons", Moves: 60}, "soak", Bad, []string{"illegal"}},
		{faultyengine.Chatter, xiangqi, "moves output", Warn, []string{"DEBUG: got", "stderr"}},
		{faultyengine.Repeats, xiangqi, "moves output", Warn, []string{"asked", `"bestmove`}},
		{faultyengine.LeaksMove, xiangqi, "moves time output", Warn, []string{"when it was asked nothing"}},
		{faultyengine.DiesIdle, xiangqi, "moves time output", Warn, []string{"ended between two games"}},
		{faultyengine.Zombie, xiangqi, "children", Bad, []string{"1 zombies"}},
		{faultyengine.Fork, xiangqi, "moves quit", Bad, []string{"processes left after its end: 1"}},
		{faultyengine.IgnoreQuit, xiangqi, "quit", Warn, []string{`after "quit"`, "killed"}},

		{faultyengine.CountsWrong, xiangqi, "perft", Bad, []string{"it has", "the horse's leg at "}},
		{faultyengine.Forbidden, renju, "rules", Bad, []string{"overline", "double four", "double three"}},
		{faultyengine.Forbidden, gomoku, "rules", Skip, []string{"not for gomoku/renju-15", "--rules"}},
	}
	for _, rule := range []struct {
		is   game.Refusal
		of   Options
		says string
	}{
		{game.RefusedLeg, xiangqi, "the horse's leg at "},
		{game.RefusedEye, xiangqi, "the elephant's eye at "},
		{game.RefusedRiver, xiangqi, "elephants stay on their side"},
		{game.RefusedPalace, xiangqi, "stay in the palace"},
		{game.RefusedSideways, xiangqi, "sideways only beyond the river"},
		{game.RefusedBackward, xiangqi, "never goes back"},
		{game.RefusedScreen, xiangqi, "over exactly one piece"},
		{game.RefusedBlocked, xiangqi, "something stands in the way"},
		{game.RefusedFacing, xiangqi, "kings would face each other"},
		{game.RefusedExposes, xiangqi, "its king would be in check"},
		{game.RefusedInCheck, xiangqi, "is in check and stays so"},
		{game.RefusedBlocked, amazons, "something stands in the way"},
		{game.RefusedShotBlocked, amazons, "something stands in the arrow's way"},
		{game.RefusedShotOccupied, amazons, "the arrow's square is taken"},
	} {
		all = append(all, fault{faultyengine.Breaks(rule.is), rule.of, "rules", Bad, []string{rule.says}})
	}
	return all
}

// TestFaults: what the check says about each faulty engine.
func TestFaults(t *testing.T) {
	examples := documented(t)
	for _, test := range faults() {
		example, isExample := examples[test.name()]
		delete(examples, test.name())
		t.Run(test.name(), func(t *testing.T) {
			t.Parallel() // they mostly wait
			if !canMeasure && slices.Contains([]string{faultyengine.Zombie, faultyengine.Fork}, test.mode) {
				t.Skip("other processes can be seen on Linux alone")
			}
			f := test.examine(t)
			if test.steps == "" || untold(f) {
				return
			}
			if f.Verdict != test.verdict {
				t.Errorf("%+v, want %s", f, test.verdict)
			}
			for _, s := range test.says {
				if !strings.Contains(f.Text, s) {
					t.Errorf("%q does not say %q", f.Text, s)
				}
			}
			if isExample && !example.matches(f) {
				t.Errorf("docs/engine.md says %q, the check says %+v", example.text, f)
			}
		})
	}
	for name := range examples {
		t.Errorf("docs/engine.md has an example that is not tested: %s", name)
	}
}

// examine checks the engine and returns the finding about its fault. Of a sound engine every
// finding has to be good.
func (f *fault) examine(t *testing.T) Finding {
	t.Helper()
	dialect := external.UCI
	if f.options.Game == "gomoku" {
		dialect = external.Gomocup
	}
	w := patience
	switch f.mode {
	case faultyengine.Unflushed:
		w.Start = time.Second
	case faultyengine.IgnoreStop, faultyengine.HangOnce:
		w.Grace = shortGrace
	case faultyengine.IgnoreQuit:
		w.Quit = time.Second
	case faultyengine.Fork: // it ends when told to; one that is killed is another finding
		w.Quit = w.Grace
	}
	x := openCheckerWith(t, faultySpec(t, dialect, f.mode), f.options, w)
	if rule, breaks := strings.CutPrefix(f.mode, faultyengine.Breaks("")); breaks && rule != string(game.RefusedLeg) {
		x.onlyRule(rule)
	}
	names := strings.Fields(f.steps)
	found := examine(t, x, names...)
	if len(names) > 0 {
		return found[names[len(names)-1]]
	}
	for _, f := range found {
		if (f.Verdict == Bad || f.Verdict == Warn) && !slices.Contains([]string{"time", "clock", "stop"}, f.Check) { // the machine may be busy
			t.Errorf("%+v", f)
		}
	}
	return Finding{}
}

// TestMemory: a limit of memory is kept for the engine.
func TestMemory(t *testing.T) {
	if !canMeasure {
		t.Skip("other processes can be seen on Linux alone")
	}
	s := faultySpec(t, external.UCI, faultyengine.Memory)
	s.Memory = 100 << 20
	if f := examine(t, openChecker(t, s, Options{Game: "xiangqi"}), "moves")["moves"]; f.Verdict != Bad || !strings.Contains(f.Text, "limit 100") {
		t.Errorf("%+v", f)
	}
}

// TestCheckOfStopIsMade: the search is stopped only after it has begun, however long
// that takes.
func TestCheckOfStopIsMade(t *testing.T) {
	s := faultySpec(t, external.UCI, faultyengine.IgnoreStop)
	s.Pause = 2 * moveTime
	w := patience
	w.Grace = shortGrace
	x := openCheckerWith(t, s, Options{Game: "xiangqi"}, w)
	if f := x.stop(); f.Verdict != Bad || !strings.Contains(f.Text, `last sent "stop"`) {
		t.Errorf("%+v", f)
	}
}

// TestBusyMachine: a late move is no fault of a program that had no processor, and one
// of a program that had one. Likewise a move that came only when it was told to stop.
func TestBusyMachine(t *testing.T) {
	for _, c := range []struct {
		mode, fault string
		busy        bool
	}{
		{faultyengine.IgnoreClock, "ignores its clock", false},
		{faultyengine.IgnoreClock, "", true},
		{faultyengine.OnlyStop, "until it is told to stop", false},
		{faultyengine.OnlyStop, "", true},
	} {
		x := openChecker(t, faultySpec(t, external.UCI, c.mode), Options{Game: "xiangqi"})
		x.waited = func(a external.Answer) time.Duration {
			if !c.busy {
				return 0
			}
			return a.Time // one of its threads waits all the time
		}
		f := x.time()
		if !c.busy && (f.Verdict != Bad || !strings.Contains(f.Text, c.fault)) || c.busy && (f.Verdict != Skip || !strings.Contains(f.Text, "too busy to tell")) {
			t.Errorf("%s, busy %v: %+v", c.mode, c.busy, f)
		}
	}
}

// TestRealEngines: engines by other authors pass. Whether they are in time is left out: the
// machine may be busy.
func TestRealEngines(t *testing.T) {
	for _, real := range []struct {
		dialect external.Dialect
		program string
	}{{external.UCI, "fairy-stockfish"}, {external.XBoard, "hoixiangqi"}} {
		t.Run(string(real.dialect), func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(real.program)
			if err != nil {
				if path, err = exec.LookPath("/usr/games/" + real.program); err != nil {
					t.Skipf("%s is not installed (Debian has it)", real.program)
				}
			}
			x := openChecker(t, external.Spec{Dialect: real.dialect, Path: path}, Options{Game: "xiangqi", Moves: 20})
			for _, f := range examine(t, x, "start", "stop", "rules", "perft", "soak", "output", "memory", "quit") {
				if f.Verdict == Bad || f.Verdict == Warn && f.Check != "stop" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
