package arena

import (
	"testing"
	"time"

	"sparring/protocol"
)

// Two challenges do not ask the same players at once, and somebody who holds a slot for one
// of them is not asked for the other before the hold is over.
func TestReservations(t *testing.T) {
	r := reservations{players: make(map[protocol.PlayerID]reservation)}
	now := time.Now()
	reserve := func(g protocol.GameID, at time.Time, want bool, players ...protocol.PlayerID) {
		t.Helper()
		if got := r.reserve(g, players, at); got != want {
			t.Errorf("%s reserves %v: %t, want %t", g, players, got, want)
		}
	}
	both := []protocol.PlayerID{"ann", "bob"}
	reserve("g1", now, true, both...)
	reserve("g2", now, false, "cyd", "bob")
	reserve("g3", now, true, "cyd") // of whom that attempt has taken nothing
	reserve("g1", now, true, both...)
	r.release("g2", both, nil, now)
	reserve("g2", now, false, "bob")

	until := now.Add(time.Minute)
	r.release("g1", both, []protocol.PlayerID{"ann"}, until)
	reserve("g2", now, true, "bob")
	reserve("g2", now, false, "ann")
	reserve("g1", now, true, "ann") // whose slot is held for this game
	r.release("g1", []protocol.PlayerID{"ann"}, []protocol.PlayerID{"ann"}, until)
	reserve("g2", until.Add(-time.Second), false, "ann")
	reserve("g2", until.Add(time.Second), true, "ann")

	r.release("g3", []protocol.PlayerID{"cyd"}, []protocol.PlayerID{"cyd"}, until)
	r.end("g3")
	reserve("g2", now, true, "cyd")
	r.end("g3")
	reserve("g1", now, false, "cyd")
}
