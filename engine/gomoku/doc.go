// Package gomoku lets the kernel play five in a row: [New] adapts a position,
// [Params] are the kernel's data for it.
//
// Move ordering, evaluation and the searches for a victory by continuous fours
// (VCF) or threats (VCT) all use one incremental table, the field: for every
// point, colour and direction the kind of row that a stone there would make (a
// gomoku.Kind), and the sets of points that make a five, a four or an open three.
//
// The evaluation and the rule to look for fives and double threes before
// anything else are those of Wang Jianxiong, "Application of Game-tree Search
// Algorithm in the Backgammon Game" (2011), sections 2.2 and 2.3.
package gomoku
