package gomoku

import (
	"sparring/engine/search"
	"sparring/game/gomoku"
)

// worth is what a row of each kind is worth: the paper's table 2. Its blocked
// and open twos, threes and fours ("rush" and "live") are our kinds; a double
// four in one line, which the paper does not name, counts as an open four,
// having as many points that make five. One is ours: it keeps stones near
// each other on an empty board.
var worth = [gomoku.Kinds]int32{
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

// doubleThree is the worth of a point from which on the paper plays there
// before it searches (section 2.2: "at least the estimate of a double three").
const doubleThree = 2 * 800

// stones is how many stones a row of each kind has: a row is counted once at
// each of them.
var stones = [gomoku.Kinds]int32{
	gomoku.One: 1, gomoku.Two: 2, gomoku.OpenTwo: 2, gomoku.Three: 3, gomoku.OpenThree: 3,
	gomoku.Four: 4, gomoku.DoubleFour: 4, gomoku.StraightFour: 4, gomoku.FiveRow: 5,
}

// share is the common denominator of 1 to 5 stones, so that sums stay integers.
const share = 60

// inwards is what a stone is worth for each step from the nearest border. The
// paper does not have it; without it the engine opened on the edge, for the
// paper's table sees no difference on an empty board. Small: a whole board
// across it is worth less than the step from a blocked two to an open one.
const inwards = 3

// The paper's K1 and K2: what the own rows (of the side to move) and the other
// side's count, in eighths. The paper leaves the ratio open, above 1 for an
// attacker; the side to move is one, by about half a row's next step.
const (
	ownEighths   = 9
	otherEighths = 8
)

// The evaluation of a position that is won or lost within three plies by what
// the field shows. Beyond all sums of rows that occur, below MaxEval.
const (
	evalFive     search.Score = 27000 // five at the next ply
	evalOpenFour search.Score = 26000 // an open four at the next ply, unanswerable
	evalLimit    search.Score = 20000 // all else stays within
)

// countedRow is what a row that has counted is worth under the continuous
// rules: table 2's open four, since each costs about the stones of one.
const countedRow = 2000

// Ordering, in units of table 2 times orderScale, so that a difference of an
// open three outweighs the kernel's history (+-16384) and smaller ones don't.
const (
	orderScale = 16
	// A point's own worth counts more than what it denies the other side:
	// of equal rows, the one to move completes his first.
	ownOrder, otherOrder = 9, 8 // eighths
	// A forbidden point loses at once: behind all others, history included.
	foulOrder = -1 << 20
)

// nearby is how far from a stone, in king's steps, a point counts as near;
// points further out come last. Two steps hold every point of an open two.
const nearby = 2

// Budgets of the prover in nodes. At the root a tenth of a second pays for
// itself. At leaves: of the 31 problems of testdata/vcf.txt half take 23 nodes
// at most, three quarters 149.
const (
	proveRoot = 120000
	proveLeaf = 60
)

// failedBits is the logarithm of the number of positions without victory by
// fours that one worker remembers.
const failedBits = 13

// Params are the kernel's data for the game.
func Params() search.Params {
	return search.Params{
		Game:        gomoku.Name,
		HistorySize: [2]int{gomoku.MaxPoints, 1},
		// An open three, which wins for the side to move more often than not.
		WinScale:   800,
		Quiescence: true,
		// Fours and the replies to them go on for ever on a full board; what
		// wins by them the prover knows.
		QuiescencePlies: 8,
		ProveRoot:       proveRoot,
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
