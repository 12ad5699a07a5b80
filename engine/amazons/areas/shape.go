package areas

import "math/bits"

// Sizes of the areas in a table, in squares with those of the amazons: one amazon,
// or one of each side.
const (
	OneAmazon  = 11
	TwoAmazons = 9
)

// cell is a square of a shape.
type cell struct{ x, y int8 }

// stride is the width of a mask, and maxSymmetries how many ways there are to turn
// and mirror it.
const (
	stride        = OneAmazon
	maxSymmetries = 8
)

// mask is a shape of up to 11 by 11 squares, shifted to the origin.
type mask struct{ hi, lo uint64 }

func (m *mask) set(at uint) {
	if at < 64 {
		m.lo |= 1 << at
	} else {
		m.hi |= 1 << (at - 64)
	}
}

func (m mask) less(o mask) bool { return m.hi < o.hi || m.hi == o.hi && m.lo < o.lo }

// rank returns the number of squares of the mask before one of them.
func (m mask) rank(at uint) int {
	if at < 64 {
		return bits.OnesCount64(m.lo & (1<<at - 1))
	}
	return bits.OnesCount64(m.lo) + bits.OnesCount64(m.hi&(1<<(at-64)-1))
}

// key identifies the shape. The perfect hash of a size needs keys that differ, which
// its construction checks.
func (m mask) key() uint64 { return mix(mix(0x6a09e667f3bcc909, m.lo), m.hi) }

// places returns a shape's mask after a symmetry, and the place of each cell in it.
// Bit 0 of a symmetry mirrors the columns, bit 1 the rows, bit 2 exchanges the two.
func places(cells []cell, width, height int8, symmetry int) (m mask, at [OneAmazon]uint8) {
	for i, c := range cells {
		x, y := c.x, c.y
		if symmetry&1 != 0 {
			x = width - x
		}
		if symmetry&2 != 0 {
			y = height - y
		}
		if symmetry&4 != 0 {
			x, y = y, x
		}
		at[i] = uint8(y)*stride + uint8(x)
		m.set(uint(at[i]))
	}
	return m, at
}

// extent moves cells to the origin and returns the greatest coordinates.
func extent(cells []cell) (width, height int8) {
	low, high := cells[0], cells[0]
	for _, c := range cells[1:] {
		low = cell{min(low.x, c.x), min(low.y, c.y)}
		high = cell{max(high.x, c.x), max(high.y, c.y)}
	}
	for i := range cells {
		cells[i].x -= low.x
		cells[i].y -= low.y
	}
	return high.x - low.x, high.y - low.y
}

// canonical returns the least mask among a shape's images, and the place of each cell
// in it. It moves the cells to the origin.
func canonical(cells []cell) (best mask, at [OneAmazon]uint8) {
	width, height := extent(cells)
	from, to := 0, maxSymmetries
	switch { // the canonical image is not wider than high
	case width < height:
		to = maxSymmetries / 2
	case width > height:
		from = maxSymmetries / 2
	}
	for symmetry := from; symmetry < to; symmetry++ {
		if m, places := places(cells, width, height, symmetry); symmetry == from || m.less(best) {
			best, at = m, places
		}
	}
	return best, at
}

// isCanonical reports whether a shape at the origin is its own canonical image.
func isCanonical(cells []cell, width, height int8) (m mask, ok bool) {
	if width > height {
		return m, false
	}
	to := maxSymmetries
	if width < height {
		to = maxSymmetries / 2
	}
	m, _ = places(cells, width, height, 0)
	for symmetry := 1; symmetry < to; symmetry++ {
		if image, _ := places(cells, width, height, symmetry); image.less(m) {
			return m, false
		}
	}
	return m, true
}

// shapes calls f with every shape of a size that king steps connect (a polyplet), up
// to symmetry, until f returns false. F may change the cells. It lists them as
// Redelmeier does ("Counting polyominoes: yet another attack", 1981): each cell is
// taken or left for good, so no shape comes twice.
func shapes(size int, f func(cells []cell, m mask) bool) {
	e := &enumeration{size: size, f: f}
	e.seen[e.at(cell{0, 0})] = true
	e.extend([]cell{{0, 0}})
}

type enumeration struct {
	size int
	f    func([]cell, mask) bool
	// The first cell is the leftmost one of the lowest row.
	seen  [(2*OneAmazon + 1) * (OneAmazon + 1)]bool
	taken []cell
	copy  [OneAmazon]cell
	ended bool
}

func (e *enumeration) at(c cell) int {
	return int(c.y)*(2*OneAmazon+1) + int(c.x) + OneAmazon
}

func (e *enumeration) extend(untried []cell) {
	for len(untried) > 0 && !e.ended {
		c := untried[len(untried)-1]
		untried = untried[:len(untried)-1]
		e.taken = append(e.taken, c)
		if len(e.taken) == e.size {
			cells := e.copy[:copy(e.copy[:], e.taken)]
			width, height := extent(cells)
			if m, ok := isCanonical(cells, width, height); ok {
				e.ended = !e.f(cells, m)
			}
		} else {
			next := append(make([]cell, 0, len(untried)+len(ring)), untried...)
			for _, d := range ring {
				n := cell{c.x + int8(d[0]), c.y + int8(d[1])}
				if n.y < 0 || n.y == 0 && n.x < 0 || e.seen[e.at(n)] {
					continue
				}
				e.seen[e.at(n)] = true
				next = append(next, n)
			}
			e.extend(next)
			for _, n := range next[len(untried):] {
				e.seen[e.at(n)] = false
			}
		}
		e.taken = e.taken[:len(e.taken)-1]
	}
}
