// Package tune fits the weights of an evaluation to games, as Peter Österlund
// did for Texel: it looks for the weights whose evaluations of quiet positions
// foretell best what became of them. [Sample] takes positions from records of
// games, [Fit] finds the weights, [Manifest] keeps them with all that is needed
// to find them again.
//
// The evaluation must be linear in its weights. A position's coefficients are
// taken once, several games at a time; a pass over all positions is then a
// sparse matrix product. All sums are taken in one order, by one goroutine, so
// that the same games, options and seed give the same weights on one kind of
// machine.
package tune
