package gomoku

import (
	"iter"
	"math"
	"math/bits"
	"sync"

	"sparring/game/gomoku"
)

// rows are the four kinds that a stone makes, four bits for each direction.
type rows uint16

func (r rows) kind(d gomoku.Direction) gomoku.Kind { return gomoku.Kind(r >> (4 * d) & 15) }

func (r rows) with(d gomoku.Direction, k gomoku.Kind) rows {
	return r&^(15<<(4*d)) | rows(k)<<(4*d)
}

// tier is what a stone on an empty point would threaten; each includes those
// above it.
type tier uint8

const (
	five  tier = iota // it wins
	two4s             // it makes two ways to five: an open four or two fours
	four              // it makes a four of any kind
	open3             // it makes an open three, or a four
	tiers
	noTier = tiers
)

// promise is all that rows say of a point, looked up at once.
type promise struct {
	tier  tier
	foul  foul
	order int16 // the sum of worth
	share int32 // of the evaluation, when a stone stands there; in 1/share units
}

// foul is whether Renju forbids the point to Black, as far as the rows tell.
type foul uint8

const (
	noFoul  foul = iota
	suspect      // two threes; whether both count, only the board can tell
	certain      // an overline or two fours
)

type promiseTable [1 << 16]promise

// promises and renjuPromises are the tables without and with forbidden points.
var (
	promises      = sync.OnceValue(func() *promiseTable { return newPromiseTable(false) })
	renjuPromises = sync.OnceValue(func() *promiseTable { return newPromiseTable(true) })
)

func newPromiseTable(fouls bool) *promiseTable {
	t := new(promiseTable)
	for i := range t {
		t[i] = promiseOf(rows(i), fouls)
	}
	return t
}

func promiseOf(r rows, fouls bool) promise {
	p := promise{tier: noTier}
	var count [gomoku.Kinds]int
	var order int32
	for d := range gomoku.Direction(gomoku.Directions) {
		k := r.kind(d)
		if k >= gomoku.Kinds {
			return p // no rows at all: the table has room for more kinds than there are
		}
		count[k]++
		order += worth[k]
		if stones[k] > 0 {
			p.share += worth[k] * share / stones[k]
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

// first is the lowest point of a set that is not empty.
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

func (s *points) both(t *points) (u points) {
	for i := range s {
		u[i] = s[i] & t[i]
	}
	return u
}

func (s *points) without(t *points) (u points) {
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

// change is a point's rows before a stone changed them.
type change struct {
	point  gomoku.Point
	colour gomoku.Colour
	old    rows
}

// field is the board with what every point promises, kept up stone by stone.
type field struct {
	board  gomoku.Board
	tables [2]*gomoku.Table
	reach  [2]int // how far a stone's rows matter to a colour
	table  [2]*promiseTable
	*ground

	rows  [2][gomoku.MaxPoints]rows
	sets  [2][tiers]points        // empty points by what they promise
	open  points                  // empty points
	near  points                  // points with a stone nearby
	crowd [gomoku.MaxPoints]uint8 // how many, for each point
	sum   [2]int32                // of the stones' shares

	log   []change
	marks []int // where in the log each stone's changes begin
}

func newField(b gomoku.Board, set gomoku.Set) *field {
	f := &field{board: gomoku.NewBoard(b.Size), ground: grounds[b.Size]()}
	for c := range gomoku.Colour(2) {
		f.tables[c] = gomoku.TableOf(set.Line(c))
		f.reach[c] = 5
		if set.Line(c) == gomoku.FiveOrMore {
			f.reach[c] = 4 // a six is a five too
		}
		f.table[c] = promises()
		if set.Forbids(c) {
			f.table[c] = renjuPromises()
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
	f.log, f.marks = f.log[:0], f.marks[:0] // the start is not taken back
	return f
}

// ground is what is the same for all fields of one size.
type ground struct {
	around [gomoku.MaxPoints][]gomoku.Point // the points within nearby steps
	inside [gomoku.MaxPoints]int32          // how far a point is from the nearest border
}

var grounds = func() (g [gomoku.MaxSize + 1]func() *ground) {
	for size := range g {
		g[size] = sync.OnceValue(func() *ground { return newGround(gomoku.NewBoard(size).Geometry) })
	}
	return g
}()

func newGround(g *gomoku.Geometry) *ground {
	t := new(ground)
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

func (f *field) promise(p gomoku.Point, c gomoku.Colour) promise { return f.table[c][f.rows[c][p]] }

// wins reports whether a stone of colour c at the empty point makes five.
func (f *field) wins(p gomoku.Point, c gomoku.Colour) bool { return f.sets[c][five].has(p) }

// foul reports whether a stone of colour c at the empty point is forbidden.
func (f *field) foul(p gomoku.Point, c gomoku.Colour) bool {
	switch f.promise(p, c).foul {
	case certain:
		return true
	case suspect:
		return f.board.Forbidden(p)
	}
	return false
}

// list and unlist put an empty point in the sets of its tier and out of them.
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

// put sets a stone and brings the rows of all points in its reach up to date.
func (f *field) put(p gomoku.Point, c gomoku.Colour) {
	for side := range gomoku.Colour(2) {
		f.unlist(p, side, f.promise(p, side).tier)
	}
	f.open.remove(p)
	f.sum[c] += f.stone(p, c)
	f.board.Put(p, c)
	for _, q := range f.around[p] {
		if f.crowd[q]++; f.crowd[q] == 1 {
			f.near.add(q)
		}
	}
	f.marks = append(f.marks, len(f.log))
	f.spread(p)
}

// stone is what a stone of c on p adds to the sum: its rows and its place.
func (f *field) stone(p gomoku.Point, c gomoku.Colour) int32 {
	return f.promise(p, c).share + share*inwards*f.inside[p]
}

// spread brings the rows of all points around p up to date.
func (f *field) spread(p gomoku.Point) {
	for d := range gomoku.Direction(gomoku.Directions) {
		line, shift := f.board.LineThrough(p, d)
		step := f.board.Step(d)
		f.walk(p, d, line, int(shift), -2, -step)
		f.walk(p, d, line, int(shift), 2, step)
	}
}

// walk updates the points beside p on a line, one way (by bits in the line and
// step on the board), until for neither colour anything can have changed:
// behind a stone of the other colour or the border nothing has.
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
					f.renew(p, c, d, k)
				}
			}
		}
		if cell != 0 {
			reach[2-cell] = 0 // 1 is a black stone, in White's way
		}
	}
}

// border is what a line has for the cells off the board, and for dead stones.
const border = 3

// bury makes a stone dead (the continuous rules); unbury takes that back, last
// buried first.
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

// renew notes a row's new kind.
func (f *field) renew(p gomoku.Point, c gomoku.Colour, d gomoku.Direction, k gomoku.Kind) {
	old := f.rows[c][p]
	f.log = append(f.log, change{p, c, old})
	f.become(p, c, old.with(d, k))
}

// become replaces a point's rows and all that hangs on them.
func (f *field) become(p gomoku.Point, c gomoku.Colour, now rows) {
	was, is := &f.table[c][f.rows[c][p]], &f.table[c][now]
	f.rows[c][p] = now
	if f.open.has(p) {
		if was.tier < is.tier {
			f.unlist(p, c, was.tier)
			f.list(p, c, is.tier)
		} else if is.tier < was.tier {
			f.list(p, c, is.tier)
		}
		return
	}
	if owner, ok := f.board.At(p); ok && owner == c {
		f.sum[c] += is.share - was.share
	}
}

// restore undoes the changes since the last mark.
func (f *field) restore() {
	last := len(f.marks) - 1
	for i := len(f.log) - 1; i >= f.marks[last]; i-- {
		f.become(f.log[i].point, f.log[i].colour, f.log[i].old)
	}
	f.log, f.marks = f.log[:f.marks[last]], f.marks[:last]
}

// take takes back the last stone put, which must be p's of colour c.
func (f *field) take(p gomoku.Point, c gomoku.Colour) {
	f.restore()
	for _, q := range f.around[p] {
		if f.crowd[q]--; f.crowd[q] == 0 {
			f.near.remove(q)
		}
	}
	f.board.Remove(p, c)
	f.sum[c] -= f.stone(p, c)
	f.open.add(p)
	for side := range gomoku.Colour(2) {
		f.list(p, side, f.promise(p, side).tier)
	}
}
