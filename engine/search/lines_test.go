package search_test

import (
	"testing"

	"sparring/engine/search"
	"sparring/game"
)

// TestLines: lines are kept by complete iterations, best first, and a score outside
// of its window counts for nothing.
func TestLines(t *testing.T) {
	line := func(depth, n int, score search.Score, m game.Move) search.Info {
		return search.Info{Depth: depth, Line: n, Score: score, Bound: search.Exact, PV: []game.Move{m}}
	}
	bound := line(3, 1, 900, 9)
	bound.Bound = search.Lower
	none := line(3, 1, 5, 9)
	none.PV = nil
	l := search.NewLines(2)
	for _, step := range []struct {
		report search.Info
		fresh  bool
		best   game.Move // of the lines, 0: there are none
		depth  int
	}{
		{line(1, 2, 7, 4), false, 0, 0}, // of an iteration whose beginning was not seen
		{line(1, 1, 10, 1), false, 0, 0},
		{line(1, 2, 20, 2), true, 2, 1}, // a later line is better
		{line(2, 1, 30, 1), false, 2, 1},
		{bound, false, 2, 1},
		{none, false, 2, 1},
		{line(2, 2, 25, 3), true, 1, 2},
		{line(2, 3, 24, 5), false, 1, 2}, // more than was asked for
		{line(3, 1, 50, 6), false, 1, 2},
	} {
		l.Watch(step.report)
		lines, fresh := l.Latest()
		if fresh != step.fresh || (step.best == 0) != (len(lines) == 0) {
			t.Fatalf("after %+v: %+v, fresh %v", step.report, lines, fresh)
		}
		if len(lines) > 0 && (len(lines) != 2 || lines[0].PV[0] != step.best || lines[0].Depth != step.depth || lines[0].Score < lines[1].Score) {
			t.Errorf("after %+v: %+v", step.report, lines)
		}
	}
	if lines, scored := l.Final(search.Result{PV: []game.Move{6}}); !scored || len(lines) != 2 || lines[0].Depth != 2 {
		t.Errorf("an iteration that was not finished counts: %+v", lines)
	}
	if lines, scored := search.NewLines(1).Final(search.Result{}); scored || len(lines) != 0 {
		t.Errorf("a search without a move has %+v", lines)
	}
	if lines, scored := search.NewLines(1).Final(search.Result{PV: []game.Move{6}, WinProb: 0.5}); scored || len(lines) != 1 || lines[0].PV[0] != 6 {
		t.Errorf("a search without a report has %+v, scored %v", lines, scored)
	}
	silent := search.NewLines(1)
	silent.Watch(none) // as from a Gomocup engine
	if lines, scored := silent.Final(search.Result{PV: []game.Move{6}, Score: 5}); !scored || len(lines) != 1 || lines[0].Score != 5 {
		t.Errorf("a search with a score and no line has %+v, scored %v", lines, scored)
	}
}

// TestFewerLines: a position with fewer moves than lines has complete iterations too.
func TestFewerLines(t *testing.T) {
	l := search.NewLines(3)
	for depth := 1; depth <= 2; depth++ {
		for n := 1; n <= 2; n++ {
			l.Watch(search.Info{Depth: depth, Line: n, Bound: search.Exact, PV: []game.Move{game.Move(n)}})
		}
	}
	if lines, _ := l.Latest(); len(lines) != 2 || lines[0].Depth != 1 {
		t.Errorf("while the second iteration may go on: %+v", lines)
	}
	if lines, _ := l.Final(search.Result{}); len(lines) != 2 || lines[0].Depth != 2 {
		t.Errorf("at the end: %+v", lines)
	}
}
