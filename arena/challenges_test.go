package arena

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/livegame"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// A challenge that is stored again, as after an answer of the store that was lost, is counted
// once.
func TestChallengeIsCountedOnce(t *testing.T) {
	t.Parallel()
	a, err := New(t.Context(), arenatest.Connect(t, arenatest.StartServer(t, "").Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	ch := protocol.Challenge{V: protocol.Version, Game: "g1", Terms: small(t, "60"), Pairing: true, Expires: time.Now().Add(time.Minute)}
	for _, want := range []bool{false, true} {
		if again, err := a.post(t.Context(), ladderPoolOf(ch.Terms), ch); again != want || err != nil {
			t.Fatalf("stored before: %v, want %v (%v)", again, want, err)
		}
	}
	if n := a.metrics.totals()["challenges_total"]; n != 1 {
		t.Errorf("%d challenges counted, want 1", n)
	}
}

// A request in the game that a challenge did not become is refused at once: it has no referee
// that could answer, however lately the challenge was closed.
func TestActionAfterWithdrawal(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann")
	cfg := steady()
	cfg.Linger = time.Hour
	runArena(t, srv, cfg)
	ann := join(t, srv, "ann", "a1")
	ctx := gametest.Context(t)
	g := ann.challenge("nobody", small(t, "60"), game.First)
	if _, err := ann.Withdraw(ctx, g); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Chat(ctx, g, 1, "hello?"); !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		t.Errorf("after the withdrawal: %v, want %s", err, protocol.Over)
	}
}

// Moves that were played before a game are read in any notation of the game. Its states, like
// its log, have them in the usual one, in which all other moves are.
func TestMovesBeforeTheGame(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	runArena(t, srv, steady())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.set(func(p *player) { p.play = nil })
	bob.set(func(p *player) { p.play = nil })
	terms := small(t, "60")
	terms.Moves = []string{"B1-B4-B5", "e6e3(e2)"}
	st := bob.until(ann.challenge("bob", terms, game.First), "the start", plies(2))
	want := []string{"b1b4/b5", "e6e3/e2"}
	if !slices.Equal(st.Moves, want) || !slices.Equal(st.Terms.Moves, want) || st.Turn != game.First {
		t.Errorf("begins with %q of %q, %s to act; want %q", st.Moves, st.Terms.Moves, st.Turn, want)
	}
}

// TestChallengesOfOnePlayer: a player can't fill the queue alone, and decided
// challenges no longer count.
func TestChallengesOfOnePlayer(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann")
	cfg := steady()
	cfg.PerPlayer = 3
	runArena(t, srv, cfg)
	ann := join(t, srv, "ann", "a1")
	ctx := gametest.Context(t)
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

// A challenge that has expired waits no more: it counts for no limit and is in no list, also
// while nobody has seen its end.
func TestExpiredDoesNotWait(t *testing.T) {
	q, now := newWaiting(), time.Now()
	add := func(g protocol.GameID, at time.Time) bool {
		ch := protocol.Challenge{Game: g, Expires: at.Add(time.Minute)}
		ch.Seats[0], ch.Seats[1] = protocol.SeatWanted{Player: "ann", Instance: "a1"}, protocol.SeatWanted{Player: "bob"}
		return q.add(ch, at, 1)
	}
	if !add("g1", now) || add("g2", now) || !add("g1", now) {
		t.Error("of a limit of one, another number may wait")
	}
	late := now.Add(time.Minute + time.Second)
	if waits := q.list("ann", late); len(waits) > 0 {
		t.Errorf("said to wait: %+v", waits)
	}
	if expired := q.expired(late); !slices.Equal(expired, []protocol.GameID{"g1"}) {
		t.Errorf("expired: %v", expired)
	}
	if !add("g3", late) {
		t.Error("a challenge that has expired counts")
	}
	if waits := q.list("ann", late); len(waits) != 1 || waits[0].Game != "g3" {
		t.Errorf("said to wait: %+v", waits)
	}
	q.list("ann", now.Add(time.Hour)) // by then their ends were missed
	if len(q.of) > 0 {
		t.Errorf("kept for ever: %+v", q.of)
	}
}

// TestWithdrawnElsewhere: a challenge that another arena has closed no longer counts, and
// is not said to wait, also when both have forgotten its game.
func TestWithdrawnElsewhere(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann")
	cfg := steady()
	cfg.PerPlayer, cfg.Linger = 1, 100*time.Millisecond
	one, two := runArena(t, srv, cfg), runArena(t, srv, cfg)
	join(t, srv, "ann", "a1")
	from := func() protocol.From { return protocol.From{Player: "ann", Arrived: time.Now()} }
	ask := func() protocol.ChallengeAnswer {
		t.Helper()
		m := protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "nobody", Instance: "a1", ExpireMS: 3_600_000}
		m.ID = protocol.NewID()
		ans := one.challenge(from(), m)
		if ans.Error != nil {
			t.Fatalf("challenge: %v", ans.Error)
		}
		return ans
	}
	gametest.Eventually(t, "both know ann", func() bool { return one.Present("ann") && two.Present("ann") })
	first := ask().Game
	told := make(chan struct{})
	defer one.Follow(func(e protocol.Event, _ uint64) {
		if e.Game == first {
			close(told)
		}
	})()
	if ans := two.withdraw(from(), protocol.Withdraw{Game: first}); ans.Error != nil {
		t.Fatalf("withdraw: %v", ans.Error)
	}
	select {
	case <-told:
	case <-time.After(patience):
		t.Fatal("the first arena does not learn of the withdrawal")
	}
	gametest.Eventually(t, "the first arena has forgotten the game", func() bool {
		_, known := one.index.last(first)
		return !known
	})
	if waits := one.waiting.list("ann", time.Now()); len(waits) > 0 {
		t.Errorf("said to wait: %+v", waits)
	}
	ask()
}

// TestSameChallengeLater: a challenge that is sent again is the one that waits, also when
// the queue has forgotten its id.
func TestSameChallengeLater(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	ctx := gametest.Context(t)
	queue := func() *jetstream.StreamInfo {
		t.Helper()
		info, err := a.store.challenges.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	cfg := queue().Config
	cfg.Duplicates = 100 * time.Millisecond // the shortest that the server takes
	if _, err := a.store.js.UpdateStream(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	ask := func() protocol.ChallengeAnswer {
		t.Helper()
		m := protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "nobody", ExpireMS: 3_600_000}
		m.ID = "same"
		ans, err := ann.Challenge(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		return ans
	}
	first := ask()
	sleep(ctx, 10*cfg.Duplicates)
	if again := ask(); again.Code != protocol.Duplicate || again.Game != first.Game || !again.Expires.Equal(first.Expires) {
		t.Errorf("sent again: %s, game %s until %v, want %s, %s, %v", again.Code, again.Game, again.Expires, protocol.Duplicate, first.Game, first.Expires)
	}
	if n := queue().State.Msgs; n != 1 {
		t.Errorf("%d challenges wait, want 1", n)
	}
	if _, err := ann.Withdraw(ctx, first.Game); err != nil {
		t.Fatal(err)
	}
	m := protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "nobody"}
	m.ID = "same"
	if _, err := ann.Challenge(ctx, m); !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		t.Errorf("sent again after its withdrawal: %v, want %s", err, protocol.Over)
	}

	// Of a game that was played long ago only the record is left. Another game of its id
	// would have none, and not be rated.
	m.ID = "played"
	if err := a.store.publishRecord(ctx, &record.Record{
		ID: string(gameID("ann", m.ID)), Game: m.Game, Rules: m.Rules, Clock: m.Clock, Source: record.Source{By: record.ByArena},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Challenge(ctx, m); !errors.Is(err, &protocol.Error{Code: protocol.Over}) {
		t.Errorf("sent again after its log was removed: %v, want %s", err, protocol.Over)
	}
}

// TestWithdrawRightAfterStart: the queue still holds a challenge for a moment after its
// game began. Nobody's withdrawal finds it waiting then.
func TestWithdrawRightAfterStart(t *testing.T) {
	t.Parallel()
	a, err := New(t.Context(), arenatest.Connect(t, arenatest.StartServer(t, "").Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a.life = t.Context()
	ch := protocol.Challenge{V: protocol.Version, Game: "begun", Terms: small(t, "60"), Created: time.Now(), Expires: time.Now().Add(time.Hour)}
	ch.Seats[0], ch.Seats[1] = protocol.SeatWanted{Player: "ann", Instance: "a1"}, protocol.SeatWanted{Player: "bob"}
	if _, err := a.post(t.Context(), protocol.OwnPool("bob"), ch); err != nil {
		t.Fatal(err)
	}
	withdrawn := func(by protocol.PlayerID, want protocol.Code) {
		t.Helper()
		if ans := a.withdraw(protocol.From{Player: by}, protocol.Withdraw{Game: ch.Game}); ans.Error == nil || ans.Error.Code != want {
			t.Errorf("%s withdraws: %+v, want %s", by, ans, want)
		}
	}
	withdrawn("eve", protocol.Denied)
	e := &protocol.Event{V: protocol.Version, Kind: protocol.EventMove, Term: 1, Index: 1, Time: time.Now()}
	e.Game, e.Terms = ch.Game, ch.Terms
	e.Moves = []string{}
	if err := a.store.journal(ch.Game, 0, func() {}).append(t.Context(), e, 0); err != nil {
		t.Fatal(err)
	}
	for _, p := range []protocol.PlayerID{"ann", "bob", "eve"} {
		withdrawn(p, protocol.NotOffered)
	}
}

// TestMissingStream: a lost stream is not created again silently.
func TestMissingStream(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	ctx := gametest.Context(t)
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
	ctx := gametest.Context(t)
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

// A challenger that is gone does not keep others from the player that it asked for, who
// is not even asked as long as nobody takes the challenger's seat.
func TestChallengerThatIsGone(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "eve")
	a := runArena(t, srv, steady())
	var asked sync.Map // games that bob was offered
	busy := func(o protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Busy}
	}
	bob := join(t, srv, "bob", "b1", func(p *player) { p.answer = busy })
	eve := join(t, srv, "eve", "e1")
	ctx := gametest.Context(t)
	second := game.Second // bob's seat would be filled before eve's
	lost, err := eve.Challenge(ctx, protocol.ChallengeRequest{
		Terms: small(t, "60"), Opponent: "bob", Seat: &second, ExpireMS: protocol.LongestChallenge.Milliseconds(),
	})
	if err != nil {
		t.Fatal(err)
	}
	eve.notice(protocol.NoticeWaiting)
	eve.set(func(p *player) { p.quiet = true })
	if _, err := eve.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	eve.leaveTable()
	gametest.Eventually(t, "eve to be gone", func() bool { return !a.presence.present("eve", "e1", time.Now()) })
	bob.set(func(p *player) {
		p.answer = func(o protocol.Offer) protocol.OfferAnswer {
			asked.Store(o.Game, true)
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
		}
	})
	offers := counterValue(t, a.Arena, "sparring_arena_offers_total")
	gametest.Eventually(t, "eve's challenge to be tried again", func() bool {
		return counterValue(t, a.Arena, "sparring_arena_offers_total") >= offers+2
	})
	ann := join(t, srv, "ann", "a1")
	ann.until(ann.challenge("bob", small(t, "60"), game.First), "a game", plies(1))
	if _, offered := asked.Load(lost.Game); offered {
		t.Error("bob was asked for a game with a challenger that is gone")
	}
	if _, _, err := a.store.storedChallenge(ctx, lost.Game); err != nil {
		t.Errorf("eve's challenge does not wait any more: %v", err)
	}
}

// The log of a challenge that was withdrawn goes by itself, also where an older arena has
// created the stream.
func TestLogOfWithdrawnChallengeExpires(t *testing.T) {
	t.Parallel()
	nc := arenatest.Connect(t, arenatest.StartServer(t, "").Platform())
	open := func() *Arena {
		t.Helper()
		a, err := New(t.Context(), nc, quick(), zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		a.life = t.Context()
		return a
	}
	a := open()
	old := a.store.games.CachedInfo().Config
	if err := a.store.js.DeleteStream(t.Context(), old.Name); err != nil {
		t.Fatal(err)
	}
	old.AllowMsgTTL = false
	if _, err := a.store.js.CreateStream(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	// Without the setting, as after a backup was restored, it is kept for ever.
	j := a.store.journal("kept", 0, func() {})
	j.lifetime = time.Second
	within := gametest.Context(t)
	if err := j.append(within, livegame.ChallengeClosed(protocol.Challenge{Game: "kept", Terms: small(t, "60")}, protocol.ReasonWithdrawn, "", time.Now()), 0); err != nil {
		t.Fatal(err)
	}

	a = open()
	ch := protocol.Challenge{V: protocol.Version, Game: "closed", Terms: small(t, "60"), Created: time.Now(), Expires: time.Now().Add(time.Hour)}
	ch.Seats[0], ch.Seats[1] = protocol.SeatWanted{Player: "ann", Instance: "a1"}, protocol.SeatWanted{Player: "bob"}
	if _, err := a.post(t.Context(), protocol.OwnPool("bob"), ch); err != nil {
		t.Fatal(err)
	}
	if ans := a.withdraw(protocol.From{Player: "ann"}, protocol.Withdraw{Game: ch.Game}); ans.Error != nil {
		t.Fatal(ans.Error)
	}
	msg, err := a.store.lastEntry(t.Context(), ch.Game)
	if err != nil {
		t.Fatal(err)
	}
	if got := msg.Header.Get(jetstream.MsgTTLHeader); got != protocol.LongestChallenge.String() {
		t.Errorf("kept for %q", got)
	}
	j = a.store.journal("soon", 0, func() {})
	j.lifetime = time.Second
	ch.Game = "soon"
	if err := j.append(t.Context(), livegame.ChallengeClosed(ch, protocol.ReasonWithdrawn, "", time.Now()), 0); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the log is gone", func() bool {
		_, err := a.store.lastEntry(t.Context(), ch.Game)
		return errors.Is(err, ErrNoGame)
	})
}
