package arena

import (
	"errors"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// TestDrain: a draining arena starts no game, neither of the ladder nor of a challenge,
// and lets the running one end by its moves.
func TestDrain(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "cyd", "dan")
	cfg := ladderConfig(0)
	cfg.Ladder.Pause = 0
	a := prepareArena(t, srv, cfg)
	a.start()
	for _, p := range []protocol.PlayerID{"ann", "bob"} {
		slow(join(t, srv, p, protocol.InstanceID(p), onLadder), 20*time.Millisecond)
	}
	cyd := join(t, srv, "cyd", "c1")
	gametest.Eventually(t, "a game of the ladder", func() bool { return len(a.Running()) > 0 })
	ctx := gametest.Context(t)
	waits, err := cyd.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "dan", ExpireMS: 3_600_000})
	if err != nil {
		t.Fatal(err)
	}
	a.Drain(ctx)
	join(t, srv, "dan", "d1") // who would take it
	last := a.Running()
	if _, err := cyd.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "ann"}); !errors.Is(err, &protocol.Error{Code: protocol.Unavailable}) {
		t.Errorf("a challenge: %v, want %s", err, protocol.Unavailable)
	}
	gametest.Eventually(t, "the end of the running games", func() bool { return len(a.Running()) == 0 })
	time.Sleep(4 * pairEvery) // four times in which they would be paired again
	if now := a.Running(); len(now) != 0 {
		t.Errorf("%s has started", now[0].Game)
	}
	if _, known := a.index.last(waits.Game); known {
		t.Error("the challenge that waited has been decided")
	}
	for _, e := range last {
		if e, _, err := a.Game(ctx, e.Game); err != nil || e.Outcome.Reason != game.NoMoves {
			t.Errorf("%s ended by %q (%v)", e.Game, e.Outcome.Reason, err)
		}
	}
}
