package browser

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// wire is the network between a browser and the page: it forwards TCP connections,
// can be cut or stalled, and counts bytes.
type wire struct {
	at   string // address for the browser
	to   string
	down atomic.Int64 // bytes towards the browser

	mu      sync.Mutex
	cut     bool
	conns   map[net.Conn]bool
	flowing chan struct{} // closed while nothing is stalled
}

// newWire makes a network in front of an address.
func newWire(t testing.TB, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{at: l.Addr().String(), to: to, conns: make(map[net.Conn]bool), flowing: make(chan struct{})}
	close(w.flowing)
	t.Cleanup(func() { l.Close(); w.setStalled(false); w.setCut(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.forward(c)
		}
	}()
	return w
}

// forward connects a browser to the page until one of them ends the connection, or
// the wire is cut.
func (w *wire) forward(browser net.Conn) {
	defer browser.Close()
	if !w.add(browser) {
		return
	}
	defer w.remove(browser)
	page, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer page.Close()
	if !w.add(page) {
		return
	}
	defer w.remove(page)
	ended := make(chan struct{}, 2)
	go func() { io.Copy(flow{w, page, new(atomic.Int64)}, browser); ended <- struct{}{} }()
	go func() { io.Copy(flow{w, browser, &w.down}, page); ended <- struct{}{} }()
	<-ended
}

func (w *wire) add(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.cut {
		w.conns[c] = true
	}
	return !w.cut
}

func (w *wire) remove(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
}

// setCut ends all connections and refuses new ones, or admits them again.
func (w *wire) setCut(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for c := range w.conns {
			c.Close()
		}
	}
}

// setStalled holds back everything without ending a connection, or lets it go on.
func (w *wire) setStalled(stalled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.flowing:
		if stalled {
			w.flowing = make(chan struct{})
		}
	default:
		if !stalled {
			close(w.flowing)
		}
	}
}

// flow is one direction of a connection.
type flow struct {
	wire *wire
	to   net.Conn
	n    *atomic.Int64 // bytes
}

func (f flow) Write(p []byte) (int, error) {
	f.wire.mu.Lock()
	flowing := f.wire.flowing
	f.wire.mu.Unlock()
	<-flowing
	n, err := f.to.Write(p)
	f.n.Add(int64(n))
	return n, err
}
