package gomoku

import "sparring/game"

var _ game.Symmetric = (*Position)(nil)

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

// Symmetries is 8, the ways to lay a square on itself; 1 under the continuous
// rules, where of two rows made at once the one in the first direction dies.
func (p *Position) Symmetries() int {
	if p.set.continuous {
		return 1
	}
	return symmetries
}

// SymmetricKey is the key of the plain position (see [Position.Plain]) laid on
// itself in a way.
func (p *Position) SymmetricKey(way int) uint64 {
	if way == 0 {
		return p.key
	}
	var key uint64
	if p.toMove == White {
		key = sideKey
	}
	for at := range Point(p.board.Points) {
		if c, ok := p.board.At(at); ok {
			key ^= stoneKeys[c][p.board.Symmetric(at, way)]
		}
	}
	return key
}

// SymmetricMove is where a way takes the stone that a move puts or offers;
// other moves stay what they are.
func (p *Position) SymmetricMove(way int, m game.Move) game.Move {
	if at, ok := p.board.MovePoint(m); ok {
		return StoneMove(p.board.Symmetric(at, way))
	}
	if at, ok := p.board.OfferPoint(m); ok {
		return Offer(p.board.Symmetric(at, way))
	}
	return m
}
