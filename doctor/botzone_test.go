package doctor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"sparring/pipe/external"
	"sparring/pipe/frontend"
)

// botzone runs the test binary as a bot for Botzone. With a text as its argument it answers
// that instead of a move.
func botzone() {
	if len(os.Args) > 2 {
		fmt.Println(os.Args[2])
		os.Exit(0)
	}
	if err := frontend.Serve(context.Background(), os.Stdin, os.Stdout, frontend.Options{Protocol: "botzone", Nodes: 20}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// botzoneFindings checks a bot on the platform's board.
func botzoneFindings(t *testing.T, moves int, args, steps []string) map[string]Finding {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := external.Spec{Dialect: external.Botzone, Path: self, Args: append([]string{"botzone"}, args...)}
	return examine(t, openChecker(t, s, Options{Game: "amazons", Moves: moves}), steps...)
}

// TestBotzone: what can be checked of a bot is fine. It keeps its own time, plays from the
// usual start alone, and its process ends after each move.
func TestBotzone(t *testing.T) {
	found := botzoneFindings(t, 2, nil, nil)
	for check, want := range map[string]Verdict{"start": Good, "moves": Good, "time": Skip, "clock": Skip, "stop": Skip, "rules": Skip, "perft": Skip,
		"soak": Good, "output": Good, "memory": Good, "children": Good, "quit": Skip} {
		measured := check != "memory" && check != "children" || canMeasure
		if f := found[check]; f.Verdict != want && measured {
			t.Errorf("%s: %+v, want %s", check, f, want)
		}
	}
}

// TestBotzoneFault: a bot whose answer is no move of the platform has a fault.
func TestBotzoneFault(t *testing.T) {
	found := botzoneFindings(t, 0, []string{"0 2 1 2"}, []string{"moves"})
	if f := found["moves"]; f.Verdict != Bad || !strings.Contains(f.Text, "want 2 or 6 numbers") {
		t.Errorf("%+v", f)
	}
}

// TestBotzoneSoak: a long run, with a process for each move, is refused.
func TestBotzoneSoak(t *testing.T) {
	x := &checker{spec: external.Spec{Dialect: external.Botzone}, options: Options{Moves: maxUntimedSoak + 1}}
	if f := x.soak(); f.Verdict != Skip || !strings.Contains(f.Text, "--moves 100 at most") {
		t.Errorf("%+v", f)
	}
}
