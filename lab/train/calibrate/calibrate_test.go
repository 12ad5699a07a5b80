package calibrate_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"sparring/engine/level"
	"sparring/game/catalog"
	"sparring/lab/match"
	"sparring/lab/match/openings"
	"sparring/lab/train/calibrate"
)

// TestRun measures the two lowest levels of Gomoku and keeps the games: a second
// run plays none and has the same result.
func TestRun(t *testing.T) {
	rules, err := catalog.Rules("gomoku")
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	plan := calibrate.Plan{Rules: rules, Games: 6, UpTo: 2, Concurrency: 1, Seed: 3, Openings: openings.Start{}, Described: "none",
		Keep: t.TempDir(), Watch: func(int, *match.Standing, int) { played++ }}
	first, err := calibrate.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Levels) != 2 || played != 12 {
		t.Fatalf("%d levels, %d games", len(first.Levels), played)
	}
	for i, s := range first.Levels {
		if s.Level != level.Weakest+i || s.Games != 6 || s.Wins+s.Draws+s.Losses != 6 || s.Pairs.Count() != 3 || s.Faults > 0 {
			t.Errorf("%+v", s)
		}
	}
	if first.Levels[0].Against != calibrate.Beginner || first.Levels[1].Against != "level 1" {
		t.Errorf("against %s and %s", first.Levels[0].Against, first.Levels[1].Against)
	}
	again, err := calibrate.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if played != 12 || again.Levels[1].Pairs != first.Levels[1].Pairs || again.Levels[1].Above != first.Levels[1].Above {
		t.Errorf("after %d games %+v, then %+v", played, first.Levels, again.Levels)
	}
}

// TestGamesOfSteps: each step has its games, and levels without random choices play an opening
// twice only: the third game would be the first one again.
func TestGamesOfSteps(t *testing.T) {
	rules, err := catalog.Rules("gomoku")
	if err != nil {
		t.Fatal(err)
	}
	plan := calibrate.Plan{Rules: rules, Games: 4, GamesOf: map[int]int{1: 2, 2: 2, 3: 2, 4: 2, 5: 2}, UpTo: 7, Concurrency: 1, Seed: 3,
		Openings: openings.List{{Moves: []string{"h8", "a1", "i9", "o15"}}}, Described: "one"}
	f, err := calibrate.Run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	want := []int{2, 2, 2, 2, 2, 4, 2}
	for i, s := range f.Levels {
		if s.Games != want[i] {
			t.Errorf("level %d: %d games, want %d", s.Level, s.Games, want[i])
		}
	}
}

// TestFile: a calibration survives writing and reading, infinite differences
// included, and other files are refused.
func TestFile(t *testing.T) {
	if _, err := calibrate.Read([]byte(`{"game": "gomoku", "levels": [{"level": 2}]}`)); err == nil || !strings.Contains(err.Error(), "entry 1 is for level 2") {
		t.Errorf("levels out of order: %v", err)
	}
	if _, err := calibrate.Read([]byte(`{"levels": [`)); err == nil {
		t.Error("half a file is read")
	}
	f := calibrate.File{Game: "gomoku"}
	if err := f.Write(filepath.Join(t.TempDir(), "none", "x.json")); err == nil {
		t.Error("written to a missing folder")
	}
	var n calibrate.Number
	if b, err := calibrate.Number(math.Inf(1)).MarshalJSON(); err != nil || string(b) != "null" || n.UnmarshalJSON(b) != nil || !math.IsInf(float64(n), 1) {
		t.Errorf("infinity is %s, read as %v (%v)", b, n, err)
	}
	if b, err := calibrate.Number(12.345).MarshalJSON(); err != nil || string(b) != "12.3" {
		t.Errorf("12.345 is %s, %v", b, err)
	}
}
