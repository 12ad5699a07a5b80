package amazons

import (
	"math"
	"math/rand/v2"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
	rules "sparring/game/amazons"
	"sparring/game/gametest"
)

// figure5 is the board of figure 5. The paper's text does not tell the colours.
const figure5 = "8*1/4*2*2/3Q1q4/2**1q4/4*3*1/1*Q*1*****/5*qQ*1/3Q**1*2/1*q2*4/5*4 w"

// TestFigure5 compares the older mobility with the numbers in the paper's figure 5.
func TestFigure5(t *testing.T) {
	p := adapt(t, setup(t, figure5))
	b, g := &p.board, &p.geo.slides
	neighbours := g.countNeighbours(b.Free())
	// The empty neighbours of the empty squares, from the top row.
	for i, row := range [10][10]int{
		{3, 5, 5, 4, 4, 4, 4, 3, -1, 2},
		{5, 8, 7, 6, -1, 6, 6, -1, 6, 4},
		{5, 7, 5, -1, 3, -1, 5, 7, 7, 5},
		{5, 7, -1, -1, 3, -1, 6, 7, 7, 4},
		{4, 5, 3, 3, -1, 4, 4, 4, -1, 2},
		{4, -1, -1, -1, 4, -1, -1, -1, -1, -1},
		{4, 6, 4, 4, 2, -1, -1, -1, -1, 2},
		{4, 6, 5, -1, -1, -1, 2, -1, 5, 4},
		{4, -1, -1, 5, 3, -1, 4, 7, 7, 5},
		{2, 3, 3, 4, 3, -1, 3, 5, 5, 3},
	} {
		for col, want := range row {
			s := rules.Square((9-i)*10 + col)
			got := -1
			if b.Free().Has(s) {
				got = neighbours.sum(rules.Bit(s))
			}
			if got != want {
				t.Errorf("square %c%d has %d empty neighbours, in the figure %d", 'a'+col, 10-i, got, want)
			}
		}
	}
	for _, c := range []struct {
		col, row int
		want     float64
		figure   int
	}{
		{'d', 8, 7./1 + 6./1 + 5./1 + 3./1 + 3./1 + 5./2 + 4./2 + 7./2 + 4./2 + 5./3, 35},
		{'c', 5, 33.5, 33},
		{'d', 3, 29. + 1./3, 29},
		{'c', 2, 31.5, 31},
		// The figure leaves out the squares four steps away, j8 and j7, which the
		// three steps of the method do not. So it has 41 and 35.
		{'f', 8, 41.83 + 5./4, 43},
		{'f', 7, 35.5 + 4./4, 36},
	} {
		got := float64(g.mobilityFigure5(b.Free(), &neighbours, rules.Square((c.row-1)*10+c.col-'a'))) / square
		if math.Abs(got-c.want) > 0.04 || int(got) != c.figure {
			t.Errorf("%c%d has mobility %.2f, want %.2f and the figure's %d", c.col, c.row, got, c.want, c.figure)
		}
	}
}

// TestPaperMobility: the mobility of formula (5) is the number of queen moves of a
// side and those of its least mobile amazon. On the usual board the outer
// amazons have 20 moves each, the inner ones as many.
func TestPaperMobility(t *testing.T) {
	for _, c := range []struct {
		position string
		want     int
	}{
		{"", 80 + 20},
		{"q3/4/4/Q2Q w", (2 + 3 + 2) + (3 + 2 + 2) + 7}, // up, along the diagonal, along the row
		{"q3/4/**2/Q*1Q w", 0 + (3 + 2 + 1) + 0},        // a1 is shut in
	} {
		p := adapt(t, setup(t, c.position))
		if got := p.sideMobility(game.First); got != c.want {
			t.Errorf("%q: mobility %d, want %d", c.position, got, c.want)
		}
	}
}

// TestEvaluationsAreTheFormulas compares every evaluation with its formula, computed
// square by square.
func TestEvaluationsAreTheFormulas(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, start := range positions(t) {
		for range 10 {
			g := start.Clone()
			gametest.Stroll(t, rng, g, rng.IntN(60))
			p := adapt(t, g)
			t1, t2, p1, p2, m := literal(g)
			share, older := literalProgress(g)
			sign := 1.0
			if g.Turn() == game.Second {
				sign = -1
			}
			p.evaluateBy(&staged)
			w := p.stage()
			for _, c := range []struct {
				e    *evaluation
				want float64
			}{
				{&staged, float64(w.t1)/100*t1 + float64(w.t2)/100*t2 + float64(w.p1)/100*p1 + float64(w.p2)/100*p2 + float64(w.m)/100*m},
				{&fixed, 0.41*t1 + 0.24*t2 + 0.13*p1 + 0.13*p2 + 0.08*m},
				{&lieberum, (1-share)*t1 + share/4*(t2+p1+p2+older/4)},
			} {
				p.evaluateBy(c.e)
				got := sign * float64(p.Eval()) / square
				if want := min(max(c.want, -float64(search.MaxEval)/square), float64(search.MaxEval)/square); math.Abs(got-want) > 0.1 {
					t.Fatalf("%s: %s is %.3f, the formula gives %.3f", g, c.e.name, got, want)
				}
			}
		}
	}
}

// literalProgress returns w as a share of 100 on the usual board, and the
// difference of the sides' older mobilities.
func literalProgress(g game.Position) (w, mobility float64) {
	b := g.(*rules.Position).Board()
	cols, rows := b.Size()
	white, black := distances(&b, game.First, cols, rows, true), distances(&b, game.Second, cols, rows, true)
	for s := range white {
		if b.Free().Has(rules.Square(s)) && !math.IsInf(white[s], 1) && !math.IsInf(black[s], 1) {
			w += math.Pow(2, -math.Abs(white[s]-black[s]))
		}
	}
	w *= 92 / float64(b.Free().Count()+b.Arrows().Count()) / 100
	for side, sign := range []float64{1, -1} {
		for own := b.Amazons(game.Seat(side)); !own.Empty(); {
			from := []int{int(own.Pop())}
			queen, king := distancesFrom(&b, from, cols, rows, true), distancesFrom(&b, from, cols, rows, false)
			for s, d := range queen {
				if d == 1 {
					mobility += sign * float64(b.Neighbours(rules.Bit(rules.Square(s))).Count()) / king[s]
				}
			}
		}
	}
	return min(w, 1), mobility
}

// TestEvaluationsConform checks the named evaluations against the kernel's contract.
func TestEvaluationsConform(t *testing.T) {
	starts := positions(t)[:3]
	for _, name := range Adapter().EvaluationNames() {
		t.Run(name, func(t *testing.T) {
			a, err := Adapter().WithEvaluation(name)
			if err != nil {
				t.Fatal(err)
			}
			searchtest.Conform(t, searchtest.Subject{
				New: a.New, Params: a.Params(), Starts: starts, Walks: 3, Plies: 12, Seed: 2,
			})
		})
	}
}
