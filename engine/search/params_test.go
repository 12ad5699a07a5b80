package search

import (
	"math"
	"slices"
	"testing"
)

func TestSetNumber(t *testing.T) {
	var p Params
	for name, n := range map[string]int{"LMPBase": 3, "margins.futility": 90, "LMR.Slope": 250} {
		if err := p.SetNumber(name, n); err != nil {
			t.Error(err)
		}
	}
	if p.LMPBase != 3 || p.Margins.Futility != 90 || p.LMR.Slope != 250 {
		t.Errorf("set to %+v", p)
	}
	for name, n := range map[string]int{"Luck": 1, "Game": 1, "On.PVS": 1, "PruneMaxDepth": -1, "NullMove.DepthDivisor": 1 << 20} {
		if err := p.SetNumber(name, n); err == nil {
			t.Errorf("%s = %d: no error", name, n)
		}
	}
	if names := NumberNames(); !slices.Contains(names, "LMR.Base") || slices.Contains(names, "WDLModel.Edge") {
		t.Errorf("names %v", names)
	}
}

// With draws or without, the probabilities add up to one and grow with the score.
func TestWinProb(t *testing.T) {
	plain := Params{WinScale: 200}
	if got := plain.WinProb(200); math.Abs(got-0.731) > 0.001 {
		t.Errorf("a score of WinScale wins %.4f, want 0.731", got)
	}
	if _, draw, _ := plain.WDL(50); draw > 1e-12 {
		t.Errorf("%g drawn without a model of draws", draw)
	}
	drawish := Params{WinScale: 200, WDLModel: WDLModel{Edge: 100, Scale: 150}}
	if _, draw, _ := drawish.WDL(0); math.Abs(draw-0.3215) > 0.001 {
		t.Errorf("%.4f drawn at 0, want 0.3215", draw)
	}
	for _, p := range []*Params{&plain, &drawish} {
		last := -1.0
		for _, s := range []Score{-Win + 3, -RepWin + 3, -5000, -300, -20, 0, 20, 300, 5000, RepWin - 3, Win - 3} {
			win, draw, loss := p.WDL(s)
			if win < 0 || draw < 0 || loss < 0 || math.Abs(win+draw+loss-1) > 1e-9 {
				t.Errorf("%d: %g, %g, %g", s, win, draw, loss)
			}
			theirs, _, ours := p.WDL(-s)
			if math.Abs(win-ours) > 1e-12 || math.Abs(loss-theirs) > 1e-12 {
				t.Errorf("%d: %g won and %g lost, for the opponent %g and %g", s, win, loss, theirs, ours)
			}
			if c := p.WinProb(s); c < last {
				t.Errorf("score %d: winning chance %g, less than for a lower score", s, c)
			} else {
				last = c
			}
		}
	}
}

// Numbers without a part in the default shape of LMR and null move leave it in use.
func TestDefaultShapes(t *testing.T) {
	p := Params{WinScale: 100, LMR: LMRParams{Order: 700, EvalAboveBeta: 300}, NullMove: NullMoveParams{MinDepth: 5}}
	p.setDefaults()
	lmr, null := defaultLMR, defaultNullMove
	lmr.Order, lmr.EvalAboveBeta, null.MinDepth = 700, 300, 5
	if p.LMR != lmr || p.NullMove != null {
		t.Errorf("got %+v and %+v, want %+v and %+v", p.LMR, p.NullMove, lmr, null)
	}
	own := LMRParams{Base: 1, Order: 2}
	p = Params{WinScale: 100, LMR: own}
	if p.setDefaults(); p.LMR != own {
		t.Errorf("%+v became %+v", own, p.LMR)
	}
}
