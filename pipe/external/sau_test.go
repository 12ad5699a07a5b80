package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/pipe/frontend"
)

// speakSAU makes the test binary an engine of the SAU platform.
func speakSAU() {
	if err := frontend.Serve(context.Background(), os.Stdin, os.Stdout, frontend.Options{Protocol: "sau", Game: "amazons", Nodes: 20}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestGameLost: where no other process can take a game over, that its process
// is gone is the engine's fault, whoever has noticed it; a game that it never
// knew is not.
func TestGameLost(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, Spec{Dialect: SAU, Path: self, Args: []string{"sau"}}, "amazons")
	e.times = patient
	p := newGame(t, "amazons/10x10")
	play := func(m game.Move) {
		t.Helper()
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
	}
	r := find(t, e, p, search.Limits{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	play(r.Move)
	play(p.Legal(nil)[0])
	e.idle[0].kill()
	<-e.idle[0].gone
	if err := e.Ready(); err != nil { // as another game's beginning does
		t.Fatal(err)
	}
	for range 2 {
		r := find(t, e, p, search.Limits{})
		if fault, ok := errors.AsType[*engine.Fault](r.Err); !ok || fault.Kind != engine.FaultCrash {
			t.Errorf("the game that was lost: %v", r.Err)
		}
	}
	e.Forget()
	if r := find(t, e, p, search.Limits{}); !errors.Is(r.Err, errMidgame) {
		t.Errorf("a game that no process ever knew: %v", r.Err)
	}
}
