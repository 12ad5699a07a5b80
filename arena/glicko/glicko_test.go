package glicko

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The worked example of the paper.
func TestPaperExample(t *testing.T) {
	got := System{Tau: 0.5}.Update(Rating{1500, 200, 0.06}, []Game{
		{Rating{1400, 30, 0.06}, 1},
		{Rating{1550, 100, 0.06}, 0},
		{Rating{1700, 300, 0.06}, 0},
	})
	for _, c := range []struct {
		what           string
		got, want, off float64
	}{
		{"rating", got.Rating, 1464.06, 0.01},
		{"deviation", got.Deviation, 151.52, 0.01},
		{"volatility", got.Volatility, 0.05999, 0.00001},
	} {
		if math.Abs(c.got-c.want) > c.off {
			t.Errorf("%s %.5f, want %.5f", c.what, c.got, c.want)
		}
	}
}

func TestIdlePeriod(t *testing.T) {
	r := Default.Update(Rating{1600, 60, 0.06}, nil)
	want := math.Hypot(60, 0.06*scale)
	if r.Rating != 1600 || r.Volatility != 0.06 || math.Abs(r.Deviation-want) > 1e-9 {
		t.Errorf("got %+v, want deviation %.4f and the rest as it was", r, want)
	}
}

// What must hold for any game between any players.
func TestProperties(t *testing.T) {
	player := rapid.Custom(func(t *rapid.T) Rating {
		return Rating{
			Rating:     rapid.Float64Range(100, 3500).Draw(t, "rating"),
			Deviation:  rapid.Float64Range(30, 350).Draw(t, "deviation"),
			Volatility: rapid.Float64Range(0.01, 0.1).Draw(t, "volatility"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := player.Draw(t, "a"), player.Draw(t, "b")
		win := Default.Update(a, []Game{{b, 1}})
		draw := Default.Update(a, []Game{{b, 0.5}})
		loss := Default.Update(a, []Game{{b, 0}})
		if !(win.Rating > draw.Rating && draw.Rating > loss.Rating) {
			t.Fatalf("win %.3f, draw %.3f, loss %.3f: want them in this order", win.Rating, draw.Rating, loss.Rating)
		}
		if !(win.Rating >= a.Rating && loss.Rating <= a.Rating) {
			t.Fatalf("from %.3f a win leads to %.3f and a loss to %.3f", a.Rating, win.Rating, loss.Rating)
		}
		for _, r := range []Rating{win, draw, loss} {
			if !(r.Deviation > 0 && r.Deviation < 400 && r.Volatility > 0 && r.Volatility < 1) {
				t.Fatalf("out of any range: %+v", r)
			}
		}
	})
}
