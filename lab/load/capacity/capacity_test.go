package capacity

import (
	"math"
	"strings"
	"testing"
	"time"

	"sparring/game/clock"
)

func ask(t *testing.T, clockText string) Ask {
	t.Helper()
	spec, err := clock.Parse(clockText)
	if err != nil {
		t.Fatal(err)
	}
	return Ask{Games: 1000, Clock: spec, Rules: []string{"gomoku/freestyle-15"}, Cores: 8, HashMB: 64}
}

// TestOf: the figures follow from the costs.
func TestOf(t *testing.T) {
	costs := Costs{SearchMS: 6, PlatformMS: 2, GameKB: 100, BaseMB: 200, LogBytes: 1000}
	p, err := Of(ask(t, "60+0.5"), costs) // 80 s for 40 moves
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"seconds a move", p.SecondsPerMove, 2},
		{"moves a second", p.MovesPerSecond, 500},
		{"cores", p.CoresNeeded, 4},
		{"most moves a second", p.MaxMovesPerSecond, 700},
		{"most games", float64(p.MaxGames), 1400},
		{"memory", p.MemoryMB, 364},
		{"disk", p.DiskMBPerDay, 43_200},
		{"most disk", p.MaxDiskMBPerDay, 60_480},
	} {
		if math.Abs(c.got-c.want) > 1e-6*c.want {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
	if !p.Fits {
		t.Error("does not fit")
	}
	more := ask(t, "60+0.5")
	more.Games = 1401
	if p, err := Of(more, costs); err != nil || p.Fits || p.DiskMBPerDay > p.MaxDiskMBPerDay {
		t.Errorf("too many: %+v, %v", p, err)
	}
}

// TestBadAsk: one clear error for each fault.
func TestBadAsk(t *testing.T) {
	for want, change := range map[string]func(*Ask){
		"games 0":         func(a *Ask) { a.Games = 0 },
		"cores -1":        func(a *Ask) { a.Cores = -1 },
		"level 11":        func(a *Ask) { a.Level = 11 },
		"clock unlimited": func(a *Ask) { a.Clock = clock.Spec{} },
		"hash -1":         func(a *Ask) { a.HashMB = -1 },
		"at least one":    func(a *Ask) { a.Rules = nil },
		"unknown rules":   func(a *Ask) { a.Rules = []string{"chess"} },
	} {
		a := ask(t, "60+0.5")
		change(&a)
		if _, err := Of(a, Documented()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestMeasure: the time of all searches counts, a move each.
func TestMeasure(t *testing.T) {
	now := time.Duration(0)
	tick := func() time.Duration { now += 3 * time.Millisecond; return now }
	ms, err := Measure([]string{"gomoku", "amazons"}, 1, tick)
	if err != nil || math.Abs(ms-3) > 1e-9 {
		t.Errorf("%g ms, %v", ms, err)
	}
	if _, err := Measure([]string{"chess"}, 1, tick); err == nil {
		t.Error("a game that there is not")
	}
}
