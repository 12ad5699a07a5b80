// Package frontend lets a GUI, a match runner or a platform use the engine over a
// pipe, in whichever protocol it speaks. [Serve] holds the conversation, to its
// end.
//
// # Adding a protocol
//
// A protocol is one file: a type with the methods of speaker, and an entry in
// the table protocols that says how its first line looks. All the rest is
// session's, the core's: it reads lines (bounded), keeps the position, runs the
// one search with its clock, its opening procedure and its pondering, and hands
// to the speaker, all on one goroutine and one thing at a time,
//
//   - obey: a line, when it is its turn, as the speaker has said of it. A stop
//     comes at once and finds the search that it is meant for; a question whether
//     the engine is ready comes at once; what sets up the next search waits, in
//     order, until this one has ended. None is lost.
//   - report: the state of the search under way.
//   - answer: what the search has found, or why it could not begin. By then no
//     search runs, and the speaker may start the next.
//   - complain: something was wrong with what the other side sent.
//
// A speaker acts on its session with set (the position), think, ponder, stop,
// hit, configure (hash, threads, level), ready, newGame, quit, and say. It
// keeps what its protocol has the engine remember, and no more.
package frontend
