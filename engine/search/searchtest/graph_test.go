package searchtest

import (
	"testing"

	"sparring/engine/search"
)

// A graph without verdicts or noise has a minimax value that a hand-written
// two-ply maximum can check.
func TestMinimaxTwoPlies(t *testing.T) {
	g := NewGraph(1)
	g.Terminal, g.Dead, g.Forcing = 0, 0, 0
	p := g.Params()
	p.Quiescence = false
	best := -search.Infinity
	for _, e := range g.edges() {
		g.Do(e.Move)
		worst := search.Infinity
		for _, r := range g.edges() {
			g.Do(r.Move)
			worst = min(worst, g.Eval())
			g.Undo(r.Move)
		}
		g.Undo(e.Move)
		best = max(best, worst)
	}
	if got := Minimax(g, p, 2); got != best {
		t.Errorf("Minimax(2) = %d, want %d", got, best)
	}
}

// The toy must have all its features, or the kernel's tests prove little.
func TestGraphHasEverything(t *testing.T) {
	g := NewGraph(7)
	g.Layered, g.Vertices = false, 30
	seen := map[string]int{}
	var walk func(depth int)
	walk = func(depth int) {
		n := g.Enter()
		switch {
		case n.Over && n.RepetitionPlies > 0 && n.Verdict == search.Draw:
			seen["repetition draw"]++
		case n.Over && n.RepetitionPlies > 0:
			seen["repetition win"]++
		case n.Over:
			seen["terminal"]++
		case n.Forced:
			seen["forced"]++
		}
		if n.Over || depth == 0 {
			return
		}
		moves := batches(g, search.All)
		if len(moves) == 0 {
			seen["dead"]++
		}
		for _, e := range moves {
			if e.Noise != search.Quiet {
				seen["noisy"]++
			}
			g.Do(e.Move)
			walk(depth - 1)
			g.Undo(e.Move)
		}
	}
	for v := range g.Vertices {
		g = g.At(v)
		walk(4)
	}
	for _, what := range []string{"repetition draw", "repetition win", "terminal", "forced", "dead", "noisy"} {
		if seen[what] == 0 {
			t.Errorf("no %s in the graph: %v", what, seen)
		}
	}
}
