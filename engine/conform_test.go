package engine

import (
	"testing"

	"sparring/engine/search/searchtest"
	"sparring/game"
)

// Every adapter keeps the kernel's contract.
func TestAdaptersConform(t *testing.T) {
	for _, a := range adapters {
		t.Run(a.Game, func(t *testing.T) {
			s := searchtest.Subject{New: a.New, Params: a.Params(), Starts: []game.Position{start(t, a.Game)}, Walks: 3, Plies: 40, Seed: 5}
			searchtest.Conform(t, s)
		})
	}
}
