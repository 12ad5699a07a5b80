package areas

import (
	"math/bits"
	"slices"

	"sparring/game"
	rules "sparring/game/amazons"
)

// Solver finds values of areas on boards of one size. It remembers what it has
// found. It belongs to one goroutine.
type Solver struct {
	geo    *geometry
	table  *Table
	values []cached // direct-mapped by hash
	sums   []decided
	work   work
}

// work bounds a search.
type work struct {
	budget int // nodes that are left, one for each move made
	spent  int
	stop   func() bool
}

// cached is a value in the cache. It may have loose bounds.
type cached struct {
	key   uint64
	value Value
}

// decided is a sum in the cache.
type decided struct {
	key    uint64
	winner game.Seat
	move   game.Move // a winning move, NoMove if it is one in a number
}

// cacheSize is the number of values, and of sums, that a solver remembers: together
// a megabyte.
const cacheSize = 1 << 15

// NewSolver returns a solver for boards of a size. Table may be nil.
func NewSolver(cols, rows int, table *Table) *Solver {
	return &Solver{geo: newGeometry(cols, rows), table: table}
}

// prepare sets the limits of the next search.
func (s *Solver) prepare(budget int, stop func() bool) {
	s.work = work{budget: budget, stop: stop}
}

// count counts a node; false means that the limit is reached.
func (s *Solver) count() bool {
	w := &s.work
	if w.budget <= 0 {
		return false
	}
	if w.spent%256 == 255 && w.stop() {
		w.budget = 0
		return false
	}
	w.budget--
	w.spent++
	return true
}

// capped calls f with at most so many nodes of the budget.
func (s *Solver) capped(nodes int, f func()) {
	kept := max(s.work.budget-nodes, 0)
	s.work.budget -= kept
	f()
	s.work.budget += kept
}

// mix is a step of a hash function.
func mix(h, word uint64) uint64 {
	hi, lo := bits.Mul64(h^word^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
	return hi ^ lo ^ bits.RotateLeft64(h, 29)
}

// hash identifies an area on its board.
func (a *Area) hash() uint64 {
	h := mix(0x2545f4914f6cdd1d, a.Free.Lo)
	for _, word := range [...]uint64{a.Free.Hi, a.Amazons[0].Lo, a.Amazons[0].Hi, a.Amazons[1].Lo, a.Amazons[1].Hi} {
		h = mix(h, word)
	}
	return mix(h, h>>32)
}

// slot returns the place of a key in the cache, emptied if it held another.
func (s *Solver) slot(key uint64) (c *cached, found bool) {
	if s.values == nil { // only now: most positions before the endgame need no cache
		s.values = make([]cached, cacheSize)
	}
	c = &s.values[key%cacheSize]
	return c, c.key == key
}

// value returns the value of an area: exact, unless the area is larger than
// searchedSquares or the budget does not suffice.
func (s *Solver) value(a *Area) Value {
	free := a.Free.Count()
	if free == 0 {
		return Value{}
	}
	if v, ok := s.table.probe(s.geo.cols, a); ok {
		return v
	}
	if side, ok := a.Owner(); ok {
		low, high := s.fill(a, side, free)
		return ofSide(side, low, high)
	}
	trivial := between(-Number(free)*Move, Number(free)*Move)
	if a.open().Count() > searchedSquares {
		return trivial
	}
	key := a.hash()
	if c, ok := s.slot(key); ok {
		return c.value
	}
	o := newOptions()
	for side := range game.Seat(2) {
		for _, m := range s.geo.steps(nil, a, side) {
			if !s.count() {
				return trivial
			}
			after := s.geo.after(a, side, m)
			o.add(side, s.sumOf(&after))
		}
	}
	if s.work.budget == 0 {
		return trivial // options may have loose bounds
	}
	v := o.value()
	s.values[key%cacheSize] = cached{key, v}
	return v
}

// searchedSquares is the size, amazons included, up to which all positions of an area
// with both sides' amazons are searched.
const searchedSquares = 8

// sumOf returns the value of parts.
func (s *Solver) sumOf(p *parts) Value {
	var v Value
	for i := range p.n {
		v = v.Add(s.value(&p.list[i]))
	}
	return v
}

// ofSide returns the value of an area of one side with between low and high moves.
func ofSide(side game.Seat, low, high int) Value {
	v := between(Number(low)*Move, Number(high)*Move)
	if side == game.Second {
		v = v.Negative()
	}
	return v
}

// fill bounds the filling number of an area of one side. It stops once it has found a
// way to make need moves.
func (s *Solver) fill(a *Area, side game.Seat, need int) (low, high int) {
	free := a.Free.Count()
	if free == 0 {
		return 0, 0
	}
	if v, ok := s.table.probe(s.geo.cols, a); ok {
		if side == game.Second {
			v = v.Negative()
		}
		return int(v.Low / Move), int(v.Low / Move)
	}
	key := a.hash()
	low, high = 0, free
	if c, ok := s.slot(key); ok {
		low, high = int(c.value.Low/Move), int(c.value.High/Move)
	}
	if low >= min(need, high) {
		return low, high
	}
	moves := s.ordered(a, side)
	most, all := 0, true
	for _, m := range moves {
		if m.room <= low {
			continue
		}
		if !s.count() {
			all = false
			break
		}
		after := s.geo.after(a, side, m.step)
		one, several := 1, 1
		for i := range after.n {
			l, h := s.fill(&after.list[i], side, maxSquares)
			one, several = one+l, several+h
		}
		low, most = max(low, one), max(most, several)
		if low >= min(need, high) {
			all = false
			break
		}
	}
	if all {
		high = max(low, min(high, most))
	}
	s.values[key%cacheSize] = cached{key, between(Number(low)*Move, Number(high)*Move)}
	return low, high
}

// fillStep is a move in an area of one side.
type fillStep struct {
	step
	room  int // moves that are possible at most, this one included
	order int // the smallest first
}

// ordered returns the moves of a side in its area. Moves that leave more squares come
// first, of these those that go one square and those that fill dead ends.
func (s *Solver) ordered(a *Area, side game.Seat) []fillStep {
	steps := s.geo.steps(nil, a, side)
	moves := make([]fillStep, len(steps))
	for i, m := range steps {
		after := s.geo.after(a, side, m)
		room := 1
		for j := range after.n {
			room += after.list[j].Free.Count()
		}
		order := -64*room + s.geo.around[m.arrow].And(a.Free).Count()
		if !s.geo.around[m.from].Has(m.to) || !s.geo.around[m.to].Has(m.arrow) {
			order += 32
		}
		moves[i] = fillStep{m, room, order}
	}
	slices.SortStableFunc(moves, func(a, b fillStep) int { return a.order - b.order })
	return moves
}

// Divide returns the areas of a board, those without a free square excluded.
func (s *Solver) Divide(b *rules.Board) []Area {
	var list []Area
	amazons := b.Amazons(game.First).Or(b.Amazons(game.Second))
	open := b.Free().Or(amazons)
	for rest := amazons; !rest.Empty(); {
		part := s.geo.flood(rest.First(), open)
		rest = rest.AndNot(part)
		if a := (Area{[2]rules.Bits{b.Amazons(0).And(part), b.Amazons(1).And(part)}, b.Free().And(part)}); !a.Free.Empty() {
			list = append(list, a)
		}
	}
	return list
}
