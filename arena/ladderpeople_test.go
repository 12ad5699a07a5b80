package arena

import (
	"maps"
	"slices"
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
		present, room := make(map[protocol.PlayerID][]presentInstance), make(map[slotPool]freeSlots)
		for _, h := range hellos {
			present["ann"] = append(present["ann"], presentInstance{hello: h, seen: at, free: freeSlots{h.Slots, h.Slots}})
			room[slotPoolOf(h)] = freeSlots{h.Slots, h.Slots}
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

// Slots that a process keeps for people are free for people alone, whichever way a game
// comes about.
func TestSlotsKeptForPeople(t *testing.T) {
	t.Parallel()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	a := &Arena{cfg: pairingConfig(), index: newGameIndex(subjects, time.Second, zerolog.Nop(), func() {}), presence: newPresence(time.Minute)}
	p := &pairer{a: a, pools: a.ladderGroups(), known: make(map[protocol.PlayerID]*contender)}
	none := 0
	join := func(id protocol.PlayerID, k protocol.Kind, free int, forBots *int) {
		from := protocol.From{Player: id, Arrived: now}
		in := protocol.InstanceID("i-" + id)
		h := protocol.Hello{Header: header(), Instance: in, Kind: k, Slots: 4, Games: []protocol.Capability{{Game: "gomoku"}}, Secret: string(id),
			Pools: []protocol.Pool{"gomoku.blitz", protocol.OwnPool(id), protocol.LadderPool}}
		a.presence.hello(from, h)
		a.presence.alive(from, protocol.Alive{Header: header(), Instance: in, Free: free, FreeForBots: forBots})
	}
	join("keeps", protocol.Bot, 2, &none)
	join("bot", protocol.Bot, 2, nil)
	join("ann", protocol.Human, 1, nil)
	present := a.presence.all(now)
	room := p.room(present, now)
	p.freePlayers(present, room, now)
	players := p.freePlayers(present, room, now.Add(a.cfg.Ladder.Pause)) // they have rested
	terms := p.pools[slices.IndexFunc(p.pools, func(g ladderGroup) bool { return g.terms.Game == "gomoku" })].terms
	for _, test := range []struct {
		x, y protocol.PlayerID
		want bool
	}{{"keeps", "bot", false}, {"bot", "keeps", false}, {"keeps", "ann", true}, {"bot", "ann", true}} {
		x, y := players[test.x], players[test.y]
		if x == nil || y == nil {
			t.Fatalf("free: %v", players)
		}
		ox, oy := protocol.Opponent{Player: test.x, Kind: x.kind}, protocol.Opponent{Player: test.y, Kind: y.kind}
		if got := fit(terms, x, y, ox, oy, room); got != test.want {
			t.Errorf("%s may be paired with %s: %v", test.x, test.y, got)
		}
		w := &postedPairing{}
		w.ch.Seats[0].Player, w.ch.Seats[1].Player = test.x, test.y
		left := maps.Clone(room)
		if got := takeSlots(w, players, left, nil); got != test.want {
			t.Errorf("%s and %s have slots for each other: %v", test.x, test.y, got)
		}
		if taken := !maps.Equal(left, room); taken != test.want {
			t.Errorf("%s and %s have taken slots: %v", test.x, test.y, taken)
		}
	}
	if !a.presence.busy("keeps", protocol.Bot, now) || a.presence.busy("keeps", protocol.Human, now) {
		t.Error("slots for people do not make a bot busy for bots, or make it busy for people")
	}
	for _, o := range []protocol.Opponent{{Player: "bot", Kind: protocol.Bot}, {Player: "ann", Kind: protocol.Human}} {
		asked := slices.Contains(a.presence.membersOf("gomoku.blitz", terms, o, now).takers, "keeps")
		if asked != (o.Kind == protocol.Human) {
			t.Errorf("asked to meet a %s: %v", o.Kind, asked)
		}
	}
	a.cfg.Ladder.Apart = true // then it waits for nobody
	p.pools = a.ladderGroups()
	if f := p.freePlayers(present, room, now.Add(a.cfg.Ladder.Pause)); f["keeps"] != nil || f["bot"] == nil {
		t.Errorf("free among bots: %v", f)
	}
}

// The levels of a bot process have slots of their own: that these are free says nothing of
// those of its other players, two of whom need two. How many games a player takes itself says
// nothing of its process's either.
func TestSlotsOfAProcess(t *testing.T) {
	t.Parallel()
	now := time.Now()
	p := &pairer{a: &Arena{cfg: pairingConfig(), presence: newPresence(time.Minute)}}
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	p.a.index = newGameIndex(subjects, time.Second, zerolog.Nop(), func() {})
	join := func(id protocol.PlayerID, slots, free, together int, heard time.Time) presentInstance {
		from := protocol.From{Player: id, Arrived: heard}
		p.a.presence.hello(from, protocol.Hello{Header: header(), Instance: "one", Secret: "s", Kind: protocol.Bot, Slots: slots, Games: []protocol.Capability{{Game: "gomoku"}}})
		p.a.presence.alive(from, protocol.Alive{Header: header(), Instance: "one", Free: free, FreeTogether: &together})
		return p.a.presence.all(now)[id][0]
	}
	one := func(in presentInstance) *free { return &free{kind: protocol.Bot, instances: []presentInstance{in}} }
	hare, tortoise := one(join("hare", 8, 1, 1, now.Add(-time.Second))), one(join("tortoise", 8, 1, 1, now.Add(-time.Second)))
	level := one(join("level", 200, 200, 200, now))
	fox, owl := one(join("fox", 1, 1, 3, now)), one(join("owl", 1, 1, 3, now))
	room := p.room(p.a.presence.all(now), now)
	terms := protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15"}
	bot := protocol.Opponent{Kind: protocol.Bot}
	if fit(terms, hare, tortoise, bot, bot, room) {
		t.Error("two players with one slot together are paired")
	}
	if !fit(terms, hare, level, bot, bot, room) {
		t.Error("a player with a slot is not paired with a level of its process")
	}
	if !fit(terms, fox, owl, bot, bot, room) {
		t.Error("two players that take one game each are not paired, of a process with three slots")
	}
}
