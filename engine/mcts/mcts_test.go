package mcts

import (
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
)

func TestConforms(t *testing.T) {
	open := func(p search.Params) searchtest.Game { return New(p, 1<<22).NewGame(GameOptions{}) }
	fresh := func(p search.Params) searchtest.Game { return New(p, 1<<22).NewGame(GameOptions{Fresh: true}) }
	searchtest.ConformSearcher(t, open, fresh)
}

// A search works with any value of each number.
func TestAllNumbers(t *testing.T) {
	g := searchtest.Deep()
	g.Terminal, g.Dead = 2, 1
	for _, name := range search.NumberNames() {
		if !strings.HasPrefix(name, "MCTS.") {
			continue
		}
		for _, n := range []int{0, 1, 1 << 15} {
			params := g.Params()
			if err := params.SetNumber(name, n); err != nil {
				t.Fatal(err)
			}
			r := New(params, 1<<20).NewGame(GameOptions{}).Start(g, search.Limits{Nodes: 3000}, nil).Wait()
			if r.Move == game.NoMove || r.Nodes > 3000 || r.WinProb < 0 || r.WinProb > 1 {
				t.Errorf("%s = %d: %+v", name, n, r)
			}
		}
	}
}
