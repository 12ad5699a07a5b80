// Package gomoku has the rules of five in a row.
//
// Callers that know no game use it through [Game] and the [game.Position]
// that its rules make. An engine takes the [Position] apart: [Position.Board]
// for the stones, [Set.Line] and [Table] for what a stone would make.
//
// # Text
//
// A move is a point, column letter (a, b, c, ... with no letter skipped) and
// row number counted from 1 at the bottom: h8 is the centre of a board of 15.
//
// A position is its rows from the top, '/' between them, 'x' black, 'o' white,
// numbers for runs of empty points, then a space and the side to move, 'b' or
// 'w': "15/15/.../15 b" is an empty board of 15. Composed problems and
// handicaps may have any number of stones of either colour.
//
// # Moves and keys
//
// Point p of a board of N is (row-1)*N + column, both counted from the bottom
// left, column a being 0. Its move is p+1, which fits in 9 bits.
//
// The key of a position is the exclusive or of game.Zobrist(seed, i), with the
// seed 0x676f6d6f6b75 ("gomoku"), over i = 2p for every black stone at p,
// i = 2p+1 for every white one, and i = 800 when White is to move.
package gomoku
