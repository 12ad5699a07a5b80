package external

import (
	"errors"
	"sync"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game/gametest"
	"sparring/pipe/external/faultyengine"
)

// TestCloseAtOnce: a game that is closed while it starts leaves no process of its
// own, and begins none later.
func TestCloseAtOnce(t *testing.T) {
	files := openFiles()
	e := openFaulty(t, faultyengine.Fine)
	p := newGame(t, "xiangqi/wxf")
	var all sync.WaitGroup
	for range 40 {
		g := play(t, e)
		all.Go(func() {
			if err := g.Ready(); err != nil && !errors.Is(err, engine.ErrGameClosed) {
				t.Error(err)
			}
		})
		all.Go(func() {
			run, err := g.Search(p, search.Limits{Wait: true}, nil)
			if err == nil {
				err = run.Wait().Err
			}
			if err != nil && !errors.Is(err, engine.ErrGameClosed) {
				t.Error(err)
			}
		})
		all.Go(func() { g.Close() })
	}
	all.Wait()
	gametest.Eventually(t, "no process is of a game", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.busy) == 0
	})
	e.Close()
	alone(t, "after Close", files)
}

// TestClosedGame: a closed game starts no process, whatever is asked of it.
func TestClosedGame(t *testing.T) {
	e := openFaulty(t, faultyengine.Fine)
	g := play(t, e)
	if err := g.Ready(); err != nil {
		t.Fatal(err)
	}
	g.Close()
	if err := g.Ready(); !errors.Is(err, engine.ErrGameClosed) {
		t.Errorf("Ready: %v", err)
	}
	if err := g.begin(); !errors.Is(err, engine.ErrGameClosed) || g.current() != nil {
		t.Errorf("begin: %v", err)
	}
}

// TestCloseStopsAll: Close ends the search under way and those that wait for it.
func TestCloseStopsAll(t *testing.T) {
	g := play(t, openFaulty(t, faultyengine.Fine))
	var runs []engine.Running
	for range 3 {
		run, err := g.Search(newGame(t, "xiangqi/wxf"), search.Limits{Wait: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
		gametest.Eventually(t, "the first search has begun", func() bool { return len(g.turn) == 1 })
	}
	g.Close()
	for i, run := range runs {
		if err := run.Wait().Err; err != nil {
			t.Errorf("search %d: %v", i+1, err)
		}
	}
	if g.mu.Lock(); len(g.searches) > 0 {
		t.Errorf("%d searches are still listed", len(g.searches))
	}
	g.mu.Unlock()
}

// TestCloseWhileStarting: Close waits neither for a program that hangs at its start
// nor for Ready, and kills the program.
func TestCloseWhileStarting(t *testing.T) {
	e := openFaulty(t, faultyengine.HangStart)
	files := openFiles()
	g := play(t, e)
	ready := make(chan error, 1)
	go func() { ready <- g.Ready() }()
	gametest.Eventually(t, "Ready waits", func() bool { return len(g.turn) == 1 })
	g.Close()
	if err := <-ready; !errors.Is(err, engine.ErrGameClosed) {
		t.Errorf("Ready: %v", err)
	}
	alone(t, "after Close of the game", files)
}
