package xiangqi

import (
	"fmt"

	"sparring/game"
)

var _ game.Refuser = (*Position)(nil)

// Refusal says why a piece may not be taken up, or may not go to a square.
func (p *Position) Refusal(points []string) (game.Refusal, error) {
	if len(points) < 1 || len(points) > 2 {
		return "", fmt.Errorf("%w: %d points, want one or two", game.ErrSyntax, len(points))
	}
	var squares [2]Square
	for i, text := range points {
		var ok bool
		if squares[i], ok = parseSquare(text); !ok {
			return "", fmt.Errorf("%w: point %.20q, want a0 to i9", game.ErrSyntax, text)
		}
	}
	b, from, to := p.board, squares[0], squares[1]
	piece := b.At(from)
	switch {
	case p.outcome.Over():
		return game.RefusedOver, nil
	case piece == NoPiece:
		return game.RefusedEmpty, nil
	case piece.Colour() != b.side:
		return game.RefusedNotYours, nil
	case len(points) == 1:
		return p.held(from), nil
	case from == to:
		return game.RefusedSame, nil
	case b.All(b.side).Has(to):
		return game.RefusedOwnPiece, nil
	case !b.Moves(from).Has(to):
		return b.wrongWay(from, to), nil
	case b.IsLegal(MakeMove(from, to)):
		return "", nil
	}
	return b.danger(from, to), nil
}

// held says why a piece has no legal move, "" if it has one.
func (p *Position) held(from Square) game.Refusal {
	for _, m := range p.board.Legal(nil) {
		if From(m) == from {
			return ""
		}
	}
	if p.board.InCheck() {
		return game.RefusedInCheck
	}
	if ways := p.board.Moves(from); ways.Any() {
		return p.board.danger(from, ways.First())
	}
	return game.RefusedStuck
}

// wrongWay says why the piece on from can't go to a square that it does not reach by
// its way of moving.
func (b *Board) wrongWay(from, to Square) game.Refusal {
	piece := b.At(from)
	files, ranks := to.File()-from.File(), to.Rank()-from.Rank()
	dx, dy := max(files, -files), max(ranks, -ranks)
	forward := ranks
	if piece.Colour() == Black {
		forward = -ranks
	}
	switch piece.Kind() {
	case King:
		if dx+dy == 1 {
			return game.RefusedPalace
		}
		return game.RefusedKing
	case Advisor:
		if dx == 1 && dy == 1 {
			return game.RefusedPalace
		}
		return game.RefusedAdvisor
	case Elephant:
		switch {
		case dx != 2 || dy != 2:
			return game.RefusedElephant
		case !halves[piece.Colour()].Has(to):
			return game.RefusedRiver
		}
		return game.RefusedEye
	case Horse:
		if min(dx, dy) == 1 && max(dx, dy) == 2 {
			return game.RefusedLeg
		}
		return game.RefusedHorse
	case Rook:
		if dx > 0 && dy > 0 {
			return game.RefusedRook
		}
		return game.RefusedBlocked
	case Cannon:
		switch {
		case dx > 0 && dy > 0:
			return game.RefusedCannon
		case b.At(to) == NoPiece:
			return game.RefusedBlocked
		}
		return game.RefusedScreen
	}
	switch {
	case forward < 0:
		return game.RefusedBackward
	case dx == 1 && dy == 0:
		return game.RefusedSideways
	}
	return game.RefusedPawn
}

// danger says what a move, legal but for this, would do to the mover's king.
func (b *Board) danger(from, to Square) game.Refusal {
	us := b.side
	checked := b.InCheck()
	taken := b.shift(from, to)
	defer b.unshift(from, to, taken)
	k := b.king[us]
	switch {
	case !b.AttackersTo(k, b.Occupied()).Meets(b.All(us.Other())):
		return game.RefusedFacing
	case checked && b.At(to).Kind() != King:
		return game.RefusedInCheck
	}
	return game.RefusedExposes
}
