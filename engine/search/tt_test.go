package search

import (
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"sparring/game"
)

func drawEntry(t *rapid.T) ttEntry {
	return ttEntry{
		move:         game.Move(rapid.Uint32Range(0, 1<<21-1).Draw(t, "move")),
		score:        Score(rapid.Int32Range(int32(-Infinity), int32(Infinity)).Draw(t, "score")),
		eval:         Score(rapid.Int32Range(int32(noEval), int32(MaxEval)).Draw(t, "eval")),
		depth:        rapid.IntRange(0, MaxPly).Draw(t, "depth"),
		bound:        Bound(rapid.IntRange(0, 3).Draw(t, "bound")),
		proverFailed: rapid.Bool().Draw(t, "proverFailed"),

		pvProverFailed: rapid.Bool().Draw(t, "pvProverFailed"),
	}
}

func TestTableKeepsEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := NewTable(1 << 15)
		key, r := rapid.Uint64().Draw(t, "key"), drawEntry(t)
		table.store(key, r)
		if got, ok := table.probe(key); !ok || got != r {
			t.Fatalf("stored %+v, found %+v, %v", r, got, ok)
		}
		if got, ok := table.probe(key ^ 1<<rapid.IntRange(0, 63).Draw(t, "bit")); ok {
			t.Fatalf("another key finds %+v", got)
		}
	})
}

func TestTableMerges(t *testing.T) {
	table := NewTable(1 << 15)
	deep := ttEntry{move: 5, score: 100, eval: 7, depth: 9, bound: Lower}
	table.store(1, deep)
	// A path-dependent result stores its move and keeps the score.
	table.store(1, ttEntry{move: 6, eval: noEval})
	want := deep
	want.move = 6
	if got, _ := table.probe(1); got != want {
		t.Errorf("after a move without a score: %+v, want %+v", got, want)
	}
	// A much shallower bound does not displace a deeper one of this search.
	table.store(1, ttEntry{move: 8, score: 1, eval: noEval, depth: 2, bound: Upper})
	if got, _ := table.probe(1); got != want {
		t.Errorf("after a shallow bound: %+v, want %+v", got, want)
	}
	// In the next search it does.
	table.newSearch()
	table.store(1, ttEntry{score: 1, eval: noEval, depth: 2, bound: Upper, proverFailed: true})
	want = ttEntry{move: 6, score: 1, eval: 7, depth: 2, bound: Upper, proverFailed: true}
	if got, _ := table.probe(1); got != want {
		t.Errorf("in the next search: %+v, want %+v", got, want)
	}
	// A failure in the principal variation is kept apart from one at a leaf.
	table.store(2, ttEntry{eval: noEval, pvProverFailed: true})
	table.store(2, ttEntry{eval: 3, depth: 4, bound: Upper})
	want = ttEntry{eval: 3, depth: 4, bound: Upper, pvProverFailed: true}
	if got, _ := table.probe(2); got != want {
		t.Errorf("after a failed prover: %+v, want %+v", got, want)
	}
	table.Clear()
	if got, ok := table.probe(1); ok {
		t.Errorf("after Clear: %+v", got)
	}
}

// Old and shallow entries give way first.
func TestTableReplacement(t *testing.T) {
	table := NewTable(1)
	key := func(i int) uint64 { return uint64(i) << 32 } // all in one bucket
	for i := range 4 {
		table.store(key(i+1), ttEntry{move: 1, depth: 10 + i, bound: Exact})
	}
	table.store(key(9), ttEntry{move: 1, depth: 1, bound: Exact})
	if _, ok := table.probe(key(1)); ok {
		t.Error("the shallowest entry stayed")
	}
	if _, ok := table.probe(key(4)); !ok {
		t.Error("the deepest entry went")
	}
	for range 3 {
		table.newSearch()
	}
	table.store(key(2), ttEntry{move: 1, depth: 1, bound: Exact}) // fresh again
	for i := range 3 {
		table.store(key(20+i), ttEntry{move: 1, depth: 1, bound: Exact})
	}
	if _, ok := table.probe(key(2)); !ok {
		t.Error("an entry of this search went before those of old ones")
	}
}

// Win scores count from the node in the table, from the root elsewhere.
func TestTableScores(t *testing.T) {
	for _, s := range []Score{0, 500, -500, Win - 10, -Win + 10, RepWin - 10, -RepWin + 10} {
		if got := fromTable(toTable(s, 4), 4); got != s {
			t.Errorf("%d comes back as %d", s, got)
		}
	}
	if got := fromTable(toTable(Win-10, 4), 2); got != Win-8 {
		t.Errorf("a win in six more plies is %d at ply 2, want %d", got, Win-8)
	}
}

// The score of an entry replaces an evaluation only where it is a tighter bound.
func TestRefine(t *testing.T) {
	for _, test := range []struct {
		r          ttEntry
		eval, want Score
	}{
		{ttEntry{score: 50, bound: Lower}, 20, 50},
		{ttEntry{score: 50, bound: Lower}, 80, 80},
		{ttEntry{score: 50, bound: Upper}, 80, 50},
		{ttEntry{score: 50, bound: Upper}, 20, 20},
		{ttEntry{score: 50, bound: Exact}, 20, 50},
		{ttEntry{score: 50, bound: NoBound}, 20, 20},
		{ttEntry{score: Win - 4, bound: Lower}, 20, 20}, // no evaluation
	} {
		if got := test.r.refine(test.eval, 3); got != test.want {
			t.Errorf("%+v for %d: %d, want %d", test.r, test.eval, got, test.want)
		}
	}
}

// Two writers of one entry may lose it but never mix it: every entry that is
// found belongs to its key. Run with -race too.
func TestTableRace(t *testing.T) {
	table := NewTable(1) // 1024 entries
	of := func(key uint64) ttEntry {
		return ttEntry{move: game.Move(key >> 40 & (1<<21 - 1)), score: Score(int16(key>>8) / 2), eval: Score(int16(key >> 24)), depth: int(key >> 50 & 127), bound: Exact}
	}
	var wg sync.WaitGroup
	for id := range uint64(4) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(7, id))
			for range 50_000 {
				key := game.Zobrist(1, rng.Uint64N(3000))
				table.store(key, of(key))
				key = game.Zobrist(1, rng.Uint64N(3000))
				if got, ok := table.probe(key); ok && got != of(key) {
					t.Errorf("key %x finds %+v, want %+v", key, got, of(key))
					return
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkTable(b *testing.B) {
	table := NewTable(64 << 20)
	i := uint64(0)
	for b.Loop() {
		key := game.Zobrist(3, i%1_000_000)
		if _, ok := table.probe(key); !ok {
			table.store(key, ttEntry{move: game.Move(i & 0xffff), bound: Lower, depth: int(i & 15)})
		}
		i++
	}
}
