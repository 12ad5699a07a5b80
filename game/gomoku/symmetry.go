package gomoku

import "sparring/game"

var _ game.Symmetric = (*Position)(nil)

// symmetries is the number of symmetries of a square.
const symmetries = 8

// Symmetric returns the image of a point under symmetry s, 0 to 7: bit 0 mirrors the
// columns, bit 1 the rows, bit 2 then exchanges the two.
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

// Symmetries is 8, or 1 under the continuous rules: there, of two rows made at
// once, the one in the first direction dies.
func (p *Position) Symmetries() int {
	if p.set.continuous {
		return 1
	}
	return symmetries
}

// SymmetricKey returns the key of the image of the plain position (see
// [Position.Plain]).
func (p *Position) SymmetricKey(symmetry int) uint64 {
	if symmetry == 0 {
		return p.key
	}
	var key uint64
	if p.toMove == White {
		key = sideKey
	}
	for at := range Point(p.board.Points) {
		if c, ok := p.board.At(at); ok {
			key ^= stoneKeys[c][p.board.Symmetric(at, symmetry)]
		}
	}
	return key
}

// SymmetricMove returns the move with the image of the stone that it puts or offers.
// Other moves are unchanged.
func (p *Position) SymmetricMove(symmetry int, m game.Move) game.Move {
	if at, ok := p.board.MovePoint(m); ok {
		return StoneMove(p.board.Symmetric(at, symmetry))
	}
	if at, ok := p.board.OfferPoint(m); ok {
		return Offer(p.board.Symmetric(at, symmetry))
	}
	return m
}
