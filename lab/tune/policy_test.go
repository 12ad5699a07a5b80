package tune

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"sparring/game"
)

// pairs is a policy of moves with two features each. Every feature has a weight of its
// own and shares one of two with others.
type pairs struct{}

const pairFeatures = 6

func (pairs) Names() []string { return []string{"even", "odd", "0", "1", "2", "3", "4", "5"} }

func (pairs) Weights() (all [][]int32) {
	for f := range int32(pairFeatures) {
		all = append(all, []int32{f % 2, 2 + f})
	}
	return all
}

func (pairs) Features(game.Position, game.Move) ([][2]int32, int, bool, error) {
	return nil, 0, false, nil
}

// chosenBy draws choices among random moves by the probabilities that follow from the
// features' values. One of ten is held out.
func chosenBy(values []float64, n int) (all []Choice) {
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range n {
		c := Choice{Held: i%10 == 0}
		var sums []float64
		sum := 0.0
		for range 2 + rng.IntN(7) {
			m := [2]int32{rng.Int32N(pairFeatures), rng.Int32N(pairFeatures)}
			c.Moves = append(c.Moves, m)
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
	w, err := FitPolicy(t.Context(), pairs{}, all, o, func(int, float64) error { return nil })
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
	got := featureValues(pairs{}.Weights(), fitPairs(t, all, policyOptions()))
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
			other[i].Chosen = len(other[i].Moves) - 1 - other[i].Chosen
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
	move := func(f int32) [2]int32 { return [2]int32{f, 0} }
	six := [][2]int32{move(5), move(4), move(3), move(2), move(1), move(0)}
	for _, tt := range []struct {
		name string
		all  []Choice
		want Accuracy
	}{
		{"nothing", nil, Accuracy{}},
		{"others are held out", []Choice{{Moves: six, Held: true}}, Accuracy{}},
		{"even moves, the first chosen", []Choice{{Moves: [][2]int32{{1, 2}, {3, 0}, {2, 1}}}}, Accuracy{math.Log(3), 1, 1}},
		{"even moves, the last chosen", []Choice{{Moves: [][2]int32{{1, 2}, {3, 0}, {2, 1}}, Chosen: 2}}, Accuracy{math.Log(3), 0, 1}},
		{"the fifth of six", []Choice{{Moves: six, Chosen: 4}}, Accuracy{4 + math.Log(1+math.Exp(-1)+math.Exp(-2)+math.Exp(-3)+math.Exp(-4)+math.Exp(-5)), 0, 1}},
		{"the last of six", []Choice{{Moves: six, Chosen: 5}}, Accuracy{5 + math.Log(1+math.Exp(-1)+math.Exp(-2)+math.Exp(-3)+math.Exp(-4)+math.Exp(-5)), 0, 0}},
		{"one of two first", []Choice{{Moves: six[:2]}, {Moves: six[:2], Chosen: 1}}, Accuracy{0.5 + math.Log(1+math.Exp(-1)), 0.5, 1}},
	} {
		got := Measure(pairs{}, tt.all, weights, false)
		if math.Abs(got.Loss-tt.want.Loss) > 1e-9 || got.First != tt.want.First || got.Top5 != tt.want.Top5 {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
