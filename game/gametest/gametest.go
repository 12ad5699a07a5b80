// Package gametest holds what tests of several packages need of games.
package gametest

import (
	"math/rand/v2"
	"testing"

	"sparring/game"
)

// Stroll plays so many random moves, or fewer where the game ends.
func Stroll(t testing.TB, rng *rand.Rand, p game.Position, plies int) {
	t.Helper()
	for range plies {
		legal := p.Legal(nil)
		if len(legal) == 0 {
			return
		}
		if err := p.Play(legal[rng.IntN(len(legal))]); err != nil {
			t.Fatal(err)
		}
	}
}
