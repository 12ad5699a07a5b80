package browser

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Wire is the network between a browser and the page: it forwards TCP connections,
// can be cut, stalled or made slow, and counts bytes.
type Wire struct {
	At       string // address for the browser
	to       string
	Up, Down Direction // towards the page, and towards the browser

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// NewWire makes a network in front of an address.
func NewWire(t testing.TB, to string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{At: l.Addr().String(), to: to, conns: make(map[net.Conn]bool)}
	t.Cleanup(func() { l.Close(); w.Up.Stall(false); w.Down.Stall(false); w.SetCut(true) })
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
func (w *Wire) forward(browser net.Conn) {
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
	go func() { w.Up.carry(page, browser); ended <- struct{}{} }()
	go func() { w.Down.carry(browser, page); ended <- struct{}{} }()
	<-ended
}

func (w *Wire) add(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.cut {
		w.conns[c] = true
	}
	return !w.cut
}

func (w *Wire) remove(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
}

// SetCut ends all connections and refuses new ones, or admits them again.
func (w *Wire) SetCut(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for c := range w.conns {
			c.Close()
		}
	}
}

// Direction is one direction of all connections.
type Direction struct {
	Bytes atomic.Int64
	Takes atomic.Int64 // how long everything is under way, as a time.Duration

	mu      sync.Mutex
	stalled chan struct{} // closed when the stall ends; nil: nothing is held back
}

// Stall holds back everything without ending a connection, or lets it go on.
func (d *Direction) Stall(on bool) {
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

// parcel is what is under way, and when it arrives.
type parcel struct {
	data []byte
	at   time.Time
}

// carry takes what comes from one end of a connection to the other, until one of them
// closes it.
func (d *Direction) carry(to io.Writer, from io.Reader) {
	line, ended := make(chan parcel, 64), make(chan struct{})
	defer close(ended)
	go func() {
		defer close(line)
		for {
			data := make([]byte, 32<<10)
			n, err := from.Read(data)
			select {
			case line <- parcel{data[:n], time.Now().Add(time.Duration(d.Takes.Load()))}:
			case <-ended:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range line {
		time.Sleep(time.Until(p.at))
		d.mu.Lock()
		stalled := d.stalled
		d.mu.Unlock()
		if stalled != nil {
			<-stalled
		}
		n, err := to.Write(p.data)
		d.Bytes.Add(int64(n))
		if err != nil {
			return
		}
	}
}
