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

// adapters are the games that the engine plays, a row each. An opening
// procedure (swap and the like) is no business of the kernel, where turns
// alternate: package opening compares searches of what its choices lead to.
var adapters = []adapter.Adapter{xiangqi.Adapter(), gomoku.Adapter(), amazons.Adapter()}

// Register adds a game to those of the product. It is for programs that bring a
// game of their own: call it at the start, before anything else of this
// package. The error says what the adapter lacks.
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

// Adapter is a game's row; the error wraps game.ErrRules for a game that the
// engine does not play.
func Adapter(gameName string) (adapter.Adapter, error) {
	i := slices.IndexFunc(adapters, func(a adapter.Adapter) bool { return a.Game == gameName })
	if i < 0 {
		return adapter.Adapter{}, fmt.Errorf("%w: no engine for game %.40q", game.ErrRules, gameName)
	}
	return adapters[i], nil
}
