// Package tablebase solves Xiangqi endgames with few men by retrograde analysis,
// and looks them up.
//
// [Build] solves sets and writes a file for each, [Open] opens a directory of
// such files, and [Tables.Probe] looks a position up, as an engine does (see
// Tables in engine/xiangqi). [Tables.Moves] shows the result of every move.
//
// # The content of a table
//
// A table has, for each position of its set and each side to move, the number
// of plies to the end of the game if the winner takes the shortest way and the
// loser the longest: odd if the side to move wins, even if it loses. A side
// without a move has lost, in check or not. Tables ignore the repetition rules
// and the move limit. So "drawn" only means that nobody can force a mate: a side
// that can draw only by perpetual check still loses by the rules. A win in the
// table never repeats a position, since the distance falls with each ply. It is
// a win under every rule set, provided that the move limit leaves enough plies
// and that no position on the way has already occurred twice in the game. The
// caller must check both.
package tablebase
