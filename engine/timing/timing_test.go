package timing

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sparring/engine/search"
	"sparring/game/clock"
)

func spec(t *rapid.T) clock.Spec {
	ms := func(name string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * time.Millisecond
	}
	sp, err := clock.Parse(rapid.SampledFrom(clock.Kinds()).Draw(t, "kind").Example())
	if err != nil {
		t.Fatal(err)
	}
	if sp.Initial > 0 {
		sp.Initial = ms("initial", 1000, 3_600_000)
	}
	if sp.Increment > 0 {
		sp.Increment = ms("increment", 50, 10_000)
	}
	if sp.Periods > 0 {
		sp.Periods = rapid.IntRange(1, 5).Draw(t, "periods")
	}
	if sp.Period > 0 {
		sp.Period = ms("period", 50, 60_000)
	}
	return sp
}

// TestNeverFlags plays a player that takes the whole hard limit and overhead on
// every move. It never flags while the overhead leaves time to think.
func TestNeverFlags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sp := spec(t)
		length := rapid.IntRange(20, 200).Draw(t, "length")
		overhead := time.Duration(rapid.IntRange(0, 40).Draw(t, "overhead")) * time.Millisecond
		mine, theirs := sp.Start(), sp.Start()
		for ply := 0; ply < 300; ply += 2 {
			budget, limited := sp.Budget(mine)
			if limited && budget < overhead+MinBudget {
				return // lost to the line, not to the time manager
			}
			b := Allot(Situation{Clock: sp, Mine: mine, Theirs: theirs, Ply: ply, Length: length, Overhead: overhead})
			if b.Hard < MinBudget || b.Soft > b.Hard || b.Soft < 0 {
				t.Fatalf("ply %d: limits %+v", ply, b)
			}
			if limited && b.Hard > budget-overhead {
				t.Fatalf("ply %d: hard limit %v with %v on the clock and %v overhead", ply, b.Hard, budget, overhead)
			}
			used := time.Duration(rapid.Float64Range(0, 1).Draw(t, "used")*float64(b.Hard)) + overhead
			var ok bool
			if mine, ok = sp.Charge(mine, used); !ok {
				t.Fatalf("ply %d: flag fell: used %v of %v", ply, used, budget)
			}
		}
	})
}

// TestKinds checks that every kind of clock gives the first move some time: part of
// the budget if there is one.
func TestKinds(t *testing.T) {
	for _, k := range clock.Kinds() {
		sp, err := clock.Parse(k.Example())
		if err != nil {
			t.Fatal(err)
		}
		b := Allot(Situation{Clock: sp, Mine: sp.Start(), Theirs: sp.Start(), Length: 80})
		budget, limited := sp.Budget(sp.Start())
		if limited && (b.Hard < budget/100 || b.Hard > budget) || !limited && b != (Budget{Unhurried, ratio * Unhurried}) {
			t.Errorf("%s: %+v of a budget of %v", sp, b, budget)
		}
	}
}

// TestMost checks that a move takes no longer than it may, whatever is on the clock.
func TestMost(t *testing.T) {
	for _, k := range clock.Kinds() {
		sp, err := clock.Parse(k.Example())
		if err != nil {
			t.Fatal(err)
		}
		const most, overhead = 50 * time.Millisecond, 10 * time.Millisecond
		b := Allot(Situation{Clock: sp, Mine: sp.Start(), Theirs: sp.Start(), Length: 80, Overhead: overhead, MoveLimit: most})
		if b.Hard != most-overhead || b.Soft > b.Hard {
			t.Errorf("%s: %+v, want at most %v", sp, b, most-overhead)
		}
	}
}

// TestMovesToGo checks that nothing is kept back before a time control: the last
// move may take nearly all, and a player that takes every hard limit reaches it.
func TestMovesToGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		left := time.Duration(rapid.IntRange(1000, 600_000).Draw(t, "left")) * time.Millisecond
		togo := rapid.IntRange(1, 60).Draw(t, "togo")
		overhead := time.Duration(rapid.IntRange(0, 10).Draw(t, "overhead")) * time.Millisecond
		sp := clock.Spec{Kind: clock.SuddenDeath, Initial: left}
		for n := togo; n > 0; n-- {
			b := Allot(Situation{Clock: sp, Mine: clock.State{Left: left}, Ply: 2 * (togo - n), Length: 90, MovesToGo: n, Overhead: overhead})
			if b.Hard < MinBudget || b.Soft > b.Hard {
				t.Fatalf("%d moves to go in %v: %+v", n, left, b)
			}
			if n == 1 && left > sp.Initial/4 && b.Soft < left/3 {
				t.Fatalf("the last move in %v gets %v", left, b.Soft)
			}
			if left -= b.Hard + overhead; left < 0 {
				t.Fatalf("flag fell with %d moves to go", n)
			}
			if left < overhead+MinBudget {
				return // such a player has used all: no more to allot
			}
		}
	})
}

// TestFairShare checks that a player that always takes the soft limit gets through
// a game of the usual length, uses a fair share of the time, and keeps some for the
// end.
func TestFairShare(t *testing.T) {
	for _, text := range []string{"60", "300", "10+0.1", "180+2", "60/3x10", "20/5x5"} {
		sp, err := clock.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		const length, overhead = 100, 20 * time.Millisecond
		mine := sp.Start()
		var used, last time.Duration
		first := time.Duration(0)
		for ply := 0; ply < length; ply += 2 {
			b := Allot(Situation{Clock: sp, Mine: mine, Theirs: mine, Ply: ply, Length: length, Overhead: overhead})
			last = b.Soft
			if b.Soft == 0 {
				last = b.Hard
			}
			if ply == 0 {
				first = last
			}
			used += last + overhead
			var ok bool
			if mine, ok = sp.Charge(mine, last+overhead); !ok {
				t.Fatalf("%s: flag fell at ply %d", text, ply)
			}
		}
		total := sp.Initial + time.Duration(length/2)*(sp.Increment+sp.Period)
		if share := float64(used) / float64(total); share < 0.6 || share > 1 {
			t.Errorf("%s: used %.0f %% of %v", text, 100*share, total)
		}
		if last < first/5 {
			t.Errorf("%s: %v for the first move, %v for the last", text, first, last)
		}
		if sp.Kind == clock.ByoYomi && mine.Periods != sp.Periods {
			t.Errorf("%s: %d periods left", text, mine.Periods)
		}
	}
}

func TestPerMoveUsesAll(t *testing.T) {
	b := Allot(Situation{Clock: clock.Spec{Kind: clock.PerMove, Period: time.Second}, Length: 80, Overhead: 30 * time.Millisecond})
	if want := (Budget{Hard: 970 * time.Millisecond}); b != want {
		t.Errorf("got %+v, want %+v", b, want)
	}
}

func TestTighterClockIsShorter(t *testing.T) {
	s := Situation{Clock: clock.Spec{Kind: clock.SuddenDeath, Initial: time.Minute}, Length: 80}
	s.Theirs.Left = 30 * time.Second
	s.Mine.Left = 30 * time.Second
	even := Allot(s)
	s.Mine.Left = 15 * time.Second
	if less := Allot(s); less.Soft >= even.Soft/2+time.Millisecond {
		t.Errorf("half the time, but %v after %v", less.Soft, even.Soft)
	}
	s.Mine.Left = 30 * time.Second
	s.Theirs.Left = 10 * time.Second
	if more := Allot(s); more.Soft <= even.Soft {
		t.Errorf("ahead on the clock, but %v after %v", more.Soft, even.Soft)
	}
}

func TestSoftScale(t *testing.T) {
	calm := SoftScale(search.Progress{StableIterations: 8, Effort: 0.95})
	usual := SoftScale(search.Progress{StableIterations: 3, Effort: 0.5})
	alarm := SoftScale(search.Progress{StableIterations: 0, Effort: 0.3, WinProbDrop: 0.2})
	if !(0.3 <= calm && calm < usual && usual < alarm && alarm <= 3) {
		t.Errorf("calm %.2f, usual %.2f, alarm %.2f", calm, usual, alarm)
	}
}

// TestMoveLimit: only where a move has days, or more than a minute of its own, it has a limit
// besides the clock, unless one was set.
func TestMoveLimit(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"unlimited": 0, "60": 0, "10+0.1": 0, "180+2": 0, "600": 0, "900+10": 0, "5400+30": 0,
		"7200": 0, "36000+30": 0, "60/5x10": 0, "1800/3x60": 0, "5/move": 0, "60/move": 0,
		"100/move": LongestMove, "259200/move": LongestMove, "86400": LongestMove, "1209600": LongestMove,
		"0+3600": LongestMove, "0/1x86400": LongestMove,
	} {
		c, err := clock.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := MoveLimit(c, 0); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if got := MoveLimit(c, 2*time.Second); got != 2*time.Second {
			t.Errorf("%s: %v, want what was set", text, got)
		}
	}
}
