// Package catalog lists the games. Code that gets a game's name from outside (a
// challenge, a flag, a record) looks it up here.
package catalog

import (
	"fmt"
	"regexp"
	"strings"

	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
)

var games = []game.Game{xiangqi.Game(), gomoku.Game(), amazons.Game()}

// Games lists the games.
func Games() []game.Game { return games }

// Names lists the names of the games.
func Names() (names []string) {
	for _, g := range games {
		names = append(names, g.Name)
	}
	return names
}

// goodName is the form of names that messages' subjects can have.
var goodName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// Register adds a game to those of the product. It is for programs that bring a
// game of their own: call it at the start, before anything else of this
// package. The error says what is wrong with g.
func Register(g game.Game) error {
	switch _, err := Game(g.Name); {
	case !goodName.MatchString(g.Name):
		return fmt.Errorf("game %.40q: want a name of 1 to 32 of a-z, 0-9, _ and -", g.Name)
	case err == nil:
		return fmt.Errorf("game %s: the name is taken", g.Name)
	case g.Rules == nil || g.RulesFor == nil:
		return fmt.Errorf("game %s: Rules and RulesFor are required", g.Name)
	case len(g.Sets) == 0 || len(g.Common) == 0 || len(g.Reasons) == 0:
		return fmt.Errorf("game %s: Sets, Common and Reasons are required", g.Name)
	}
	if _, err := g.Rules(g.Default); err != nil {
		return fmt.Errorf("game %s: the default rules: %w", g.Name, err)
	}
	games = append(games, g)
	return nil
}

// Game finds a game by name; the error wraps game.ErrRules and lists the names.
func Game(name string) (game.Game, error) {
	for _, g := range games {
		if g.Name == name {
			return g, nil
		}
	}
	return game.Game{}, fmt.Errorf("%w: no game %.40q (have %s)", game.ErrRules, name, strings.Join(Names(), ", "))
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

// RulesOf finds a rule set of a game by what a user typed: its name, with or without the game's in
// front; "" means the game's default set. The error wraps game.ErrRules.
func RulesOf(gameName, rules string) (*game.Rules, error) {
	g, err := Game(gameName)
	if err != nil {
		return nil, err
	}
	head, _, full := strings.Cut(rules, "/")
	switch {
	case rules == "":
		rules = g.Default
	case full && head != gameName:
		return nil, fmt.Errorf("%w %.40q: want a rule set of %s, such as %s", game.ErrRules, rules, gameName, g.Default)
	case !full:
		rules = gameName + "/" + rules
	}
	return g.Rules(rules)
}

// Setup sets up a position from what a user typed. If rules is "", they follow
// from the position; if both are "", the game's default rules and usual start
// are meant. Rules may be given with or without the game's name in front.
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
	r, err := RulesOf(gameName, rules)
	if err != nil {
		return nil, err
	}
	return r.New(position)
}
