package amazons

import (
	"fmt"
	"math/bits"
)

// Square numbers a square from 0 at a1, along the rows from the bottom.
type Square uint8

// maxSquares is how many squares the seven bits in a move can name.
const maxSquares = 128

// maxSide bounds columns and rows; shifts rely on it being below 62.
const maxSide = 16

// Bits is a set of squares: square i is bit i of Lo, or bit i-64 of Hi.
type Bits struct{ Lo, Hi uint64 }

// Bit returns the set of s alone.
func Bit(s Square) Bits {
	if s < 64 {
		return Bits{Lo: 1 << s}
	}
	return Bits{Hi: 1 << (s & 63)}
}

// Empty reports whether no square is in the set.
func (b Bits) Empty() bool { return b.Lo|b.Hi == 0 }

// Has reports whether s is in the set.
func (b Bits) Has(s Square) bool {
	w := b.Lo
	if s >= 64 {
		w = b.Hi
	}
	return w>>(s&63)&1 != 0
}

// Count returns the number of squares in the set.
func (b Bits) Count() int { return bits.OnesCount64(b.Lo) + bits.OnesCount64(b.Hi) }

// And returns the intersection.
func (b Bits) And(c Bits) Bits { return Bits{b.Lo & c.Lo, b.Hi & c.Hi} }

// Or returns the union.
func (b Bits) Or(c Bits) Bits { return Bits{b.Lo | c.Lo, b.Hi | c.Hi} }

// Xor returns the squares in exactly one of the sets.
func (b Bits) Xor(c Bits) Bits { return Bits{b.Lo ^ c.Lo, b.Hi ^ c.Hi} }

// AndNot returns the squares of b that are not in c.
func (b Bits) AndNot(c Bits) Bits { return Bits{b.Lo &^ c.Lo, b.Hi &^ c.Hi} }

// First returns the lowest square of a set that is not empty.
func (b Bits) First() Square {
	if b.Lo != 0 {
		return Square(bits.TrailingZeros64(b.Lo))
	}
	return Square(64 + bits.TrailingZeros64(b.Hi))
}

// Pop removes the lowest square of a set that is not empty and returns it.
func (b *Bits) Pop() Square {
	if b.Lo != 0 {
		s := bits.TrailingZeros64(b.Lo)
		b.Lo &= b.Lo - 1
		return Square(s)
	}
	s := bits.TrailingZeros64(b.Hi)
	b.Hi &= b.Hi - 1
	return Square(64 + s)
}

// up shifts towards higher squares, down towards lower; 0 < n < 64, but n = 0
// is met on boards of one column, where the caller's mask is empty.
func (b Bits) up(n uint) Bits {
	return Bits{b.Lo << (n & 63), b.Hi<<(n&63) | b.Lo>>((64-n)&63)}
}

func (b Bits) down(n uint) Bits {
	return Bits{b.Lo>>(n&63) | b.Hi<<((64-n)&63), b.Hi >> (n & 63)}
}

// geometry is the shape of a board. Squares are stored without gaps, so a step
// along a row or diagonal is a shift and a mask against wrapping around.
type geometry struct {
	cols, rows int
	all        Bits // every square
	notFirst   Bits // all but column a
	notLast    Bits // all but the last column
}

func newGeometry(cols, rows int) (*geometry, error) {
	if cols < 1 || rows < 1 || cols > maxSide || rows > maxSide || cols*rows > maxSquares {
		return nil, fmt.Errorf("a board of %d columns and %d rows (at most %d each and %d squares)",
			cols, rows, maxSide, maxSquares)
	}
	g := &geometry{cols: cols, rows: rows}
	for s := range Square(cols * rows) {
		g.all = g.all.Or(Bit(s))
		if int(s)%cols != 0 {
			g.notFirst = g.notFirst.Or(Bit(s))
		}
		if int(s)%cols != cols-1 {
			g.notLast = g.notLast.Or(Bit(s))
		}
	}
	return g, nil
}

// ground is the set of squares that a move may enter, with masks for the
// directions: a step to the right must end in east, one to the left in west, a
// vertical one in all.
type ground struct {
	s               uint // squares in a row
	all, east, west Bits
}

func (g *geometry) ground(free Bits) ground {
	return ground{uint(g.cols), free, free.And(g.notFirst), free.And(g.notLast)}
}

// neighbours returns the squares of the ground one king step from the set.
func (g *ground) neighbours(b Bits) Bits {
	side := b.up(1).And(g.east).Or(b.down(1).And(g.west))
	return side.Or(b.up(g.s).Or(b.down(g.s)).And(g.all)).
		Or(b.up(g.s + 1).Or(b.down(g.s - 1)).And(g.east)).
		Or(b.up(g.s - 1).Or(b.down(g.s + 1)).And(g.west))
}

// spread returns the set with the squares one king step from it, and perhaps some
// beyond the board: sideways first, then up and down.
func (g *geometry) spread(b Bits) Bits {
	b = b.Or(b.up(1).And(g.notFirst)).Or(b.down(1).And(g.notLast))
	return b.Or(b.up(uint(g.cols))).Or(b.down(uint(g.cols)))
}

// reach returns the squares of the ground one queen move from the set.
func (g *ground) reach(b Bits) Bits {
	var r Bits
	for f := b.up(1).And(g.east); f.Lo|f.Hi != 0; f = f.up(1).And(g.east) {
		r = r.Or(f)
	}
	for f := b.down(1).And(g.west); f.Lo|f.Hi != 0; f = f.down(1).And(g.west) {
		r = r.Or(f)
	}
	for f := b.up(g.s).And(g.all); f.Lo|f.Hi != 0; f = f.up(g.s).And(g.all) {
		r = r.Or(f)
	}
	for f := b.down(g.s).And(g.all); f.Lo|f.Hi != 0; f = f.down(g.s).And(g.all) {
		r = r.Or(f)
	}
	for f := b.up(g.s + 1).And(g.east); f.Lo|f.Hi != 0; f = f.up(g.s + 1).And(g.east) {
		r = r.Or(f)
	}
	for f := b.down(g.s + 1).And(g.west); f.Lo|f.Hi != 0; f = f.down(g.s + 1).And(g.west) {
		r = r.Or(f)
	}
	for f := b.up(g.s - 1).And(g.west); f.Lo|f.Hi != 0; f = f.up(g.s - 1).And(g.west) {
		r = r.Or(f)
	}
	for f := b.down(g.s - 1).And(g.east); f.Lo|f.Hi != 0; f = f.down(g.s - 1).And(g.east) {
		r = r.Or(f)
	}
	return r
}
