package arena

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// In a pool that players share, a player can't accept in another's name.
func TestStrangerAcceptsForAnother(t *testing.T) {
	t.Parallel()
	onEither(t, func(t *testing.T, srv platform) {
		a := runArena(t, srv, quick())
		ann, bob, eve := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1"), join(t, srv, "eve", "e1")
		const pool = "amazons.bullet"
		forged := make(chan struct{}, 100)
		sub, err := eve.nc.QueueSubscribe(a.server.Subjects().Offer(pool), protocol.BotsQueue, func(msg *nats.Msg) {
			var o protocol.Offer
			if err := json.Unmarshal(msg.Data, &o); err != nil {
				t.Error(err)
			}
			data, err := json.Marshal(protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: "bob", Instance: "b1", Secret: "guess"})
			if err != nil {
				t.Error(err)
			}
			if err := msg.Respond(data); err != nil {
				t.Error(err)
			}
			select {
			case forged <- struct{}{}:
			default:
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := eve.nc.Flush(); err != nil {
			t.Fatal(err)
		}
		ans, err := ann.Challenge(t.Context(), protocol.ChallengeRequest{Terms: small(t, "60"), Pool: pool, ExpireMS: patience.Milliseconds()})
		if err != nil {
			t.Fatal(err)
		}
		ann.follow(ans.Game)
		for range 5 { // it is offered again and again
			<-forged
		}
		if events, err := a.store.entries(t.Context(), ans.Game); len(events) != 0 {
			t.Fatalf("a game was granted to a player that did not accept it: %v %v", events, err)
		}
		if err := sub.Unsubscribe(); err != nil {
			t.Fatal(err)
		}
		bob.listen(pool)
		st := ann.until(ans.Game, "the start", plies(0))
		if other := st.Holders[st.You.Other()]; other.Player != "bob" || other.Instance != "b1" {
			t.Errorf("the game is against %+v", other)
		}
	})
}

// Who claims to have joined another player's own pool does not get that player's matches.
func TestStrangerInAnothersPool(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "eve")
	runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	rated := true
	join(t, srv, "bob", "b1", func(p *player) { p.takes = &protocol.Takes{Rated: &rated} })
	eve := join(t, srv, "eve", "e1", func(p *player) {
		p.answer = func(protocol.Offer) protocol.OfferAnswer {
			t.Error("eve was offered a match for bob")
			return protocol.OfferAnswer{Answer: protocol.Busy}
		}
	})
	eve.set(func(p *player) { p.pools = append(p.pools, protocol.OwnPool("bob")) })
	eve.hello(t.Context())
	if _, err := ann.Challenge(t.Context(), protocol.ChallengeRequest{Terms: small(t, "60"), Pool: protocol.OwnPool("bob")}); err != nil {
		t.Fatal(err)
	}
	if n := ann.notice(protocol.NoticeDeclined); n.From != "bob" || n.Reason != protocol.DeclineRated {
		t.Errorf("declined by %q for %q, want bob for %q", n.From, n.Reason, protocol.DeclineRated)
	}
}

// A reason to decline that the protocol does not know is not passed on: the notice would be
// malformed, with words of the opponent's choice.
func TestUnknownReasonToDecline(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	join(t, srv, "bob", "b1", func(p *player) { p.answer = decline("mood") })
	ann.challenge("bob", small(t, "60"), game.First)
	if n := ann.notice(protocol.NoticeDeclined); n.From != "bob" || n.Reason != "" {
		t.Errorf("declined by %q for %q, want bob for no reason", n.From, n.Reason)
	}
}

// Who answers every offer wrongly does not fill the log with it.
func TestWrongAnswersAreLoggedOnce(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "eve")
	lines := &logLines{}
	a := prepareArenaLog(t, srv, quick(), zerolog.New(lines))
	a.start()
	const pool = "amazons.bullet"
	ann, eve := join(t, srv, "ann", "a1"), join(t, srv, "eve", "e1")
	offers := make(chan struct{}, 100)
	var n atomic.Int64
	if _, err := eve.nc.QueueSubscribe(a.server.Subjects().Offer(pool), protocol.BotsQueue, func(msg *nats.Msg) {
		var o protocol.Offer
		if err := json.Unmarshal(msg.Data, &o); err != nil {
			t.Error(err)
		}
		data := []byte("yes")
		if n.Add(1)%2 == 0 {
			data, _ = json.Marshal(protocol.OfferAnswer{Header: o.Header, Answer: protocol.Accept, Player: "eve", Instance: "e1", Secret: "guess"})
		}
		if err := msg.Respond(data); err != nil && !errors.Is(err, nats.ErrConnectionClosed) { // as at the end of the test
			t.Error(err)
		}
		select {
		case offers <- struct{}{}:
		default:
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := eve.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.Challenge(t.Context(), protocol.ChallengeRequest{Terms: small(t, "60"), Pool: pool, ExpireMS: patience.Milliseconds()}); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		select {
		case <-offers:
		case <-time.After(patience):
			t.Fatal("no more offers")
		}
	}
	for _, fault := range []string{"malformed answer to an offer", "offer accepted by an unknown instance of this player"} {
		if got := lines.count(map[string]any{"message": fault}); got != 1 {
			t.Errorf("%q was logged %d times", fault, got)
		}
	}
}

// Subscriptions that never answer, or never take, cost a challenge an offer or two:
// then it is offered to the pool's members by name, and not again to those who were
// silent there.
func TestSilentSubscribersStarveNobody(t *testing.T) {
	t.Parallel()
	for _, answer := range []protocol.OfferDecision{"", protocol.Busy, protocol.Decline} {
		onEither(t, func(t *testing.T, srv platform) {
			cfg := steady()
			cfg.OfferFor = 200 * time.Millisecond
			a := runArena(t, srv, cfg)
			const pool = "amazons.bullet"
			ann := join(t, srv, "ann", "a1")
			eve := join(t, srv, "eve", "e1", func(p *player) {
				p.pools = []protocol.Pool{pool, protocol.OwnPool("eve")}
				p.answer = func(protocol.Offer) protocol.OfferAnswer {
					<-t.Context().Done() // silent by name as well
					return protocol.OfferAnswer{Answer: protocol.Busy}
				}
			})
			var swallowed atomic.Int64
			for range 200 {
				if _, err := eve.nc.QueueSubscribe(a.server.Subjects().Offer(pool), protocol.BotsQueue, func(msg *nats.Msg) {
					swallowed.Add(1)
					if answer == "" {
						return
					}
					var o protocol.Offer
					if err := json.Unmarshal(msg.Data, &o); err != nil {
						t.Error(err)
					}
					data, err := json.Marshal(protocol.OfferAnswer{Header: o.Header, Answer: answer, Instance: "e1"})
					if err != nil {
						t.Error(err)
					}
					if err := msg.Respond(data); err != nil && !eve.nc.IsClosed() { // as it may be when all games have begun
						t.Error(err)
					}
				}); err != nil {
					t.Fatal(err)
				}
			}
			if err := eve.nc.Flush(); err != nil {
				t.Fatal(err)
			}
			bob := join(t, srv, "bob", "b1", func(p *player) { p.pools = append(p.pools, pool) })
			bob.set(func(p *player) { p.play = nil })
			ann.set(func(p *player) { p.play = nil })
			for range 5 {
				ans, err := ann.Challenge(t.Context(), protocol.ChallengeRequest{Terms: small(t, "600"), Pool: pool, ExpireMS: patience.Milliseconds()})
				if err != nil {
					t.Fatal(err)
				}
				ann.follow(ans.Game)
				if st := ann.until(ans.Game, "the start", plies(0)); st.Holders[st.You.Other()].Player != "bob" {
					t.Errorf("the game is against %+v", st.Holders[st.You.Other()])
				}
			}
			if n := swallowed.Load(); n > 2*offersEach {
				t.Errorf("answer %q: %d offers for five games went to the subscriptions", answer, n)
			}
		})
	}
}

// A process of a player that is stopped is still in the queue of its offers. The challenge that
// it swallows is offered again at once, so that another process takes it.
func TestOfferSwallowedByAStoppedInstance(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := quick()
	cfg.LostAfter = 3 * time.Second
	cfg.RetryAfter, cfg.RetryMax = 10*patience, 10*patience
	a := runArena(t, srv, cfg)
	var swallowed atomic.Int64
	stopped := join(t, srv, "bob", "stopped")
	stopped.set(func(p *player) {
		p.quiet = true
		p.answer = func(protocol.Offer) protocol.OfferAnswer {
			swallowed.Add(1)
			p.nc.Close() // the answer gets nowhere, and the next offer goes elsewhere
			return protocol.OfferAnswer{Answer: protocol.Busy}
		}
	})
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = nil })
	}
	gametest.Eventually(t, "the stopped instance to be known as silent", func() bool { return a.presence.partlySilent("bob", time.Now()) })
	for range 10 {
		g := ann.challenge("bob", small(t, "600"), game.First)
		if st := ann.until(g, "the start", plies(0)); st.Holders[game.Second].Instance != "b1" {
			t.Fatalf("the seat is held by %+v", st.Holders[game.Second])
		}
		if swallowed.Load() > 0 {
			return
		}
	}
	t.Log("the server gave the stopped instance none of ten offers")
}

// The id of a challenge is used up: as long as its game runs, a repetition is the
// same challenge, and afterwards it is refused.
func TestChallengeIDUsedBefore(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	runArena(t, srv, steady())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	for _, p := range []*player{ann, bob} {
		p.set(func(p *player) { p.play = nil })
	}
	ctx := gametest.Context(t)
	first := game.First
	m := protocol.ChallengeRequest{Header: protocol.Header{ID: "c1"}, Terms: small(t, "600"), Opponent: "bob", Seat: &first}
	ans, err := ann.Challenge(ctx, m)
	if err != nil {
		t.Fatal(err)
	}
	ann.follow(ans.Game)
	ann.until(ans.Game, "the start", plies(0))
	if again, err := ann.Challenge(ctx, m); err != nil || again.Code != protocol.Duplicate || again.Game != ans.Game {
		t.Errorf("while the game runs: %+v (%v), want a duplicate", again, err)
	}
	if _, err := ann.Resign(ctx, ans.Game, 1, 0); err != nil {
		t.Fatal(err)
	}
	ann.until(ans.Game, "the end", finished)
	if again, err := ann.Challenge(ctx, m); !errors.Is(err, &protocol.Error{Code: protocol.Over}) || again.Game != ans.Game {
		t.Errorf("after the game: %+v (%v), want over", again, err)
	}
}

// In a pool whose queue gave no answer, offers go to its members by name, and last to those
// that have let such an offer run out.
func TestSilentAreAskedLast(t *testing.T) {
	t.Parallel()
	const pool = "amazons.bullet"
	a := &Arena{presence: newPresence(time.Hour), metrics: newMetrics()}
	now := time.Now()
	for _, id := range []protocol.PlayerID{"ann", "bob", "cyd"} {
		a.presence.hello(protocol.From{Player: id, Arrived: now}, protocol.Hello{Header: header(), Instance: "i1", Kind: protocol.Bot, Slots: 1,
			Games: []protocol.Capability{{Game: "amazons"}}, Pools: []protocol.Pool{pool, protocol.OwnPool(id)}})
	}
	terms, inPool, by := small(t, "60"), protocol.SeatWanted{Pool: pool}, protocol.Opponent{Player: "ann", Kind: protocol.Bot}
	asked := func(want ...protocol.PlayerID) {
		t.Helper()
		seen := make(map[protocol.PlayerID]bool)
		for range 100 {
			to, p, nobody := a.addressee(inPool, terms, by)
			if nobody != nil || p == "" && to != pool || p != "" && to != protocol.OwnPool(p) {
				t.Fatalf("the offer goes to %q in %q (%+v)", p, to, nobody)
			}
			seen[p] = true
		}
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
			t.Errorf("the offers go to %q, want %q", got, want)
		}
	}
	runsOut := func(in protocol.Pool, p protocol.PlayerID, err error, again bool) {
		t.Helper()
		if got := a.askAgain(t.Context(), protocol.Challenge{}, inPool, in, p, err); got != again {
			t.Errorf("after %v in %s the seat is offered again: %t", err, in, got)
		}
	}
	asked("")
	runsOut(pool, "", nats.ErrNoResponders, false) // nobody listens: no member is silent
	asked("")
	runsOut(pool, "", context.DeadlineExceeded, true)
	asked("bob", "cyd")
	runsOut(protocol.OwnPool("bob"), "bob", context.DeadlineExceeded, true)
	asked("cyd")
	runsOut(protocol.OwnPool("cyd"), "cyd", context.DeadlineExceeded, true)
	asked("bob", "cyd")
}

// Nobody gets a game by accepting an offer in a pool after it has given back all its seats.
func TestAcceptedAfterLeaving(t *testing.T) {
	t.Parallel()
	const pool = "amazons.bullet"
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	asked := make(chan bool, 100)
	bob := join(t, srv, "bob", "b1", func(p *player) {
		p.pools = append(p.pools, pool)
		p.answer = func(protocol.Offer) protocol.OfferAnswer {
			select {
			case asked <- true:
			default:
			}
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
		}
	})
	ctx := gametest.Context(t)
	if _, err := bob.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "bob has left", func() bool { return !a.presence.present("bob", "b1", time.Now()) })
	ans, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Pool: pool, ExpireMS: 500})
	if err != nil {
		t.Fatal(err)
	}
	if e := fate(t, a, ans.Game); e.Outcome.Reason != protocol.ReasonExpired || len(asked) == 0 {
		t.Errorf("first entry %s %+v after %d offers", e.Kind, e.Outcome, len(asked))
	}
}
