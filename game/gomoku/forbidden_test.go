package gomoku

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sparring/game"
)

// forbiddenCase is a record of a forbidden-point file: a position of Renju,
// Black to move, with all its forbidden points. These files count rows from
// the top; here they count from the bottom.
type forbiddenCase struct {
	name      string
	position  string
	forbidden map[string]game.ForbiddenKind
	legal     []string
}

func forbiddenCases(t testing.TB, file string) (cases []forbiddenCase) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]game.ForbiddenKind{"3": game.DoubleThree, "4": game.DoubleFour, "6": game.Overline}
	for record := range strings.SplitSeq(string(data), "\n\n") {
		c := forbiddenCase{forbidden: map[string]game.ForbiddenKind{}}
		var rows []string
		for line := range strings.Lines(record) {
			line = strings.TrimRight(line, "\n")
			head, rest, _ := strings.Cut(line, " ")
			switch {
			case head == "id":
				c.name = rest
			case head == "forbidden:" && rest != "none":
				for field := range strings.FieldsSeq(rest) {
					point, kind, _ := strings.Cut(field, ":")
					c.forbidden[turned(t, point)] = kinds[kind]
				}
			case head == "legal:":
				for point := range strings.FieldsSeq(rest) {
					c.legal = append(c.legal, turned(t, point))
				}
			case len(line) == 15 && strings.Trim(line, "XO.") == "":
				rows = append(rows, line)
			}
		}
		if c.name == "" {
			continue
		}
		c.position = positionText(rows)
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no records", file)
	}
	return cases
}

// positionText turns a drawing, Black to move, into a position's text.
func positionText(rows []string) string {
	text := strings.ToLower(strings.Join(rows, "/"))
	for n := 15; n > 0; n-- {
		text = strings.ReplaceAll(text, strings.Repeat(".", n), strconv.Itoa(n))
	}
	return text + " b"
}

func turned(t testing.TB, point string) string {
	t.Helper()
	row, err := strconv.Atoi(point[1:])
	if err != nil {
		t.Fatalf("point %q: %v", point, err)
	}
	return point[:1] + strconv.Itoa(16-row)
}

func testForbidden(t *testing.T, file string) {
	points := 0
	for _, c := range forbiddenCases(t, file) {
		p := newGame(t, "gomoku/renju-15", c.position)
		before := p.String()
		got := map[string]game.ForbiddenKind{}
		for _, f := range p.Forbidden() {
			got[f.Point] = f.Kind
		}
		if fmt.Sprint(got) != fmt.Sprint(c.forbidden) {
			t.Errorf("%s: forbidden %v, want %v\n%s", c.name, got, c.forbidden, p.Diagram())
		}
		for _, point := range c.legal {
			if kind, ok := got[point]; ok {
				t.Errorf("%s: %s is %s, want legal", c.name, point, kind)
			}
		}
		if p.String() != before {
			t.Fatalf("%s: the board changed", c.name)
		}
		points += len(got)
		checkPlayed(t, p, c)
	}
	t.Logf("%d forbidden points", points)
}

// checkPlayed plays every empty point: the game must end as the map says.
func checkPlayed(t *testing.T, p *Position, c forbiddenCase) {
	t.Helper()
	for _, m := range p.Legal(nil) {
		_, want := c.forbidden[p.Format(m)]
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
		out := p.Outcome()
		if got := out == (game.Outcome{Result: game.SecondWins, Reason: game.Forbidden}); got != want {
			t.Errorf("%s: after %s outcome %v, forbidden %v", c.name, p.Format(m), out, want)
		}
		p.Undo()
	}
}

func TestForbiddenPoints(t *testing.T) { testForbidden(t, "testdata/renju-forbidden.txt") }

func TestForbiddenClauses(t *testing.T) { testForbidden(t, "testdata/renju-clauses.txt") }

func TestForbiddenPointsExternal(t *testing.T) {
	dir := os.Getenv("SPARRING_EXTERNAL_DATA")
	if dir == "" {
		t.Skip("SPARRING_EXTERNAL_DATA does not name the folder of the external test data")
	}
	testForbidden(t, filepath.Join(dir, "gomoku-renju-forbidden.txt"))
}

// TestForbiddenSymmetries checks that the map is the same under all symmetries.
func TestForbiddenSymmetries(t *testing.T) {
	for _, c := range forbiddenCases(t, "testdata/renju-forbidden.txt")[:20] {
		b := newGame(t, "gomoku/renju-15", c.position).Board()
		want := forbiddenPoints(&b)
		for s := range symmetries {
			turned := NewBoard(b.Size)
			for p := range Point(b.Points) {
				if colour, ok := b.At(p); ok {
					turned.Put(b.Symmetric(p, s), colour)
				}
			}
			var back []Point
			for _, p := range want {
				back = append(back, b.Symmetric(p, s))
			}
			slices.Sort(back)
			if got := forbiddenPoints(&turned); !slices.Equal(got, back) {
				t.Errorf("%s, symmetry %d: %v, want %v", c.name, s, got, back)
			}
		}
	}
}

func forbiddenPoints(b *Board) (list []Point) {
	set := b.ForbiddenSet()
	for p := range Point(b.Points) {
		if set[p>>6]>>(p&63)&1 != 0 {
			list = append(list, p)
		}
	}
	return list
}

// TestForbiddenSetIsPointByPoint compares the map with the verdict on each point,
// on boards of all sizes with stones up to the edges.
func TestForbiddenSetIsPointByPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for n := range 300 {
		b := NewBoard(MinSize + n%6)
		for range b.Points / 2 {
			p := Point(rng.IntN(b.Points))
			if c := Colour(rng.IntN(5) / 3); b.Empty(p) { // 3 black to 2 white
				b.Put(p, c)
			}
		}
		var want []Point
		for p := range Point(b.Points) {
			if b.Empty(p) && b.Forbidden(p) {
				want = append(want, p)
			}
		}
		if got := forbiddenPoints(&b); !slices.Equal(got, want) {
			t.Fatalf("%v, point by point %v\n%s", got, want, b.diagram(nil))
		}
	}
}

// White has no forbidden points and wins with six. Other rules have none at all.
func TestForbiddenIsBlackInRenju(t *testing.T) {
	const four4s = "15/15/15/15/7x7/7x7/7x7/4xxx8/15/15/15/15/15/15/15"
	if got := newGame(t, "gomoku/renju-15", four4s+" b").Forbidden(); len(got) != 1 || got[0] != (game.ForbiddenPoint{Point: "h8", Kind: game.DoubleFour}) {
		t.Errorf("renju: %v, want h8 double-four", got)
	}
	if got := newGame(t, "gomoku/renju-15", four4s+" w").Forbidden(); len(got) != 0 {
		t.Errorf("White to move: %v", got)
	}
	for _, rules := range []string{"freestyle", "standard", "caro"} {
		p := newGame(t, "gomoku/"+rules+"-15", four4s+" b")
		if got := p.Forbidden(); len(got) != 0 {
			t.Errorf("%s: %v", rules, got)
		}
		play(t, p, "h8")
		if p.Outcome().Over() {
			t.Errorf("%s: over after h8", rules)
		}
	}
}

// middleGames are random boards of 15, stones near the centre, neither side
// with a five.
func middleGames(n int) []Board {
	rng := rand.New(rand.NewPCG(7, 8))
	boards := make([]Board, 0, n)
	for len(boards) < n {
		b := NewBoard(15)
		for stones := 30 + rng.IntN(50); b.Stones() < stones; {
			p := b.Point(2+rng.IntN(11), 2+rng.IntN(11))
			if c := Colour(b.Stones() % 2); b.Empty(p) && b.verdict(p) == allowed {
				b.Put(p, c)
			}
		}
		boards = append(boards, b)
	}
	return boards
}

func BenchmarkForbiddenMap(b *testing.B) {
	boards := middleGames(256)
	for i := 0; b.Loop(); i++ {
		boards[i%len(boards)].ForbiddenSet()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "maps/s")
}
