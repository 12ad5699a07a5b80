// Package gomoku lets the kernel play five in a row: [New] adapts a position,
// [Params] are the kernel's data for it.
//
// Everything rests on one incremental table, the field. For each empty point and
// colour it has the kinds of row (gomoku.Kind) that a stone there would make in the
// four directions, and the code of the point: these four kinds in no order, one of
// 3,060. A code decides at one look-up what threat the stone makes, what the point
// adds to the evaluation, how the policy scores the move, and whether Renju may
// forbid it. The field keeps sums over the empty points, and the sets of points by
// threat; a log takes them back.
//
// The evaluation is a sum: the codes of the side to move and of the other side, with
// weights of their own, one number for who threatens what, and the correction of a
// small network that sees the lines of cells through each empty point (network.go).
// The policy, which orders moves and which reductions go by, is a softmax over the
// codes of a move's point. All are learnt, for each class of rules: [Linear],
// [Choices] and [NetworkWeights] present them to the packages that fit them, and
// weights/ has the results with their origin. See docs/training.md.
//
// Where a five or two fives at once are certain, a position counts as settled, with
// the plies to the end; where the other side threatens two fives, only the moves that
// answer are searched (position.go). The provers look for a victory by continuous
// fours (vcf.go) and by fours and threes (vct.go).
//
// The evaluation and order of moves of Wang Jianxiong, "Application of Game-tree
// Search Algorithm in the Backgammon Game" (2011), sections 2.2 and 2.3, can be played
// by name (wang2011.go).
package gomoku
