package browser

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/protocol/embedded"
)

// world is a platform with its page and bots: a NATS server of this process, and the
// others as processes of their own.
type world struct {
	nats  *embedded.Server
	at    string // address of the page, which stays the same when the arena is restarted
	arena *process
	bots  *process
}

// levels is how many games the levels of a world play at once.
const levels = 40

// worlds are the worlds that tests share. Each test brings people of its own: what it
// sees of the other tests is their games in the lists.
var worlds struct {
	mu   sync.Mutex
	all  []*world // the last one is in use
	uses int      // of the last one
}

// maxUses is how many tests a world serves, because an arena bounds the sessions and
// games of one address.
const maxUses = 16

// sharedWorld returns a world that other tests use, too.
func sharedWorld(t testing.TB) *world {
	t.Helper()
	browser.open(t) // skips the test if there is none
	worlds.mu.Lock()
	defer worlds.mu.Unlock()
	if len(worlds.all) == 0 || worlds.uses == maxUses {
		dir, err := os.MkdirTemp(filepath.Dir(program), "world-")
		if err != nil {
			t.Fatal(err)
		}
		w := startWorld(t, dir)
		worlds.all, worlds.uses = append(worlds.all, w), 0
	}
	worlds.uses++
	w := worlds.all[len(worlds.all)-1]
	w.logsOf(t)
	return w
}

// closeWorlds ends the worlds that tests have shared.
func closeWorlds() {
	for _, w := range worlds.all {
		w.close()
	}
}

// newWorld starts a world that ends with the test. Its processes have the settings, too.
func newWorld(t testing.TB, settings ...string) *world {
	t.Helper()
	browser.open(t)
	w := startWorld(t, t.TempDir(), settings...)
	t.Cleanup(w.close)
	w.logsOf(t)
	return w
}

// startWorld starts a world with its files in a directory. Nobody in it loses a game
// because the machine is slow.
func startWorld(t testing.TB, dir string, settings ...string) *world {
	t.Helper()
	w := &world{at: fmt.Sprintf("127.0.0.1:%d", gametest.FreePort(t))}
	var err error
	if w.nats, err = embedded.Start(embedded.Config{Dir: filepath.Join(dir, "nats"), Port: embedded.RandomPort, Log: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	w.arena = w.process("arena",
		"SPARRING_NATS_PASSWORD="+w.nats.Password("platform"), "SPARRING_WEB_ADDRESS="+w.at, "SPARRING_LADDER_ON=false",
		"SPARRING_ARENA_FIRST_MOVE=1h", "SPARRING_ARENA_ABANDON_AFTER=1h", "SPARRING_ARENA_LOST_AFTER=5s")
	w.bots = w.process("bot",
		"SPARRING_NATS_PASSWORD="+w.nats.Password("bots"), fmt.Sprintf("SPARRING_LEVELS=%d", levels), "SPARRING_HASH_MB=4",
		"SPARRING_PLAY_HUMAN_DELAY=20ms", "SPARRING_PONDER=false", "SPARRING_DATA="+filepath.Join(dir, "bots"))
	for _, p := range []*process{w.arena, w.bots} {
		p.env = append(p.env, settings...)
	}
	serves := false
	defer func() {
		if !serves {
			w.close()
		}
	}()
	w.arena.start(t)
	w.bots.start(t)
	w.healthy(t)
	serves = true
	return w
}

// close ends all parts of the world.
func (w *world) close() {
	w.bots.kill()
	w.arena.kill()
	w.nats.Close()
}

// logsOf shows the logs of the world's processes if the test fails.
func (w *world) logsOf(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			for _, p := range []*process{w.arena, w.bots} {
				text := p.log.String()
				t.Logf("log of the %s:\n%s", p.command, text[max(0, len(text)-3000):])
			}
		}
	})
}

// url returns the address of a path of the page.
func (w *world) url(path string) string { return "http://" + w.at + path }

// healthy waits until the arena serves players.
func (w *world) healthy(t testing.TB) {
	t.Helper()
	gametest.Eventually(t, "the arena serves", func() bool {
		response, err := http.Get(w.url("/healthz"))
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// process is one command of the program. It can be killed, and started again with
// the same settings.
type process struct {
	command string
	env     []string
	cmd     *exec.Cmd // nil: it does not run
	log     gametest.Output
}

func (w *world) process(command string, env ...string) *process {
	p := &process{command: command, env: append(os.Environ(), env...)}
	p.env = append(p.env, "SPARRING_NATS_URL="+w.nats.URL())
	return p
}

func (p *process) start(t testing.TB) {
	t.Helper()
	cmd := exec.Command(program, p.command)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, &p.log, &p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.cmd = cmd
}

// kill ends the process as a crash does, if it runs.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Kill() // fails only if it has ended
	p.cmd.Wait()
	p.cmd = nil
}

// store returns the platform's JetStream, for tests that change what is stored.
func (w *world) store(t testing.TB) jetstream.JetStream {
	t.Helper()
	nc, err := protocol.Connect(w.nats.Platform())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}
