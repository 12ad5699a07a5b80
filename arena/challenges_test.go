package arena

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/protocol"
)

// TestChallengesOfOnePlayer: a player can't fill the queue alone, and decided
// challenges no longer count.
func TestChallengesOfOnePlayer(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann")
	cfg := steady()
	cfg.PerPlayer = 3
	runArena(t, srv, cfg)
	ann := join(t, srv, "ann", "a1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ask := func(i int) (protocol.ChallengeAnswer, error) {
		return ann.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: protocol.PlayerID(fmt.Sprintf("nobody%d", i)), ExpireMS: 3_600_000})
	}
	var first protocol.GameID
	for i := range cfg.PerPlayer {
		ans, err := ask(i)
		if err != nil {
			t.Fatalf("challenge %d: %v", i+1, err)
		}
		if i == 0 {
			first = ans.Game
		}
	}
	if _, err := ask(3); !errors.Is(err, &protocol.Error{Code: protocol.RateLimited}) {
		t.Errorf("one too many: %v, want %s", err, protocol.RateLimited)
	}
	if _, err := ann.Withdraw(ctx, first); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := ask(4)
		if err == nil {
			return
		}
		if ctx.Err() != nil || !errors.Is(err, &protocol.Error{Code: protocol.RateLimited}) {
			t.Fatalf("after a withdrawal: %v", err)
		}
	}
}

// TestMissingStream: a lost stream is not created again silently.
func TestMissingStream(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "nobody", ExpireMS: 3_600_000}); err != nil {
		t.Fatal(err)
	}
	a.crash()
	nc := arenatest.Connect(t, srv.Platform())
	other, err := New(ctx, nc, steady(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	name := streamName(other.server.Subjects(), "records")
	if err := other.store.js.DeleteStream(ctx, name); err != nil {
		t.Fatal(err)
	}
	if _, err := New(ctx, nc, steady(), zerolog.Nop()); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("with %s deleted: %v, want an error that names it", name, err)
	}
}

// A client that has lost the ids of its challenges gets them with its hello, also
// from an arena that was started later, and can withdraw them.
func TestLostChallengeIDs(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "ann")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	lost := make(map[protocol.GameID]protocol.PlayerID)
	for _, opponent := range []protocol.PlayerID{"nobody", "no-one"} {
		ans, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: opponent, ExpireMS: 3_600_000})
		if err != nil {
			t.Fatal(err)
		}
		lost[ans.Game] = opponent
	}
	waiting := func(n int) []protocol.WaitingChallenge {
		t.Helper()
		var ans protocol.HelloAnswer
		gametest.Eventually(t, fmt.Sprintf("%d waiting challenges", n), func() bool {
			var err error
			if ans, err = ann.Hello(ctx, protocol.Hello{Kind: protocol.Bot, Slots: 1}); err != nil {
				t.Fatal(err)
			}
			return len(ans.Waiting) == n
		})
		return ans.Waiting
	}
	waiting(2)
	a.stop()
	runArena(t, srv, steady())
	for _, w := range waiting(2) {
		if lost[w.Game] != w.Opponent || w.Opponent == "" || w.Expires.IsZero() {
			t.Errorf("%+v was not sent", w)
		}
		if _, err := ann.Withdraw(ctx, w.Game); err != nil {
			t.Error(err)
		}
	}
	waiting(0)
}
