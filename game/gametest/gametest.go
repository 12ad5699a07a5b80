// Package gametest has helpers for tests that play games, and a conformance
// suite for the rules of a game.
package gametest

import (
	"math/rand/v2"
	"testing"

	"sparring/game"
)

// Stroll plays random moves, fewer than plies if the game ends before.
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
