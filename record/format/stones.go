package format

import (
	"fmt"

	"sparring/game"
	"sparring/game/gomoku"
	"sparring/record"
)

// Stone is a stone of a game of Gomoku. Columns and rows count from 0 at the
// bottom left.
type Stone struct {
	Ply      int // that put it on the board, from 1
	Col, Row int
	Black    bool
}

// Stones replays a record of Gomoku and lists its stones in the order of play,
// without those of the start position. Size is that of the board; black is the
// seat that held Black in the end.
func Stones(r *record.Record) (stones []Stone, size int, black game.Seat, err error) {
	if r.Game != "gomoku" {
		return nil, 0, 0, fmt.Errorf("%w: stones of a game of %s", ErrCannot, r.Game)
	}
	p, err := Played(r, func(ply int, p game.Position, m game.Move) error {
		g := p.(*gomoku.Position)
		board := g.Board()
		if at, ok := board.MovePoint(m); ok {
			stones = append(stones, Stone{Ply: ply, Col: board.Column(at), Row: board.RowOf(at), Black: g.ToMove() == gomoku.Black})
		}
		return nil
	})
	if err != nil {
		return nil, 0, 0, err
	}
	end := p.(*gomoku.Position)
	return stones, end.Set().Size, end.Seat(gomoku.Black), nil
}

// Turned returns the result for a text in which the player of seat first comes first, as the
// one who held Black in the end does.
func Turned(result game.Result, first game.Seat) game.Result {
	if first == game.Second && (result == game.FirstWins || result == game.SecondWins) {
		return game.FirstWins + game.SecondWins - result
	}
	return result
}
