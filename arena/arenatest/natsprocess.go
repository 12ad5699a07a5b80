package arenatest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"sparring/game/gametest"
	"sparring/protocol"
)

// patience bounds every wait.
const patience = gametest.Patience

// Variables that make a test program a NATS server with its streams in a directory.
const (
	natsDir  = "SPARRING_TEST_NATS_DIR"
	natsPort = "SPARRING_TEST_NATS_PORT"
)

// NATSMain makes this process a NATS server if [StartNATS] started it, and does not
// return then. Call it first in TestMain.
func NATSMain() {
	if dir := os.Getenv(natsDir); dir != "" {
		if err := serveNATS(dir, os.Getenv(natsPort)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// serveNATS runs a server until SIGTERM.
func serveNATS(dir, port string) error {
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	ns, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: number, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	ns.Start()
	if !ns.ReadyForConnections(patience / 2) { // said before the test gives up
		return fmt.Errorf("the NATS server on port %d is not ready", number)
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	<-ended
	return nil
}

// NATSProcess is a NATS server without accounts in a process of its own, so that
// tests can stop the process and let it go on.
type NATSProcess struct {
	t    *testing.T
	dir  string
	port int
	cmd  *exec.Cmd
}

// StartNATS runs a server with its streams in dir. The TestMain of the package calls
// [NATSMain].
func StartNATS(t *testing.T, dir string) *NATSProcess {
	t.Helper()
	p := &NATSProcess{t: t, dir: dir, port: gametest.FreePort(t)}
	p.Start()
	t.Cleanup(p.Close)
	gametest.Eventually(t, "the NATS server", func() bool {
		conn, err := net.Dial("tcp", p.address())
		return err == nil && conn.Close() == nil
	})
	return p
}

func (p *NATSProcess) address() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

// Start runs the server again after Close.
func (p *NATSProcess) Start() {
	p.t.Helper()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), natsDir+"="+p.dir, fmt.Sprintf("%s=%d", natsPort, p.port))
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
}

// Signal sends the process a signal.
func (p *NATSProcess) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

// Pause is [Pause] of the process.
func (p *NATSProcess) Pause() {
	p.t.Helper()
	Pause(p.t, p.cmd.Process)
}

// Continue is [Continue] of the process.
func (p *NATSProcess) Continue() {
	p.t.Helper()
	Continue(p.t, p.cmd.Process)
}

// Close kills the server.
func (p *NATSProcess) Close() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// streams is the folder of the streams; they are in the account of whoever has no password.
func (p *NATSProcess) streams() string { return filepath.Join(p.dir, "jetstream", "$G", "streams") }

// Restart kills the server, copies its streams and starts it again.
func (p *NATSProcess) Restart() (copied string) {
	p.t.Helper()
	p.Close()
	copied = filepath.Join(p.t.TempDir(), "streams")
	if err := os.CopyFS(copied, os.DirFS(p.streams())); err != nil {
		p.t.Fatal(err)
	}
	p.Start()
	return copied
}

// CutPower kills the server and starts it again with some streams, or all if none are named,
// as they were when they were copied.
func (p *NATSProcess) CutPower(copied string, streams ...string) {
	p.t.Helper()
	p.Close()
	if streams == nil {
		streams = []string{"."}
	}
	for _, name := range streams {
		to := filepath.Join(p.streams(), name)
		if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(filepath.Join(copied, name)))); err != nil {
			p.t.Fatal(err)
		}
	}
	p.Start()
}

// Platform returns the connection of the platform.
func (p *NATSProcess) Platform() protocol.Connection { return p.connection("platform") }

// Player returns the connection of a player.
func (p *NATSProcess) Player(user string) protocol.Connection { return p.connection(user) }

func (p *NATSProcess) connection(name string) protocol.Connection {
	return protocol.Connection{URL: "nats://" + p.address(), Name: name}
}

// SmallDisk is a small file system.
type SmallDisk struct {
	t   *testing.T
	Dir string
}

// NewSmallDisk mounts a file system until the test ends. It skips the test where
// that is not allowed.
func NewSmallDisk(t *testing.T, size string) *SmallDisk {
	t.Helper()
	d := &SmallDisk{t: t, Dir: filepath.Join(t.TempDir(), "disk")}
	if err := os.Mkdir(d.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	unmount, err := mountMemory(d.Dir, size)
	if err != nil {
		t.Skipf("this machine lets tests make no small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := unmount(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *SmallDisk) ballast() string { return filepath.Join(d.Dir, "ballast") }

// Fill leaves no room on the disk. What others delete later is room again: call it
// repeatedly.
func (d *SmallDisk) Fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatal(err)
	}
}

// Empty makes room again.
func (d *SmallDisk) Empty() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}
