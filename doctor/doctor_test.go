package doctor

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/external"
	"sparring/pipe/external/faultyengine"
)

// TestMain lets the test binary run as the faulty engine.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		faultyengine.Main()
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

// Times that a busy machine can keep. Tests of timeouts set shorter ones.
const (
	patientStart = 20 * time.Second
	patientGrace = 15 * time.Second
	patientQuit  = 500 * time.Millisecond
	shortGrace   = time.Second
)

// examine returns all findings of a check; of several of a name, the worst.
func examine(t *testing.T, s external.Spec, o Options, change func(*checker)) map[string]Finding {
	t.Helper()
	found := map[string]Finding{}
	worse := []Verdict{"", Good, Skip, Warn, Bad}
	err := check(t.Context(), s, o, func(x *checker) {
		x.program.SetTimes(patientStart, patientGrace, patientQuit)
		change(x)
	}, func(f Finding) {
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

// examineAlone returns the worst findings of one check.
func examineAlone(t *testing.T, s external.Spec, o Options, change func(*checker), name string) map[string]Finding {
	t.Helper()
	x := newChecker(t, s, o)
	change(x)
	found := map[string]Finding{}
	for _, f := range map[string]func() []Finding{"rules": x.rules, "perft": one(x.perft), "soak": one(x.soak)}[name]() {
		t.Logf("%-5s %s: %s", f.Verdict, f.Check, f.Text)
		if f.Verdict != Good {
			found[f.Check] = f
		}
	}
	return found
}

// canMeasure reports whether other processes can be seen, as on Linux.
func canMeasure(t *testing.T) bool {
	t.Helper()
	x, err := external.Examine(faultySpec(t, external.UCI, faultyengine.Fine), "xiangqi")
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	_, err = x.Memory()
	return !errors.Is(err, external.ErrNotMeasured)
}

// untold reports whether this machine was too busy for a finding about time.
func untold(f Finding) bool { return strings.Contains(f.Text, "too busy to tell") }

func as(changes ...func(*checker)) func(*checker) {
	return func(x *checker) {
		for _, c := range changes {
			c(x)
		}
	}
}

func grace(d time.Duration) func(*checker) {
	return func(x *checker) { x.program.SetTimes(patientStart, d, patientQuit) }
}

// TestFaults: what the check says to each faulty engine.
func TestFaults(t *testing.T) {
	measured := canMeasure(t)
	xiangqi, long := Options{Game: "xiangqi"}, Options{Game: "xiangqi", Moves: 30}
	breaks := faultyengine.Breaks
	tests := []struct {
		mode    string
		options Options
		check   string // "" if nothing is to be found
		verdict Verdict
		says    []string
	}{
		{faultyengine.Fine, long, "", Good, nil},
		{faultyengine.Counts, xiangqi, "", Good, nil},
		{faultyengine.EarlyMove, xiangqi, "stop", Warn, []string{"not tested: ", `to "go infinite" before it was told to stop`}},
		{faultyengine.Unflushed, xiangqi, "start", Bad, []string{"flush the output", `last sent "uci"`}},
		{faultyengine.CrashStart, xiangqi, "start", Bad, []string{"exit status 3", "no network file"}},
		{faultyengine.CrashSixth, xiangqi, "time", Bad, []string{"crash", "exit status 134"}},
		{faultyengine.Ranks, xiangqi, "moves", Bad, []string{"illegal", "bestmove", "ranks start at 0"}},
		{faultyengine.Opponent, xiangqi, "moves", Bad, []string{"a move of the other side"}},
		{faultyengine.Null, xiangqi, "moves", Bad, []string{"bestmove 0000", "no move"}},
		{faultyengine.IgnoreClock, xiangqi, "time", Bad, []string{"a move of 200ms", "ignores its clock"}},
		{faultyengine.OnlyStop, xiangqi, "clock", Bad, []string{"with 1s left", "until it is told to stop"}},
		{faultyengine.IgnoreStop, xiangqi, "stop", Bad, []string{"hang", `"stop"`}},
		{faultyengine.Chatter, xiangqi, "output", Warn, []string{"DEBUG: got", "stderr"}},
		{faultyengine.Repeats, xiangqi, "output", Warn, []string{"asked", `"bestmove`}},
		{faultyengine.LeaksMove, long, "output", Warn, []string{`when it was asked nothing`}},
		{faultyengine.DiesIdle, long, "output", Warn, []string{"ended between two games"}},
		{faultyengine.Zombie, xiangqi, "children", Bad, []string{"1 zombies"}},
		{faultyengine.Fork, xiangqi, "quit", Bad, []string{"processes left after its end: 1"}},
		{faultyengine.EarlyNull, xiangqi, "stop", Warn, []string{`"bestmove (none)" to "go infinite"`, "no more pondering"}},
		{faultyengine.IgnoreQuit, xiangqi, "quit", Warn, []string{`after "quit"`, "killed"}},

		{faultyengine.HangOnce, Options{Game: "xiangqi", Moves: 80}, "soak", Bad, []string{"1 fault after ", "hang: no answer"}},
		{faultyengine.KeepsBoard, Options{Game: "amazons", Moves: 60}, "soak", Bad, []string{"illegal"}},
		{faultyengine.CountsWrong, xiangqi, "perft", Bad, []string{"it has", "the horse's leg at "}},
		{breaks(game.RefusedLeg), xiangqi, "rules", Bad, []string{"the horse's leg at ", " is blocked"}},
		{breaks(game.RefusedEye), xiangqi, "rules", Bad, []string{"the elephant's eye at "}},
		{breaks(game.RefusedRiver), xiangqi, "rules", Bad, []string{"elephants stay on their side"}},
		{breaks(game.RefusedPalace), xiangqi, "rules", Bad, []string{"stay in the palace"}},
		{breaks(game.RefusedSideways), xiangqi, "rules", Bad, []string{"sideways only beyond the river"}},
		{breaks(game.RefusedBackward), xiangqi, "rules", Bad, []string{"never goes back"}},
		{breaks(game.RefusedScreen), xiangqi, "rules", Bad, []string{"over exactly one piece"}},
		{breaks(game.RefusedBlocked), xiangqi, "rules", Bad, []string{"something stands in the way"}},
		{breaks(game.RefusedFacing), xiangqi, "rules", Bad, []string{"kings would face each other"}},
		{breaks(game.RefusedExposes), xiangqi, "rules", Bad, []string{"its king would be in check"}},
		{breaks(game.RefusedInCheck), xiangqi, "rules", Bad, []string{"is in check and stays so"}},
		{breaks(game.RefusedBlocked), Options{Game: "amazons"}, "rules", Bad, []string{"something stands in the way"}},
		{breaks(game.RefusedShotBlocked), Options{Game: "amazons"}, "rules", Bad, []string{"something stands in the arrow's way"}},
		{breaks(game.RefusedShotOccupied), Options{Game: "amazons"}, "rules", Bad, []string{"the arrow's square is taken"}},
		{faultyengine.PlaysWell, Options{Game: "gomoku"}, "", Good, nil},
		{faultyengine.Forbidden, Options{Game: "gomoku", Rules: "gomoku/renju-15"}, "rules", Bad, []string{"overline", "double four", "double three"}},
		{faultyengine.Forbidden, Options{Game: "gomoku"}, "rules", Skip, []string{"not for gomoku/renju-15", "--rules"}},
	}
	for _, test := range tests {
		t.Run(test.mode+"/"+test.options.Game+test.options.Rules, func(t *testing.T) {
			t.Parallel() // they mostly wait
			if !measured && slices.Contains([]string{faultyengine.Zombie, faultyengine.Fork}, test.mode) {
				t.Skip("other processes can be seen on Linux alone")
			}
			change := as()
			switch test.mode {
			case faultyengine.Unflushed:
				change = func(x *checker) { x.program.SetTimes(time.Second, patientGrace, patientQuit) }
			case faultyengine.IgnoreStop, faultyengine.HangOnce:
				change = grace(shortGrace)
			case faultyengine.Fork: // it ends when told to; one that is killed is another finding
				change = func(x *checker) { x.program.SetTimes(patientStart, patientGrace, patientGrace) }
			}
			dialect := external.UCI
			if test.options.Game == "gomoku" {
				dialect = external.Gomocup
			}
			spec, found := faultySpec(t, dialect, test.mode), map[string]Finding{}
			switch test.check {
			case "rules", "perft", "soak": // the others would say nothing new
				found = examineAlone(t, spec, test.options, change, test.check)
			default:
				found = examine(t, spec, test.options, change)
			}
			if test.check == "" {
				for _, f := range found {
					if (f.Verdict == Bad || f.Verdict == Warn) && f.Check != "time" && f.Check != "clock" && f.Check != "stop" { // the machine may be busy
						t.Errorf("%+v", f)
					}
				}
				return
			}
			f := found[test.check]
			if untold(f) {
				t.Skip(f.Text)
			}
			if f.Verdict != test.verdict {
				t.Errorf("%s: %+v, want %s", test.check, f, test.verdict)
			}
			for _, s := range test.says {
				if !strings.Contains(f.Text, s) {
					t.Errorf("%q does not say %q", f.Text, s)
				}
			}
			if timed := found["time"]; test.mode == faultyengine.OnlyStop && timed.Verdict != Bad && !untold(timed) {
				t.Errorf("%+v", timed)
			}
		})
	}
	if !measured {
		return
	}
	s := faultySpec(t, external.UCI, faultyengine.Memory)
	s.Memory = 100 << 20
	if f := examine(t, s, xiangqi, as())["moves"]; f.Verdict != Bad || !strings.Contains(f.Text, "limit 100") {
		t.Errorf("%+v", f)
	}
}

// TestCheckOfStopIsMade: the search is stopped only after it has begun, however long
// that takes.
func TestCheckOfStopIsMade(t *testing.T) {
	s := faultySpec(t, external.UCI, faultyengine.IgnoreStop)
	s.Pause = 2 * moveTime
	x := newChecker(t, s, Options{Game: "xiangqi"})
	x.program.SetTimes(patientStart, shortGrace, patientQuit)
	if f := x.stop(); f.Verdict != Bad || !strings.Contains(f.Text, `last sent "stop"`) {
		t.Errorf("%+v", f)
	}
}

// newChecker returns a check that has not begun.
func newChecker(t *testing.T, s external.Spec, o Options) *checker {
	t.Helper()
	e, err := external.Examine(s, o.Game)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.SetTimes(patientStart, patientGrace, patientQuit)
	start, err := catalog.Setup(o.Game, o.Rules, "")
	if err != nil {
		t.Fatal(err)
	}
	return &checker{program: e, spec: s, options: o, start: start, waited: func(a external.Answer) time.Duration { return a.Waited }}
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
		x := newChecker(t, faultySpec(t, external.UCI, c.mode), Options{Game: "xiangqi"})
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

// TestRealEngines: engines by other authors pass.
func TestRealEngines(t *testing.T) {
	for _, real := range []struct {
		dialect external.Dialect
		program string
	}{{external.UCI, "fairy-stockfish"}, {external.UCCI, "fairy-stockfish"}, {external.XBoard, "hoixiangqi"}} {
		t.Run(string(real.dialect), func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(real.program)
			if err != nil {
				if path, err = exec.LookPath("/usr/games/" + real.program); err != nil {
					t.Skipf("%s is not installed (Debian has it)", real.program)
				}
			}
			for _, f := range examine(t, external.Spec{Dialect: real.dialect, Path: path}, Options{Game: "xiangqi", Moves: 20}, as()) {
				if f.Verdict == Bad && f.Check != "time" && f.Check != "clock" { // the machine may be busy
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
