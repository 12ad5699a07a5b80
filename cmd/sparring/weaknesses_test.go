package main

import (
	"strings"
	"testing"

	"sparring/lab/weakness"
)

// TestWeakByOwnScores: what only the players' own scores say of moves is to be tested, and
// the result says so.
func TestWeakByOwnScores(t *testing.T) {
	games := weakness.Group{By: weakness.Length, Name: "long", Games: 9, Weak: true}
	moves := weakness.Group{By: weakness.Phase, Name: "late", Games: 9, Moves: 99, Weak: true}
	chance := weakness.Group{By: weakness.Phase, Name: "early", Games: 9, Moves: 99}
	for _, c := range []struct {
		analyse string
		groups  []weakness.Group
		said    bool
	}{
		{"", []weakness.Group{moves, chance}, true},
		{"nodes=100", []weakness.Group{moves, chance}, false},
		{"", []weakness.Group{games, chance}, false},
	} {
		var out strings.Builder
		f := weaknessFlags{player: "x", analyse: c.analyse}
		if err := f.print(&out, &weakness.Result{Games: 20, Judged: 198, Groups: c.groups}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(out.String(), "players' own scores say so"); said != c.said || !strings.Contains(out.String(), "Weak: 1 group of 2.") {
			t.Errorf("%+v:\n%s", c, out.String())
		}
	}
}
