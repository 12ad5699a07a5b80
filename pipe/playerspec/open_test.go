package playerspec

import (
	"errors"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// recorder remembers the games that a searcher opens.
type recorder struct {
	engine.Searcher
	opened []engine.Game
}

func (r *recorder) NewGame(o engine.GameOptions) (engine.Game, error) {
	g, err := r.Searcher.NewGame(o)
	if err == nil {
		r.opened = append(r.opened, g)
	}
	return g, err
}

// TestAdvisedClosesAfterError checks that no game stays open if only one of an
// external engine's and ours could be opened.
func TestAdvisedClosesAfterError(t *testing.T) {
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := engine.New("gomoku", engine.Options{HashBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	ours, err := engine.New("xiangqi", engine.Options{HashBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{Searcher: theirs}
	if _, err := (advised{r, ours}).NewGame(engine.GameOptions{Rules: rules}); !errors.Is(err, game.ErrRules) {
		t.Errorf("our engine plays another kind of game: %v", err)
	}
	if len(r.opened) != 1 {
		t.Fatalf("%d games were opened, want 1", len(r.opened))
	}
	p, err := rules.New("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.opened[0].Search(p, search.Limits{Depth: 1}, nil); !errors.Is(err, engine.ErrGameClosed) {
		t.Errorf("the game that was opened first is still open: %v", err)
	}
}
