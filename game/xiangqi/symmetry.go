package xiangqi

import "sparring/game"

var _ game.Symmetric = (*Position)(nil)

// Symmetries is 2: the identity, and the files reversed.
func (p *Position) Symmetries() int { return 2 }

// SymmetricKey returns the key of the position or, for symmetry 1, of its mirror
// image.
func (p *Position) SymmetricKey(symmetry int) uint64 {
	if symmetry == 0 {
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

// SymmetricMove returns the move or, for symmetry 1, its mirror image.
func (p *Position) SymmetricMove(symmetry int, m game.Move) game.Move {
	if symmetry == 0 {
		return m
	}
	return MakeMove(From(m).Mirror(), To(m).Mirror())
}
