package policy

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	b := Backoff{Least: time.Second, Most: 5 * time.Second}
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
