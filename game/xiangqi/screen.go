package xiangqi

import "sparring/game"

var (
	_ game.Pictured = (*Position)(nil)
	_ game.Checker  = (*Position)(nil)
)

// Grid returns the size of the board; ranks count from 0.
func (p *Position) Grid() game.Grid { return game.Grid{Columns: Files, Rows: Ranks} }

// Pieces has the FEN letter of each piece, upper case for Red.
func (p *Position) Pieces() map[string]string {
	pieces := make(map[string]string, maxPieces*2)
	for all := p.board.Occupied(); all.Any(); all = all.Rest() {
		s := all.First()
		pieces[s.String()] = p.board.At(s).String()
	}
	return pieces
}

// Sides returns Red and Black.
func (p *Position) Sides() [2]string { return [2]string{Red.String(), Black.String()} }

// Check returns the square of the king in check, "" if none is.
func (p *Position) Check() string {
	if !p.board.InCheck() {
		return ""
	}
	return p.board.King(p.board.side).String()
}
