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

// speakSAU runs the test binary as an engine for the SAU platform.
func speakSAU() {
	if err := frontend.Serve(context.Background(), os.Stdin, os.Stdout, frontend.Options{Protocol: "sau", Game: "amazons", Nodes: 20}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestGameLost: if no other process can take a game over, the end of its process is
// the engine's fault. A search in the middle of an unknown game is not.
func TestGameLost(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, Spec{Dialect: SAU, Path: self, Args: []string{"sau"}}, "amazons")
	e.times = patient
	g, p := play(t, e), newGame(t, "amazons/10x10")
	move := func(m game.Move) {
		t.Helper()
		if err := p.Play(m); err != nil {
			t.Fatal(err)
		}
	}
	r := find(t, g, p, search.Limits{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	move(r.Move)
	move(p.Legal(nil)[0])
	endProcess(g)
	for range 2 {
		r := find(t, g, p, search.Limits{})
		if fault, ok := errors.AsType[*engine.Fault](r.Err); !ok || fault.Kind != engine.FaultCrash {
			t.Errorf("the game that was lost: %v", r.Err)
		}
	}
	if r := find(t, play(t, e), p, search.Limits{}); !errors.Is(r.Err, errMidgame) {
		t.Errorf("a game that no process ever knew: %v", r.Err)
	}
}
