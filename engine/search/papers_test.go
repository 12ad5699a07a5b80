package search_test

import (
	"slices"
	"testing"

	"sparring/engine/search"
	"sparring/game"
)

// tree is a game given by its tree, as papers print them. The values of the
// leaves are the first player's.
type tree struct {
	value    search.Score
	children []*tree
}

func leaf(value search.Score) *tree { return &tree{value: value} }
func inner(children ...*tree) *tree { return &tree{children: children} }
func (t *tree) params() search.Params {
	return search.Params{Game: "tree", HistorySize: [2]int{64, 64}, WinScale: 100}
}
func (t *tree) position() *treePosition { return &treePosition{path: []*tree{t}, keys: []uint64{1}} }

// treePosition is a position in a tree. It keeps the values of the leaves evaluated.
type treePosition struct {
	path   []*tree
	keys   []uint64 // of the path: every path is a position of its own
	leaves []search.Score
}

func (w *treePosition) here() *tree { return w.path[len(w.path)-1] }

func (w *treePosition) Enter() search.Node {
	key := w.keys[len(w.keys)-1]
	return search.Node{Key: key, SearchKey: key}
}

func (w *treePosition) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	if c.Stage == 0 && c.Mode == search.All {
		for i := range w.here().children {
			buf = append(buf, search.ScoredMove{Move: game.Move(i + 1), Order: int32(-i)})
		}
	}
	c.Stage = 1
	return buf
}

func (w *treePosition) Find(m game.Move) (search.ScoredMove, bool) {
	return search.ScoredMove{Move: m}, m > 0 && int(m) <= len(w.here().children)
}

func (w *treePosition) Do(m game.Move) { w.step(w.here().children[m-1], m) }
func (w *treePosition) Undo(game.Move) {
	w.path, w.keys = w.path[:len(w.path)-1], w.keys[:len(w.keys)-1]
}
func (w *treePosition) Pass()   { w.step(w.here(), game.NoMove) }
func (w *treePosition) Unpass() { w.Undo(game.NoMove) }

func (w *treePosition) step(to *tree, m game.Move) {
	w.keys = append(w.keys, game.Zobrist(w.keys[len(w.keys)-1], uint64(m)))
	w.path = append(w.path, to)
}

func (w *treePosition) Eval() search.Score {
	value := w.here().value
	if len(w.here().children) == 0 {
		w.leaves = append(w.leaves, value)
	}
	if len(w.path)%2 == 0 {
		return -value
	}
	return value
}

// Clone returns the position itself: these searches have one worker, and leave it
// as it was.
func (w *treePosition) Clone() search.Position { return w }

// plainAlphaBeta searches a tree to a depth with all heuristics off.
func plainAlphaBeta(t *tree, depth int) (score search.Score, leaves []search.Score) {
	w := t.position()
	return find(w, with(t.params()), search.Limits{Depth: depth}).Score, w.leaves
}

// TestPrintedTrees: alpha-beta gives the values that the papers print for their
// trees, and does not evaluate unnecessary leaves. 99 is a leaf that must be cut off:
// the papers have no value there either.
func TestPrintedTrees(t *testing.T) {
	for _, c := range []struct {
		what   string
		tree   *tree
		score  search.Score
		leaves []search.Score
	}{
		{"004, figure 3-4: B is -5; C ends at its first child, -8", inner(inner(leaf(10), leaf(-5), leaf(2)), inner(leaf(-8), leaf(99), leaf(99))),
			-5, []search.Score{10, -5, 2, -8}},
		{"002, figure 2: C is 20; B ends at its first child D, 10", inner(inner(leaf(20)), inner(leaf(10), leaf(99), leaf(99))),
			20, []search.Score{20, 10}},
	} {
		score, leaves := plainAlphaBeta(c.tree, 2)
		if score != c.score || !slices.Equal(leaves, c.leaves) {
			t.Errorf("%s: score %d after the leaves %v, want %d after %v", c.what, score, leaves, c.score, c.leaves)
		}
	}
}

// TestMinimalTree: with the best move first alpha-beta looks at as many leaves
// as Knuth and Moore have proven (paper 003, formulas 10 and 11; the scan of
// the latter has lost a sign): B^ceil(D/2) + B^floor(D/2) - 1 of B^D.
func TestMinimalTree(t *testing.T) {
	power := func(b, n int) int {
		p := 1
		for range n {
			p *= b
		}
		return p
	}
	for _, b := range []int{2, 3, 5} {
		even := leaf(0) // all values are equal, so the first move is a best one
		for depth := 1; depth <= 6; depth++ {
			even = inner(slices.Repeat([]*tree{even}, b)...)
			_, leaves := plainAlphaBeta(even, depth)
			if want := power(b, (depth+1)/2) + power(b, depth/2) - 1; len(leaves) != want {
				t.Errorf("%d moves, depth %d: %d leaves, want %d of %d", b, depth, len(leaves), want, power(b, depth))
			}
		}
	}
}
