package play

import (
	"errors"
	"testing"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/playerspec"
)

// gameOf opens a game of our own engine for a position.
func gameOf(t *testing.T, pos game.Position, seed uint64) Game {
	t.Helper()
	p := PoolThinker{playerspec.NewEngines(playerspec.Options{HashBytes: 1 << 20}), engine.NewPool(2)}
	g, err := p.NewGame("", engine.GameOptions{Rules: pos.Rules(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Pool.Close()
		g.Close()
		p.Engines.Close()
	})
	return g
}

func TestPoolThinkerPonders(t *testing.T) {
	pos, err := catalog.Setup("amazons", "6x6", "")
	if err != nil {
		t.Fatal(err)
	}
	g := gameOf(t, pos, 0)
	watched := make(chan Result, 1000)
	th, err := g.Think(Task{Position: pos, Ponder: true, Watch: func(r Result) {
		select {
		case watched <- r:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := <-watched; r.Depth == 0 || r.Move == game.NoMove {
		t.Errorf("watched %+v", r)
	}
	c := Clock{Spec: spec(t, "0.1/move"), At: time.Now()}
	c.Mine, c.Theirs = c.Spec.Start(), c.Spec.Start()
	th.PonderHit(c)
	r, err := th.Wait()
	if err != nil || r.Move == game.NoMove || r.Nodes == 0 || r.WinProb <= 0 || r.WinProb >= 1 {
		t.Errorf("%+v, %v", r, err)
	}

	// Stopped before anything else: no error, whatever it has.
	th, err = g.Think(Task{Position: pos, Ponder: true})
	if err != nil {
		t.Fatal(err)
	}
	th.Stop()
	if _, err := th.Wait(); err != nil {
		t.Error(err)
	}
}

// Both seats of a swap2 game are the engine's: the choices are its too.
func TestChoosesInAnOpeningProcedure(t *testing.T) {
	t.Parallel()
	pos, err := catalog.Setup("gomoku", "gomoku/freestyle-15+swap2", "")
	if err != nil {
		t.Fatal(err)
	}
	g := gameOf(t, pos, 1)
	for ply := range 8 {
		c := Clock{Spec: spec(t, "0.05/move"), At: time.Now()}
		c.Mine, c.Theirs = c.Spec.Start(), c.Spec.Start()
		th, err := g.Think(Task{Position: pos.Clone(), Clock: c})
		if err != nil {
			t.Fatalf("ply %d: %v", ply, err)
		}
		r, err := th.Wait()
		if err != nil {
			t.Fatalf("ply %d: %v", ply, err)
		}
		if err := pos.Play(r.Move); err != nil {
			t.Fatalf("ply %d: %v", ply, err)
		}
	}
	fresh, err := pos.Rules().New("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Think(Task{Position: fresh, Ponder: true}); !errors.Is(err, errNotPondered) {
		t.Errorf("pondering on a procedure: %v", err)
	}
	th, err := g.Think(Task{Position: fresh, Clock: Clock{}})
	if err != nil {
		t.Fatal(err)
	}
	th.Stop()
	th.Wait() // returns, with or without a move
}
