package xiangqi

import (
	"math"

	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// Params returns the kernel's parameters for the game. docs/search.md has the worth
// of each heuristic. Numbers without an origin are from two screening experiments
// of 932 and 616 games at 10,000 nodes, in which each had one of two values at
// random.
func Params() search.Params {
	return search.Params{
		Game:              rules.Name,
		HistorySize:       [2]int{rules.Squares * rules.Squares, rules.Pieces * rules.Squares},
		ContinuationIndex: 1, // piece and target
		WinScale:          search.Score(math.Round(shippedModel.Scale)),
		WDLModel:          shippedModel.Outcomes,
		Margins:           margins(),
		Quiescence:        true, QuiescenceChecks: 1,
		ProveRoot: proveRoot,
		LMPBase:   3, PruneMaxDepth: 8,
		LMR: search.LMRParams{Base: 1024, Slope: 250, History: 9000, PV: 1024, CutNode: 1536, NotImproving: 768, Killer: 1024,
			HashNoisy: 1024, CutoffCount: 1024},
		NullMove:   search.NullMoveParams{Base: 4, DepthDivisor: 3, MaxEvalPlies: 3, VerifyDepth: 10},
		IIRExtraPV: 1, AlphaRaiseReduction: 1,
		On: search.Switches{
			IterativeDeepening: true, FailSoft: true, Aspiration: true, PVS: true, SEEOrder: true, HashMove: true, HashCutoff: true,
			Killers: true, History: true, MateDistance: true,
			CounterMoves: true, ContinuationHistory: true, NoisyHistory: true,
			QuiescenceSEE: true, DeltaPruning: true, ReverseFutility: true, NullMove: true, IIR: true,
			LMP: true, Futility: true, LMR: true, CheckExtension: true,
			LMRDepthPruning: true, SEEPruning: true, HistoryPruning: true, HashEval: true, KeepHistory: true,
		},
	}
}

// margins returns the default margins for a WinScale of 200, a little less than half
// a horse (estimate), except for three.
func margins() search.Margins {
	m := search.DefaultMargins(200)
	m.Aspiration, m.ReverseFutility, m.SEEQuiet = 15, 85, 20
	return m
}

// proveRoot is the node budget of the search for mate by checks before each
// search: a few milliseconds, if there are that many checks at all (estimate).
const proveRoot = 4000
