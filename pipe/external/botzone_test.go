package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/frontend"
)

// speakBotzone runs the test binary as a bot for Botzone that asks to be kept running.
// With a text as its argument it answers that instead.
func speakBotzone() {
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

func botzoneSpec(t *testing.T, d Dialect, args ...string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Dialect: d, Path: self, Args: append([]string{"botzone"}, args...)}
}

// TestBotzone: a bot plays either side, from any moves, a process for each of its own.
func TestBotzone(t *testing.T) {
	for _, d := range []Dialect{Botzone, BotzoneJSON} {
		for _, name := range d.Games() {
			if d == Botzone && name == "xiangqi" {
				continue // has no first request by which a bot could tell the game
			}
			t.Run(string(d)+" "+name, func(t *testing.T) {
				t.Parallel() // it waits much for its programs
				e := open(t, botzoneSpec(t, d), name)
				e.times = patient
				for first := range 2 {
					g, p := play(t, e), newGame(t, d.Rules(name))
					last := 0
					for range first {
						playFirst(t, p)
					}
					for range 3 {
						if err := g.Ready(); err != nil {
							t.Fatal(err)
						}
						pid := g.current().program.cmd.Process.Pid
						r := find(t, g, p, search.Limits{})
						if r.Err != nil || len(r.Incidents) > 0 {
							t.Fatalf("%v, %v", r.Err, r.Incidents)
						}
						if pid == last {
							t.Error("the same process plays two moves")
						}
						last = pid
						if err := p.Play(r.Move); err != nil {
							t.Fatal(err)
						}
						playFirst(t, p)
					}
					g.Close()
				}
			})
		}
	}
}

// playFirst plays the first legal move.
func playFirst(t *testing.T, p game.Position) {
	t.Helper()
	if err := p.Play(p.Legal(nil)[0]); err != nil {
		t.Fatal(err)
	}
}

// TestBotzoneRefusals: other rules and starts than the platform's are no fault of the bot;
// an answer that is no move is one.
func TestBotzoneRefusals(t *testing.T) {
	e := open(t, botzoneSpec(t, Botzone), "amazons")
	e.times = patient
	if r := find(t, play(t, e), newGame(t, "amazons/10x10"), search.Limits{}); r.Err == nil || !strings.Contains(r.Err.Error(), "botzone engines play amazons/8x8, not amazons/10x10") {
		t.Errorf("%v", r.Err)
	}
	other, err := catalog.Setup("amazons", "amazons/8x8", "2q2q2/8/q6q/8/8/Q6Q/8/2Q2Q2 b")
	if err != nil {
		t.Fatal(err)
	}
	if r := find(t, play(t, e), other, search.Limits{}); r.Err == nil || !strings.Contains(r.Err.Error(), "from the usual start") {
		t.Errorf("%v", r.Err)
	}
	for says, want := range map[string]string{"0 2 1 2": "want 2 or 6 numbers", "-1 -1 -1 -1 -1 -1": "no move", "0 0 1 1 2 2": "illegal"} {
		bad := open(t, botzoneSpec(t, Botzone, says), "amazons")
		bad.times = patient
		r := find(t, play(t, bad), newGame(t, "amazons/8x8"), search.Limits{})
		if fault, ok := errors.AsType[*engine.Fault](r.Err); !ok || fault.Kind != engine.FaultIllegal || !strings.Contains(fault.Text, want) {
			t.Errorf("%s: %v", says, r.Err)
		}
	}
}
