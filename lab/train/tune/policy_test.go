package tune

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"sparring/engine/adapter"
	"sparring/game"
)

// pairs is a policy of moves with two features each. Every feature has a weight of its
// own and shares one of two with others. Apart, the features belong to each position
// alone.
type pairs struct{ apart bool }

const pairFeatures = 6

func (pairs) Names() []string { return []string{"even", "odd", "0", "1", "2", "3", "4", "5"} }

func (pairs) Start() []float64 { return make([]float64, 8) }

func (pairs) Fits(*game.Rules) bool { return true }

func (p pairs) Features() [][]adapter.Term {
	if p.apart {
		return nil
	}
	return pairTerms()
}

func pairTerms() (all [][]adapter.Term) {
	for f := range int32(pairFeatures) {
		all = append(all, []adapter.Term{{Weight: f % 2, By: 1}, {Weight: 2 + f, By: 1}})
	}
	return all
}

func (pairs) Choice(game.Position, game.Move) (c adapter.Choice, ok bool, err error) {
	return c, false, nil
}

// chosenBy draws choices among random moves by the probabilities that follow from the
// features' values. One of ten is held out.
func chosenBy(values []float64, n int) (all []Choice) {
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range n {
		c := Choice{adapter.Choice{PerMove: 2}, i%10 == 0}
		var sums []float64
		sum := 0.0
		for range 2 + rng.IntN(7) {
			m := [2]int32{rng.Int32N(pairFeatures), rng.Int32N(pairFeatures)}
			c.Moves = append(c.Moves, m[:]...)
			sum += math.Exp(values[m[0]] + values[m[1]])
			sums = append(sums, sum)
		}
		draw := rng.Float64() * sum
		for sums[c.Chosen] < draw {
			c.Chosen++
		}
		all = append(all, c)
	}
	return all
}

func policyOptions() PolicyOptions { return PolicyOptions{Passes: 300, Rate: 0.05, Pull: 1e-6} }

func fitPairs(t *testing.T, all []Choice, o PolicyOptions) []float64 {
	t.Helper()
	return fitPolicy(t, pairs{}, all, o)
}

func fitPolicy(t *testing.T, p pairs, all []Choice, o PolicyOptions) []float64 {
	t.Helper()
	w, err := FitPolicy(t.Context(), p, all, o, func(int, float64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestFitPolicyFindsKnownWeights: the differences of the features' values come out;
// their level has no meaning, since every move has two features.
func TestFitPolicyFindsKnownWeights(t *testing.T) {
	truth := []float64{1.5, -0.5, 0.25, 0, -1, 2}
	all := chosenBy(truth, 20000)
	got := appendValues(nil, pairTerms(), fitPairs(t, all, policyOptions()))
	for f := range truth {
		if by, want := got[f]-got[0], truth[f]-truth[0]; math.Abs(by-want) > 0.08 {
			t.Errorf("feature %d is %.3f above feature 0, want %.3f", f, by, want)
		}
	}
	// A pull holds the weights near 0.
	o := policyOptions()
	o.Pull = 100
	for i, w := range fitPairs(t, all, o) {
		if math.Abs(w) > 0.02 {
			t.Errorf("weight %s is %.3f in spite of the pull", pairs{}.Names()[i], w)
		}
	}
}

// TestFitPolicyTakesFeaturesOfAPosition: it makes no difference whether positions share
// their features, and twice a feature is worth a weight half as large.
func TestFitPolicyTakesFeaturesOfAPosition(t *testing.T) {
	all := chosenBy([]float64{1, -1, 0.5, 0, -2, 1}, 500)
	want := fitPairs(t, all, policyOptions())
	apart := slices.Clone(all)
	for i := range apart {
		apart[i].Features = pairTerms()
	}
	o := policyOptions()
	if got := fitPolicy(t, pairs{apart: true}, apart, o); !near(got, want, 1) {
		t.Errorf("features apart: %v, want %v", got, want)
	}
	if a, b := Measure(pairs{}, all, want, true), Measure(pairs{apart: true}, apart, want, true); math.Abs(a.Loss-b.Loss) > 1e-9 || a.First != b.First {
		t.Errorf("features apart: %+v, want %+v", b, a)
	}
	for i := range apart {
		for _, terms := range apart[i].Features {
			for j := range terms {
				terms[j].By = 2
			}
		}
	}
	o.Rate, o.Pull = o.Rate/2, 4*o.Pull
	if got := fitPolicy(t, pairs{apart: true}, apart, o); !near(got, want, 2) {
		t.Errorf("features twice: %v, want half of %v", got, want)
	}
}

// near reports whether times the numbers of got are about those of want.
func near(got, want []float64, times float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(times*a-b) < 1e-4 })
}

// TestFitPolicyIsReproducible: the number of processors does not change a bit.
func TestFitPolicyIsReproducible(t *testing.T) {
	all := chosenBy([]float64{1, -1, 0.5, 0, -2, 1}, 1003)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := fitPairs(t, all, policyOptions())
	for _, n := range []int{2, 3, 16} {
		runtime.GOMAXPROCS(n)
		if got := fitPairs(t, all, policyOptions()); !slices.Equal(got, want) {
			t.Errorf("%d processors: %v, one: %v", n, got, want)
		}
	}
}

// TestFitPolicyLeavesHeldOut: positions held out, here with the opposite choices,
// change nothing.
func TestFitPolicyLeavesHeldOut(t *testing.T) {
	all := chosenBy([]float64{1, -1, 0.5, 0, -2, 1}, 1000)
	want := fitPairs(t, all, policyOptions())
	other := slices.Clone(all)
	for i := range other {
		if other[i].Held {
			other[i].Chosen = other[i].Len() - 1 - other[i].Chosen
		}
	}
	if got := fitPairs(t, other, policyOptions()); !slices.Equal(got, want) {
		t.Errorf("with other held-out choices %v, want %v", got, want)
	}
	if a, b := Measure(pairs{}, all, want, true), Measure(pairs{}, other, want, true); a == b {
		t.Errorf("the accuracy on what is held out is %+v for both", a)
	}
	if a, b := Measure(pairs{}, all, want, false), Measure(pairs{}, other, want, false); a != b {
		t.Errorf("the accuracy on what is learnt from is %+v and %+v", a, b)
	}
}

func TestFitPolicyRefuses(t *testing.T) {
	watch := func(int, float64) error { return nil }
	all := chosenBy(make([]float64, pairFeatures), 20)
	held := slices.Clone(all)
	for i := range held {
		held[i].Held = true
	}
	if _, err := FitPolicy(t.Context(), pairs{}, held, policyOptions(), watch); err == nil {
		t.Error("only held-out positions: no error")
	}
	for _, change := range []func(*PolicyOptions){
		func(o *PolicyOptions) { o.Passes = 0 }, func(o *PolicyOptions) { o.Rate = math.Inf(1) }, func(o *PolicyOptions) { o.Pull = -1 },
	} {
		o := policyOptions()
		change(&o)
		if _, err := FitPolicy(t.Context(), pairs{}, all, o, watch); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestMeasure(t *testing.T) {
	// Values of the features: 0 to 5 in steps of one.
	weights := []float64{0, 0, 0, 1, 2, 3, 4, 5}
	choice := func(chosen int, moves ...int32) []Choice {
		return []Choice{{Choice: adapter.Choice{PerMove: 2, Moves: moves, Chosen: chosen}}}
	}
	six := []int32{5, 0, 4, 0, 3, 0, 2, 0, 1, 0, 0, 0}
	held := choice(0, six...)
	held[0].Held = true
	for _, tt := range []struct {
		name string
		all  []Choice
		want Accuracy
	}{
		{"nothing", nil, Accuracy{}},
		{"others are held out", held, Accuracy{}},
		{"even moves, the first chosen", choice(0, 1, 2, 3, 0, 2, 1), Accuracy{math.Log(3), 1, 1}},
		{"even moves, the last chosen", choice(2, 1, 2, 3, 0, 2, 1), Accuracy{math.Log(3), 0, 1}},
		{"the fifth of six", choice(4, six...), Accuracy{4 + math.Log(1+math.Exp(-1)+math.Exp(-2)+math.Exp(-3)+math.Exp(-4)+math.Exp(-5)), 0, 1}},
		{"the last of six", choice(5, six...), Accuracy{5 + math.Log(1+math.Exp(-1)+math.Exp(-2)+math.Exp(-3)+math.Exp(-4)+math.Exp(-5)), 0, 0}},
		{"one of two first", append(choice(0, six[:4]...), choice(1, six[:4]...)...), Accuracy{0.5 + math.Log(1+math.Exp(-1)), 0.5, 1}},
	} {
		got := Measure(pairs{}, tt.all, weights, false)
		if math.Abs(got.Loss-tt.want.Loss) > 1e-9 || got.First != tt.want.First || got.Top5 != tt.want.Top5 {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
