package xiangqi

import (
	"math"
	"math/rand/v2"
	"testing"

	rules "sparring/game/xiangqi"
)

// TestEvalIsLinear: the evaluation is the sum of weights times coefficients, also
// after many weights have changed.
func TestEvalIsLinear(t *testing.T) {
	l := NewLinear()
	rng := rand.New(rand.NewPCG(1, 2))
	changed := untuned
	var change []float64
	seen := map[string]bool{}
	for _, p := range changed.parameters() {
		if seen[p.name] {
			t.Errorf("two weights have the name %q", p.name)
		}
		seen[p.name] = true
		by := weight{int32(rng.IntN(41) - 20), int32(rng.IntN(41) - 20)}
		p.value.add(by)
		change = append(change, float64(by.mg), float64(by.eg))
	}
	e := changed.compile()
	coefficients, n := make([]float64, len(l.Names())), 0
	for walk := range 30 {
		p := wander(t, rng, walk)
		worth, quiet, err := l.Coefficients(p, coefficients)
		if err != nil {
			t.Fatal(err)
		}
		if !quiet {
			continue
		}
		n++
		want := worth
		for i, c := range coefficients {
			want += c * change[i]
		}
		a := adapt(t, p)
		a.eval, a.accumulators = e, append(a.accumulators[:0], e.accumulate(a.board))
		// Each division of the evaluation may lose one.
		if got := float64(a.static()); math.Abs(got-want) > 24 {
			t.Errorf("%s: evaluation %g, linear %g", p, got, want)
		}
	}
	if n < 10 {
		t.Errorf("only %d positions were quiet", n)
	}
}

func TestWeightsFile(t *testing.T) {
	w := untuned
	if err := w.set(map[string]int32{"material.rook.mg": 1100, "square.horse.e4.eg": -7}); err != nil {
		t.Fatal(err)
	}
	if w.material[rules.Rook].mg != 1100 || untuned.material[rules.Rook].mg != 1000 {
		t.Errorf("rook %d, untuned %d", w.material[rules.Rook].mg, untuned.material[rules.Rook].mg)
	}
	for name, v := range map[string]int32{"material.queen.mg": 1, "tempo.mg": maxWeight + 1, "square.king.a0.mg": 3} {
		if err := w.set(map[string]int32{name: v}); err == nil {
			t.Errorf("%s = %d: no error", name, v)
		}
	}
}
