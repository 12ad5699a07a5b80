package arena

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
	"sparring/protocol"
)

// process lets a bot process of the operator act for players, with slots that they share.
func (p *pairer) process(id protocol.InstanceID, slots, free int, at time.Time, players ...protocol.PlayerID) {
	for _, player := range players {
		from := protocol.From{Player: player, Arrived: at}
		p.a.presence.hello(from, protocol.Hello{Header: header(), Instance: id, Secret: string(id), Fleet: true,
			Kind: protocol.Bot, Slots: slots, Games: []protocol.Capability{{Game: "gomoku"}}})
		p.a.presence.alive(from, protocol.Alive{Header: header(), Instance: id, Secret: string(id), Free: free})
	}
}

// holds notes a running game of two players in which an instance, or nobody, has both seats.
func (p *pairer) holds(t *testing.T, id protocol.InstanceID, players ...protocol.PlayerID) {
	t.Helper()
	n := len(p.a.index.games) + 1
	e := protocol.Event{V: protocol.Version, Kind: protocol.EventStart, Index: 1, Term: 1, Time: time.Now()}
	e.Game, e.Terms, e.Started, e.Status = protocol.GameID(fmt.Sprint("held-", n)), protocol.Terms{Game: "gomoku", Rules: "gomoku/freestyle-15"}, time.Now().Add(-time.Minute), protocol.Playing
	for seat, player := range players {
		e.Holders[seat] = protocol.Holder{Player: player, Kind: protocol.Bot, Instance: id, Epoch: 1}
	}
	if _, ok := p.a.index.note(p.a.index.subjects.Log(e.Game), uint64(n), e.Encode(), false); !ok {
		t.Fatal("not noted")
	}
}

// The fleet survives as many losses as leave a free slot for each seat, and no pairing takes the
// slots that are kept for one.
func TestRoomForLosses(t *testing.T) {
	t.Parallel()
	type process struct{ slots, games int } // games between two of its players
	for name, c := range map[string]struct {
		processes []process
		vacant    int // games without holders
		losses    int // of the settings
		survives  int
		spare     int // seats
	}{
		"one process":              {processes: []process{{8, 1}}, losses: 1, survives: 0, spare: 6},
		"two, idle":                {processes: []process{{8, 0}, {8, 0}}, losses: 1, survives: 1, spare: 8},
		"two, half full":           {processes: []process{{8, 2}, {8, 2}}, losses: 1, survives: 1, spare: 0},
		"two, more than half":      {processes: []process{{8, 3}, {8, 2}}, losses: 1, survives: 0, spare: 0},
		"two, no losses kept":      {processes: []process{{8, 3}, {8, 2}}, losses: 0, survives: 0, spare: 6},
		"two of one slot":          {processes: []process{{1, 0}, {1, 0}}, losses: 1, survives: 1, spare: 2},
		"three":                    {processes: []process{{8, 2}, {8, 1}, {8, 0}}, losses: 1, survives: 2, spare: 10},
		"three, two losses kept":   {processes: []process{{8, 1}, {8, 0}, {8, 0}}, losses: 2, survives: 2, spare: 6},
		"a large one":              {processes: []process{{20, 2}, {8, 0}, {8, 0}}, losses: 1, survives: 2, spare: 12},
		"six, as full as they may": {processes: []process{{4, 2}, {4, 2}, {4, 2}, {4, 2}, {4, 2}, {4, 0}}, losses: 1, survives: 1, spare: 0},
		"vacant seats come first":  {processes: []process{{8, 1}, {8, 1}}, vacant: 1, losses: 1, survives: 1, spare: 2},
		"vacant seats without one": {processes: []process{{2, 1}, {2, 1}}, vacant: 1, losses: 0, survives: 0, spare: 0},
		"beyond the slots":         {processes: []process{{4, 3}, {4, 2}}, losses: 1, survives: 0, spare: 0},
	} {
		p, now := memoryPairer(t), time.Now()
		p.a.cfg.Ladder.Losses = c.losses
		for i, one := range c.processes {
			id := protocol.InstanceID(fmt.Sprint("bots-", i))
			p.process(id, one.slots, max(one.slots-2*one.games, 0), now, "ann", "bob")
			for range one.games {
				p.holds(t, id, "ann", "bob")
			}
		}
		for range c.vacant {
			p.holds(t, "", "ann", "bob")
		}
		if n, ok := p.a.survivedLosses(now); n != c.survives || !ok {
			t.Errorf("%s: survives %d losses, want %d", name, n, c.survives)
		}
		present := p.a.presence.all(now)
		spare := p.keepRoom(present, p.room(present, now), now)
		if n := *spare[slotPoolOf(present["ann"][0].hello)]; n != c.spare {
			t.Errorf("%s: %d more seats, want %d", name, n, c.spare)
		}
	}
}

// Players with processes of their own are groups of their own: the free slots of one are no room for
// the games of another. A player who has one process alone loses its games with it.
func TestRoomOfGroups(t *testing.T) {
	t.Parallel()
	p, now := memoryPairer(t), time.Now()
	p.process("a", 4, 2, now, "ann", "bob")
	p.process("b", 4, 4, now, "bob", "cyd")
	p.process("c", 4, 4, now, "dan")
	p.process("d", 4, 4, now, "dan")
	f := p.a.fleetRoom(p.a.presence.all(now), now)
	if len(f.groups) != 2 || len(f.groups[0].free) != 2 || len(f.groups[1].free) != 2 {
		t.Fatalf("%+v", f.groups)
	}
	if n, _ := p.a.survivedLosses(now); n != 1 {
		t.Errorf("it survives %d losses without games, want 1", n)
	}
	p.holds(t, "a", "ann", "bob")
	if n, _ := p.a.survivedLosses(now); n != 0 {
		t.Errorf("it survives %d losses with a game of a player that has one process, want 0", n)
	}
	p.join("eve", 4, now) // somebody else's bot
	if spare := p.keepRoom(p.a.presence.all(now), p.room(p.a.presence.all(now), now), now); spare[slotPoolOf(p.a.presence.all(now)["eve"][0].hello)] != nil {
		t.Error("room is kept for bots of others")
	}
}

// Pairing stops where the loss of a process could cost games, and goes on without that setting.
func TestPairingKeepsRoom(t *testing.T) {
	t.Parallel()
	var players []protocol.PlayerID
	for i := range 16 {
		players = append(players, protocol.PlayerID(fmt.Sprintf("bot-%02d", i)))
	}
	for losses, want := range map[int]int{0: 6, 1: 4, 2: 2} {
		p, now := memoryPairer(t), time.Now()
		p.a.cfg.Ladder.Losses = losses
		for i := range 3 {
			p.process(protocol.InstanceID(fmt.Sprint("bots-", i)), 4, 4, now, players...)
		}
		p.waited(now, players...)
		made := p.pair(now)
		if len(made) != want {
			t.Errorf("room for %d losses: %d pairs with 12 slots, want %d", losses, len(made), want)
		}
		for _, w := range made {
			p.posted[w.ch.Game] = w
		}
		if more := p.pair(now); len(more) != 0 {
			t.Errorf("room for %d losses: %d more pairs while those wait", losses, len(more))
		}
	}
}

// An answer to an offer that is malformed is the bot's fault, and said. Our own lost connection is not, and
// neither asks again nor counts against a player.
func TestOfferThatFailed(t *testing.T) {
	t.Parallel()
	const said = "malformed answer to an offer"
	for name, c := range map[string]struct {
		err          error
		again, blame bool
	}{
		"malformed":          {fmt.Errorf("offer: %w", protocol.ErrOfferAnswer), true, true},
		"connection closed":  {fmt.Errorf("offer: %w", nats.ErrConnectionClosed), false, false},
		"connection is away": {fmt.Errorf("offer: %w", nats.ErrConnectionReconnecting), false, false},
		"nobody is there":    {fmt.Errorf("offer: %w", nats.ErrNoResponders), false, false},
		"no answer in time":  {fmt.Errorf("offer: %w", context.DeadlineExceeded), true, false},
	} {
		a, log := memoryPairer(t).a, new(gametest.Output)
		a.log = zerolog.New(log)
		w := protocol.SeatWanted{Pool: "team.alpha"}
		if again := a.askAgain(t.Context(), protocol.Challenge{Game: "g"}, w, w.Pool, "", c.err); again != c.again {
			t.Errorf("%s: it asks again: %t", name, again)
		}
		if log.Has(said) != c.blame {
			t.Errorf("%s: %s", name, log)
		}
	}
}
