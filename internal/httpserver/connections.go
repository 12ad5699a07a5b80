package httpserver

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// How many connections an HTTP server has at most. Each is an open file: a process that may
// open no more can't reach its NATS server again, and one with a server inside can't store
// either. So most stays far below what the process may open. From one address there
// may be as many as its tabs and its requests at once need.
const (
	mostConnections = 10_000
	mostOfAddress   = 1_000
)

// boundedListener bounds how many connections are open, in all and from one address. If
// there are too many, those end first that have not sent a whole request yet, or wait for
// another one, the longest wait first: their browsers just connect again. If there are none,
// the new one is refused.
type boundedListener struct {
	net.Listener
	most, ofAddress int
	proxies         []netip.Prefix // from which there may be any number
	log             zerolog.Logger

	mu   sync.Mutex
	all  connections
	from map[netip.Addr]*connections
}

// connections are those of an address, or all.
type connections struct {
	open int
	idle list.List // those without a request, the longest wait first
}

// full reports whether there can be no more than most; if one has to go for that, which.
func (c *connections) full(most int) (victim *connection, full bool) {
	if c.open < most {
		return nil, false
	}
	if first := c.idle.Front(); first != nil {
		victim = first.Value.(*connection)
	}
	return victim, true
}

// connection is an open connection of a boundedListener.
type connection struct {
	*net.TCPConn
	of      *boundedListener
	address netip.Addr
	closed  bool
	waits   [2]*list.Element // in the lists of all and of its address, while it is idle
}

// bound bounds the connections of a listener by what the process may open.
func bound(l net.Listener, proxies []netip.Prefix, log zerolog.Logger) *boundedListener {
	most := min(mostConnections, openFiles()/4)
	return &boundedListener{
		Listener: l, most: most, ofAddress: min(mostOfAddress, most/2), proxies: proxies,
		log: log.Sample(&zerolog.BurstSampler{Burst: 1, Period: time.Minute}), from: make(map[netip.Addr]*connections),
	}
}

// Accept returns the next connection for which there is room.
func (b *boundedListener) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		t := c.(*net.TCPConn)
		if admitted := b.admit(t, t.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone("")); admitted != nil {
			return admitted, nil
		}
		t.Close()
	}
}

// admit counts a connection from an address, and makes room for it; nil if it can't.
func (b *boundedListener) admit(t *net.TCPConn, peer netip.Addr) *connection {
	c := &connection{TCPConn: t, of: b, address: Counted(peer)}
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.from[c.address]
	if of == nil {
		of = &connections{}
	}
	var victim *connection
	full := false
	if !slices.ContainsFunc(b.proxies, func(p netip.Prefix) bool { return p.Contains(peer) }) {
		victim, full = of.full(b.ofAddress)
	}
	ofOne := full
	if !full {
		victim, full = b.all.full(b.most)
	}
	switch {
	case victim != nil:
		b.forget(victim)
		victim.TCPConn.Close()
	case full:
		b.log.Warn().Bool("of_one_address", ofOne).Int("open", b.all.open).Msg("HTTP server: connections refused: too many are open")
		return nil
	}
	b.from[c.address] = of // forget may have removed it
	of.open++
	b.all.open++
	return c
}

// changed follows the state of a connection, for http.Server.
func (b *boundedListener) changed(conn net.Conn, state http.ConnState) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c := conn.(*connection)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.active(c)
	// A new connection is active once its first request has all its headers.
	if (state == http.StateIdle || state == http.StateNew) && !c.closed {
		c.waits = [2]*list.Element{b.all.idle.PushBack(c), b.from[c.address].idle.PushBack(c)}
	}
}

// active takes a connection out of the lists of those that are idle.
func (b *boundedListener) active(c *connection) {
	if c.waits[0] != nil {
		b.all.idle.Remove(c.waits[0])
		b.from[c.address].idle.Remove(c.waits[1])
		c.waits = [2]*list.Element{}
	}
}

// forget counts a connection no more.
func (b *boundedListener) forget(c *connection) {
	if c.closed {
		return
	}
	b.active(c)
	c.closed = true
	b.all.open--
	of := b.from[c.address]
	if of.open--; of.open == 0 {
		delete(b.from, c.address)
	}
}

// Close closes the connection, which is counted no more then.
func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.forget(c)
	return err
}

// Counted returns the address under which the limits count what comes from an address: an
// IPv6 visitor owns a whole /64.
func Counted(a netip.Addr) netip.Addr {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}
