// Package netfault is a TCP proxy on loopback whose connections fail on command: for
// tests of programs that must survive bad networks.
package netfault

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Proxy forwards the connections that it accepts to one address. It is safe for
// concurrent use.
type Proxy struct {
	target   string
	listener net.Listener

	mu       sync.Mutex
	changed  chan struct{} // closed and renewed when something below changes
	pipes    map[*pipe]bool
	accepted int
	refusing bool
	stalled  bool
	delay    func() time.Duration
	closed   bool
	wg       sync.WaitGroup
}

// pipe is a connection and the one that it is forwarded to.
type pipe struct {
	client, server net.Conn
	dead           bool // half-open: open, but nothing is forwarded any more
}

// Listen starts a proxy on a free port of 127.0.0.1.
func Listen(target string) (*Proxy, error) { return ListenOn("127.0.0.1:0", target) }

// ListenOn starts a proxy on an address.
func ListenOn(address, target string) (*Proxy, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, listener: l, changed: make(chan struct{}), pipes: make(map[*pipe]bool)}
	p.wg.Go(p.accept)
	return p, nil
}

// Addr returns the address on which the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Accepted returns the number of connections so far, refused ones excluded.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Cut closes all connections. New ones are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
}

func (p *Proxy) cut() {
	for q := range p.pipes {
		q.close()
	}
	p.change()
}

// close closes both ends.
func (q *pipe) close() {
	q.client.Close() // the error does not matter: the connection is gone either way
	q.server.Close()
}

// Refuse cuts all connections and closes new ones at once, as if there were no
// server, until it is called with false.
func (p *Proxy) Refuse(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusing = on; on {
		p.cut()
	}
}

// HalfOpen leaves all connections open, and forwards nothing on them any more, as
// when a router on the way loses its state. New ones work.
func (p *Proxy) HalfOpen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for q := range p.pipes {
		q.dead = true
	}
	p.change()
}

// Heal ends all faults: half-open connections are closed, the others forward again.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing, p.stalled, p.delay = false, false, nil
	for q := range p.pipes {
		if q.dead {
			q.close()
		}
	}
	p.change()
}

// Stall holds back what is sent on all connections until it is called with false:
// as when the server hangs.
func (p *Proxy) Stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = on
	p.change()
}

// Delay sets a function that returns the delay of what is sent next, in either
// direction; nil: none. It may be called concurrently. The order of bytes is kept.
func (p *Proxy) Delay(f func() time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = f
}

// change wakes up all who wait for a change; p.mu is held.
func (p *Proxy) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Close ends the proxy with all connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.cut()
	p.mu.Unlock()
	p.listener.Close() // the error does not matter
	p.wg.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(10 * time.Millisecond) // too many open files, for example
			continue
		}
		p.wg.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until it ends.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	q := &pipe{client: client, server: server}
	p.mu.Lock()
	if p.closed || p.refusing {
		p.mu.Unlock()
		return
	}
	p.pipes[q], p.accepted = true, p.accepted+1
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pipes, q)
	}()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			p.forward(q, way[0], way[1])
			if p.open(q) { // a half-open connection does not show that the other end has closed
				client.Close()
				server.Close()
			}
		})
	}
	both.Wait()
}

// chunk is what was read at once, and when it is due at the other end.
type chunk struct {
	data []byte
	due  time.Time
}

// forward copies from one connection to another until one ends.
func (p *Proxy) forward(q *pipe, from, to net.Conn) {
	chunks := make(chan chunk, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		failed := false
		for c := range chunks {
			time.Sleep(time.Until(c.due))
			if failed || !p.open(q) {
				continue
			}
			if _, err := to.Write(c.data); err != nil {
				failed = true
				from.Close()
			}
		}
	})
	defer writing.Wait()
	defer close(chunks)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			c := chunk{data: append([]byte(nil), buf[:n]...)}
			p.mu.Lock()
			if p.delay != nil {
				c.due = time.Now().Add(p.delay())
			}
			p.mu.Unlock()
			chunks <- c
		}
		if err != nil {
			return
		}
	}
}

// open waits while the connection is stalled, and reports whether it forwards.
func (p *Proxy) open(q *pipe) bool {
	for {
		p.mu.Lock()
		stalled, dead, changed := p.stalled && !p.closed && p.pipes[q], q.dead, p.changed
		p.mu.Unlock()
		if dead {
			return false
		}
		if !stalled {
			return true
		}
		<-changed
	}
}
