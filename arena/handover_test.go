package arena

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
)

// whole checks that a game's log is consistent: indices without gaps, terms that
// never decrease, a growing list of moves, one end.
func whole(t *testing.T, s *store, g protocol.GameID) []protocol.Event {
	t.Helper()
	events, err := s.entries(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Index != uint64(i+1) {
			t.Errorf("game %s: entry %d has index %d", g, i+1, e.Index)
		}
		if i == 0 {
			continue
		}
		before := events[i-1]
		if e.Term < before.Term || (e.Term > before.Term) != (e.Kind == protocol.EventTakeover || e.Kind == protocol.EventRecorded && before.Term < e.Term) {
			t.Errorf("game %s entry %d: %s of term %d after %s of term %d", g, i+1, e.Kind, e.Term, before.Kind, before.Term)
		}
		if len(e.Moves) < len(before.Moves) || fmt.Sprint(e.Moves[:len(before.Moves)]) != fmt.Sprint(before.Moves) {
			t.Errorf("game %s entry %d: forked", g, i+1)
		}
		position(t, e.Snapshot)
	}
	return events
}

// slow makes a player wait before each move.
func slow(p *player, d time.Duration) {
	p.set(func(p *player) {
		p.play = func(st protocol.State) {
			p.spawn(func() {
				time.Sleep(d)
				p.random(st)
			})
		}
	})
}

func TestSeatIsTakenByAnotherInstance(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, quick())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 30*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	bob.until(g, "some moves", plies(4))
	second := join(t, srv, "bob", "b2")
	bob.leaveTable() // as if killed

	st := second.until(g, "the seat", func(st protocol.State) bool { return st.Holders[game.Second].Instance == "b2" })
	if st.Holders[game.Second].Epoch < 2 {
		t.Errorf("epoch %d, want a new one", st.Holders[game.Second].Epoch)
	}
	end := second.until(g, "the end", finished)
	if end.Outcome.Reason != game.NoMoves {
		t.Errorf("outcome %+v, want a game played out", end.Outcome)
	}
	whole(t, a.store, g)
}

func TestOldHolderIsStale(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, quick())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.set(func(p *player) { p.play = nil })
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	st := ann.until(g, "the start", plies(0))
	other := join(t, srv, "ann", "a2")
	other.set(func(p *player) { p.play = nil })

	ctx := gametest.Context(t)
	ann.set(func(p *player) {
		p.games = map[protocol.GameID]*protocol.State{}
		p.answer = decline(protocol.DeclineDraining)
	})
	if _, err := ann.Leave(ctx, g); err != nil {
		t.Fatal(err)
	}
	now := other.until(g, "the seat", func(st protocol.State) bool { return st.Holders[game.First].Instance == "a2" })
	legal := position(t, now.Snapshot).Legal(nil)
	move := position(t, now.Snapshot).Format(legal[0])
	for _, c := range []struct {
		what  string
		epoch uint64
	}{{"its old epoch", st.Holders[0].Epoch}, {"the new epoch", now.Holders[0].Epoch}} {
		before := lastSeq(t, a.store, g)
		_, err := ann.Move(ctx, g, c.epoch, 0, move, "")
		if !errors.Is(err, &protocol.Error{Code: protocol.Stale}) {
			t.Errorf("the old holder under %s: %v, want stale", c.what, err)
		}
		if after := lastSeq(t, a.store, g); after != before {
			t.Errorf("the log went from %d to %d", before, after)
		}
	}
	if _, err := other.Move(ctx, g, now.Holders[0].Epoch, 0, move, ""); err != nil {
		t.Errorf("the new holder: %v", err)
	}
	bob.until(g, "the move", plies(1))
}

func decline(why protocol.DeclineReason) func(protocol.Offer) protocol.OfferAnswer {
	return func(protocol.Offer) protocol.OfferAnswer {
		return protocol.OfferAnswer{Answer: protocol.Decline, Reason: why}
	}
}

func TestVacantSeatGoesBackToItsHolder(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	runArena(t, srv, quick())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	bob.set(func(p *player) { p.play = nil; p.answer = decline(protocol.DeclineDraining) })
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	ann.notice(protocol.NoticeWaiting) // it declines while it drains
	bob.set(func(p *player) {
		p.answer = func(protocol.Offer) protocol.OfferAnswer {
			return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
		}
	})
	bob.until(g, "the first move", plies(1))
	bob.set(func(p *player) { p.quiet = true; p.answer = decline(protocol.DeclineDraining) })
	ann.until(g, "the seat vacant", func(st protocol.State) bool { return st.Holders[game.Second].Instance == "" })
	bob.set(func(p *player) { p.quiet = false; p.play = p.random })
	bob.until(g, "the seat back in a new epoch", func(st protocol.State) bool {
		return st.Holders[game.Second].Instance == "b1" && st.Holders[game.Second].Epoch >= 2
	})
	bob.until(g, "the end", finished)
}

// On a busy machine the server's answers to the arena are late every second. An instance that
// is gone loses its seat all the same.
func TestSeatIsLostOnABusyMachine(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, quick())
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	g := ann.challenge("bob", small(t, "600+1"), game.First)
	bob.until(g, "some moves", plies(2))
	bob.set(func(p *player) { p.quiet, p.play, p.answer = true, nil, decline(protocol.DeclineDraining) })
	var busy sync.WaitGroup
	defer busy.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	busy.Go(func() {
		for ctx.Err() == nil {
			now := time.Now()
			a.reach.missed(now.Add(-minOutage), now)
			sleep(ctx, quick().LostAfter/2)
		}
	})
	ann.until(g, "the seat vacant", func(st protocol.State) bool { return st.Holders[game.Second].Instance == "" })
}

// A player who gives the seat back all the time is offered it again at once a few times,
// and then only when it may take the seat: every offer that it accepts gives it the seat.
func TestSeatGivenBackAllTheTime(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.OfferFor, cfg.HoldFor = patience, 2*patience
	a := runArena(t, srv, cfg)
	_, bob, g := still(t, srv, small(t, "600+5"))
	var offers atomic.Int64
	bob.set(func(p *player) {
		accept := p.answer
		p.answer = func(o protocol.Offer) protocol.OfferAnswer {
			if o.Kind == protocol.OfferSeat {
				offers.Add(1)
			}
			return accept(o)
		}
	})
	ctx := gametest.Context(t)
	const times = 6 // one more than without a pause
	for n := range uint64(times) {
		bob.until(g, "the seat", func(st protocol.State) bool {
			h := st.Holders[game.Second]
			return h.Instance == "b1" && h.Epoch == n+1
		})
		if _, err := bob.Leave(ctx, g); err != nil {
			t.Fatal(err)
		}
	}
	bob.until(g, "the seat", func(st protocol.State) bool {
		h := st.Holders[game.Second]
		return h.Instance == "b1" && h.Epoch == times+1
	})
	taken := 0
	for _, e := range whole(t, a.store, g) {
		if e.Kind == protocol.EventSeat && e.Holders[game.Second].Instance != "" {
			taken++
		}
	}
	if n := int(offers.Load()); taken != times || n != times {
		t.Errorf("the seat was offered %d times and taken %d times, want %d", n, taken, times)
	}
}

// While an instance thinks about the offer of a vacant seat, the seat is offered to nobody
// else: two that accept could not both have it.
func TestVacantSeatIsOfferedOnceAtATime(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.OfferFor, cfg.HoldFor = patience, 2*patience
	runArena(t, srv, cfg)
	_, bob, g := still(t, srv, small(t, "600+5"))
	var offers atomic.Int64
	asked, decide := make(chan struct{}), make(chan struct{})
	bob.set(func(p *player) {
		accept := p.answer
		p.answer = func(o protocol.Offer) protocol.OfferAnswer {
			if offers.Add(1) == 1 {
				close(asked)
				<-decide
			}
			return accept(o)
		}
	})
	if _, err := bob.Leave(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	<-asked
	sleep(t.Context(), 10*cfg.Heartbeat) // the referee looks at the seat again and again
	close(decide)
	bob.until(g, "the seat", func(st protocol.State) bool { return st.Holders[game.Second].Instance == "b1" })
	sleep(t.Context(), cfg.Heartbeat) // other offers would have waited behind the first
	if n := offers.Load(); n != 1 {
		t.Errorf("the seat was offered %d times, want once", n)
	}
}

func TestAbandoned(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.Policy.AbandonAfter = 200 * time.Millisecond
	a := runArena(t, srv, cfg)
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 20*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	bob.until(g, "some moves", plies(2))
	bob.set(func(p *player) { p.answer = decline(protocol.DeclineDraining) })
	if _, err := bob.Leave(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	st := ann.until(g, "the end", finished)
	if want := (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}); st.Outcome != want {
		t.Errorf("outcome %+v, want %+v", st.Outcome, want)
	}
	whole(t, a.store, g)
}

// A player that was away when its game ended, because nobody took its seat back, is told so
// when its heartbeats still name the game.
func TestAbandonedIsToldLater(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.Policy.AbandonAfter, cfg.Linger = 200*time.Millisecond, time.Hour
	runArena(t, srv, cfg)
	ann, bob, g := still(t, srv, small(t, "60+1"))
	bob.set(func(p *player) { p.quiet, p.answer = true, decline(protocol.DeclineDraining) })
	bob.mu.Lock()
	err := bob.subs[g].Unsubscribe()
	delete(bob.subs, g)
	bob.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Leave(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	ann.until(g, "the end", finished)
	bob.follow(g)
	bob.set(func(p *player) { p.quiet = false })
	bob.until(g, "the end", finished)
}

// A time in which players could not reach the arena is logged once, not by each of its games.
func TestLapseIsSaidOnce(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	lines := &logLines{}
	a := prepareArenaLog(t, srv, steady(), zerolog.New(lines))
	a.start()
	ann, bob, g := still(t, srv, small(t, "600"))
	other := ann.challenge("bob", small(t, "600"), game.First)
	bob.until(other, "the start", plies(0))
	gametest.Eventually(t, "both games to be known", func() bool { return a.gamesHere() == 2 })
	said := func() int { return lines.count(map[string]any{"level": "warn", "games": 2}) }
	gametest.Eventually(t, "the line", func() bool { // a short outage of a busy machine may hide one
		now := time.Now()
		a.reach.missed(now.Add(-2*a.cfg.LostAfter), now)
		for _, id := range []protocol.GameID{g, other} {
			a.visit(id, func(*referee) {})
		}
		return said() > 0
	})
	if n := said(); n != 1 {
		t.Errorf("%d lines", n)
	}
}

// While an arena's lease has expired, as when the streams have no leader, another arena may have
// its games and no seat can be given to anybody: nobody is charged for that time.
func TestUnchargedWithoutLease(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := steady()
	cfg.LeaseFor = 4 * patience // no renewal but that of the test
	a := runArena(t, srv, cfg)
	began := time.Now()
	ann, bob, g := still(t, srv, small(t, "600"))
	running := func() (clocks protocol.Clocks) {
		a.visit(g, func(r *referee) { clocks = r.game.Snapshot(time.Now()).Clocks })
		return clocks
	}
	gametest.Eventually(t, "the arena to watch the game no more", func() bool { return a.at(g).quiet.Load() != nil })

	a.leases.mu.Lock()
	a.leases.held[a.leases.own].renewed = time.Now().Add(-2 * cfg.LeaseFor)
	a.leases.mu.Unlock()
	gametest.Eventually(t, "the clock to stand", func() bool { return running().Running == nil })
	stood := time.Now()
	before := running().Seats[game.First]
	time.Sleep(300 * time.Millisecond)
	if after := running(); after.Running != nil || after.Seats[game.First] != before {
		t.Errorf("without a lease the clock goes from %+v to %+v", before, after)
	}
	stands := time.Since(stood)

	if !a.leases.renewOwn(t.Context(), a.store.leases) {
		t.Fatal("the lease is not renewed")
	}
	gametest.Eventually(t, "the clock to run", func() bool { return running().Running != nil })
	ans := ann.step(t.Context(), g)
	if most := (time.Since(began) - stands).Milliseconds(); ans.Receipt == nil || ans.Receipt.ChargedMS > most {
		t.Errorf("receipt %+v: want at most %d ms charged, since the clock stood for %v", ans.Receipt, most, stands)
	}
	bob.until(g, "the move", plies(1))
}

func TestTakeoverAfterCrash(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := quick()
	first := runArena(t, srv, cfg)
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 20*time.Millisecond)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	bob.until(g, "some moves", plies(3))
	second := runArena(t, srv, cfg)
	first.crash()
	st := bob.until(g, "the end", finished)
	if st.Outcome.Reason != game.NoMoves {
		t.Errorf("outcome %+v, want a game played out", st.Outcome)
	}
	events := whole(t, second.store, g)
	takeovers := uint64(0)
	for _, e := range events {
		if e.Kind == protocol.EventTakeover {
			takeovers++
		}
	}
	if term := events[len(events)-1].Term; takeovers == 0 || term != takeovers+1 {
		t.Errorf("%d takeovers, the last term is %d", takeovers, term)
	}
}

func TestRestartGoesOnWithClocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	srv := arenatest.StartServer(t, dir, "ann", "bob")
	lines := &logLines{}
	cfg := quick()
	cfg.Linger = time.Hour
	a := prepareArenaLog(t, srv, cfg, zerolog.New(lines))
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 20*time.Millisecond)
	ended := ann.challenge("bob", small(t, "60+0"), game.First)
	bob.until(ended, "the end", finished)
	g := ann.challenge("bob", small(t, "60+0"), game.First)
	bob.until(g, "some moves", plies(5))
	ann.set(func(p *player) { p.play = nil })
	bob.set(func(p *player) { p.play = nil })
	a.stop()
	if lines.count(map[string]any{"message": "arena stops: its games continue on another arena, or when one is started", "games": 1}) != 1 {
		t.Error("the log does not tell that the arena stops with a game")
	}
	bob.notice(protocol.NoticeShutdown)
	halted := bob.until(g, "the halt", func(st protocol.State) bool { return st.Status == protocol.Halted })
	ann.leaveTable()
	bob.leaveTable()
	srv.Close()

	srv = arenatest.StartServer(t, dir, "ann", "bob")
	b := runArena(t, srv, quick())
	ann, bob = join(t, srv, "ann", "a7"), join(t, srv, "bob", "b7")
	ann.set(func(p *player) { p.play = nil })
	bob.set(func(p *player) { p.play = nil })
	st := ann.until(g, "the seats", func(st protocol.State) bool {
		return st.Holders[0].Instance == "a7" && st.Holders[1].Instance == "b7" && st.Clocks.Running != nil
	})
	if fmt.Sprint(st.Moves) != fmt.Sprint(halted.Moves) {
		t.Errorf("moves %v, before the restart %v", st.Moves, halted.Moves)
	}
	// The clock was stopped while the platform was down, which took milliseconds at
	// least, and until the seat to act was taken; the message shows the time since then.
	turn := st.Turn
	events, err := b.store.entries(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == protocol.EventTakeover && e.Clocks.Seats != halted.Clocks.Seats {
			t.Errorf("clocks %+v after the restart, %+v before", e.Clocks.Seats, halted.Clocks.Seats)
		}
		if e.Kind == protocol.EventSeat && e.Holders[turn].Instance == "" && e.Clocks.Seats[turn] != halted.Clocks.Seats[turn] {
			t.Errorf("a seat that the restart emptied was charged: %+v, before %+v", e.Clocks.Seats, halted.Clocks.Seats)
		}
	}
	ann.set(func(p *player) { p.play = p.random })
	bob.set(func(p *player) { p.play = p.random })
	ann.random(st)
	bob.random(bob.until(g, "the seat", func(st protocol.State) bool { return st.Holders[1].Instance == "b7" }))
	ann.until(g, "the end", finished)
	whole(t, b.store, g)
}

func TestContendedTakeovers(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := quick()
	arenas := make([]*running, 4)
	for i := range arenas {
		arenas[i] = runArena(t, srv, cfg)
	}
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	var games []protocol.GameID
	slow(ann, 50*time.Millisecond)
	for range 4 {
		games = append(games, ann.challenge("bob", small(t, "60+1"), game.First))
	}
	// Three of four arenas die one after the other, and who owns the games is
	// forgotten.
	for i, dies := range arenas[:3] {
		for _, g := range games {
			bob.until(g, "moves", plies(2*i+1))
			arenas[3].store.owners.Purge(t.Context(), string(g))
		}
		dies.crash()
	}
	for _, g := range games {
		st := bob.until(g, "the end", finished)
		if st.Outcome.Reason != game.NoMoves {
			t.Errorf("game %s: outcome %+v", g, st.Outcome)
		}
	}
	for _, g := range games {
		whole(t, arenas[3].store, g)
	}
}

// A person who opens another window gets the seat there without an offer.
func TestPersonReturnsElsewhere(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := runArena(t, srv, quick())
	person := func(p *player) {
		t.Helper()
		ctx := gametest.Context(t)
		p.set(func(p *player) { p.answer = decline(protocol.DeclineKind) })
		if _, err := p.Hello(ctx, protocol.Hello{Kind: protocol.Human, Display: "安", Slots: 1}); err != nil {
			t.Fatal(err)
		}
	}
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	person(ann)
	g := ann.challenge("bob", small(t, "60+1"), game.First)
	st := bob.until(g, "some moves", plies(2))
	if h := st.Holders[game.First]; h.Kind != protocol.Human || h.Display != "安" {
		t.Errorf("holder %+v, want the person", h)
	}
	ann.leaveTable()
	again := join(t, srv, "ann", "a2")
	person(again)
	again.follow(g)
	end := again.until(g, "the end", finished)
	if h := end.Holders[game.First]; end.Outcome.Reason != game.NoMoves || h.Instance != "a2" {
		t.Errorf("outcome %+v, holder %+v", end.Outcome, h)
	}
	whole(t, a.store, g)
}

// An instance that answers offers but sends no heartbeats, or has given back all seats, does
// not get a vacant one: it would lose it at once, again and again, and the game would not end.
func TestVacantSeatNeedsHeartbeats(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, b2 *player){
		"silent": func(_ *testing.T, b2 *player) { b2.set(func(p *player) { p.quiet = true }) },
		"leaving": func(t *testing.T, b2 *player) {
			if _, err := b2.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := arenatest.StartServer(t, "", "ann", "bob")
			cfg := quick()
			cfg.Policy.AbandonAfter = 3 * time.Second
			a := runArena(t, srv, cfg)
			ann, b1 := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
			g := ann.challenge("bob", small(t, "170"), game.First)
			b1.until(g, "some moves", plies(4))
			ann.set(func(p *player) { p.play = nil })
			b1.set(func(p *player) { p.play = nil })
			b2 := join(t, srv, "bob", "b2")
			var accepted atomic.Int32
			b2.set(func(p *player) {
				p.answer = func(protocol.Offer) protocol.OfferAnswer {
					accepted.Add(1)
					return protocol.OfferAnswer{Answer: protocol.Accept, Player: "bob"}
				}
			})
			change(t, b2)
			gametest.Eventually(t, "b2 to be absent", func() bool { return !a.presence.present("bob", "b2", time.Now()) })
			b1.leaveTable()
			if out := ann.until(g, "the end", finished).Outcome; out != (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}) {
				t.Errorf("ended %+v", out)
			}
			if accepted.Load() == 0 {
				t.Error("the seat was not offered")
			}
			// A silence is forgiven where the arena itself was away, as on a busy machine.
			forgiven := map[string]int{"silent": 3}[name]
			if n := timesSeated(t, a, g, "b2"); n > forgiven {
				t.Errorf("b2 had the seat %d times", n)
			}
		})
	}
}

// An instance that says hello again and again, but whose heartbeats never come, gets a vacant
// seat once, as a process that has just started does, and not again for each hello: the game
// would not end.
func TestVacantSeatAfterHellosAlone(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	cfg := quick()
	cfg.Policy.AbandonAfter = 3 * time.Second
	a := runArena(t, srv, cfg)
	ann, b1 := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	g := ann.challenge("bob", small(t, "170"), game.First)
	b1.until(g, "some moves", plies(4))
	ann.set(func(p *player) { p.play = nil })
	b1.set(func(p *player) { p.play = nil })
	b2 := join(t, srv, "bob", "b2", func(p *player) { p.quiet, p.play = true, nil })
	b1.leaveTable()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			b2.hello(ctx)
			select {
			case <-time.After(2 * cfg.LostAfter): // it loses the seat meanwhile
			case <-ctx.Done():
			}
		}
	})
	defer wg.Wait()
	defer cancel()
	if out := ann.until(g, "the end", finished).Outcome; out != (game.Outcome{Result: game.FirstWins, Reason: protocol.ReasonAbandoned}) {
		t.Errorf("ended %+v", out)
	}
	if n := timesSeated(t, a, g, "b2"); n != 1 {
		t.Errorf("b2 had the seat %d times, want once", n)
	}
}

// timesSeated returns how many times an instance was given the second seat of a game.
func timesSeated(t *testing.T, a *running, g protocol.GameID, id protocol.InstanceID) int {
	t.Helper()
	events, err := a.store.entries(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	epochs := map[uint64]bool{}
	for _, e := range events {
		if h := e.Holders[game.Second]; h.Instance == id {
			epochs[h.Epoch] = true
		}
	}
	return len(epochs)
}
