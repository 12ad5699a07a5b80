package search

import "sparring/game"

// Variety makes games differ that an engine of full strength would play in the same way: every
// static evaluation gets an error, which depends on Seed and the position alone. The errors are
// the same for both sides on average. They decide between moves that are nearly as good as each
// other, and where the search looks further, so that games soon part. What is proven, or settled by
// the rules, gets none. The zero value is no variety.
//
// Errors in the scores of the root's moves alone, by the window of each, were no better: -27 Elo ± 27 in Gomoku
// with errors of one percent, in 600 games of 8,000 nodes a move. They also had to be taken out of every
// score that the search reports or stores.
type Variety struct {
	Width Score // the greatest error, either way
	Seed  uint64
}

// Blur returns an evaluation with the error of the position with this key (Node.Key).
func (v *Variety) Blur(eval Score, key uint64) Score {
	if v.Width <= 0 {
		return eval
	}
	eval += Score(game.Zobrist(v.Seed, key)%uint64(2*v.Width+1)) - v.Width
	return min(max(eval, -MaxEval), MaxEval)
}

// salt changes the keys of the hash table: scores with one variety are of no use with another.
func (v *Variety) salt() uint64 {
	if v.Width <= 0 {
		return 0
	}
	return game.Zobrist(v.Seed, uint64(v.Width))
}

// VarietyWidth returns the difference in score that is worth so many percentage points of
// winning chance in an even position; elsewhere it is worth less.
func (p *Params) VarietyWidth(percent int) Score {
	return p.WinScale * Score(percent) / 25 // the winning chance's derivative is 1/(4*WinScale) there
}
