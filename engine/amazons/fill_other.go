//go:build !amd64

package amazons

import rules "sparring/game/amazons"

func fill64(s *slides, free, a, b uint64) (ra, rb uint64) { return fill64Plain(s, free, a, b) }

func fill128(s *slides, free, a, b rules.Bits) (ra, rb rules.Bits) {
	return fill128Plain(s, free, a, b)
}

func (g *geometry) queenMoves(free rules.Bits, amazons [2]rules.Bits, moves *[maxSquares]uint8) [2]rules.Bits {
	return g.queenMovesPlain(free, amazons, moves)
}
