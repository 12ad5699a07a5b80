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

// closing counts how often a searcher is closed.
type closing struct {
	engine.Searcher
	closed chan struct{}
}

func (c closing) Close() error {
	c.closed <- struct{}{}
	return c.Searcher.Close()
}

// TestKeep: a searcher that is not kept is closed with the last of its games, and one
// without games at once; a game that needs it later gets another one.
func TestKeep(t *testing.T) {
	rules, err := catalog.Rules("gomoku/freestyle-15")
	if err != nil {
		t.Fatal(err)
	}
	e := NewEngines(Options{HashBytes: 1 << 16})
	searcher, err := engine.New("gomoku", engine.Options{HashBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	const old, fresh = "self:nodes=10", "self:nodes=20"
	closed := make(chan struct{}, 9)
	e.open[named{old, "gomoku", false}] = &opened{searcher: func() (engine.Searcher, error) { return closing{searcher, closed}, nil }}
	var games []engine.Game
	for _, spec := range []string{old, old, fresh} {
		g, err := e.NewGame(spec, engine.GameOptions{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		games = append(games, g)
	}
	e.Keep(func(spec, gameName string, reproducible bool) bool {
		return spec == fresh && gameName == "gomoku" && !reproducible
	})
	games[2].Close()
	for range 2 { // a game may be closed more than once
		games[0].Close()
	}
	if len(e.open) != 2 || len(closed) != 0 {
		t.Errorf("with an open game: %d searchers, %d closed", len(e.open), len(closed))
	}
	games[1].Close()
	<-closed
	if len(e.open) != 1 || e.open[named{fresh, "gomoku", false}] == nil {
		t.Errorf("without games: searchers %v", e.open)
	}
	again, err := e.NewGame(old, engine.GameOptions{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	e.Keep(func(string, string, bool) bool { return false })
	if len(e.open) != 0 {
		t.Errorf("at the end: searchers %v", e.open)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
