package main

import (
	"math"
	"testing"

	"sparring/engine/level"
	"sparring/game/catalog"
	"sparring/lab/train/calibrate"
)

// TestShippedLevels checks that the shipped calibrations are of the current levels
// and confirm docs/levels.md: a beginner beats the lowest level, and each level is
// stronger than the one below by about the same amount.
func TestShippedLevels(t *testing.T) {
	files, err := shippedLevels()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(catalog.Games()) {
		t.Fatalf("%d calibrations for %d games", len(files), len(catalog.Games()))
	}
	for _, f := range files {
		lowest, highest := f.Levels[0].Elo.Elo, f.Levels[len(f.Levels)-1].Elo.Elo
		mean := (highest - lowest) / calibrate.Number(len(f.Levels)-1)
		for _, s := range f.Levels {
			params, err := level.Of(f.Game, s.Level)
			if err != nil {
				t.Fatal(err)
			}
			if s.Parameters != params {
				t.Errorf("%s level %d was measured as %+v and is %+v: run %q again", f.Game, s.Level, s.Parameters, params, f.Command)
			}
			if math.IsInf(float64(s.Above.Elo), 0) || s.Faults > 0 || s.Games != s.Wins+s.Draws+s.Losses {
				t.Errorf("%s level %d: %+v", f.Game, s.Level, s)
			}
			if up := s.Above.Elo > 0; up != (s.Level > level.Weakest) {
				t.Errorf("%s level %d is %s over %s", f.Game, s.Level, s.Above, s.Against)
			}
			if s.Level > level.Weakest && (s.Above.Elo < mean/2 || s.Above.Elo > mean*2) {
				t.Errorf("%s level %d is %s over the one below, where %.0f is a step's mean", f.Game, s.Level, s.Above, mean)
			}
		}
	}
}
