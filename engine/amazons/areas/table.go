package areas

import (
	"math/bits"
	"sync/atomic"

	"sparring/game"
	rules "sparring/game/amazons"
)

// Table has the values of all areas of up to OneAmazon squares with one amazon, and of
// up to TwoAmazons squares with one amazon of each side. Sizes are added while it
// is in use. A nil Table has none.
type Table struct {
	dir   string
	sizes [OneAmazon + 1]atomic.Pointer[sizeTable]
}

// sizeTable has the values of the areas of one size, up to symmetry, colours included.
type sizeTable struct {
	size int
	hash *perfectHash
	// one has four bits for each shape and square: the filling number of an amazon
	// there.
	one []byte
	// two has the tight bounds of each shape and pair of squares i < j, with
	// Left's amazon on i, in eighths.
	two []bounds
}

type bounds struct{ low, high int8 }

// pairs returns the number of pairs of squares.
func pairs(size int) int { return size * (size - 1) / 2 }

// pair returns the number of the pair i < j.
func pair(i, j int) int { return pairs(j) + i }

// filling returns the filling number of an amazon on a square of a shape.
func (t *sizeTable) filling(shape, square int) int {
	at := shape*t.size + square
	return int(t.one[at/2] >> (at % 2 * 4) & 15)
}

// both returns the value with Left's and Right's amazons on two squares of a shape.
func (t *sizeTable) both(shape, left, right int) Value {
	if left < right {
		b := t.two[shape*pairs(t.size)+pair(left, right)]
		return tight(Number(b.low), Number(b.high))
	}
	b := t.two[shape*pairs(t.size)+pair(right, left)]
	return tight(-Number(b.high), -Number(b.low))
}

// Filling returns the filling number of an amazon that is alone in an area, if the table
// has it.
func (t *Table) Filling(cols int, amazon rules.Square, free rules.Bits) (moves int, ok bool) {
	a := Area{Amazons: [2]rules.Bits{rules.Bit(amazon)}, Free: free}
	v, ok := t.probe(cols, &a)
	return int(v.Low / Move), ok
}

// probe looks an area up, on a board of so many columns.
func (t *Table) probe(cols int, a *Area) (Value, bool) {
	if t == nil {
		return Value{}, false
	}
	open := a.open()
	n := open.Count()
	left, right := a.Amazons[game.First].Count(), a.Amazons[game.Second].Count()
	if n > OneAmazon || left > 1 || right > 1 || left+right == 2 && n > TwoAmazons {
		return Value{}, false
	}
	s := t.sizes[n].Load()
	if s == nil {
		return Value{}, false
	}
	var list [OneAmazon]cell
	var on [2]int // the cells of the amazons
	cells := list[:0]
	for set := open; !set.Empty(); {
		at := set.Pop()
		for side := range on {
			if a.Amazons[side].Has(at) {
				on[side] = len(cells)
			}
		}
		cells = append(cells, cell{int8(int(at) % cols), int8(int(at) / cols)})
	}
	m, at := canonical(cells)
	shape := s.hash.number(m.key())
	if left+right == 2 {
		return s.both(shape, m.rank(uint(at[on[0]])), m.rank(uint(at[on[1]]))), true
	}
	side := game.First
	if left == 0 {
		side = game.Second
	}
	moves := s.filling(shape, m.rank(uint(at[on[side]])))
	return ofSide(side, moves, moves), true
}

// builder computes the table of a size from those of smaller ones.
type builder struct {
	table *Table
	out   *sizeTable

	adjacent [OneAmazon]uint16    // cells next to each cell
	rays     [OneAmazon][8][]int8 // cells from each cell, by direction
	slots    [OneAmazon][8][OneAmazon]int8
	reach    [OneAmazon]uint16 // all cells of a cell's rays

	// Of each cell that is taken away, the parts that are left.
	part [OneAmazon][maxParts]shapePart
	in   [OneAmazon][OneAmazon]int8 // the part of each cell
}

// shapePart is a part of a shape after a cell is taken away.
type shapePart struct {
	size  *sizeTable
	shape int
	rank  [OneAmazon]int8 // of the cells that it has
}

// add computes the values of a shape.
func (b *builder) add(cells []cell, m mask) {
	n := len(cells)
	_, at := places(cells, 0, 0, 0)
	b.lines(cells)
	b.split(cells)
	shape := b.out.hash.number(m.key())
	var rank [OneAmazon]int
	for i := range cells {
		rank[i] = m.rank(uint(at[i]))
	}

	// The amazon's square matters only for where it can go: after the move it is
	// free, for the arrow as well.
	var best [OneAmazon]int
	for to := range n {
		for arrows := b.reach[to]; arrows != 0; arrows &= arrows - 1 {
			best[to] = max(best[to], b.filling(bits.TrailingZeros16(arrows), to))
		}
	}
	for from := range n {
		moves := 0
		for tos := b.reach[from]; tos != 0; tos &= tos - 1 {
			moves = max(moves, 1+best[bits.TrailingZeros16(tos)])
		}
		entry := shape*n + rank[from]
		b.out.one[entry/2] |= byte(moves) << (entry % 2 * 4)
	}
	if n <= TwoAmazons {
		b.addPairs(n, shape, &rank)
	}
}

// addPairs computes the values of a shape with an amazon of each side.
func (b *builder) addPairs(n, shape int, rank *[OneAmazon]int) {
	// The best result of a side that has moved to a cell, by the other amazon's.
	var left, right [OneAmazon][OneAmazon]Number
	for to := range n {
		for other := range n {
			if to == other {
				continue
			}
			l, r := -infinite, infinite
			for arrows := b.blocked(to, other); arrows != 0; arrows &= arrows - 1 {
				arrow := bits.TrailingZeros16(arrows)
				l = max(l, b.both(arrow, to, other).Low)
				r = min(r, b.both(arrow, other, to).High)
			}
			left[to][other], right[to][other] = l, r
		}
	}
	for i := range n {
		for j := range n {
			if i == j || rank[i] > rank[j] {
				continue
			}
			o := newOptions()
			for tos := b.blocked(i, j); tos != 0; tos &= tos - 1 {
				if v := left[bits.TrailingZeros16(tos)][j]; v > -infinite {
					o.add(game.First, number(v))
				}
			}
			for tos := b.blocked(j, i); tos != 0; tos &= tos - 1 {
				if v := right[bits.TrailingZeros16(tos)][i]; v < infinite {
					o.add(game.Second, number(v))
				}
			}
			v := o.value()
			b.out.two[shape*pairs(n)+pair(rank[i], rank[j])] = bounds{int8(v.Low), int8(v.High)}
		}
	}
}

// filling returns the filling number of an amazon on a cell once the arrow is shot.
func (b *builder) filling(arrow, on int) int {
	p := &b.part[arrow][b.in[arrow][on]]
	return p.size.filling(p.shape, int(p.rank[on]))
}

// both returns the value with Left's and Right's amazons on two cells once the arrow
// is shot.
func (b *builder) both(arrow, left, right int) Value {
	if part := b.in[arrow][left]; part == b.in[arrow][right] {
		p := &b.part[arrow][part]
		return p.size.both(p.shape, int(p.rank[left]), int(p.rank[right]))
	}
	return number(Number(b.filling(arrow, left)-b.filling(arrow, right)) * Move)
}

// lines computes the neighbours and rays of the cells.
func (b *builder) lines(cells []cell) {
	var index [OneAmazon + 2][OneAmazon + 2]int8 // cell+1 by row and column, from 1
	for i, c := range cells {
		index[c.y+1][c.x+1] = int8(i) + 1
	}
	for i, c := range cells {
		b.adjacent[i], b.reach[i] = 0, 0
		for d, step := range ring {
			ray := b.slots[i][d][:0]
			x, y := int(c.x)+1, int(c.y)+1
			for {
				x, y = x+step[0], y+step[1]
				next := index[y][x]
				if next == 0 {
					break
				}
				if len(ray) == 0 {
					b.adjacent[i] |= 1 << (next - 1)
				}
				ray = append(ray, next-1)
				b.reach[i] |= 1 << (next - 1)
			}
			b.rays[i][d] = ray
		}
	}
}

// blocked returns the cells that rays from a cell reach if another one is occupied.
func (b *builder) blocked(from, other int) uint16 {
	if b.reach[from]>>other&1 == 0 {
		return b.reach[from]
	}
	reach := b.reach[from]
	for d := range ring {
		hit := false
		for _, at := range b.rays[from][d] {
			if hit = hit || int(at) == other; hit {
				reach &^= 1 << at
			}
		}
	}
	return reach
}

// split finds the parts that are left without each of the cells.
func (b *builder) split(cells []cell) {
	for arrow := range cells {
		rest := uint16(1<<len(cells)-1) &^ (1 << arrow)
		for part := int8(0); rest != 0; part++ {
			set := rest & -rest
			for fresh := set; fresh != 0; {
				next := b.adjacent[bits.TrailingZeros16(fresh)] & rest &^ set
				fresh = fresh&(fresh-1) | next
				set |= next
			}
			rest &^= set
			var list [OneAmazon]cell
			var which [OneAmazon]int8
			n := 0
			for s := set; s != 0; s &= s - 1 {
				which[n] = int8(bits.TrailingZeros16(s))
				list[n] = cells[which[n]]
				n++
			}
			m, at := canonical(list[:n])
			p := &b.part[arrow][part]
			p.size = b.table.sizes[n].Load()
			p.shape = p.size.hash.number(m.key())
			for i := range n {
				p.rank[which[i]] = int8(m.rank(uint(at[i])))
				b.in[arrow][which[i]] = part
			}
		}
	}
}
