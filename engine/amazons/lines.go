package amazons

import (
	"encoding/binary"
	"math/bits"
	"sync"

	rules "sparring/game/amazons"
)

// directions are the eight steps of a queen, in columns and rows; direction
// d+4 is opposite to d.
var directions = [8][2]int{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}

// paddedSquares is enough for a border of one square around any board: 16
// columns of 8 rows are the widest, 10 by 12 the fullest.
const paddedSquares = 200

// geometry numbers the squares of a board with a border around it, so that a
// step in any direction is an addition. It is shared by all clones.
type geometry struct {
	cols, rows int
	offset     [8]int
	square     [paddedSquares]rules.Square // by padded number; 0 on the border
	padded     [maxSquares]uint8           // by square
	col, row   [maxSquares]uint8           // by square
	near       [maxSquares]rules.Bits      // the squares around each
	slides     slides
	rays64     []rays64  // by square, if the board has one word
	rays128    []rays128 // by square, if it has two
	oneWord    bool      // the board has at most 64 squares
}

// maxSquares is the size of the largest board.
const maxSquares = 128

// geometries has a geometry for each size that was played.
var geometries sync.Map // of *geometry by [2]int

func geometryOf(cols, rows int) *geometry {
	if g, ok := geometries.Load([2]int{cols, rows}); ok {
		return g.(*geometry)
	}
	g, _ := geometries.LoadOrStore([2]int{cols, rows}, newGeometry(cols, rows))
	return g.(*geometry)
}

func newGeometry(cols, rows int) *geometry {
	g := &geometry{cols: cols, rows: rows, slides: newSlides(cols, rows), oneWord: cols*rows <= 64}
	for d, step := range directions {
		g.offset[d] = step[1]*(cols+2) + step[0]
	}
	for s := range rules.Square(cols * rows) {
		at := (int(s)/cols+1)*(cols+2) + int(s)%cols + 1
		g.padded[s], g.square[at] = uint8(at), s
		g.col[s], g.row[s] = uint8(int(s)%cols), uint8(int(s)/cols)
		for _, step := range directions {
			if col, row := int(s)%cols+step[0], int(s)/cols+step[1]; col >= 0 && col < cols && row >= 0 && row < rows {
				g.near[s] = g.near[s].Or(rules.Bit(rules.Square(row*cols + col)))
			}
		}
	}
	g.rays64, g.rays128 = newRays(cols, rows)
	return g
}

// squares returns the number of squares.
func (g *geometry) squares() int { return g.cols * g.rows }

// pad returns a square's padded number.
func (g *geometry) pad(s rules.Square) int { return int(g.padded[s]) }

// toward returns the direction and distance from one square to another on a line
// with it.
func (g *geometry) toward(from, to rules.Square) (d, distance int) {
	cols, rows := int(g.col[to])-int(g.col[from]), int(g.row[to])-int(g.row[from])
	distance = max(cols, -cols, rows, -rows)
	for d, step := range directions {
		if step[0]*distance == cols && step[1]*distance == rows {
			return d, distance
		}
	}
	return 0, 0 // not on a line: no caller asks
}

// lines has the number of free squares in each direction from every square, free
// or not, by padded number. The eight of a square are the bytes of one word.
type lines struct {
	run [paddedSquares][8]uint8
}

// measure computes the runs: a square's is one longer than the next square's, if
// that is free.
func (l *lines) measure(g *geometry, free rules.Bits) {
	var open [paddedSquares]uint8 // 1 for free squares
	for set := free; !set.Empty(); {
		open[g.pad(set.Pop())] = 1
	}
	first, last := g.pad(0), g.pad(rules.Square(g.squares()-1))
	// The first four directions lead to higher numbers, the others to lower.
	right, row := 1, g.cols+2
	for at := last; at >= first; at-- {
		r := &l.run[at]
		r[0] = open[at+right] * (l.run[at+right][0] + 1)
		r[1] = open[at+row+right] * (l.run[at+row+right][1] + 1)
		r[2] = open[at+row] * (l.run[at+row][2] + 1)
		r[3] = open[at+row-right] * (l.run[at+row-right][3] + 1)
	}
	for at := first; at <= last; at++ {
		r := &l.run[at]
		r[4] = open[at-right] * (l.run[at-right][4] + 1)
		r[5] = open[at-row-right] * (l.run[at-row-right][5] + 1)
		r[6] = open[at-row] * (l.run[at-row][6] + 1)
		r[7] = open[at-row+right] * (l.run[at-row+right][7] + 1)
	}
}

// around returns the number of squares in reach of a padded square, and how many
// of its neighbours are free.
func (l *lines) around(at int) (reach, liberties int) {
	runs := binary.LittleEndian.Uint64(l.run[at][:])
	const ones = 0x0101010101010101
	reach = int(runs * ones >> 56) // below 256: at most 8 runs of 15
	// A run is below 128, so adding 127 carries into its byte's high bit unless it is 0.
	return reach, bits.OnesCount64((runs + 0x7f*ones) & (0x80 * ones))
}

// castEffects are the effects of obstacles on one amazon's lines.
type castEffects struct {
	stepEach  int32 // for each square of reach that is taken
	stepNext  int32 // beside the amazon
	arrow     int32
	arrowEach int32
	arrowNext int32
}

// cast adds them for the squares that the amazon on at reaches.
func (l *lines) cast(g *geometry, at rules.Square, to *[maxSquares]effect, c castEffects) {
	from := g.pad(at)
	for d, n := range l.run[from] {
		if n == 0 {
			continue
		}
		next := from
		for lost := int32(n); lost > 0; lost-- {
			next += g.offset[d]
			e := &to[g.square[next]]
			e.step += c.stepEach * lost
			e.arrow += c.arrow + c.arrowEach*lost
		}
		e := &to[g.square[from+g.offset[d]]]
		e.step += c.stepNext
		e.arrow += c.arrowNext
	}
}
