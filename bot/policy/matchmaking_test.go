package policy

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sparring/protocol"
)

func TestBackoff(t *testing.T) {
	b := Backoff{Min: time.Second, Max: 5 * time.Second}
	pauses := func(want time.Duration) {
		t.Helper()
		for range 100 {
			if got := b.Next(); got > want || got < want*3/4 {
				t.Fatalf("pause %v, want three quarters to all of %v", got, want)
			}
		}
	}
	pauses(time.Second)
	b.Failed()
	pauses(2 * time.Second)
	b.Failed()
	b.Failed()
	pauses(5 * time.Second)
	b.Succeeded()
	pauses(time.Second)
}

// Challenges that the platform would refuse each time are faults of the settings.
func TestMatchmakingIsPossible(t *testing.T) {
	good := Matchmaking{On: true, Clock: spec(t, "60+1"), Rated: true, Interval: time.Second, Longest: time.Minute}
	for _, c := range []struct {
		change func(*Matchmaking)
		want   string // the name of the setting; "": no fault
	}{
		{func(*Matchmaking) {}, ""},
		{func(m *Matchmaking) { m.Clock = spec(t, "unlimited") }, "AT_CLOCK: "},
		{func(m *Matchmaking) { m.Clock, m.Rated = spec(t, "unlimited"), false }, ""},
		{func(m *Matchmaking) { m.Clock = spec(t, "0+1") }, "AT_CLOCK: 0+1: no time"},
		{func(m *Matchmaking) { m.Clock, m.On = spec(t, "0+1"), false }, ""},
		{func(m *Matchmaking) { m.Rules = "xiangqi/wxf+handicap=rook" }, "AT_RULES: "},
		{func(m *Matchmaking) { m.Rules, m.Rated = "xiangqi/wxf+handicap=rook", false }, ""},
		{func(m *Matchmaking) { m.Rules = "xiangqi/cxa+limit=20" }, "AT_RULES: "},
		{func(m *Matchmaking) { m.Pool = protocol.LadderPoolOf("gomoku") }, "AT_POOL: "},
		{func(m *Matchmaking) { m.Pool = "a..b" }, "AT_POOL: "},
		{func(m *Matchmaking) { m.Rules = "xiangqi/moon" }, "AT_RULES: "},
		{func(m *Matchmaking) { m.Interval = 0 }, "AT_INTERVAL: "},
		{func(m *Matchmaking) { m.Longest = m.Interval }, ""},
		{func(m *Matchmaking) { m.Longest = m.Interval - 1 }, "AT_LONGEST: "},
		{func(m *Matchmaking) { m.Pool, m.On = protocol.LadderPool, false }, ""},
	} {
		m := good
		c.change(&m)
		errs := m.Validate("AT_")
		if len(errs) > 1 || (len(errs) == 1) != (c.want != "") || len(errs) == 1 && !strings.HasPrefix(errs[0].Error(), c.want) {
			t.Errorf("%+v: %v, want %q", m, errs, c.want)
		}
	}
}

func TestEncountersForgetOldGames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewEncounters(time.Hour)
		e.Add("ann")
		time.Sleep(30 * time.Minute)
		e.Add("ann")
		e.Add("bob")
		if n := e.Recent("ann"); n != 2 {
			t.Errorf("%d games against ann, want 2", n)
		}
		time.Sleep(31 * time.Minute)
		if ann, eve := e.Recent("ann"), e.Recent("eve"); ann != 1 || eve != 0 {
			t.Errorf("%d games against ann and %d against eve, want 1 and 0", ann, eve)
		}
		time.Sleep(time.Hour)
		e.Add("eve")
		if len(e.begun) != 1 {
			t.Errorf("it remembers %d opponents, want 1", len(e.begun))
		}
	})
}
