package screening

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestFit fits simulated results of players whose changes have known effects.
func TestFit(t *testing.T) {
	p := &Plan{Changes: []string{"good", "bad", "nothing", "small"}, Chance: 0.2, Seed: 3}
	truth := []float64{0.12, -0.08, 0, 0.03}
	rng := rand.New(rand.NewPCG(1, 1))
	var results []Result
	for pair := range 4000 {
		r := Result{Players: p.Draw(pair)}
		expected := 0.5
		for c, w := range truth {
			if r.Players[0][c] {
				expected += w
			}
			if r.Players[1][c] {
				expected -= w
			}
		}
		for range 2 { // games, won or lost
			if rng.Float64() < expected {
				r.Share += 0.5
			}
		}
		results = append(results, r)
	}
	effects, err := p.Fit(results)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range effects {
		if e.Change != p.Changes[i] || math.Abs(e.Worth-truth[i]) > 1.5*e.Error {
			t.Errorf("%+v, want %g", e, truth[i])
		}
		// A third of the pairs have it on one side; a pair's share is spread by
		// about a third of a point.
		if want := 0.2 * 0.8 * 2 * 4000; math.Abs(float64(e.Pairs)-want) > want/5 || e.Error < 0.015 || e.Error > 0.025 {
			t.Errorf("%+v, want about %.0f pairs, and an error of 0.02", e, want)
		}
	}
}

// TestFitOfEqual: results that are all alike, as those of players that repeat their games,
// do not make the effects known for certain.
func TestFitOfEqual(t *testing.T) {
	p := &Plan{Changes: []string{"a", "b"}, Chance: 0.5}
	for pairs, want := range map[int]float64{20: 0.07, 2000: 0.0007} {
		var results []Result
		for pair := range pairs {
			results = append(results, Result{Players: p.Draw(pair), Share: 0.5})
		}
		effects, err := p.Fit(results)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range effects {
			if e.Worth != 0 || e.Error < want/2 || e.Error > 2*want {
				t.Errorf("%d pairs: %+v, want an error of about %g", pairs, e, want)
			}
		}
	}
}

func TestFitOfFew(t *testing.T) {
	p := &Plan{Changes: []string{"a", "b"}, Chance: 0.5}
	none := Result{Players: [2]Has{{false, false}, {false, false}}, Share: 0.5}
	both := Result{Players: [2]Has{{true, true}, {false, false}}, Share: 1}
	for what, results := range map[string][]Result{
		"nothing": nil, "one": {both}, "no change": {none, none, none}, "always together": {both, none, both, none, both},
	} {
		if e, err := p.Fit(results); !errors.Is(err, ErrFew) {
			t.Errorf("%s: %+v, %v", what, e, err)
		}
	}
}

func TestDraw(t *testing.T) {
	p := &Plan{Changes: []string{"a", "b", "c"}, Chance: 0.3, Seed: 7}
	if !reflect.DeepEqual(p.Draw(5), p.Draw(5)) {
		t.Error("a pair has other changes the second time")
	}
	n := 0
	for pair := range 1000 {
		for _, h := range p.Draw(pair) {
			n += len(p.Of(h))
		}
	}
	if n < 1600 || n > 2000 {
		t.Errorf("%d of 6000 changes were on with a chance of 0.3", n)
	}
	if got := p.Of(Has{true, false, true}); !reflect.DeepEqual(got, []string{"a", "c"}) {
		t.Errorf("changes %v", got)
	}
}

func TestValidate(t *testing.T) {
	for _, p := range []Plan{
		{Chance: 0.5}, {Changes: []string{"a", "a"}, Chance: 0.5}, {Changes: []string{"a"}}, {Changes: []string{"a"}, Chance: math.NaN()},
	} {
		if p.Validate() == nil {
			t.Errorf("%+v: no error", p)
		}
	}
	if err := (&Plan{Changes: []string{"a", "b"}, Chance: 0.15}).Validate(); err != nil {
		t.Error(err)
	}
}
