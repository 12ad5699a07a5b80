package engine

import (
	"sort"

	"sparring/engine/search"
	"sparring/game"
)

// Exposure is, for each of the moves, the most that the other side then wins by
// a plain capture, as static exchange evaluation counts it, less what the move
// takes itself: negative where a move gains. The unit is that of scores. It is
// nil for games without exchanges. The moves must be legal.
func (e *Engine) Exposure(p game.Position, moves []game.Move) ([]search.Score, error) {
	pos, err := e.adapter.New(p)
	if err != nil {
		return nil, err
	}
	exchanger, ok := pos.(search.StaticExchanger)
	if !ok {
		return nil, nil
	}
	pos.Enter()
	exposed := make([]search.Score, len(moves))
	var batch []search.ScoredMove
	for i, m := range moves {
		entry, ok := pos.Find(m)
		if !ok {
			continue // loses at once: Engine.Search spares it
		}
		exposed[i] = -entry.Gain
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
			exposed[i] += most
		}
		pos.Undo(m)
	}
	return exposed, nil
}

// exchange is what a capture gains, 0 where it loses.
func exchange(x search.StaticExchanger, capture *search.ScoredMove) search.Score {
	return search.Score(sort.Search(int(capture.Gain), func(n int) bool { return !x.SEE(capture.Move, search.Score(n+1)) }))
}
