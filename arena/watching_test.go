package arena

import (
	"context"
	"encoding/json"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// told subscribes to what the platform itself sends a player about a game.
func told(t *testing.T, a *running, p *player, g protocol.GameID) *nats.Subscription {
	t.Helper()
	sub, err := p.nc.SubscribeSync(a.server.Subjects().ToGame(p.id, g))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return sub
}

// pliesTold returns the plies of the states up to the first with as many as these.
func pliesTold(ctx context.Context, t *testing.T, sub *nats.Subscription, until int) (all []int) {
	t.Helper()
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			t.Fatalf("states with %v plies, and then %v", all, err)
		}
		var st protocol.State
		if err := json.Unmarshal(msg.Data, &st); err != nil {
			t.Fatal(err)
		}
		if n := len(st.Moves); len(all) == 0 || all[len(all)-1] != n {
			all = append(all, n)
		}
		if len(st.Moves) == until {
			return all
		}
	}
}

// watches waits until the last of some moves has come from the log, too.
func (p *player) watches(g protocol.GameID, n int) {
	p.t.Helper()
	p.until(g, "the last move", plies(n))
	p.mu.Lock()
	sub := p.subs[g]
	p.mu.Unlock()
	gametest.Eventually(p.t, "the entry of the last move", sub.Watching)
}

// watched starts a game of two plies, of which bob has said that it is watching.
func watched(t *testing.T, clock string) (ctx context.Context, a *running, ann, bob *player, g protocol.GameID) {
	t.Helper()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a = runArena(t, srv, steady())
	ann, bob, g = still(t, srv, small(t, clock))
	ctx = gametest.Context(t)
	ann.step(ctx, g)
	bob.watches(g, 1)
	bob.step(ctx, g)
	return ctx, a, ann, bob, g
}

// A player that says that it is watching is not sent its opponent's moves: it has them from
// the log, as the platform would tell them. One that has stopped saying so is.
func TestWatching(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob, g := still(t, srv, small(t, "3600"))
	ctx := gametest.Context(t)
	gametest.Eventually(t, "a heartbeat that names the game", func() bool {
		plays, _ := a.presence.playing("bob", "b1", g)
		return plays
	})
	toBob := told(t, a, bob, g)
	ann.step(ctx, g) // sent, since bob has not said anything
	bob.watches(g, 1)
	bob.step(ctx, g)
	ann.step(ctx, g)
	st := bob.until(g, "a move from the log", plies(3))
	var want protocol.State
	a.visit(g, func(r *referee) { want = r.game.State(game.Second, st.ServerTime) })
	want.V, want.To, want.ServerTime, want.Clocks = st.V, st.To, st.ServerTime, st.Clocks
	if !reflect.DeepEqual(st, want) {
		t.Errorf("the log tells\n%+v, the platform\n%+v", st, want)
	}
	if c := st.Clocks; c.Running == nil || *c.Running != game.Second || c.Seats[game.First].LeftMS != st.Receipt.LeftMS || c.Seats[game.Second].LeftMS < 3_500_000 {
		t.Errorf("clocks %+v after the receipt %+v", c, st.Receipt)
	}
	bob.step(ctx, g) // it still is
	ann.step(ctx, g)
	st = bob.until(g, "a move from the log", plies(5))
	pos := position(t, st.Snapshot)
	if _, err := bob.SendMove(ctx, g, protocol.MoveRequest{Epoch: 1, Ply: 5, Move: pos.Format(pos.Legal(nil)[0])}); err != nil {
		t.Fatal(err)
	}
	ann.step(ctx, g)
	if got, want := pliesTold(ctx, t, toBob, 7), []int{1, 2, 4, 6, 7}; !reflect.DeepEqual(got, want) {
		t.Errorf("bob is sent the states with %v plies, want %v", got, want)
	}
}

// Whoever takes a seat over from an instance that was watching is sent the opponent's moves.
func TestWatchingEndsWithTheEpoch(t *testing.T) {
	t.Parallel()
	ctx, a, ann, bob, g := watched(t, "3600")
	if _, err := bob.Leave(ctx, g); err != nil {
		t.Fatal(err)
	}
	bob.until(g, "another epoch", func(st protocol.State) bool {
		return st.Holders[game.Second].Epoch > 1 && st.Holders[game.Second].Instance != ""
	})
	toBob := told(t, a, bob, g)
	ann.step(ctx, g)
	pliesTold(ctx, t, toBob, 3)
}

// The move of a player that is watching is sent to it again if it has missed the entry.
func TestWatcherMissesAMove(t *testing.T) {
	t.Parallel()
	ctx, a, ann, bob, g := watched(t, "20")
	a.visit(g, func(r *referee) {
		if r.watching[game.Second] != 1 {
			t.Errorf("bob is watching in epoch %d, want 1", r.watching[game.Second])
		}
	})
	bob.set(func(p *player) {
		if err := p.subs[g].Unsubscribe(); err != nil {
			t.Error(err)
		}
	})
	toBob := told(t, a, bob, g)
	ann.step(ctx, g)
	pliesTold(ctx, t, toBob, 3)
}

// promptly is less than the pause after which a state is repeated with much time on the clocks.
const promptly = maxResend / 4

// toldPromptly waits for the state with so many plies, but not for its repetition.
func toldPromptly(ctx context.Context, t *testing.T, sub *nats.Subscription, until int) {
	t.Helper()
	soon, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	pliesTold(soon, t, sub, until)
}

// The server that stores an entry republishes it, unless it dies or is not the stream's leader any
// more. Then the acknowledgement is missing, too.
func TestWatcherIsToldWhatWasStoredInDoubt(t *testing.T) {
	t.Parallel()
	ctx, a, ann, bob, g := watched(t, "3600")
	toBob := told(t, a, bob, g)
	a.visit(g, func(r *referee) {
		sending := r.j.sending
		r.j.sending = func(e *protocol.Event, data []byte) { // the entry is stored, and nobody hears of it
			sending(e, data)
			if _, err := r.j.store.js.Publish(ctx, r.j.store.subjects.Log(g), data); err != nil {
				t.Error(err)
			}
			r.j.sending = sending
		}
	})
	ann.step(ctx, g)
	toldPromptly(ctx, t, toBob, 3)
}

// Entries with lower sequences than before, such as those behind an older backup of the stream,
// look out of date to a player that is watching.
func TestWatcherIsToldWhenTheLogBeginsAgain(t *testing.T) {
	t.Parallel()
	ctx, a, ann, bob, g := watched(t, "3600")
	toBob := told(t, a, bob, g)
	cfg := a.store.games.CachedInfo().Config
	if err := a.store.js.DeleteStream(ctx, cfg.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.js.CreateStream(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	st := ann.until(g, "the turn", ann.mine)
	pos := position(t, st.Snapshot)
	if _, err := ann.move(ctx, st, pos.Format(pos.Legal(nil)[0]), ""); err != nil {
		t.Fatal(err)
	}
	a.visit(g, func(r *referee) {
		if r.j.last != 1 {
			t.Errorf("the log goes on with entry %d, want the first of a new stream", r.j.last)
		}
	})
	toldPromptly(ctx, t, toBob, 3)
}

// What the store was sent before it stalled it may write later, while the game goes on without its
// log: to a player that is watching, too, that is no news.
func TestWatcherIgnoresAnEntryGivenUp(t *testing.T) {
	t.Parallel()
	ctx, a, ann, bob, g := watched(t, "3600")
	fullStream(a)
	ann.step(ctx, g)
	bob.step(ctx, g)
	ann.step(ctx, g)
	bob.until(g, "moves without a log", plies(5))
	var back atomic.Int64
	bob.set(func(p *player) {
		p.play = func(st protocol.State) {
			if len(st.Moves) < 5 {
				back.Store(int64(len(st.Moves)))
			}
		}
	})
	var entry []byte
	a.visit(g, func(r *referee) {
		r.catchUpAt = time.Now().Add(patience)
		if len(r.unlogged) > 0 {
			entry = r.unlogged[0].Encode()
		}
	})
	roomInStream(a)
	if _, err := a.store.js.Publish(ctx, a.store.subjects.Log(g), entry); err != nil {
		t.Fatal(err)
	}
	if err := bob.nc.Flush(); err != nil { // the server has sent it before its acknowledgement
		t.Fatal(err)
	}
	a.visit(g, func(r *referee) { r.catchUpAt = time.Time{} })
	gametest.Eventually(t, "the log to go on", func() bool {
		var behind int
		a.visit(g, func(r *referee) { behind = len(r.unlogged) })
		return behind == 0
	})
	bob.step(ctx, g)
	if n := back.Load(); n > 0 {
		t.Errorf("the game went back to ply %d", n)
	}
}
