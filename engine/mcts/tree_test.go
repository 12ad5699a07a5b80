package mcts

import (
	"slices"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
)

// shape is what a test compares of a part of a tree.
type shape struct {
	move        game.Move
	visits      uint32
	sum         int64
	best, prior uint16
	proven      int16
	below       []shape
}

// shapeOf returns the part of a tree below a node, without the children of nodes
// with fewer visits.
func (t *tree) shapeOf(at nodeID, visits uint32) shape {
	n := t.at(at)
	s := shape{n.move, n.visits, n.sum, n.best, n.prior, n.proven, nil}
	if n.visits < visits && at != t.root {
		return s
	}
	for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
		s.below = append(s.below, t.shapeOf(i, visits))
	}
	return s
}

func (s *shape) equal(o *shape) bool {
	return s.move == o.move && s.visits == o.visits && s.sum == o.sum && s.best == o.best && s.prior == o.prior && s.proven == o.proven &&
		slices.EqualFunc(s.below, o.below, func(a, b shape) bool { return a.equal(&b) })
}

func (s *shape) chunks() int {
	n := (len(s.below) + chunkNodes - 1) / chunkNodes
	for i := range s.below {
		n += s.below[i].chunks()
	}
	return n
}

// check fails unless no visit is in progress and every child has a move of its own and a
// visit.
func (t *tree) check(tb testing.TB) {
	tb.Helper()
	t.checkBelow(tb, t.root)
	for i := range nodeID(t.chunks) * chunkNodes {
		if n := t.at(i); n.virtual != 0 {
			tb.Fatalf("node %d has %d visits in progress", i, n.virtual)
		}
	}
}

func (t *tree) checkBelow(tb testing.TB, at nodeID) {
	tb.Helper()
	n := t.at(at)
	moves := map[game.Move]bool{}
	for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
		m := t.at(i)
		if m.move == game.NoMove || moves[m.move] || m.visits == 0 {
			tb.Fatalf("node %d: child %d has move %d and %d visits", at, i, m.move, m.visits)
		}
		moves[m.move] = true
		t.checkBelow(tb, i)
	}
}

// grown returns a game after a search of the graph.
func grown(g *searchtest.Graph, bytes int, l search.Limits) *Game {
	opened := New(g.Params(), bytes).NewGame(GameOptions{})
	opened.Start(g, l, nil).Wait()
	return opened
}

// A search that ends while it opens children leaves a tree that the next one can use.
func TestEndsWhileOpening(t *testing.T) {
	g := searchtest.Deep()
	g.Degree = 30
	params := g.Params()
	params.MCTS.Open, params.MCTS.Candidates = 6, 10
	opened := New(params, 1<<22).NewGame(GameOptions{})
	for nodes := range uint64(40) {
		for _, n := range []uint64{nodes + 1, 100} {
			if r := opened.Start(g, search.Limits{Nodes: n}, nil).Wait(); r.Nodes != n || r.Move == game.NoMove {
				t.Fatalf("limit %d: %+v", n, r)
			}
			opened.tree.check(t)
		}
		opened.Start(g.At(int(nodes)), search.Limits{Nodes: 1}, nil).Wait()
	}
}

// A search without limits ends before the root's visits overflow.
func TestVisitsDoNotOverflow(t *testing.T) {
	for _, lines := range []int{1, 3} {
		g := searchtest.Deep()
		opened := grown(g, 1<<22, search.Limits{Nodes: 1000})
		root := opened.tree.at(opened.tree.root)
		root.visits = maxVisits - 50
		s := opened.Start(g, search.Limits{Threads: 2, MultiPV: lines}, nil)
		deadline := time.AfterFunc(time.Minute, s.Stop)
		r := s.Wait()
		if !deadline.Stop() || r.Move == game.NoMove || root.visits < maxVisits || root.visits > maxVisits+1 {
			t.Errorf("%d lines: %d visits: %+v", lines, root.visits, r)
		}
		opened.tree.check(t)
	}
}

// endings is a graph in which every move ends the game, as the node says.
type endings struct {
	*searchtest.Graph
	node search.Node
	over bool
}

func (e *endings) Enter() search.Node {
	if e.over {
		return e.node
	}
	return search.Node{}
}

func (e *endings) Do(m game.Move)   { e.Graph.Do(m); e.over = true }
func (e *endings) Undo(m game.Move) { e.Graph.Undo(m); e.over = false }
func (e *endings) Clone() search.Position {
	return &endings{e.Graph.Clone().(*searchtest.Graph), e.node, e.over}
}

// An end that depends on the path is a value and no proof.
func TestProofsHoldOnEveryPath(t *testing.T) {
	for name, c := range map[string]struct {
		node   search.Node
		proven bool
	}{
		"an end of the game": {search.Node{Over: true, Verdict: -search.Win}, true},
		"a draw":             {search.Node{Over: true, Verdict: search.Draw}, true},
		"a repetition":       {search.Node{Over: true, Verdict: search.Draw, RepetitionPlies: 2}, false},
		"the move limit":     {search.Node{Over: true, Verdict: -search.Win, NoTable: true}, false},
	} {
		g := searchtest.Deep()
		opened := New(g.Params(), 1<<22).NewGame(GameOptions{})
		opened.Start(&endings{Graph: g, node: c.node}, search.Limits{Nodes: 200}, nil).Wait()
		if root := opened.tree.at(opened.tree.root); root.proven != 0 != c.proven {
			t.Errorf("%s: the root has the proof %d, want one: %v", name, root.proven, c.proven)
		}
	}
}

// The next search begins with what the last one knew of its position, found by two
// moves or, after a miss, by another reply to the move that was pondered on.
func TestKeepsTheSubtree(t *testing.T) {
	g := searchtest.Deep()
	opened := grown(g, 1<<22, search.Limits{Nodes: 20_000})
	tr := opened.tree
	// child returns the k-th most visited child and the position there.
	child := func(at nodeID, p search.Position, k int) (nodeID, search.Position) {
		var all []nodeID
		n := tr.at(at)
		for i, left := n.first.firstNode(), n.children(); left > 0; i, left = tr.after(i), left-1 {
			all = append(all, i)
		}
		slices.SortFunc(all, func(a, b nodeID) int { return int(tr.at(b).visits) - int(tr.at(a).visits) })
		p = p.Clone()
		p.Enter()
		p.Do(tr.at(all[k]).move)
		return all[k], p
	}
	keeps := func(what string, p search.Position, want shape) {
		t.Helper()
		if want.visits < 10 {
			t.Fatalf("%s: %d visits show nothing", what, want.visits)
		}
		tr.begin(p, &search.Limits{})
		if got := tr.shapeOf(tr.root, 0); !got.equal(&want) {
			t.Errorf("%s: %d visits kept of %d", what, got.visits, want.visits)
		}
		tr.compact(0)
		if got := tr.shapeOf(tr.root, 0); !got.equal(&want) || int(tr.chunks) != 1+want.chunks() {
			t.Errorf("%s: compacted to %d chunks, %d visits, want %d and %d", what, tr.chunks, got.visits, 1+want.chunks(), want.visits)
		}
	}
	own, p := child(tr.root, g, 0)
	reply, q := child(own, p, 0)
	other, r := child(own, p, 1)
	want := tr.shapeOf(other, 0)
	pondered := tr.at(reply).visits
	opened.Start(q, search.Limits{Wait: true, Nodes: 3000}, nil).Stop()
	opened.queue.Stop()
	if tr.at(reply).visits < pondered {
		t.Errorf("pondering started over: %d visits, before %d", tr.at(reply).visits, pondered)
	}
	tr.check(t)
	keeps("another reply", r, want)

	next, s := child(tr.root, r, 0)
	next, s = child(next, s, 0)
	keeps("two moves", s, tr.shapeOf(next, 0))

	tr.begin(searchtest.NewGraph(1), &search.Limits{})
	if n := tr.at(tr.root); n.visits != 0 || n.first != none {
		t.Error("an unknown position has visits")
	}
}

// Compaction drops the children of nodes with few visits and leaves the rest as it
// was.
func TestCompactKeepsTheMostVisited(t *testing.T) {
	opened := grown(searchtest.Deep(), 1<<22, search.Limits{Nodes: 30_000})
	tr := opened.tree
	for _, share := range []int{2, 3, 10} {
		most := int(tr.chunks) / share
		visits := tr.threshold(most)
		want := tr.shapeOf(tr.root, visits)
		tr.compact(visits)
		got := tr.shapeOf(tr.root, 0)
		if !got.equal(&want) || int(tr.chunks) != 1+want.chunks() {
			t.Fatalf("at least %d visits: another tree", visits)
		}
		if int(tr.chunks) > most+1 {
			t.Errorf("%d chunks stay, want %d at most", tr.chunks, most+1)
		}
	}
	if tr.chunks < 10 {
		t.Errorf("%d chunks show nothing", tr.chunks)
	}
}

func TestVisitClasses(t *testing.T) {
	last := -1
	for visits := range uint32(5000) {
		c := visitClass(visits)
		if least := minVisits(c); least > visits || minVisits(c+1) <= visits || c < last {
			t.Fatalf("%d visits: class %d, which begins at %d", visits, c, least)
		}
		last = c
	}
	if c := visitClass(1<<32 - 1); c >= 8*30 {
		t.Errorf("class %d", c)
	}
}

// Trees stay within their memory, and what they give back does not keep a search from
// going on.
func TestMemoryIsBounded(t *testing.T) {
	g := searchtest.Deep()
	const slabs = 12
	s := New(g.Params(), slabs*slabBytes)
	var games []*Game
	for i := range 4 {
		opened := s.NewGame(GameOptions{})
		games = append(games, opened)
		r := opened.Start(g.At(i), search.Limits{Nodes: 60_000, Threads: 1 + i%2}, nil).Wait()
		if r.Nodes < 59_000 {
			t.Fatalf("%d nodes", r.Nodes)
		}
		if opened.tree.compactions == 0 {
			t.Error("the memory was never full")
		}
		opened.tree.check(t)
		if s.shared.made > slabs {
			t.Errorf("%d slabs, want %d at most", s.shared.made, slabs)
		}
	}
	// Two at once: each may have half, and minSlabs in any case.
	a := games[0].Start(g, search.Limits{Nodes: 60_000}, nil)
	b := games[1].Start(g.At(9), search.Limits{Nodes: 60_000}, nil)
	a.Wait()
	b.Wait()
	if s.shared.made > slabs {
		t.Errorf("%d slabs after two searches at once, want %d at most", s.shared.made, slabs)
	}
	for _, opened := range games {
		opened.Close()
	}
	if n := len(s.shared.unused); n != s.shared.made {
		t.Errorf("%d of %d slabs unused after all games were closed", n, s.shared.made)
	}
}

// Right before the deadline memory is not given back, and the search goes on without.
func TestFullAtTheDeadline(t *testing.T) {
	opened := grown(searchtest.Deep(), 0, search.Limits{Nodes: 20_000})
	tr := opened.tree
	tr.full.Store(true)
	before := tr.compactions
	if tr.makeRoom(time.Now()); tr.compactions != before || !tr.full.Load() {
		t.Error("gave memory back at the deadline")
	}
	if tr.makeRoom(time.Now().Add(time.Hour)); tr.compactions == before || tr.full.Load() {
		t.Error("gave nothing back an hour before the deadline")
	}
	for int(tr.chunks) < len(tr.slabs)*slabChunks && tr.reserve(1) {
		tr.allocate()
	}
	tr.makeRoom(time.Time{})
	tr.full.Store(true)
	if r := opened.Start(searchtest.Deep().At(3), search.Limits{Nodes: 5000, Hard: time.Hour}, nil).Wait(); r.Nodes != 5000 {
		t.Errorf("%d nodes", r.Nodes)
	}
}

// A search that begins where nothing is known yet, with a tree that the one before has left
// full, makes room and finds a move. It played none before, which lost the game.
func TestBeginsWithAFullTree(t *testing.T) {
	g := searchtest.Deep()
	played := grown(g, 1<<20, search.Limits{Nodes: 3000})
	tree := played.tree
	reply := tree.at(tree.at(tree.root).first.firstNode())
	reply.proven, reply.first, reply.opened = -int16(search.Win-10), none, 0 // its children went to make room
	tree.store.open(tree)
	for tree.reserve(1) {
		tree.allocate()
	}
	tree.store.release(tree)
	g.Do(reply.move)
	r := played.Start(g, search.Limits{Nodes: 3000}, nil).Wait()
	if _, legal := g.Find(r.Move); r.Move == game.NoMove || !legal || r.Source != search.FromSearch {
		t.Errorf("move %d, legal %v, from %s", r.Move, legal, r.Source)
	}
}

// With little memory a result depends on position and limits alone, too.
func TestDeterministicWithLittleMemory(t *testing.T) {
	g := searchtest.Deep()
	opened := New(g.Params(), 0).NewGame(GameOptions{Fresh: true})
	first := opened.Start(g, search.Limits{Nodes: 100_000}, nil).Wait()
	again := opened.Start(g, search.Limits{Nodes: 100_000}, nil).Wait()
	if first.Move != again.Move || first.Score != again.Score || !slices.Equal(first.PV, again.PV) || first.Nodes != again.Nodes {
		t.Errorf("%+v and %+v", first, again)
	}
}
