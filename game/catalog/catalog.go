// Package catalog knows which games there are. Everything that meets a game
// by its name (a challenge, a flag, a record) starts here.
package catalog

import (
	"fmt"
	"strings"

	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
)

var games = []game.Game{xiangqi.Game(), gomoku.Game(), amazons.Game()}

// Games lists the games.
func Games() []game.Game { return games }

// Game finds a game by name; the error wraps game.ErrRules and lists the names.
func Game(name string) (game.Game, error) {
	var names []string
	for _, g := range games {
		if g.Name == name {
			return g, nil
		}
		names = append(names, g.Name)
	}
	return game.Game{}, fmt.Errorf("%w: no game %.40q (have %s)", game.ErrRules, name, strings.Join(names, ", "))
}

// Rules finds a rule set by its full name ("xiangqi/simple"); a game's bare
// name means its default set. The error wraps game.ErrRules.
func Rules(name string) (*game.Rules, error) {
	head, _, full := strings.Cut(name, "/")
	g, err := Game(head)
	if err != nil {
		return nil, err
	}
	if !full {
		name = g.Default
	}
	return g.Rules(name)
}

// Setup resolves what a user may leave out: the rules follow from the
// position where rules is "", and "" for both means the game's default set and
// start. Rules may be given with or without the game's name in front.
func Setup(gameName, rules, position string) (game.Position, error) {
	g, err := Game(gameName)
	if err != nil {
		return nil, err
	}
	if rules == "" {
		if rules, err = g.RulesFor(position); err != nil {
			return nil, err
		}
	}
	if !strings.HasPrefix(rules, g.Name+"/") {
		rules = g.Name + "/" + rules
	}
	r, err := g.Rules(rules)
	if err != nil {
		return nil, err
	}
	return r.New(position)
}
