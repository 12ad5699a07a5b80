package amazons

import (
	"fmt"

	"sparring/engine/adapter"
	"sparring/engine/search"
	rules "sparring/game/amazons"
)

// Params returns the kernel's parameters for the game.
func Params() search.Params {
	return search.Params{
		Game:              rules.Name,
		HistorySize:       [2]int{stepSlots, arrowSlots},
		ContinuationIndex: 1, // arrows: a table of pairs of steps would be too large
		WinScale:          winScale,
		// Not at every leaf: where little is closed the evaluation counts
		// territory nearly as well.
		ProveRoot: proveRoot,
		ProveNode: proveNode,
		// Proof-number search continues where it stopped.
		ProveAgain: 4,
		// By games: docs/search.md. Which of hundreds of moves late-move pruning
		// leaves matters, so they are sorted as far as that goes.
		SortedPicks:   64,
		LMPBase:       60,
		PruneMaxDepth: 10,
		LMR:           search.LMRParams{Base: 512, Slope: 300},
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

	// winScale is for a winning chance of 1/(1+exp(-0.2*squares)), to
	// which public 8x8 programs with the same evaluation terms were fitted.
	winScale = 5 * square

	// firstMove is k of formula (2): the value, for the side to move, of an
	// empty square that both sides reach equally soon. The paper leaves it open
	// between 0 and 1; a fifth is from Lieberum (2005), the source of the
	// paper's terms.
	firstMove = square / 5

	// proveRoot is the prover's budget, a few milliseconds: enough to fill the
	// largest territory with some hundred backtracks.
	proveRoot = 4000

	// proveNode is the budget within the search. Of the proofs that succeed nearly
	// all need less than a tenth.
	proveNode = 400

	// provableSquares is the number of free squares in areas with both sides'
	// amazons up to which a node is Provable, and provableWork the product of that
	// and the number of amazons there. In endings on 10x10 the prover then solves
	// more than 98 % of the nodes it is asked about.
	provableSquares = 10
	provableWork    = 30

	// solvedSquares is the number of free squares up to which proof-number search
	// is tried at the root.
	solvedSquares = 20

	// proveAtLeaf is the areas' budget at a new position of proof-number search.
	proveAtLeaf = 100

	// The estimate of how many positions are to be solved doubles at so many
	// hundredths of a square, in steps of a quarter, up to so many times. With 40
	// the won 5x4 board takes a million nodes, with 100 twice as many, and with
	// 200 four times.
	doublesAt    = square * 2 / 5
	stepsOfTwo   = 4
	maxDoublings = 12

	// kingCap is the greatest difference of king distances in formula (4).
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
var stages = []stage{
	{until: 20, t1: 14, t2: 37, p1: 13, p2: 13, m: 20},
	{until: 49, t1: 30, t2: 25, p1: 20, p2: 20, m: 5},
	{until: 1 << 10, t1: 80, t2: 10, p1: 5, p2: 5, m: 0},
}

// constantWeights are those of the evaluation without stages, which the paper
// compares its own with in tables 2 to 4. It does not print them; these are the
// means of table 1's rows.
var constantWeights = []stage{{until: 1 << 10, t1: 41, t2: 24, p1: 13, p2: 13, m: 8}}

// lieberumMobilityUnit divides the mobility of Lieberum's evaluation, whose values
// are about four times the number of moves (the 35 of figure 5 are ten moves), so
// that formulas (1) and (5) have a mobility of one size under either.
const lieberumMobilityUnit = 4

// paperEmpty is the number of squares to fill on the 10x10 board, from which
// stages are scaled to other boards.
const paperEmpty = 92

// orderWeights are the policy that orders moves: a step by the evaluation after it, an
// arrow by what it takes from whom. They are in units of orderNat to a natural
// logarithm of how likely the move is.
type orderWeights struct {
	eval int32 // for each square of territory
	cut  int32 // taken off for each square that the arrow takes from the reach of its own amazon
	back int32 // the arrow flies to where its amazon came from
	// distance is by how far the arrow flies: 1, 2, 3 squares, and more.
	distance [4]int32
	// reached is for the arrow's square: by whether its own side reaches it in one move,
	// and whether the other side does in one, in two, or later.
	reached [2][3]int32
	// For each amazon of the other side that sees the square, by how many squares that
	// reaches (see reachClass): for itself, and for each square of reach that it loses.
	seen, taken [4]int32
	// beside is for each amazon of the other side beside the square, by how many of the
	// squares around it are free (see libertyClass).
	beside [4]int32
	// own is taken off for each other own amazon that sees the square, by its reach.
	own [4]int32
}

const orderNat = 4096

// shippedOrder was fitted by maximum likelihood, as "sparring learn moves" does it, to
// 15,800 moves that searches of 4,000 nodes with the staged evaluation had chosen in
// games on 10x10. Of another 1,755 moves 12 % stood first, 39 % among the first five
// and 72 % among the first twenty. With the learnt evaluation, whose squares are worth
// more, eval is about a quarter too large.
var shippedOrder = orderWeights{
	eval: 790, cut: 400, back: 950,
	distance: [4]int32{-280, -30, 160, 270},
	reached:  [2][3]int32{{390, -950, -1430}, {620, -440, -1180}},
	seen:     [4]int32{50, -610, -480, -290},
	taken:    [4]int32{440, 610, 430, 340},
	beside:   [4]int32{1130, 1130, 960, 720},
	own:      [4]int32{490, 290, 460, 700},
}.scaled(orderNat, 1000)

// scaled returns the weights times a fraction.
func (w orderWeights) scaled(by, of int32) *orderWeights {
	for _, p := range w.parameters() {
		*p.Value = *p.Value * by / of
	}
	return &w
}

// parameters lists the weights. A name ends with the least number of its class.
func (w *orderWeights) parameters() []adapter.Weight {
	all := []adapter.Weight{{Name: "eval", Value: &w.eval}, {Name: "cut", Value: &w.cut}, {Name: "back", Value: &w.back}}
	for i := range w.distance {
		all = append(all, adapter.Weight{Name: fmt.Sprintf("distance.%d", 1+i), Value: &w.distance[i]})
	}
	for own := range w.reached {
		for other := range w.reached[own] {
			all = append(all, adapter.Weight{Name: fmt.Sprintf("reached.%d.%d", 1+own, 1+other), Value: &w.reached[own][other]})
		}
	}
	for _, of := range []struct {
		name    string
		weights *[4]int32
		bounds  [3]int
	}{{"seen", &w.seen, reachBounds}, {"taken", &w.taken, reachBounds}, {"beside", &w.beside, libertyBounds}, {"own", &w.own, reachBounds}} {
		least := 0
		for i := range of.weights {
			all = append(all, adapter.Weight{Name: fmt.Sprintf("%s.%d", of.name, least), Value: &of.weights[i]})
			if i < len(of.bounds) {
				least = of.bounds[i]
			}
		}
	}
	return all
}

var (
	reachBounds   = [3]int{4, 8, 15}
	libertyBounds = [3]int{2, 3, 5}
)

// reachClass is the class of an amazon by the number of squares that it reaches.
func reachClass(n int) int { return class(n, reachBounds) }

// libertyClass is the class of an amazon by the free squares around it.
func libertyClass(n int) int { return class(n, libertyBounds) }

// class counts the bounds that n reaches.
func class(n int, bounds [3]int) (c int) {
	for _, b := range bounds {
		if n >= b {
			c++
		}
	}
	return c
}

// Which steps are evaluated first is found by rough scores, four times the change
// of the evaluation after a step for each feature, in hundredths of a square, by
// least squares over 83,000 moves of games at 30 ms a move, between those of the
// opening and the middle game, and rounded.
const (
	orderReach    = 150 // squares reached from the new square minus those from the old one
	orderLiberty  = 110 // free neighbours of the new square minus those of the old one
	orderBlock    = 110 // squares that the amazon takes from the opponent's reach
	orderOwn      = 160 // squares that it takes from the other own amazons' reach
	orderAdjacent = 220 // it is adjacent to an amazon of the opponent

	// orderSpan separates good arrows from others: those that are this much
	// worse than the best move of the first group come after the good ones of
	// all groups.
	orderSpan = 5 * orderNat

	// The numbers of steps in a group. The first is small, since most cutoffs
	// happen there.
	firstGroup, laterGroup = 16, 64

	// evaluateAll is the depth from which all steps are evaluated at once.
	evaluateAll = 3
)
