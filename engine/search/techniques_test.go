package search_test

import (
	"math"
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

// Bad noisy moves that quiescence leaves out from a ply on count as if the game had
// none there.
func TestQuiescenceBadNoisy(t *testing.T) {
	differs := false
	for seed := range uint64(10) {
		g := searchtest.NewGraph(seed)
		g.Forcing = 0 // at forced nodes all moves come at any ply
		score := func(plies int, keep bool) search.Score {
			params := with(g.Params(), exact...)
			params.QuiescencePlies, params.QuiescenceBadNoisy = 5, plies
			p := &wrapped{Position: g, moves: func(batch []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
				return slices.DeleteFunc(batch, func(m search.ScoredMove) bool { return !keep && c.Mode == search.Noisy && m.Noise == search.BadNoisy })
			}}
			return find(p, params, search.Limits{Depth: 4}).Score
		}
		all := score(0, true)
		if last := score(5, true); last != all {
			t.Errorf("seed %d: score %d with bad noisy moves up to the last ply, %d with all", seed, last, all)
		}
		differs = differs || score(1, true) != all && score(1, true) != score(1, false)
		if none := score(0, false); none != score(1, false) {
			t.Errorf("seed %d: the number matters (%d and %d) without a bad noisy move", seed, none, score(1, false))
		}
	}
	if !differs {
		t.Error("the limit changed no score, so the test shows nothing")
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

// Below ExtensionDepth a forced node is not extended.
func TestExtensionDepth(t *testing.T) {
	for _, extension := range []string{"CheckExtension", "OneReplyExtension"} {
		differs := false
		for seed := range uint64(10) {
			g := searchtest.NewGraph(seed)
			g.Degree, g.Vertices, g.Forcing = 2, 40, 40
			nodes := func(from int, on ...string) uint64 {
				params := with(g.Params(), append(on, exact...)...)
				params.ExtensionDepth = from
				return find(g, params, search.Limits{Depth: 6}).Nodes
			}
			plain, all := nodes(0), nodes(0, extension)
			if n := nodes(search.MaxPly, extension); n != plain {
				t.Errorf("%s, seed %d: %d nodes with a depth that is never reached, %d without it", extension, seed, n, plain)
			}
			some := nodes(3, extension)
			differs = differs || some != plain && some != all
		}
		if !differs {
			t.Errorf("%s: from depth 3 on it is the same as never or always", extension)
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

// corridor is a game in which one move keeps to the path and the others give the
// game away, or are as good if it is wide. No two lines lead to one position.
type corridor struct {
	wide bool
	keys []uint64
	lost []int // by ply: 1 if the side that moves at even plies gave the game away, -1 if the other did
}

func newCorridor(wide bool) *corridor {
	return &corridor{wide: wide, keys: []uint64{1}, lost: []int{0}}
}

func (*corridor) params() search.Params {
	return search.Params{Game: "corridor", HistorySize: [2]int{8, 1}, WinScale: 100}
}

func (c *corridor) ply() int { return len(c.keys) - 1 }

func (c *corridor) Enter() search.Node {
	return search.Node{Key: c.keys[c.ply()], SearchKey: c.keys[c.ply()]}
}

func (c *corridor) Moves(buf []search.ScoredMove, cursor *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	for m := game.Move(1); m <= 3 && cursor.Stage == 0; m++ {
		e, _ := c.Find(m)
		buf = append(buf, e)
	}
	cursor.Stage = 1
	return buf
}

func (c *corridor) Find(m game.Move) (search.ScoredMove, bool) {
	return search.ScoredMove{Move: m, Order: -int32(m), HistoryIndex: [2]uint16{uint16(m & 7), 0}}, m >= 1 && m <= 3
}

func (c *corridor) Do(m game.Move) {
	lost := c.lost[c.ply()]
	if lost == 0 && m != 1 && !c.wide {
		lost = 1 - 2*(c.ply()&1)
	}
	c.keys, c.lost = append(c.keys, game.Zobrist(c.keys[c.ply()], uint64(m))), append(c.lost, lost)
}

func (c *corridor) Undo(game.Move) { c.keys, c.lost = c.keys[:c.ply()], c.lost[:c.ply()] }
func (c *corridor) Pass()          { c.Do(0) }
func (c *corridor) Unpass()        { c.Undo(0) }

func (c *corridor) Eval() search.Score {
	return search.Score(-5000 * c.lost[c.ply()] * (1 - 2*(c.ply()&1)))
}

func (c *corridor) Clone() search.Position {
	return &corridor{wide: c.wide, keys: slices.Clone(c.keys), lost: slices.Clone(c.lost)}
}

// Where every move of a line is singular, two plies of extension make the line
// longer, and each further move that may have them makes the search larger.
func TestSingularDouble(t *testing.T) {
	run := func(double, margin int, on ...string) search.Result {
		c := newCorridor(false)
		params := with(c.params(), append(on, exact...)...)
		params.SingularDouble, params.Margins.DoubleSingular = double, search.Score(margin)
		return find(c, params, search.Limits{Depth: 11})
	}
	if r := run(5, 1); r.SelDepth != 11 {
		t.Errorf("without the singular extension the line has %d plies, want 11", r.SelDepth)
	}
	single := run(0, 1, "SingularExtension")
	if single.SelDepth <= 11 {
		t.Errorf("the singular extension makes a line of %d plies", single.SelDepth)
	}
	last := single
	for double := 1; double <= 4; double++ {
		r := run(double, 1, "SingularExtension")
		if r.SelDepth > single.SelDepth+double || r.Nodes <= last.Nodes {
			t.Errorf("%d moves extended by two plies: %d plies and %d nodes, with one fewer %d and %d", double, r.SelDepth, r.Nodes, last.SelDepth, last.Nodes)
		}
		last = r
	}
	if last.SelDepth <= single.SelDepth {
		t.Errorf("extensions of two plies make a line of %d plies, those of one %d", last.SelDepth, single.SelDepth)
	}
	if r := run(4, 6000, "SingularExtension"); r.Nodes != single.Nodes {
		t.Errorf("no move is worse by the margin: %d nodes, want %d", r.Nodes, single.Nodes)
	}
}

// A move that was extended by two plies counts for the line after it, not for the
// moves beside it.
func TestSingularDoubleCountsByLine(t *testing.T) {
	c := newCorridor(false)
	params := with(c.params(), append([]string{"SingularExtension"}, exact...)...)
	params.SingularDouble, params.Margins.DoubleSingular = 3, 1
	k := search.New(params, search.NewTable(tableBytes))
	k.NewGame(search.GameOptions{}).Start(c, search.Limits{Depth: 11, Moves: []game.Move{1}}, nil).Wait()
	if n := k.DoublesLeft(); n != 0 {
		t.Errorf("%d moves are still counted after the search", n)
	}
}

// Where all moves are equal, hash moves that would cut off are searched less deep.
func TestSingularNegative(t *testing.T) {
	nodes := func(negative int, on ...string) uint64 {
		c := newCorridor(true)
		params := with(c.params(), append(on, exact...)...)
		params.SingularNegative = negative
		return find(c, params, search.Limits{Depth: 12}).Nodes
	}
	if off, on := nodes(0), nodes(2); off != on {
		t.Errorf("%d nodes, but %d without the singular extension: it has no part in it", on, off)
	}
	zero, one, two := nodes(0, "SingularExtension"), nodes(1, "SingularExtension"), nodes(2, "SingularExtension")
	if !(zero > one && one > two) {
		t.Errorf("%d nodes, %d with one ply less, %d with two", zero, one, two)
	}
}

// Internal iterative reduction takes no notice of a hash move's depth unless it is
// told a gap, and a gap that is never reached changes nothing.
func TestIIRDepthGap(t *testing.T) {
	differs := false
	for seed := range uint64(3) {
		usual := nodesWith(t, seed, nil)
		if n := nodesWith(t, seed, map[string]int{"IIRDepthGap": search.MaxPly}); n != usual {
			t.Errorf("seed %d: %d nodes with a gap that never occurs, %d without", seed, n, usual)
		}
		differs = differs || nodesWith(t, seed, map[string]int{"IIRDepthGap": 2}) != usual
	}
	if !differs {
		t.Error("a gap of two plies changes nothing")
	}
}

// asked is a position whose prover never succeeds and keeps what it was asked.
type asked struct {
	*searchtest.Graph
	questions *[]question
}

type question struct {
	key    uint64
	budget int
}

func (a *asked) Prove(budget int, _ func() bool) (search.Proof, int, bool) {
	*a.questions = append(*a.questions, question{a.Enter().Key, budget})
	return search.Proof{}, 0, false
}

func (a *asked) Clone() search.Position {
	return &asked{Graph: a.Graph.Clone().(*searchtest.Graph), questions: a.questions}
}

// The prover is asked once about each node of the principal variation that is deep
// enough, and the failures of the two budgets are not mixed up.
func TestProvePVAsksOnce(t *testing.T) {
	ask := func(leaf, pv, depth int) (questions []question) {
		g := searchtest.NewGraph(5)
		g.Layered, g.Vertices = false, 200
		params := with(g.Params(), exact...)
		params.ProveLeaf, params.ProvePV, params.ProvePVDepth = leaf, pv, depth
		game := search.New(params, search.NewTable(1<<22)).NewGame(search.GameOptions{})
		game.Start(&asked{Graph: g, questions: &questions}, search.Limits{Depth: 7}, nil).Wait()
		return questions
	}
	const leaf = 20
	for _, pv := range []int{10, 50} {
		first, both := map[uint64]int{}, 0
		for i, q := range ask(leaf, pv, 0) {
			switch before := first[q.key]; {
			case before == 0:
				first[q.key] = q.budget
			case before == q.budget:
				t.Fatalf("budgets %d and %d: question %d, %+v, was asked before", leaf, pv, i, q)
			case before > q.budget:
				t.Errorf("budgets %d and %d: %x failed with %d and was asked again with %d", leaf, pv, q.key, before, q.budget)
			default:
				both++
			}
		}
		if both == 0 {
			t.Errorf("budgets %d and %d: no node was asked again with the greater", leaf, pv)
		}
	}
	count := func(pv, depth int) (n int) {
		for _, q := range ask(leaf, pv, depth) {
			if q.budget == pv {
				n++
			}
		}
		return n
	}
	if two, four, usual := count(50, 2), count(50, 4), count(50, 0); !(two > four && four > 0) || usual != four {
		t.Errorf("%d questions from depth 2 on, %d from depth 4 on, %d by default", two, four, usual)
	}
	if n := count(50, 9); n != 0 {
		t.Errorf("%d questions in a search that is not deep enough", n)
	}
	for _, q := range ask(leaf, 0, 1) {
		if q.budget != leaf {
			t.Fatalf("ProvePV is off, but the prover was asked with a budget of %d", q.budget)
		}
	}
}

// provable is asked with every other position Provable.
type provable struct{ asked }

func (p *provable) Enter() search.Node {
	n := p.asked.Enter()
	n.Provable = n.Key%2 == 0
	return n
}

func (p *provable) Clone() search.Position { return &provable{*p.asked.Clone().(*asked)} }

// At Provable nodes, and no others, the prover is asked whatever their depth, once
// for each position.
func TestProveNodeAsksOnce(t *testing.T) {
	ask := func(node int, depth int) (questions []question) {
		g := searchtest.NewGraph(5)
		g.Layered, g.Vertices = false, 200
		params := with(g.Params(), exact...)
		params.ProveNode = node
		game := search.New(params, search.NewTable(1<<22)).NewGame(search.GameOptions{})
		game.Start(&provable{asked{Graph: g, questions: &questions}}, search.Limits{Depth: depth}, nil).Wait()
		return questions
	}
	seen := map[uint64]bool{}
	for i, q := range ask(30, 6) {
		if q.budget != 30 || q.key%2 != 0 || seen[q.key] {
			t.Fatalf("question %d: %+v, asked before: %v", i, q, seen[q.key])
		}
		seen[q.key] = true
	}
	if leaves := len(ask(30, 1)); len(seen) <= leaves {
		t.Errorf("%d questions, %d of them at depth 1: want more in the tree", len(seen), leaves)
	}
	if n := len(ask(0, 6)); n != 0 {
		t.Errorf("ProveNode is off, but the prover was asked %d times", n)
	}
}

// At the root the prover gets its budget, or its share of the nodes if that is less.
// Where a mate is wanted, it may have a budget of its own, and up to half of the nodes.
func TestProveShare(t *testing.T) {
	for _, tt := range []struct {
		share  int
		nodes  uint64
		mate   int // Limits.Mate
		own    int // Params.ProveMate
		budget int
	}{{0, 400, 0, 5000, 101}, {10, 400, 0, 5000, 41}, {10, 0, 0, 5000, 1000}, {10, 1 << 63, 0, 5000, 1000},
		{10, 400, 3, 0, 41}, {10, 400, 3, 5000, 201}, {10, 0, 3, 5000, 5000}} {
		g := searchtest.NewGraph(5)
		params := with(g.Params(), exact...)
		params.ProveRoot, params.ProveShare, params.ProveMate = 1000, tt.share, tt.own
		var questions []question
		newGame(params).Start(&asked{Graph: g, questions: &questions}, search.Limits{Depth: 1, Nodes: tt.nodes, Mate: tt.mate}, nil).Wait()
		if len(questions) != 1 || questions[0].budget != tt.budget {
			t.Errorf("%+v: %+v, want one question with that budget", tt, questions)
		}
	}
}

// Proofs in the principal variation leave the score as it is where a search finds
// the same wins, and their lines are legal.
func TestProvePVAgrees(t *testing.T) {
	differs := false
	for seed := range uint64(20) {
		g := searchtest.NewGraph(seed)
		g.Terminal = 10
		params := with(g.Params(), exact...)
		plain := find(g, params, search.Limits{Depth: 6})
		params.ProvePV, params.ProvePVDepth = 100, 1
		proved := find(g, params, search.Limits{Depth: 6})
		if proved.Score != plain.Score {
			t.Errorf("seed %d: score %d with proofs, %d without", seed, proved.Score, plain.Score)
		}
		differs = differs || proved.Nodes != plain.Nodes
		p := g.Clone()
		for i, m := range proved.PV {
			p.Enter()
			if _, ok := p.Find(m); !ok {
				t.Fatalf("seed %d: line %v is illegal at ply %d", seed, proved.PV, i)
			}
			p.Do(m)
		}
	}
	if !differs {
		t.Error("the prover took no nodes")
	}
}

// The prover is asked again at the root, with its share of the nodes that others took,
// at most half of those of a limited search, and more where only a proof ends the search.
func TestProveAgain(t *testing.T) {
	const deep = 6
	ask := func(again int, limits search.Limits) (budgets []int, nodes uint64) {
		g := searchtest.NewGraph(5)
		g.Layered, g.Vertices = false, 200
		params := with(g.Params(), exact...)
		params.ProveAgain = again
		var questions []question
		root := g.Enter().Key
		unlimited, finished := limits.Depth == 0 && limits.Nodes == 0, make(chan struct{}, 1)
		run := newGame(params).Start(&asked{Graph: g, questions: &questions}, limits, func(i search.Info) {
			if i.Depth == deep {
				select {
				case finished <- struct{}{}:
				default:
				}
			}
		})
		if unlimited {
			<-finished
			run.Stop()
		}
		r := run.Wait()
		for _, q := range questions {
			if q.key != root {
				t.Fatalf("asked about %x, want the root, %x", q.key, root)
			}
			budgets = append(budgets, q.budget)
		}
		return budgets, r.Nodes
	}
	budgets, nodes := ask(3, search.Limits{Depth: deep})
	if len(budgets) < 5 || !slices.IsSorted(budgets) || slices.Max(budgets) >= int(3*nodes) || budgets[0] == 0 || budgets[0]%3 != 0 {
		t.Errorf("budgets %v in a search of %d nodes: want one after each iteration but the last, and more, thrice the nodes", budgets, nodes)
	}
	limited, _ := ask(3, search.Limits{Nodes: 100})
	if len(limited) == 0 || slices.Max(limited) > 50 {
		t.Errorf("budgets %v of 100 nodes", limited)
	}
	unlimited, _ := ask(3, search.Limits{})
	for i, budget := range budgets[:min(len(budgets), len(unlimited))] {
		if unlimited[i] != 4*budget {
			t.Errorf("budgets %v without limits, want four times %v", unlimited, budgets)
			break
		}
	}
	if len(unlimited) < 5 {
		t.Errorf("budgets %v without limits", unlimited)
	}
	if off, _ := ask(0, search.Limits{Depth: deep}); len(off) != 0 {
		t.Errorf("ProveAgain is off, but the prover was asked %d times", len(off))
	}
}

// claims is a position whose prover says that the side to move wins in five plies,
// and that is Provable if it says so.
type claims struct {
	*searchtest.Graph
	provable bool
	line     []game.Move
}

func (c claims) Enter() search.Node {
	n := c.Graph.Enter()
	n.Provable = c.provable
	return n
}

func (c claims) Prove(int, func() bool) (search.Proof, int, bool) {
	return search.Proof{Score: search.Win - 5, Line: c.line, Kind: "claim"}, 0, true
}

func (c claims) Clone() search.Position {
	return claims{c.Graph.Clone().(*searchtest.Graph), c.provable, c.line}
}

// Where a mate in a number of moves is wanted, a proof of a longer one at the root ends
// nothing.
func TestProofOfALongerMate(t *testing.T) {
	g, params := deep()
	params.ProveRoot = 30
	line := []game.Move{g.Moves(nil, &search.Cursor{})[0].Move}
	for mate, want := range map[int]string{0: "claim", 2: search.FromSearch, 3: "claim"} {
		if r := find(claims{Graph: g, line: line}, params, search.Limits{Depth: 3, Mate: mate}); r.Source != want {
			t.Errorf("mate in %d wanted, in 3 proven: the result is from %s, want %s", mate, r.Source, want)
		}
	}
}

// A search for a mate in any number of moves, as a great number asks for, ends with
// neither a good score nor a win by repetition.
func TestMateInManyMoves(t *testing.T) {
	for mate, want := range map[int]search.Score{1: search.Win - 1, 3: search.Win - 5, 500: search.Win - 999,
		501: search.WinBound, 20_000: search.WinBound, math.MaxInt32: search.WinBound} {
		if least := search.MateWithin(mate); least != want {
			t.Errorf("mate in %d: ends with a score of %d, want %d", mate, least, want)
		}
	}
	g, params := deep()
	if r := find(g, params, search.Limits{Depth: 3, Mate: 20_000}); r.Depth != 3 {
		t.Errorf("mate in 20,000: ends after depth %d with a score of %d, want depth 3", r.Depth, r.Score)
	}
}

// A proof is the score of its node, as far as the node is deep enough.
func TestProvePV(t *testing.T) {
	g, params := deep()
	for _, c := range []struct {
		pv, depth, searched int
		proven              bool
	}{{30, 4, 5, true}, {30, 5, 5, false}, {30, 4, 4, false}, {0, 1, 5, false}} {
		params.ProvePV, params.ProvePVDepth = c.pv, c.depth
		r := find(claims{Graph: g}, params, search.Limits{Depth: c.searched})
		if lost := r.Score == -search.Win+6; lost != c.proven {
			t.Errorf("ProvePV %d from depth %d on, depth %d: score %d; want a loss in six plies: %v", c.pv, c.depth, c.searched, r.Score, c.proven)
		}
	}
}

// A proof is the score of a node that is Provable, at a leaf and elsewhere.
func TestProveNode(t *testing.T) {
	g, params := deep()
	for _, c := range []struct {
		budget   int
		provable bool
	}{{30, true}, {30, false}, {0, true}} {
		params.ProveNode = c.budget
		for depth := 1; depth <= 4; depth++ {
			r := find(claims{Graph: g, provable: c.provable}, params, search.Limits{Depth: depth})
			if lost, want := r.Score == -search.Win+6, c.budget > 0 && c.provable; lost != want {
				t.Errorf("%+v, depth %d: score %d; want a loss in six plies: %v", c, depth, r.Score, want)
			}
		}
	}
}
