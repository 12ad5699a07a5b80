package protocol

import (
	"fmt"
	"testing"
	"time"
)

// TestAllowances: what exceeds an allowance is dropped, refusals are limited as well,
// and no other kind of message and no other player is charged for it.
func TestAllowances(t *testing.T) {
	a := newAllowances(Limits{PerSecond: 3, HeartbeatsPerSecond: 2, StandingsPerSecond: 1, ChallengesPerSecond: 2, BytesPerSecond: 1000})
	now := time.Now()
	flood := func(p PlayerID, v Verb, size int) (taken, told int) {
		for range 10_000 {
			ok, tell := a.take(p, v, size, now)
			if ok {
				taken++
			}
			if tell {
				told++
			}
		}
		return taken, told
	}
	if taken, told := flood("alice", VerbHello, 10); taken != 3*burst || told != refusalsPerSecond*burst {
		t.Errorf("%d requests taken, %d refusals sent", taken, told)
	}
	if taken, told := flood("alice", VerbAlive, 10); taken != 2*burst || told != 0 {
		t.Errorf("%d heartbeats taken, %d refusals sent", taken, told)
	}
	if taken, _ := flood("alice", VerbStandings, 10); taken != 1*burst {
		t.Errorf("%d requests for standings taken", taken)
	}
	if taken, _ := flood("alice", VerbChallenge, 10); taken != 2*burst {
		t.Errorf("%d challenges taken", taken)
	}
	if taken, _ := flood("bob", VerbHello, 500); taken != 1000*burst/500 {
		t.Errorf("%d requests of 500 bytes taken", taken)
	}
	now = now.Add(time.Second)
	if taken, told := flood("alice", VerbHello, 10); taken != 3 || told != refusalsPerSecond {
		t.Errorf("a second later: %d requests taken, %d refusals sent", taken, told)
	}
}

// TestUnsetAllowances: a platform that names only its requests per second has the default
// limits of everything else.
func TestUnsetAllowances(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		verb Verb
		size int
		want int // messages at once
	}{
		{VerbHello, 1, 3 * burst},
		{VerbAlive, 1, DefaultLimits.HeartbeatsPerSecond * burst},
		{VerbStandings, 1, DefaultLimits.StandingsPerSecond * burst},
		{VerbChallenge, 1, DefaultLimits.ChallengesPerSecond * burst},
		{VerbHello, DefaultLimits.BytesPerSecond * burst, 1},
	} {
		a, taken := newAllowances(Limits{PerSecond: 3}), 0
		for range c.want + 1 {
			if ok, _ := a.take("alice", c.verb, c.size, now); ok {
				taken++
			}
		}
		if taken != c.want {
			t.Errorf("%s of %d bytes: %d taken, want %d", c.verb, c.size, taken, c.want)
		}
	}
}

// TestAllowancesAreForgotten: invented names do not fill the memory.
func TestAllowancesAreForgotten(t *testing.T) {
	a := newAllowances(DefaultLimits)
	long := time.Now().Add(-time.Hour)
	for n := range manyPlayers - 1 {
		a.take(PlayerID(fmt.Sprint("p", n)), VerbHello, 10, long)
	}
	a.take("alice", VerbHello, 10, time.Now().Add(time.Hour)) // not full for a while
	a.take("bob", VerbHello, 10, time.Now())
	if len(a.of) != 2 || a.of["alice"] == nil || a.of["bob"] == nil {
		t.Errorf("%d players remembered", len(a.of))
	}
}
