package format

import (
	"strconv"
	"strings"
)

// Grid is a board in the form of Gomoku's and Amazons' position texts: rows from
// the top, runs of empty points as numbers, then the side to move.
type Grid struct {
	Rows [][]byte // '.' is empty
	Side string   // the letter of the side to move
}

// NewGrid returns an empty board.
func NewGrid(cols, rows int, side string) *Grid {
	g := &Grid{Rows: make([][]byte, rows), Side: side}
	for i := range g.Rows {
		g.Rows[i] = []byte(strings.Repeat(".", cols))
	}
	return g
}

// ParseGrid reads a position text that the rules have accepted. Ok is false if
// the text has more than a board and a side to move.
func ParseGrid(position string) (g *Grid, ok bool) {
	field, side, _ := strings.Cut(position, " ")
	g = &Grid{Side: side}
	for row := range strings.SplitSeq(field, "/") {
		var cells []byte
		for i := 0; i < len(row); {
			end := i
			for end < len(row) && row[end] >= '0' && row[end] <= '9' {
				end++
			}
			if n, err := strconv.Atoi(row[i:end]); err == nil {
				cells = append(cells, strings.Repeat(".", min(n, 1000))...)
				i = end
				continue
			}
			cells = append(cells, row[i])
			i++
		}
		g.Rows = append(g.Rows, cells)
	}
	return g, len(side) == 1 && g.String() == position
}

// String returns the position text.
func (g *Grid) String() string {
	var s strings.Builder
	for i, row := range g.Rows {
		if i > 0 {
			s.WriteByte('/')
		}
		empty := 0
		flush := func() {
			if empty > 0 {
				s.WriteString(strconv.Itoa(empty))
			}
			empty = 0
		}
		for _, c := range row {
			if c == '.' {
				empty++
				continue
			}
			flush()
			s.WriteByte(c)
		}
		flush()
	}
	return s.String() + " " + g.Side
}
