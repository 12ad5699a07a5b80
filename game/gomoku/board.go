package gomoku

import "sync"

// The board sizes that the game is played on.
const (
	MinSize   = 15
	MaxSize   = 20
	MaxPoints = MaxSize * MaxSize
)

// Point is a place on the board: (row-1)*size + column, from the bottom left.
type Point uint16

// NoPoint is not on any board.
const NoPoint Point = MaxPoints

// Colour is a side. Seats hold colours; opening procedures may swap them.
type Colour uint8

// The two colours.
const (
	Black Colour = iota
	White
)

// Other returns the opposite colour.
func (c Colour) Other() Colour { return c ^ 1 }

// String returns "black" or "white".
func (c Colour) String() string {
	if c == Black {
		return "black"
	}
	return "white"
}

// Direction is one of the four ways in which a line runs through a point.
type Direction uint8

// The directions, named by where the next point of the line is.
const (
	East Direction = iota
	North
	NorthEast
	NorthWest
	Directions = 4
)

// The contents of a cell of a line, two bits: a stone is its colour + 1.
const (
	cellEmpty  = 0
	cellBorder = 3
)

// reach is how far along a line stones affect a point: a five through it ends at
// most 4 cells away, and the cell after that decides whether it is a six.
const reach = 5

// maxLines is the number of diagonals of the largest board.
const maxLines = 2*MaxSize - 1

// place is the position of a point in a line's word.
type place struct{ line, shift uint8 }

// Geometry is what all boards of one size share.
type Geometry struct {
	Size   int
	Points int
	places [MaxPoints][Directions]place
	step   [Directions]int
	blank  [Directions][maxLines]uint64
	runs   [Directions][]run
}

// run is a line long enough for five: its first point and number of points.
type run struct {
	first  Point
	points uint8
}

var geometries = func() (g [MaxSize + 1]func() *Geometry) {
	for size := MinSize; size <= MaxSize; size++ {
		g[size] = sync.OnceValue(func() *Geometry { return newGeometry(size) })
	}
	return g
}()

// A cell's place in the word of its line: 5 border cells, then the line, one
// cell for each column (East) or row (all others). Thus 5 cells either side of
// any cell can be cut out without a test for the edge.
func newGeometry(size int) *Geometry {
	g := &Geometry{Size: size, Points: size * size, step: [Directions]int{1, size, size + 1, size - 1}}
	for d := range g.blank {
		for l := range g.blank[d] {
			g.blank[d][l] = ^uint64(0)
		}
	}
	for p := range g.Points {
		row, col := p/size, p%size
		lines := [Directions]int{row, col, row - col + size - 1, row + col}
		for d, l := range lines {
			at := row
			if Direction(d) == East {
				at = col
			}
			shift := 2 * (at + reach)
			g.places[p][d] = place{uint8(l), uint8(shift)}
			g.blank[d][l] &^= 3 << shift
		}
	}
	for p := range Point(g.Points) {
		for d := range Direction(Directions) {
			if before, after := g.room(p, d); before == 0 && after >= 4 {
				g.runs[d] = append(g.runs[d], run{p, uint8(after + 1)})
			}
		}
	}
	return g
}

// Column counts from 0 at the left.
func (g *Geometry) Column(p Point) int { return int(p) % g.Size }

// RowOf counts from 0 at the bottom.
func (g *Geometry) RowOf(p Point) int { return int(p) / g.Size }

// Point returns the point at a column and row, counted from 0 at the bottom left, or
// NoPoint off the board.
func (g *Geometry) Point(column, row int) Point {
	if column < 0 || row < 0 || column >= g.Size || row >= g.Size {
		return NoPoint
	}
	return Point(row*g.Size + column)
}

// Step returns the difference between neighbouring points in the direction.
func (g *Geometry) Step(d Direction) int { return g.step[d] }

// Board holds the stones as four sets of lines, two bits a cell, so that a shift
// and a mask give everything that matters around a point in one direction.
// Copying the value copies the board.
type Board struct {
	*Geometry
	stones int
	lines  [Directions][maxLines]uint64
}

// NewBoard returns an empty board; size must be within MinSize and MaxSize.
func NewBoard(size int) Board {
	g := geometries[size]()
	return Board{Geometry: g, lines: g.blank}
}

// Stones returns the number of stones on the board.
func (b *Board) Stones() int { return b.stones }

// Full reports whether no empty point is left.
func (b *Board) Full() bool { return b.stones == b.Points }

// At returns the colour of the stone at p; ok is false if there is none, or a dead
// one.
func (b *Board) At(p Point) (c Colour, ok bool) {
	cell := b.cell(p)
	return Colour(cell - 1), cell != cellEmpty && cell != cellBorder
}

// Dead reports whether the stone at p is dead: it belongs to a row that has
// scored under the continuous rules.
func (b *Board) Dead(p Point) bool { return b.cell(p) == cellBorder }

// Empty reports whether no stone is at p.
func (b *Board) Empty(p Point) bool { return b.cell(p) == cellEmpty }

func (b *Board) cell(p Point) uint64 {
	at := b.places[p][East]
	return b.lines[East][at.line] >> at.shift & 3
}

// Put sets a stone on an empty point.
func (b *Board) Put(p Point, c Colour) {
	b.flip(p, c)
	b.stones++
}

// Remove removes the stone of colour c at p.
func (b *Board) Remove(p Point, c Colour) {
	b.flip(p, c)
	b.stones--
}

// Bury makes the stone of colour c at p a dead one, which blocks rows of both
// colours as the border does.
func (b *Board) Bury(p Point, c Colour) { b.flip(p, c.Other()) }

// Unbury is the inverse of Bury.
func (b *Board) Unbury(p Point, c Colour) { b.flip(p, c.Other()) }

// flip toggles the bit of a colour in the cell: none set is empty, both are
// the border.
func (b *Board) flip(p Point, c Colour) {
	for d, at := range &b.places[p] {
		b.lines[d][at.line] ^= (uint64(c) + 1) << at.shift
	}
}

// WinningRow lists the stones of the winning row of colour c through p, nil if
// there is none. Of several rows it is that of the first direction.
func (b *Board) WinningRow(p Point, c Colour, l Line) []Point {
	for d := range Direction(Directions) {
		if TableOf(l).Kind(b.Window(p, d), c) == FiveRow {
			return b.row(p, d, c)
		}
	}
	return nil
}

// row lists the stones of colour c side by side through p along d, p's among
// them.
func (b *Board) row(p Point, d Direction, c Colour) []Point {
	row := []Point{p}
	before, after := b.room(p, d)
	for i, cells := range [2]int{before, after} {
		step := b.step[d] * (2*i - 1)
		for n := 1; n <= cells; n++ {
			q := Point(int(p) + n*step)
			if owner, ok := b.At(q); !ok || owner != c {
				break
			}
			row = append(row, q)
		}
	}
	return row
}

// Window returns the five cells before p along d, p itself and the five after it,
// two bits each from the lowest; [Table.Shape] reads it. The bits beyond these 22
// and the two of p have no meaning.
func (b *Board) Window(p Point, d Direction) uint32 {
	line, shift := b.LineThrough(p, d)
	return uint32(line >> ((shift - 2*reach) & 63))
}

// LineThrough returns the line through p along d, two bits a cell (0 empty, 1 black,
// 2 white, 3 border or dead stone), and the place of p's two bits in it. At
// least five border cells precede the first and follow the last cell, so
// that the window of a cell is the line shifted by its place less 10.
func (b *Board) LineThrough(p Point, d Direction) (line uint64, shift uint) {
	at := b.places[p][d]
	return b.lines[d][at.line], uint(at.shift)
}

// room returns the number of cells of the line along d before p and after it.
func (g *Geometry) room(p Point, d Direction) (before, after int) {
	col, row := g.Column(p), g.RowOf(p)
	last := g.Size - 1
	switch d {
	case East:
		before, after = col, last-col
	case North:
		before, after = row, last-row
	case NorthEast:
		before, after = min(col, row), last-max(col, row)
	case NorthWest:
		before, after = min(last-col, row), min(col, last-row)
	}
	return before, after
}
