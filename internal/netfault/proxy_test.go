package netfault

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds waits for what comes at once, brief those for what must not come.
const (
	patience = 30 * time.Second
	brief    = 100 * time.Millisecond
)

// echo serves connections that send everything back.
func echo(t *testing.T) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	p, err := Listen(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); l.Close() })
	return p
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// read returns what comes within d.
func read(t *testing.T, c net.Conn, n int, d time.Duration) (string, error) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, n)
	got, err := io.ReadFull(c, buf)
	return string(buf[:got]), err
}

func write(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// answered sends a text and checks that it comes back.
func answered(t *testing.T, c net.Conn, text string) {
	t.Helper()
	write(t, c, text)
	if got, err := read(t, c, len(text), patience); err != nil || got != text {
		t.Fatalf("sent %q, got %q (%v)", text, got, err)
	}
}

func TestCut(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	answered(t, c, "a")
	p.Cut()
	if _, err := read(t, c, 1, patience); err == nil || os.IsTimeout(err) {
		t.Errorf("after the cut: %v", err)
	}
	answered(t, dial(t, p), "b")
	if n := p.Accepted(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

func TestRefuse(t *testing.T) {
	p := echo(t)
	p.Refuse(true)
	if _, err := read(t, dial(t, p), 1, patience); err == nil || os.IsTimeout(err) {
		t.Errorf("refused: %v", err)
	}
	p.Refuse(false)
	answered(t, dial(t, p), "a")
}

func TestHalfOpen(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	answered(t, c, "a")
	p.HalfOpen()
	write(t, c, "b")
	if got, err := read(t, c, 1, brief); !os.IsTimeout(err) {
		t.Errorf("half-open: %q, %v", got, err)
	}
	answered(t, dial(t, p), "c")
	p.Heal()
	if _, err := read(t, c, 1, patience); err == nil || os.IsTimeout(err) {
		t.Errorf("after Heal: %v", err)
	}
}

func TestStall(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	answered(t, c, "a")
	p.Stall(true)
	write(t, c, "b")
	if got, err := read(t, c, 1, brief); !os.IsTimeout(err) {
		t.Errorf("stalled: %q, %v", got, err)
	}
	p.Stall(false)
	if got, err := read(t, c, 1, patience); err != nil || got != "b" {
		t.Errorf("after the stall: %q, %v", got, err)
	}
}

func TestDelay(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	answered(t, c, "a")
	p.Delay(func() time.Duration { return brief })
	began := time.Now()
	answered(t, c, "b")
	if d := time.Since(began); d < 2*brief { // both ways
		t.Errorf("answered after %v", d)
	}
}

// A stalled proxy can be closed.
func TestCloseWhileStalled(t *testing.T) {
	p := echo(t)
	c := dial(t, p)
	answered(t, c, "a")
	p.Stall(true)
	write(t, c, "b")
	p.Close()
}
