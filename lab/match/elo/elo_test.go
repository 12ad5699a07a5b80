package elo

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(got, want, by float64) bool { return math.Abs(got-want) <= by }

// TestPublishedValues has the expected values of fastchess's tests. Its errors are
// smaller because it does not add the prior pair that sigma adds.
func TestPublishedValues(t *testing.T) {
	for _, c := range []struct {
		pairs      Pairs
		elo, normd Diff
		los        float64
	}{
		{Pairs{34, 54, 63, 64, 75}, Diff{55.58, 27.65}, Diff{57.94, 28.28}, 1},
		{Pairs{332, 433, 498, 333, 334}, Diff{-8.64, 10.33}, Diff{-9.17, 10.96}, 0.0505},
		{Pairs{7895, 8757, 5685, 568, 9999}, Diff{-21.04, 2.95}, Diff{-19.01, 2.65}, 0},
	} {
		e, n := c.pairs.Elo(), c.pairs.Normalized()
		if !near(e.Elo, c.elo.Elo, 0.01) || !near(e.Error, c.elo.Error, c.elo.Error/200) {
			t.Errorf("%v: Elo %+v, want %+v", c.pairs, e, c.elo)
		}
		if !near(n.Elo, c.normd.Elo, 0.01) || !near(n.Error, c.normd.Error, 0.01) {
			t.Errorf("%v: normalized %+v, want %+v", c.pairs, n, c.normd)
		}
		if los := c.pairs.LOS(); !near(los, c.los, 0.0002) {
			t.Errorf("%v: LOS %f, want %f", c.pairs, los, c.los)
		}
	}
}

func TestPublishedLikelihoodRatios(t *testing.T) {
	for _, c := range []struct {
		pairs      Pairs
		elo0, elo1 float64
		llr        float64
		verdict    Verdict
	}{
		{Pairs{223, 9863, 21279, 10037, 246}, 0.5, 2.5, -3.07, AcceptH0},
		{Pairs{871, 26175, 55983, 26678, 821}, 0, 2, -4.98, AcceptH0},
	} {
		s := SPRT{c.elo0, c.elo1, 0.05, 0.05}
		if llr := s.LLR(c.pairs); !near(llr, c.llr, 0.01) {
			t.Errorf("%v: LLR %.3f, want %.2f", c.pairs, llr, c.llr)
		}
		if v := s.Verdict(c.pairs); v != c.verdict {
			t.Errorf("%v: %v, want %v", c.pairs, v, c.verdict)
		}
	}
	lower, upper := SPRT{0, 5, 0.05, 0.05}.Bounds()
	if !near(lower, -math.Log(19), 1e-12) || !near(upper, math.Log(19), 1e-12) {
		t.Errorf("bounds %f and %f, want ±ln 19", lower, upper)
	}
}

func TestEdges(t *testing.T) {
	var none Pairs
	if none.Score() != 0.5 || none.LOS() != 0.5 || !math.IsInf(none.Elo().Error, 1) {
		t.Errorf("no pairs: score %f, LOS %f, %+v", none.Score(), none.LOS(), none.Elo())
	}
	all := Pairs{0, 0, 0, 0, 10}
	if e := all.Elo(); !math.IsInf(e.Elo, 1) || all.LOS() < 0.999 {
		t.Errorf("all won: %+v, LOS %f", e, all.LOS())
	}
	if low, high := all.Interval(); low < 0.8 || low > 0.95 || high != 1 {
		t.Errorf("ten pairs won: %f to %f", low, high)
	}
	if low, high := all.EloInterval(); low < 240 || low > 510 || !math.IsInf(high, 1) {
		t.Errorf("ten pairs won: %f to %f Elo", low, high)
	}
	if low, high := all.Turned().EloInterval(); !math.IsInf(low, -1) || high > -240 {
		t.Errorf("ten pairs lost: %f to %f Elo", low, high)
	}
	even := Pairs{0, 0, 10, 0, 0}
	if e := even.Elo(); e.Elo != 0 || e.Error < 20 || e.Error > 100 || even.LOS() != 0.5 {
		t.Errorf("every pair even: %+v, LOS %f", e, even.LOS())
	}
	one := Pairs{0, 0, 0, 1, 0}
	if low, high := one.Interval(); low != 0 || high != 1 || one.Score() != 0.75 || one.LOS() != 0.5 {
		t.Errorf("one pair: score %f, %f to %f, LOS %f", one.Score(), low, high, one.LOS())
	}
	for _, p := range []Pairs{none, one, even, all} { // no variance to measure by
		if n := p.Normalized(); n.Elo != 0 || !math.IsInf(n.Error, 1) {
			t.Errorf("%v: normalized %+v", p, n)
		}
	}
	for _, p := range []Pairs{none, all, even, all.Turned()} {
		s := SPRT{0, 5, 0.05, 0.05}
		if llr := s.LLR(p); math.IsNaN(llr) || math.IsInf(llr, 0) {
			t.Errorf("%v: LLR %f", p, llr)
		}
		if a, b := s.LLR(p), (SPRT{-5, 0, 0.05, 0.05}).LLR(p.Turned()); !near(a, -b, 1e-6) {
			t.Errorf("%v: LLR %f, and %f from the other side", p, a, b)
		}
	}
	var added Pairs
	for halves := range 5 {
		added.Add(halves)
	}
	if added != (Pairs{1, 1, 1, 1, 1}) || added.Score() != 0.5 || !near(added.Variance(), 0.125, 1e-12) {
		t.Errorf("one of each: %v, score %f, variance %f", added, added.Score(), added.Variance())
	}
}

// TestNeeded: with as many pairs of the same kind the error is the one asked for.
func TestNeeded(t *testing.T) {
	for _, p := range []Pairs{{2, 1, 3, 2, 2}, {0, 0, 10, 0, 0}, {1, 5, 20, 9, 5}} {
		for _, times := range []int{4, 50} {
			var more Pairs
			for i := range p {
				more[i] = times * p[i]
			}
			if got, want := p.Needed(more.Elo().Error), float64(more.Count()); !near(got/want, 1, 0.06) {
				t.Errorf("%v: %.1f pairs for an error of %.2f Elo, want %g", p, got, more.Elo().Error, want)
			}
		}
	}
	if n := (Pairs{0, 0, 0, 0, 2}).Needed(10); !math.IsNaN(n) {
		t.Errorf("an error that stays infinite needs %g pairs", n)
	}
}

func TestScoreAndBack(t *testing.T) {
	for _, e := range []float64{-400, -12.5, 0, 5, 191} {
		if got := FromScore(ToScore(e)); !near(got, e, 1e-9) {
			t.Errorf("%g Elo came back as %g", e, got)
		}
	}
	if s := ToScore(400); !near(s, 10.0/11, 1e-12) {
		t.Errorf("400 Elo are a score of %g, want 10/11", s)
	}
}

func TestParseSPRT(t *testing.T) {
	s, err := ParseSPRT("elo0=0, elo1=5")
	if err != nil || s != (SPRT{0, 5, 0.05, 0.05}) {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = ParseSPRT("elo0=-1.5,elo1=2,alpha=0.1,beta=0.2")
	if err != nil || s != (SPRT{-1.5, 2, 0.1, 0.2}) {
		t.Errorf("%+v, %v", s, err)
	}
	for _, bad := range []string{"", "elo0=0", "elo0=5,elo1=0", "elo0=0,elo1=x", "elo0=0,elo1=5,alpha=0", "elo0=0,elo1=5,alpha=0.5,beta=0.5", "elo0=0,elo1=NaN", "elo0=0,elo1=Inf", "elo=0"} {
		if _, err := ParseSPRT(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestErrorRates simulates many tests with a known difference: the rate of wrong
// verdicts is about alpha and beta.
func TestErrorRates(t *testing.T) {
	s := SPRT{0, 40, 0.05, 0.05}
	const trials = 400
	wrong := func(elo float64, bad Verdict) (n int) {
		rng := rand.New(rand.NewPCG(1, uint64(bad)))
		for range trials {
			var p Pairs
			v := Open
			for v == Open {
				p.Add(game(rng, elo) + game(rng, elo))
				v = s.Verdict(p)
			}
			if v == bad {
				n++
			}
		}
		return n
	}
	// 5 % of 400 is 20, with a standard deviation of 4.4: 40 is practically impossible.
	if n := wrong(0, AcceptH1); n > 40 {
		t.Errorf("H1 accepted %d times of %d where H0 holds", n, trials)
	}
	if n := wrong(40, AcceptH0); n > 40 {
		t.Errorf("H0 accepted %d times of %d where H1 holds", n, trials)
	}
}

// game returns the half points of a game between players elo apart, a third drawn.
func game(rng *rand.Rand, elo float64) int {
	const drawn = 1.0 / 3
	switch x := rng.Float64(); {
	case x < drawn:
		return 1
	case x < drawn+ToScore(elo)-drawn/2:
		return 2
	}
	return 0
}
