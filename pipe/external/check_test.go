package external

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/game/catalog"
	"sparring/pipe/external/faultyengine"
)

// examine returns all findings of a check.
func examine(t *testing.T, s Spec, limits times) map[string]Finding {
	t.Helper()
	found := map[string]Finding{}
	err := check(t.Context(), s, "xiangqi", limits, func(f Finding) {
		t.Logf("%-5s %s: %s", f.Verdict, f.Check, f.Text)
		found[f.Check] = f
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// untold reports whether this machine was too busy for a finding about time.
func untold(f Finding) bool { return strings.Contains(f.Text, "too busy to tell") }

// TestCheck: the check names an engine's fault.
func TestCheck(t *testing.T) {
	tests := []struct {
		mode    string
		check   string // "" if no fault is to be found
		verdict Verdict
		says    []string
	}{
		{faultyengine.EarlyMove, "stop", Warn, []string{"not tested: ", `to "go infinite" before it was told to stop`}},
		{faultyengine.Unflushed, "start", Bad, []string{"flush the output", `last sent "uci"`}},
		{faultyengine.CrashStart, "start", Bad, []string{"exit status 3", "no network file"}},
		{faultyengine.Ranks, "moves", Bad, []string{"illegal", "bestmove", "ranks start at 0"}},
		{faultyengine.Opponent, "moves", Bad, []string{"a move of the other side"}},
		{faultyengine.Null, "moves", Bad, []string{"bestmove 0000", "no move"}},
		{faultyengine.IgnoreClock, "time", Bad, []string{"a move of 200ms", "ignores its clock"}},
		{faultyengine.OnlyStop, "clock", Bad, []string{"with 1s left", "until it is told to stop"}},
		{faultyengine.IgnoreStop, "stop", Bad, []string{"hang", `"stop"`}},
		{faultyengine.Chatter, "output", Warn, []string{"DEBUG: got", "stderr"}},
		{faultyengine.Repeats, "output", Warn, []string{`and then, without being asked, "bestmove`}},
		{faultyengine.Zombie, "children", Bad, []string{"1 zombies"}},
		{faultyengine.Fork, "quit", Bad, []string{"processes left after its end: 1"}},
		{faultyengine.EarlyNull, "stop", Warn, []string{`"bestmove (none)" to "go infinite"`, "no more pondering"}},
		{faultyengine.IgnoreQuit, "quit", Warn, []string{`after "quit"`, "killed"}},
		{faultyengine.Fine, "", Good, nil},
	}
	for _, test := range tests {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel() // they mostly wait
			if !canMeasure && slices.Contains([]string{faultyengine.Zombie, faultyengine.Fork}, test.mode) {
				t.Skip("other processes can be seen on Linux alone")
			}
			limits := patient
			switch test.mode {
			case faultyengine.Unflushed:
				limits.start = time.Second
			case faultyengine.IgnoreStop:
				limits.grace = time.Second
			case faultyengine.Fork:
				limits.quit = patient.grace // it ends when told to; one that is killed is another finding
			}
			found := examine(t, faultySpec(t, test.mode), limits)
			if test.check == "" {
				for _, f := range found {
					if f.Verdict == Bad && f.Check != "time" && f.Check != "clock" { // the machine may be busy
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
	if !canMeasure {
		return
	}
	s := faultySpec(t, faultyengine.Memory)
	s.Memory = 100 << 20
	if f := examine(t, s, patient)["moves"]; f.Verdict != Bad || !strings.Contains(f.Text, "limit 100") {
		t.Errorf("%+v", f)
	}
}

// TestCheckOfStopIsMade: the search is stopped only after it has begun, however long
// that takes.
func TestCheckOfStopIsMade(t *testing.T) {
	s := faultySpec(t, faultyengine.IgnoreStop)
	s.Pause = 2 * moveTime
	limits := patient
	limits.grace = time.Second
	if f := examine(t, s, limits)["stop"]; f.Verdict != Bad || !strings.Contains(f.Text, `last sent "stop"`) {
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
		e := openFaulty(t, c.mode)
		start, err := catalog.Setup("xiangqi", "", "")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		x := &checker{engine: e, start: start, waits: func(int) map[string]time.Duration {
			if !c.busy {
				return nil
			}
			return map[string]time.Duration{"1": time.Second, "2": time.Since(began)} // one of its threads waits all the time
		}}
		if err := x.newGame(); err != nil {
			t.Fatal(err)
		}
		f := x.time()
		if !c.busy && (f.Verdict != Bad || !strings.Contains(f.Text, c.fault)) || c.busy && (f.Verdict != Skip || !strings.Contains(f.Text, "too busy to tell")) {
			t.Errorf("%s, busy %v: %+v", c.mode, c.busy, f)
		}
	}
}

// TestCheckRealEngines: engines by other authors pass.
func TestCheckRealEngines(t *testing.T) {
	for _, d := range []Dialect{UCI} {
		t.Run(string(d), func(t *testing.T) {
			for _, f := range examine(t, Spec{Dialect: d, Path: realEngine(t, "fairy-stockfish")}, defaultTimes) {
				if f.Verdict == Bad && f.Check != "time" && f.Check != "clock" { // the machine may be busy
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
