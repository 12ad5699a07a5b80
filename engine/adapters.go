package engine

import (
	"fmt"
	"slices"

	"sparring/engine/adapter"
	"sparring/engine/amazons"
	"sparring/engine/gomoku"
	"sparring/engine/xiangqi"
	"sparring/game"
)

// adapters has a row for each kind of game that the engine plays. The kernel knows
// no opening procedures (swap and the like), in which turns need not alternate:
// package opening compares searches of the positions after each choice.
var adapters = []adapter.Adapter{xiangqi.Adapter(), gomoku.Adapter(), amazons.Adapter()}

// Register adds a kind of game, for programs that have their own. Call it before
// anything else of this package. The error says what the adapter lacks.
func Register(a adapter.Adapter) error {
	if err := a.Check(); err != nil {
		return err
	}
	if _, err := Adapter(a.Game); err == nil {
		return fmt.Errorf("adapter of %s: the game has one already", a.Game)
	}
	adapters = append(adapters, a)
	return nil
}

// Adapter returns the row of a kind of game. The error wraps game.ErrRules for an
// unknown one.
func Adapter(gameName string) (adapter.Adapter, error) {
	i := slices.IndexFunc(adapters, func(a adapter.Adapter) bool { return a.Game == gameName })
	if i < 0 {
		return adapter.Adapter{}, fmt.Errorf("%w: no engine for game %.40q", game.ErrRules, gameName)
	}
	return adapters[i], nil
}
