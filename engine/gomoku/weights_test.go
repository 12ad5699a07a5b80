package gomoku

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// TestShippedWeights reads the files that the engine plays with: an invalid one would
// stop the program when Gomoku is first played.
func TestShippedWeights(t *testing.T) {
	for r := range ruleClasses {
		w := shipped[r]()
		for side := range r.sides() {
			if w.eval[side] == (evalWeights{}) || w.moves[side] == (moveWeights{}) {
				t.Errorf("%s: side %d has no weights", ruleClassNames[r], side)
			}
		}
	}
}

func TestRefusesWeights(t *testing.T) {
	const good = `{"rules":"standard","scale":300,"outcomes":{"edge":3,"scale":300},"weights":{"own.code.open-two+one":-32,"threat.00000000001":7}}`
	w := new(weights)
	if err := w.readEval([]byte(good), standard); err != nil {
		t.Fatal(err)
	}
	if got := w.eval[0].own.at(codeNamed(t, "one+open-two")); got != -32 || w.eval[0].threat[1] != 7 || w.model.Scale != 300 {
		t.Errorf("weights %d, %d, model %+v", got, w.eval[0].threat[1], w.model)
	}
	for _, tt := range []struct{ from, to, want string }{
		{good, "", "unexpected end"},
		{`7}}`, "7", "unexpected end"},
		{`7}}`, "", "unexpected end"},
		{"standard", "renju", `for "renju" rules, want standard`},
		{`"rules":"standard",`, "", `for "" rules, want standard`},
		{"open-two+one", "one+open-two", `no weight "own.code.one+open-two"`}, // the kinds in another order
		{"own.code", "black.own.code", "no weight \"black.own.code"},          // Renju's
		{"own.code.open-two+one", "free.own.kind.one", `no weight "free.own.kind.one"`},
		{"threat.00000000001", "threat.1", `no weight "threat.1"`},
		{"-32", "-1048577", "own.code.open-two+one is -1048577: want 262144 at most"},
		{":7", ":262145", "threat.00000000001 is 262145: want 262144 at most"},
		{":7", ":-2147483648", "threat.00000000001 is -2147483648"},
		{":7", ":2147483648", "cannot unmarshal number 2147483648"},
		{":7", ":1e400", "cannot unmarshal number 1e400"},
		{":7", ":0.5", "cannot unmarshal number 0.5"},
		{":7", `:"7"`, "cannot unmarshal string"},
		{`{"edge":3,"scale":300}`, `[]`, "cannot unmarshal array"},
		{`"scale":300,"outcomes"`, `"outcomes"`, "scale 0"},
		{`"scale":300,"outcomes"`, `"scale":1e300,"outcomes"`, "scale 1e+300"},
		{`"scale":300,"outcomes"`, `"scale":-300,"outcomes"`, "scale -300"},
		{`"edge":3,"scale":300`, `"edge":3,"scale":0.5`, "Scale:0.5"},
		{`"edge":3,"scale":300`, `"edge":3,"scale":1e300`, "Scale:1e+300"},
		{`"edge":3`, `"edge":-1`, "Edge:-1"},
		{`"edge":3`, `"edge":1e300`, "Edge:1e+300"},
	} {
		text := strings.Replace(good, tt.from, tt.to, 1)
		if text == good {
			t.Fatalf("%s is not in the file", tt.from)
		}
		if err := new(weights).readEval([]byte(text), standard); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", text, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		`{"rules":"renju","weights":{"black.free.own.kind.one":5`:         "unexpected end",
		`{"rules":"freestyle","weights":{}}`:                              `for "freestyle" rules, want renju`,
		`{"rules":"renju","weights":{"free.own.kind.one":5}}`:             `no weight "free.own.kind.one"`,
		`{"rules":"renju","weights":{"black.own.kind.one":5}}`:            `no weight "black.own.kind.one"`,
		`{"rules":"renju","weights":{"white.meet.own.kind.one":9999999}}`: "white.meet.own.kind.one is 9999999",
	} {
		if err := new(weights).readMoves([]byte(text), renju); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestWeightNames: names are unique, and there is one for each weight.
func TestWeightNames(t *testing.T) {
	for r := range ruleClasses {
		w := new(weights)
		for name, all := range map[string][]adapter.Weight{"evaluation": w.evalParameters(r), "policy": w.moveParameters(r)} {
			var names []string
			cells := map[*int32]bool{}
			for _, p := range all {
				names = append(names, p.Name)
				cells[p.Value] = true
			}
			slices.Sort(names)
			if len(slices.Compact(names)) != len(all) || len(cells) != len(all) {
				t.Errorf("%s of %s: a name or a weight twice", name, ruleClassNames[r])
			}
		}
		if got, want := len(w.evalParameters(r)), r.sides()*sideSize; got != want {
			t.Errorf("%s: %d weights of the evaluation, want %d", ruleClassNames[r], got, want)
		}
	}
}

// TestSumsStayInRange: with the greatest weights that a file may have, the sums over
// the largest board do not overflow.
func TestSumsStayInRange(t *testing.T) {
	for _, v := range []int32{maxWeight, -maxWeight} {
		w := new(weights)
		for _, p := range append(w.evalParameters(renju), w.moveParameters(renju)...) {
			*p.Value = v
		}
		tables := w.tables(renju)
		for i := range codes {
			var sums [2]int64
			for range gomoku.MaxPoints {
				for c := range sums {
					sums[c] += tables[c].value[i]
				}
			}
			// Five weights for each colour's code of each point.
			want := int64(v) * 5 * 2 * gomoku.MaxPoints
			for c := range sums {
				own, _ := valuesOf(sums[c])
				_, other := valuesOf(sums[1-c])
				if got := own + other; int64(got) != want {
					t.Fatalf("%s, weights %d, to move %d: %d, want %d", code(i), v, c, got, want)
				}
				total := want + int64(v) + maxValue
				if v < 0 {
					total = want + int64(v) - maxValue
				}
				if total != int64(int32(total)) {
					t.Fatalf("weights %d: %d overflows with a threat's weight and the network", v, total)
				}
			}
		}
	}
}

// randomWeights are weights to check sums with: the shipped ones of Renju's sides may
// be alike.
type randomWeights struct {
	*weights
	tables [2]*pointTable
}

func newRandomWeights(class ruleClass) randomWeights {
	w, rng := new(weights), rand.New(rand.NewPCG(3, 5))
	for _, p := range append(w.evalParameters(class), w.moveParameters(class)...) {
		// A point whose rows are all dead is worth nothing.
		if !strings.HasSuffix(p.Name, ".dead") {
			*p.Value = rng.Int32N(2001) - 1000
		}
	}
	return randomWeights{w, w.tables(class)}
}

// use replaces the weights of a position.
func (w randomWeights) use(a *position) {
	f := a.field
	a.weights, f.table = w.weights, w.tables
	f.value = [2]int64{}
	for p := range f.open.all() {
		for c := range gomoku.Colour(2) {
			f.value[c] += f.table[c].value[f.state[p].codes[c]]
		}
	}
}

// TestCoefficientsAreTheEvaluation: what a fit learns is what the engine computes.
func TestCoefficientsAreTheEvaluation(t *testing.T) {
	for _, rules := range []string{"freestyle", "standard", "renju"} {
		l, err := NewLinear(rules, nil)
		if err != nil {
			t.Fatal(err)
		}
		room, random := make([]float64, len(l.Names())), newRandomWeights(l.class)
		weights := random.evalParameters(l.class)
		for i, p := range weights {
			if p.Name != l.Names()[i] {
				t.Fatalf("weight %d is %s, for fits %s", i, p.Name, l.Names()[i])
			}
		}
		quiet := 0
		tenseWalks(t, fmt.Sprintf("gomoku/%s-15", rules), 12, func(_ *rand.Rand, g game.Position, a *position) {
			_, ok, err := l.Coefficients(g, room)
			if err != nil {
				t.Fatal(err)
			}
			if node := a.Enter(); ok != (!node.Over && !node.Forced) {
				t.Fatalf("%s: quiet %v, but entered as %+v", g, ok, node)
			}
			if !ok {
				return
			}
			quiet++
			random.use(a)
			a = codesAlone().Adapt(a).(*position)
			sum := 0.0
			for i, p := range weights {
				sum += float64(*p.Value) * room[i]
			}
			want := bounded(search.Score(sum) + a.places())
			if got := a.Eval(); max(got-want, want-got) > 1 {
				t.Fatalf("%s: the evaluation is %d, by the coefficients %d", g, got, want)
			}
		})
		if quiet < 50 {
			t.Errorf("%s: only %d quiet positions", rules, quiet)
		}
	}
}

// TestFeaturesAreThePolicy: the values of the features that fits of the policy use
// add up to the order of the moves.
func TestFeaturesAreThePolicy(t *testing.T) {
	for _, rules := range []string{"freestyle", "standard", "renju"} {
		l, err := NewChoices(rules, nil)
		if err != nil {
			t.Fatal(err)
		}
		all, random := l.Features(), newRandomWeights(l.class)
		weights := random.moveParameters(l.class)
		seen := 0
		tenseWalks(t, fmt.Sprintf("gomoku/%s-15", rules), 12, func(rng *rand.Rand, g game.Position, a *position) {
			random.use(a)
			a.allowAll()
			moves := slices.DeleteFunc(a.Moves(nil, &search.Cursor{}), func(e search.ScoredMove) bool { return e.Order == foulOrder })
			if len(moves) == 0 || a.field.board.Stones() == 0 { // the policy does not order the first move
				return
			}
			pick := rng.IntN(len(moves))
			c, ok, err := l.Choice(g, moves[pick].Move)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return
			}
			seen++
			if c.Chosen != pick || c.Len() != len(moves) {
				t.Fatalf("%s: move %d of %d, want %d of %d", g, c.Chosen, c.Len(), pick, len(moves))
			}
			for i, e := range moves {
				want := int32(0)
				for _, f := range c.Move(i) {
					for _, t := range all[f] {
						want += int32(t.By) * *weights[t.Weight].Value
					}
				}
				p := gomoku.Point(e.Move - 1)
				if got := (e.Order - a.field.border[p]) / orderScale; got != want {
					t.Fatalf("%s: %s has order %d, its features %d", g, g.Format(e.Move), got, want)
				}
			}
		})
		if seen < 50 {
			t.Errorf("%s: only %d positions", rules, seen)
		}
	}
}

// TestNoWeights: a file without weights is not one in which all are 0.
func TestNoWeights(t *testing.T) {
	for _, file := range []string{`{"rules": "standard", "scale": 100, "outcomes": {"edge": 1, "scale": 100}}`, `{"rules": "standard", "weights": {}}`} {
		if _, err := NewLinear("standard", []byte(file)); err == nil || !strings.Contains(err.Error(), "no weights") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestFitsRefuseOtherRules: weights are learnt from games under their own rules.
func TestFitsRefuseOtherRules(t *testing.T) {
	if _, err := NewLinear("caro", nil); err == nil || !strings.Contains(err.Error(), `rules "caro": want one of freestyle, standard, renju`) {
		t.Errorf("an evaluation for caro: %v", err)
	}
	if _, err := NewChoices("", nil); err == nil || !strings.Contains(err.Error(), "want one of freestyle") {
		t.Errorf("a policy for no rules: %v", err)
	}
	l, err := NewChoices("standard", nil)
	if err != nil {
		t.Fatal(err)
	}
	room := make([]float64, len(l.Names()))
	for rules, want := range map[string]string{"gomoku/freestyle-15": "a game under freestyle rules, want standard",
		"gomoku/renju-15": "a game under renju rules, want standard", "amazons/6x6": "not a Gomoku position"} {
		g := setUp(t, rules, "", "")
		if _, _, err := l.Linear.Coefficients(g, room); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("coefficients, %s: %v, want %q", rules, err, want)
		}
		if _, _, err := l.Choice(g, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("features, %s: %v, want %q", rules, err, want)
		}
	}
	// Those with their weights are accepted.
	if _, _, err := l.Linear.Coefficients(setUp(t, "gomoku/caro-15", "", "h8"), make([]float64, sideSize)); err != nil {
		t.Errorf("caro: %v", err)
	}
}
