package gomoku

import (
	"fmt"
	"slices"

	"sparring/game"
)

var _ game.Refuser = (*Position)(nil)

// Refusal says why no stone may be put, offered or picked at a point.
func (p *Position) Refusal(points []string) (game.Refusal, error) {
	if len(points) != 1 {
		return "", fmt.Errorf("%w: %d points, want one", game.ErrSyntax, len(points))
	}
	at, err := p.board.ParsePoint(points[0])
	s := p.current()
	switch {
	case err != nil:
		return "", err
	case p.outcome.Over():
		return game.RefusedOver, nil
	case s != nil && (s.kind == ChooseStep || s.kind == DeclareStep):
		return game.RefusedChoice, nil
	case !p.board.Empty(at):
		return game.RefusedOccupied, nil
	case s == nil:
		return "", nil
	}
	offered := slices.Contains(p.opening.offers, at)
	switch {
	case s.kind == PlaceStep && p.board.FromCentre(at) > s.reach:
		return game.RefusedTooFar, nil
	case s.kind == PickStep && !offered:
		return game.RefusedNotOffer, nil
	case s.kind == OfferStep && offered:
		return game.RefusedOffered, nil
	case s.kind == OfferStep && p.offerable(at, p.board.selfSymmetries()) != nil:
		return game.RefusedSymmetric, nil
	}
	return "", nil
}
