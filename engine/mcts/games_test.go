package mcts

import (
	"math/rand/v2"
	"testing"
	"time"

	"sparring/engine/amazons"
	"sparring/engine/gomoku"
	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	"sparring/game/catalog"
)

// late returns a position of random play with so many free squares left.
func late(t *testing.T, rng *rand.Rand, kind, rules, start string, free int) game.Position {
	t.Helper()
	for {
		p, err := catalog.Setup(kind, rules, start)
		if err != nil {
			t.Fatal(err)
		}
		for left := freeSquares(p); left > free; left-- {
			legal := p.Legal(nil)
			if !playOn(p, rng, legal) {
				break
			}
		}
		if freeSquares(p) == free {
			return p
		}
	}
}

// playOn plays one of the moves that do not end the game, if possible one after which
// no reply does.
func playOn(p game.Position, rng *rand.Rand, legal []game.Move) bool {
	for _, quiet := range []bool{true, false} {
		for _, i := range rng.Perm(len(legal)) {
			if p.Play(legal[i]) != nil {
				continue
			}
			if !p.Outcome().Over() && !(quiet && canEnd(p)) {
				return true
			}
			p.Undo()
		}
	}
	return false
}

// canEnd reports whether a move ends the game.
func canEnd(p game.Position) bool {
	for _, m := range p.Legal(nil) {
		if p.Play(m) == nil {
			over := p.Outcome().Over()
			p.Undo()
			if over {
				return true
			}
		}
	}
	return false
}

// freeSquares counts the squares that are neither occupied nor shot at.
func freeSquares(p game.Position) (n int) {
	run := 0
	for _, c := range p.String() {
		switch {
		case c >= '0' && c <= '9':
			run = 10*run + int(c-'0')
			continue
		case c == ' ':
			return n + run
		}
		n, run = n+run, 0
	}
	return n + run
}

// Small positions are solved, and as minimax solves them.
func TestSolvesAsMinimaxDoes(t *testing.T) {
	for _, c := range []struct {
		name, rules, start string
		free, positions    int
		adapt              func(game.Position) (search.Position, error)
		params             search.Params
	}{
		{"amazons 4x4", "amazons/4x4", "1q2/4/4/2Q1 w", 7, 30, amazons.New, amazons.Params()},
		{"amazons 5x5", "amazons/5x5", "1q1q1/5/5/5/1Q1Q1 w", 7, 30, amazons.New, amazons.Params()},
		{"gomoku", "gomoku/freestyle-15", "", 3, 8, gomoku.Adapter().New, gomoku.Params()},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(4, 4))
			results := map[int]int{}
			c.params.ProveRoot = 0 // the tree is to prove it
			for range c.positions {
				p := late(t, rng, c.params.Game, c.rules, c.start, c.free)
				pos, err := c.adapt(p)
				if err != nil {
					t.Fatal(err)
				}
				want := sign(searchtest.Minimax(pos, c.params, c.free+1))
				r := New(c.params, 1<<22).NewGame(GameOptions{}).Start(pos, search.Limits{Nodes: 200_000}, nil).Wait()
				if got := sign(r.Score); got != want || r.Nodes == 200_000 {
					t.Errorf("%s: %+v, minimax says %d", p, r, want)
				}
				if err := p.Play(r.Move); err != nil {
					t.Errorf("%s: %v", p, err)
				}
				results[want]++
			}
			if len(results) < 2 {
				t.Errorf("all results are the same: %v", results)
			}
		})
	}
}

func sign(s search.Score) int {
	switch {
	case s >= search.WinBound:
		return 1
	case s <= -search.WinBound:
		return -1
	}
	return 0
}

// opening returns the start position of Amazons on 8x8.
func opening(t testing.TB) search.Position {
	t.Helper()
	p, err := catalog.Setup("amazons", "amazons/8x8", "")
	if err != nil {
		t.Fatal(err)
	}
	pos, err := amazons.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return pos
}

// Visits allocate nothing once the tree has its memory, even while it gives parts
// back.
func TestVisitsDoNotAllocate(t *testing.T) {
	pos := opening(t)
	opened := New(amazons.Params(), 0).NewGame(GameOptions{})
	var w *worker
	opened.queue.Start(search.Limits{}, nil, func(s *search.Search) search.Result {
		tr := opened.tree
		tr.store.open(tr)
		tr.begin(pos, s.Limits())
		w = newWorker(opened.searcher, s, tr, pos, 0)
		w.pos.Enter()
		visit := func() {
			if !w.visit() {
				t.Error("nothing is left to visit")
			}
			if tr.full.Load() {
				tr.makeRoom(time.Time{})
			}
		}
		for range 5000 {
			visit()
		}
		before := tr.compactions
		if n := testing.AllocsPerRun(5000, visit); n > 0 {
			t.Errorf("%v allocations a visit", n)
		}
		if tr.compactions == before {
			t.Error("nothing was given back")
		}
		return search.Result{}
	}).Wait()
}

// Two threads visit the tree at the same time and lose none of their visits.
func TestTwoThreads(t *testing.T) {
	pos := opening(t)
	opened := New(amazons.Params(), 1<<20).NewGame(GameOptions{})
	for range 3 {
		s := opened.Start(pos, search.Limits{Threads: 2, Wait: true}, nil)
		s.PonderHit(search.Limits{Nodes: 5000})
		if r := s.Wait(); r.Nodes > 5000 || r.Move == game.NoMove {
			t.Errorf("%+v", r)
		}
		opened.tree.check(t)
		root := opened.tree.at(opened.tree.root)
		sum := 0
		for i, left := root.first.firstNode(), root.children(); left > 0; i, left = opened.tree.after(i), left-1 {
			sum += int(opened.tree.at(i).visits)
		}
		// Each child was evaluated once. Each visit to the root goes to one of them,
		// except its own evaluation and maybe the visit that opened the first.
		if went := sum - root.children(); went != int(root.visits)-1 && went != int(root.visits)-2 {
			t.Errorf("%d visits to %d children, %d to the root", sum, root.children(), root.visits)
		}
	}
}

func BenchmarkVisits(b *testing.B) {
	pos := opening(b)
	opened := New(amazons.Params(), 64<<20).NewGame(GameOptions{Fresh: true})
	for b.Loop() {
		r := opened.Start(pos, search.Limits{Nodes: 20_000}, nil).Wait()
		b.ReportMetric(float64(r.Nodes)/r.Time.Seconds(), "nodes/s")
	}
}
