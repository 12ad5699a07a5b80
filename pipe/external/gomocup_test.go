package external

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/external/faultyengine"
)

// TestGomocupMessages: what a program says about its search counts as its
// evaluation, other messages do not, and Points gives back its points.
func TestGomocupMessages(t *testing.T) {
	e := open(t, faultySpec(t, "fine"), "gomoku") // not started
	d, q := newGomocup(Spec{}, "gomoku"), newQuery(newGame(t, "gomoku/freestyle-15"))
	for line, want := range map[string]struct {
		points int
		chance float64
		depth  int
	}{
		"MESSAGE Depth 17-36 | Eval 100 | Time 974ms | H8": {100, 0.640, 17},
		"MESSAGE depth: 9-14 best:[7,8] val=-35":           {-35, 0.450, 9},
		"message eval 0":                                   {0, 0.5, 0},
		"MESSAGE depth 4-9 score 10 chance 71.5% pv h8":    {10, 0.715, 4},
	} {
		a, i := d.parseLine(q, line)
		if a != nil || i == nil {
			t.Errorf("%q: %+v, %+v", line, a, i)
			continue
		}
		score, chance := e.value(i)
		if points, err := Points("gomoku", score); err != nil || points != want.points || math.Abs(chance-want.chance) > 0.001 || i.Depth != want.depth {
			t.Errorf("%q: %d points, chance %.4f, depth %d, %v; want %+v", line, points, chance, i.Depth, err, want)
		}
	}
	for line, want := range map[string]search.Score{
		"MESSAGE Depth 9-21 | Eval +M13":  search.Win - 13,
		"MESSAGE Depth 9-21 | Eval -M8":   -search.Win + 8,
		"MESSAGE depth 2 score win in 1":  search.Win - 1,
		"MESSAGE depth 2 score loss in 0": -search.Win,
		"MESSAGE Depth 1-1 | Eval +M0":    search.Win - 1,
	} {
		_, i := d.parseLine(q, line)
		if i == nil {
			t.Errorf("%q: no score", line)
		} else if score, _ := e.value(i); score != want {
			t.Errorf("%q: score %d, want %d", line, score, want)
		}
	}
	for _, line := range []string{"MESSAGE I win !", "MESSAGE OptiTime 727ms | MaxTime 970ms", "DEBUG eval 5", "eval 5", "UNKNOWN eval 5"} {
		if a, i := d.parseLine(q, line); a != nil || i != nil {
			t.Errorf("%q: %+v, %+v", line, a, i)
		}
	}
}

// TestStonesAlternate: the stones of a position without moves are given as if they had
// been played in turn, the opponent's last.
func TestStonesAlternate(t *testing.T) {
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line  string // moves that lead to the position
		moves string // after it
		want  string // sides
	}{
		{"h8 a1 h9 b1", "", "1 2 1 2"},
		{"h8 a1 h9 b1 j9", "", "2 1 2 1 2"},
		{"h8 a1 h9 b1", "c1 d1", "1 2 1 2 1 2"},
		{"h8 a1 h9 b1", "c1", "2 1 2 1 2"},
	} {
		p, err := rules.New("")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range strings.Fields(c.line) {
			if _, err := game.PlayText(p, m); err != nil {
				t.Fatal(err)
			}
		}
		from, err := rules.New(p.String()) // without its moves
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range strings.Fields(c.moves) {
			if _, err := game.PlayText(from, m); err != nil {
				t.Fatal(err)
			}
		}
		stones, err := (&gomocupDialect{size: 15}).stones(newQuery(from))
		if err != nil {
			t.Fatal(err)
		}
		var sides []string
		for _, s := range stones {
			sides = append(sides, fmt.Sprint(int(s.Side)))
		}
		if got := strings.Join(sides, " "); got != c.want {
			t.Errorf("%s, then %s: sides %s, want %s", c.line, c.moves, got, c.want)
		}
	}
}

// TestStonesAsPlayed: the stones of a position without moves come in an order in which no
// game ends before the last, for programs that play them as moves.
func TestStonesAsPlayed(t *testing.T) {
	for _, c := range []struct{ rules, position string }{
		{"gomoku/standard-15", "15/15/3xxxxxx6/15/2o1o1o1o1o1o2/15/15/15/15/15/15/15/15/15/15 b"}, // six in a row do not win there
		{"gomoku/renju-15", "15/15/15/15/5x1o1ox4/4oo1o1ox4/5xoox6/5oo1oxo4/4x2xx6/7ox6/4x2x1x5/15/15/15/15 b"},
		{"gomoku/renju-15", "15/15/15/15/4oo3x5/7o2x4/8o1x4/8xx5/4xo1o7/4o1x8/5xo8/15/15/15/15 b"},
		{"gomoku/renju-15", "15/15/15/15/4oxx1o6/6oo2x4/4xxx3o4/7o2o4/5o9/7x7/10x4/15/15/15/15 b"},
		{"gomoku/renju-15", "15/15/15/15/6xox1x4/5ox2o5/7o1x5/6o1xxo4/7o7/4o1x1ox5/7xo6/15/15/15/15 b"},
	} {
		from, err := catalog.Setup("gomoku", c.rules, c.position)
		if err != nil {
			t.Fatal(err)
		}
		stones, err := (&gomocupDialect{size: 15}).stones(newQuery(from))
		if err != nil {
			t.Fatal(err)
		}
		p, err := catalog.Setup("gomoku", c.rules, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stones {
			if _, err := game.PlayText(p, s.Point.Move(15)); err != nil {
				t.Fatalf("%s: %v: %v", c.position, stones, err)
			}
		}
		if p.String() != from.String() {
			t.Errorf("%s, want %s", p, from)
		}
	}
}

// TestDeadStones: stones of rows that have been counted, in the start position or by a
// move after it, are given as dead ones.
func TestDeadStones(t *testing.T) {
	rules, err := catalog.Rules("gomoku/continuous-15")
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.New("15/15/15/15/15/15/15/15/15/15/15/xxxx11/oooo11/15/#####10 b rows=0:1")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"e4", "o15"} {
		if _, err := game.PlayText(p, m); err != nil {
			t.Fatal(err)
		}
	}
	stones, err := (&gomocupDialect{size: 15}).stones(newQuery(p))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range stones {
		got = append(got, fmt.Sprintf("%d,%d,%d", s.X, s.Y, s.Side))
	}
	slices.Sort(got)
	want := "0,11,3 0,12,2 0,14,3 1,11,3 1,12,2 1,14,3 14,0,2 2,11,3 2,12,2 2,14,3 3,11,3 3,12,2 3,14,3 4,11,3 4,14,3"
	if all := strings.Join(got, " "); all != want {
		t.Errorf("stones %s, want %s", all, want)
	}
}

// TestSuggestedMove: a program that suggests its moves is told to play them.
func TestSuggestedMove(t *testing.T) {
	g := play(t, openFaultyGomocup(t, faultyengine.Suggests))
	p := newGame(t, "gomoku/freestyle-15")
	for range 3 {
		r := find(t, g, p, search.Limits{Hard: time.Second})
		if r.Err != nil || len(r.Incidents) > 0 || r.Move == game.NoMove {
			t.Fatalf("%v, %q, move %v", r.Err, r.Incidents, r.Move)
		}
		playOn(t, p, r.Move)
	}
}
