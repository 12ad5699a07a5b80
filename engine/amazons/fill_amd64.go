package amazons

import (
	"golang.org/x/sys/cpu"

	rules "sparring/game/amazons"
)

// haveAVX2 chooses between the assembly and its plain twins.
var haveAVX2 = cpu.X86.HasAVX2

//go:noescape
func fill64AVX2(s *slides, free, a, b uint64) (ra, rb uint64)

//go:noescape
func fill128AVX2(s *slides, free, a, b rules.Bits) (ra, rb rules.Bits)

func fill64(s *slides, free, a, b uint64) (ra, rb uint64) {
	if haveAVX2 {
		return fill64AVX2(s, free, a, b)
	}
	return fill64Plain(s, free, a, b)
}

func fill128(s *slides, free, a, b rules.Bits) (ra, rb rules.Bits) {
	if haveAVX2 {
		return fill128AVX2(s, free, a, b)
	}
	return fill128Plain(s, free, a, b)
}

//go:noescape
func queenMoves64AVX2(rays *rays64, free, a, b uint64, moves *uint8) (ra, rb uint64)

//go:noescape
func queenMoves128AVX2(rays *rays128, free, a, b rules.Bits, moves *uint8) (ra, rb rules.Bits)

func (g *geometry) queenMoves(free rules.Bits, amazons [2]rules.Bits, moves *[maxSquares]uint8) (reach [2]rules.Bits) {
	switch {
	case !haveAVX2:
		return g.queenMovesPlain(free, amazons, moves)
	case g.oneWord:
		reach[0].Lo, reach[1].Lo = queenMoves64AVX2(&g.rays64[0], free.Lo, amazons[0].Lo, amazons[1].Lo, &moves[0])
	default:
		reach[0], reach[1] = queenMoves128AVX2(&g.rays128[0], free, amazons[0], amazons[1], &moves[0])
	}
	return reach
}
