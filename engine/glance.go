package engine

import (
	"cmp"
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// Glance is the moves of a position in the order in which a search without any
// experience would look at them: what promises most at first sight comes
// first. Moves that lose at once may be missing, though never all of them. The
// error wraps game.ErrOver where the game has ended.
func (e *Engine) Glance(p game.Position) ([]search.ScoredMove, error) {
	if err := Searchable(p, search.Limits{}); err != nil {
		return nil, err
	}
	pos, err := e.adapter.New(p)
	if err != nil {
		return nil, err
	}
	pos.Enter()
	var all, batch []search.ScoredMove
	for c := (search.Cursor{Mode: search.All}); ; {
		batch = pos.Moves(batch, &c)
		if len(batch) == 0 {
			return all, nil
		}
		slices.SortStableFunc(batch, func(a, b search.ScoredMove) int { return cmp.Compare(b.Order, a.Order) })
		all = append(all, batch...)
	}
}
