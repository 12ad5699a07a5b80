package arena

import (
	"testing"
	"time"

	"sparring/protocol"
)

// Of two processes with one instance id the one that was there first keeps the place as long
// as it runs; one that is started again after its end takes it at once.
func TestSameInstance(t *testing.T) {
	const lostAfter = 1500 * time.Millisecond
	const ok, denied, unknown = protocol.Code(""), protocol.Denied, protocol.UnknownPeer
	type step struct {
		at    int    // in units of 100 ms
		who   string // its secret
		hello bool   // or a heartbeat
		want  protocol.Code
	}
	for name, steps := range map[string][]step{
		"killed and started again": {
			{0, "A", true, ok}, {5, "A", false, ok}, {7, "B", true, ok}, {8, "B", false, ok}, {13, "B", false, ok}, {30, "B", false, ok}, {60, "B", true, ok}, {61, "B", false, ok},
		},
		"its last heartbeat is late": {
			{0, "A", true, ok}, {7, "B", true, ok}, {8, "A", false, ok}, {9, "B", false, ok}, {14, "B", false, ok}, {30, "B", false, ok},
		},
		"its last heartbeats had to wait": {
			{0, "A", true, ok}, {7, "B", true, ok}, {8, "A", false, ok}, {8, "A", false, ok}, {8, "A", false, ok}, {9, "B", false, ok}, {14, "B", false, ok}, {30, "B", false, ok},
		},
		"both run": {
			{0, "A", true, ok}, {7, "B", true, ok}, {8, "B", false, ok}, {10, "A", false, ok}, {13, "B", false, ok}, {15, "A", false, ok},
			{18, "B", false, denied}, {20, "A", false, ok}, {23, "B", false, denied}, {24, "B", true, denied}, {25, "A", false, ok},
		},
		"both run, and the first says hello": {
			{0, "A", true, ok}, {7, "B", true, ok}, {10, "A", true, ok}, {13, "B", false, ok}, {15, "A", true, ok}, {18, "B", false, denied}, {20, "A", false, ok},
		},
		"the first one slept": {
			{0, "A", true, ok}, {7, "B", true, ok}, {13, "B", false, ok}, {18, "B", false, ok}, {28, "B", false, ok}, {30, "A", false, denied}, {33, "B", false, ok},
			{36, "A", true, ok}, {38, "B", false, ok}, {43, "B", false, ok}, {45, "A", false, denied}, {46, "A", true, denied}, {48, "B", false, ok},
		},
		"the first one ends later": {
			{0, "A", true, ok}, {7, "B", true, ok}, {10, "A", false, ok}, {15, "A", false, ok}, {18, "B", false, denied}, {31, "B", false, unknown}, {32, "B", true, ok}, {33, "B", false, ok},
		},
		"three": {
			{0, "A", true, ok}, {7, "B", true, ok}, {10, "A", false, ok}, {15, "A", false, ok}, {16, "B", false, denied}, {17, "C", true, ok}, {18, "A", false, ok},
			{23, "A", false, ok}, {24, "C", false, denied}, {25, "B", false, denied}, {28, "A", false, ok},
		},
		"heartbeats without secrets": {
			{0, "A", true, ok}, {7, "B", true, ok}, {8, "", false, ok}, {10, "", false, ok}, {13, "", false, ok}, {15, "", false, ok}, {18, "B", false, ok},
		},
	} {
		p, start := newPresence(lostAfter), time.Now()
		for _, s := range steps {
			from := protocol.From{Player: "bob", Arrived: start.Add(time.Duration(s.at) * 100 * time.Millisecond)}
			var got protocol.Code
			if s.hello {
				m := protocol.Hello{Header: protocol.Header{ID: protocol.NewID()}, Instance: "box1", Secret: s.who, Kind: protocol.Bot}
				p.hello(from, m) // once as it is observed, once to answer it
				got = p.hello(from, m)
			} else {
				got = p.listens("bob", "box1", s.who, from.Arrived)
				p.alive(from, protocol.Alive{Instance: "box1", Secret: s.who})
			}
			if got != s.want {
				t.Errorf("%s: %+v: got %q", name, s, got)
			}
		}
	}
}

// A process that is started again after its end may give its hello and its leave the ids that
// the process before gave its own.
func TestStartedAgainWithTheSameIDs(t *testing.T) {
	p, start := newPresence(time.Second), time.Now()
	for i, secret := range []string{"A", "B"} {
		from := protocol.From{Player: "bob", Arrived: start.Add(time.Duration(i) * 10 * time.Second)}
		m := protocol.Hello{Header: protocol.Header{ID: "h1"}, Instance: "box1", Secret: secret, Kind: protocol.Bot}
		p.observeHello(from, m)
		if code := p.hello(from, m); code != "" {
			t.Errorf("%s says hello: %s", secret, code)
		}
		p.alive(from, protocol.Alive{Instance: "box1", Secret: secret, Free: 1})
		if code := p.listens("bob", "box1", secret, from.Arrived); code != "" || !p.present("bob", "box1", from.Arrived) {
			t.Errorf("a heartbeat of %s: %q, present %t", secret, code, p.present("bob", "box1", from.Arrived))
		}
		if !p.leave(from, protocol.Leave{Header: protocol.Header{ID: "l1"}, Instance: "box1", Secret: secret}) {
			t.Errorf("%s does not leave", secret)
		}
	}
}

// The process that keeps the place is known by its last hello, also if it said that while the
// other one seemed to have replaced it. A hello that comes twice proves only once that it runs.
func TestHelloOfTheFirstProcess(t *testing.T) {
	const lostAfter = 1500 * time.Millisecond
	p, start := newPresence(lostAfter), time.Now()
	hello := func(at time.Duration, secret, id, build string) {
		m := protocol.Hello{Header: protocol.Header{ID: id}, Instance: "box1", Secret: secret, Build: build, Kind: protocol.Bot}
		p.hello(protocol.From{Player: "bob", Arrived: start.Add(at)}, m)
	}
	acts := func(build string) {
		t.Helper()
		if got := p.helloOf("bob", "box1").Build; got != build {
			t.Errorf("%q acts as the instance, want %q", got, build)
		}
	}
	hello(0, "A", "h1", "first")
	hello(700*time.Millisecond, "B", "h1", "second")
	acts("second")
	hello(time.Second, "A", "h2", "first, changed")
	hello(1500*time.Millisecond, "A", "h2", "first, changed") // as another arena observes it later
	acts("second")
	p.alive(protocol.From{Player: "bob", Arrived: start.Add(1600 * time.Millisecond)}, protocol.Alive{Instance: "box1", Secret: "A"})
	acts("first, changed")
}
