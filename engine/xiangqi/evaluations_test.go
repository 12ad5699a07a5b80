package xiangqi

import (
	"math/rand/v2"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

func board(t *testing.T, fen string) *rules.Board {
	t.Helper()
	b, err := rules.ParseFEN(fen)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEvaluationsConform checks the papers' evaluations against the kernel's contract.
func TestEvaluationsConform(t *testing.T) {
	for _, e := range evaluations() {
		t.Run(e.Name, func(t *testing.T) {
			adapt := func(g game.Position) (search.Position, error) {
				p, err := New(g)
				if err != nil {
					return nil, err
				}
				return e.Adapt(p), nil
			}
			s := searchtest.Subject{New: adapt, Params: Params(), Walks: 5, Plies: 70, Seed: 12}
			for _, fen := range places {
				s.Starts = append(s.Starts, setUp(t, "xiangqi/simple", fen))
			}
			searchtest.Conform(t, s)
		})
	}
}

// TestEvaluationsAreSymmetric: the evaluations don't change if left and right, or Red
// and Black, are exchanged, and both sides are equal at the start.
func TestEvaluationsAreSymmetric(t *testing.T) {
	for name, evaluate := range map[string]func(*rules.Board) int32{"xu2006": xu2006, "relations": relations} {
		if got := evaluate(adapt(t, setUp(t, "xiangqi/simple", "")).board); got != 0 {
			t.Errorf("%s: the start is %d, want 0", name, got)
		}
		rng := rand.New(rand.NewPCG(5, 6))
		decided := 0
		for walk := range 60 {
			fen := wander(t, rng, walk).String()
			want := evaluate(board(t, fen))
			if want != 0 {
				decided++
			}
			for what, other := range map[string]string{"left and right": mirror(fen), "Red and Black": swap(fen)} {
				if got := evaluate(board(t, other)); got != want {
					t.Errorf("%s, %s exchanged: %s is %d, %s is %d", name, what, fen, want, other, got)
				}
			}
		}
		if decided < 30 {
			t.Errorf("%s: only %d of 60 positions are not equal", name, decided)
		}
	}
}

// TestXu2006 checks paper 003's printed values in small positions.
func TestXu2006(t *testing.T) {
	king := xuSquare(rules.Red, rules.King, rules.MakeSquare(5, 0))
	for _, c := range []struct {
		what, fen string
		want      fiveTerms // Red's
	}{
		{"kings alone", "3k5/9/9/9/9/9/9/9/9/5K3 w", fiveTerms{0, 0, 0, 0, king}},
		{"a rook: 1000, 17 squares at 6", "3k5/9/9/9/9/9/9/9/R8/5K3 w",
			fiveTerms{1000, xuSquare(rules.Red, rules.Rook, rules.MakeSquare(0, 1)), 17 * 6, 0, king}},
		{"a horse: 450, 8 squares at 12", "3k5/9/9/9/9/4N4/9/9/9/5K3 w",
			fiveTerms{450, xuSquare(rules.Red, rules.Horse, rules.MakeSquare(4, 4)), 8 * 12, 0, king}},
		{"a cannon: 450, 17 squares at 6", "3k5/9/9/9/9/9/9/9/C8/5K3 w",
			fiveTerms{450, xuSquare(rules.Red, rules.Cannon, rules.MakeSquare(0, 1)), 17 * 6, 0, king}},
		{"an advisor: 170, 4 squares at 1", "3k5/9/9/9/9/9/9/9/4A4/5K3 w",
			fiveTerms{170, xuSquare(rules.Red, rules.Advisor, rules.MakeSquare(4, 1)), 4 - 1, 0, king}},
		{"an elephant: 160, 4 squares at 1", "3k5/9/9/9/9/9/9/4B4/9/5K3 w",
			fiveTerms{160, xuSquare(rules.Red, rules.Elephant, rules.MakeSquare(4, 2)), 4, 0, king}},
		{"a pawn before the river: 60, one square at 15", "3k5/9/9/9/9/9/P8/9/9/5K3 w", fiveTerms{60, 0, 15, 0, king}},
		{"pawns hand in hand before the palace: 200, and 40 and 34 of the matrix",
			"3k5/9/9/4PP3/9/9/9/9/9/5K3 w", fiveTerms{120, 40 + 34, 4 * 15, 200, king}},
		{"three of them are two pairs", "3k5/9/9/4PPP2/9/9/9/9/9/5K3 w", fiveTerms{180, 40 + 34 + 30, 5 * 15, 400, king}},
		{"before the river they do not count", "3k5/9/9/9/9/4P1P2/9/9/9/5K3 w", fiveTerms{120, 8 + 8, 2 * 15, 0, king}},
	} {
		for side, fen := range map[string]string{"": c.fen, ", Black": swap(c.fen)} {
			b := board(t, fen)
			own := rules.Red
			if side != "" {
				own = rules.Black
			}
			if got := xuTerms(b, own); got != c.want {
				t.Errorf("%s%s: %+v, want %+v", c.what, side, got, c.want)
			}
			other := xuTerms(b, own.Other())
			if got := xu2006(b); got != c.want.sum()-other.sum() {
				t.Errorf("%s%s: %d for the side to move, want %d less %d", c.what, side, got, c.want.sum(), other.sum())
			}
		}
	}
}

// TestXu2006Pawns compares the square values of pawns with the paper's matrix,
// formula (9).
func TestXu2006Pawns(t *testing.T) {
	matrix := [rules.Ranks][rules.Files]int32{
		{0, 3, 6, 9, 12, 9, 6, 3, 0},
		{18, 36, 56, 80, 120, 80, 56, 36, 18},
		{14, 26, 42, 60, 80, 60, 42, 26, 14},
		{10, 20, 30, 34, 40, 34, 30, 20, 10},
		{6, 12, 18, 18, 20, 18, 18, 12, 6},
		{2, 0, 8, 0, 8, 0, 8, 0, 2},
		{0, 0, -2, 0, 4, 0, -2, 0, 0},
	}
	for row := range matrix {
		for file, want := range matrix[row] {
			s := rules.MakeSquare(file, rules.Ranks-1-row)
			if got := xuSquare(rules.Red, rules.Pawn, s); got != want {
				t.Errorf("a red pawn on %v is worth %d, want %d", s, got, want)
			}
			if got := xuSquare(rules.Black, rules.Pawn, s.Flip()); got != want {
				t.Errorf("a black pawn on %v is worth %d, want %d", s.Flip(), got, want)
			}
		}
	}
}

// TestXu2006Patterns checks the patterns of sections 5.4 and 5.5.
func TestXu2006Patterns(t *testing.T) {
	for _, c := range []struct {
		what, fen           string
		cooperation, attack int32
	}{
		{"horses apart", "3k5/9/9/9/9/9/9/2N6/9/4NK3 w", 0, 0},
		{"horses that guard each other", "3k5/9/9/9/9/9/2N6/9/3N5/5K3 w", xuLinkedHorses, 0},
		{"a leg is in the way", "3k5/9/9/9/9/9/2N6/3P5/3N5/5K3 w", 0, 0},
		{"cannons with a piece between", "3k5/9/9/9/9/9/C1P1C4/9/9/5K3 w", xuLinkedCannons, 0},
		{"cannons with two", "3k5/9/9/9/9/9/C1P1P1C2/9/9/5K3 w", 0, 0},
		{"rooks that see each other", "3k5/9/9/9/9/9/9/9/R7R/5K3 w", xuLinkedRooks, 0},
		{"rooks that do not", "3k5/9/9/9/9/9/R3P3R/9/9/5K3 w", 0, 0},
		{"a hollow cannon", "4k4/9/9/9/9/9/9/4C4/9/5K3 w", 0, xuHollowCannon},
		{"a central cannon", "4k4/4a4/9/9/4P4/9/9/4C4/9/5K3 w", 0, xuCentralCannon},
		{"one screen is a check, not a pattern", "4k4/4a4/9/9/9/9/9/4C4/9/5K3 b", 0, 0},
		{"a bottom cannon", "C3k4/9/9/9/9/9/9/9/9/5K3 b", 0, xuBottomCannon},
		{"the king is not at home", "C8/4k4/9/9/9/9/9/9/9/5K3 b", 0, 0},
		{"three on one flank", "4k4/9/RNC6/9/9/9/9/9/9/5K3 w", 0, xuGathering[3]},
		{"two and one", "4k4/9/RN5C1/9/9/9/9/9/9/5K3 w", 0, xuGathering[2]},
	} {
		for side, fen := range map[string]string{"": c.fen, ", left and right exchanged": mirror(c.fen)} {
			b := board(t, fen)
			if got := xuCooperation(b, rules.Red); got != c.cooperation {
				t.Errorf("%s%s: cooperation %d, want %d", c.what, side, got, c.cooperation)
			}
			if got := xuKingAttack(b, rules.Red); got != c.attack {
				t.Errorf("%s%s: attack %d, want %d", c.what, side, got, c.attack)
			}
		}
	}
}

// TestRelations checks paper 004's printed values and examples. Control is counted
// by hand in the first positions only.
func TestRelations(t *testing.T) {
	const king = 10000
	for _, c := range []struct {
		what, fen  string
		red, black relationTerms
	}{
		// Each king has three steps; nothing else moves.
		{"kings alone", "3k5/9/9/9/9/9/9/9/9/5K3 w", relationTerms{king, 0, 2, 0}, relationTerms{king, 0, 2, 0}},
		// The rook has 17 points, of which Red's king shares none.
		{"a rook is 500", "3k5/9/9/9/9/9/9/9/R8/5K3 w", relationTerms{king + 500, 17 * 6, 17 + 2 - 1, 0}, relationTerms{king, 0, 2, 0}},
		{"a horse is 300", "3k5/9/9/9/4N4/9/9/9/9/5K3 w", relationTerms{king + 300, 8 * 12, 8 + 2, 0}, relationTerms{king, 0, 2, 0}},
		{"a pawn is 100", "3k5/9/9/9/9/9/P8/9/9/5K3 w", relationTerms{king + 100, 15, 1 + 2, 0}, relationTerms{king, 0, 2, 0}},
	} {
		for side, fen := range map[string]string{"": c.fen, ", Black": swap(c.fen)} {
			got, want := relate(board(t, fen)), [2]relationTerms{c.red, c.black}
			if side != "" {
				got[0], got[1] = got[1], got[0]
			}
			if got != want {
				t.Errorf("%s%s: %+v, want %+v", c.what, side, got, want)
			}
		}
	}
}

// TestRelationsThreats checks the examples of paper 004, section 3.6: a red rook that a
// black horse attacks; a red horse that a black rook attacks, guarded by a red
// pawn or not; the same with Red and with Black to move.
func TestRelationsThreats(t *testing.T) {
	for _, c := range []struct {
		what, fen  string
		red, black int32
	}{
		{"a rook attacked by a horse, Black to move", "3k5/9/9/9/2n6/9/1R7/9/9/5K3 b", 500 * 10 / 16, 0},
		{"Red to move", "3k5/9/9/9/2n6/9/1R7/9/9/5K3 w", 500 * 2 / 16, 0},
		{"a horse attacked by a rook", "3k5/9/9/r3N4/9/9/9/9/9/5K3 b", 300 * 10 / 16, 0},
		{"guarded by a pawn", "3k5/9/9/r3NP3/9/9/9/9/9/5K3 b", 0, 0},
		{"a horse attacked by a cannon, Red to move", "3k5/9/9/c2pN4/9/9/9/9/9/5K3 w", 300 * 2 / 16, 0},
		{"the same, Black to move", "3k5/9/9/c2pN4/9/9/9/9/9/5K3 b", 300 * 10 / 16, 0},
		{"the rook threatens the cannon, too", "3k5/9/9/c2pN4/9/9/9/9/R8/5K3 b", 300 * 10 / 16, 300 * 2 / 16},
		{"a king in check loses nothing of its value", "3k5/9/9/9/9/9/9/9/9/r4K3 w", 0, 0},
	} {
		for side, fen := range map[string]string{"": c.fen, ", left and right exchanged": mirror(c.fen)} {
			got := relate(board(t, fen))
			if got[rules.Red].threats != c.red || got[rules.Black].threats != c.black {
				t.Errorf("%s%s: Red loses %d, Black %d, want %d and %d", c.what, side,
					got[rules.Red].threats, got[rules.Black].threats, c.red, c.black)
			}
		}
	}
}

// TestRelationsControl: the number of controllers counts before their value, the
// cheaper pieces win, and equal controllers leave a point uncontrolled.
func TestRelationsControl(t *testing.T) {
	rook, pawn := controllers{1, 500}, controllers{1, 100}
	for _, c := range []struct {
		red, black controllers
		want       rules.Colour
		ok         bool
	}{
		{rook, controllers{}, rules.Red, true},
		{controllers{}, pawn, rules.Black, true},
		{rook, pawn, rules.Black, true},
		{controllers{2, 1000}, pawn, rules.Red, true},
		{rook, rook, rules.Red, false},
		{controllers{}, controllers{}, rules.Red, false},
	} {
		if got, ok := controls(c.red, c.black); got != c.want || ok != c.ok {
			t.Errorf("%v against %v: %v, %v, want %v, %v", c.red, c.black, got, ok, c.want, c.ok)
		}
	}
}
