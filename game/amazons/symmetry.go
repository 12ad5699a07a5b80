package amazons

import "sparring/game"

var _ game.Symmetric = (*Position)(nil)

// Symmetries is 8 on a square board, else 4: bit 0 of a symmetry mirrors the
// columns, bit 1 the rows, bit 2 then exchanges the two.
func (p *Position) Symmetries() int {
	if p.board.geo.cols == p.board.geo.rows {
		return 8
	}
	return 4
}

// symmetric returns the image of a square.
func (g *geometry) symmetric(s Square, symmetry int) Square {
	col, row := int(s)%g.cols, int(s)/g.cols
	if symmetry&1 != 0 {
		col = g.cols - 1 - col
	}
	if symmetry&2 != 0 {
		row = g.rows - 1 - row
	}
	if symmetry&4 != 0 {
		col, row = row, col
	}
	return Square(row*g.cols + col)
}

// SymmetricKey returns the key of the position's image.
func (p *Position) SymmetricKey(symmetry int) uint64 {
	b := &p.board
	if symmetry == 0 {
		return b.key
	}
	var key uint64
	if b.turn == game.Second {
		key = zobrist[zobristTurn]
	}
	for i, set := range [...]Bits{b.amazons[0], b.amazons[1], b.Arrows()} {
		for !set.Empty() {
			key ^= zobrist[i*maxSquares+int(b.geo.symmetric(set.Pop(), symmetry))]
		}
	}
	return key
}

// SymmetricMove returns the move with the images of its three squares.
func (p *Position) SymmetricMove(symmetry int, m game.Move) game.Move {
	from, to, arrow := Squares(m)
	g := p.board.geo
	return NewMove(g.symmetric(from, symmetry), g.symmetric(to, symmetry), g.symmetric(arrow, symmetry))
}
