package httpserver

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/game/gametest"
)

// caller is a connection to an HTTP server.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func call(t *testing.T, address string) *caller {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(gametest.Patience))
	return &caller{c, bufio.NewReader(c)}
}

// ask sends a request and reports whether it is answered.
func (c *caller) ask(t *testing.T, path string) bool {
	t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		return false
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Error(err)
	}
	return true
}

// From one address there are only so many connections. The one that has waited
// longest for another request makes room for a new one.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Serve(http.NotFoundHandler(), zerolog.Nop()))
	most := bound(l, nil, zerolog.Nop()).ofAddress
	var all []*caller
	for range most + 1 {
		c := call(t, l.Addr().String())
		if !c.ask(t, "/") {
			t.Fatalf("connection %d of %d gets no answer", len(all)+1, most)
		}
		all = append(all, c)
	}
	// Which one is not sure: they become idle a moment after their answers.
	var gone atomic.Int64
	var reads sync.WaitGroup
	for _, c := range all {
		c.SetReadDeadline(time.Now().Add(time.Second))
		reads.Go(func() {
			if _, err := c.in.ReadByte(); err == io.EOF {
				gone.Add(1)
			}
		})
	}
	reads.Wait()
	if gone.Load() != 1 {
		t.Errorf("%d of %d connections were closed, want one", gone.Load(), most+1)
	}
}

// Who sends headers slowly on purpose takes no connection from others: those without a whole
// request make room.
func TestSlowHeadersMakeRoom(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := bound(l, nil, zerolog.Nop())
	b.ofAddress = 3
	server := &http.Server{ConnState: b.changed, Handler: http.NotFoundHandler()}
	go server.Serve(b)
	t.Cleanup(func() { server.Close() })
	var slow []*caller
	for range 3 {
		c := call(t, l.Addr().String())
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	gametest.Eventually(t, "three connections", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.all.idle.Len() == 3
	})
	if !call(t, l.Addr().String()).ask(t, "/") {
		t.Fatal("three connections without a request keep out one that has one")
	}
	if _, err := slow[0].in.ReadByte(); err != io.EOF && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the one that waits longest is still there: %v", err)
	}
	if _, err := io.WriteString(slow[1], "late\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if response, err := http.ReadResponse(slow[1].in, nil); err != nil {
		t.Errorf("a slow request gets no answer: %v", err)
	} else {
		response.Body.Close()
	}
}

// A connection beyond the limits is refused if all others are busy, and gets in when one has ended.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*boundedListener){
		"of one address": func(b *boundedListener) { b.most, b.ofAddress = 100, 3 },
		"in all":         func(b *boundedListener) { b.most, b.ofAddress = 3, 100 },
		"of a proxy": func(b *boundedListener) {
			b.most, b.ofAddress, b.proxies = 3, 1, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var log gametest.Output
			b := bound(l, nil, zerolog.New(&log))
			set(b)
			begun, release := make(chan struct{}), make(chan struct{})
			server := &http.Server{ConnState: b.changed, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/wait" {
					begun <- struct{}{}
					<-release
				}
			})}
			go server.Serve(b)
			t.Cleanup(func() { server.Close() })
			address := l.Addr().String()
			var busy []*caller
			for range 3 {
				c := call(t, address)
				if !c.ask(t, "/") {
					t.Fatal("a connection within the limits gets no answer")
				}
				if _, err := io.WriteString(c, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				<-begun
				busy = append(busy, c)
			}
			for range 3 {
				if call(t, address).ask(t, "/") {
					t.Error("a connection beyond the limits is answered")
				}
			}
			if n := log.Count("connections refused"); n != 1 || strings.Contains(log.String(), "127.0.0.1") {
				t.Errorf("the log says %d times that connections were refused:\n%s", n, &log)
			}
			release <- struct{}{}
			gametest.Eventually(t, "an idle connection", func() bool { return b.idle() == 1 })
			if !call(t, address).ask(t, "/") {
				t.Error("an idle connection makes no room")
			}
			close(release)
			for _, c := range busy {
				c.Close()
			}
			gametest.Eventually(t, "closed connections to be forgotten", func() bool {
				b.mu.Lock()
				defer b.mu.Unlock()
				return b.all.open == 1 && len(b.from) == 1
			})
		})
	}
}

// idle returns how many connections wait for another request.
func (b *boundedListener) idle() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.idle.Len()
}
