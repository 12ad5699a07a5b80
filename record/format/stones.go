package format

import (
	"fmt"

	"sparring/game"
	"sparring/game/gomoku"
	"sparring/record"
)

// Stone is a stone of a game of Gomoku, with column and row from 0 at the
// bottom left.
type Stone struct {
	Ply      int // that put it on the board, from 1
	Col, Row int
	Black    bool
}

// Stones replays a record of Gomoku and lists the stones in the order in which
// they came on the board. Choices of an opening procedure put none there. size
// is the board's; black is the seat that held Black in the end.
func Stones(r *record.Record) (stones []Stone, size int, black game.Seat, err error) {
	var before gomoku.Board
	added := func(ply int, p game.Position) error {
		g, ok := p.(*gomoku.Position)
		if !ok {
			return fmt.Errorf("%w: stones of a game of %s", ErrCannot, r.Game)
		}
		board := g.Board()
		for at := range gomoku.Point(board.Points) {
			c, on := board.At(at)
			if ply == 0 || !on || !before.Empty(at) {
				continue
			}
			stones = append(stones, Stone{Ply: ply, Col: board.Column(at), Row: board.Row(at), Black: c == gomoku.Black})
		}
		before, size, black = board, board.Size, BlackSeat(g)
		return nil
	}
	end, err := Played(r, func(ply int, p game.Position, _ game.Move) error { return added(ply-1, p) })
	if err != nil {
		return nil, 0, 0, err
	}
	err = added(len(r.Plies), end)
	return stones, size, black, err
}

// BlackSeat is the seat that holds Black.
func BlackSeat(p *gomoku.Position) game.Seat {
	if p.ToMove() == gomoku.Black {
		return p.Turn()
	}
	return p.Turn().Other()
}
