package engine

import (
	"cmp"
	"slices"
	"sort"

	"sparring/engine/search"
	"sparring/game"
)

// OrderedMoves returns the moves of a position in the order in which a search
// with empty tables tries them, the most promising first. Moves that it need not try
// since they provably lose come last, except that those that lose at once may be
// missing, but not all moves. The error wraps game.ErrOver if the game has ended.
func (e *Engine) OrderedMoves(p game.Position) ([]search.ScoredMove, error) {
	if err := Searchable(p, search.Limits{}); err != nil {
		return nil, err
	}
	pos, err := e.adapter.New(p)
	if err != nil {
		return nil, err
	}
	pos.Enter()
	var all, batch []search.ScoredMove
	for c := (search.Cursor{Mode: search.AndLosing}); ; {
		batch = pos.Moves(batch, &c)
		if len(batch) == 0 {
			return all, nil
		}
		slices.SortStableFunc(batch, func(a, b search.ScoredMove) int { return cmp.Compare(b.Order, a.Order) })
		all = append(all, batch...)
	}
}

// MaterialLoss returns, for each of the moves, what the opponent's best capture
// then wins by static exchange evaluation, less what the move itself captures. It
// is negative for a move that gains material. The unit is that of scores. The
// result is nil for games without exchanges. The moves must be legal.
func (e *Engine) MaterialLoss(p game.Position, moves []game.Move) ([]search.Score, error) {
	pos, err := e.adapter.New(p)
	if err != nil {
		return nil, err
	}
	exchanger, ok := pos.(search.StaticExchanger)
	if !ok {
		return nil, nil
	}
	pos.Enter()
	losses := make([]search.Score, len(moves))
	var batch []search.ScoredMove
	for i, m := range moves {
		entry, ok := pos.Find(m)
		if !ok {
			continue // it is known to lose
		}
		losses[i] = -entry.Gain
		pos.Do(m)
		if node := pos.Enter(); !node.Over {
			var most search.Score
			for c := (search.Cursor{Mode: search.Noisy}); ; {
				if batch = pos.Moves(batch, &c); len(batch) == 0 {
					break
				}
				for _, capture := range batch {
					most = max(most, exchange(exchanger, &capture))
				}
			}
			losses[i] += most
		}
		pos.Undo(m)
	}
	return losses, nil
}

// exchange returns what a capture gains by static exchange evaluation, 0 if it loses.
func exchange(x search.StaticExchanger, capture *search.ScoredMove) search.Score {
	return search.Score(sort.Search(int(capture.Gain), func(n int) bool { return !x.SEE(capture.Move, search.Score(n+1)) }))
}
