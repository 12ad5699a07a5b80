package web

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/sys/unix"

	"sparring/arena/arenatest"
	"sparring/protocol"
)

// natsDir is the variable that makes this test program a NATS server with its
// streams in a directory, so that tests can stop the process and go on with it.
const natsDir = "SPARRING_TEST_NATS_DIR"

// runNATS is the main function of such a process. It writes its address to a file.
func runNATS(dir string) int {
	port := -1
	if last, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "port")); err == nil {
		fmt.Sscan(string(last), &port)
	}
	ns, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ns.Start()
	if !ns.ReadyForConnections(patience) {
		return 1
	}
	_, listens, _ := strings.Cut(ns.Addr().String(), ":")
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "port"), []byte(listens), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	return 0
}

// natsProcess is a NATS server in a process of its own.
type natsProcess struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
}

// startNATS runs a server with its streams in dir, and the file with its port
// beside it.
func startNATS(t *testing.T, dir string) *natsProcess {
	t.Helper()
	p := &natsProcess{t: t, dir: dir}
	p.start()
	t.Cleanup(p.Close)
	eventually(t, "the NATS server", func() bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(dir), "port"))
		return err == nil
	})
	return p
}

func (p *natsProcess) start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), natsDir+"="+p.dir)
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *natsProcess) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
	if s == syscall.SIGSTOP { // it takes effect a moment later
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			p.t.Errorf("not stopped: %v", err)
		}
	}
}

// Close kills the server.
func (p *natsProcess) Close() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func (p *natsProcess) Platform() protocol.Connection {
	port, err := os.ReadFile(filepath.Join(filepath.Dir(p.dir), "port"))
	if err != nil {
		p.t.Fatal(err)
	}
	return protocol.Connection{URL: "nats://127.0.0.1:" + string(port), Name: "platform"}
}

// startHouseOn runs a house on a NATS server in another process.
func startHouseOn(t *testing.T, p *natsProcess) *house {
	t.Helper()
	h := &house{nats: p, log: arenatest.Log(t)}
	h.Server = h.open(t, Config{})
	h.run(t)
	return h
}

// withoutWrites checks that nothing is stored and that nobody is lost meanwhile.
func withoutWrites(t *testing.T, h *house, here *browser, who protocol.PlayerID) {
	t.Helper()
	here.want(who)
	for range 2 {
		if code, a := here.post("/api/name", `{"name": "Later"}`); code != http.StatusServiceUnavailable || a.Code != protocol.Unavailable || a.Text == "" {
			t.Errorf("a name: %d %+v", code, a)
		}
		w := h.browser(t).request(http.MethodPost, "/api/session", "")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || len(w.Result().Cookies()) != 0 {
			t.Errorf("a new session: %d %v", w.Code, w.Header())
		}
	}
	if w := here.request(http.MethodGet, "/", ""); w.Code != http.StatusOK {
		t.Errorf("the start page: %d", w.Code)
	}
	here.want(who)
}

// A NATS server that hangs costs nobody the session. A link that is used meanwhile
// can be used again by the same browser, since nobody knows whether it was.
func TestHungStore(t *testing.T) {
	t.Parallel()
	p := startNATS(t, filepath.Join(t.TempDir(), "nats"))
	h := startHouseOn(t, p)
	phone, laptop, thief := h.browser(t), h.browser(t), h.browser(t)
	who := phone.guest()
	_, made := phone.post("/api/link", "")
	path := "/link/" + made.linkAnswer.Token
	laptop.request(http.MethodGet, path, "")
	p.signal(syscall.SIGSTOP)
	defer p.signal(syscall.SIGCONT)
	if w := laptop.request(http.MethodPost, path, ""); w.Code != http.StatusServiceUnavailable {
		t.Errorf("a link: %d", w.Code)
	}
	withoutWrites(t, h, phone, who.Player)
	// Meanwhile nobody waits for it: it is left alone for a while.
	h.people.mu.Lock()
	rested := h.people.resting
	h.people.resting = time.Now().Add(time.Hour)
	h.people.mu.Unlock()
	if _, _, err := h.people.begin(t.Context()); rested.IsZero() || !errors.Is(err, errStore) {
		t.Errorf("left alone since %v: %v", rested, err)
	}
	h.people.mu.Lock()
	h.people.resting = rested
	h.people.mu.Unlock()
	if err := h.health(); !errors.Is(err, errStore) {
		t.Errorf("/healthz says %v", err)
	}
	p.signal(syscall.SIGCONT)
	eventually(t, "the link to work", func() bool { return laptop.request(http.MethodPost, path, "").Code == http.StatusSeeOther })
	laptop.want(who.Player)
	if w := thief.request(http.MethodPost, path, ""); w.Code != http.StatusGone {
		t.Errorf("another browser: %d", w.Code)
	}
	eventually(t, "/healthz to be content", func() bool { return h.health() == nil })
	eventually(t, "a new name", func() bool { code, _ := phone.post("/api/name", `{"name": "Ann"}`); return code == http.StatusOK })
	phone.want(who.Player)
	h.browser(t).guest()
}

// With a full disk nothing is stored, and nobody is lost.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("this machine lets tests make no small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.Mkdir(filepath.Join(disk, "platform"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := startNATS(t, filepath.Join(disk, "platform", "nats"))
	h := startHouseOn(t, p)
	b := h.browser(t)
	who := b.guest()
	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	eventually(t, "a refusal", func() bool {
		code, _ := h.browser(t).post("/api/session", "")
		return code == http.StatusServiceUnavailable
	})
	withoutWrites(t, h, b, who.Player)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	p.Close() // JetStream stays off until the server is started again
	p.start()
	eventually(t, "a new name", func() bool { code, _ := b.post("/api/name", `{"name": "Ann"}`); return code == http.StatusOK })
	b.want(who.Player)
}

// fill writes a file until its disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

// A killed server and gateway lose nobody.
func TestPeopleSurviveAKill(t *testing.T) {
	t.Parallel()
	p := startNATS(t, filepath.Join(t.TempDir(), "nats"))
	h := startHouseOn(t, p)
	b := h.browser(t)
	who := b.guest()
	p.Close()
	p.start()
	other := h.another(t) // a gateway that has nobody in memory
	there := other.browser(t)
	there.cookies = b.cookies
	eventually(t, "the person on another gateway", func() bool { return there.player() == who.Player })
}
