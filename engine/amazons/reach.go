package amazons

import (
	"math/bits"

	rules "sparring/game/amazons"
)

// rays64 has the squares from one on to the edge, in four directions towards higher
// squares, and in the four towards lower ones with the bits of the word reversed, on
// a board of one word. The layout is known to the assembly.
//
// Of a ray with an obstacle, those squares are free that are lower than its lowest
// occupied one; a subtraction finds them. Reversing the bits makes the same of the
// other four directions.
type rays64 struct{ up, down [4]uint64 }

// rays128 is rays64 for boards of two words.
type rays128 struct{ upLo, upHi, downLo, downHi [4]uint64 }

// newRays returns the rays of all squares: those of one word if the board has one.
func newRays(cols, rows int) (one []rays64, two []rays128) {
	steps := [4][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}}
	for s := range cols * rows {
		var r1 rays64
		var r2 rays128
		for i, step := range steps {
			var up, down rules.Bits
			for _, d := range []struct {
				sign int
				to   *rules.Bits
			}{{1, &up}, {-1, &down}} {
				for n := d.sign; ; n += d.sign {
					col, row := s%cols+n*step[0], s/cols+n*step[1]
					if col < 0 || col >= cols || row < 0 || row >= rows {
						break
					}
					*d.to = d.to.Or(rules.Bit(rules.Square(row*cols + col)))
				}
			}
			r1.up[i], r1.down[i] = up.Lo, bits.Reverse64(down.Lo)
			r2.upLo[i], r2.upHi[i] = up.Lo, up.Hi
			r2.downLo[i], r2.downHi[i] = bits.Reverse64(down.Hi), bits.Reverse64(down.Lo)
		}
		if cols*rows <= 64 {
			one = append(one, r1)
		} else {
			two = append(two, r2)
		}
	}
	return one, two
}

// queenMovesPlain returns the free squares one queen move from each side's amazons, and
// stores how many there are for each amazon, by its square.
func (g *geometry) queenMovesPlain(free rules.Bits, amazons [2]rules.Bits, moves *[maxSquares]uint8) (reach [2]rules.Bits) {
	for side, set := range amazons {
		for !set.Empty() {
			first := set.Pop()
			second := first
			if !set.Empty() {
				second = set.Pop()
			}
			a, b := rules.Bit(first), rules.Bit(second)
			if g.oneWord {
				a.Lo, b.Lo = fill64Plain(&g.slides, free.Lo, a.Lo, b.Lo)
			} else {
				a, b = fill128Plain(&g.slides, free, a, b)
			}
			a, b = a.And(free), b.And(free)
			moves[first], moves[second] = uint8(a.Count()), uint8(b.Count())
			reach[side] = reach[side].Or(a).Or(b)
		}
	}
	return reach
}
