package main

import (
	"flag"
	"os"
	"strings"
	"syscall"
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
		"sparring": sparringOrStory, "pbrain-sparring": main, "broken-engine": faultyengine.Main, "nats-server": natsServer,
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

func mustRules(t *testing.T, name string) *game.Rules {
	t.Helper()
	r, err := catalog.Rules(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fullDisk takes no byte, as a file on a full disk.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestLostOutput: a command whose output could not be written has failed, whether or not
// it has looked at each error of writing.
func TestLostOutput(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"version", "position --game xiangqi", "perft --game xiangqi --depth 1", "match --help", "events",
		"match --game xiangqi --a self:nodes=1 --b self:nodes=1 --games 2 --openings none --max-plies 2",
	} {
		var errs strings.Builder
		code := run(strings.Fields(line), strings.NewReader(""), fullDisk{}, &errs)
		if code != exitFailed || strings.Count(errs.String(), syscall.ENOSPC.Error()) != 1 {
			t.Errorf("sparring %s: exit code %d, %q", line, code, errs.String())
		}
	}
}
