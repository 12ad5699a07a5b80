package amazons

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sparring/game"
	rules "sparring/game/amazons"
	"sparring/game/gametest"
)

// TestShippedWeights reads the files that the engine plays with: an invalid one would
// stop the program when Amazons is first played.
func TestShippedWeights(t *testing.T) {
	for i, board := range learntBoards {
		w := shipped[i]()
		if w.stages == initialWeights().stages {
			t.Errorf("%s: nothing was learnt", board)
		}
	}
}

func TestRefusesWeights(t *testing.T) {
	const good = `{"rules":"8x8","scale":300,"outcomes":{"edge":3,"scale":300},"weights":{"12%.queen.1.never":-32,"60%.tempo":7}}`
	board := learntBoard{8, 8}
	w, err := readWeights([]byte(good), board)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := w.stages[1][unreached], w.stages[5][tempoAt]; a != -32 || b != 7 || w.model.Scale != 300 {
		t.Errorf("weights %d, %d, model %+v", a, b, w.model)
	}
	for _, tt := range []struct{ from, to, want string }{
		{good, "", "unexpected end"},
		{`7}}`, "7", "unexpected end"},
		{`7}}`, "", "unexpected end"},
		{"8x8", "10x10", `for "10x10" rules, want 8x8`},
		{`"rules":"8x8",`, "", `for "" rules, want 8x8`},
		{"12%.queen", "13%.queen", `no weight "13%.queen.1.never"`},
		{"queen.1.never", "own.code.one", `no weight "12%.own.code.one"`}, // Gomoku's
		{"-32", "-32001", "12%.queen.1.never is -32001: want 32000 at most"},
		{":7", ":2147483648", "cannot unmarshal number 2147483648"},
		{":7", ":0.5", "cannot unmarshal number 0.5"},
		{`"scale":300,"outcomes"`, `"outcomes"`, "scale 0"},
		{`"scale":300,"outcomes"`, `"scale":49,"outcomes"`, "scale 49: want 50 or more"},
		{`"scale":300,"outcomes"`, `"scale":1e300,"outcomes"`, "scale 1e+300"},
	} {
		text := strings.Replace(good, tt.from, tt.to, 1)
		if text == good {
			t.Fatalf("%s is not in the file", tt.from)
		}
		if _, err := readWeights([]byte(text), board); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", text, err, tt.want)
		}
	}
	if _, err := NewLinear("6x6"); err == nil || !strings.Contains(err.Error(), `rules "6x6": want one of 10x10, 8x8`) {
		t.Errorf("a size without weights: %v", err)
	}
}

// TestWeightNames: names are unique, and there is one for each weight.
func TestWeightNames(t *testing.T) {
	var names []string
	cells := map[*int32]bool{}
	for _, p := range new(weights).parameters() {
		names = append(names, p.Name)
		cells[p.Value] = true
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != learntStages*counted || len(cells) != learntStages*counted {
		t.Errorf("%d names of %d weights, want %d", len(names), len(cells), learntStages*counted)
	}
}

// TestNearestBoard: a size without weights of its own takes those of the nearest.
func TestNearestBoard(t *testing.T) {
	for _, c := range []struct {
		squares int
		want    string
	}{{100, "10x10"}, {64, "8x8"}, {36, "8x8"}, {1, "8x8"}, {81, "10x10"}, {79, "8x8"}, {128, "10x10"}} {
		if got := learntBoards[nearestBoard(c.squares)].String(); got != c.want {
			t.Errorf("%d squares: %s, want %s", c.squares, got, c.want)
		}
	}
}

// evaluateWith gives a position weights of the test's choice, of the scale that the
// kernel has.
func (p *position) evaluateWith(w *weights) {
	w.model.Scale = winScale
	p.evaluateBy(&learnt)
	p.tables = w.tables(p.squaresToFill)
}

// TestFormula1IsASpecialCase: with the weights of a row of the paper's table 1, or of
// its fixed weights, the learnt evaluation is formula (1). Only squares further away
// than the classes tell apart can make a difference.
func TestFormula1IsASpecialCase(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	compared := 0
	for _, row := range append(slices.Clone(stages), constantWeights...) {
		w := new(weights)
		for i := range w.stages {
			w.stages[i] = formula1Weights(&row)
		}
		for _, start := range positions(t) {
			for range 10 {
				g := start.Clone()
				gametest.Stroll(t, rng, g, rng.IntN(60))
				p := adapt(t, g)
				p.evaluateWith(w)
				far := farSquares(g)
				if far == 0 {
					compared++
				}
				t1, t2, p1, p2, m := literal(g)
				want := (float64(row.t1)*t1 + float64(row.t2)*t2 + float64(row.p1)*p1 + float64(row.p2)*p2 + float64(row.m)*m) / 100
				if got := float64(learnt.value(p)) / square; math.Abs(got-want) > 0.05+1.3*float64(far) {
					t.Fatalf("%s, row %+v: %.3f, formula (1) gives %.3f; %d squares are too far", g, row, got, want, far)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d positions without squares that are too far", compared)
	}
}

// farSquares returns how many squares have distances that share a class with others.
func farSquares(g game.Position) (far int) {
	b := g.(*rules.Position).Board()
	cols, rows := b.Size()
	var all [][]float64
	for side := range 2 {
		all = append(all, distances(&b, game.Seat(side), cols, rows, true), distances(&b, game.Seat(side), cols, rows, false))
	}
	for s := range cols * rows {
		if slices.ContainsFunc(all, func(d []float64) bool { return d[s] > more && !math.IsInf(d[s], 1) }) {
			far++
		}
	}
	return far
}

// TestLinearIsTheEvaluation: the sum of coefficients times weights is what the engine
// evaluates with, for random weights, positions and both sizes. So it does not matter
// either whether a board has one word or two.
func TestLinearIsTheEvaluation(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, board := range learntBoards {
		l, err := NewLinear(board.String())
		if err != nil {
			t.Fatal(err)
		}
		r, err := rules.Game().Rules("amazons/" + board.String())
		if err != nil {
			t.Fatal(err)
		}
		w := new(weights)
		parameters := w.parameters()
		if len(parameters) != len(l.Names()) {
			t.Fatalf("%d names for %d weights", len(l.Names()), len(parameters))
		}
		for _, p := range parameters {
			*p.Value = int32(rng.IntN(201) - 100)
		}
		room := make([]float64, len(parameters))
		compared := 0
		for range 60 {
			g, err := r.New("")
			if err != nil {
				t.Fatal(err)
			}
			gametest.Stroll(t, rng, g, rng.IntN(board.cols*board.rows-20))
			_, quiet, err := l.Coefficients(g, room)
			if err != nil {
				t.Fatal(err)
			}
			if !quiet {
				continue
			}
			compared++
			want := 0.0
			for i, p := range parameters {
				want += room[i] * float64(*p.Value)
			}
			p := adapt(t, g)
			p.evaluateWith(w)
			// Each number is rounded twice: between stages, and between numbers of moves.
			if got := float64(p.Eval()); math.Abs(got-want) > 10 {
				t.Fatalf("%s: %.0f, the coefficients give %.2f", g, got, want)
			}
		}
		if compared < 20 {
			t.Errorf("%s: only %d positions compared", board, compared)
		}
	}
}

// TestDefects: only amazons that are alone in a small area have their defects counted.
func TestDefects(t *testing.T) {
	for _, c := range []struct {
		position string
		want     int32
	}{
		{"1*1*q1/*Q**2/***3/6/6/6 w", 1}, // the amazon can't come back for the other square
		{"1Q1*q1/****2/6/6/6/6 w", 0},    // both squares can be filled
		{"1*1*q1/QQ**2/***3/6/6/6 w", 0}, // two amazons: not known
		{"1*1*2/qQ**2/***3/6/6/6 w", 0},  // an amazon of the other side
		{"6/1Q3*/4*1/3*2/2*2q/1*3* w", 0},
	} {
		p := adapt(t, setup(t, c.position))
		if got := p.defects(p.board.Amazons(game.First)); got != c.want {
			t.Errorf("%s: %d squares that can't be filled, want %d", c.position, got, c.want)
		}
	}
}

// TestLinearRefuses: other sizes and games have no place in a fit.
func TestLinearRefuses(t *testing.T) {
	l, err := NewLinear("10x10")
	if err != nil {
		t.Fatal(err)
	}
	room := make([]float64, len(l.Names()))
	if _, _, err := l.Coefficients(setup(t, bench8x8[0]), room); err == nil || !strings.Contains(err.Error(), "a game on 8x8, want 10x10") {
		t.Errorf("a game on 8x8: %v", err)
	}
	if _, _, err := l.Coefficients(nil, room); err == nil {
		t.Error("no error for a position of another game")
	}
}

// TestSumsStayInRange: with the greatest weights that a file may have, evaluations keep
// the sign of the weights on every size and stay within the kernel's range.
func TestSumsStayInRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for _, v := range []int32{maxWeight, -maxWeight} {
		w := new(weights)
		for _, p := range w.parameters() {
			*p.Value = v
		}
		eachSize(func(cols, rows int) {
			if cols*rows < 2 {
				return
			}
			p := adapt(t, setup(t, randomBoard(rng, cols, rows)))
			p.evaluateBy(&learnt)
			w.model.Scale = minScale
			p.tables = w.tables(p.squaresToFill)
			if got := p.Eval(); (got > 0) != (v > 0) {
				t.Errorf("%dx%d: %d with all weights %d", cols, rows, got, v)
			}
		})
	}
}

// TestStageAt: the weights of a stage hold where it begins, those of the last one to
// the end.
func TestStageAt(t *testing.T) {
	for _, c := range []struct {
		arrows, squares int
		want            string
	}{{0, 100, "0+0.00"}, {6, 100, "0+0.50"}, {12, 100, "1+0.00"}, {59, 100, "4+0.92"}, {60, 100, "4+1.00"}, {100, 100, "4+1.00"}, {0, 0, "0+0.00"}, {7, 50, "1+0.17"}} {
		stage, next := stageAt(c.arrows, c.squares)
		if got := fmt.Sprintf("%d+%.2f", stage, next); got != c.want {
			t.Errorf("%d of %d squares: stage %s, want %s", c.arrows, c.squares, got, c.want)
		}
	}
}
