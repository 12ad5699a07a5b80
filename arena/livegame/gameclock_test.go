package livegame

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"sparring/game"
	"sparring/game/clock"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

func spec(t testing.TB, text string) clock.Spec {
	t.Helper()
	s, err := clock.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGameClockTurns checks one turn of every kind of clock: its charge, and when the
// flag falls.
func TestGameClockTurns(t *testing.T) {
	for _, c := range []struct {
		clock   string
		used    int // ms
		left    int64
		periods int
		ok      bool
		flag    int // ms; -1 never
	}{
		{"unlimited", 1e7, 0, 0, true, -1},
		{"10", 4000, 6000, 0, true, 10000},
		{"10", 10000, 0, 0, true, 10000},
		{"10", 10001, 0, 0, false, 10000},
		{"10+2", 4000, 8000, 0, true, 10000},
		{"10+2", 10001, 0, 0, false, 10000},
		{"5/move", 5000, 0, 0, true, 5000},
		{"5/move", 5001, 0, 0, false, 5000},
		{"10/3x5", 9000, 1000, 3, true, 25000},
		{"10/3x5", 12000, 0, 3, true, 25000}, // within the first period: it is kept
		{"10/3x5", 16000, 0, 2, true, 25000},
		{"10/3x5", 25000, 0, 1, true, 25000},
		{"10/3x5", 25001, 0, 0, false, 25000},
	} {
		k := newGameClock(spec(t, c.clock))
		k.Start(game.Second, at(0))
		flag, limited := k.Flag()
		if limited != (c.flag >= 0) || limited && !flag.Equal(at(c.flag)) {
			t.Errorf("%s: flag at %v (%v), want %d ms", c.clock, flag.Sub(epoch), limited, c.flag)
		}
		charged, ok := k.Stop(at(c.used), 0)
		got := k.Clocks(at(c.used)).Seats[game.Second]
		if ok != c.ok || ok && (got.LeftMS != c.left || got.Periods != c.periods) || charged.Milliseconds() != int64(c.used) {
			t.Errorf("%s after %d ms: %+v, %v, charged %v; want %d ms, %d periods, %v", c.clock, c.used, got, ok, charged, c.left, c.periods, c.ok)
		}
	}
}

// Every kind of clock is charged, and its flag falls when its budget is used up.
func TestGameClockKinds(t *testing.T) {
	for _, kind := range clock.Kinds() {
		s := spec(t, kind.Example())
		k := newGameClock(s)
		k.Start(game.First, at(0))
		budget, limited := s.Budget(s.Start())
		if flag, ok := k.Flag(); ok != limited || limited && !flag.Equal(epoch.Add(budget)) {
			t.Errorf("%s: flag at %v (%v), want %v (%v)", s, flag.Sub(epoch), ok, budget, limited)
		}
		k.Pause(at(1500))
		k.Resume(at(9000))
		if flag, ok := k.Flag(); ok != limited || limited && !flag.Equal(at(7500).Add(budget)) {
			t.Errorf("%s: flag at %v after a pause of 7.5s, want %v", s, flag.Sub(epoch), budget+7500*time.Millisecond)
		}
		want, _ := s.Charge(s.Start(), 2*time.Second)
		if charged, ok := k.Stop(at(9500), 0); charged != 2*time.Second || !ok || k.clocks[game.First].State != want {
			t.Errorf("%s: charged %v, %v, left %+v, want %+v", s, charged, ok, k.clocks[game.First].State, want)
		}
		if _, ok := k.Flag(); ok {
			t.Errorf("%s: a stopped clock has a flag", s)
		}
		k.Start(game.Second, at(10000))
		if _, ok := k.Stop(at(10001).Add(budget), 0); ok == limited {
			t.Errorf("%s: a move after the flag: in time %v", s, ok)
		}
	}
}

// A turn that is interrupted, saved and restored at any time is charged like an
// uninterrupted one.
func TestGameClockInterrupted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clocks := []string{"10", "10+2", "10/3x5", "0/2x4"}
		for _, k := range clock.Kinds() {
			clocks = append(clocks, k.Example())
		}
		text := rapid.SampledFrom(clocks).Draw(t, "clock")
		s, _ := clock.Parse(text)
		whole, parts := newGameClock(s), newGameClock(s)
		whole.Start(game.First, at(0))
		parts.Start(game.First, at(0))
		used, now := 0, 0
		for range rapid.IntRange(1, 5).Draw(t, "interruptions") {
			d := rapid.IntRange(0, 9000).Draw(t, "ms")
			used += d
			now += d
			parts.Pause(at(now))
			c := parts.Clocks(at(now))
			parts = restoreGameClock(s, c, game.First, parts.Spent(at(now)))
			now += rapid.IntRange(0, 100000).Draw(t, "away")
			parts.Resume(at(now))
			wantFlag, limited := whole.Flag()
			if limited && wantFlag.Before(at(used)) {
				return // fallen: a referee has ended the game
			}
			flag, _ := parts.Flag()
			if limited && flag.Sub(at(now)) != wantFlag.Sub(at(used)) {
				t.Fatalf("%s: flag in %v, want %v", text, flag.Sub(at(now)), wantFlag.Sub(at(used)))
			}
		}
		wantCharged, wantOK := whole.Stop(at(used), 0)
		charged, ok := parts.Stop(at(now), 0)
		if ok != wantOK || charged != wantCharged {
			t.Fatalf("%s: charged %v %v, want %v %v", text, charged, ok, wantCharged, wantOK)
		}
		if got, want := parts.Clocks(at(now)).Seats, whole.Clocks(at(used)).Seats; ok && got != want {
			t.Fatalf("%s: %+v, want %+v", text, got, want)
		}
	})
}

func TestGameClockStartsLater(t *testing.T) {
	k := newGameClock(spec(t, "10+1"))
	k.Start(game.First, at(500))
	if charged, ok := k.Stop(at(100), 0); charged != 0 || !ok {
		t.Errorf("a move that arrives before its clock runs: charged %v, %v", charged, ok)
	}
	k.Start(game.Second, at(1000))
	if charged, _ := k.Stop(at(3000), 700*time.Millisecond); charged != 1300*time.Millisecond {
		t.Errorf("charged %v with 700 ms credit, want 1.3s", charged)
	}
	k.Start(game.First, at(3000))
	c := k.Clocks(at(4000))
	if c.Running == nil || *c.Running != game.First || c.Seats[game.First].LeftMS != 10000 {
		t.Errorf("in mid-turn: %+v, want first running with 11000-1000 ms", c)
	}
}

func TestLagQuota(t *testing.T) {
	p := DefaultPolicy().Lag
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	l := p.quota(spec(t, "60+1")) // 100 s expected: 150 + 4*100 = 550 ms a move, 1650 at the start
	for i, c := range []struct{ claimed, credited int }{
		{200, 200}, {1500, 1500}, {5000, 1050}, {5000, 550}, {5000, 550}, {-7, 0}, {0, 0}, {5000, 1650},
	} {
		if got := l.credit(ms(c.claimed)); got != ms(c.credited) {
			t.Errorf("move %d: %v of %v credited, want %v", i+1, got, ms(c.claimed), ms(c.credited))
		}
	}
	slow := p.quota(spec(t, "3600"))
	if slow.growth != time.Second {
		t.Errorf("growth %v for an hour, want the bound of 1s", slow.growth)
	}
	for range 100 {
		slow.credit(0)
	}
	if slow.quota != 7*time.Second {
		t.Errorf("quota %v after 100 moves without lag, want 7 growths", slow.quota)
	}
	none := LagPolicy{}.quota(spec(t, "60"))
	if got := none.credit(time.Second); got != 0 {
		t.Errorf("the zero policy credits %v", got)
	}
}
