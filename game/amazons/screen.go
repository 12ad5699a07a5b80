package amazons

import "sparring/game"

var _ game.Pictured = (*Position)(nil)

// Grid returns the size of the board.
func (p *Position) Grid() game.Grid {
	return game.Grid{Columns: p.board.geo.cols, Rows: p.board.geo.rows, FirstRow: 1}
}

// Pieces has Q for an amazon of White, q for one of Black and * for an arrow.
func (p *Position) Pieces() map[string]string {
	b := &p.board
	pieces := map[string]string{}
	for taken := b.geo.all.AndNot(b.free); !taken.Empty(); {
		s := taken.Pop()
		pieces[b.geo.name(s)] = string(b.cell(s))
	}
	return pieces
}

// Sides returns White and Black.
func (p *Position) Sides() [2]string { return [2]string{"white", "black"} }
