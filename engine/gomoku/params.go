package gomoku

import (
	"math"

	"sparring/engine/search"
	"sparring/game/gomoku"
)

// evalLimit bounds the static evaluations, below those of proven results.
const evalLimit search.Score = 20000

// While there are at most fewStones stones, each step that one is away from the border
// is worth inwards, and the network is not asked: weights and network come from
// positions with more, and on an empty board they would open in a corner.
const (
	fewStones = 4
	inwards   = 40
)

// countedRow is the value of a counted row under the continuous rules: that of
// an open four in table 2 of paper 002, since it takes about as many stones.
const countedRow = 2000

// Move ordering: a policy weight is 1/1024 of a natural logarithm, and the kernel
// adds history scores of +-16384.
const (
	orderScale = 4
	// A forbidden point loses at once, so it comes last in spite of any history.
	foulOrder = -1 << 20
)

// nearby is the greatest distance from a stone, in king's steps, at which a
// point counts as near. Two steps include every point that makes an open two.
const nearby = 2

// proveRoot is the prover's budget at the root in nodes: two tenths of a second.
const proveRoot = 120000

// proveMate is that budget where a win is asked for: five seconds or so, enough for
// victories with quiet moves.
const proveMate = 4000000

// failedBits is the binary logarithm of the number of positions without a VCF
// that a worker remembers.
const failedBits = 13

// Params returns the kernel's data for the game.
func Params() search.Params {
	return search.Params{
		Game:        gomoku.Name,
		HistorySize: [2]int{gomoku.MaxPoints, 1},
		WinScale:    search.Score(math.Round(shipped[freestyle]().model.Scale)),
		Quiescence:  true,
		// On a crowded board fours and replies to them could continue very long.
		// The prover finds what wins by them.
		QuiescencePlies: 12,
		// Fours that carry no other threat are many, and rarely lead to more.
		QuiescenceBadNoisy: 1,
		ProveRoot:          proveRoot,
		ProveMate:          proveMate,
		ProveShare:         10, // it nearly always finds no VCT

		// Found by "sparring learn worth" and confirmed by a match: see docs/search.md.
		LMR:                  search.LMRParams{Base: 512, Slope: 300, History: 2048, PV: 1024, CutNode: 1024, NotImproving: 512, Killer: 1024, Order: 1024},
		LMPExponent:          130,
		PruneMaxDepth:        12,
		ExtensionDepth:       2,
		ReverseFutilityDepth: 12,
		On: search.Switches{
			IterativeDeepening: true,
			FailSoft:           true,
			Aspiration:         true,
			PVS:                true,
			HashMove:           true,
			HashCutoff:         true,
			HashEval:           true,
			CounterMoves:       true,
			Killers:            true,
			History:            true,
			MateDistance:       true,

			Razoring:        true,
			ReverseFutility: true,
			IIR:             true,
			LMP:             true,
			LMR:             true,

			CheckExtension:    true,
			OneReplyExtension: true,
		},
	}
}
