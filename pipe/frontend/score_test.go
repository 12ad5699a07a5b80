package frontend

import (
	"testing"

	"sparring/engine/search"
	"sparring/game/catalog"
	"sparring/pipe/uci"
)

// TestScore: mates count moves, a win by repetition is not a mate, and the conversion
// is monotonic.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		score  search.Score
		chance float64
		want   uci.Score
		ucci   int
	}{
		{0, 0.5, uci.Score{Unit: uci.Centipawns}, 0},
		{200, 0.7310585786300049, uci.Score{Unit: uci.Centipawns, Value: 150}, 44},
		{-200, 0.2689414213699951, uci.Score{Unit: uci.Centipawns, Value: -150}, -44},
		{search.MaxEval, 1, uci.Score{Unit: uci.Centipawns, Value: 4500}, 1333},
		{-search.MaxEval, 0, uci.Score{Unit: uci.Centipawns, Value: -4500}, -1333},
		{search.RepWin - 4, 1, uci.Score{Unit: uci.Centipawns, Value: 8996}, 2665},
		{-search.RepWin + 4, 0, uci.Score{Unit: uci.Centipawns, Value: -8996}, -2665},
		{search.Win - 1, 1, uci.Score{Unit: uci.Mate, Value: 1}, 9999},
		{search.Win - 3, 1, uci.Score{Unit: uci.Mate, Value: 2}, 9997},
		{-search.Win, 0, uci.Score{Unit: uci.Mate}, -10000},
		{-search.Win + 2, 0, uci.Score{Unit: uci.Mate, Value: -1}, -9998},
		{-search.Win + 4, 0, uci.Score{Unit: uci.Mate, Value: -2}, -9996},
	} {
		if got := uciScore(search.Info{Score: c.score, WinProb: c.chance}); got != c.want {
			t.Errorf("%d, chance %v: %+v, want %+v", c.score, c.chance, got, c.want)
		}
		if got := ucciScore(c.score, c.chance); got != c.ucci {
			t.Errorf("%d, chance %v: %d in UCCI, want %d", c.score, c.chance, got, c.ucci)
		}
	}
}

// TestAnnounced: the rule sets offered to a GUI can be played, and their line is
// short enough for every GUI.
func TestAnnounced(t *testing.T) {
	for _, name := range advertisedRules() {
		if _, err := catalog.Rules(name); err != nil {
			t.Error(err)
		}
	}
	for _, o := range newUCI(&session{}).(*uciHandler).settings() {
		if n := len(o.String()); n > 255 {
			t.Errorf("option %s: a line of %d bytes", o.Name, n)
		}
	}
}
