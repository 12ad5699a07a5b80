package browser

import (
	"fmt"
	"github.com/rs/zerolog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sync"
	"testing"
)

// World is a platform with its page and bots: a NATS server of this process, and the
// others as processes of their own.
type World struct {
	nats  *embedded.Server
	At    string // address of the page, which stays the same when the arena is restarted
	Arena *Process
	Bots  *Process

	users int // of one that is shared
}

// levels is how many games the levels of a world play at once.
const levels = 40

// worlds are the worlds that tests share. Each test brings people of its own: what it
// sees of the other tests is their games in the lists.
var worlds struct {
	mu     sync.Mutex
	opened int // how many tests have used the one below
	now    *World
}

// maxUses is how many tests a world serves, because an arena bounds the sessions and
// games of one address.
const maxUses = 16

// SharedWorld returns a world that other tests use, too.
func SharedWorld(t testing.TB) *World {
	t.Helper()
	NeededLong(t)
	return sharedWorld(t)
}

// SmokeWorld is a [SharedWorld] for a test that is among the short ones.
func SmokeWorld(t testing.TB) *World {
	t.Helper()
	Needed(t)
	return sharedWorld(t)
}

func sharedWorld(t testing.TB) *World {
	t.Helper()
	worlds.mu.Lock()
	defer worlds.mu.Unlock()
	if worlds.now == nil || worlds.opened == maxUses {
		dir, err := os.MkdirTemp(files, "world-")
		if err != nil {
			t.Fatal(err)
		}
		next := startWorld(t, dir)
		if worlds.now != nil {
			worlds.now.release()
		}
		worlds.now, worlds.opened = next, 0
		next.users++ // until there is another one
	}
	w := worlds.now
	worlds.opened++
	w.users++
	t.Cleanup(func() {
		worlds.mu.Lock()
		defer worlds.mu.Unlock()
		w.release()
	})
	w.logsOf(t)
	return w
}

// release ends a shared world that nobody uses any more.
func (w *World) release() {
	if w.users--; w.users == 0 {
		w.close()
	}
}

// closeWorlds ends the world that tests have shared last.
func closeWorlds() {
	if worlds.now != nil {
		worlds.now.release()
	}
}

// NewWorld starts a world that ends with the test. Its processes have the settings, too.
func NewWorld(t testing.TB, settings ...string) *World {
	t.Helper()
	NeededLong(t)
	w := startWorld(t, t.TempDir(), settings...)
	t.Cleanup(w.close)
	w.logsOf(t)
	return w
}

// startWorld starts a world with its files in a directory. Nobody in it loses a game
// because the machine is slow.
func startWorld(t testing.TB, dir string, settings ...string) *World {
	t.Helper()
	w := &World{At: fmt.Sprintf("127.0.0.1:%d", gametest.FreePort(t))}
	var err error
	if w.nats, err = embedded.Start(embedded.Config{Dir: filepath.Join(dir, "nats"), Port: embedded.RandomPort, Log: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	w.Arena = w.process("arena",
		"SPARRING_NATS_PASSWORD="+w.nats.Password("platform"), "SPARRING_WEB_ADDRESS="+w.At, "SPARRING_LADDER_ON=false", "SPARRING_WEB_REVIEW_TIME=6s",
		"SPARRING_ARENA_FIRST_MOVE=1h", "SPARRING_ARENA_ABANDON_AFTER=1h", "SPARRING_ARENA_LOST_AFTER=5s")
	w.Bots = w.process("bot",
		"SPARRING_NATS_PASSWORD="+w.nats.Password("bots"), fmt.Sprintf("SPARRING_LEVELS=%d", levels), "SPARRING_HASH_MB=4",
		"SPARRING_PLAY_HUMAN_DELAY=20ms", "SPARRING_PONDER=false", "SPARRING_DATA="+filepath.Join(dir, "bots"))
	for _, p := range []*Process{w.Arena, w.Bots} {
		p.env = append(p.env, settings...)
	}
	serves := false
	defer func() {
		if !serves {
			w.close()
		}
	}()
	w.Arena.Start(t)
	w.Bots.Start(t)
	w.Healthy(t)
	serves = true
	return w
}

// close ends all parts of the world.
func (w *World) close() {
	w.Bots.Kill()
	w.Arena.Kill()
	w.nats.Close()
}

// logsOf shows the logs of the world's processes if the test fails.
func (w *World) logsOf(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			for _, p := range []*Process{w.Arena, w.Bots} {
				text := p.log.String()
				t.Logf("log of the %s:\n%s", p.command, text[max(0, len(text)-3000):])
			}
		}
	})
}

// url returns the address of a path of the page.
func (w *World) url(path string) string { return "http://" + w.At + path }

// Healthy waits until the arena serves players.
func (w *World) Healthy(t testing.TB) {
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

// Process is one command of the program. It can be killed, and started again with
// the same settings.
type Process struct {
	command string
	env     []string
	cmd     *exec.Cmd // nil: it does not run
	log     gametest.Output
}

func (w *World) process(command string, env ...string) *Process {
	p := &Process{command: command, env: append(os.Environ(), env...)}
	p.env = append(p.env, "SPARRING_NATS_URL="+w.nats.URL())
	return p
}

func (p *Process) Start(t testing.TB) {
	t.Helper()
	cmd := exec.Command(Program(t), p.command)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, &p.log, &p.log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.cmd = cmd
}

// Kill ends the process as a crash does, if it runs.
func (p *Process) Kill() {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Kill() // fails only if it has ended
	p.cmd.Wait()
	p.cmd = nil
}
