package bot

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
)

// firstFails is a game whose first search can't begin.
type firstFails struct {
	engine.Game
	searches *atomic.Int32
}

var errFirst = errors.New("the first search fails")

func (g firstFails) Search(p game.Position, l search.Limits, report func(search.Info)) (engine.Running, error) {
	if g.searches.Add(1) == 1 {
		return nil, errFirst
	}
	return g.Game.Search(p, l, report)
}

// TestWarmUp: a search that failed is tried again; then one is made for all players, and
// nobody goes on before it has ended.
func TestWarmUp(t *testing.T) {
	e := &greedy{winProb: 0.5, pause: 100 * time.Millisecond}
	g, err := e.newGame("", engine.GameOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p, err := catalog.Setup("amazons", "", "")
	if err != nil {
		t.Fatal(err)
	}
	var w warmUp
	slow := firstFails{g, new(atomic.Int32)}
	if err := w.search(slow, p); !errors.Is(err, errFirst) {
		t.Fatalf("the first: %v", err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := w.search(slow, p); err != nil || e.searches() != 0 || slow.searches.Load() != 2 {
				t.Errorf("%v, %d of %d searches run", err, e.searches(), slow.searches.Load())
			}
		})
	}
	wg.Wait()
}
