package gomoku

import (
	"sparring/engine/search"
	"sparring/game/gomoku"
)

// rowValue is the value of a row of each kind, from the paper's table 2. Its
// blocked and open twos, threes and fours ("rush" and "live") are our kinds. A
// double four in one line, which the paper does not name, counts as an open
// four, since as many points make it a five. That of One is our addition: it
// keeps stones near each other on an empty board.
var rowValue = [gomoku.Kinds]int32{
	gomoku.One:          4,
	gomoku.Two:          20,
	gomoku.OpenTwo:      80,
	gomoku.Three:        180,
	gomoku.OpenThree:    800,
	gomoku.Four:         1200,
	gomoku.DoubleFour:   2000,
	gomoku.StraightFour: 2000,
	gomoku.FiveRow:      10000,
}

// doubleThree is the value of a point at which the paper plays without a search
// (section 2.2: "at least the estimate of a double three").
const doubleThree = 2 * 800

// stonesInRow is the number of stones in a row of each kind. Each of them counts
// an equal part of the row's value.
var stonesInRow = [gomoku.Kinds]int32{
	gomoku.One: 1, gomoku.Two: 2, gomoku.OpenTwo: 2, gomoku.Three: 3, gomoku.OpenThree: 3,
	gomoku.Four: 4, gomoku.DoubleFour: 4, gomoku.StraightFour: 4, gomoku.FiveRow: 5,
}

// share is a common denominator of 1 to 5 stones, so that sums are integers.
const share = 60

// inwards is the value of a stone for each step from the nearest border. It is
// not in the paper, whose table makes no difference on an empty board, so that
// the engine opened on the edge. It is small: across the whole board it is less
// than the difference of a blocked and an open two.
const inwards = 3

// The paper's K1 and K2, the weights of the rows of the side to move and of the
// other side, in eighths. The paper leaves their ratio open, above 1 for an
// attacker. The side to move is one: it is ahead by about half a step of a row.
const (
	ownEighths   = 9
	otherEighths = 8
)

// The evaluations of positions that the field shows to be won or lost within
// three plies. They are above all sums of rows that occur, and below MaxEval.
const (
	evalFive     search.Score = 27000 // five at the next ply
	evalOpenFour search.Score = 26000 // an open four at the next ply
	evalLimit    search.Score = 20000 // bounds all others
)

// countedRow is the value of a counted row under the continuous rules: that of
// an open four in table 2, since it takes about as many stones.
const countedRow = 2000

// Move ordering is in units of table 2 times orderScale: a difference of an open
// three outweighs the kernel's history scores (+-16384), smaller ones don't.
const (
	orderScale = 16
	// What a point makes counts more than what it denies the other side: of
	// equal rows, those of the side to move are completed first.
	ownOrder, otherOrder = 9, 8 // eighths
	// A forbidden point loses at once, so it comes last in spite of any history.
	foulOrder = -1 << 20
)

// nearby is the greatest distance from a stone, in king's steps, at which a
// point counts as near. Two steps include every point that makes an open two.
const nearby = 2

// Budgets of the prover in nodes. That of the root takes two tenths of a second. For
// leaves: of the 31 problems in testdata/vcf.txt half take at most 23 nodes, and
// three quarters at most 149.
const (
	proveRoot = 120000
	proveLeaf = 60
)

// failedBits is the binary logarithm of the number of positions without a VCF
// that a worker remembers.
const failedBits = 13

// Params returns the kernel's data for the game.
func Params() search.Params {
	return search.Params{
		Game:        gomoku.Name,
		HistorySize: [2]int{gomoku.MaxPoints, 1},
		// An open three, with which the side to move usually wins.
		WinScale:   800,
		Quiescence: true,
		// On a crowded board fours and replies to them could continue very long.
		// The prover finds what wins by them.
		QuiescencePlies: 8,
		ProveRoot:       proveRoot,
		ProveShare:      10, // it nearly always finds no VCT
		ProveLeaf:       proveLeaf,
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

			LMP: true,
			LMR: true,
		},
	}
}
