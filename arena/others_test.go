package arena

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/protocol"
)

// An instance is told of the player's other instances that are present, with what they
// play and where, and of nobody else's.
func TestOtherInstances(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "red", "blue")
	runArena(t, srv, steady())
	begun := time.Now()
	hello := func(p protocol.PlayerID, id protocol.InstanceID, host string) (*protocol.Client, func() []protocol.OtherInstance) {
		subjects, err := protocol.NewSubjects("")
		if err != nil {
			t.Fatal(err)
		}
		c, err := protocol.NewClient(arenatest.Connect(t, srv.Player(string(p))), subjects, p, id, zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		ask := func() []protocol.OtherInstance {
			within := gametest.Context(t)
			ans, err := c.Hello(within, protocol.Hello{Kind: protocol.Bot, Host: host,
				Games: []protocol.Capability{{Game: "gomoku", Rules: []string{"gomoku/renju-15"}, Engine: &protocol.Engine{Spec: "uci:" + string(id)}}}})
			if err != nil {
				t.Fatal(err)
			}
			return ans.Others
		}
		return c, ask
	}
	first, ask := hello("red", "r1", "lab-1")
	if others := ask(); len(others) > 0 {
		t.Errorf("alone, it is told of %+v", others)
	}
	_, blue := hello("blue", "b1", "lab-9")
	if others := blue(); len(others) > 0 {
		t.Errorf("another player is told of %+v", others)
	}
	_, second := hello("red", "r2", "")
	others := second()
	if len(others) != 1 || others[0].Instance != "r1" || others[0].Host != "lab-1" || others[0].Since.Before(begun) || others[0].Since.After(time.Now()) {
		t.Fatalf("the second is told of %+v", others)
	}
	if g := others[0].Games; len(g) != 1 || g[0].Game != "gomoku" || g[0].Engine == nil || g[0].Engine.Spec != "uci:r1" {
		t.Errorf("the second is told that the first plays %+v", g)
	}
	within := gametest.Context(t)
	if _, err := first.Leave(within); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the first is gone", func() bool { return len(second()) == 0 })
}

// TestManyOthers: the list is bounded, and has those that have been known longest.
func TestManyOthers(t *testing.T) {
	p, now := newPresence(time.Minute), time.Now()
	for i := range 2 * protocol.MaxOthers {
		id := protocol.InstanceID("i" + string(rune('a'+i)))
		p.hello(protocol.From{Player: "red", Arrived: now.Add(-time.Duration(i) * time.Second)}, protocol.Hello{Header: protocol.Header{ID: string(id)}, Instance: id})
	}
	others := p.others("red", "ip", now)
	if len(others) != protocol.MaxOthers || others[0].Instance != "io" {
		t.Errorf("%d others, the first %+v", len(others), others[0])
	}
}
