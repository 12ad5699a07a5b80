package arena

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// Two arenas decide on every challenge, twice, and each becomes one game.
func TestGrantedOnce(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	arenas := []*running{runArena(t, srv, steady()), runArena(t, srv, steady())}
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.set(func(p *player) { p.play = nil })
	bob.set(func(p *player) { p.play = nil })
	var games []protocol.GameID
	for i := range 10 {
		games = append(games, ann.challenge("bob", small(t, "60"), game.Seat(i%2)))
	}
	// The same challenges again, as if the queue had delivered them twice at once.
	for i, g := range games {
		ch := protocol.Challenge{V: 1, Game: g, Terms: small(t, "60"), Created: time.Now(), Expires: time.Now().Add(time.Minute)}
		ch.Seats[i%2] = protocol.SeatWanted{Player: "ann", Instance: "a1"}
		ch.Seats[1-i%2] = protocol.SeatWanted{Player: "bob"}
		data, err := json.Marshal(ch)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := arenas[0].store.js.Publish(t.Context(), arenas[0].server.Subjects().Challenge(g, "player.bob"), data); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range games {
		ann.until(g, "the start", plies(0))
	}
	gametest.Eventually(t, "the queue empty", func() bool {
		info, err := arenas[0].store.challenges.Info(t.Context())
		return err == nil && info.State.Msgs == 0
	})
	for _, g := range games {
		events, err := arenas[0].store.entries(t.Context(), g)
		if err != nil || len(events) != 1 || events[0].Kind != protocol.EventStart {
			t.Errorf("game %s: %d entries, want one start (%v)", g, len(events), err)
		}
	}
	owners := 0
	for _, a := range arenas {
		owners += len(a.refereed())
	}
	if owners != len(games) {
		t.Errorf("%d referees for %d games", owners, len(games))
	}
}

func TestSameRequestIsSameGame(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	join(t, srv, "bob", "b1")
	request := `{"v":1,"id":"once","instance":"a1","game":"amazons","rules":"amazons/6x6","clock":"60","opponent":"bob"}`
	seen := map[protocol.GameID][]protocol.Code{}
	for range 3 {
		msg, err := ann.nc.Request(a.server.Subjects().Play("ann", protocol.VerbChallenge), []byte(request), patience)
		if err != nil {
			t.Fatal(err)
		}
		var ans protocol.ChallengeAnswer
		if err := json.Unmarshal(msg.Data, &ans); err != nil {
			t.Fatal(err)
		}
		seen[ans.Game] = append(seen[ans.Game], ans.Code)
	}
	want := fmt.Sprint([]protocol.Code{protocol.Accepted, protocol.Duplicate, protocol.Duplicate})
	if len(seen) != 1 {
		t.Errorf("games %v, want one", seen)
	}
	for g, codes := range seen {
		if fmt.Sprint(codes) != want || g != gameID("ann", "once") {
			t.Errorf("game %s: %v, want %v", g, codes, want)
		}
	}
	if gameID("ann", "once") == gameID("bob", "once") {
		t.Error("two players' requests of the same id are one game")
	}
}

// fate waits for the first entry of a game's log.
func fate(t *testing.T, a *running, g protocol.GameID) protocol.Event {
	t.Helper()
	var first protocol.Event
	gametest.Eventually(t, "the fate of the challenge", func() bool {
		events, err := a.store.entries(t.Context(), g)
		if err != nil || len(events) == 0 {
			return false
		}
		first = events[0]
		return true
	})
	return first
}

// TestBusyInstance: a pairing is not off, as if the player had missed it, because the first of
// its instances that is asked has no room, such as one that is overloaded.
func TestBusyInstance(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.Ladder.Games = 100
	a := runArena(t, srv, cfg)
	idle := func(p *player) { p.play, p.slots = nil, 100 }
	var mu sync.Mutex
	asked := make(map[protocol.GameID]bool)
	join(t, srv, "ann", "a1", idle, func(p *player) {
		p.answer = func(o protocol.Offer) protocol.OfferAnswer {
			mu.Lock()
			defer mu.Unlock()
			if !asked[o.Game] {
				asked[o.Game] = true
				return protocol.OfferAnswer{Answer: protocol.Busy}
			}
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "ann"}
		}
	})
	join(t, srv, "ann", "a2", idle)
	join(t, srv, "bob", "b1", idle)
	gametest.Eventually(t, "both instances are present", func() bool { return a.presence.several("ann", time.Now()) })
	terms := small(t, "60")
	terms.Rated = true
	for range 12 { // each is offered to either instance first
		ch := protocol.Challenge{V: protocol.Version, Game: protocol.GameID(protocol.NewID()), Terms: terms, Pairing: true,
			Created: time.Now(), Expires: time.Now().Add(time.Minute)}
		ch.Seats[0].Player, ch.Seats[1].Player = "ann", "bob"
		if _, err := a.post(t.Context(), ladderPoolOf(terms), ch); err != nil {
			t.Fatal(err)
		}
		if first := fate(t, a, ch.Game); first.Kind != protocol.EventStart {
			t.Fatalf("a pairing is off: %s by seat %v", first.Outcome.Reason, first.Seat)
		}
	}
	if mu.Lock(); len(asked) == 0 {
		t.Error("the busy instance was never asked")
	}
	mu.Unlock()
}

func TestChallengesThatComeToNothing(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ctx := gametest.Context(t)

	t.Run("declined", func(t *testing.T) {
		bob.set(func(p *player) { p.answer = decline(protocol.DeclineClock) })
		g := ann.challenge("bob", small(t, "60"), game.First)
		if n := ann.notice(protocol.NoticeDeclined); n.Game != g || n.Reason != protocol.DeclineClock || n.From != "bob" {
			t.Errorf("notice %+v", n)
		}
		if e := fate(t, a, g); e.Kind != protocol.EventEnd || e.Outcome.Reason != protocol.ReasonDeclined {
			t.Errorf("first entry %s %+v", e.Kind, e.Outcome)
		}
	})
	t.Run("expired", func(t *testing.T) {
		bob.set(func(p *player) {
			p.answer = func(protocol.Offer) protocol.OfferAnswer { return protocol.OfferAnswer{Answer: protocol.Busy} }
		})
		ans, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "bob", ExpireMS: 300})
		if err != nil {
			t.Fatal(err)
		}
		if n := ann.notice(protocol.NoticeExpired); n.Game != ans.Game {
			t.Errorf("notice %+v", n)
		}
		if e := fate(t, a, ans.Game); e.Outcome.Reason != protocol.ReasonExpired {
			t.Errorf("first entry %s %+v", e.Kind, e.Outcome)
		}
	})
	t.Run("withdrawn", func(t *testing.T) {
		g := ann.challenge("bob", small(t, "60"), game.First)
		ann.notice(protocol.NoticeWaiting)
		if _, err := bob.Withdraw(ctx, g); !errors.Is(err, &protocol.Error{Code: protocol.Denied}) {
			t.Errorf("another's withdrawal: %v, want denied", err)
		}
		if _, err := ann.Withdraw(ctx, "nosuchgame"); !errors.Is(err, &protocol.Error{Code: protocol.NotOffered}) {
			t.Errorf("nothing withdrawn: %v, want not-offered", err)
		}
		if _, err := ann.Withdraw(ctx, g); err != nil {
			t.Fatal(err)
		}
		if e := fate(t, a, g); e.Outcome.Reason != protocol.ReasonWithdrawn {
			t.Errorf("first entry %s %+v", e.Kind, e.Outcome)
		}
		if ans, err := ann.Withdraw(ctx, g); err != nil || ans.Code != protocol.Duplicate {
			t.Errorf("withdrawn again: %+v (%v), want duplicate", ans, err)
		}
		bob.set(func(p *player) {
			p.answer = func(protocol.Offer) protocol.OfferAnswer {
				return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
			}
		})
		other := ann.challenge("bob", small(t, "60"), game.First)
		ann.until(other, "a game", plies(1))
		if _, err := ann.Withdraw(ctx, other); !errors.Is(err, &protocol.Error{Code: protocol.NotOffered}) {
			t.Errorf("a running game withdrawn: %v, want not-offered", err)
		}
	})
	gametest.Eventually(t, "the queue empty", func() bool {
		info, err := a.store.challenges.Info(ctx)
		return err == nil && info.State.Msgs == 0
	})
}

// A challenge to a pool waits for another player than the challenger, who is in the
// pool as well.
func TestPool(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	ann.listen("amazons.blitz")
	ctx := gametest.Context(t)
	ans, err := ann.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Pool: "amazons.blitz"})
	if err != nil {
		t.Fatal(err)
	}
	ann.follow(ans.Game)
	ann.notice(protocol.NoticeWaiting)
	bob := join(t, srv, "bob", "b1")
	bob.listen("amazons.blitz")
	st := ann.until(ans.Game, "the end", finished)
	if st.Holders[st.You.Other()].Player != "bob" || st.Pool != "amazons.blitz" || st.Holders[st.You.Other()].Display != "Player bob" {
		t.Errorf("played against %+v in pool %q", st.Holders[st.You.Other()], st.Pool)
	}
}

// Unreadable challenges neither block the queue nor get lost, and nobody is asked to play them.
func TestUnreadableChallenge(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	bad := map[protocol.GameID]func(*protocol.Challenge){
		"nothing": nil,
		"newer":   func(ch *protocol.Challenge) { ch.V = 7 },
		"nogame": func(ch *protocol.Challenge) {
			ch.Terms = protocol.Terms{Game: "go", Rules: "go/ing", Clock: ch.Terms.Clock}
		},
		"for-whom": func(ch *protocol.Challenge) { ch.Seats[1] = protocol.SeatWanted{} },
		"other":    func(ch *protocol.Challenge) { ch.Game = "other id" },
	}
	join(t, srv, "bob", "b1", func(p *player) {
		p.answer = func(o protocol.Offer) protocol.OfferAnswer {
			if _, isBad := bad[o.Game]; isBad {
				t.Errorf("bob was asked for the game %s", o.Game)
			}
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
		}
	})
	for g, change := range bad {
		data := []byte("not JSON")
		if change != nil {
			ch := protocol.Challenge{V: protocol.Version, Game: g, Terms: small(t, "60"), Created: time.Now(), Expires: time.Now().Add(time.Hour)}
			ch.Seats[0], ch.Seats[1] = protocol.SeatWanted{Player: "ann", Instance: "a1"}, protocol.SeatWanted{Player: "bob"}
			change(&ch)
			var err error
			if data, err = json.Marshal(ch); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.store.js.Publish(t.Context(), a.server.Subjects().Challenge(g, "test.pool"), data); err != nil {
			t.Fatal(err)
		}
	}
	gametest.Eventually(t, "all of them counted", func() bool {
		return counterValue(t, a.Arena, "sparring_arena_challenges_unjudged_total") == float64(len(bad))
	})
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	ann.until(g, "the end", finished)
	gametest.Eventually(t, "only the challenges that can't be read left", func() bool {
		info, err := a.store.challenges.Info(t.Context())
		return err == nil && info.State.Msgs == uint64(len(bad))
	})
	consumer, err := a.store.challenges.Consumer(t.Context(), "matchmaker")
	if err != nil {
		t.Fatal(err)
	}
	if redelivered := consumer.CachedInfo().NumRedelivered; redelivered > len(bad) {
		t.Errorf("%d redeliveries: an unreadable challenge must rest", redelivered)
	}
}

// A challenge that was in the queue until it expired, as while no arena ran, is offered to
// nobody.
func TestExpiredInTheQueue(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, steady())
	ann := join(t, srv, "ann", "a1")
	join(t, srv, "bob", "b1", func(p *player) {
		p.answer = func(o protocol.Offer) protocol.OfferAnswer {
			t.Errorf("bob was asked for the game %s", o.Game)
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
		}
	})
	ch := protocol.Challenge{V: protocol.Version, Game: "late", Terms: small(t, "60"), Created: time.Now().Add(-time.Minute), Expires: time.Now().Add(-time.Second)}
	ch.Seats[0], ch.Seats[1] = protocol.SeatWanted{Player: "ann", Instance: "a1"}, protocol.SeatWanted{Player: "bob"}
	if _, err := a.post(t.Context(), protocol.OwnPool("bob"), ch); err != nil {
		t.Fatal(err)
	}
	if n := ann.notice(protocol.NoticeExpired); n.Game != ch.Game {
		t.Errorf("notice %+v", n)
	}
	if e := fate(t, a, ch.Game); e.Outcome.Reason != protocol.ReasonExpired {
		t.Errorf("first entry %s %+v", e.Kind, e.Outcome)
	}
}

// A process takes at most its limit of games; the others wait and are played later.
func TestCapacity(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.Games, cfg.Linger = 2, 100*time.Millisecond
	a := runArena(t, srv, cfg)
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	var most atomic.Int64
	bob.set(func(p *player) {
		p.play = func(st protocol.State) {
			if n := int64(len(a.refereed())); n > most.Load() {
				most.Store(n)
			}
			p.random(st)
		}
	})
	var games []protocol.GameID
	for range 6 {
		games = append(games, ann.challenge("bob", small(t, "60+1"), game.First))
	}
	for _, g := range games {
		ann.until(g, "the end", finished)
	}
	if most.Load() > 2 {
		t.Errorf("%d games at once, the limit is 2", most.Load())
	}
}

func TestStoreThatDiffers(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	nc := arenatest.Connect(t, srv.Platform())
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "sparring_games", Subjects: []string{"sparring.game.*.log"}}); err != nil {
		t.Fatal(err)
	}
	_, err = New(t.Context(), nc, steady(), arenatest.Log(t))
	for _, want := range []string{"sparring_games", "discard", "max_msgs_per_subject", "republish"} {
		if err == nil || !contains(err, want) {
			t.Errorf("New: %v, want an error that names %s", err, want)
		}
	}
}

// A user without the rights of an arena is told so.
func TestUserWithoutRights(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	_, err := New(t.Context(), arenatest.Connect(t, srv.Player("guest")), steady(), arenatest.Log(t))
	if err == nil || !contains(err, "the platform's account") || !contains(err, "Permissions Violation") {
		t.Errorf("New: %v, want an error that names the missing right", err)
	}
}

// A challenge expires in time also while no arena has room for another game.
func TestChallengeExpiresWithoutRoom(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob", "cyd")
	cfg := steady()
	cfg.Games = 1
	a := runArena(t, srv, cfg)
	ann, cyd := join(t, srv, "ann", "a1"), join(t, srv, "cyd", "c1")
	bob := join(t, srv, "bob", "b1")
	for _, p := range []*player{ann, bob} { // the game lasts
		p.set(func(p *player) { p.play = nil })
	}
	bob.listen(protocol.OwnPool("bob"))
	ctx := gametest.Context(t)
	g := ann.challenge("bob", small(t, "3600"), game.First)
	ann.until(g, "a game", func(st protocol.State) bool { return st.Status == protocol.Playing })
	ans, err := cyd.Challenge(ctx, protocol.ChallengeRequest{Terms: small(t, "60"), Opponent: "bob", ExpireMS: 300})
	if err != nil {
		t.Fatal(err)
	}
	if n := cyd.notice(protocol.NoticeExpired); n.Game != ans.Game {
		t.Errorf("notice %+v", n)
	}
	if e := fate(t, a, ans.Game); e.Outcome.Reason != protocol.ReasonExpired {
		t.Errorf("first entry %s %+v", e.Kind, e.Outcome)
	}
	if _, _, err := a.store.storedChallenge(ctx, ans.Game); !errors.Is(err, ErrNoGame) {
		t.Errorf("still in the queue: %v", err)
	}
	if waits := a.waiting.expired(time.Now()); len(waits) > 0 {
		t.Errorf("said to wait: %v", waits)
	}
	if last, known := a.index.last(g); !known || last.Status != protocol.Playing {
		t.Fatalf("the game that takes the room has ended: %+v", last.Outcome)
	}
}

// A challenge that waits for the store to have room is tried again and again, and said once.
func TestNotGrantedIsSaidOnce(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	lines := &logLines{}
	a := prepareArenaLog(t, srv, steady(), zerolog.New(lines))
	a.start()
	ann := join(t, srv, "ann", "a1")
	tries := make(chan bool, 100)
	join(t, srv, "bob", "b1", func(p *player) {
		p.answer = func(protocol.Offer) protocol.OfferAnswer {
			select {
			case tries <- true:
			default:
			}
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
		}
	})
	a.leases.noteRoom(&jetstream.APIError{ErrorCode: codeResources}, time.Now()) // for longer than the test takes
	ann.challenge("bob", small(t, "60+1"), game.First)
	for range 4 { // the last one tells that three have come to nothing
		<-tries
	}
	if n := lines.count(map[string]any{"message": "game not granted; the challenge waits", "level": "warn", "pool": "player.bob"}); n != 1 {
		t.Errorf("said %d times", n)
	}
}
