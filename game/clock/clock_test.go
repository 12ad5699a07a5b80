package clock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want Spec
	}{
		{"unlimited", Spec{}},
		{"300", Spec{Kind: SuddenDeath, Initial: 5 * time.Minute}},
		{"0.5", Spec{Kind: SuddenDeath, Initial: 500 * time.Millisecond}},
		{"10+0.1", Spec{Kind: Fischer, Initial: 10 * time.Second, Increment: 100 * time.Millisecond}},
		{"0+1", Spec{Kind: Fischer, Increment: time.Second}},
		{"60/5x10", Spec{Kind: ByoYomi, Initial: time.Minute, Periods: 5, Period: 10 * time.Second}},
		{"0/1x30", Spec{Kind: ByoYomi, Periods: 1, Period: 30 * time.Second}},
		{"5/move", Spec{Kind: PerMove, Period: 5 * time.Second}},
	} {
		got, err := Parse(c.text)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.text, got, err, c.want)
		}
		if got.String() != c.text {
			t.Errorf("Parse(%q) writes itself %q", c.text, got)
		}
	}
}

// TestKinds checks that every kind has its own text form, and that its clock
// charges the time used or is unlimited.
func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		s, err := Parse(k.Example())
		if err != nil || s.Kind != k || s.String() != k.Example() {
			t.Errorf("kind %d: Parse(%q) = %+v (%s), %v", k, k.Example(), s, s, err)
			continue
		}
		if !strings.Contains(Forms(), k.Example()) {
			t.Errorf("%q is missing in %q", k.Example(), Forms())
		}
		turn := Turn{State: s.Start()}
		budget, limited := s.Budget(turn.State)
		if limited != (k != Unlimited) {
			t.Errorf("%s: limited %v", s, limited)
		}
		if !limited {
			continue
		}
		if budget <= 0 {
			t.Errorf("%s: a budget of %v", s, budget)
		}
		for _, used := range []time.Duration{0, time.Second, budget, budget + 1} {
			if left, _ := s.Remaining(s.Advance(turn, used)); left != budget-used {
				t.Errorf("%s: %v remain after %v of %v", s, left, used, budget)
			}
			if _, ok := s.Charge(turn.State, used); ok != (used <= budget) {
				t.Errorf("%s: %v of %v in time: %v", s, used, budget, ok)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for text, playable := range map[string]bool{
		"unlimited": true, "300": true, "0.001": true, "0.001+0": true, "10+0.1": true, "0+1": false, "0.000+1": false,
		"0/1x30": true, "60/5x10": true, "5/move": true,
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
		if err := s.Check(); (err == nil) != playable {
			t.Errorf("%q: %v, want it to be playable: %v", text, err, playable)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "x", "-1", "0", "0+0", "1e3", "1.2345", "1.", ".5", "10+", "+1", "60/", "60/0x10", "60/101x10", "60/5x0", "60/5x", "60/x10",
		"/move", "0/move", "1209601", "1+1209601", "9999999", "10000000", "10 + 1", "10+1\n", "Unlimited", "١",
		strings.Repeat("1", 1000),
	} {
		got, err := Parse(text)
		if !errors.Is(err, ErrSyntax) {
			t.Errorf("Parse(%.20q) = %+v, %v; want an error", text, got, err)
			continue
		}
		if len(err.Error()) > 300 {
			t.Errorf("Parse(%.20q): the error repeats too much: %.80q", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"unlimited", "300", "10+0.1", "60/5x10", "5/move", "1.", "60/0x10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(spec.String())
		if err != nil || again != spec {
			t.Errorf("%q is %+v, and its text %q is %+v, %v", text, spec, spec, again, err)
		}
	})
}

func TestCharge(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		clock  string
		before State
		used   time.Duration
		after  State
		ok     bool
	}{
		{"10", State{Left: 10 * s}, 4 * s, State{Left: 6 * s}, true},
		{"10", State{Left: 4 * s}, 4 * s, State{}, true},
		{"10", State{Left: 4 * s}, 4*s + 1, State{}, false},
		{"10", State{Left: 4 * s}, -s, State{Left: 4 * s}, true}, // clocks never gain by a negative time
		{"10+2", State{Left: 4 * s}, 3 * s, State{Left: 3 * s}, true},
		{"10+2", State{Left: 4 * s}, 4*s + 1, State{}, false}, // the increment comes after the move
		{"5/move", State{}, 5 * s, State{}, true},
		{"5/move", State{}, 5*s + 1, State{}, false},
		{"unlimited", State{}, 1000 * time.Hour, State{}, true},
		{"60/3x10", State{Left: 60 * s, Periods: 3}, 59 * s, State{Left: s, Periods: 3}, true},
		{"60/3x10", State{Left: 2 * s, Periods: 3}, 11 * s, State{Periods: 3}, true}, // 9 s into a period: kept
		{"60/3x10", State{Left: 2 * s, Periods: 3}, 12 * s, State{Periods: 2}, true}, // all of it: gone
		{"60/3x10", State{Periods: 3}, 25 * s, State{Periods: 1}, true},
		{"60/3x10", State{Periods: 1}, 10 * s, State{Periods: 1}, true}, // the last is not taken by a move within it
		{"60/3x10", State{Periods: 1}, 10*s + 1, State{}, false},
	} {
		spec, err := Parse(c.clock)
		if err != nil {
			t.Fatal(err)
		}
		after, ok := spec.Charge(c.before, c.used)
		if after != c.after || ok != c.ok {
			t.Errorf("%s: %+v less %v is %+v, %v; want %+v, %v", c.clock, c.before, c.used, after, ok, c.after, c.ok)
		}
	}
}

func specs(t *rapid.T) Spec {
	d := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.IntRange(1, 600_000).Draw(t, "ms")) * time.Millisecond
	})
	spec, err := Parse(rapid.SampledFrom(Kinds()).Draw(t, "kind").Example())
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []struct {
		name string
		at   *time.Duration
	}{{"initial", &spec.Initial}, {"increment", &spec.Increment}, {"period", &spec.Period}} {
		if *field.at > 0 {
			*field.at = d.Draw(t, field.name)
		}
	}
	if spec.Periods > 0 {
		spec.Periods = rapid.IntRange(1, MaxPeriods).Draw(t, "periods")
	}
	return spec
}

// TestChargeKeepsWithinBudget plays random clocks down: a move is in time
// exactly when it took no more than the budget, and no clock ever grows by
// more than its increment.
func TestChargeKeepsWithinBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(t)
		st := spec.Start()
		for range 30 {
			budget, limited := spec.Budget(st)
			used := time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "used"))
			if limited && rapid.Bool().Draw(t, "near") {
				used = budget + time.Duration(rapid.IntRange(-1, 1).Draw(t, "off"))
			}
			after, ok := spec.Charge(st, used)
			if want := !limited || used <= budget; ok != want {
				t.Fatalf("%s at %+v: a move of %v in time: %v, want %v", spec, st, used, ok, want)
			}
			if !ok {
				if after != (State{}) {
					t.Fatalf("%s: a fallen flag leaves %+v", spec, after)
				}
				return
			}
			if after.Left < 0 || after.Left > st.Left+spec.Increment || after.Periods > st.Periods || spec.Kind == ByoYomi && after.Periods < 1 {
				t.Fatalf("%s: %+v less %v is %+v", spec, st, used, after)
			}
			st = after
		}
	})
}

func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := specs(t)
		var back Spec
		text, err := spec.MarshalText()
		if err == nil {
			err = back.UnmarshalText(text)
		}
		if err != nil || back != spec {
			t.Fatalf("%+v is %q, which is %+v, %v", spec, text, back, err)
		}
	})
}

func TestSpeed(t *testing.T) {
	for text, want := range map[string]Speed{
		"unlimited": Correspondence, "60+1": Bullet, "179": Bullet, "180": Blitz, "180+2": Blitz, "60/3x10": Blitz,
		"600": Rapid, "15/move": Rapid, "1500": Classical, "30/move": Rapid, "60/move": Classical,
		"7200+30": Classical, "86400": Correspondence, "259200/move": Correspondence, "1209600/move": Correspondence,
	} {
		spec, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := spec.Speed(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
