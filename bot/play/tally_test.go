package play

import (
	"testing"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// What an operator reads of a process: its moves, with what those cost for which its clock
// ran, and how its games ended.
func TestTally(t *testing.T) {
	tally := NewTally()
	tally.move(5*time.Millisecond, true)
	tally.move(time.Hour, false)
	ended := func(status protocol.Status, result game.Result, reason game.Reason, lost bool) {
		st := protocol.State{You: game.First}
		st.Status, st.Outcome = status, game.Outcome{Result: result, Reason: reason}
		tally.end(&st, lost)
	}
	for range 2 { // it lost on time
		ended(protocol.Finished, game.SecondWins, protocol.ReasonTime, true)
	}
	ended(protocol.Finished, game.FirstWins, protocol.ReasonTime, true)
	ended(protocol.Finished, game.SecondWins, protocol.ReasonResign, true)
	ended(protocol.Playing, game.Undecided, "", true) // the platform took the seat
	ended(protocol.Playing, game.Undecided, "", false)
	tally.Fault("one")
	tally.Fault("two")
	got := tally.Counts()
	want := Counts{Moves: 2, Ended: 6, LostOnTime: 2, SeatsLost: 1, Faults: 2, LastFault: "two", Measured: 1,
		Overhead: [3]time.Duration{5 * time.Millisecond, 5 * time.Millisecond, 5 * time.Millisecond}}
	if got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	var none *Tally
	none.move(time.Second, true)
	none.Fault("unseen")
}
