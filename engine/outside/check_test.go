package outside

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine/outside/broken"
)

// examine is all that a check finds.
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

// TestCheck: what an engine is broken by is named.
func TestCheck(t *testing.T) {
	tests := []struct {
		mode    string
		check   string // "" is that no fault is found
		verdict Verdict
		says    []string
	}{
		{broken.Unflushed, "start", Bad, []string{"flush the output", `sent last "uci"`}},
		{broken.CrashStart, "start", Bad, []string{"exit status 3", "no network file"}},
		{broken.Ranks, "moves", Bad, []string{"illegal", "bestmove", "ranks count from 0"}},
		{broken.Opponent, "moves", Bad, []string{"a move of the other side"}},
		{broken.Null, "moves", Bad, []string{"bestmove 0000", "no move"}},
		{broken.IgnoreClock, "time", Bad, []string{"a move of 200ms", "ignores its clock"}},
		{broken.OnlyStop, "time", Bad, []string{"a move of 200ms", "until it is told to stop"}},
		{broken.OnlyStop, "clock", Bad, []string{"with 1s left", "until it is told to stop"}},
		{broken.IgnoreStop, "stop", Bad, []string{"hang", `"stop"`}},
		{broken.Chatter, "output", Warn, []string{"DEBUG: got", "stderr"}},
		{broken.Zombie, "children", Bad, []string{"1 zombies"}},
		{broken.Fork, "quit", Bad, []string{"1 processes are left"}},
		{broken.IgnoreQuit, "quit", Warn, []string{`sent "quit"`, "killed"}},
		{broken.Fine, "", Good, nil},
	}
	for _, test := range tests {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel() // they wait more than they work
			if !canMeasure && slices.Contains([]string{broken.Zombie, broken.Fork}, test.mode) {
				t.Skip("other processes can be seen on Linux alone")
			}
			limits := patient
			switch test.mode {
			case broken.Unflushed:
				limits.start = time.Second
			case broken.IgnoreStop:
				limits.grace = time.Second
			}
			found := examine(t, brokenSpec(t, test.mode), limits)
			if test.check == "" {
				for _, f := range found {
					if f.Verdict == Bad && f.Check != "time" && f.Check != "clock" { // the machine may be busy
						t.Errorf("%+v", f)
					}
				}
				return
			}
			f := found[test.check]
			if f.Verdict != test.verdict {
				t.Errorf("%s: %+v, want %s", test.check, f, test.verdict)
			}
			for _, s := range test.says {
				if !strings.Contains(f.Text, s) {
					t.Errorf("%q does not say %q", f.Text, s)
				}
			}
		})
	}
	if !canMeasure {
		return
	}
	s := brokenSpec(t, broken.Memory)
	s.Memory = 100 << 20
	if f := examine(t, s, patient)["moves"]; f.Verdict != Bad || !strings.Contains(f.Text, "100 were allowed") {
		t.Errorf("%+v", f)
	}
}

// TestCheckRealEngines: engines that others have written pass.
func TestCheckRealEngines(t *testing.T) {
	for _, d := range []Dialect{UCI} {
		t.Run(string(d), func(t *testing.T) {
			for _, f := range examine(t, Spec{Dialect: d, Path: realEngine(t, "fairy-stockfish")}, usual) {
				if f.Verdict == Bad && f.Check != "time" && f.Check != "clock" { // the machine may be busy
					t.Errorf("%+v", f)
				}
			}
		})
	}
}
