package xiangqi

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sparring/engine/search"
)

// TestLinesSorted: the lines of an iteration are found one after the other, and where
// reductions make a later one better than one before, it is the result, and comes first. So
// are those of an iteration that the limit cuts short.
func TestLinesSorted(t *testing.T) {
	var turned, cut int // searches in which a later line was better, and those cut short after it
	rng := rand.New(rand.NewPCG(1, 1))
	for range 12 {
		g := setUp(t, "xiangqi/simple", "")
		for range 12 {
			if moves := g.Legal(nil); len(moves) > 0 {
				if err := g.Play(moves[rng.IntN(len(moves))]); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, l := range []search.Limits{{Depth: 6, MultiPV: 4}, {Nodes: 9_000, MultiPV: 6}} {
			var iteration []search.Info
			own := search.New(Params(), search.NewTable(1<<20)).NewGame(search.GameOptions{})
			r := own.Start(adapt(t, g), l, func(i search.Info) {
				if i.Bound != search.Exact {
					return
				}
				if i.Line == 1 {
					iteration = nil
				}
				iteration = append(iteration, i)
			}).Wait()
			if !slices.IsSortedFunc(iteration, func(a, b search.Info) int { return int(b.Score - a.Score) }) {
				if turned++; len(iteration) < l.MultiPV {
					cut++
				}
			}
			best := slices.MaxFunc(iteration, func(a, b search.Info) int { return int(a.Score - b.Score) })
			last := l.Depth > 0 || len(iteration) < l.MultiPV // else the first line of the next may have begun
			if len(r.Lines) != l.MultiPV || r.Lines[0].Score != best.Score || r.Lines[0].PV[0] != best.PV[0] || last && r.Move != best.PV[0] {
				t.Errorf("%v: move %d, lines %+v; want %d with %d first", g, r.Move, r.Lines, best.PV[0], best.Score)
				continue
			}
			for i, line := range r.Lines[:len(iteration)] {
				if line.Line != i+1 || line.Depth != best.Depth || i > 0 && line.Score > r.Lines[i-1].Score {
					t.Errorf("%v: line %d of %+v", g, i+1, r.Lines)
				}
			}
		}
	}
	if turned < 3 || cut < 1 {
		t.Errorf("a later line was better in %d searches, %d of them cut short: too few to test", turned, cut)
	}
}
