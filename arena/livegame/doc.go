// Package livegame is the state of one game as its referee keeps it: the
// position, the two clocks, the seats and the open offers. It rules on requests
// and describes each change as an event for the game's log. The caller stores
// the event, informs the players and reads the time of day, so that everything here
// can be tested without a network or a real clock.
//
// The caller, one goroutine at a time, does this for every request and whenever
// [Game.Deadline] passes:
//
//	event, answer := g.Move(player, request, arrived, now)
//	if event != nil {
//		seq := ...           // append it to the log, by compare-and-set
//		g.Commit(seq, now)   // only now does the next clock start
//	}
//
// If the event can't be appended, the caller abandons the game instead of
// rolling it back: another referee owns it then.
package livegame
