// Package play plays games: a [Session] is one seat of one game.
//
// A session is driven by the platform's snapshots alone. One goroutine,
// [Session.Run], owns everything that belongs to the game. Others send it states,
// signals and functions; shared fields are atomic.
//
//	session.go   the goroutine: states from the platform in, moves out
//	position.go  the game so far, as the platform has it and our rules play it
//	turn.go      the move: think, send, handle the platform's answer
//	searching.go searches, also on the opponent's time
//	latency.go   what a move costs beyond thinking; serverclock.go, the platform's clock
//	resync.go    asking again when the platform is silent
//	manners.go   resigning, draws, takebacks, greeting
//	recorder.go  the record; event.go, what a display shows
//
// Recorder and manners are files and not packages: both act on the session's
// own state at almost every step.
package play
