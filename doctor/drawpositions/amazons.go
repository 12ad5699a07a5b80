package main

import (
	"math/rand/v2"

	"sparring/game"
	"sparring/pipe/external/faultyengine"
)

// amazonsRules are the rules, and how many positions there are of each.
var amazonsRules = []struct {
	rule  game.Refusal
	count int
	moves int // legal moves at most
}{
	{game.RefusedBlocked, 15, 12},
	{game.RefusedShotBlocked, 20, 12},
	{game.RefusedShotOccupied, 15, 12},
	{game.RefusedStuck, 12, 2}, // nearly
}

// drawAmazons plays random games until few moves are left.
func drawAmazons(rng *rand.Rand) (lines []string) {
	for _, want := range amazonsRules {
		for n := 0; n < want.count; {
			p := setUp("amazons/10x10", "")
			for legal := p.Legal(nil); len(legal) > want.moves; legal = p.Legal(nil) {
				if p.Play(legal[rng.IntN(len(legal))]) != nil {
					break
				}
			}
			if p.Outcome().Over() {
				continue
			}
			wrong := faultyengine.Breaking(p, want.rule)
			if len(wrong) == 0 && want.rule != game.RefusedStuck {
				continue
			}
			rng.Shuffle(len(wrong), func(i, j int) { wrong[i], wrong[j] = wrong[j], wrong[i] })
			lines = append(lines, line(string(want.rule), "amazons/10x10", p.String(), wrong))
			n++
		}
	}
	return lines
}
