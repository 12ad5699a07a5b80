package amazons

import "math/bits"

// Boards of up to 64 squares fit in one word, which makes counting twice as
// fast. This file is perft and countMoves for such boards.

// ground64 is ground for one word: for each of four lines its shift, and the
// squares that a step up or down the line may land on.
type ground64 struct {
	shift    [4]uint
	up, down [4]uint64
}

func (g *geometry) ground64(free uint64) ground64 {
	s := uint(g.cols)
	east, west := free&g.notFirst.Lo, free&g.notLast.Lo
	return ground64{
		[4]uint{1, s, s + 1, s - 1},
		[4]uint64{east, free, east, west},
		[4]uint64{west, free, west, east},
	}
}

func (g *geometry) perft64(own, other, free uint64, depth int) uint64 {
	if depth == 1 {
		return g.countMoves64(own, free)
	}
	var n uint64
	steps := g.ground64(free)
	for rest := own; rest != 0; rest &= rest - 1 {
		from := rest & -rest
		shots := g.ground64(free | from)
		tos, _ := steps.rays(from)
		for ; tos != 0; tos &= tos - 1 {
			to := tos & -tos
			arrows, _ := shots.rays(to)
			for ; arrows != 0; arrows &= arrows - 1 {
				n += g.perft64(other, own^from|to, (free|from)^to^arrows&-arrows, depth-1)
			}
		}
	}
	return n
}

func (g *geometry) countMoves64(own, free uint64) uint64 {
	ground := g.ground64(free)
	var planes [4]uint64
	n := 0
	for ; own != 0; own &= own - 1 {
		reach, back := ground.rays(own & -own)
		n += back
		for i := 0; reach != 0; i++ {
			planes[i], reach = planes[i]^reach, planes[i]&reach
		}
	}
	for i, plane := range planes {
		if plane != 0 {
			n += ground.raySum(plane) << i
		}
	}
	return uint64(n)
}

// rays is ground.rays.
func (g *ground64) rays(o uint64) (reach uint64, back int) {
	for i, s := range g.shift {
		a, b := 0, 0
		for f := o << (s & 63) & g.up[i]; f != 0; f = f << (s & 63) & g.up[i] {
			reach |= f
			a++
		}
		for f := o >> (s & 63) & g.down[i]; f != 0; f = f >> (s & 63) & g.down[i] {
			reach |= f
			b++
		}
		back += a + b + 2*a*b
	}
	return reach, back
}

// raySum is ground.raySum.
func (g *ground64) raySum(b uint64) (n int) {
	for i, s := range g.shift {
		for f := b << (s & 63) & g.up[i]; f != 0; f = f << (s & 63) & g.up[i] {
			n += bits.OnesCount64(f)
		}
		for f := b >> (s & 63) & g.down[i]; f != 0; f = f >> (s & 63) & g.down[i] {
			n += bits.OnesCount64(f)
		}
	}
	return n
}
