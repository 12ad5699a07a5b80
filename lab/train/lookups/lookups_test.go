package lookups

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sparring/engine/gomoku"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	rules "sparring/game/gomoku"
	"sparring/lab/train/trees"
	"sparring/lab/train/tune"
	"sparring/record"
)

// randomPosition returns a position with so many random stones in the middle.
func randomPosition(t *testing.T, ruleSet string, stones int, rng *rand.Rand) *rules.Position {
	t.Helper()
	for {
		p, err := catalog.Setup(rules.Name, ruleSet, "")
		if err != nil {
			t.Fatal(err)
		}
		g := p.(*rules.Position)
		size := g.Board().Size
		side := size / 3 // of the square that the stones are in
		if stones > 20 {
			side = size - 2
		}
		for g.Ply() < stones && !g.Outcome().Over() {
			at := rules.Point(rng.IntN(side)+(size-side)/2)*rules.Point(size) + rules.Point(rng.IntN(side)+(size-side)/2)
			if b := g.Board(); b.Empty(at) {
				if err := g.Play(rules.StoneMove(at)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !g.Outcome().Over() {
			return g
		}
	}
}

// pairs counts the stones of the side to move that have a neighbour of their colour in
// a row, less those of the other side: a thing to learn.
func pairs(g *rules.Position) (n int) {
	b := g.Board()
	for y := range b.Size {
		for x := 1; x < b.Size; x++ {
			c, ok := b.At(b.Point(x, y))
			d, both := b.At(b.Point(x-1, y))
			if ok && both && c == d {
				if n++; c != g.ToMove() {
					n -= 2
				}
			}
		}
	}
	return n
}

// writeTrees writes a file of trees with random positions, four a tree.
func writeTrees(t *testing.T, ruleSet string, number int, label func(g *rules.Position) search.Score) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([][]trees.Position, number)
	for i := range all {
		for range 4 {
			g := randomPosition(t, ruleSet, 4+rng.IntN(5), rng)
			all[i] = append(all[i], trees.Position{Text: g.String(), Score: label(g), Source: search.FromSearch})
		}
	}
	return writeFile(t, ruleSet, all...)
}

// oneTree writes a file of a tree with one position.
func oneTree(t *testing.T, ruleSet, text string) string {
	t.Helper()
	return writeFile(t, ruleSet, []trees.Position{{Text: text, Source: search.FromSearch}})
}

// writeFile writes a file of trees.
func writeFile(t *testing.T, ruleSet string, all ...[]trees.Position) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trees.jsonl")
	f, err := trees.Open(path, &trees.Terms{Game: rules.Name, Build: "b"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, positions := range all {
		if err := f.Append(&trees.Tree{Number: i + 1, Rules: ruleSet, Positions: positions}); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func load(t *testing.T, class string, paths ...string) *Positions {
	t.Helper()
	p, err := Load(t.Context(), class, 4, 1, paths, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func shipped(t *testing.T, class string, g game.Position) search.Score {
	t.Helper()
	linear, err := gomoku.NewLinear(class, nil)
	if err != nil {
		t.Fatal(err)
	}
	worth, _, err := linear.Shipped(g)
	if err != nil {
		t.Fatal(err)
	}
	return worth
}

// TestFit: the network learns what the evaluation does not know, on trees that it has
// not seen; the same positions give the same file, and others or another seed do not.
func TestFit(t *testing.T) {
	path := writeTrees(t, "gomoku/freestyle-15", 300, func(g *rules.Position) search.Score {
		return shipped(t, "freestyle", g) + 400 + 400*search.Score(pairs(g))
	})
	all := load(t, "freestyle", path)
	held := 0
	for i := range all.all {
		if all.all[i].held {
			held++
		}
	}
	if all.Len()+all.Left != 1200 || all.Trees != 300 || held < all.Len()/6 || held > all.Len()/3 {
		t.Fatalf("%d positions, %d left out, %d held out", all.Len(), all.Left, held)
	}
	plan := Plan{Game: rules.Name, Rules: "freestyle", HoldOut: 4, Passes: 4, Rate: 0.1, Seed: 1}
	run := func(p Plan, all *Positions) (*Manifest, []byte) {
		last := Progress{}
		m, data, err := p.Run(t.Context(), all, nil, "b", func(now Progress) { last = now })
		if err != nil {
			t.Fatal(err)
		}
		if last.Pass != p.Passes || last.Loss == nil || *last.Loss != m.Passes[p.Passes-1] || last.Linear != m.Linear {
			t.Errorf("the progress ends with %+v", last)
		}
		return m, data
	}
	m, data := run(plan, all)
	if end := m.Passes[len(m.Passes)-1]; len(m.Passes) != 4 || end.Held > 0.7*m.Linear.Held || end.Learnt > m.Linear.Learnt/2 || m.Linear.Held < 0.01 {
		t.Errorf("errors %+v, without a network %+v", m.Passes, m.Linear)
	}
	file := filepath.Join(t.TempDir(), "network")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	read, err := ReadManifest(file)
	if err != nil || read.Plan != plan || read.Positions != all.Len() {
		t.Fatalf("manifest %+v, %v", read, err)
	}
	m2, again := run(plan, load(t, "freestyle", path))
	if !bytes.Equal(data, again) {
		t.Error("the same positions give another file")
	}
	if err := read.Same(m2, again); err != nil {
		t.Error(err)
	}
	other := plan
	other.Seed = 2
	if m, data := run(other, all); read.Same(m, data) == nil {
		t.Error("another seed gives the same numbers")
	}
	fewer := load(t, "freestyle", writeTrees(t, "gomoku/freestyle-15", 20, func(*rules.Position) search.Score { return 1 }))
	m, data = run(plan, fewer)
	if err := read.Same(m, data); err == nil || !strings.Contains(err.Error(), "other positions") {
		t.Errorf("other positions: %v", err)
	}
}

// TestValue compares with the definition: for each empty point and direction a row by
// the cells around it, read one by one; in Renju one for each colour's view.
func TestValue(t *testing.T) {
	for _, sides := range []int{1, 2} {
		rng := rand.New(rand.NewPCG(4, uint64(sides)))
		n := newNet(sides, rng)
		for i := range n.sides {
			for stage := range n.sides[i].hidden {
				n.sides[i].hidden[stage][stage].bias++ // tells the stages apart
			}
		}
		for k := range 20 {
			g := randomPosition(t, "gomoku/renju-15", 8+2*k, rng)
			b := g.Board()
			got := n.value(&pass{}, &b, g.ToMove())
			if want := naive(n, g); math.Abs(float64(got)-want) > 1e-3 {
				t.Fatalf("%d sides, %s: %f, want %f", sides, g, got, want)
			}
		}
	}
}

func naive(n *net, g *rules.Position) float64 {
	b := g.Board()
	cell := func(x, y int, view rules.Colour) uint16 {
		p := b.Point(x, y)
		if p == rules.NoPoint {
			return 3
		}
		c, ok := b.At(p)
		if !ok {
			return 0
		}
		return 1 + uint16(c^view)
	}
	var in [inputs]float64
	for half, view := range []rules.Colour{g.ToMove(), g.ToMove().Other()} {
		s := &n.sides[int(view)%len(n.sides)]
		for y := range b.Size {
			for x := range b.Size {
				if cell(x, y, view) != 0 {
					continue
				}
				var sum [width]float64
				for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
					code := uint16(0)
					for i, k := range []int{-4, -3, -2, -1, 1, 2, 3, 4} {
						code |= cell(x+k*d[0], y+k*d[1], view) << (2 * i)
					}
					for j, w := range s.rows[gomoku.CanonicalLine(code)].weight {
						sum[j] += float64(w)
					}
				}
				for j, x := range sum {
					in[half*width+j] += min(max(x, 0), 1) / 16
				}
			}
		}
	}
	out := 0.0
	stage := 0
	for _, end := range []int{16, 28, 44} {
		if g.Ply() >= end {
			stage++
		}
	}
	for _, h := range n.sides[int(g.ToMove())%len(n.sides)].hidden[stage] {
		x := float64(h.bias)
		for j, w := range h.weight {
			x += float64(w) * in[j]
		}
		out += float64(h.output) * max(x, x/8)
	}
	return out
}

// TestGradient: the first step of each weight follows the derivative of the error.
func TestGradient(t *testing.T) {
	const target, rate = 0.9, 1e-3
	for _, sides := range []int{1, 2} {
		rng := rand.New(rand.NewPCG(9, uint64(sides)))
		n := newNet(sides, rng)
		g := randomPosition(t, "gomoku/renju-15", 13, rng)
		b, v := g.Board(), &pass{}
		off := func() float64 {
			return float64(chance(n.value(v, &b, g.ToMove()))) - target
		}
		slope := func(w *float32) float64 {
			const h = 2e-3
			was := *w
			*w = was + h
			up := off()
			*w = was - h
			down := off()
			*w = was
			return (up*up - down*down) / (2 * h)
		}
		type weight struct {
			name       string
			at, square *float32
			times      float64 // steps that learn makes for a row's; 0: of the layer
		}
		own := n.layer(g.ToMove(), 0)
		var all []weight
		for i := range own {
			h := &own[i]
			all = append(all, weight{"bias", &h.bias, &h.biasSquares, 0}, weight{"output", &h.output, &h.outputSquares, 0})
			for _, j := range []int{i % width, width + i%width} {
				all = append(all, weight{"layer", &h.weight[j], &h.squares[j], 0})
			}
		}
		first := off() // fills v
		type at struct {
			side int
			code uint16
			j    int
		}
		times := map[at]float64{}
		for _, p := range v.points {
			for c := range p.codes {
				for _, code := range p.codes[c] {
					for j := range width {
						if code != 0 && p.slope[c]>>j&1 != 0 {
							times[at{c % sides, code, j}]++
						}
					}
				}
			}
		}
		for k, n2 := range times {
			r := &n.sides[k.side].rows[k.code]
			// Both views add to a weight that they share, each with its own slope.
			if sides == 2 {
				all = append(all, weight{fmt.Sprintf("row %04x", k.code), &r.weight[k.j], &r.squares[k.j], n2})
			}
		}
		slopes, before := make([]float64, len(all)), make([]float32, len(all))
		for i, w := range all {
			slopes[i], before[i] = slope(w.at), *w.at
		}
		p := chance(n.value(v, &b, g.ToMove()))
		n.learn(v, g.ToMove(), p-target, p, rate)
		checked, wrong := 0, ""
		for i, w := range all {
			// The sum of squares is times (slope/times)^2.
			square := float64(*w.square) - rowSquares
			if w.times == 0 { // of the layer
				square, w.times = float64(*w.square)-layerSquares, 1
			}
			if got := math.Sqrt(max(square, 0) * w.times); math.Abs(slopes[i]) > 3e-3 {
				checked++
				if math.Abs(got-math.Abs(slopes[i])) > 0.15*math.Abs(slopes[i]) || float64(*w.at-before[i])*slopes[i] >= 0 {
					wrong += fmt.Sprintf("\n%s: gradient %g, step %g, slope %g", w.name, got, *w.at-before[i], slopes[i])
				}
			}
		}
		// A row may cross a bend of its activation between the two measurements.
		if n := strings.Count(wrong, "\n"); n > checked/50 || checked < 50 {
			t.Errorf("%d sides: of %d weights %d are wrong:%s", sides, checked, n, wrong)
		}
		if second := off(); second*second >= first*first {
			t.Errorf("%d sides: error %g, then %g", sides, first, second)
		}
	}
}

// TestEngineAgrees: the shipped network says in the engine what its numbers say here.
func TestEngineAgrees(t *testing.T) {
	n := shippedNet(t)
	rng := rand.New(rand.NewPCG(6, 6))
	checked := 0
	for range 200 {
		g := randomPosition(t, "gomoku/freestyle-15", 5+rng.IntN(12), rng)
		a, err := gomoku.New(g)
		if err != nil {
			t.Fatal(err)
		}
		if node := a.Enter(); node.Over || node.Forced {
			continue
		}
		engine := float64(a.Eval() - shipped(t, "freestyle", g))
		b := g.Board()
		here := float64(n.value(&pass{}, &b, g.ToMove())) * Scale
		// The engine's activations are 127ths, rounded down.
		if math.Abs(engine-here) > 12+0.05*math.Abs(here) {
			t.Errorf("%s: the engine's network adds %g, this one %g", g, engine, here)
		}
		checked++
	}
	if checked < 50 {
		t.Errorf("only %d positions", checked)
	}
}

// shippedNet reads the engine's network of freestyle Gomoku.
func shippedNet(t *testing.T) *net {
	t.Helper()
	data, err := os.ReadFile("../../../engine/gomoku/weights/freestyle.network")
	if err != nil {
		t.Fatal(err)
	}
	class, w, err := gomoku.ReadNetworkWeights(data)
	if err != nil || class != "freestyle" {
		t.Fatal(class, err)
	}
	n, err := from(w, 1)
	if err != nil {
		t.Fatal(err)
	}
	// The same numbers come back, with a layer for each stage.
	again := n.weights()
	for i := range again.Sides {
		now, was := &again.Sides[i], &w.Sides[i]
		if !slices.Equal(now.Rows, was.Rows) {
			t.Error("the rows of the file change when they are read and written")
		}
		for stage := range now.Layers {
			if l := &was.Layers[stage%len(was.Layers)]; now.Layers[stage].Weight != l.Weight || now.Layers[stage].Bias != l.Bias {
				t.Errorf("the layer of stage %d changes when it is read and written", stage)
			}
		}
	}
	return n
}

// TestFrom: a fit that starts from a network of freestyle goes on from it, for both
// sides of Renju as well.
func TestFrom(t *testing.T) {
	n := shippedNet(t)
	all := load(t, "renju", writeTrees(t, "gomoku/renju-15", 20, func(g *rules.Position) search.Score { return shipped(t, "renju", g) }))
	plan := Plan{Game: rules.Name, Rules: "renju", HoldOut: 4, Passes: 1, Rate: 1e-9, Seed: 1, From: "x"}
	m, data, err := plan.Run(t.Context(), all, n.weights(), "b", func(Progress) {})
	if err != nil || m.Plan.From != "x" {
		t.Fatal(m, err)
	}
	_, w, err := gomoku.ReadNetworkWeights(data)
	if err != nil {
		t.Fatal(err)
	}
	start := n.weights()
	for i := range w.Sides {
		for c, r := range w.Sides[i].Rows {
			for j, x := range r {
				if math.Abs(float64(x-start.Sides[0].Rows[c][j])) > 1e-3 {
					t.Fatalf("side %d, row %04x has %g, the start %g", i, c, x, start.Sides[0].Rows[c][j])
				}
			}
		}
	}
	plan.Rules = "freestyle"
	free := load(t, "freestyle", writeTrees(t, "gomoku/freestyle-15", 5, func(*rules.Position) search.Score { return 1 }))
	if _, _, err := plan.Run(t.Context(), free, w, "b", func(Progress) {}); err == nil || !strings.Contains(err.Error(), "for either colour") {
		t.Errorf("from a network for two sides: %v", err)
	}
}

// TestLoad: positions where the end is settled are left out, and what can't be learnt
// from is named.
func TestLoad(t *testing.T) {
	label := func(*rules.Position) search.Score { return search.Win - 3 }
	free := writeTrees(t, "gomoku/freestyle-15", 5, label)
	p := load(t, "freestyle", free, free)
	if p.Trees != 10 || len(p.Inputs) != 2 || p.Digest == load(t, "freestyle", free).Digest {
		t.Errorf("%+v", p)
	}
	for i := range p.all {
		q := &p.all[i]
		if q.target != chance(float32(MaxScore)/Scale) {
			t.Errorf("a proven win counts %g", q.target)
		}
		b := p.board(q)
		if b.Stones() < 4 || b.Stones()%2 != int(q.toMove) {
			t.Errorf("%d stones, %s to move", b.Stones(), q.toMove)
		}
	}
	settled := oneTree(t, "gomoku/freestyle-15", "15/15/15/15/15/15/15/5xxxx6/15/5oo1o6/15/15/15/15/15 b")
	if _, err := Load(t.Context(), "freestyle", 0, 1, []string{settled}, func(int) {}); err == nil || !strings.Contains(err.Error(), "no positions to learn from in 1 trees") {
		t.Errorf("settled positions only: %v", err)
	}
	many := writeTrees(t, "gomoku/renju-15", batchTrees+1, label)
	for path, want := range map[string]string{
		many: "trees: " + many + ": tree 1: ", // whatever line was being read
		writeTrees(t, "gomoku/renju-15", 1, label):                                      "renju rules, want freestyle",
		oneTree(t, "gomoku/freestyle-15", "nonsense"):                                   `tree 1: "nonsense": `,
		oneTree(t, "gomoku/nonesuch", "15/15/15/15/15/15/15/15/15/15/15/15/15/15/15 b"): "unknown rules",
		filepath.Join(t.TempDir(), "nothing"):                                           "no such file",
	} {
		if _, err := Load(t.Context(), "freestyle", 0, 1, []string{free, path}, func(int) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := Load(t.Context(), "caro", 0, 1, []string{free}, func(int) {}); err == nil {
		t.Error("there are no such rules")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Load(ctx, "freestyle", 0, 1, []string{free}, func(int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	plan := Plan{Game: rules.Name, Rules: "freestyle", Passes: 1, Rate: 0.1}
	if _, _, err := plan.Run(ctx, p, nil, "b", func(Progress) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRenju: a network for both colours can be fitted and written.
func TestRenju(t *testing.T) {
	all := load(t, "renju", writeTrees(t, "gomoku/renju-15", 40, func(g *rules.Position) search.Score {
		return 500 - 1000*search.Score(g.ToMove()) // Black stands better
	}))
	m, data, err := Plan{Game: rules.Name, Rules: "renju", HoldOut: 4, Passes: 3, Rate: 0.1, Seed: 1}.Run(t.Context(), all, nil, "b", func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if end := m.Passes[2]; end.Held > m.Linear.Held/4 {
		t.Errorf("errors %+v, without a network %+v", m.Passes, m.Linear)
	}
	if got, err := manifestOf(data); err != nil || got.Plan.Rules != "renju" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadManifest(t *testing.T) {
	for _, text := range []string{"", "{}\n", "nonsense", `{"digest":"x","positions_digest":"y"}` + "\n"} {
		path := filepath.Join(t.TempDir(), "network")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(path); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	err := Plan{HoldOut: 1, Rate: math.NaN()}.Validate()
	for _, want := range []string{"one of 1 trees held out", "0 passes", "rate NaN"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want something of %q", err, want)
		}
	}
}

// TestGames: positions of games are labelled for the side to move, with the mixture of
// the result and the score of the search that was asked for.
func TestGames(t *testing.T) {
	trees := writeTrees(t, "gomoku/freestyle-15", 4, func(*rules.Position) search.Score { return 1 })
	with := func(plan GamesPlan) *Positions {
		r := &record.Record{ID: "g", Game: rules.Name, Rules: "gomoku/freestyle-15", Result: game.WonBy(game.First)}
		for i, move := range []string{"h8", "a1", "h10", "c1"} { // nothing that must be stopped
			p := record.Ply{Seat: game.Seat(i % 2), Move: move}
			if i > 0 {
				p.Think = &record.Think{Source: record.FromSearch, Score: 100 * i}
			}
			r.Plies = append(r.Plies, p)
		}
		games := &tune.Games{Game: rules.Name}
		games.Add(r)
		all := load(t, "freestyle", trees)
		if err := all.AddGames("freestyle", games, plan, 0, 1, func(int) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := load(t, "freestyle", trees)
	all := with(GamesPlan{PerGame: 8, Mix: 0.75})
	if all.Len() != before.Len()+3 || all.Games != 1 || all.Digest == before.Digest {
		t.Fatalf("%d positions, %d before; %d games; digests %s, %s", all.Len(), before.Len(), all.Games, all.Digest, before.Digest)
	}
	for i := range 3 {
		q := &all.all[before.Len()+i]
		won := float64((i + 1 + 1) % 2) // the first player's
		want := 0.75*won + 0.25/(1+math.Exp(-float64(100*(i+1))/Scale))
		if math.Abs(float64(q.target)-want) > 1e-5 || int(q.stones) != i+1 || q.toMove != rules.Colour((i+1)%2) {
			t.Errorf("after %d plies: target %.4f, want %.4f; %d stones, %v to move", i+1, q.target, want, q.stones, q.toMove)
		}
		if b := all.board(q); b.Empty(b.Point(7, 7)) {
			t.Errorf("after %d plies: no stone in the middle", i+1)
		}
	}
	if fewer := with(GamesPlan{PerGame: 2, Mix: 0.75}); fewer.Len() != before.Len()+2 || fewer.Digest == all.Digest {
		t.Errorf("%d positions, %d before", fewer.Len(), before.Len())
	}
	if other := with(GamesPlan{PerGame: 8, Mix: 0.5}); other.Digest == all.Digest {
		t.Error("another mixture has the same digest")
	}
}
