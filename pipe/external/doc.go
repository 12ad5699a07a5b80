// Package external runs engines that are not ours: programs that speak a
// protocol over their standard input and output. [Open] makes an
// engine.Searcher of one, which stands wherever our own engine does.
//
// Nothing that such a program does can hurt more than its own game. It gets a
// process group of its own; what it writes is bounded; what it answers is
// checked against the rules; and when it hangs, crashes, floods, takes more
// memory than it was given or plays an illegal move, it is killed with all
// that it has started, the search ends with an *engine.Fault in Result.Err
// that tells what was sent and what came back, and the next search starts it
// anew.
//
// # Dialects
//
// A program is told the whole game, its start position and moves, wherever its
// protocol can (uci, ucci; gomocup and xboard on a new game), and the new moves
// alone where it keeps a board of its own. What differs between programs of one
// protocol, as the ranks of Xiangqi moves, is found out from what they say of
// themselves or by a test position.
//
// Programs that can be told to stop are let think on the opponent's time: by an
// endless search that is stopped on a hit and followed by one under the clock,
// because the clock of that move is not known before. The program's hash table
// carries over what it has found. The others rest meanwhile.
package external
