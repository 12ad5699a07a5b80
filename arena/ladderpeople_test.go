package arena

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/protocol"
)

// personInstances are the instances of a person who plays in a browser and waits on the
// ladder meanwhile.
func personInstances() (plays, waits *protocol.Hello) {
	plays = &protocol.Hello{Instance: "page", Kind: protocol.Human, Slots: 100, Games: []protocol.Capability{{Game: "gomoku"}}}
	waits = &protocol.Hello{Instance: "ladder", Kind: protocol.Human, Slots: 1, Games: plays.Games, Pools: []protocol.Pool{protocol.LadderPool}}
	return plays, waits
}

// A person who loses the connection for a moment has waited all the time, but not one who
// comes back after long.
func TestWaitOutlastsAMoment(t *testing.T) {
	t.Parallel()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	a := &Arena{cfg: pairingConfig(), index: newGameIndex(subjects, time.Second, zerolog.Nop(), func() {})}
	p := &pairer{a: a, pools: a.ladderGroups(), known: make(map[protocol.PlayerID]*contender)}
	plays, waits := personInstances()
	begin := time.Now()
	free := func(at time.Time, hellos ...*protocol.Hello) *free {
		present, room := make(map[protocol.PlayerID][]presentInstance), make(map[process]int)
		for _, h := range hellos {
			present["ann"] = append(present["ann"], presentInstance{hello: h, seen: at, free: h.Slots})
			room[processOf(h)] = h.Slots
		}
		return p.freePlayers(present, room, at)["ann"]
	}
	if f := free(begin, plays, waits); f == nil || !f.since.Equal(begin) {
		t.Fatalf("free: %+v", f)
	}
	if f := free(begin.Add(10*time.Second), plays); f != nil {
		t.Errorf("free without the instance that waits: %+v", f)
	}
	at := begin.Add(20 * time.Second)
	if f := free(at, plays, waits); f == nil || !f.since.Equal(begin) {
		t.Errorf("back after a moment: %+v", f)
	}
	free(at.Add(2*forgetAfter), plays)
	at = at.Add(2*forgetAfter + time.Second)
	if f := free(at, plays, waits); f == nil || !f.since.Equal(at) {
		t.Errorf("back after long: %+v", f)
	}
}

// A vacant seat goes to the instance of a person that plays, not to the one that waits on
// the ladder, unless that says that it plays the game.
func TestClaimantIsNotOnTheLadder(t *testing.T) {
	t.Parallel()
	p, now := newPresence(time.Minute), time.Now()
	plays, waits := personInstances()
	from := protocol.From{Player: "human-ann", Arrived: now}
	p.hello(from, *waits)
	vacated := now.Add(-time.Second)
	if id, ok := p.claimant(from.Player, "g", vacated, now); ok {
		t.Errorf("the seat goes to %s", id)
	}
	p.alive(from, protocol.Alive{Instance: waits.Instance, Free: 1, Games: []protocol.GameID{"g"}})
	if id, ok := p.claimant(from.Player, "g", vacated, now); !ok || id != waits.Instance {
		t.Errorf("the seat goes to %q", id)
	}
	p.alive(from, protocol.Alive{Instance: waits.Instance, Free: 1})
	p.hello(from, *plays)
	for range 20 { // in any order
		if id, ok := p.claimant(from.Player, "g", vacated, now); !ok || id != plays.Instance {
			t.Errorf("the seat goes to %q", id)
		}
	}
}
