package amazons

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	rules "sparring/game/amazons"
	"sparring/game/gametest"
)

// positions returns those of the rules' perft table.
func positions(t testing.TB) []game.Position {
	t.Helper()
	f, err := os.Open("../../game/amazons/testdata/perft.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []game.Position
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Split(lines.Text(), "\t")
		if len(field) < 2 || seen[field[1]] {
			continue
		}
		seen[field[1]] = true
		out = append(out, setup(t, field[1]))
	}
	if len(out) < 8 {
		t.Fatalf("only %d positions", len(out))
	}
	return out
}

func setup(t testing.TB, text string) game.Position {
	t.Helper()
	g := rules.Game()
	name, err := g.RulesFor(text)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func adapt(t testing.TB, p game.Position) *position {
	t.Helper()
	q, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return q.(*position)
}

func TestConform(t *testing.T) {
	starts := positions(t)
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range starts { // big boards are slow to compare move by move: begin later
		gametest.Stroll(t, rng, starts[i], starts[i].(*rules.Position).Ply()+i*2)
	}
	searchtest.Conform(t, searchtest.Subject{
		New: New, Params: Params(), Starts: starts, Walks: len(starts), Plies: 12, Seed: 1,
	})
}

func TestNewRefusesOtherGames(t *testing.T) {
	if _, err := New(nil); err == nil {
		t.Error("no error for a position that is not of amazons")
	}
}

// literal returns the paper's formulas (2) to (5) word for word, square by square,
// in squares. Distances are found by breadth first search on coordinates.
func literal(p game.Position) (t1, t2, p1, p2, m float64) {
	b := p.(*rules.Position).Board()
	cols, rows := b.Size()
	k := 0.2
	if b.Turn() == game.Second {
		k = -k
	}
	var queen, king [2][]float64
	for side := range queen {
		queen[side] = distances(&b, game.Seat(side), cols, rows, true)
		king[side] = distances(&b, game.Seat(side), cols, rows, false)
	}
	delta := func(d1, d2 float64) float64 {
		switch {
		case math.IsInf(d1, 1) && math.IsInf(d2, 1):
			return 0
		case d1 == d2:
			return k
		case d1 < d2:
			return 1
		}
		return -1
	}
	for s := range cols * rows {
		if !b.Free().Has(rules.Square(s)) {
			continue
		}
		t1 += delta(queen[0][s], queen[1][s])
		t2 += delta(king[0][s], king[1][s])
		p1 += 2 * (math.Pow(2, -queen[0][s]) - math.Pow(2, -queen[1][s]))
		if !math.IsInf(king[0][s], 1) || !math.IsInf(king[1][s], 1) {
			p2 += min(1, max(-1, (king[1][s]-king[0][s])/6))
		}
	}
	for side, sign := range []float64{1, -1} {
		least := math.Inf(1)
		for own := b.Amazons(game.Seat(side)); !own.Empty(); {
			n := 0.0
			for _, d := range distancesFrom(&b, []int{int(own.Pop())}, cols, rows, true) {
				if d == 1 {
					n++
				}
			}
			m += sign * n
			least = min(least, n)
		}
		m += sign * least
	}
	return t1, t2, p1, p2, m
}

func distances(b *rules.Board, s game.Seat, cols, rows int, queen bool) []float64 {
	var from []int
	for own := b.Amazons(s); !own.Empty(); {
		from = append(from, int(own.Pop()))
	}
	return distancesFrom(b, from, cols, rows, queen)
}

func distancesFrom(b *rules.Board, queue []int, cols, rows int, queen bool) []float64 {
	dist := make([]float64, cols*rows)
	for i := range dist {
		dist[i] = math.Inf(1)
	}
	at := map[int]float64{}
	for _, s := range queue {
		at[s] = 0
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, d := range directions {
			for col, row := s%cols+d[0], s/cols+d[1]; col >= 0 && col < cols && row >= 0 && row < rows; col, row = col+d[0], row+d[1] {
				next := row*cols + col
				if !b.Free().Has(rules.Square(next)) {
					break
				}
				if math.IsInf(dist[next], 1) {
					dist[next] = at[s] + 1
					at[next] = dist[next]
					queue = append(queue, next)
				}
				if !queen {
					break
				}
			}
		}
	}
	return dist
}

// TestTermsAreTheFormulas compares the terms, computed on sets of squares, with the
// paper's formulas.
func TestTermsAreTheFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, start := range positions(t) {
		for range 15 {
			g := start.Clone()
			gametest.Stroll(t, rng, g, rng.IntN(60))
			checkTerms(t, g)
		}
	}
}

// TestTermsOnEverySize does so on random boards of every size.
func TestTermsOnEverySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	eachSize(func(cols, rows int) {
		if cols*rows > 1 {
			checkTerms(t, setup(t, randomBoard(rng, cols, rows)))
			checkTerms(t, setup(t, randomBoard(rng, cols, rows)))
		}
	})
}

// randomBoard returns the text of a board with amazons of both sides, at least one
// each, and more or fewer arrows.
func randomBoard(rng *rand.Rand, cols, rows int) string {
	cells := make([]string, cols*rows)
	arrows := rng.IntN(60)
	for i := range cells {
		switch n := rng.IntN(100); {
		case n < 4:
			cells[i] = "Q"
		case n < 8:
			cells[i] = "q"
		case n < 8+arrows:
			cells[i] = "*"
		default:
			cells[i] = "."
		}
	}
	two := rng.Perm(len(cells))
	cells[two[0]], cells[two[1]] = "Q", "q"
	return boardText(cells, cols) + []string{" w", " b"}[rng.IntN(2)]
}

// boardText writes the cells of a board, "." for free ones, as in a position's text.
func boardText(cells []string, cols int) string {
	var rows []string
	for row := range slices.Chunk(cells, cols) {
		text := strings.Join(row, "")
		for n := cols; n > 0; n-- { // the longest runs first
			text = strings.ReplaceAll(text, strings.Repeat(".", n), strconv.Itoa(n))
		}
		rows = append(rows, text)
	}
	return strings.Join(rows, "/")
}

// checkTerms compares the terms of a position with the paper's formulas.
func checkTerms(t *testing.T, g game.Position) {
	t.Helper()
	p := adapt(t, g)
	got := p.terms()
	t1, t2, p1, p2, m := literal(g)
	for _, c := range []struct {
		name      string
		got       int
		want, tol float64
	}{
		{"t1", got.t1, t1, 0.001},
		{"t2", got.t2, t2, 0.001},
		{"p1", got.p1, p1, 0.2}, // each round of distances is rounded down
		{"p2", got.p2, p2, 0.011},
		{"m", square * p.mobility(), m, 0.001},
	} {
		if math.Abs(float64(c.got)/square-c.want) > c.tol {
			t.Fatalf("%s: %s is %d hundredths, the formula gives %.3f", g, c.name, c.got, c.want)
		}
	}
}

// TestStages checks that the stages begin where the paper says on the 10x10 board.
func TestStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	g := setup(t, "")
	for ply := range 70 {
		want := 0
		if ply+1 > 20 {
			want = 1
		}
		if ply+1 >= 50 {
			want = 2
		}
		p := adapt(t, g)
		p.evaluateBy(&staged)
		if got := p.stage(); got != &stages[want] {
			t.Fatalf("before move %d: stage %+v, want %+v", ply+1, *got, stages[want])
		}
		if len(g.Legal(nil)) == 0 {
			break
		}
		gametest.Stroll(t, rng, g, 1)
	}
}

// TestEvalIsSymmetric: exchanging the colours changes the sign of the evaluation,
// so it is the same for the side to move.
func TestEvalIsSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	swap := strings.NewReplacer("Q", "q", "q", "Q", " w", " b", " b", " w")
	for _, start := range positions(t) {
		for range 10 {
			g := start.Clone()
			gametest.Stroll(t, rng, g, rng.IntN(40))
			other := setup(t, swap.Replace(g.String()))
			a, b := adapt(t, g), adapt(t, other)
			if a.Eval() != b.Eval() {
				t.Fatalf("%s: %d, with colours swapped %d", g, a.Eval(), b.Eval())
			}
		}
	}
}

// TestKeyAfter compares the predicted key with that of every next position.
func TestKeyAfter(t *testing.T) {
	p := adapt(t, setup(t, bench8x8[6]))
	moves := setup(t, bench8x8[6]).Legal(nil)
	if len(moves) < 20 {
		t.Fatalf("only %d moves", len(moves))
	}
	for _, m := range moves {
		want := p.KeyAfter(m)
		p.Do(m)
		if got := p.Enter().SearchKey; got != want {
			t.Fatalf("KeyAfter is %x, the key then %x", want, got)
		}
		p.Undo(m)
	}
}

// TestNothingIsAllocated goes down a line twice. The second time, when all buffers have
// their sizes, nothing may be allocated.
func TestNothingIsAllocated(t *testing.T) {
	for _, text := range []string{bench.Positions[3], bench8x8[3]} {
		p := adapt(t, setup(t, text))
		var buf []search.ScoredMove
		down := func() {
			var line [8]game.Move
			for i := range line {
				p.Enter()
				p.Eval()
				c := search.Cursor{}
				buf = p.Moves(buf, &c)
				line[i] = buf[len(buf)/2].Move
				for len(buf) > 0 {
					buf = p.Moves(buf, &c)
				}
				if _, ok := p.Find(line[i]); !ok {
					t.Fatalf("a move is not found at ply %d", i)
				}
				p.Do(line[i])
			}
			for i := len(line) - 1; i >= 0; i-- {
				p.Undo(line[i])
			}
		}
		if n := testing.AllocsPerRun(5, down); n > 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}
