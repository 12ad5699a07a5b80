package xiangqi

import (
	"math"

	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// Params are the kernel's parameters for the game. What each heuristic is worth
// stands in docs/search.md. Numbers without an origin are from two designs of
// 932 and 616 games at 10,000 nodes, in which each had one of two values by lot.
func Params() search.Params {
	return search.Params{
		Game:              rules.Name,
		HistorySize:       [2]int{rules.Squares * rules.Squares, rules.Pieces * rules.Squares},
		ContinuationIndex: 1, // piece and target
		WinScale:          search.Score(math.Round(meaning.Scale)),
		WDLModel:          meaning.Outcomes,
		Margins:           margins(),
		Quiescence:        true, QuiescenceChecks: 1,
		ProveRoot: proveRoot,
		LateFrom:  3, Shallow: 8,
		Reduce: search.Reduce{Base: 1024, Slope: 250, Record: 9000, PV: 1024, Cut: 1536, Stale: 768, Killer: 1024,
			HashNoisy: 1024, Refuted: 1024},
		Null:    search.Null{Base: 4, Per: 3, Most: 3, Verify: 10},
		Missing: 1, Raised: 1,
		On: search.Switches{
			Deepening: true, FailSoft: true, Aspiration: true, PVS: true, ExchangeOrder: true, HashMove: true, HashCutoff: true,
			Killers: true, History: true, MateDistance: true,
			Counter: true, Continuation: true, NoisyHistory: true,
			SkipLosing: true, Delta: true, ReverseFutility: true, NullMove: true, Internal: true,
			LateMoves: true, Futility: true, Reductions: true, ForcedExtension: true,
			ByReduced: true, SEEPruning: true, RecordPruning: true, HashEval: true, KeepHistory: true,
		},
	}
}

// margins are those of a unit of 200, a little less than half a horse (author),
// but for three.
func margins() search.Margins {
	m := search.DefaultMargins(200)
	m.Window, m.Reverse, m.SEEQuiet = 15, 85, 20
	return m
}

// proveRoot is what a search for mate by checks may take before each search: a
// few milliseconds, where there are that many checks at all (author).
const proveRoot = 4000
