package mcts

import (
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
)

func TestConforms(t *testing.T) {
	open := func(p search.Params) searchtest.Game { return New(p, 1<<22).NewGame(GameOptions{}) }
	fresh := func(p search.Params) searchtest.Game { return New(p, 1<<22).NewGame(GameOptions{Fresh: true}) }
	searchtest.ConformSearcher(t, open, fresh)
}
