package arena

import (
	"fmt"
	"testing"
	"time"

	"sparring/protocol"
)

// A process that is started again and again takes the place of the one that has been silent
// for longest, and only of that one.
func TestRoomForAnInstance(t *testing.T) {
	t.Parallel()
	p, start := newPresence(time.Second), time.Now()
	id := func(i int) protocol.InstanceID { return protocol.InstanceID(fmt.Sprintf("i%d", i)) }
	hello := func(i int, after time.Duration) {
		p.hello(protocol.From{Player: "ann", Arrived: start.Add(after)}, protocol.Hello{Header: header(), Instance: id(i), Kind: protocol.Bot})
	}
	for i := range maxInstances {
		hello(i, time.Duration((i+10)%maxInstances)*time.Second) // so the oldest are neither first nor last
	}
	for i := range 5 {
		hello(maxInstances+i, 5*time.Minute)
	}
	if n := len(p.players["ann"]); n != maxInstances {
		t.Errorf("%d instances are remembered, want %d", n, maxInstances)
	}
	for i := range maxInstances + 5 {
		forgotten := i >= maxInstances-10 && i < maxInstances-5
		if p.known("ann", id(i)) == forgotten {
			t.Errorf("instance %d is forgotten: %t, want %t", i, !forgotten, forgotten)
		}
	}
}

// An instance that lost a seat because its heartbeats were missing gets none before it has
// sent one again, whatever else it sends.
func TestClaimantSendsHeartbeats(t *testing.T) {
	t.Parallel()
	p, start := newPresence(time.Minute), time.Now()
	at := func(seconds int) protocol.From {
		return protocol.From{Player: "human-ann", Arrived: start.Add(time.Duration(seconds) * time.Second)}
	}
	claims := func(seconds int, want bool) {
		t.Helper()
		if _, got := p.claimant("human-ann", "g", start, at(seconds).Arrived); got != want {
			t.Errorf("after %d s the seat is claimed: %t", seconds, got)
		}
	}
	hello := func(seconds int) {
		p.hello(at(seconds), protocol.Hello{Header: header(), Instance: "page", Kind: protocol.Human})
	}
	hello(1)
	claims(1, true)
	p.lostSeat("human-ann", "page")
	claims(2, false)
	hello(3)
	claims(3, false)
	p.alive(at(4), protocol.Alive{Header: header(), Instance: "page"})
	claims(4, true)
}

// A seat that an instance has given back does not return to it because a heartbeat still
// names the game, but does once it has said hello.
func TestClaimantHasNotGivenBack(t *testing.T) {
	t.Parallel()
	p, start := newPresence(time.Minute), time.Now()
	from := protocol.From{Player: "ann", Arrived: start.Add(time.Second)}
	claims := func(g protocol.GameID, want bool) {
		t.Helper()
		p.alive(from, protocol.Alive{Header: header(), Instance: "a1", Games: []protocol.GameID{"g", "other"}})
		if _, got := p.claimant("ann", g, start, from.Arrived); got != want {
			t.Errorf("the seat in %s is claimed: %t", g, got)
		}
	}
	hello := func() {
		p.hello(from, protocol.Hello{Header: header(), Instance: "a1", Kind: protocol.Bot})
	}
	hello()
	claims("g", true)
	p.leave(from, protocol.Leave{Header: header(), Instance: "a1", Games: []protocol.GameID{"g"}})
	claims("g", false)
	claims("other", true)
	hello()
	claims("g", true)
}
