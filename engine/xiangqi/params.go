package xiangqi

import (
	"math"

	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// Params are the kernel's parameters for the game. What each heuristic is worth
// stands in docs/search.md.
func Params() search.Params {
	return search.Params{
		Game:       "xiangqi",
		Slots:      [2]int{rules.Squares * rules.Squares, rules.Pieces * rules.Squares},
		Follow:     1, // piece and target
		WinScale:   search.Score(math.Round(meaning.Scale)),
		Outcomes:   meaning.Outcomes,
		Margins:    search.DefaultMargins(marginUnit),
		Quiescence: true, QuiescenceChecks: 1,
		ProveRoot: proveRoot,
		// From one design of 930 games at 10,000 nodes with all of these at two
		// values each.
		LateFrom: 3, Shallow: 8,
		Reduce: search.Reduce{Base: 1024, Slope: 250, Record: 6000, PV: 1024, Cut: 1536, Stale: 768, Killer: 1024,
			HashNoisy: 1024, Refuted: 1024},
		Null: search.Null{Base: 4, Per: 3, Most: 3},
		On: search.Switches{
			Aspiration: true, PVS: true, HashMove: true, HashCutoff: true,
			Killers: true, History: true, MateDistance: true,
			Counter: true, Continuation: true, NoisyHistory: true,
			SkipLosing: true, Delta: true, ReverseFutility: true, NullMove: true, Internal: true,
			LateMoves: true, Futility: true, Reductions: true, ForcedExtension: true,
			ByReduced: true, SEEPruning: true, RecordPruning: true, HashEval: true,
		},
	}
}

// marginUnit is the score that margins are made from (author): a little less
// than half a horse.
const marginUnit = 200

// proveRoot is what a search for mate by checks may take before each search: a
// few milliseconds, where there are that many checks at all (author).
const proveRoot = 4000
