package searchtest

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// Minimax returns the value of a position at a fixed depth, by plain search without
// pruning, ordering, table or prover, and with quiescence as in the parameters.
// The kernel must find it with all heuristics that do not change values.
func Minimax(p search.Position, params search.Params, depth int) search.Score {
	m := minimax{p: p, params: params}
	p.Enter() // the root is searched whatever its verdict
	return m.best(depth, 0, 0, batches(p, search.All), -search.Infinity)
}

type minimax struct {
	p      search.Position
	params search.Params
}

// value returns the value of a node for its side to move; q counts the plies since
// the main search ended.
func (m *minimax) value(depth, ply, q int) search.Score {
	node := m.p.Enter()
	if node.Over {
		return search.AtPly(node.Verdict, ply)
	}
	if ply >= search.MaxPly-1 {
		return m.p.Eval()
	}
	if depth > 0 {
		return m.best(depth, ply, 0, batches(m.p, search.All), -search.Infinity)
	}
	if !m.params.Quiescence || (m.params.QuiescencePlies > 0 && q >= m.params.QuiescencePlies) {
		return m.p.Eval()
	}
	if node.Forced {
		return m.best(0, ply, q+1, batches(m.p, search.All), -search.Infinity)
	}
	return m.best(0, ply, q+1, batches(m.p, search.Noisy), m.p.Eval())
}

func (m *minimax) best(depth, ply, q int, moves []search.ScoredMove, best search.Score) search.Score {
	for _, e := range moves {
		m.p.Do(e.Move)
		v := -m.value(max(depth-1, 0), ply+1, q)
		m.p.Undo(e.Move)
		best = max(best, v)
	}
	if best == -search.Infinity {
		return search.AtPly(-search.Win, ply) // no move is a loss
	}
	return best
}

// BestMoves returns the root moves with the value of Minimax.
func BestMoves(p search.Position, params search.Params, depth int) []game.Move {
	m := minimax{p: p, params: params}
	p.Enter()
	var best []game.Move
	top := -search.Infinity
	for _, e := range batches(p, search.All) {
		p.Do(e.Move)
		v := -m.value(depth-1, 1, 0)
		p.Undo(e.Move)
		if v > top {
			top, best = v, nil
		}
		if v == top {
			best = append(best, e.Move)
		}
	}
	slices.Sort(best)
	return best
}
