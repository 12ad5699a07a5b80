package search_test

import (
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
)

// blurred is a graph whose evaluations have the errors of a variety.
type blurred struct {
	*searchtest.Graph
	variety search.Variety
}

func (b blurred) Eval() search.Score { return b.variety.Blur(b.Graph.Eval(), b.Enter().Key) }

func (b blurred) Clone() search.Position {
	return blurred{b.Graph.Clone().(*searchtest.Graph), b.variety}
}

// A search with variety is the same as one without it by evaluations that have the errors, whatever the
// heuristics; and one of no width is as if there were none.
func TestVarietyIsInEvaluations(t *testing.T) {
	differ := 0
	for seed := range uint64(20) {
		g := searchtest.NewGraph(seed)
		for _, switches := range [][]string{exact, searchtest.All()} {
			params := with(g.Params(), switches...)
			find := func(p search.Position, v search.Variety) search.Result {
				return search.New(params, search.NewTable(1<<20)).NewGame(search.GameOptions{Variety: v}).Start(p, search.Limits{Depth: 7}, nil).Wait()
			}
			v := search.Variety{Width: 40, Seed: seed}
			plain, got, want := find(g, search.Variety{}), find(g, v), find(blurred{g, v}, search.Variety{})
			if got.Move != want.Move || got.Score != want.Score || got.Nodes != want.Nodes {
				t.Errorf("graph %d: move %d, score %d, %d nodes; by such evaluations %d, %d, %d", seed, got.Move, got.Score, got.Nodes, want.Move, want.Score, want.Nodes)
			}
			if got.Nodes != plain.Nodes {
				differ++
			}
			if none := find(g, search.Variety{Seed: seed}); none.Score != plain.Score || none.Nodes != plain.Nodes {
				t.Errorf("graph %d: score %d, %d nodes by no width, want %d, %d", seed, none.Score, none.Nodes, plain.Score, plain.Nodes)
			}
		}
	}
	if differ < 20 {
		t.Errorf("only %d of 40 searches differ from those without variety", differ)
	}
}

func TestBlur(t *testing.T) {
	v := search.Variety{Width: 10, Seed: 4}
	seen := map[search.Score]int{}
	sum := 0
	const n = 20000
	for key := range uint64(n) {
		e := v.Blur(100, key) - 100
		seen[e]++
		sum += int(e)
	}
	for e := -v.Width; e <= v.Width; e++ {
		if seen[e] == 0 {
			t.Errorf("no error of %d", e)
		}
		delete(seen, e)
	}
	if len(seen) > 0 || sum > n/10 || sum < -n/10 {
		t.Errorf("errors beyond the width: %v; their sum is %d, for %d evaluations", seen, sum, n)
	}
	for key := range uint64(100) {
		if e := v.Blur(search.MaxEval, key); e > search.MaxEval {
			t.Errorf("an evaluation of %d", e)
		}
		if e := v.Blur(-search.MaxEval, key); e < -search.MaxEval {
			t.Errorf("an evaluation of %d", e)
		}
	}
}

// Games of different varieties that share a table do not see each other's scores.
func TestVarietyInTable(t *testing.T) {
	g := searchtest.NewGraph(1)
	k := search.New(with(g.Params(), exact...), search.NewTable(tableBytes))
	open := func(v search.Variety) *search.Game { return k.NewGame(search.GameOptions{Variety: v}) }
	games := []*search.Game{open(search.Variety{}), open(search.Variety{Width: 20, Seed: 1}), open(search.Variety{Width: 20, Seed: 2}), open(search.Variety{Width: 30, Seed: 1})}
	for i, one := range games {
		if _, known := one.ProbeTable(g); known {
			t.Errorf("game %d knows the position from another", i)
		}
		r := one.Start(g, search.Limits{Depth: 4}, nil).Wait()
		if e, known := one.ProbeTable(g); !known || e.Move != r.Move || e.Score != r.Score {
			t.Errorf("game %d: its table knows %+v, %t, after %+v", i, e, known, r)
		}
	}
	if e, known := open(search.Variety{Seed: 9}).ProbeTable(g); !known || e.Move == game.NoMove {
		t.Errorf("a seed without width hides the table: %+v, %t", e, known)
	}
}
