package search_test

import (
	"fmt"
	"slices"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
)

const tableBytes = 1 << 16

var (
	find  = searchtest.Find
	with  = searchtest.With
	exact = searchtest.Exact
)

// newGame returns a game on a new kernel.
func newGame(params search.Params) *search.Game {
	return search.New(params, search.NewTable(tableBytes)).NewGame(search.GameOptions{})
}

func TestKernelConforms(t *testing.T) {
	open := func(p search.Params) searchtest.Game { return newGame(with(p, exact...)) }
	fresh := func(p search.Params) searchtest.Game {
		return search.New(with(p, exact...), search.NewTable(tableBytes)).NewGame(search.GameOptions{Fresh: search.NewTables(tableBytes)})
	}
	searchtest.ConformSearcher(t, open, fresh)
}

func TestAgainstMinimax(t *testing.T) {
	for seed := range uint64(10) {
		g := searchtest.NewGraph(seed)
		searchtest.Against(t, g, g.Params(), 5, exact)
	}
}

// With repetitions the value must still be minimax's as long as no score comes
// from the table.
func TestRepetitionAgainstMinimax(t *testing.T) {
	for seed := range uint64(6) {
		g := cyclic(seed)
		searchtest.Against(t, g, g.Params(), 6, searchtest.Without("HashCutoff"))
	}
}

// cyclic is a small graph, full of repetitions.
func cyclic(seed uint64) *searchtest.Graph {
	g := searchtest.NewGraph(seed)
	g.Layered, g.Vertices, g.Degree = false, 12, 3
	return g
}

// A score by repetition must not reach a line without the repetition through the
// table. Here wins come from repetition alone, so no score may be a proven win,
// whatever was searched before with the same table.
func TestNoRepetitionInTable(t *testing.T) {
	claims := 0
	for seed := range uint64(40) {
		g := cyclic(seed)
		g.Terminal, g.Dead = 0, 0 // wins come from repetition alone
		params := with(g.Params(), exact...)
		warm := newGame(params)
		for v := range g.Vertices {
			got := warm.Start(g.At(v), search.Limits{Depth: 8}, nil).Wait()
			if got.Score >= search.WinBound || got.Score <= -search.WinBound {
				t.Fatalf("seed %d, vertex %d: score %d is a proven win, but only repetition wins here", seed, v, got.Score)
			}
			if got.Score >= search.RepBound || got.Score <= -search.RepBound {
				claims++
			}
		}
	}
	if claims == 0 {
		t.Error("no win by repetition occurred, so the test shows nothing")
	}
}

// A plain search that is deep enough finds the same score as the prover.
func TestProverAgrees(t *testing.T) {
	proofs := 0
	for seed := range uint64(60) {
		g := searchtest.NewGraph(seed)
		g.Terminal = 15
		params := g.Params()
		params.ProveRoot = 100
		r := find(g, params, search.Limits{Depth: 3})
		if r.Source != "step" {
			continue
		}
		proofs++
		if want := searchtest.Minimax(g, params, 3); r.Score != want {
			t.Errorf("seed %d: proof says %d, minimax %d", seed, r.Score, want)
		}
		if got := find(g, with(params, exact...), search.Limits{Depth: 3, MultiPV: 2}); got.Source != search.FromSearch {
			t.Errorf("seed %d: two lines were asked for, the prover answered", seed)
		}
	}
	if proofs == 0 {
		t.Error("no proof occurred")
	}
}

func TestMultiPV(t *testing.T) {
	g := searchtest.NewGraph(11)
	params := with(g.Params(), exact...)
	r := find(g, params, search.Limits{Depth: 5, MultiPV: 3})
	if len(r.Lines) != 3 {
		t.Fatalf("%d lines, want 3", len(r.Lines))
	}
	// Each line is the best of the moves that don't lead an earlier line.
	var used []game.Move
	for i, l := range r.Lines {
		if l.Line != i+1 {
			t.Errorf("line %d calls itself %d", i+1, l.Line)
		}
		if slices.Contains(used, l.PV[0]) {
			t.Errorf("move %d leads two lines", l.PV[0])
		}
		used = append(used, l.PV[0])
		only := find(g, params, search.Limits{Depth: 5, Moves: []game.Move{l.PV[0]}})
		if only.Score != l.Score || only.Move != l.PV[0] {
			t.Errorf("line %d: %d scores %d, but %d when searched alone", i+1, l.PV[0], l.Score, only.Score)
		}
		if i > 0 && l.Score > r.Lines[i-1].Score {
			t.Errorf("line %d is better than the one before", i+1)
		}
	}
}

// TestMultiPVCutShort: a search that ends while it looks for a later line has as many lines as
// were asked for, of as many moves: those of the iteration before fill up, without the moves that
// have a newer line.
func TestMultiPVCutShort(t *testing.T) {
	g, params := deep()
	mixed := 0
	for nodes := uint64(1000); nodes < 5000; nodes += 20 {
		r := find(g, params, search.Limits{Nodes: nodes, MultiPV: 4})
		if len(r.Lines) != 4 {
			t.Errorf("%d nodes: %d lines", nodes, len(r.Lines))
		}
		moves := map[game.Move]bool{}
		for i, l := range r.Lines {
			if moves[l.PV[0]] || l.Line != i+1 || i > 0 && l.Depth > r.Lines[i-1].Depth {
				t.Errorf("%d nodes: line %d of %+v", nodes, i+1, r.Lines)
				break
			}
			moves[l.PV[0]] = true
		}
		if len(r.Lines) > 0 && r.Lines[0].Depth > r.Lines[len(r.Lines)-1].Depth {
			mixed++
		}
	}
	if mixed < 20 {
		t.Errorf("%d searches were cut short between two lines: too few to test", mixed)
	}
}

func TestSearchMoves(t *testing.T) {
	g := searchtest.NewGraph(2)
	params := with(g.Params(), exact...)
	free := find(g, params, search.Limits{Depth: 4})
	var c search.Cursor
	for batch := g.Moves(nil, &c); len(batch) > 0; batch = g.Moves(nil, &c) {
		for _, e := range batch {
			r := find(g, params, search.Limits{Depth: 4, Moves: []game.Move{e.Move}})
			if r.Move != e.Move || r.Score > free.Score {
				t.Errorf("only %d allowed: got %d scoring %d, freely %d", e.Move, r.Move, r.Score, free.Score)
			}
		}
	}
}

// deep returns a game that no search exhausts.
func deep() (*searchtest.Graph, search.Params) {
	g := searchtest.Deep()
	return g, with(g.Params(), exact...)
}

func TestStopLeavesTheTableUsable(t *testing.T) {
	g, params := deep()
	game := newGame(params)
	started := make(chan struct{}, 1000)
	s := game.Start(g, search.Limits{}, func(search.Info) { started <- struct{}{} })
	<-started
	s.Stop()
	r := s.Wait()
	if _, ok := g.Find(r.Move); !ok {
		t.Fatalf("stopped search answers illegal move %d", r.Move)
	}
	s.Stop() // a second call does nothing
	small := searchtest.NewGraph(4)
	for depth := 1; depth <= 5; depth++ {
		want := searchtest.Minimax(small, params, depth)
		if got := game.Start(small, search.Limits{Depth: depth}, nil).Wait(); got.Score != want {
			t.Errorf("depth %d after a stop: score %d, want %d", depth, got.Score, want)
		}
	}
}

// Threads and games share one table; run with -race.
func TestThreads(t *testing.T) {
	g := searchtest.NewGraph(8)
	params := with(g.Params(), exact...)
	k := search.New(params, search.NewTable(tableBytes))
	var all []*search.Search
	for range 4 {
		all = append(all, k.NewGame(search.GameOptions{}).Start(g, search.Limits{Depth: 6, Threads: 3}, nil))
	}
	for _, s := range all {
		// The score is not compared: a helper may have searched deeper.
		r := s.Wait()
		if _, ok := g.Find(r.Move); !ok || r.Depth < 6 {
			t.Errorf("move %d at depth %d", r.Move, r.Depth)
		}
	}
}

// With all exact switches the same depth takes fewer nodes than with none.
func TestSwitchesSaveNodes(t *testing.T) {
	var none, all uint64
	for seed := range uint64(10) {
		g := searchtest.NewGraph(seed)
		none += find(g, g.Params(), search.Limits{Depth: 7}).Nodes
		all += find(g, with(g.Params(), exact...), search.Limits{Depth: 7}).Nodes
	}
	if all >= none {
		t.Errorf("%d nodes with all switches, %d with none", all, none)
	}
}

// A search changes the next one of its game only if histories are kept.
func TestKeepHistory(t *testing.T) {
	nodes := func(game *search.Game, g *searchtest.Graph) uint64 {
		return game.Start(g, search.Limits{Depth: 7}, nil).Wait().Nodes
	}
	differs := false
	for seed := range uint64(10) {
		g := searchtest.NewGraph(seed)
		for _, keep := range []bool{false, true} {
			on := []string{"PVS", "History", "ContinuationHistory", "NoisyHistory", "CounterMoves"}
			if keep {
				on = append(on, "KeepHistory")
			}
			game := newGame(with(g.Params(), on...))
			first, second := nodes(game, g), nodes(game, g)
			if !keep && second != first {
				t.Fatalf("seed %d: %d nodes, then %d, though nothing is kept", seed, first, second)
			}
			differs = differs || second != first
		}
	}
	if !differs {
		t.Error("no second search was changed by the first")
	}
}

// Pruning may miss a win but must not claim a false one: with the switches on,
// alone and together, plain search of sufficient depth confirms a proven score.
func TestProvenIsTrue(t *testing.T) {
	sets := [][]string{searchtest.All()}
	for _, name := range searchtest.All() {
		sets = append(sets, append(slices.Clone(exact), name))
	}
	sets = append(sets, searchtest.All()) // with numbers, below
	claims := 0
	for seed := range uint64(25) {
		g := searchtest.NewGraph(seed)
		g.Terminal = 8
		for i, on := range sets {
			params := with(g.Params(), on...)
			if i == len(sets)-1 {
				setNumbers(&params)
			}
			r := find(g, params, search.Limits{Depth: 6})
			far := search.Win - max(r.Score, -r.Score)
			if far > search.Win-search.WinBound || far > 6 {
				continue
			}
			claims++
			// One ply more, because quiescence does not see that a node has no move.
			want := searchtest.Minimax(g, g.Params(), int(far)+1)
			if (r.Score > 0 && want < search.WinBound) || (r.Score < 0 && want > -search.WinBound) {
				t.Fatalf("seed %d, %v: claims %d, minimax of depth %d says %d", seed, on, r.Score, far+1, want)
			}
		}
	}
	if claims == 0 {
		t.Error("no proven score occurred")
	}
}

// setNumbers turns the techniques on that have a number in place of a switch.
func setNumbers(params *search.Params) {
	params.LMR.Base, params.LMR.Slope = 512, 224
	params.LMR.Order, params.LMR.EvalAboveBeta = 1<<14, 1024
	params.PolicyPruning, params.Margins.Policy = 1, 100
	params.LMPBase, params.LMPExponent = 2, 130
	params.SingularDepth, params.SingularDouble, params.SingularNegative, params.Margins.DoubleSingular = 3, 3, 1, 5
	params.IIRDepthGap = 2
	params.ProvePV, params.ProvePVDepth = 20, 2
}

// With all switches, too, a search keeps its node limit, gives a legal line, and
// finds the same again.
func TestAllSwitches(t *testing.T) {
	for seed := range uint64(30) {
		g, _ := deep()
		g.Seed, g.Terminal, g.Dead = seed, 2, 1
		params := with(g.Params(), searchtest.All()...)
		params.ProveLeaf = 5
		if seed >= 15 {
			setNumbers(&params)
		}
		r := find(g, params, search.Limits{Nodes: 20_000})
		again := find(g, params, search.Limits{Nodes: 20_000})
		if r.Nodes != again.Nodes || r.Score != again.Score || !slices.Equal(r.PV, again.PV) {
			t.Fatalf("seed %d: %+v and %+v", seed, r, again)
		}
		if r.Nodes > 20_000 {
			t.Errorf("seed %d: %d nodes", seed, r.Nodes)
		}
		p := g.Clone()
		for i, m := range r.PV {
			p.Enter()
			if _, ok := p.Find(m); !ok {
				t.Fatalf("seed %d: line %v is illegal at ply %d", seed, r.PV, i)
			}
			p.Do(m)
		}
	}
}

// A search works with any value of each number.
func TestAllNumbers(t *testing.T) {
	g, _ := deep()
	g.Terminal, g.Dead = 2, 1
	for _, name := range search.NumberNames() {
		for _, n := range []int{0, 1, 1 << 15} {
			params := with(g.Params(), searchtest.All()...)
			if err := params.SetNumber(name, n); err != nil {
				t.Fatal(err)
			}
			if r := find(g, params, search.Limits{Nodes: 3000}); r.Move == game.NoMove || r.Nodes > 3000 {
				t.Errorf("%s = %d: %+v", name, n, r)
			}
		}
	}
}

func ExampleParams_WinProb() {
	p := search.Params{WinScale: 100}
	fmt.Printf("%.2f %.2f %.2f\n", p.WinProb(0), p.WinProb(100), p.WinProb(search.Win-3))
	// Output: 0.50 0.73 1.00
}

// A search that ends while a move that was better than all before is searched again,
// with a wider window, reports at least what it had found of it.
func TestScoreAfterAFailHigh(t *testing.T) {
	cut := 0
	for _, seed := range []uint64{3, 4, 5} {
		g := searchtest.NewGraph(seed)
		g.Terminal, g.Vertices = 0, 1_000_000
		params := with(g.Params(), "Aspiration", "PVS", "IterativeDeepening", "HashMove")
		params.Margins.Aspiration = 5
		for nodes := uint64(300); nodes < 6000; nodes += 97 {
			var last search.Info
			r := newGame(params).Start(g.Clone(), search.Limits{Nodes: nodes}, func(i search.Info) { last = i }).Wait()
			if last.PV == nil || r.Move == last.PV[0] {
				continue
			}
			cut++
			g.Enter()
			if r.Score == g.Eval() && r.Score < last.Score {
				t.Errorf("seed %d, %d nodes: %d for move %d, the iteration before had %d for %d", seed, nodes, r.Score, r.Move, last.Score, last.PV[0])
			}
		}
	}
	if cut < 10 {
		t.Errorf("%d searches ended with another move than that of their last iteration", cut)
	}
}
