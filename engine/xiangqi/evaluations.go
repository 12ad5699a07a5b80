package xiangqi

import (
	"sparring/engine/adapter"
	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// evaluations returns those of the papers that the engine began with, for
// comparison with its own. docs/papers.md says how strong they are. What their
// scores mean was fitted to the searches of 400 games of each against itself, at
// 3,000 and 2,000 nodes a move, where the score was within 1,200.
func evaluations() []adapter.Evaluation {
	return []adapter.Evaluation{
		{Name: "xu2006", Adapt: evaluatedBy(xu2006), WinScale: 634, WDLModel: search.WDLModel{Edge: 674, Scale: 430}},
		{Name: "relations", Adapt: evaluatedBy(relations), WinScale: 883, WDLModel: search.WDLModel{Edge: 959, Scale: 583}},
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

// Eval returns the static evaluation.
func (p evaluated) Eval() search.Score { return p.bounded(p.evaluate(p.board)) }

// Clone returns an independent copy for another worker.
func (p evaluated) Clone() search.Position {
	return evaluated{p.position.Clone().(*position), p.evaluate}
}
