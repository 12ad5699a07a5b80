package arena

import (
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/glicko"
	"sparring/game/clock"
	"sparring/protocol"
)

// memoryPairer returns the pairer of an arena that has no store, for Gomoku with these
// anchors.
func memoryPairer(t *testing.T, anchors ...protocol.PlayerID) *pairer {
	t.Helper()
	subjects, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	fixed := make(map[protocol.PlayerID]glicko.Rating)
	for _, id := range anchors {
		fixed[id] = glicko.Rating{Rating: 1500, Deviation: 30, Volatility: 0.06}
	}
	a := &Arena{cfg: pairingConfig(), index: newGameIndex(subjects, time.Second, zerolog.Nop(), func() {}), presence: newPresence(time.Hour),
		ladder: newLadder(nil, fixed, zerolog.Nop()), metrics: newMetrics()}
	return &pairer{a: a, pools: a.ladderGroups(), posted: make(map[protocol.GameID]*postedPairing), known: make(map[protocol.PlayerID]*contender)}
}

// join lets a bot with these slots say hello.
func (p *pairer) join(id protocol.PlayerID, slots int, at time.Time) {
	p.a.presence.hello(protocol.From{Player: id, Arrived: at}, protocol.Hello{Header: header(), Instance: "i-" + protocol.InstanceID(id), Secret: string(id),
		Kind: protocol.Bot, Slots: slots, Games: []protocol.Capability{{Game: "gomoku"}}})
}

// waited lets players have been free for long, so that they are paired whoever is there.
func (p *pairer) waited(now time.Time, players ...protocol.PlayerID) {
	for _, id := range players {
		p.contender(id).since = now.Add(-time.Minute)
	}
}

// runs notes that a game of two players began at a time.
func (p *pairer) runs(t *testing.T, g protocol.GameID, pool protocol.Pool, began time.Time, players ...protocol.PlayerID) {
	t.Helper()
	e := protocol.Event{V: protocol.Version, Kind: protocol.EventStart, Index: 1, Term: 1, Time: began}
	e.Game, e.Terms, e.Pool, e.Started, e.Status = g, protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15"}, pool, began, protocol.Playing
	for seat, id := range players {
		e.Holders[seat] = protocol.Holder{Player: id, Kind: protocol.Bot, Instance: "i-" + protocol.InstanceID(id), Epoch: 1}
	}
	if _, ok := p.a.index.note(p.a.index.subjects.Log(g), uint64(len(p.a.index.games)+1), e.Encode(), false); !ok {
		t.Fatal("not noted")
	}
}

// A game that has just begun takes a slot of its players, until a heartbeat names it or could
// have done so.
func TestSlotsOfGamesThatBegan(t *testing.T) {
	t.Parallel()
	p, now := memoryPairer(t), time.Now()
	for _, id := range []protocol.PlayerID{"ann", "bob", "cyd"} {
		p.join(id, 4, now)
	}
	p.a.presence.alive(protocol.From{Player: "bob", Arrived: now}, protocol.Alive{Header: header(), Instance: "i-bob", Free: 3, Games: []protocol.GameID{"new"}})
	p.runs(t, "new", "ladder.gomoku", now.Add(-begunLately/2), "ann", "bob")
	p.runs(t, "old", "ladder.gomoku", now.Add(-2*begunLately), "ann", "cyd")
	present := p.a.presence.all(now)
	room := p.room(present, now)
	for id, want := range map[protocol.PlayerID]int{"ann": 3, "bob": 3, "cyd": 4} {
		if got := room[slotPoolOf(present[id][0].hello)]; got != (freeSlots{want, want}) {
			t.Errorf("%s has %+v free slots, want %d", id, got, want)
		}
	}
}

// A player rests between two games of the ladder.
func TestPauseOfTheLadder(t *testing.T) {
	t.Parallel()
	p, now := memoryPairer(t), time.Now()
	p.a.cfg.Ladder.Pause = 10 * time.Second
	p.join("ann", 1, now)
	for after, want := range []bool{0: false, 1: false, 9: false, 10: true, 11: true} {
		at := now.Add(time.Duration(after) * time.Second)
		present := p.a.presence.all(at)
		if f := p.freePlayers(present, p.room(present, at), at)["ann"]; (f != nil) != want {
			t.Errorf("after %d s it can be paired: %t", after, f != nil)
		}
	}
}

// Anchors of the ladder are not paired with each other, even if nobody else is there.
func TestAnchorsAreNotPaired(t *testing.T) {
	t.Parallel()
	for anchors, want := range [][]protocol.PlayerID{0: {}, 1: {"ann"}, 2: {"ann", "bob"}} {
		p, now := memoryPairer(t, want...), time.Now()
		p.join("ann", 1, now)
		p.join("bob", 1, now)
		p.waited(now, "ann", "bob")
		made := p.pair(now)
		if paired := len(made) == 1; paired != (anchors < 2) {
			t.Errorf("with %d anchors of two players: %d pairs", anchors, len(made))
		}
	}
}

// No more pairings wait in the queue than it takes, and those for whom there is no place go on
// waiting.
func TestFullQueueOfPairings(t *testing.T) {
	t.Parallel()
	p, now := memoryPairer(t), time.Now()
	for i := range maxPosted - 1 {
		p.posted[protocol.GameID(fmt.Sprintf("g%d", i))] = &postedPairing{}
	}
	players := []protocol.PlayerID{"ann", "bob", "cyd", "dan", "eve", "fay"}
	for _, id := range players {
		p.join(id, 1, now)
	}
	p.waited(now, players...)
	made := p.pair(now)
	if len(made) != 1 {
		t.Fatalf("%d more pairings, want 1", len(made))
	}
	waiting := 0
	for _, id := range players {
		paired := made[0].ch.Seats[0].Player == id || made[0].ch.Seats[1].Player == id
		if free := !p.contender(id).since.IsZero(); free == paired {
			t.Errorf("%s is paired: %t, and waits: %t", id, paired, free)
		} else if free {
			waiting++
		}
	}
	if waiting != 4 {
		t.Errorf("%d go on waiting, want 4", waiting)
	}
}

// A pairing becomes no game when one of its players has begun another game of the ladder
// meanwhile, or is not known here.
func TestPairable(t *testing.T) {
	t.Parallel()
	p, now := memoryPairer(t), time.Now()
	p.join("ann", 4, now)
	p.join("bob", 4, now)
	terms := protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15", Clock: clock.Spec{Kind: clock.Fischer, Initial: time.Hour}, Rated: true}
	check := func(what string, second protocol.PlayerID, want *unfilled) {
		t.Helper()
		ch := protocol.Challenge{Terms: terms, Pairing: true}
		ch.Seats[0].Player, ch.Seats[1].Player = "ann", second
		if got := p.a.pairable(ch, now); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	check("both are there", "bob", nil)
	check("one is not known", "cyd", &unfilled{by: "cyd", later: true})
	p.runs(t, "casual", "gomoku.blitz", now, "ann", "eve")
	check("one plays another game", "bob", nil)
	p.runs(t, "g1", ladderPoolOf(terms), now, "ann", "eve")
	check("one plays on the ladder", "bob", &unfilled{})
	p.a.cfg.Ladder.Games = 2
	check("it may play two games there", "bob", nil)
	p.runs(t, "g2", ladderPoolOf(terms), now, "eve", "ann")
	check("it plays two games there", "bob", &unfilled{})
}
