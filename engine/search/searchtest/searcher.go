package searchtest

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sparring/engine/search"
	"sparring/game"
)

// Game is an opened game of a searcher.
type Game interface {
	Start(search.Position, search.Limits, func(search.Info)) *search.Search
	Close()
}

// Searcher opens a game of a new searcher with these parameters.
type Searcher func(search.Params) Game

// Deep returns a game that no search exhausts.
func Deep() *Graph {
	g := NewGraph(9)
	g.Terminal, g.Dead, g.Vertices = 0, 0, 1_000_000
	return g
}

// ConformSearcher tests how a searcher handles limits, stops, pondering and threads.
// Fresh opens games whose searches begin with nothing learnt.
func ConformSearcher(t *testing.T, open, fresh Searcher) {
	c := conformance{open, fresh}
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"Deterministic", c.deterministic}, {"NodeLimitIsExact", c.nodeLimitIsExact}, {"LineIsLegal", c.lineIsLegal},
		{"Lines", c.lines}, {"SearchMoves", c.searchMoves}, {"MovesLeftOut", c.movesLeftOut}, {"OverRoot", c.overRoot},
		{"StoppedAtOnce", c.stoppedAtOnce}, {"PonderWaitsForTheHit", c.ponderWaitsForTheHit}, {"PonderEnds", c.ponderEnds}, {"HitAfterLongPondering", c.hitAfterLongPondering},
		{"Pause", c.pause}, {"Threads", c.threads}, {"OneSearchAtATime", c.oneSearchAtATime}, {"ProvenIsTrue", c.provenIsTrue},
	} {
		t.Run(test.name, test.run)
	}
}

type conformance struct{ open, fresh Searcher }

// find runs one search to its end.
func (c *conformance) find(g *Graph, params search.Params, l search.Limits) search.Result {
	return c.open(params).Start(g, l, nil).Wait()
}

func (c *conformance) deterministic(t *testing.T) {
	g := NewGraph(3)
	params := g.Params()
	params.ProveLeaf, params.ProveRoot = 20, 50
	run := func(game Game) (search.Result, []search.Info) {
		var infos []search.Info
		r := game.Start(g, search.Limits{Nodes: 5000}, func(i search.Info) {
			i.Time, i.NPS = 0, 0
			infos = append(infos, i)
		}).Wait()
		r.Time, r.Lines = 0, nil
		return r, infos
	}
	first, infos := run(c.open(params))
	again := c.fresh(params)
	for i := range 3 {
		r, infos2 := run(again)
		if !reflect.DeepEqual(first, r) || !reflect.DeepEqual(infos, infos2) {
			t.Fatalf("run %d differs:\n%+v\n%+v", i, first, r)
		}
	}
}

func (c *conformance) nodeLimitIsExact(t *testing.T) {
	for _, prove := range []int{0, 7} {
		g := Deep()
		params := g.Params()
		params.ProveLeaf = prove
		for _, n := range []uint64{1, 2, 255, 256, 257, 1000, 4567} {
			r := c.find(g, params, search.Limits{Nodes: n})
			if r.Nodes != n {
				t.Errorf("prover %d: %d nodes, want %d", prove, r.Nodes, n)
			}
			if _, ok := g.Find(r.Move); !ok {
				t.Errorf("prover %d: after %d nodes: illegal move %d", prove, n, r.Move)
			}
			if again := c.find(g, params, search.Limits{Nodes: n}); again.Move != r.Move || again.Score != r.Score {
				t.Errorf("prover %d: %d nodes found %d and %d", prove, n, r.Move, again.Move)
			}
		}
	}
}

func (c *conformance) lineIsLegal(t *testing.T) {
	for seed := range uint64(20) {
		g := NewGraph(seed)
		params := g.Params()
		params.ProveLeaf = 10
		r := c.find(g, params, search.Limits{Nodes: 3000})
		if len(r.PV) == 0 || r.PV[0] != r.Move {
			t.Fatalf("seed %d: line %v does not begin with move %d", seed, r.PV, r.Move)
		}
		legalLine(t, g, r.PV)
		if r.Ponder != game.NoMove && len(r.PV) > 1 && r.Ponder != r.PV[1] {
			t.Errorf("seed %d: ponder move %d, line %v", seed, r.Ponder, r.PV)
		}
	}
}

func legalLine(t *testing.T, g *Graph, line []game.Move) {
	t.Helper()
	p := g.Clone()
	for i, m := range line {
		if node := p.Enter(); node.Over && i > 0 {
			t.Fatalf("seed %d: line %v goes on after the end", g.Seed, line)
		}
		if _, ok := p.Find(m); !ok {
			t.Fatalf("seed %d: line %v is illegal at ply %d", g.Seed, line, i)
		}
		p.Do(m)
	}
}

// Several lines begin with different moves and come best first.
func (c *conformance) lines(t *testing.T) {
	g := Deep()
	r := c.find(g, g.Params(), search.Limits{Nodes: 5000, MultiPV: 3})
	if len(r.Lines) != 3 {
		t.Fatalf("%d lines, want 3", len(r.Lines))
	}
	var used []game.Move
	for i, l := range r.Lines {
		if l.Line != i+1 {
			t.Errorf("line %d calls itself %d", i+1, l.Line)
		}
		legalLine(t, g, l.PV)
		if slices.Contains(used, l.PV[0]) {
			t.Errorf("move %d leads two lines", l.PV[0])
		}
		used = append(used, l.PV[0])
		if i > 0 && l.Score > r.Lines[i-1].Score {
			t.Errorf("line %d is better than the one before", i+1)
		}
	}
}

// A search of some moves plays one of these, also after a search of all, and has no
// effect on which moves the next one searches.
func (c *conformance) searchMoves(t *testing.T) {
	g := Deep()
	opened := c.open(g.Params())
	opened.Start(g, search.Limits{Nodes: 2000}, nil).Wait()
	for _, e := range batches(g, search.All) {
		r := opened.Start(g, search.Limits{Nodes: 500, Moves: []game.Move{e.Move}}, nil).Wait()
		if r.Move != e.Move {
			t.Errorf("only %d allowed: got %d", e.Move, r.Move)
		}
	}
	if r := opened.Start(g, search.Limits{Nodes: 2000, MultiPV: 3}, nil).Wait(); len(r.Lines) != 3 {
		t.Errorf("%d lines after searches of one move, want 3", len(r.Lines))
	}
}

// Legal moves that the position leaves out because they lose are searched if no others are
// allowed: each gets a line that says how soon it loses.
func (c *conformance) movesLeftOut(t *testing.T) {
	g := Deep()
	g.Terminal = 30
	var left []game.Move
	for m := game.Move(g.Vertices + 1); len(left) < 5; m++ {
		g.Do(m)
		if n := g.Enter(); n.Over && n.Verdict == search.Win {
			left = append(left, m)
		}
		g.Undo(m)
	}
	r := c.find(g, g.Params(), search.Limits{Nodes: 1000, Moves: left, MultiPV: 3})
	if !slices.Contains(left, r.Move) || r.Score != -search.Win+1 || !r.Judges() || r.Nodes < uint64(len(left)) || len(r.Lines) != 3 {
		t.Errorf("got %d scoring %d, %d nodes, depth %d, %d lines; want one of %v, lost in one ply, and three lines",
			r.Move, r.Score, r.Nodes, r.Depth, len(r.Lines), left)
	}
}

func (c *conformance) overRoot(t *testing.T) {
	g := NewGraph(1)
	g.Dead = 100
	r := c.find(g, g.Params(), search.Limits{Depth: 3})
	if r.Move != game.NoMove || r.Score != -search.Win {
		t.Errorf("no legal move: got move %d, score %d", r.Move, r.Score)
	}
}

// A search that has no time still gives a move, and not just any: it looks at some.
func (c *conformance) stoppedAtOnce(t *testing.T) {
	g := Deep()
	for _, l := range []search.Limits{{Hard: time.Nanosecond}, {Hard: time.Second, From: time.Now().Add(-time.Hour)}, {Wait: true}} {
		s := c.open(g.Params()).Start(g, l, nil)
		if l.Wait {
			s.Stop()
		}
		r := s.Wait()
		if r.Move == game.NoMove || len(r.PV) == 0 {
			t.Errorf("%+v: no move: %+v", l, r)
		}
		if !l.Wait && r.Nodes < 2 {
			t.Errorf("%+v: %d nodes: the first move in order", l, r.Nodes)
		}
	}
}

func (c *conformance) ponderWaitsForTheHit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := Deep()
		s := c.open(g.Params()).Start(g, search.Limits{Depth: 2, Wait: true}, nil)
		synctest.Wait() // until the search is idle
		select {
		case <-s.Done():
			t.Fatal("the search answered before the hit")
		default:
		}
		s.PonderHit(search.Limits{Depth: 2})
		if r := s.Wait(); r.Depth < 2 {
			t.Errorf("depth %d", r.Depth)
		}
	})
}

func (c *conformance) ponderEnds(t *testing.T) {
	g := Deep()
	opened := c.open(g.Params())
	s := opened.Start(g, search.Limits{Wait: true}, nil)
	s.PonderHit(search.Limits{Hard: time.Millisecond})
	s.Wait() // ends, or the test times out
	s = opened.Start(g, search.Limits{Wait: true}, nil)
	s.Stop() // a miss
	if r := s.Wait(); r.Move == game.NoMove {
		t.Error("no move after a stop")
	}
}

// Time spent pondering counts against the soft limit after a ponder hit, and the
// soft limit is checked within an iteration: otherwise this would take an hour.
func (c *conformance) hitAfterLongPondering(t *testing.T) {
	g := Deep()
	reports := make(chan search.Info, 1000)
	s := c.open(g.Params()).Start(g, search.Limits{Wait: true}, func(i search.Info) { reports <- i })
	var last search.Info
	for range 5 {
		last = <-reports
	}
	s.PonderHit(search.Limits{Soft: time.Nanosecond, Hard: time.Hour})
	if r := s.Wait(); r.Nodes < last.Nodes || r.Depth < last.Depth {
		t.Errorf("%d nodes to depth %d, %d to %d were reached while pondering", r.Nodes, r.Depth, last.Nodes, last.Depth)
	}
}

func (c *conformance) pause(t *testing.T) {
	g := Deep()
	opened := c.fresh(g.Params())
	s := opened.Start(g, search.Limits{Nodes: 50_000}, nil)
	s.Pause()
	s.Pause()
	s.Resume()
	if r := s.Wait(); r.Nodes != 50_000 {
		t.Errorf("%d nodes after a pause, want 50000", r.Nodes)
	}
	s = opened.Start(g, search.Limits{}, nil)
	s.Pause()
	s.Stop()
	s.Wait()
}

func (c *conformance) threads(t *testing.T) {
	g := Deep()
	opened := c.open(g.Params())
	for range 2 {
		if r := opened.Start(g, search.Limits{Nodes: 20_000, Threads: 4}, nil).Wait(); r.Nodes > 20_000 || r.Move == game.NoMove {
			t.Errorf("move %d, %d nodes, limit 20000", r.Move, r.Nodes)
		}
	}
}

// A game's searches run one after another, and Close ends them.
func (c *conformance) oneSearchAtATime(t *testing.T) {
	g := Deep()
	opened := c.open(g.Params())
	first := opened.Start(g, search.Limits{}, nil)
	second := opened.Start(g, search.Limits{Depth: 1}, func(search.Info) {
		select {
		case <-first.Done():
		default:
			t.Error("the second search began before the end of the first")
		}
	})
	third := opened.Start(g, search.Limits{Wait: true}, nil)
	first.Stop()
	if r := second.Wait(); r.Depth < 1 {
		t.Errorf("depth %d, want 1", r.Depth)
	}
	opened.Close()
	third.Wait()
}

// A result that is claimed to be proven is confirmed by minimax of sufficient depth,
// also where positions repeat.
func (c *conformance) provenIsTrue(t *testing.T) {
	claims := map[bool]int{} // by whether positions repeat
	for seed := range uint64(60) {
		g := NewGraph(seed)
		g.Terminal, g.Layered = 8, seed%2 == 0
		if !g.Layered {
			g.Vertices = 40
		}
		r := c.find(g, g.Params(), search.Limits{Nodes: 20_000})
		far := search.Win - max(r.Score, -r.Score)
		if far > search.Win-search.WinBound || far > 7 {
			continue
		}
		claims[g.Layered]++
		// One ply more, because a node that has no move is lost a ply deeper.
		want := Minimax(g, g.Params(), int(far)+1)
		if r.Score > 0 && want < search.WinBound || r.Score < 0 && want > -search.WinBound {
			t.Fatalf("seed %d: claims %d, minimax of depth %d says %d", seed, r.Score, far+1, want)
		}
	}
	if len(claims) < 2 {
		t.Errorf("proven scores %v, want some with and without repetition", claims)
	}
}
