package amazons

import (
	"fmt"

	"sparring/game"
)

var _ game.Refuser = (*Position)(nil)

// Refusal says why an amazon may not be taken up, go to a square, or shoot at one.
func (p *Position) Refusal(points []string) (game.Refusal, error) {
	if len(points) < 1 || len(points) > 3 {
		return "", fmt.Errorf("%w: %d points, want one to three", game.ErrSyntax, len(points))
	}
	b := &p.board
	var squares [3]Square
	for i, text := range points {
		s, rest, err := b.geo.parseSquare(text, text)
		if err != nil || rest != "" {
			return "", fmt.Errorf("%w: point %.20q, want a1 to %s", game.ErrSyntax, text, b.geo.name(Square(b.geo.cols*b.geo.rows-1)))
		}
		squares[i] = s
	}
	from, to, arrow := squares[0], squares[1], squares[2]
	switch {
	case p.Outcome().Over():
		return game.RefusedOver, nil
	case b.free.Has(from):
		return game.RefusedEmpty, nil
	case b.amazons[b.turn.Other()].Has(from):
		return game.RefusedNotYours, nil
	case !b.amazons[b.turn].Has(from):
		return game.RefusedArrowThere, nil
	case len(points) == 1:
		if b.Neighbours(Bit(from)).Empty() {
			return game.RefusedStuck, nil
		}
		return "", nil
	case !b.Reach(Bit(from)).Has(to):
		return b.offLine(from, to, b.free, game.RefusedQueen, game.RefusedOccupied, game.RefusedBlocked), nil
	case len(points) == 2 || b.Targets(from, to).Has(arrow):
		return "", nil
	}
	free := b.free.Or(Bit(from)).AndNot(Bit(to))
	return b.offLine(to, arrow, free, game.RefusedShot, game.RefusedShotOccupied, game.RefusedShotBlocked), nil
}

// offLine says why no queen's step leads from one square to another.
func (b *Board) offLine(from, to Square, free Bits, crooked, occupied, blocked game.Refusal) game.Refusal {
	columns := int(to)%b.geo.cols - int(from)%b.geo.cols
	rows := int(to)/b.geo.cols - int(from)/b.geo.cols
	switch {
	case from == to:
		return game.RefusedSame
	case columns != 0 && rows != 0 && columns != rows && columns != -rows:
		return crooked
	case !free.Has(to):
		return occupied
	}
	return blocked
}
