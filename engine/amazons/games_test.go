package amazons

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/amazons"
)

// randomStart returns the text of a board without arrows with so many amazons of each
// side, and White to move.
func randomStart(rng *rand.Rand, cols, rows, amazons int) string {
	cells := strings.Split(strings.Repeat(".", cols*rows), "")
	for i, at := range rng.Perm(cols * rows)[:2*amazons] {
		cells[at] = []string{"Q", "q"}[i%2]
	}
	return boardText(cells, cols) + " w"
}

// TestGamesOnEverySize plays games from random starts on boards of several sizes, also
// without a usual start: each move is legal, each game ends by the rules, and what is
// proven comes true.
func TestGamesOnEverySize(t *testing.T) {
	for _, c := range []struct{ cols, rows, amazons int }{{10, 10, 4}, {8, 8, 4}, {6, 6, 4}, {9, 9, 4}, {16, 8, 3}, {10, 12, 5}, {5, 7, 2}, {3, 4, 1}} {
		t.Run(fmt.Sprintf("%dx%d", c.cols, c.rows), func(t *testing.T) {
			t.Parallel()
			g := setup(t, randomStart(rand.New(rand.NewPCG(uint64(c.cols), uint64(c.rows))), c.cols, c.rows, c.amazons))
			searched := search.New(Params(), search.NewTable(1<<20)).NewGame(search.GameOptions{})
			defer searched.Close()
			var winner *game.Seat // once it is proven
			for !g.Outcome().Over() {
				r := searched.Start(adapt(t, g), search.Limits{Nodes: 150}, nil).Wait()
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				if plies, known := search.MateIn(r.Score); known && winner == nil {
					seat := g.Turn()
					if plies < 0 {
						seat = seat.Other()
					}
					winner = &seat
				}
				if err := g.Play(r.Move); err != nil {
					t.Fatalf("%s: %v", g, err)
				}
				if len(g.(*rules.Position).Played(nil)) > c.cols*c.rows {
					t.Fatalf("%s: no end", g)
				}
			}
			if got := g.Outcome().Result; winner == nil || got != game.WonBy(*winner) {
				t.Errorf("%s: %v, proven for %v", g, got, winner)
			}
		})
	}
}
