// Package frontend serves the engine to a GUI, a match runner or a platform over a
// pipe, in the client's protocol. [Serve] runs a conversation to its end.
//
// # Adding a protocol
//
// A protocol is one file: a type that implements handler, and an entry in the
// table protocols that recognizes its first line. The session, which all protocols
// share, does the rest: it reads lines of bounded length, keeps the position, and
// runs the one search with its clock, opening procedure and pondering. It calls
// the handler, on one goroutine, with
//
//   - handle: a line, when its schedule allows. A stop is handled at once and
//     applies to the search that it was meant for; a question whether the engine
//     is ready is answered at once; commands for the next search are queued, in
//     order, until this one has ended. None is lost.
//   - report: the state of the running search.
//   - answer: the result of the search, or why it could not start. No search runs
//     then, and the handler may start the next.
//   - sendError: an error in what the client sent.
//
// A handler calls its session's methods set (the position), think, ponder, stop,
// ponderHit, configure (hash, threads, level), ready, newGame, quit and say. It
// keeps only what its protocol has the engine remember.
package frontend
