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
	at       string // address for the browser
	to       string
	up, down direction // towards the page, and towards the browser

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// newWire makes a network in front of an address.
func newWire(t testing.TB, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{at: l.Addr().String(), to: to, conns: make(map[net.Conn]bool)}
	t.Cleanup(func() { l.Close(); w.up.stall(false); w.down.stall(false); w.setCut(true) })
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
	go func() { io.Copy(flow{page, &w.up}, browser); ended <- struct{}{} }()
	go func() { io.Copy(flow{browser, &w.down}, page); ended <- struct{}{} }()
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

// direction is one direction of all connections.
type direction struct {
	bytes atomic.Int64

	mu      sync.Mutex
	stalled chan struct{} // closed when the stall ends; nil: nothing is held back
}

// stall holds back everything without ending a connection, or lets it go on.
func (d *direction) stall(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case on && d.stalled == nil:
		d.stalled = make(chan struct{})
	case !on && d.stalled != nil:
		close(d.stalled)
		d.stalled = nil
	}
}

// flow writes to one end of a connection.
type flow struct {
	net.Conn
	d *direction
}

func (f flow) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	stalled := f.d.stalled
	f.d.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	n, err := f.Conn.Write(p)
	f.d.bytes.Add(int64(n))
	return n, err
}
