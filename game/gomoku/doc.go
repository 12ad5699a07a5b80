// Package gomoku implements the rules of five in a row.
//
// Callers that only play use [Game]. An engine uses the [Position] itself:
// [Position.Board] for the stones, [Set.Line] and [Table] for the rows that a
// stone would make.
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
// The continuous rules have dead stones, '#', and a word after the side to move
// for the rows of Black and White that have scored, "rows=1:0".
//
// Under an opening procedure there are further moves: "swap" and "stay" for
// the colours, "put-two" (swap2), "fifths-3" to ask for three fifth moves, and
// "offer:h10" to offer one; the point picked is then written as a stone is,
// h10. A position may have further words: "swapped" when the first seat holds
// White, "step=4:second" while the procedure is at its step 4 and the second
// seat is to act, "fifths=2" and "offers=h10,i9". Without step= it is over.
//
// # Moves and keys
//
// Point p of a board of N is (row-1)*N + column, both counted from the bottom
// left, column a being 0. Its move is p+1, which fits in 9 bits.
//
// The key of a position is the exclusive or of game.Zobrist(seed, i), with the
// seed 0x676f6d6f6b75 ("gomoku"), over i = 2p for every black stone at p,
// i = 2p+1 for every white one, and i = 800 when White is to move. Rule sets
// with an opening procedure add i = 801 when the first seat holds White and,
// while the procedure runs, 830 + its step, 810 + the number of fifth moves
// asked for if any, and 1000 + p for every fifth move offered at p. The
// continuous rules add i = 2000 + p for every dead stone, 1500 + n and 1600 + n
// for n > 0 rows of Black and of White.
package gomoku
