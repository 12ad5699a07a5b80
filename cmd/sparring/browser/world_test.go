package browser

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/protocol/embedded"
)

// world is a platform with its page and bots: a NATS server of this process, and the
// others as processes of their own.
type world struct {
	t     testing.TB
	nats  *embedded.Server
	dir   string
	at    string // address of the page, which stays the same when the arena is restarted
	arena *process
	bots  *process
}

// levels is how many games the levels of a world play at once.
const levels = 40

// newWorld starts a world, which ends with the test. The settings are variables of
// the arena, as NAME=value.
func newWorld(t testing.TB, settings ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), at: freeAddress(t)}
	var err error
	if w.nats, err = embedded.Start(embedded.Config{Dir: filepath.Join(w.dir, "nats"), Port: embedded.RandomPort, Log: zerolog.Nop()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.nats.Close)
	w.arena = w.process("arena", append([]string{
		"SPARRING_NATS_PASSWORD=" + w.nats.Password("platform"), "SPARRING_WEB_ADDRESS=" + w.at, "SPARRING_LADDER_ON=false",
	}, settings...)...)
	w.arena.start()
	w.bots = w.process("bot",
		"SPARRING_NATS_PASSWORD="+w.nats.Password("bots"), fmt.Sprintf("SPARRING_LEVELS=%d", levels), "SPARRING_HASH_MB=4",
		"SPARRING_PLAY_HUMAN_DELAY=20ms", "SPARRING_PONDER=false", "SPARRING_DATA="+filepath.Join(w.dir, "bots"))
	w.bots.start()
	w.healthy()
	return w
}

// url returns the address of a path of the page.
func (w *world) url(path string) string { return "http://" + w.at + path }

// healthy waits until the arena serves players.
func (w *world) healthy() {
	w.t.Helper()
	eventually(w.t, "the arena serves", func() bool {
		response, err := http.Get(w.url("/healthz"))
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// freeAddress returns an address of loopback that was free.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// patience is how long tests wait for what usually takes less than a second.
const patience = time.Minute

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(patience); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}

// process is one command of the program. It can be killed, and started again with
// the same settings.
type process struct {
	t       testing.TB
	command string
	env     []string
	cmd     *exec.Cmd
	ended   chan struct{}
	log     buffer
}

func (w *world) process(command string, env ...string) *process {
	p := &process{t: w.t, command: command, env: append(os.Environ(), env...)}
	p.env = append(p.env, "SPARRING_NATS_URL="+w.nats.URL())
	w.t.Cleanup(func() {
		p.kill()
		if w.t.Failed() {
			w.t.Logf("log of the %s:\n%s", command, p.log.tail())
		}
	})
	return p
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.CommandContext(context.Background(), program, p.command)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.env, &p.log, &p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.ended = make(chan struct{})
	go func() {
		defer close(p.ended)
		p.cmd.Wait() // it is killed
	}()
}

// kill ends the process as a crash does.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Error(err)
	}
	<-p.ended
	p.cmd = nil
}

// buffer is a log that is written and read concurrently.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// tail returns the last lines.
func (b *buffer) tail() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.text.Bytes()
	return string(text[max(0, len(text)-3000):])
}
