package main

import (
	"strings"
	"testing"

	"sparring/bot/play"
	"sparring/engine/search"
)

// TestEvaluation: a search that finished no depth has no score.
func TestEvaluation(t *testing.T) {
	for want, r := range map[string]search.Result{
		"no depth was finished":  {},
		"+0  50%  depth  1":      {Depth: 1, WinProb: 0.5},
		"-30000   0%  depth  12": {Depth: 12, Score: -30000},
	} {
		if got := strings.Join(strings.Fields(evaluation(&play.Think{Result: r})), " "); got != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}
