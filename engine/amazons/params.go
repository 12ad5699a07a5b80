package amazons

import (
	"sparring/engine/search"
	rules "sparring/game/amazons"
)

// Params are the game's data for the kernel.
func Params() search.Params {
	return search.Params{
		Game:              rules.Name,
		HistorySize:       [2]int{stepSlots, arrowSlots},
		ContinuationIndex: 1, // arrows: pairs of steps would be too many
		WinScale:          winScale,
		// At leaves the evaluation counts territory nearly as well, and a
		// proof costs as much as some hundred of them.
		ProveRoot: proveRoot,
		LMPBase:   60,
		On: search.Switches{
			IterativeDeepening: true,
			FailSoft:           true,
			Aspiration:         true,
			PVS:                true,
			HashMove:           true,
			HashCutoff:         true,
			Killers:            true,
			History:            true,
			MateDistance:       true,

			LMP:             true,
			Futility:        true,
			ReverseFutility: true,
			LMR:             true,
		},
	}
}

// Scores are in hundredths of a square of territory.
const (
	// square is one square of territory.
	square = 100

	// winScale: a winning chance of 1/(1+exp(-0.2*squares)), which public 8x8
	// programs with the same evaluation terms were fitted to.
	winScale = 5 * square

	// firstMove is k of formula (2): the worth of an empty square that both
	// sides reach equally soon, to the side to move. The paper leaves it open
	// between 0 and 1; a fifth is from Lieberum (2005), where the paper's
	// terms come from.
	firstMove = square / 5

	// proveRoot is the prover's budget: enough to fill the largest territory
	// with some hundred moves taken back, a few milliseconds.
	proveRoot = 4000

	// kingCap is the difference of king distances at which formula (4) stops.
	kingCap = 6
)

// stage is one row of table 1: weights of the terms in hundredths.
type stage struct {
	until          int // holds while fewer arrows are on the 10x10 board
	t1, t2, p1, p2 int
	m              int
}

// stages is table 1 of Guo, Li, Bao, "Research on evaluation function computer
// game of Amazon", Computer Engineering and Applications 48(34), 2012: the
// opening is the first 20 moves of both sides together, the middle game moves
// 21 to 49, the endgame the rest.
var stages = [...]stage{
	{until: 20, t1: 14, t2: 37, p1: 13, p2: 13, m: 20},
	{until: 49, t1: 30, t2: 25, p1: 20, p2: 20, m: 5},
	{until: 1 << 10, t1: 80, t2: 10, p1: 5, p2: 5, m: 0},
}

// paperEmpty is the number of squares to fill on the 10x10 board, by which
// stages scale to other boards.
const paperEmpty = 92

// Weights of the static move order, in the unit of the kernel's history scores
// (within +-16384). They are four times the hundredths of a square by which
// each feature was found to change the evaluation after a move, by least
// squares over 83,000 moves of games at 30 ms a move, between the opening's and
// the middle game's, and rounded.
const (
	orderReach   = 150 // squares that the amazon reaches from its new square, less those from its old one
	orderLiberty = 110 // free neighbours of the new square, less those of the old
	orderBlock   = 110 // squares that an arrow, or the amazon itself, takes from the opponent's reach
	orderOwn     = 160 // squares that it takes from the other own amazons' reach
	orderCut     = 200 // squares that the arrow takes from the reach of the amazon that shoots it
	orderBeside  = 220 // the arrow, or the amazon, beside an amazon of the opponent

	// orderSpan parts each group of steps: arrows this much worse than the
	// best of the node's first group come after all groups' better ones.
	orderSpan = 2000

	// Steps come in groups, best first; the first is small since most cutoffs
	// happen there.
	firstGroup, laterGroup = 16, 64
)
