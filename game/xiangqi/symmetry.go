package xiangqi

import "sparring/game"

var _ game.Symmetric = (*Position)(nil)

// Symmetries is 2: the files may be reversed, as all rules treat left and
// right alike.
func (p *Position) Symmetries() int { return 2 }

// SymmetricKey is the key of the position, of its mirror image for way 1.
func (p *Position) SymmetricKey(way int) uint64 {
	if way == 0 {
		return p.Key()
	}
	var key uint64
	if p.board.side == Black {
		key = keyBlack
	}
	for all := p.board.Occupied(); all.Any(); all = all.Rest() {
		s := all.First()
		key ^= zobrist[p.board.piece[s]][s.Mirror()]
	}
	return key
}

// SymmetricMove is the move, its mirror image for way 1.
func (p *Position) SymmetricMove(way int, m game.Move) game.Move {
	if way == 0 {
		return m
	}
	return MakeMove(From(m).Mirror(), To(m).Mirror())
}
