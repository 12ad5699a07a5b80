// Package tablebase solves Xiangqi endgames with few men for good, by
// retrograde analysis, and looks them up.
//
// [Build] solves sets and writes a file for each, [Open] reads a directory of
// such files, and [Tables.Probe] tells how a position ends: it is what an
// engine needs (engine/xiangqi's Tables). [Tables.Moves] tells people what
// every move leads to.
//
// # What a table says
//
// A table has, for each position of its set and each side to move, the number
// of plies until the end when the winner hurries and the loser delays: odd
// when the side to move wins, even when it loses; a side without a move has
// lost, in check or not. Tables know the moves alone, and neither repetition
// nor the move limit. So "drawn" only means that nobody can force a mate: who
// can draw only by perpetual check still loses by the rules. A win is a win
// under every rule set, because its distance falls with each ply and so no
// position comes twice, if the move limit leaves it enough plies and if no
// position of the game so far has stood twice already; who asks must see to
// both.
package tablebase
