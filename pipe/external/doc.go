// Package external runs other programs as engines: programs that speak a protocol
// over their standard input and output. [Open] makes an engine.Searcher of one,
// which can be used wherever our own engine can.
//
// A program can harm only its own game. It gets its own process group, its
// output is bounded, and its answers are checked against the rules. When it
// hangs, crashes, floods, exceeds its memory limit or plays an illegal move, it
// is killed with all processes that it has started, and the search ends with an
// *engine.Fault in Result.Err, with the last lines sent and received. The
// next search starts it again.
//
// Only what comes when a move is due counts as such a fault. Error messages, and
// odd answers while pondering, are ignored and reported in Result.Incidents; a
// program that fails while pondering is started again. So is one that ends between
// two moves, a few times in a game, if its protocol can set up a position.
//
// # Dialects
//
// A program gets the whole game, its start position and moves, if its protocol
// allows (uci, ucci; gomocup and xboard for a new game), or only the new moves if
// it keeps its own board. Differences between programs of one protocol, such as
// the ranks of Xiangqi moves, are found by what they say about themselves or by a
// test position.
//
// Programs that can be told to stop ponder: they search without limits, are
// stopped at a ponder hit, and are then asked again under the clock, because the
// clock of that move is not known before. Their hash table keeps what they have
// found. The others do not ponder. The clock pays for the time that a stop takes:
// it is measured and kept off the clock that the program is told, and a program that
// stops too slowly for its clock does not ponder for the rest of the game.
package external
