package view_test

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/screen/view"
)

// replay plays moves from a position.
func replay(t testing.TB, rules, position string, moves ...string) game.Position {
	t.Helper()
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := game.Replay(r, position, moves)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func of(t testing.TB, p game.Position) *view.View {
	t.Helper()
	v, err := view.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sizes returns the bytes of a view as JSON, and after DEFLATE.
func sizes(t testing.TB, v *view.View) (plain, compressed int) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(text), out.Len()
}

// costly are the positions whose views cost most.
var costly = []struct {
	name, rules, position string
	cycle                 []string
	times                 int
}{
	{"amazons opening", "amazons/10x10", "", nil, 0},
	{"xiangqi opening", "xiangqi/wxf", "", nil, 0},
	{"xiangqi, 300 plies", "xiangqi/wxf+limit=none+repetition=none", "", []string{"b2e2", "b7e7", "e2b2", "e7b7"}, 75},
	{"xiangqi, a chase judged by cxa", "xiangqi/cxa", "9/9/3k5/6cR1/9/9/9/4K4/9/9 w", []string{"h6h1", "g6g1", "h1h6", "g1g6"}, 2},
	{"xiangqi, a repetition of all pieces judged by cxa", "xiangqi/cxa", "r1bakab1r/9/1cn2cn2/p1p1p1p1p/9/9/P1P1P1P1P/1CN2CN2/9/R1BAKAB1R w", []string{"f2f6", "b7b3", "f6f2", "b3b7"}, 2},
	{"gomoku opening", "gomoku/freestyle-15", "", nil, 0},
	{"gomoku 20", "gomoku/freestyle-20", "", nil, 0},
	{"renju", "gomoku/renju-15", "15/15/4x9x/3oxo1x7/6oo7/3xox1x1ox4/6oxxox4/5xoxoxo4/5oxoxo5/4x2xox5/6oo2x4/5o9/15/15/15 b", nil, 0},
}

func BenchmarkOf(b *testing.B) {
	for _, c := range costly {
		b.Run(c.name, func(b *testing.B) {
			var moves []string
			for range c.times {
				moves = append(moves, c.cycle...)
			}
			if c.times == 2 {
				moves = moves[:len(moves)-1]
			}
			p := replay(b, c.rules, c.position, moves...)
			plain, compressed := sizes(b, of(b, p))
			for b.Loop() {
				of(b, p)
			}
			b.ReportMetric(float64(plain), "B/json")
			b.ReportMetric(float64(compressed), "B/deflate")
		})
	}
}
