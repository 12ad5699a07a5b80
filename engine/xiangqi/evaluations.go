package xiangqi

import (
	"sparring/engine/adapter"
	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// evaluations are those of the papers that the engine began with, for
// comparison with its own. docs/papers.md says what they are worth.
func evaluations() []adapter.Evaluation {
	return []adapter.Evaluation{
		{Name: "xu2006", Adapt: evaluatedBy(xu2006), WinScale: xu2006Scale},
		{Name: "relations", Adapt: evaluatedBy(relations), WinScale: relationsScale},
	}
}

// evaluated is a position with an evaluation other than the engine's own. The
// order of moves and the values of exchanges remain the engine's.
type evaluated struct {
	*position
	// evaluate is the evaluation for the side to move, in units of which a
	// rook is about 1000: the kernel's margins are in these.
	evaluate func(*rules.Board) int32
}

func evaluatedBy(evaluate func(*rules.Board) int32) func(search.Position) search.Position {
	return func(p search.Position) search.Position { return evaluated{p.(*position), evaluate} }
}

// Eval is the static evaluation.
func (p evaluated) Eval() search.Score { return p.bounded(p.evaluate(p.board)) }

// Clone is an independent copy for another worker.
func (p evaluated) Clone() search.Position {
	return evaluated{p.position.Clone().(*position), p.evaluate}
}
