package gomoku

// symmetries is the number of ways to lay a square on itself.
const symmetries = 8

// Symmetric is where symmetry s (0 to 7, 0 the identity) takes a point: bit 0
// mirrors the columns, bit 1 the rows, bit 2 then exchanges the two.
func (g *Geometry) Symmetric(p Point, s int) Point {
	col, row, last := g.Column(p), g.RowOf(p), g.Size-1
	if s&1 != 0 {
		col = last - col
	}
	if s&2 != 0 {
		row = last - row
	}
	if s&4 != 0 {
		col, row = row, col
	}
	return g.Point(col, row)
}
