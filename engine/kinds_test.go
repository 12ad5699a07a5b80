package engine

import (
	"testing"

	"sparring/game/catalog"
)

// TestKindsOfMoves: each game says what sort of move a move is.
func TestKindsOfMoves(t *testing.T) {
	for _, c := range []struct{ rules, position, move, want string }{
		{"xiangqi/wxf", "", "h2e2", "quiet"},
		{"xiangqi/wxf", "", "h2h9", "capture"},
		{"xiangqi/wxf", "3k5/9/9/9/9/9/9/9/4R4/4K4 w", "e1d1", "check"},
		{"xiangqi/wxf", "3k5/9/9/9/9/9/9/9/3R5/5K3 b", "d9e9", "answer to check"},
		{"gomoku/freestyle-15", "", "h8", "quiet"},
		{"gomoku/freestyle-15", "15/15/15/15/15/15/15/6xxxx5/15/15/15/15/15/15/ooo12 b", "k8", "five"},
		{"gomoku/freestyle-15", "15/15/15/15/15/15/15/6xxx6/15/15/15/15/15/15/oo13 b", "k8", "four"},
		{"gomoku/freestyle-15", "15/15/15/15/15/15/15/6xxx6/15/15/15/15/15/15/oo13 w", "j8", "defence"},
		{"gomoku/freestyle-15", "15/15/15/15/15/15/15/6xx7/15/15/15/15/15/15/oo13 b", "i8", "three"},
		{"amazons/10x10", "", "d1d7/e7", "quiet"},
		{"amazons/10x10", "", "d1d7/d9", "arrow at an opponent"},
		{"amazons/6x6", "1*4/**3q/6/6/6/Q5 w", "a1a4/a1", "quiet"},
		{"amazons/6x6", "Q1*3/***3/6/6/6/5q w", "a6b6/a6", "fill"},
		{"amazons/6x6", "1*4/1*3q/Q*4/6/**4/6 w", "a4a5/a4", "into a smaller area"},
	} {
		r, err := catalog.Rules(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.New(c.position)
		if err != nil {
			t.Errorf("%s: %v", c.position, err)
			continue
		}
		m, err := p.Parse(c.move)
		if err != nil {
			if c.want != "" {
				t.Errorf("%s %s: %v", c.position, c.move, err)
			}
			continue
		}
		a, err := Adapter(r.Game)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Kind(p, m); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.position, c.move, got, c.want)
		}
	}
}
