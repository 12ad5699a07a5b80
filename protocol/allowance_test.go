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
