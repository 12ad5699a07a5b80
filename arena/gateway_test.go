package arena

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// TestGateway follows one game through the methods that a gateway uses.
func TestGateway(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir(), "ann", "ben")
	a := runArena(t, srv, steady())
	ann, ben := join(t, srv, "ann", "ann-1"), join(t, srv, "ben", "ben-1")
	seen := make(chan protocol.Event, 1000)
	t.Cleanup(a.Follow(func(e protocol.Event, seq uint64) {
		if seq > 0 {
			seen <- e
		}
	}))
	ctx := t.Context()
	if _, _, err := a.Game(ctx, "nothing"); !errors.Is(err, ErrNoGame) {
		t.Errorf("Game of an unknown id: %v", err)
	}
	for _, g := range []protocol.GameID{"nothing", "a.b", "*"} {
		if _, err := a.Record(ctx, g); !errors.Is(err, ErrNoGame) {
			t.Errorf("Record of %q: %v", g, err)
		}
	}
	gametest.Eventually(t, "two instances", func() bool { return len(a.Instances()) == 2 })
	for i, in := range a.Instances() {
		if want := []protocol.PlayerID{"ann", "ben"}[i]; in.Player != want || in.Hello.Secret != "" || in.Hello.Slots == 0 {
			t.Errorf("instance %d: %+v", i, in)
		}
	}
	ann.set(func(p *player) { p.play = nil })
	g := ann.challenge("ben", small(t, "60+1"), game.Second)
	gametest.Eventually(t, "the game in the list", func() bool { all := a.Running(); return len(all) == 1 && all[0].Game == g })
	for p, want := range map[protocol.PlayerID]int{"ann": 1, "ben": 1, "cat": 0} {
		if all := a.RunningOf(p); len(all) != want {
			t.Errorf("%d running games of %s, want %d", len(all), p, want)
		}
	}
	st := ann.until(g, "a move of the opponent", plies(1))
	if _, err := ann.Resign(ctx, g, st.Holders[1].Epoch, len(st.Moves)); err != nil {
		t.Fatal(err)
	}
	ben.until(g, "the end", finished)
	var kinds []protocol.EventKind
	for len(kinds) == 0 || kinds[len(kinds)-1] != protocol.EventRecorded {
		select {
		case e := <-seen:
			kinds = append(kinds, e.Kind)
		case <-time.After(patience):
			t.Fatalf("no recorded entry after %v", kinds)
		}
	}
	if kinds[0] != protocol.EventStart {
		t.Errorf("entries seen: %v", kinds)
	}
	last, seq, err := a.Game(ctx, g)
	if err != nil || last.Status != protocol.Finished || seq == 0 {
		t.Errorf("ended game: %v %d, %v", last.Status, seq, err)
	}
	rec, err := a.Record(ctx, g)
	if err != nil || rec.ID != string(g) || len(rec.Plies) != len(last.Moves) {
		t.Errorf("record: %+v, %v", rec, err)
	}
	if all := a.RunningOf("ann"); len(all) != 0 {
		t.Errorf("running after the end: %v", all)
	}
	// A later start does not remember the game, but its log does.
	a.stop()
	b := prepareArena(t, srv, steady())
	if last, _, err := b.Game(ctx, g); err != nil || last.Kind != protocol.EventRecorded {
		t.Errorf("ended game of a former arena: %v, %v", last.Kind, err)
	}
}

// TestBucket checks that arenas share a bucket and notice one of another kind.
func TestBucket(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, t.TempDir())
	a, b := prepareArena(t, srv, quick()), prepareArena(t, srv, quick())
	ctx := context.Background()
	kv, err := a.Bucket(ctx, jetstream.KeyValueConfig{Bucket: "things"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.PutString(ctx, "key", "value"); err != nil {
		t.Fatal(err)
	}
	if kv.Bucket() != "sparring_things" {
		t.Errorf("bucket %s", kv.Bucket())
	}
	if kv, err = b.Bucket(ctx, jetstream.KeyValueConfig{Bucket: "things"}); err != nil {
		t.Fatal(err)
	}
	if e, err := kv.Get(ctx, "key"); err != nil || string(e.Value()) != "value" {
		t.Errorf("%v, %v", e, err)
	}
	if _, err := b.Bucket(ctx, jetstream.KeyValueConfig{Bucket: "things", TTL: time.Hour}); err == nil {
		t.Error("a bucket with another time to live was accepted")
	}
}
