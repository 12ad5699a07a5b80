package catalog_test

import (
	"math/rand/v2"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/gametest"
)

// TestHistory: Replay makes the game again from what History says of it, from
// the usual start and from the middle of a game, opening procedures included.
func TestHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for _, g := range catalog.Games() {
		for _, name := range g.Sets {
			r, err := catalog.Rules(name)
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.New("")
			if err != nil {
				t.Fatal(err)
			}
			gametest.Stroll(t, rng, p, 12)
			same(t, p, "")
			if mid, err := r.New(p.String()); err == nil && !mid.Outcome().Over() {
				text := mid.String()
				gametest.Stroll(t, rng, mid, 6)
				same(t, mid, text)
			}
		}
	}
}

func same(t *testing.T, p game.Position, from string) {
	t.Helper()
	start, moves := game.History(p)
	if start != from || len(moves) != p.Ply() {
		t.Errorf("%s: from %q, %d moves; want %q, %d", p.Rules().Name, start, len(moves), from, p.Ply())
	}
	again, err := game.Replay(p.Rules(), start, moves)
	if err != nil || again.Key() != p.Key() || again.String() != p.String() || again.Ply() != p.Ply() {
		t.Errorf("%s: %q %v gives %v, %v; want %s", p.Rules().Name, start, moves, again, err, p)
	}
}
