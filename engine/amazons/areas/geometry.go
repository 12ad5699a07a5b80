package areas

import (
	"sparring/game"
	rules "sparring/game/amazons"
)

// Area is a part of the board that arrows enclose: amazons, by seat, and free
// squares.
type Area struct {
	Amazons [2]rules.Bits
	Free    rules.Bits
}

// open returns the squares of the area, those of amazons included.
func (a *Area) open() rules.Bits { return a.Free.Or(a.Amazons[0]).Or(a.Amazons[1]) }

// Owner returns the side with amazons in the area if it is the only one.
func (a *Area) Owner() (owner game.Seat, ok bool) {
	switch {
	case a.Amazons[game.Second].Empty():
		return game.First, true
	case a.Amazons[game.First].Empty():
		return game.Second, true
	}
	return 0, false
}

// maxSquares bounds the squares of a board, and offBoard is no square.
const (
	maxSquares = 128
	offBoard   = 255
)

// ring are the steps to the squares round a square, in columns and rows; step d+4
// is opposite to d.
var ring = [8][2]int{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}

// geometry has the neighbours of squares.
type geometry struct {
	cols, rows int
	next       [maxSquares][8]uint8
	around     [maxSquares]rules.Bits
}

func newGeometry(cols, rows int) *geometry {
	g := &geometry{cols: cols, rows: rows}
	for s := range cols * rows {
		for d, step := range ring {
			x, y := s%cols+step[0], s/cols+step[1]
			g.next[s][d] = offBoard
			if x >= 0 && x < cols && y >= 0 && y < rows {
				to := rules.Square(y*cols + x)
				g.next[s][d] = uint8(to)
				g.around[s] = g.around[s].Or(rules.Bit(to))
			}
		}
	}
	return g
}

// joined tells, for each set of open squares round a square, whether king steps
// among these alone connect them all.
var joined = func() (t [256]bool) {
	for set := range t {
		seen := set & -set
		for range ring {
			for d := range ring {
				// A square of the ring touches the next one, and straight ones
				// (even numbers) touch each other across the corner.
				for step := 1; step <= 2-d%2; step++ {
					pair := 1<<d | 1<<((d+step)%8)
					if set&pair == pair && seen&pair != 0 {
						seen |= pair
					}
				}
			}
		}
		t[set] = seen == set
	}
	return t
}()

// cuts reports whether the open squares may fall apart without the square s.
func (g *geometry) cuts(s rules.Square, open rules.Bits) bool {
	set := 0
	for d, to := range g.next[s] {
		if to != offBoard && open.Has(rules.Square(to)) {
			set |= 1 << d
		}
	}
	return !joined[set]
}

// flood returns the part of the open squares that king steps connect with s.
func (g *geometry) flood(s rules.Square, open rules.Bits) rules.Bits {
	part := rules.Bit(s)
	for fresh := part; !fresh.Empty(); {
		next := g.around[fresh.Pop()].And(open).AndNot(part)
		part, fresh = part.Or(next), fresh.Or(next)
	}
	return part
}

// maxParts is how many parts one arrow can split an area into: no more than four of
// the squares round it don't touch each other.
const maxParts = 4

// parts are the areas that an area has become.
type parts struct {
	list [maxParts]Area
	n    int
}

// without returns the parts of an area, after an amazon has moved, without the square
// of its arrow. Parts without amazons don't count.
func (g *geometry) without(a Area, arrow rules.Square) parts {
	var p parts
	a.Free = a.Free.AndNot(rules.Bit(arrow))
	open := a.open()
	if !g.cuts(arrow, open) {
		p.list[0], p.n = a, 1
		return p
	}
	for rest := a.Amazons[0].Or(a.Amazons[1]); !rest.Empty(); {
		part := g.flood(rest.First(), open)
		rest = rest.AndNot(part)
		p.list[p.n] = Area{[2]rules.Bits{a.Amazons[0].And(part), a.Amazons[1].And(part)}, a.Free.And(part)}
		p.n++
	}
	return p
}

// step is a move of an amazon in an area.
type step struct{ from, to, arrow rules.Square }

// after returns the parts of an area after a side's move.
func (g *geometry) after(a *Area, side game.Seat, m step) parts {
	b := *a
	b.Amazons[side] = b.Amazons[side].Xor(rules.Bit(m.from)).Xor(rules.Bit(m.to))
	b.Free = b.Free.Xor(rules.Bit(m.from)).Xor(rules.Bit(m.to))
	return g.without(b, m.arrow)
}

// steps appends a side's moves in an area, those of amazons and arrows that go
// one square first.
func (g *geometry) steps(buf []step, a *Area, side game.Seat) []step {
	start := len(buf)
	short := start
	for set := a.Amazons[side]; !set.Empty(); {
		from := set.Pop()
		for d := range ring {
			for to := g.next[from][d]; to != offBoard && a.Free.Has(rules.Square(to)); to = g.next[to][d] {
				free := a.Free.Or(rules.Bit(from))
				for e := range ring {
					for at := g.next[to][e]; at != offBoard && free.Has(rules.Square(at)); at = g.next[at][e] {
						buf = append(buf, step{from, rules.Square(to), rules.Square(at)})
						if g.next[from][d] == to && g.next[to][e] == at {
							last := len(buf) - 1
							buf[last], buf[short] = buf[short], buf[last]
							short++
						}
					}
				}
			}
		}
	}
	return buf
}
