package main

import (
	"bytes"
	"strings"
	"testing"

	"sparring/lab/match"
)

// TestProgressBeyondTheGames: a match that is resumed with fewer games than its file has plays
// what is missing of them, and counts them all.
func TestProgressBeyondTheGames(t *testing.T) {
	plan := match.Plan{Games: 2, Terms: match.Terms{Players: []string{"a", "b"}}}
	var out bytes.Buffer
	standing := match.NewStanding(&plan.Terms)
	standing.Games = 6
	newProgress(&out, &plan).game(standing, &match.Game{})
	if text := out.String(); !strings.Contains(text, "[####################] 6/6 games") {
		t.Errorf("%q", text)
	}
}
