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
