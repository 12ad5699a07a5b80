package xiangqi

import (
	"math/rand/v2"
	"testing"

	rules "sparring/game/xiangqi"
)

// TestTermsCount checks how often each weight counts in a position with Red to
// move, by an evaluation with that weight alone. The same must hold with the
// colours exchanged, and with left and right exchanged.
func TestTermsCount(t *testing.T) {
	for _, c := range []struct {
		what, fen string
		counts    map[string]int32
	}{
		{"a rook that nothing hinders", "3k5/9/9/9/9/9/9/9/R8/5K3 w", map[string]int32{"mobility.rook.17": 1, "mobility.rook.16": 0}},
		{"each horse by itself", "3k5/9/9/9/9/4N4/9/9/9/N4K3 w", map[string]int32{"mobility.horse.8": 1, "mobility.horse.2": 1, "mobility.horse.5": 0}},
		{"a pawn before the river and one beyond", "3k5/9/9/9/P8/9/8P/9/9/5K3 w", map[string]int32{"mobility.pawn.1": 1, "mobility.pawn.2": 1}},
		{"a square has both files", "3k5/9/9/9/9/8N/9/9/9/5K3 w", map[string]int32{"square.horse.a4": 1, "square.horse.a5": 0}},
		{"pairs", "3k5/9/9/9/9/9/9/9/R7N/R4K2N w", map[string]int32{
			"together.rook.horse": 4, "together.rook.rook": 1, "together.horse.horse": 1, "together.cannon.rook": 0}},
		{"three elephants", "3k5/9/9/9/9/9/9/4B4/9/2B2KB2 w", map[string]int32{"together.elephant.elephant": 3}},
		{"cannons against a broken guard", "3k1a3/9/9/9/9/9/9/9/C8/C4K3 w", map[string]int32{
			"against.cannon.advisor": 2, "against.cannon.elephant": 4, "against.rook.advisor": 0, "cannon against full guard": 0}},
		{"cannons against advisors", "3k1a3/4a4/9/9/9/9/9/9/C8/C4K3 w", map[string]int32{
			"against.cannon.advisor": 0, "cannon against full guard": 2}},
		{"crossed pawns, but for the last rank", "P2k1a3/9/4P4/9/P8/9/8P/9/9/5K3 w", map[string]int32{
			"crossed pawns.1.2": 1, "crossed pawns.0.2": 0, "crossed pawns.1.3": 0}},
		{"rooks on files", "3k5/9/9/8p/9/9/9/9/9/R4K2R w", map[string]int32{"open file": 1, "half-open file": 1}},
		{"a rook behind its pawn", "3k5/9/9/p7p/9/9/P8/9/9/R4K3 w", map[string]int32{"open file": 0, "half-open file": 0}},
		{"wings", "3k5/R8/C7C/9/4N4/9/9/R8/9/5K3 w", map[string]int32{"wing.2": 1, "wing.1": 1, "wing.3": 0}},
		{"a horse that smothers its king", "4k4/4n4/9/9/4P4/4C4/9/9/9/3K5 w", map[string]int32{"smothered": 1}},
		{"its king is elsewhere", "3k5/4n4/9/9/4P4/4C4/9/9/9/5K3 w", map[string]int32{"smothered": 0}},
		{"the cannon is elsewhere", "4k4/4n4/9/9/4P4/3C5/9/9/9/3K5 w", map[string]int32{"smothered": 0}},
		{"a rook's checks", "4k4/9/9/9/9/9/9/9/R8/5K3 w", map[string]int32{"safe check.rook": 2}},
		{"one of them into a horse's mouth", "4k4/2n6/9/9/9/9/9/9/R8/5K3 w", map[string]int32{"safe check.rook": 1}},
		{"four of them", "4k4/9/9/9/9/9/9/1R7/R8/5K3 w", map[string]int32{"safe check.rook": maxChecks}},
		{"a horse's checks", "4k4/9/9/9/4N4/9/9/9/9/3K5 w", map[string]int32{"safe check.horse": 2}},
		{"a cannon's check", "4k4/4a4/9/9/9/9/C8/9/9/3K5 w", map[string]int32{"safe check.cannon": 1}},
		{"a cannon's without a screen", "4k4/9/9/9/9/9/C8/9/9/3K5 w", map[string]int32{"safe check.cannon": 0}},
		{"the king's room", "3k5/9/9/9/9/9/9/9/4K4/9 w", map[string]int32{"king room.4": 1, "king room.2": -1}},
		{"and what is attacked of it", "3k5/9/9/9/9/9/9/8r/4K4/9 w", map[string]int32{"king room.3": 1, "king room.4": 0}},
		{"and what its own pieces take", "3k5/9/9/9/9/9/9/9/4K4/4N4 w", map[string]int32{"king room.3": 1}},
	} {
		for side, fen := range map[string]string{"": c.fen, ", Black": swap(c.fen), ", left and right": mirror(c.fen)} {
			a := adapt(t, setUp(t, "xiangqi/simple", fen))
			for name, want := range c.counts {
				e := alone(t, name)
				a.eval, a.accumulators = e, append(a.accumulators[:0], e.accumulate(a.board))
				if got := a.phaseScores(); got != (weight{want * unit, want * unit}) {
					t.Errorf("%s%s: %s counts %d/%d and %d/%d, want %d", c.what, side, name, got.mg, unit, got.eg, unit, want)
				}
			}
		}
	}
}

// alone returns an evaluation with a single weight.
func alone(t *testing.T, name string) *evaluation {
	t.Helper()
	var w weights
	for _, p := range w.parameters() {
		if p.name == name {
			*p.value = weight{unit, unit}
			return w.compile()
		}
	}
	t.Fatalf("no weight %q", name)
	return nil
}

// TestAccumulator checks that Do and Undo keep the accumulator that the board
// gives from scratch.
func TestAccumulator(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	starts := append([]string{"2baka3/9/4b4/9/2b6/6B2/9/4B4/9/3AKAB2 w"}, places...)
	captures := 0
	for walk := range 40 {
		p := setUp(t, "xiangqi/simple", starts[walk%len(starts)])
		a := adapt(t, p)
		var before []accumulator
		for range 60 {
			legal := p.Legal(nil)
			if len(legal) == 0 || p.Outcome().Over() {
				break
			}
			m := legal[rng.IntN(len(legal))]
			if a.board.At(rules.To(m)) != rules.NoPiece {
				captures++
			}
			before = append(before, *a.accumulator())
			a.Do(m)
			if err := p.Play(m); err != nil {
				t.Fatal(err)
			}
			if got, want := *a.accumulator(), a.eval.accumulate(a.board); got != want {
				t.Fatalf("%s: %+v, from scratch %+v", p, got, want)
			}
			for c := range rules.Colour(2) {
				for k := rules.Advisor; k <= rules.Pawn; k++ {
					if got, want := a.accumulator().material[c].count(k), a.board.Of(rules.MakePiece(c, k)).Count(); got != want {
						t.Fatalf("%s: %v has %d of %v, on the board %d", p, c, got, k, want)
					}
				}
			}
		}
		for i := len(before) - 1; i >= 0; i-- {
			a.Undo(0)
			if *a.accumulator() != before[i] {
				t.Fatalf("%s: taken back to ply %d: %+v, was %+v", p, i, *a.accumulator(), before[i])
			}
		}
	}
	if captures < 50 {
		t.Errorf("only %d captures", captures)
	}
}
