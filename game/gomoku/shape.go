package gomoku

import (
	"iter"
	"math/bits"
	"sync"
)

// Kind is the strongest row that a stone makes in one line through its point.
// Only rows of its colour that include the stone count.
type Kind uint8

// The kinds from the weakest to the strongest. "Straight" is four stones side
// by side that become five at either end. The kinds of open twos and threes also
// tell at how many points the next stone may be set.
const (
	Dead         Kind = iota // no five is possible any more
	One                      // one more stone makes a Two
	OpenOne                  // one more stone makes an open two
	Two                      // one more stone makes a Three
	OpenTwo                  // one more stone, at one or two points, makes an open three
	OpenTwo3                 // at three points
	OpenTwo4                 // at four points or more
	Three                    // one more stone makes a four of any kind
	OpenThree                // one more stone, at one point, makes a StraightFour
	OpenThree2               // at two points
	Four                     // one point makes five
	DoubleFour               // two fours in one line: two or more points make five
	StraightFour             // the open four
	Overline                 // six or more, if that does not win
	FiveRow                  // the row that wins
	Kinds
)

var kindNames = [Kinds]string{"dead", "one", "open-one", "two", "open-two", "open-two-3", "open-two-4", "three", "open-three", "open-three-2",
	"four", "double-four", "straight-four", "overline", "five"}

// String returns the kind's name.
func (k Kind) String() string {
	if k < Kinds {
		return kindNames[k]
	}
	return "no kind"
}

// IsOpenTwo reports whether one more stone makes an open three.
func (k Kind) IsOpenTwo() bool { return k >= OpenTwo && k <= OpenTwo4 }

// IsOpenThree reports whether one more stone makes a straight four.
func (k Kind) IsOpenThree() bool { return k == OpenThree || k == OpenThree2 }

// Shape is the row that a stone makes in one line: its kind, and the points that
// would extend it.
type Shape struct {
	Kind Kind
	// Cells has bit i for the cell i-4 steps along the line: for fours the
	// points that make five, for an open three those that make a straight four,
	// for a Three those that make a four.
	Cells uint16
}

// Points calls yield with each of the shape's cells as a point, for the shape of
// a stone at p along d.
func (s Shape) Points(b *Board, p Point, d Direction) iter.Seq[Point] {
	return func(yield func(Point) bool) {
		for cells := s.Cells; cells != 0; cells &= cells - 1 {
			steps := bits.TrailingZeros16(cells) - 4
			if !yield(Point(int(p) + steps*b.step[d])) {
				return
			}
		}
	}
}

// Line is a rule for winning rows.
type Line uint8

// The line rules.
const (
	FiveOrMore Line = iota // five or more in a row
	ExactFive              // five in a row, no more
	Caro                   // five or more, but not five between two stones of the other colour
	ExactCaro              // five, no more, and not between two stones of the other colour
	lineRules
)

// Table looks up the shape of a window, for one line rule and both colours. Each
// half window (5 cells, 10 bits) is first mapped to a class, which ignores the
// cells behind the first obstacle; a pair of classes determines the shape.
type Table struct {
	half   [2][2][1 << 10]uint8 // by colour; before or after the centre
	shapes [1 << (2 * classBits)]Shape
	kinds  [1 << (2 * classBits)]Kind // of the shapes: a quarter of the memory to touch
}

// classBits is enough for all classes: up to 5 cells, each own or empty, and an
// end. These are 63, or 94 if it matters whether the end is a stone or the
// border (Caro).
const classBits = 7

// Shape returns the shape of a stone of colour c in the middle of the window.
func (t *Table) Shape(window uint32, c Colour) Shape { return t.shapes[t.index(window, c)] }

// Kind returns the shape's kind.
func (t *Table) Kind(window uint32, c Colour) Kind { return t.kinds[t.index(window, c)] }

func (t *Table) index(window uint32, c Colour) uint {
	h := &t.half[c&1]
	return (uint(h[0][window&0x3ff])<<classBits | uint(h[1][window>>(2*reach+2)&0x3ff])) & (1<<(2*classBits) - 1)
}

var tables = func() (t [lineRules]func() *Table) {
	for l := range t {
		t[l] = sync.OnceValue(func() *Table { return newTable(Line(l)) })
	}
	return t
}()

// TableOf returns the table of a line rule. It is made on first use.
func TableOf(l Line) *Table { return tables[l]() }

// A row is a window in the form that tables are made from: 11 cells, with own
// stones, empty cells and stones of the other colour as bits, the centre at bit
// 5. All other cells are the border.
type row struct{ own, empty, foe uint16 }

const centre = 1 << reach

// span returns the part of a row that its shape depends on: the cells around the
// centre up to the first obstacle on either side, and under the Caro rules the
// kind of obstacle.
func (r row) span(l Line) row {
	in := uint16(centre)
	for range reach {
		in |= (in<<1 | in>>1) & (r.own | r.empty) & 0x7ff
	}
	s := row{own: r.own & in, empty: r.empty & in}
	if l == Caro || l == ExactCaro {
		s.foe = r.foe & (in<<1 | in>>1)
	}
	return s
}

// length returns the number of own stones side by side through the centre.
func (r row) length() int {
	right := bits.TrailingZeros16(^(r.own >> reach))
	left := bits.LeadingZeros16(^(r.own << (15 - reach)))
	return left + right - 1
}

// enclosed reports whether both ends of the row through the centre are stones of
// the other colour.
func (r row) enclosed() bool {
	run := uint16(centre)
	for range reach {
		run |= (run<<1 | run>>1) & r.own
	}
	ends := (run<<1 | run>>1) &^ run
	return bits.OnesCount16(ends&r.foe) == 2
}

// maker computes shapes from their definitions, once for each row.
type maker struct {
	line  Line
	known map[row]Shape
}

func (m *maker) shape(r row) Shape {
	r = r.span(m.line)
	if s, ok := m.known[r]; ok {
		return s
	}
	s := m.define(r)
	m.known[r] = s
	return s
}

func (m *maker) define(r row) Shape {
	switch n := r.length(); {
	case n == 5 && r.enclosed():
		return Shape{Kind: Dead}
	case n == 5, n > 5 && (m.line == FiveOrMore || m.line == Caro):
		return Shape{Kind: FiveRow}
	case n > 5:
		return Shape{Kind: Overline}
	}
	var makes [Kinds]uint16 // the cells that make each kind
	for i := range 9 {
		cell := uint16(2) << i // bit 1 is 4 cells before the centre
		if r.empty&cell != 0 {
			k := m.shape(row{r.own | cell, r.empty &^ cell, r.foe}).Kind
			makes[k] |= 1 << i
		}
	}
	fives := makes[FiveRow]
	fours := makes[Four] | makes[DoubleFour] | makes[StraightFour]
	switch {
	case bits.OnesCount16(fives) == 1:
		return Shape{Four, fives}
	case fives != 0 && r.length() == 4:
		// Both ends must make five with these stones, not with others.
		return Shape{StraightFour, fives}
	case fives != 0:
		return Shape{DoubleFour, fives}
	case makes[StraightFour] != 0:
		return Shape{OpenThree + Kind(min(bits.OnesCount16(makes[StraightFour]), 2)-1), makes[StraightFour]}
	case fours != 0:
		return Shape{Three, fours}
	}
	openThrees := makes[OpenThree] | makes[OpenThree2]
	openTwos := makes[OpenTwo] | makes[OpenTwo3] | makes[OpenTwo4]
	switch {
	case openThrees != 0:
		return Shape{Kind: OpenTwo + Kind(min(max(bits.OnesCount16(openThrees), 2), 4)-2)}
	case makes[Three] != 0:
		return Shape{Kind: Two}
	case openTwos != 0:
		return Shape{Kind: OpenOne}
	case makes[Two] != 0:
		return Shape{Kind: One}
	}
	return Shape{Kind: Dead}
}

// newTable enumerates all half windows for their classes and all pairs of
// classes for their shapes.
func newTable(l Line) *Table {
	t := &Table{}
	var classes [2][]row // by side
	for side := range classes {
		index := map[row]uint8{}
		for c := range t.half {
			for code := range t.half[c][side] {
				r := halfRow(code, side, Colour(c)).span(l)
				if _, ok := index[r]; !ok {
					index[r] = uint8(len(classes[side]))
					classes[side] = append(classes[side], r)
				}
				t.half[c][side][code] = index[r]
			}
		}
	}
	m := maker{line: l, known: map[row]Shape{}}
	for i, before := range classes[0] {
		for j, after := range classes[1] {
			r := row{before.own | after.own | centre, before.empty | after.empty, before.foe | after.foe}
			s := m.shape(r)
			t.shapes[i<<classBits|j], t.kinds[i<<classBits|j] = s, s.Kind
		}
	}
	return t
}

// halfRow reads the ten bits of half a window, side 0 before the centre and 1
// after it, as colour c sees them.
func halfRow(code, side int, c Colour) (r row) {
	r.own = centre
	for i := range reach {
		cell := uint16(1) << (i + side*(reach+1))
		switch code >> (2 * i) & 3 {
		case cellEmpty:
			r.empty |= cell
		case int(c) + 1:
			r.own |= cell
		case int(c.Other()) + 1:
			r.foe |= cell
		}
	}
	return r
}
