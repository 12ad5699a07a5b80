package xiangqi

import rules "sparring/game/xiangqi"

// All tunable numbers of the evaluation, in units of which the rook of paper 003
// has 1000. A term that differs between middle game and endgame is a weight
// {mg, eg}. Origins: "003" and "004" are papers and their sections; "estimate" is
// the author's. Values fitted by "sparring learn tune" are in weights.json and
// override those here.

// weight is a value in the middle game and one in the endgame.
type weight struct{ mg, eg int32 }

func (w weight) times(n int) weight { return weight{w.mg * int32(n), w.eg * int32(n)} }

func (w *weight) add(o weight) { w.mg += o.mg; w.eg += o.eg }
func (w *weight) sub(o weight) { w.mg -= o.mg; w.eg -= o.eg }

// byKind has a weight for each kind of piece.
type byKind [rules.Kinds]weight

// weights are the coefficients that the evaluation is linear in, and that tuning
// fits.
type weights struct {
	// material is e1 (003, 5.1).
	material byKind
	// mobility is e3 (003, 5.3): for each piece, by the number of squares that it
	// may move to.
	mobility [rules.Kinds][maxMoves + 1]weight
	// together is for each pair of a side's pieces, the lower kind first.
	together [rules.Kinds]byKind
	// against is for each own horse, rook, cannon and pawn, times each of the two
	// advisors and two elephants that the enemy has lost.
	against [rules.Kinds]byKind

	// Cooperation, e4 (003, 5.4 names the patterns).
	pawnsHandInHand weight // two crossed pawns side by side
	linked          byKind // for each piece that guards another of its kind, cannons over a screen
	// crossed is for pawns beyond the river, without those on the last rank, by the
	// number of the enemy's advisors and of these pawns.
	crossed [3][6]weight
	// openFile is for each rook on a file without pawns, halfOpenFile for each on a
	// file with enemy pawns only.
	openFile, halfOpenFile weight
	// wing is for horses, rooks and cannons beyond the river on the outer four files
	// of one wing, by their number.
	wing [6]weight

	// King safety, e5 (003, 5.5 names the patterns). The values are for the
	// attacker.
	centralCannon          weight    // a cannon on the king's file over two screens
	hollowCannon           weight    // a cannon on the king's file with nothing between
	bottomCannon           weight    // a cannon on the back rank of a king beside it, screens or not
	palaceAttack           byKind    // for each square of the enemy palace that a piece of the kind attacks
	gathering              [8]weight // by the number of pieces that attack the palace
	cannonAgainstFullGuard weight    // each cannon against two advisors
	// smothered is for a cannon on the middle file against a horse in the centre of
	// its palace, with the king on its initial square behind it.
	smothered weight
	// safeCheck is for each square from which a piece can give check and which the
	// enemy does not attack, up to maxChecks for each kind.
	safeCheck byKind
	// room is for the king's own side, by the number of squares around it that it
	// can step to safely.
	room [5]weight

	// Relations between pieces (004, 3.6): a piece is threatened if it is attacked
	// and unprotected, or attacked by a cheaper piece. A threat counts little if its
	// victim's side is to move, and much if the enemy is.
	threatened byKind
	guarded    byKind
	// tempo is the value of the move.
	tempo weight

	squares [rules.Kinds]halfTable // e2 (003, 5.2)
}

// maxMoves is the maximum mobility of any piece, that of a rook on an empty
// board.
const maxMoves = rules.Ranks - 1 + rules.Files - 1

// maxChecks is the maximum number of squares that safeCheck counts for one kind.
const maxChecks = 3

// halfTable is e2 for one kind: rows from the enemy's back rank to the own one,
// columns from the edge to the middle file. The other half is its mirror image.
type halfTable [rules.Ranks][5]weight

// untuned are the weights from which tuning starts. In the endgame horses gain
// value and cannons, which then lack screens, lose some. The pawn's square table
// is 003's formula (9); the other tables are estimates: horses near the palace
// corners and off the rim, rooks on open files and the seventh rank, cannons in
// the middle and behind their own lines, advisors and elephants connected, the
// king at home. Two values differ from 003: a pawn's mobility, 15 there, is
// mostly in its square table, and pawns hand in hand are 200 there. Weights that
// are not listed start at zero.
var untuned = weights{
	material: byKind{
		rules.Advisor:  {170, 150},
		rules.Elephant: {160, 140},
		rules.Horse:    {450, 480},
		rules.Rook:     {1000, 1000},
		rules.Cannon:   {450, 430},
		rules.Pawn:     {60, 90},
	},
	mobility: forEachMove(byKind{
		rules.Advisor:  {1, 1},
		rules.Elephant: {1, 1},
		rules.Horse:    {12, 12},
		rules.Rook:     {6, 6},
		rules.Cannon:   {6, 6},
		rules.Pawn:     {2, 4},
	}),
	against:         [rules.Kinds]byKind{rules.Rook: {rules.Advisor: {30, 20}}},
	pawnsHandInHand: weight{50, 60},
	linked:          byKind{rules.Horse: {14, 10}, rules.Cannon: {10, 4}, rules.Rook: {16, 10}},
	centralCannon:   weight{22, 0},
	hollowCannon:    weight{90, 40},
	bottomCannon:    weight{28, 12},
	palaceAttack: byKind{
		rules.Horse: {9, 6}, rules.Rook: {9, 6}, rules.Cannon: {7, 3}, rules.Pawn: {10, 12},
	},
	gathering:              [8]weight{{0, 0}, {0, 0}, {22, 8}, {60, 24}, {110, 40}, {150, 60}, {180, 70}, {200, 80}},
	cannonAgainstFullGuard: weight{8, 4},
	threatened: byKind{
		rules.Advisor: {14, 14}, rules.Elephant: {14, 14}, rules.Horse: {40, 40},
		rules.Rook: {60, 60}, rules.Cannon: {40, 40}, rules.Pawn: {10, 14},
	},
	guarded: byKind{
		rules.Horse: {6, 4}, rules.Cannon: {4, 2}, rules.Pawn: {6, 8}, rules.Elephant: {3, 3}, rules.Advisor: {2, 2},
	},
	tempo: weight{18, 10},
	squares: taperedTables([rules.Kinds][rules.Ranks][5]int32{
		rules.King: {
			7: {0, 0, 0, -36, -44}, 8: {0, 0, 0, -14, -24}, 9: {0, 0, 0, 0, 8},
		},
		rules.Advisor: {
			7: {0, 0, 0, -6, 0}, 8: {0, 0, 0, 0, 6}, 9: {0, 0, 0, 2, 0},
		},
		rules.Elephant: {
			5: {0, 0, -4, 0, 0}, 7: {-8, 0, 0, 0, 10}, 9: {0, 0, 2, 0, 0},
		},
		rules.Horse: {
			{0, 4, 10, 8, -4},
			{8, 12, 56, 26, -2},
			{10, 20, 30, 50, 16},
			{14, 36, 34, 44, 32},
			{8, 30, 34, 36, 38},
			{6, 22, 30, 34, 34},
			{4, 12, 20, 20, 24},
			{2, 8, 18, 10, 8},
			{-4, 0, 6, 8, -30},
			{-16, -10, -4, 0, -14},
		},
		rules.Rook: {
			{14, 14, 12, 20, 22},
			{16, 24, 18, 32, 44},
			{12, 16, 14, 26, 28},
			{16, 26, 26, 30, 32},
			{18, 24, 24, 28, 30},
			{18, 26, 22, 28, 30},
			{8, 18, 10, 24, 26},
			{2, 12, 6, 20, 14},
			{4, 10, 8, 18, 0},
			{-12, 8, 4, 16, 0},
		},
		rules.Cannon: {
			{12, 8, 0, -16, -20},
			{4, 4, 0, -10, -16},
			{4, 2, 0, -8, -12},
			{0, 6, 6, 4, 18},
			{0, 4, 6, 4, 16},
			{0, 2, 8, 6, 18},
			{2, 0, 6, 4, 16},
			{0, 2, 12, 8, 22},
			{0, 4, 6, 8, 8},
			{0, 0, 4, 8, 4},
		},
		rules.Pawn: {
			{0, 3, 6, 9, 12},
			{18, 36, 56, 80, 120},
			{14, 26, 42, 60, 80},
			{10, 20, 30, 34, 40},
			{6, 12, 18, 18, 20},
			{2, 0, 8, 0, 8},
			{0, 0, -2, 0, 4},
		},
	}),
}

// forEachMove returns a mobility that grows linearly with the number of squares.
func forEachMove(by byKind) (all [rules.Kinds][maxMoves + 1]weight) {
	for k := range by {
		for n := range all[k] {
			all[k][n] = by[k].times(n)
		}
	}
	return all
}

// taperedTables derives the endgame values of square tables from those of the
// middle game.
func taperedTables(middle [rules.Kinds][rules.Ranks][5]int32) (all [rules.Kinds]halfTable) {
	for k := range middle {
		for row := range middle[k] {
			for col, v := range middle[k][row] {
				all[k][row][col] = weight{v, v * squareEndgame[k] / 16}
			}
		}
	}
	return all
}

// missingAdvisors scales the attack on a palace by the number of its advisors, in
// sixteenths (estimate).
var missingAdvisors = [3]int32{26, 20, 16}

// threatOwnMove and threatEnemyMove scale a threat if its victim's side or the
// enemy is to move, in sixteenths (estimate).
const (
	threatOwnMove   = 4
	threatEnemyMove = 20
)

// pieceValue are the values for static exchange evaluation. The king's exceeds the
// sum of all others.
var pieceValue = [rules.Kinds]int32{
	rules.King: 10000, rules.Advisor: 170, rules.Elephant: 160,
	rules.Horse: 450, rules.Rook: 1000, rules.Cannon: 450, rules.Pawn: 90,
}

// phaseOf is each kind's contribution to the phase; phaseFull is the phase of the
// initial position.
var phaseOf = [rules.Kinds]int32{rules.Rook: 4, rules.Horse: 2, rules.Cannon: 2}

const phaseFull = 2 * (2*4 + 2*2 + 2*2)

// squareEndgame scales the square tables for the endgame, in sixteenths: squares
// matter less there, except a pawn's (estimate).
var squareEndgame = [rules.Kinds]int32{
	rules.King: 4, rules.Advisor: 12, rules.Elephant: 12, rules.Horse: 10, rules.Rook: 6, rules.Cannon: 6, rules.Pawn: 18,
}
