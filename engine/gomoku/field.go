package gomoku

import (
	"iter"
	"math"
	"math/bits"
	"sync"

	"sparring/game/gomoku"
)

// rows are the kinds of row that a stone makes in the four directions, four
// bits each.
type rows uint16

func (r rows) kind(d gomoku.Direction) gomoku.Kind { return gomoku.Kind(r >> (4 * d) & 15) }

func (r rows) with(d gomoku.Direction, k gomoku.Kind) rows {
	return r&^(15<<(4*d)) | rows(k)<<(4*d)
}

// tier is the strongest threat that a stone on an empty point would make. The
// points of a tier include those of the stronger ones.
type tier uint8

const (
	five  tier = iota // it wins
	two4s             // it makes two fives possible: an open four or two fours
	four              // it makes a four of any kind
	open3             // it makes an open three, or a four
	tiers
	noTier = tiers
)

// pointValue is what follows from a point's rows.
type pointValue struct {
	tier  tier
	foul  foul
	order int16 // the sum of rowValue
	share int32 // what a stone there adds to the evaluation, in units of 1/share
}

// foul is whether Renju forbids the point to Black, as far as the rows show.
type foul uint8

const (
	noFoul  foul = iota
	suspect      // two threes; whether both count depends on more of the board
	certain      // an overline or two fours
)

type valueTable [1 << 16]pointValue

// plainValues and renjuValues are the tables without and with forbidden points.
var (
	plainValues = sync.OnceValue(func() *valueTable { return newValueTable(false) })
	renjuValues = sync.OnceValue(func() *valueTable { return newValueTable(true) })
)

func newValueTable(fouls bool) *valueTable {
	t := new(valueTable)
	for i := range t {
		t[i] = valueOf(rows(i), fouls)
	}
	return t
}

func valueOf(r rows, fouls bool) pointValue {
	p := pointValue{tier: noTier}
	var count [gomoku.Kinds]int
	var order int32
	for d := range gomoku.Direction(gomoku.Directions) {
		k := r.kind(d)
		if k >= gomoku.Kinds {
			return p // not a kind: the table has room for more than there are
		}
		count[k]++
		order += rowValue[k]
		if stonesInRow[k] > 0 {
			p.share += rowValue[k] * share / stonesInRow[k]
		}
	}
	p.order = int16(min(order, math.MaxInt16))
	fours := count[gomoku.Four]
	if fouls && count[gomoku.FiveRow] == 0 {
		switch {
		case count[gomoku.Overline]+count[gomoku.DoubleFour] > 0, fours+count[gomoku.StraightFour] > 1:
			p.foul = certain
		case count[gomoku.OpenThree] > 1:
			p.foul = suspect
		}
	}
	switch {
	case p.foul == certain:
		p.order = 0
	case count[gomoku.FiveRow] > 0:
		p.tier = five
	case count[gomoku.StraightFour]+count[gomoku.DoubleFour] > 0 || fours > 1:
		p.tier = two4s
	case fours > 0:
		p.tier = four
	case count[gomoku.OpenThree] > 0:
		p.tier = open3
	}
	return p
}

// points is a set of points.
type points [(gomoku.MaxPoints + 63) / 64]uint64

func (s *points) add(p gomoku.Point)      { s[p>>6] |= 1 << (p & 63) }
func (s *points) remove(p gomoku.Point)   { s[p>>6] &^= 1 << (p & 63) }
func (s *points) has(p gomoku.Point) bool { return s[p>>6]>>(p&63)&1 != 0 }

func (s *points) empty() bool {
	var all uint64
	for _, w := range s {
		all |= w
	}
	return all == 0
}

func (s *points) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// first returns the lowest point of a nonempty set.
func (s *points) first() gomoku.Point {
	for i, w := range s {
		if w != 0 {
			return gomoku.Point(i<<6 + bits.TrailingZeros64(w))
		}
	}
	return gomoku.NoPoint
}

func (s *points) union(t *points) (u points) {
	for i := range s {
		u[i] = s[i] | t[i]
	}
	return u
}

func (s *points) intersect(t *points) (u points) {
	for i := range s {
		u[i] = s[i] & t[i]
	}
	return u
}

func (s *points) minus(t *points) (u points) {
	for i := range s {
		u[i] = s[i] &^ t[i]
	}
	return u
}

func (s *points) all() iter.Seq[gomoku.Point] {
	return func(yield func(gomoku.Point) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(gomoku.Point(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// change is a point and its rows before a stone changed them.
type change struct {
	point  gomoku.Point
	colour gomoku.Colour
	old    rows
}

// field is the board with the rows of every point, updated stone by stone.
type field struct {
	board  gomoku.Board
	tables [2]*gomoku.Table
	reach  [2]int // how far from a stone the rows of a colour can change
	table  [2]*valueTable
	*boardGeometry

	rows       [2][gomoku.MaxPoints]rows
	sets       [2][tiers]points        // empty points by tier
	open       points                  // empty points
	near       points                  // points near a stone
	neighbours [gomoku.MaxPoints]uint8 // number of stones near a point
	sum        [2]int32                // of the shares of a colour's stones

	log   []change
	marks []int // where each stone's changes begin in the log
}

func newField(b gomoku.Board, set gomoku.Set) *field {
	f := &field{board: gomoku.NewBoard(b.Size), boardGeometry: boardGeometries[b.Size]()}
	for c := range gomoku.Colour(2) {
		f.tables[c] = gomoku.TableOf(set.Line(c))
		f.reach[c] = 5
		if set.Line(c) == gomoku.FiveOrMore {
			f.reach[c] = 4 // a six counts as a five
		}
		f.table[c] = plainValues()
		if set.Forbids(c) {
			f.table[c] = renjuValues()
		}
	}
	for p := range gomoku.Point(b.Points) {
		f.open.add(p)
		for c := range gomoku.Colour(2) {
			for d := range gomoku.Direction(gomoku.Directions) {
				k := f.tables[c].Kind(f.board.Window(p, d), c)
				f.rows[c][p] = f.rows[c][p].with(d, k)
			}
		}
	}
	for p := range gomoku.Point(b.Points) {
		if c, ok := b.At(p); ok {
			f.put(p, c)
		}
		if b.Dead(p) {
			f.put(p, gomoku.Black)
			f.bury(p, gomoku.Black)
		}
	}
	f.log, f.marks = f.log[:0], f.marks[:0] // the stones of the root are not taken back
	return f
}

// boardGeometry is shared by all fields of one size.
type boardGeometry struct {
	around [gomoku.MaxPoints][]gomoku.Point // the points within nearby steps
	inside [gomoku.MaxPoints]int32          // distance to the nearest border
}

var boardGeometries = func() (g [gomoku.MaxSize + 1]func() *boardGeometry) {
	for size := range g {
		g[size] = sync.OnceValue(func() *boardGeometry { return newBoardGeometry(gomoku.NewBoard(size).Geometry) })
	}
	return g
}()

func newBoardGeometry(g *gomoku.Geometry) *boardGeometry {
	t := new(boardGeometry)
	for p := range gomoku.Point(g.Points) {
		x, y, last := g.Column(p), g.RowOf(p), g.Size-1
		t.inside[p] = int32(min(x, y, last-x, last-y))
		for dy := -nearby; dy <= nearby; dy++ {
			for dx := -nearby; dx <= nearby; dx++ {
				if q := g.Point(x+dx, y+dy); q != gomoku.NoPoint && q != p {
					t.around[p] = append(t.around[p], q)
				}
			}
		}
	}
	return t
}

func (f *field) clone() *field {
	c := *f
	c.log = append([]change(nil), f.log...)
	c.marks = append([]int(nil), f.marks...)
	return &c
}

func (f *field) value(p gomoku.Point, c gomoku.Colour) pointValue { return f.table[c][f.rows[c][p]] }

// wins reports whether a stone of colour c at the empty point makes five.
func (f *field) wins(p gomoku.Point, c gomoku.Colour) bool { return f.sets[c][five].has(p) }

// foul reports whether a stone of colour c at the empty point is forbidden.
func (f *field) foul(p gomoku.Point, c gomoku.Colour) bool {
	switch f.value(p, c).foul {
	case certain:
		return true
	case suspect:
		return f.board.Forbidden(p)
	}
	return false
}

// list adds an empty point to the sets of its tier, unlist removes it.
func (f *field) list(p gomoku.Point, c gomoku.Colour, t tier) {
	for ; t < tiers; t++ {
		f.sets[c][t].add(p)
	}
}

func (f *field) unlist(p gomoku.Point, c gomoku.Colour, t tier) {
	for ; t < tiers; t++ {
		f.sets[c][t].remove(p)
	}
}

// put sets a stone and updates the rows of all points in its reach.
func (f *field) put(p gomoku.Point, c gomoku.Colour) {
	for side := range gomoku.Colour(2) {
		f.unlist(p, side, f.value(p, side).tier)
	}
	f.open.remove(p)
	f.sum[c] += f.stone(p, c)
	f.board.Put(p, c)
	for _, q := range f.around[p] {
		if f.neighbours[q]++; f.neighbours[q] == 1 {
			f.near.add(q)
		}
	}
	f.marks = append(f.marks, len(f.log))
	f.spread(p)
}

// stone returns what a stone of c on p adds to the sum, by its rows and its place.
func (f *field) stone(p gomoku.Point, c gomoku.Colour) int32 {
	return f.value(p, c).share + share*inwards*f.inside[p]
}

// spread updates the rows of all points around p.
func (f *field) spread(p gomoku.Point) {
	for d := range gomoku.Direction(gomoku.Directions) {
		line, shift := f.board.LineThrough(p, d)
		step := f.board.Step(d)
		f.walk(p, d, line, int(shift), -2, -step)
		f.walk(p, d, line, int(shift), 2, step)
	}
}

// walk updates the points on one side of p in a line (bits is the step in the
// line, step that on the board). It ends where no row of either colour can have
// changed: a stone of the other colour or the border shields those behind it.
func (f *field) walk(p gomoku.Point, d gomoku.Direction, line uint64, shift, bits, step int) {
	reach := f.reach
	for i := 1; i <= max(reach[0], reach[1]); i++ {
		shift += bits
		p += gomoku.Point(step)
		cell := line >> (shift & 63) & 3
		if cell == border {
			return
		}
		window := uint32(line >> ((shift - 10) & 63))
		for c := range gomoku.Colour(2) {
			if reach[c] >= i {
				if k := f.tables[c].Kind(window, c); f.rows[c][p].kind(d) != k {
					f.updateRow(p, c, d, k)
				}
			}
		}
		if cell != 0 {
			reach[2-cell] = 0 // 1 is a black stone, which blocks White
		}
	}
}

// border is the value of a line's cells off the board and of dead stones.
const border = 3

// bury makes a stone dead (continuous rules); unbury reverts that, in reverse
// order.
func (f *field) bury(p gomoku.Point, c gomoku.Colour) {
	f.marks = append(f.marks, len(f.log))
	f.sum[c] -= f.stone(p, c)
	f.board.Bury(p, c)
	f.spread(p)
}

func (f *field) unbury(p gomoku.Point, c gomoku.Colour) {
	f.restore()
	f.board.Unbury(p, c)
	f.sum[c] += f.stone(p, c)
}

// updateRow sets the kind of a row.
func (f *field) updateRow(p gomoku.Point, c gomoku.Colour, d gomoku.Direction, k gomoku.Kind) {
	old := f.rows[c][p]
	f.log = append(f.log, change{p, c, old})
	f.setRows(p, c, old.with(d, k))
}

// setRows replaces a point's rows and updates the sets and sums.
func (f *field) setRows(p gomoku.Point, c gomoku.Colour, now rows) {
	before, after := &f.table[c][f.rows[c][p]], &f.table[c][now]
	f.rows[c][p] = now
	if f.open.has(p) {
		if before.tier < after.tier {
			f.unlist(p, c, before.tier)
			f.list(p, c, after.tier)
		} else if after.tier < before.tier {
			f.list(p, c, after.tier)
		}
		return
	}
	if owner, ok := f.board.At(p); ok && owner == c {
		f.sum[c] += after.share - before.share
	}
}

// restore undoes the changes since the last mark.
func (f *field) restore() {
	last := len(f.marks) - 1
	for i := len(f.log) - 1; i >= f.marks[last]; i-- {
		f.setRows(f.log[i].point, f.log[i].colour, f.log[i].old)
	}
	f.log, f.marks = f.log[:f.marks[last]], f.marks[:last]
}

// take takes back the last stone put, which is that of colour c on p.
func (f *field) take(p gomoku.Point, c gomoku.Colour) {
	f.restore()
	for _, q := range f.around[p] {
		if f.neighbours[q]--; f.neighbours[q] == 0 {
			f.near.remove(q)
		}
	}
	f.board.Remove(p, c)
	f.sum[c] -= f.stone(p, c)
	f.open.add(p)
	for side := range gomoku.Colour(2) {
		f.list(p, side, f.value(p, side).tier)
	}
}
