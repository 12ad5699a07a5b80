// Package tune fits the weights of an evaluation to games (Texel tuning, after
// Peter Österlund): it minimizes the error with which evaluations of quiet
// positions predict the results of their games. [Sample] extracts positions
// from game records, [Fit] optimizes the weights, and [Manifest] stores them
// with everything needed to reproduce them. [LoadTrees] adds positions of search trees,
// labelled by searches, to those of games.
//
// The evaluation must be linear in its weights. A position's coefficients are
// extracted once, for several games in parallel; a pass over all positions is
// then a sparse matrix product. One goroutine adds up all sums in a fixed order,
// so the same games, options and seed give the same weights on the same type of
// machine.
package tune
