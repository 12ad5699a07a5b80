package engine

import (
	"os"
	"testing"

	"sparring/engine/search"
	"sparring/game/catalog"
)

// solvedSlowly is the environment variable that also lets boards be solved that take
// minutes on a busy machine.
const solvedSlowly = "SPARRING_TEST_SOLVED"

// TestSolvedBoards: a search without limits ends with a proof of who wins small boards
// of Amazons.
func TestSolvedBoards(t *testing.T) {
	for _, c := range []struct {
		position string
		won      bool
		slow     bool
	}{
		{"1qq1/q2q/Q2Q/1QQ1 w", false, false},
		{"1q1q1/q3q/Q3Q/1Q1Q1 w", true, false},
		{"1qq1/q2q/4/Q2Q/1QQ1 w", false, true},
		{"1qq1/q2q/4/4/Q2Q/1QQ1 w", true, true},
	} {
		t.Run(c.position, func(t *testing.T) {
			if c.slow && os.Getenv(solvedSlowly) == "" {
				t.Skip("takes long; set " + solvedSlowly + "=1")
			}
			g, err := catalog.Game("amazons")
			if err != nil {
				t.Fatal(err)
			}
			name, err := g.RulesFor(c.position)
			if err != nil {
				t.Fatal(err)
			}
			r, err := g.Rules(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.New(c.position)
			if err != nil {
				t.Fatal(err)
			}
			e, err := New("amazons", Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			game, err := e.NewGame(GameOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer game.Close()
			running, err := game.Search(p, search.Limits{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := running.Wait()
			t.Logf("score %d in %v, %d nodes, depth %d: %s", found.Score, found.Time, found.Nodes, found.Depth, found.Source)
			if c.won && found.Score < search.WinBound || !c.won && found.Score > -search.WinBound {
				t.Fatalf("score %d, want a win: %v", found.Score, c.won)
			}
			if len(found.PV) == 0 {
				t.Fatal("no line")
			}
			for _, m := range found.PV {
				if err := p.Play(m); err != nil {
					t.Fatalf("line %v: %v", found.PV, err)
				}
			}
		})
	}
}
