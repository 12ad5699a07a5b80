// Package gomoku lets the kernel play five in a row: [New] adapts a position,
// [Params] are the kernel's data for it.
//
// Everything rests on one incremental table, the field: for every point,
// colour and direction, the kind of row that a stone there makes (a
// gomoku.Kind), and sets of the points that make five, four or an open three.
// Ordering, evaluation and the search for a victory by continuous fours all
// read it.
//
// The evaluation and the rule to look for fives and double threes before
// anything else are those of Wang Jianxiong, "Application of Game-tree Search
// Algorithm in the Backgammon Game" (2011), sections 2.2 and 2.3.
package gomoku
