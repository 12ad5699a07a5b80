package gomoku

import (
	"strings"

	"sparring/game"
)

var (
	_ game.Pictured = (*Position)(nil)
	_ game.Scorer   = (*Position)(nil)
	_ game.Staged   = (*Position)(nil)
	_ game.Winner   = (*Position)(nil)
)

// Grid returns the size of the board.
func (p *Position) Grid() game.Grid {
	return game.Grid{Columns: p.board.Size, Rows: p.board.Size, FirstRow: 1}
}

// Pieces has x for a black stone, o for a white one, # for a dead one and ? for a
// fifth move that is offered.
func (p *Position) Pieces() map[string]string {
	pieces := map[string]string{}
	for at := range Point(p.board.Points) {
		if !p.board.Empty(at) {
			pieces[p.board.PointText(at)] = string(p.board.mark(at))
		}
	}
	for _, at := range p.opening.offers {
		pieces[p.board.PointText(at)] = "?"
	}
	return pieces
}

// Sides returns the colours that the seats hold now.
func (p *Position) Sides() (sides [2]string) {
	sides[p.black], sides[p.black.Other()] = Black.String(), White.String()
	return sides
}

// Row lists the stones of the winning row.
func (p *Position) Row() (points []string) {
	if p.outcome.Reason != game.Five || p.set.continuous {
		return nil
	}
	c := p.toMove.Other()
	for at := range Point(p.board.Points) {
		if owner, ok := p.board.At(at); ok && owner == c {
			if row := p.board.WinningRow(at, c, p.set.Line(c)); row != nil {
				for _, q := range row {
					points = append(points, p.board.PointText(q))
				}
				return points
			}
		}
	}
	return nil
}

// Score returns the rows that the seats have made under the continuous rules.
func (p *Position) Score() (points [2]int, ok bool) {
	points[p.black], points[p.black.Other()] = p.rows[Black], p.rows[White]
	return points, p.set.continuous
}

// Stage returns the current step of the opening procedure.
func (p *Position) Stage() (game.Stage, bool) {
	s := p.current()
	if s == nil {
		return game.Stage{}, false
	}
	procedure, _, _ := strings.Cut(p.set.Opening.Name, "-")
	stage := game.Stage{Procedure: procedure, Step: s.name, Seat: p.opening.actor, Left: 1, Stone: p.board.stones + 1, Fifths: p.opening.fifths}
	switch s.kind {
	case PlaceStep:
		rest := p.set.Opening.steps[p.opening.step+1:]
		for len(rest) > 0 && rest[0].kind == PlaceStep && rest[0].name == s.name {
			stage.Left++
			rest = rest[1:]
		}
		if s.reach < anywhere {
			stage.Reach = &s.reach
		}
	case DeclareStep:
		stage.Fifths = s.fifths
	case OfferStep:
		stage.Left = p.opening.fifths - len(p.opening.offers)
	}
	return stage, true
}

// OnBoard reports whether a move puts or offers a stone.
func (p *Position) OnBoard(m game.Move) bool {
	_, puts := p.board.MovePoint(m)
	_, offers := p.board.OfferPoint(m)
	return puts || offers
}
