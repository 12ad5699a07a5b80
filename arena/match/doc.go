// Package match is one game as its referee knows it: the position, the two
// clocks, the seats and the offers between them. It decides what a request
// does and says it as an event for the game's log; storing the event, telling
// players and reading the time of day are its caller's, so that everything
// here is tested without a network and with any time one likes.
//
// The caller, one goroutine at a time, does for every request and whenever
// [Match.Deadline] passes:
//
//	event, answer := m.Move(player, request, arrived, now)
//	if event != nil {
//		seq := ...           // append it to the log, by compare-and-set
//		m.Commit(seq, now)   // only now does the next clock start
//	}
//
// A match whose event could not be appended is abandoned by its caller, never
// rolled back: another referee owns the game then.
package match
