package scripted

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPlatformAndPlayers plays a game of two scripted players on the scripted platform,
// below subjects of its own.
func TestPlatformAndPlayers(t *testing.T) {
	ns, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	connect := func() *nats.Conn {
		nc, err := protocol.Connect(protocol.Connection{InProcess: ns, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	const prefix = "club.games"
	p, err := NewPlatform(connect(), Config{Prefix: prefix, Matching: true, LostAfter: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	players := map[protocol.PlayerID]*Player{}
	for i, id := range []protocol.PlayerID{"ann", "bob"} {
		q, err := NewPlayer(connect(), PlayerConfig{Prefix: prefix, Player: id, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(q.Close)
		if err := q.Start(ctx); err != nil {
			t.Fatal(err)
		}
		players[id] = q
	}
	c, err := clock.Parse("60+1")
	if err != nil {
		t.Fatal(err)
	}
	ann, bob := players["ann"], players["bob"]
	ans, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: protocol.Terms{Game: "amazons", Rules: "amazons/6x6", Clock: c}, Opponent: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	ann.Follow(ans.Game)
	var ends [2]protocol.State
	for i, q := range []*Player{ann, bob} {
		if ends[i], err = q.Until(ctx, ans.Game, "the end", func(st protocol.State) bool { return st.Status == protocol.Finished }); err != nil {
			t.Fatal(err)
		}
		for _, f := range q.Faults() {
			t.Error(f)
		}
	}
	if ends[0].Outcome != ends[1].Outcome || ends[0].Outcome.Reason != game.NoMoves {
		t.Errorf("outcomes %+v and %+v", ends[0].Outcome, ends[1].Outcome)
	}
}

// TestWithdrawAgain: a withdrawal whose answer was lost is confirmed when it comes again,
// but only to the player whose challenge it was.
func TestWithdrawAgain(t *testing.T) {
	p := &Platform{
		monitor: newMonitor(), challenges: map[protocol.GameID]*challenge{"g1": {by: "ann", cancel: func() {}}},
		withdrawn: make(map[protocol.GameID]protocol.PlayerID),
	}
	ask := func(player protocol.PlayerID, g protocol.GameID) protocol.Code {
		ans := p.withdraw(protocol.From{Player: player}, protocol.Withdraw{Game: g})
		if ans.Error != nil {
			return ans.Error.Code
		}
		return ans.Code
	}
	for _, c := range []struct {
		player protocol.PlayerID
		game   protocol.GameID
		want   protocol.Code
	}{{"bob", "g1", protocol.Denied}, {"ann", "g1", ""}, {"ann", "g1", protocol.Duplicate}, {"bob", "g1", protocol.NotOffered}, {"ann", "g2", protocol.NotOffered}} {
		if got := ask(c.player, c.game); got != c.want {
			t.Errorf("%s withdraws %s: %q, want %q", c.player, c.game, got, c.want)
		}
	}
}
