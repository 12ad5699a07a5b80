package tune

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sparring/engine/adapter"
	"sparring/engine/search"
)

const testScale = 150

// synthetic are positions whose scores come from known weights, with results
// drawn by the chances that follow.
func synthetic(n int, start, truth []float64) (all []Position) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		p := Position{Held: i%10 == 0}
		for w := range truth {
			if by := float64(rng.IntN(7) - 3); by != 0 {
				p.Terms = append(p.Terms, adapter.Term{Weight: int32(w), By: float32(by)})
				p.Worth += by * start[w]
				p.Score += by * truth[w]
			}
		}
		if rng.Float64() < WinProb(p.Score, testScale) {
			p.Result = 1
		}
		all = append(all, p)
	}
	return all
}

func testOptions() Options {
	return Options{Passes: 300, Rate: 2, Mix: 0, Pull: 0, Scale: testScale}
}

func nothing(*State, Loss) error { return nil }

func TestFitFindsKnownWeights(t *testing.T) {
	start, truth := []float64{50, 50, 50, 0, 10}, []float64{90, 30, 55, -20, 10}
	all := synthetic(4000, start, truth)
	o, s := testOptions(), NewState(len(start))
	before := s.Errors(all, o)
	if err := Fit(t.Context(), all, o, s, nothing); err != nil {
		t.Fatal(err)
	}
	for i, w := range s.Rounded(start) {
		if math.Abs(float64(w)-truth[i]) > 1 {
			t.Errorf("weight %d is %d, want %g", i, w, truth[i])
		}
	}
	after := s.Errors(all, o)
	if after.Learnt > before.Learnt/100 || after.Held > before.Held/100 {
		t.Errorf("error %v before, %v after", before, after)
	}

	// Results alone say the same, less surely.
	o.Mix, s = 1, NewState(len(start))
	if err := Fit(t.Context(), all, o, s, nothing); err != nil {
		t.Fatal(err)
	}
	for i, w := range s.Rounded(start) {
		if math.Abs(float64(w)-truth[i]) > 12 {
			t.Errorf("from results: weight %d is %d, want %g", i, w, truth[i])
		}
	}
}

func TestPullHoldsWeights(t *testing.T) {
	start, truth := []float64{50, 50}, []float64{90, 30}
	all := synthetic(500, start, truth)
	o, s := testOptions(), NewState(2)
	o.Pull = 1000
	if err := Fit(t.Context(), all, o, s, nothing); err != nil {
		t.Fatal(err)
	}
	if w := s.Rounded(start); w[0] != 50 || w[1] != 50 {
		t.Errorf("weights %v differ from the initial ones", w)
	}
}

func TestFitGoesOnWhereItWasStopped(t *testing.T) {
	start, truth := []float64{50, 50, 50}, []float64{90, 30, 55}
	all := synthetic(500, start, truth)
	o, whole := testOptions(), NewState(3)
	if err := Fit(t.Context(), all, o, whole, nothing); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := NewState(3)
	err := Fit(ctx, all, o, s, func(s *State, _ Loss) error {
		if s.Passes == 77 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || s.Passes != 77 {
		t.Fatalf("stopped after %d passes: %v", s.Passes, err)
	}
	if err := Fit(t.Context(), all, o, s, nothing); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Change, whole.Change) {
		t.Errorf("in two parts %v, in one %v", s.Change, whole.Change)
	}
}

func TestFitRefuses(t *testing.T) {
	all := synthetic(20, []float64{1, 2}, []float64{1, 2})
	if err := Fit(t.Context(), all, testOptions(), NewState(1), nothing); !errors.Is(err, ErrState) {
		t.Errorf("two weights, a state of one: %v", err)
	}
	if err := Fit(t.Context(), nil, testOptions(), NewState(2), nothing); err == nil {
		t.Error("no positions: no error")
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.Passes = 0 }, func(o *Options) { o.Rate = 0 }, func(o *Options) { o.Mix = 1.1 },
		func(o *Options) { o.Pull = -1 }, func(o *Options) { o.Scale = math.NaN() },
	} {
		o := testOptions()
		change(&o)
		if err := Fit(t.Context(), all, o, NewState(2), nothing); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func TestModelsOfChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	want := search.WDLModel{Edge: 80, Scale: 120}
	var scores, results, decided []float64
	for range 40000 {
		s := rng.NormFloat64() * 250
		win, draw, _ := want.Probabilities(s)
		result := 0.0
		switch v := rng.Float64(); {
		case v < win:
			result = 1
		case v < win+draw:
			result = 0.5
		}
		scores, results = append(scores, s), append(results, result)
		one := 0.0
		if rng.Float64() < WinProb(s, 170) {
			one = 1
		}
		decided = append(decided, one)
	}
	got := FitWDL(scores, results, 200)
	if math.Abs(got.Edge-want.Edge) > 6 || math.Abs(got.Scale-want.Scale) > 6 {
		t.Errorf("outcomes %+v, want %+v", got, want)
	}
	if scale, err := FitScale(scores, decided); err != nil || math.Abs(scale-170) > 6 {
		t.Errorf("scale %g, want 170 (%v)", scale, err)
	}
	if _, err := FitScale([]float64{0, 0}, []float64{0, 1}); err == nil {
		t.Error("a scale from scores of zero")
	}
	for _, score := range []float64{1, 1e6} {
		if scale, err := FitScale([]float64{-score, score}, []float64{0, 1}); !errors.Is(err, errAllPredicted) {
			t.Errorf("scores of %g tell every result: scale %g, %v", score, scale, err)
		}
		if scale, err := FitScale([]float64{score, -score}, []float64{0, 1}); !errors.Is(err, errNoPrediction) {
			t.Errorf("scores of %g tell the opposite: scale %g, %v", score, scale, err)
		}
	}
}
