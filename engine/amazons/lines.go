package amazons

import rules "sparring/game/amazons"

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
	slides     slides
	oneWord    bool // the board has at most 64 squares
}

func newGeometry(cols, rows int) *geometry {
	g := &geometry{cols: cols, rows: rows, slides: newSlides(cols, rows), oneWord: cols*rows <= 64}
	for d, step := range directions {
		g.offset[d] = step[1]*(cols+2) + step[0]
	}
	for s := range rules.Square(cols * rows) {
		g.square[g.pad(s)] = s
	}
	return g
}

// pad returns a square's padded number.
func (g *geometry) pad(s rules.Square) int {
	return (int(s)/g.cols+1)*(g.cols+2) + int(s)%g.cols + 1
}

// toward returns the direction and distance from one square to another on a line
// with it.
func (g *geometry) toward(from, to rules.Square) (d, distance int) {
	cols := int(to)%g.cols - int(from)%g.cols
	rows := int(to)/g.cols - int(from)/g.cols
	distance = max(cols, -cols, rows, -rows)
	for d, step := range directions {
		if step[0]*distance == cols && step[1]*distance == rows {
			return d, distance
		}
	}
	return 0, 0 // not on a line: no caller asks
}

// lines has the number of free squares in each direction from every square, free
// or not, by padded number.
type lines struct {
	run [8][paddedSquares]uint8
}

// measure computes the runs: a square's is one longer than the next square's, if
// that is free.
func (l *lines) measure(g *geometry, free rules.Bits) {
	var open [paddedSquares]uint8 // 1 for free squares
	for set := free; !set.Empty(); {
		open[g.pad(set.Pop())] = 1
	}
	first, last := g.pad(0), g.pad(rules.Square(g.cols*g.rows-1))
	for d := range directions {
		run, step := &l.run[d], g.offset[d]
		if step > 0 {
			for at := last; at >= first; at-- {
				run[at] = open[at+step] * (run[at+step] + 1)
			}
		} else {
			for at := first; at <= last; at++ {
				run[at] = open[at+step] * (run[at+step] + 1)
			}
		}
	}
}

// cast adds, for each square that the amazon on at reaches, unit times the number
// of squares that an obstacle there would take from its reach.
func (l *lines) cast(g *geometry, at rules.Square, unit int32, to *[arrowSlots]int32) {
	from := g.pad(at)
	for d := range directions {
		next := from
		for lost := int32(l.run[d][from]); lost > 0; lost-- {
			next += g.offset[d]
			to[g.square[next]] += unit * lost
		}
	}
}
