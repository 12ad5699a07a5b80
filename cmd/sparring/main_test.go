package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/external/faultyengine"
)

// TestMain lets the scripts call sparring as a command of its own, by the names
// that it may have, and an engine that is broken in the way its argument says.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sparring": main, "pbrain-sparring": main, "broken-engine": faultyengine.Main})
}

// TestScripts runs the stories in testdata: what a user types, and what comes back.
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
