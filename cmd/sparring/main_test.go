package main

import (
	"flag"
	"os"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rogpeppe/go-internal/testscript"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/pipe/external/faultyengine"
)

// TestMain lets the tests call sparring as a command, by each of its names, an engine
// with the fault that its argument selects, one to tune, and the NATS server, all
// without building them.
func TestMain(m *testing.M) {
	// They mostly wait for processes of their own, so more of them than processors may run.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"sparring": main, "pbrain-sparring": main, "broken-engine": faultyengine.Main, "nats-server": natsServer,
		"tuned-engine": tunedEngine,
	})
}

// natsServer does what the command nats-server does.
func natsServer() {
	options, err := server.ConfigureOptions(flag.NewFlagSet("nats-server", flag.ExitOnError), os.Args[1:], nil, nil, nil)
	if err != nil {
		server.PrintAndDie(err.Error())
	}
	s, err := server.NewServer(options)
	if err != nil {
		server.PrintAndDie(err.Error())
	}
	s.ConfigureLogger()
	if err := server.Run(s); err != nil {
		server.PrintAndDie(err.Error())
	}
	s.WaitForShutdown()
}

// TestScripts runs the scripts in testdata: commands of a user and their output.
func TestScripts(t *testing.T) {
	t.Parallel()
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
