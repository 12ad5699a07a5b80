package amazons

import (
	"fmt"

	"sparring/game"
)

// Game describes the game and its rule sets.
func Game() game.Game {
	return game.Game{
		Name:     "amazons",
		Rules:    func(name string) (*game.Rules, error) { return nil, fmt.Errorf("%w %q", game.ErrRules, name) },
		RulesFor: func(string) (string, error) { return "", game.ErrPosition },
	}
}
