package gomoku

import (
	"iter"
	"math/bits"
	"sync"

	"sparring/game/gomoku"
)

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

// pointState is the rows and codes of a point for both colours.
type pointState struct {
	rows  [2]rows
	codes [2]code
}

// change is a point and its state before a stone changed it.
type change struct {
	point gomoku.Point
	old   pointState
}

// totals are the sums over the empty points, copied at each stone and restored when
// it is taken back.
type totals struct {
	value  int64             // two sums of values: see pointInfo.value
	counts [2][threats]uint8 // points by threat
	inside int32             // distances of stones to the border: Black's less White's
	near   points            // points near a stone
	mark   int               // where the stone's changes begin in the log
}

// field is the board with the rows and codes of every empty point, updated stone by
// stone. Those of an occupied point are as they were when it was occupied.
type field struct {
	board gomoku.Board
	lines *lineTable
	table [2]*pointTable
	codes *[1 << 16]code
	*boardGeometry

	state [gomoku.MaxPoints]pointState
	sets  [2][levelCount]points // empty points by level
	open  points                // empty points
	now   totals

	log     []change
	earlier []totals // one for each put or bury
}

// emptyFields are the fields of empty boards, by what tells them apart.
var emptyFields sync.Map // of emptyKind to *field

type emptyKind struct {
	size  int
	lines *lineTable
	table [2]*pointTable
}

// newField returns the field of a board.
func newField(b gomoku.Board, set gomoku.Set) *field {
	kind := emptyKind{b.Size, lineTableOf([2]gomoku.Line{set.Line(gomoku.Black), set.Line(gomoku.White)}), pointTablesOf(set)}
	empty, ok := emptyFields.Load(kind)
	if !ok {
		empty, _ = emptyFields.LoadOrStore(kind, newEmptyField(kind))
	}
	f := empty.(*field).clone()
	for p := range gomoku.Point(b.Points) {
		if c, ok := b.At(p); ok {
			f.put(p, c)
		}
		if b.Dead(p) {
			f.put(p, gomoku.Black)
			f.bury(p, gomoku.Black)
		}
		f.log, f.earlier = f.log[:0], f.earlier[:0] // the stones of the root are not taken back
	}
	return f
}

// newEmptyField returns the field of an empty board.
func newEmptyField(kind emptyKind) *field {
	f := &field{board: gomoku.NewBoard(kind.size), boardGeometry: boardGeometries[kind.size](), codes: codeOfRows(), lines: kind.lines, table: kind.table}
	b := &f.board
	for p := range gomoku.Point(b.Points) {
		s := &f.state[p]
		for d := range gomoku.Direction(gomoku.Directions) {
			pair := f.lines.pair(f.board.Window(p, d))
			for c := range gomoku.Colour(2) {
				s.rows[c] = s.rows[c].with(d, pair.of(c))
			}
		}
		for c := range gomoku.Colour(2) {
			s.codes[c] = f.codes[s.rows[c]]
		}
		f.list(p)
	}
	return f
}

// boardGeometry is shared by all fields of one size.
type boardGeometry struct {
	around [gomoku.MaxPoints]points // the points within nearby steps
	linked [gomoku.MaxPoints]points // those, and the points that one five could hold together with the point
	inside [gomoku.MaxPoints]int32  // distance to the nearest border
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
					t.around[p].add(q)
				}
			}
		}
		t.linked[p] = t.around[p]
		for _, d := range [...][2]int{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
			for i := -4; i <= 4; i++ {
				if q := g.Point(x+i*d[0], y+i*d[1]); q != gomoku.NoPoint && q != p {
					t.linked[p].add(q)
				}
			}
		}
	}
	return t
}

// fields are unused ones, of any content.
var fields = sync.Pool{New: func() any { return new(field) }}

func (f *field) clone() *field {
	c := fields.Get().(*field)
	log, earlier := c.log[:0], c.earlier[:0]
	*c = *f
	c.log, c.earlier = append(log, f.log...), append(earlier, f.earlier...)
	return c
}

// info returns what follows from the code of an empty point.
func (f *field) info(p gomoku.Point, c gomoku.Colour) *pointInfo {
	return &f.table[c][f.state[p].codes[c]]
}

// wins reports whether a stone of colour c at the empty point makes five.
func (f *field) wins(p gomoku.Point, c gomoku.Colour) bool { return f.sets[c][five].has(p) }

// foul reports whether a stone of colour c at the empty point is forbidden.
func (f *field) foul(p gomoku.Point, c gomoku.Colour) bool {
	switch f.info(p, c).foul {
	case certain:
		return true
	case suspect:
		return f.board.Forbidden(p)
	}
	return false
}

// list adds an empty point to the sets and sums, unlist removes it.
func (f *field) list(p gomoku.Point) {
	f.open.add(p)
	for c := range gomoku.Colour(2) {
		i := f.info(p, c)
		f.now.value += i.value
		f.now.counts[c][i.threat]++
		for l := i.level; l < levelCount; l++ {
			f.sets[c][l].add(p)
		}
	}
}

func (f *field) unlist(p gomoku.Point) {
	f.open.remove(p)
	for c := range gomoku.Colour(2) {
		i := f.info(p, c)
		f.now.value -= i.value
		f.now.counts[c][i.threat]--
		for l := i.level; l < levelCount; l++ {
			f.sets[c][l].remove(p)
		}
	}
}

// move puts a point whose level changed into the sets of its new level.
func (f *field) move(p gomoku.Point, c gomoku.Colour, before, after level) {
	for ; before < after; before++ {
		f.sets[c][before].remove(p)
	}
	for ; after < before; after++ {
		f.sets[c][after].add(p)
	}
}

// put sets a stone and updates all points in its reach.
func (f *field) put(p gomoku.Point, c gomoku.Colour) {
	f.earlier = append(f.earlier, f.now)
	f.now.mark = len(f.log)
	f.unlist(p)
	if c == gomoku.Black {
		f.now.inside += f.inside[p]
	} else {
		f.now.inside -= f.inside[p]
	}
	f.board.Put(p, c)
	near := &f.around[p]
	for i := range near {
		f.now.near[i] |= near[i]
	}
	f.spread(p)
}

// take takes back the last stone put, which is that of colour c on p.
func (f *field) take(p gomoku.Point, c gomoku.Colour) {
	f.restore()
	f.board.Remove(p, c)
	f.list(p)
	f.revert()
}

// bury makes a stone dead (continuous rules); unbury reverts that, in reverse
// order.
func (f *field) bury(p gomoku.Point, c gomoku.Colour) {
	f.earlier = append(f.earlier, f.now)
	f.now.mark = len(f.log)
	f.board.Bury(p, c)
	f.spread(p)
}

func (f *field) unbury(p gomoku.Point, c gomoku.Colour) {
	f.restore()
	f.board.Unbury(p, c)
	f.revert()
}

// restore gives the points back the states that the last put or bury changed.
func (f *field) restore() {
	log := f.log[f.now.mark:]
	for i := len(log) - 1; i >= 0; i-- {
		e := &log[i]
		s := &f.state[e.point]
		for c := range gomoku.Colour(2) {
			if before, after := f.table[c][s.codes[c]].level, f.table[c][e.old.codes[c]].level; before != after {
				f.move(e.point, c, before, after)
			}
		}
		*s = e.old
	}
	f.log = f.log[:f.now.mark]
}

// revert restores the totals from before the last put or bury.
func (f *field) revert() {
	last := len(f.earlier) - 1
	f.now = f.earlier[last]
	f.earlier = f.earlier[:last]
}

// spread updates all points around p.
func (f *field) spread(p gomoku.Point) {
	for d := range gomoku.Direction(gomoku.Directions) {
		line, shift := f.board.LineThrough(p, d)
		step := f.board.Step(d)
		f.walk(p, d, line, int(shift), -2, -step)
		f.walk(p, d, line, int(shift), 2, step)
	}
}

// walk updates the empty points on one side of p in a line (bits is the step in the
// line, step that on the board). It ends where no row of either colour can have
// changed: a stone of the other colour shields those behind it, the border all.
func (f *field) walk(p gomoku.Point, d gomoku.Direction, line uint64, shift, bits, step int) {
	var met uint64 // stones between p and the cell, a bit for each colour
	for range f.lines.reach {
		shift += bits
		p += gomoku.Point(step)
		cell := line >> (shift & 63) & 3
		if cell != 0 {
			if met |= cell; met == 3 {
				return
			}
			continue
		}
		pair := f.lines.pair(uint32(line >> ((shift - 10) & 63)))
		s := &f.state[p]
		for4 := 4 * d
		black, white := s.rows[0]&^(15<<for4)|rows(pair&15)<<for4, s.rows[1]&^(15<<for4)|rows(pair>>4)<<for4
		if black == s.rows[0] && white == s.rows[1] {
			continue
		}
		f.log = append(f.log, change{p, *s})
		if black != s.rows[0] {
			f.update(s, p, gomoku.Black, black)
		}
		if white != s.rows[1] {
			f.update(s, p, gomoku.White, white)
		}
	}
}

// update gives a point new rows for a colour.
func (f *field) update(s *pointState, p gomoku.Point, c gomoku.Colour, r rows) {
	s.rows[c] = r
	now := f.codes[r]
	if now == s.codes[c] {
		return
	}
	before, after := &f.table[c][s.codes[c]], &f.table[c][now]
	s.codes[c] = now
	f.now.value += after.value - before.value
	if before.threat != after.threat {
		f.now.counts[c][before.threat]--
		f.now.counts[c][after.threat]++
		if before.level != after.level {
			f.move(p, c, before.level, after.level)
		}
	}
}

// stopsOfTwo4s returns the points where a stone stops every threat of colour c to make
// two fives possible at once; false if there is no such threat. Points that a stone
// elsewhere may make forbidden, by a second three that counts, are none; otherwise
// white stones never make a point forbidden.
func (f *field) stopsOfTwo4s(c gomoku.Colour) (stops points, threatened bool) {
	for p := range f.sets[c][two4s].all() {
		if f.info(p, c).foul != noFoul {
			continue
		}
		stop := f.stopsAt(p, c)
		if threatened {
			stops = stops.intersect(&stop)
		} else {
			stops, threatened = stop, true
		}
	}
	return stops, threatened
}

// stopsOfFourThrees returns the points where a stone of the other colour may stop the
// threats of colour c to make a four and an open three with one stone and, after the
// answer to the four, two fives possible; false if there is no such threat. Among them
// are the fours that the other colour can make once it has answered, but not
// all that it can make before. If nothing stops all threats, those are returned that
// stop some. As in stopsOfTwo4s, points that may become forbidden are none.
func (f *field) stopsOfFourThrees(c gomoku.Colour) (stops points, threatened bool) {
	for p := range f.sets[c][four].all() {
		if i := f.info(p, c); !i.fourThree || i.foul != noFoul {
			continue
		}
		f.put(p, c)
		answer := f.sets[c][five].first()
		f.put(answer, c.Other())
		stop, wins := f.stopsOfTwo4s(c)
		wins = wins && f.sets[c.Other()][five].empty() // else the answer makes a four
		stop = stop.union(&f.sets[c.Other()][four])
		f.take(answer, c.Other())
		f.take(p, c)
		if !wins {
			continue
		}
		stop.add(p)
		stop.add(answer)
		if threatened {
			if stop = stop.intersect(&stops); stop.empty() {
				continue // nothing stops all: some move is needed
			}
		}
		stops, threatened = stop, true
	}
	return stops, threatened
}

// stopsAt returns the points where a stone takes away the two fives that a stone of
// colour c at p would make possible: p itself, and those in its rows.
func (f *field) stopsAt(p gomoku.Point, c gomoku.Colour) (set points) {
	set.add(p)
	r := f.state[p].rows[c]
	for d := range gomoku.Direction(gomoku.Directions) {
		k := r.kind(d)
		if k < gomoku.Four {
			continue
		}
		window, step := f.board.Window(p, d), f.board.Step(d)
		for i := 5 - f.lines.reach; i <= 5+f.lines.reach; i++ {
			if i == 5 || window>>(2*i)&3 != 0 {
				continue
			}
			k := f.lines.pair(window | uint32(c.Other()+1)<<(2*i)).of(c)
			if f.table[c][f.codes[r.with(d, k)]].level > two4s {
				set.add(gomoku.Point(int(p) + (i-5)*step))
			}
		}
	}
	return set
}
