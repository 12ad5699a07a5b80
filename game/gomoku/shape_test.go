package gomoku

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// line sets up row 8 of a board from a drawing whose first character is
// column a; '*' is the point asked for. A '#' can't stand on the board, so
// edges are shown by starting or ending there.
func line(t *testing.T, drawing string) (*Board, Point) {
	t.Helper()
	b := NewBoard(15)
	at := NoPoint
	for i, ch := range drawing {
		p := b.Point(i, 7)
		switch ch {
		case 'x':
			b.Put(p, Black)
		case 'o':
			b.Put(p, White)
		case '*':
			at = p
		}
	}
	if at == NoPoint {
		t.Fatalf("no * in %q", drawing)
	}
	return &b, at
}

func TestShapes(t *testing.T) {
	tests := []struct {
		drawing     string
		free, exact Kind
		cells       string // columns, under ExactFive
	}{
		{"...xx*xx...", FiveRow, FiveRow, ""},
		{"xx*xx", FiveRow, FiveRow, ""},
		{"..xxx*xx...", FiveRow, Overline, ""},
		{"..xxx*x.x..", FiveRow, FiveRow, ""},
		{"...xx*x....", StraightFour, StraightFour, "c h"},
		{"..oxx*x....", Four, Four, "h"},
		{"...xx*xo...", Four, Four, "c"},
		{"x..x*xx....", StraightFour, StraightFour, "c h"},
		{"x.x*xx.....", StraightFour, Four, "g"},
		{"x.xx*x.x...", StraightFour, Dead, ""},
		{"..x.x*x.x..", DoubleFour, DoubleFour, "d h"},
		{"xx.*x.xx...", DoubleFour, DoubleFour, "c f"},
		{"...x.*x....", OpenThree, OpenThree, "e"},
		{"...x*.x....", OpenThree, OpenThree, "f"},
		{"...xx*.....", OpenThree2, OpenThree2, "c g"},
		{"..oxx*.....", Three, Three, "g h"},
		{".oxx*......", Three, Three, "f g"},
		{"o.xx*.o....", Three, Three, "b f"},
		{"o.xx*..o...", OpenThree, OpenThree, "f"},
		{"x..xx*....", OpenThree2, OpenThree, "g"},
		{"x.xx*.....", Four, Four, "b"},
		{"oxx*o......", Dead, Dead, ""},
		{"...x*......", OpenTwo4, OpenTwo4, ""},
		{".o..x*.....", OpenTwo3, OpenTwo3, ""},
		{"..o.x*.....", OpenTwo, OpenTwo, ""},
		{"..ox*......", Two, Two, ""},
		{".....*.....", OpenOne, OpenOne, ""},
		{"...o.*...o.", One, One, ""},
		{"...o*..o...", Dead, Dead, ""},
		{"*..........", One, One, ""},
	}
	for _, tt := range tests {
		for rule, want := range []Kind{tt.free, tt.exact} {
			b, at := line(t, tt.drawing)
			s := TableOf(Line(rule)).Shape(b.Window(at, East), Black)
			if s.Kind != want {
				t.Errorf("%s rule %d: kind %v, want %v", tt.drawing, rule, s.Kind, want)
			}
		}
		if tt.cells == "" {
			continue
		}
		b, at := line(t, tt.drawing)
		var got []string
		for p := range TableOf(ExactFive).Shape(b.Window(at, East), Black).Points(b, at, East) {
			got = append(got, string(rune('a'+b.Column(p))))
		}
		if want := strings.Fields(tt.cells); len(got) != len(want) || !sameSet(got, want) {
			t.Errorf("%s: cells %v, want %v", tt.drawing, got, want)
		}
	}
}

func sameSet(a, b []string) bool {
	in := map[string]bool{}
	for _, s := range a {
		in[s] = true
	}
	for _, s := range b {
		if !in[s] {
			return false
		}
	}
	return true
}

// Under the Caro rules an end held by the other colour counts.
func TestCaroShapes(t *testing.T) {
	for _, tt := range []struct {
		drawing     string
		caro, exact Kind
	}{
		{"..oxx*xxo..", Dead, Dead},
		{"..oxx*xx...", FiveRow, FiveRow},
		{"..oxxx*xxo.", FiveRow, Overline},
		{"..oxx*x....", Four, Four},
		{"..oxx*x.o..", Dead, Dead},
		{"..o.xx*x.o.", StraightFour, StraightFour},
		{"xx*x.o.....", Four, Four},
	} {
		for rule, want := range map[Line]Kind{Caro: tt.caro, ExactCaro: tt.exact} {
			b, at := line(t, tt.drawing)
			if got := TableOf(rule).Shape(b.Window(at, East), Black).Kind; got != want {
				t.Errorf("%s rule %d: kind %v, want %v", tt.drawing, rule, got, want)
			}
		}
	}
}

// The shape of a window is the same for both colours, read backwards, and in
// every direction of the board.
func TestShapeSymmetry(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var cells [11]int // 0 empty, 1 own, 2 other
		for i := range cells {
			cells[i] = rng.IntN(3)
		}
		for rule := range lineRules {
			table := TableOf(rule)
			var kinds []Kind
			for d := range Direction(Directions) {
				for _, flip := range []int{1, -1} {
					for c := range Colour(2) {
						b := NewBoard(15)
						for i, cell := range cells {
							if p := int(b.Point(7, 7)) + flip*(i-5)*b.Step(d); i != 5 && cell > 0 {
								b.Put(Point(p), c^Colour(cell-1))
							}
						}
						kinds = append(kinds, table.Shape(b.Window(b.Point(7, 7), d), c).Kind)
					}
				}
			}
			for _, k := range kinds {
				if k != kinds[0] {
					t.Fatalf("cells %v rule %d: kinds %v differ by direction, side or colour", cells, rule, kinds)
				}
			}
		}
	}
}

// A stone's window reads border cells where the board ends, nothing of the
// next row.
func TestWindowAtEdges(t *testing.T) {
	for size := MinSize; size <= MaxSize; size++ {
		b := NewBoard(size)
		for p := range Point(b.Points) {
			for d := range Direction(Directions) {
				before, after := b.room(p, d)
				w := b.Window(p, d)
				for i := range 11 {
					cell, inside := w>>(2*i)&3, i >= 5-before && i <= 5+after
					if inside != (cell == cellEmpty) || !inside != (cell == cellBorder) {
						t.Fatalf("size %d, %s, direction %d: cell %d is %d", size, b.PointText(p), d, i, cell)
					}
				}
			}
		}
	}
}
