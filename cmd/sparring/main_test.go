package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/external/faultyengine"
)

// TestMain lets the scripts call sparring as a command, by each of its names, and an
// engine with the fault that its argument selects.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sparring": main, "pbrain-sparring": main, "broken-engine": faultyengine.Main})
}

// TestScripts runs the scripts in testdata: commands of a user and their output.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
	})
}

func mustRules(t *testing.T, name string) *game.Rules {
	t.Helper()
	r, err := catalog.Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
