package search_test

import (
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
