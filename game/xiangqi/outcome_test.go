package xiangqi

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sparring/game"
)

// reversible plays a quiet move of each side and then the reverse moves, a cycle of
// four plies. Ok is false, after fewer than four moves, if one of them is illegal.
func reversible(b *Board, r *rand.Rand) (played int, ok bool) {
	var out [2]game.Move
	for i := range out {
		quiets := b.Quiets(nil)
		if len(quiets) == 0 {
			return played, false
		}
		out[i] = quiets[r.IntN(len(quiets))]
		b.Do(out[i])
		played++
	}
	for _, m := range out {
		back := MakeMove(To(m), From(m))
		if !b.IsLegal(back) {
			return played, false
		}
		b.Do(back)
		played++
	}
	return played, true
}

// TestVerdictLeavesTheBoard: a verdict takes moves back and plays them again. It must
// leave the board unchanged, and the next verdict must be the same.
func TestVerdictLeavesTheBoard(t *testing.T) {
	var rules []*Rules
	for _, name := range Game().Sets {
		r, err := parseRules(name)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	verdicts := map[game.Reason]int{}
	walk(t, 5, 30, 150, func(b *Board, r *rand.Rand) {
		played, ok := reversible(b, r)
		if ok {
			b := b.CloneForSearch(8)
			before, seen := *b, *b.seen
			before.states = slices.Clone(b.states)
			span := b.Recurrence(1)
			if span != 4 {
				t.Fatalf("%s: a cycle of 4 plies, found %d", b.fen(1), span)
			}
			for _, set := range rules {
				out := set.JudgeRepetition(b, span)
				verdicts[out.Reason]++
				if !slices.Equal(b.states, before.states) || b.of != before.of || b.piece != before.piece || b.king != before.king || b.side != before.side || *b.seen != seen {
					t.Fatalf("%s: %s changed the board", b.fen(1), set.Name())
				}
				if again := set.JudgeRepetition(b, span); again != out {
					t.Fatalf("%s: %s says %v, then %v", b.fen(1), set.Name(), out, again)
				}
			}
		}
		for range played {
			b.Undo()
		}
	})
	for _, reason := range []game.Reason{game.Repetition, game.PerpetualChase} {
		if verdicts[reason] == 0 {
			t.Errorf("no verdict %s among %v", reason, verdicts)
		}
	}
}
