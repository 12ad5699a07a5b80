package search_test

import (
	"slices"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
)

// Tests of techniques that are off unless a number or a game turns them on.

// wrapped is a position whose nodes and moves a test watches or changes.
type wrapped struct {
	search.Position
	enter func(*search.Node)
	moves func(batch []search.ScoredMove, c *search.Cursor) []search.ScoredMove
}

func (w *wrapped) Enter() search.Node {
	n := w.Position.Enter()
	if w.enter != nil {
		w.enter(&n)
	}
	return n
}

func (w *wrapped) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	if w.moves == nil {
		return w.Position.Moves(buf, c)
	}
	return w.moves(w.Position.Moves(buf, c), c)
}

func (w *wrapped) Clone() search.Position {
	c := *w
	c.Position = w.Position.Clone()
	return &c
}

// A game that gives no noisy moves from a quiescence ply on searches the same as
// one whose quiescence ends there.
func TestQuiescencePly(t *testing.T) {
	differs := false
	for seed := range uint64(10) {
		g := searchtest.NewGraph(seed)
		g.Forcing = 0 // at forced nodes all moves come at any ply
		score := func(plies, from int) search.Score {
			params := with(g.Params(), exact...)
			params.QuiescencePlies = plies
			p := &wrapped{Position: g, moves: func(batch []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
				if c.Mode == search.All && c.QuiescencePly > 0 {
					t.Errorf("quiescence ply %d where all moves are wanted", c.QuiescencePly)
				}
				if int(c.QuiescencePly) >= from {
					return batch[:0]
				}
				return batch
			}}
			return find(p, params, search.Limits{Depth: 4}).Score
		}
		for limit := 1; limit <= 3; limit++ {
			byGame, byKernel := score(5, limit), score(limit, 9)
			if byGame != byKernel {
				t.Errorf("seed %d: score %d if the game ends quiescence at ply %d, %d if the kernel does", seed, byGame, limit, byKernel)
			}
			differs = differs || byGame != score(5, 9)
		}
	}
	if !differs {
		t.Error("no limit changed a score, so the test shows nothing")
	}
}

// A node that may lack moves is not taken for one with a single reply.
func TestRestrictedIsNotOneReply(t *testing.T) {
	differs := false
	for seed := range uint64(10) {
		g := searchtest.NewGraph(seed)
		g.Degree, g.Vertices, g.Forcing = 2, 40, 40
		nodes := func(restricted bool, on ...string) uint64 {
			p := &wrapped{Position: g, enter: func(n *search.Node) { n.Restricted = restricted }}
			return find(p, with(g.Params(), append(on, exact...)...), search.Limits{Depth: 7}).Nodes
		}
		plain := nodes(false)
		if n := nodes(true, "OneReplyExtension"); n != plain {
			t.Errorf("seed %d: %d nodes with the one-reply extension where moves may be missing, %d without it", seed, n, plain)
		}
		differs = differs || nodes(false, "OneReplyExtension") != plain
	}
	if !differs {
		t.Error("the one-reply extension changed nothing, so the test shows nothing")
	}
}

// If only moves that a node leaves out are allowed, the answer is one of them, as a
// loss: at a forced node the next ply, at a restricted one sometime.
func TestOnlyMissingMovesAllowed(t *testing.T) {
	g := searchtest.NewGraph(1)
	for _, c := range []struct {
		restricted bool
		want       search.Score
	}{{false, -search.Win + 2}, {true, -search.Win + search.MaxPly}} {
		p := &wrapped{Position: g, enter: func(n *search.Node) { n.Forced, n.Restricted = true, c.restricted }}
		const missing game.Move = 1 << 20
		if r := find(p, g.Params(), search.Limits{Depth: 3, Moves: []game.Move{missing}}); r.Move != missing || r.Score != c.want {
			t.Errorf("restricted %v: move %d, score %d; want %d, %d", c.restricted, r.Move, r.Score, missing, c.want)
		}
	}
}

// nodesWith returns the nodes of a search with all switches and some numbers.
func nodesWith(t *testing.T, seed uint64, numbers map[string]int) uint64 {
	t.Helper()
	g, _ := deep()
	g.Seed, g.Terminal, g.Dead = seed, 2, 1
	params := with(g.Params(), searchtest.All()...)
	params.ProveLeaf = 5
	for name, n := range numbers {
		if err := params.SetNumber(name, n); err != nil {
			t.Fatal(err)
		}
	}
	return find(g, params, search.Limits{Depth: 10}).Nodes
}

// Each of these numbers changes a search, and its documented default does not.
func TestDepthsOfTechniques(t *testing.T) {
	for _, c := range []struct {
		name              string
		byDefault, others int
	}{
		{"RazoringDepth", 3, 1}, {"ReverseFutilityDepth", 7, 2}, {"AlphaRaiseDepth", 7, 4}, {"ProbCutDepth", 5, 7}, {"IIRDepth", 4, 6},
		{"SingularDepth", 7, 5}, {"NullMove.MinDepth", 3, 6},
	} {
		base := map[string]int{"AlphaRaiseReduction": 1}
		differs := false
		for seed := range uint64(3) {
			usual := nodesWith(t, seed, base)
			base[c.name] = c.byDefault
			if n := nodesWith(t, seed, base); n != usual {
				t.Errorf("%s=%d: %d nodes, %d without it", c.name, c.byDefault, n, usual)
			}
			base[c.name] = c.others
			differs = differs || nodesWith(t, seed, base) != usual
			delete(base, c.name)
		}
		if !differs {
			t.Errorf("%s=%d changes nothing", c.name, c.others)
		}
	}
}

// Policy pruning leaves out the quiet moves whose Order is far below the best, and
// only those, also where the picker has stopped sorting.
func TestPolicyPruning(t *testing.T) {
	for _, good := range []int{5, 30} { // of 40 moves; the picker sorts 16
		for _, quiescence := range []bool{false, true} {
			var leaves []*tree
			var want []search.Score
			for i := range 40 {
				leaves = append(leaves, leaf(search.Score(i)))
				if i >= 40-good {
					want = append(want, search.Score(i))
				}
			}
			searched := func(pruning int) []search.Score {
				p := inner(inner(leaves...)).position()
				params := with(p.here().params())
				params.Quiescence, params.PolicyPruning, params.Margins.Policy = quiescence, pruning, 1000
				order := &wrapped{Position: p, moves: func(batch []search.ScoredMove, _ *search.Cursor) []search.ScoredMove {
					for i := range batch {
						if batch[i].Order = 0; len(batch) == 40 && i < 40-good {
							batch[i].Order = -2001 // at depth 1 the limit is 1000*(1+1)
						}
					}
					return batch
				}}
				find(order, params, search.Limits{Depth: 2})
				slices.Sort(p.leaves)
				return p.leaves
			}
			if got := searched(1); !slices.Equal(got, want) {
				t.Errorf("%d good moves, quiescence %v: searched %v, want %v", good, quiescence, got, want)
			}
			for _, pruning := range []int{0, 2} {
				if got := searched(pruning); len(got) != 40 {
					t.Errorf("PolicyPruning=%d: searched %v, want all 40", pruning, got)
				}
			}
		}
	}
}
