package glicko

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The worked example of the paper, and four upsets in a row, after which the volatility
// rises. The digits beyond the paper's are from its equations, solved by bisection.
func TestPaperExample(t *testing.T) {
	weaker := Game{Rating{1400, 50, 0.06}, 0}
	for _, c := range []struct {
		tau   float64
		from  Rating
		games []Game
		want  Rating
	}{
		{0.5, Rating{1500, 200, 0.06}, []Game{
			{Rating{1400, 30, 0.06}, 1},
			{Rating{1550, 100, 0.06}, 0},
			{Rating{1700, 300, 0.06}, 0},
		}, Rating{1464.05067, 151.51652, 0.05999598}},
		{0.75, Rating{1800, 50, 0.06}, []Game{weaker, weaker, weaker, weaker}, Rating{1747.67654, 50.37394, 0.06036413}},
	} {
		got := System{Tau: c.tau}.Update(c.from, c.games)
		for _, x := range []struct {
			what           string
			got, want, off float64
		}{
			{"rating", got.Rating, c.want.Rating, 1e-4},
			{"deviation", got.Deviation, c.want.Deviation, 1e-4},
			{"volatility", got.Volatility, c.want.Volatility, 1e-7},
		} {
			if math.Abs(x.got-x.want) > x.off {
				t.Errorf("from %+v: %s %.8f, want %.8f", c.from, x.what, x.got, x.want)
			}
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
