package gomoku

import (
	"iter"
	"math/bits"
	"slices"
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
	rows  bothRows
	codes [2]code
}

// change is a point and its state before a stone changed it.
type change struct {
	point gomoku.Point
	old   pointState
}

// totals are the sets of and the sums over the empty points. Each stone gets a copy of
// those before it, which are still there when it is taken back.
type totals struct {
	value  [2]int64              // by colour, two sums each: see pointTable.value
	counts [2][threats]uint8     // points by threat
	inside int32                 // distances of stones to the border: Black's less White's
	mark   int                   // where the stone's changes begin in the log
	near   points                // points near a stone
	open   points                // empty points
	sets   [2][levelCount]points // empty points by level
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
	*totals

	history []totals // those of the root and after each put or bury; the last are the present ones
	log     []change
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
		f.forget() // the stones of the root are not taken back
	}
	return f
}

// newEmptyField returns the field of an empty board.
func newEmptyField(kind emptyKind) *field {
	f := &field{board: gomoku.NewBoard(kind.size), boardGeometry: boardGeometries[kind.size](), codes: codeOfRows(), lines: kind.lines, table: kind.table}
	f.history = make([]totals, 1)
	f.totals = &f.history[0]
	b := &f.board
	for p := range gomoku.Point(b.Points) {
		s := &f.state[p]
		for d := range gomoku.Direction(gomoku.Directions) {
			s.rows = s.rows.with(d, f.lines.pair(f.board.Window(p, d)))
		}
		for c := range gomoku.Colour(2) {
			s.codes[c] = f.codes[s.rows.of(c)]
		}
		f.list(p)
	}
	return f
}

// boardGeometry is shared by all fields of one size.
type boardGeometry struct {
	around [gomoku.MaxPoints]points // the points within nearby steps
	linked [gomoku.MaxPoints]points // those, and the points that one five could hold together with the point
	border [gomoku.MaxPoints]int32  // distance to the nearest border
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
		t.border[p] = int32(min(x, y, last-x, last-y))
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
	log, history := c.log[:0], c.history[:0]
	*c = *f
	c.log, c.history = append(log, f.log...), append(history, f.history...)
	c.totals = &c.history[len(c.history)-1]
	return c
}

// info returns what follows from the code of an empty point.
func (f *field) info(p gomoku.Point, c gomoku.Colour) *pointInfo {
	return &f.table[c].info[f.state[p].codes[c]]
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

// firstAllowed returns the lowest of some empty points where a stone of colour c is not
// forbidden; ok is false if there is none.
func (f *field) firstAllowed(set *points, c gomoku.Colour) (p gomoku.Point, ok bool) {
	for p := range set.all() {
		if !f.foul(p, c) {
			return p, true
		}
	}
	return gomoku.NoPoint, false
}

// list adds an empty point to the sets and sums, unlist removes it.
func (f *field) list(p gomoku.Point) {
	f.open.add(p)
	for c := range gomoku.Colour(2) {
		code := f.state[p].codes[c]
		t := f.table[c].threat[code]
		f.value[c] += f.table[c].value[code]
		f.counts[c][t]++
		f.move(p, c, noLevel, levelOf[t])
	}
}

func (f *field) unlist(p gomoku.Point) {
	f.open.remove(p)
	for c := range gomoku.Colour(2) {
		code := f.state[p].codes[c]
		t := f.table[c].threat[code]
		f.value[c] -= f.table[c].value[code]
		f.counts[c][t]--
		f.move(p, c, levelOf[t], noLevel)
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

// push begins the totals of another put or bury. Pop goes back to those before it and
// gives the points back the states that it changed.
func (f *field) push() {
	f.history = append(f.history, *f.totals)
	f.totals = &f.history[len(f.history)-1]
	f.mark = len(f.log)
}

func (f *field) pop() {
	log := f.log[f.mark:]
	for i := range log {
		f.state[log[i].point] = log[i].old
	}
	f.log = f.log[:f.mark]
	f.history = f.history[:len(f.history)-1]
	f.totals = &f.history[len(f.history)-1]
}

// forget makes the position the root: its stones can't be taken back.
func (f *field) forget() {
	f.log = f.log[:0]
	f.mark = 0
	f.history = append(f.history[:0], *f.totals)
	f.totals = &f.history[0]
}

// put sets a stone and updates all points in its reach.
func (f *field) put(p gomoku.Point, c gomoku.Colour) {
	f.push()
	f.unlist(p)
	if c == gomoku.Black {
		f.inside += f.border[p]
	} else {
		f.inside -= f.border[p]
	}
	f.board.Put(p, c)
	near := &f.around[p]
	for i := range near {
		f.near[i] |= near[i]
	}
	f.spread(p, f.lines.reach[c+1])
}

// take takes back the last stone put, which is that of colour c on p.
func (f *field) take(p gomoku.Point, c gomoku.Colour) {
	f.pop()
	f.board.Remove(p, c)
}

// bury makes a stone dead (continuous rules); unbury reverts that, in reverse
// order.
func (f *field) bury(p gomoku.Point, c gomoku.Colour) {
	f.push()
	f.board.Bury(p, c)
	f.spread(p, max(f.lines.reach[c+1], f.lines.reach[dead]))
}

func (f *field) unbury(p gomoku.Point, c gomoku.Colour) {
	f.pop()
	f.board.Unbury(p, c)
}

// maxFieldChanges is the most points that a stone changes: five each way in four
// directions.
const maxFieldChanges = 40

// spread updates the points within reach cells of p, which changed. All of them, and both
// colours: nearly every one changes, and a branch on which does costs more than the work.
func (f *field) spread(p gomoku.Point, reach int) {
	f.log = slices.Grow(f.log, maxFieldChanges)
	log, n := f.log[f.mark:f.mark+maxFieldChanges], 0
	for d := range gomoku.Direction(gomoku.Directions) {
		line, step := turned(&f.board, p, d), f.board.Step(d)
		first := int(p) - 5*step
		for cells := affected(line, reach) >> (centre - 10); cells != 0; cells &= cells - 1 {
			at := bits.TrailingZeros64(cells)
			q := gomoku.Point(first + at>>1*step)
			s, e := &f.state[q], &log[n]
			e.point = q
			e.old = *s // field by field: to copy a change that has just been made would stall the processor
			s.rows = s.rows.with(d, f.lines.pair(uint32(line>>(at&63))))
			n++
		}
	}
	f.log = f.log[:f.mark+n]
	f.recode(log[:n])
}

// recode gives the changed points the codes of their new rows.
func (f *field) recode(changes []change) {
	blacks, whites, codes := f.table[gomoku.Black], f.table[gomoku.White], f.codes
	blackValue, whiteValue := f.value[gomoku.Black], f.value[gomoku.White]
	for i := range changes {
		e := &changes[i]
		s := &f.state[e.point]
		black, white := codes[s.rows.of(gomoku.Black)], codes[s.rows.of(gomoku.White)]
		s.codes[0], s.codes[1] = black, white
		wasBlack, wasWhite := e.old.codes[0], e.old.codes[1]
		blackValue += blacks.value[black] - blacks.value[wasBlack]
		whiteValue += whites.value[white] - whites.value[wasWhite]
		if (blacks.threat[black]^blacks.threat[wasBlack])|(whites.threat[white]^whites.threat[wasWhite]) != 0 {
			f.rank(e.point, gomoku.Black, blacks.threat[wasBlack], blacks.threat[black])
			f.rank(e.point, gomoku.White, whites.threat[wasWhite], whites.threat[white])
		}
	}
	f.value = [2]int64{blackValue, whiteValue}
}

// lowBits has the low bit of each cell of a line.
const lowBits = 0x5555555555555555

// affected returns the empty cells of a turned line up to reach cells from centre whose rows
// depend on the cell there, by their low bits: a stone of the other colour shields those behind
// it, the border all.
func affected(line uint64, reach int) uint64 {
	const before, after = (1<<centre - 1) & lowBits, lowBits << (centre + 2) & (1<<64 - 1)
	blacks, whites := line, line>>1 // and the border, which is both
	// On either side they end where both have been met.
	first := bits.Len64(min(blacks&before, whites&before))
	end := max(lowest(blacks&after), lowest(whites&after))
	near := (uint64(1)<<(4*reach+2) - 1) << ((centre - 2*reach) & 63)
	return lowBits &^ (blacks | whites) & near & (end - 1) & (^uint64(0) << (first & 63))
}

// lowest returns the lowest bit of a set.
func lowest(set uint64) uint64 { return set & -set }

// rank counts a point by its new threat instead of that before.
func (f *field) rank(p gomoku.Point, c gomoku.Colour, before, now threat) {
	f.counts[c][before]--
	f.counts[c][now]++
	f.move(p, c, levelOf[before], levelOf[now])
}

// stopsOfTwo4s returns the points where a stone stops every threat of colour c to make
// two fives possible at once; false if there is no such threat. Points that a stone
// elsewhere may make forbidden, by a second three that counts, do not count; otherwise
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
// stop some. As in stopsOfTwo4s, points that may become forbidden do not count.
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
	r, reach := f.state[p].rows.of(c), f.lines.reach[c.Other()+1]
	for d := range gomoku.Direction(gomoku.Directions) {
		k := r.kind(d)
		if k < gomoku.Four {
			continue
		}
		window, step := f.board.Window(p, d), f.board.Step(d)
		for i := 5 - reach; i <= 5+reach; i++ {
			if i == 5 || window>>(2*i)&3 != 0 {
				continue
			}
			k := f.lines.pair(window | uint32(c.Other()+1)<<(2*i)).of(c)
			if f.table[c].threat[f.codes[r.with(d, k)]] > makesTwo4s {
				set.add(gomoku.Point(int(p) + (i-5)*step))
			}
		}
	}
	return set
}
