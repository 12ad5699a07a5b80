package engine

import (
	"testing"

	"sparring/engine/search/searchtest"
	"sparring/game"
)

// Every adapter keeps the kernel's contract.
func TestAdaptersConform(t *testing.T) {
	for name, a := range adapters {
		t.Run(name, func(t *testing.T) {
			s := searchtest.Subject{New: a.position, Params: a.params(), Starts: []game.Position{start(t, name)}, Walks: 3, Plies: 40, Seed: 5}
			searchtest.Conform(t, s)
		})
	}
}
