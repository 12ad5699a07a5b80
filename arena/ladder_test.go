package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/glicko"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// ladderConfig plays short rounds of Amazons on the small board; only players
// that say so take part.
func ladderConfig(rounds int) Config {
	cfg := quick()
	cfg.Ladder = Ladder{
		On: true, Rounds: rounds, Clocks: []clock.Spec{{Kind: clock.Fischer, Initial: time.Minute, Increment: time.Second}}, Games: 1,
		Rules: map[string][]string{"amazons": {"amazons/6x6"}}, StableFor: 300 * time.Millisecond, AbsentFor: time.Second,
	}
	return cfg
}

// amazonsOnly makes the player say that it plays nothing else.
func amazonsOnly(t *testing.T, p *player) {
	t.Helper()
	ctx := gametest.Context(t)
	if _, err := p.Hello(ctx, protocol.Hello{Kind: protocol.Bot, Display: "Player " + string(p.id), Slots: 10,
		Games: []protocol.Capability{{Game: "amazons"}}}); err != nil {
		t.Fatal(err)
	}
}

// roundsOf runs an arena and collects the rounds that it plays until as many
// as the settings say are done.
func roundsOf(t *testing.T, a *running, hear chan Round, n int) []Round {
	t.Helper()
	var rounds []Round
	for len(rounds) < n {
		select {
		case r := <-hear:
			rounds = append(rounds, r)
		case <-time.After(2 * patience):
			t.Fatalf("%d of %d rounds", len(rounds), n)
		}
	}
	return rounds
}

func TestLadderRounds(t *testing.T) {
	t.Parallel()
	names := []protocol.PlayerID{"ann", "bob", "cyd"}
	srv := arenatest.StartServer(t, "", names...)
	heard := make(chan Round, 10)
	cfg := ladderConfig(2)
	cfg.Ladder.StableFor = 3 * time.Second // for all to come on a slow machine
	a := prepareArena(t, srv, cfg)
	a.OnRound(func(r Round) { heard <- r })
	a.start()
	for _, n := range names {
		amazonsOnly(t, join(t, srv, n, protocol.InstanceID(n[:1])+"1"))
	}
	rounds := roundsOf(t, a, heard, 2)
	select {
	case <-a.RoundsDone():
	case <-time.After(patience):
		t.Error("the rounds are not done")
	}
	firsts := map[[2]protocol.PlayerID]int{}
	for i, r := range rounds {
		if r.Number != i+1 || len(r.Pairings) != 3 {
			t.Errorf("round %d has %d games, want round %d with 3", r.Number, len(r.Pairings), i+1)
		}
		for _, p := range r.Pairings {
			if !p.Done || p.Outcome.Result == game.Undecided || p.Outcome.Reason != game.NoMoves || p.Plies < 10 {
				t.Errorf("round %d: %+v, want a game played out", r.Number, p)
			}
			firsts[p.Players]++
		}
	}
	if len(firsts) != 6 {
		t.Errorf("pairings by seats %v, want every pair with both colours", firsts)
	}
	total := 0
	sum := 0.0
	for _, s := range a.Standings("amazons") {
		if s.Games != 4 || s.Wins+s.Draws+s.Losses != 4 || s.Speed != clock.Bullet || !strings.HasPrefix(s.Display, "Player ") {
			t.Errorf("standing %+v, want 4 games of bullet", s)
		}
		total += s.Games
		sum += s.Rating.Rating
	}
	if total != 12 {
		t.Errorf("%d games in the standings, want 12", total)
	}
	if sum < 4200 || sum > 4800 {
		t.Errorf("the ratings sum up to %.0f, want about 4500", sum)
	}
	info, err := a.store.records.Info(t.Context())
	if err != nil || info.State.Msgs != 6 {
		t.Errorf("%v records, want 6 (%v)", info.State.Msgs, err)
	}
}

// A round outlives the arena, and no game of it is played or rated twice.
func TestLadderRoundAfterRestart(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	a := prepareArena(t, srv, ladderConfig(1))
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, 50*time.Millisecond)
	slow(bob, 50*time.Millisecond)
	amazonsOnly(t, ann)
	amazonsOnly(t, bob)
	var g protocol.GameID
	gametest.Eventually(t, "a game of the round", func() bool {
		for _, e := range a.index.running() {
			g = e.Game
		}
		return g != ""
	})
	bob.until(g, "some moves", plies(4))
	a.crash()

	heard := make(chan Round, 10)
	b := prepareArena(t, srv, ladderConfig(1))
	b.OnRound(func(r Round) { heard <- r })
	b.start()
	r := roundsOf(t, b, heard, 1)[0]
	if r.Number != 1 || len(r.Pairings) != 1 || r.Pairings[0].ID != g {
		t.Errorf("round %+v, want the same round 1 with game %s", r, g)
	}
	for _, s := range b.Standings("amazons") {
		if s.Games != 1 {
			t.Errorf("%s has %d games, want 1", s.Player, s.Games)
		}
	}
	whole(t, b.store, g)
}

// Nor is a game played again whose log was removed while its round went on.
func TestLadderRoundAfterRemoval(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	heard := make(chan Round, 10)
	a := prepareArena(t, srv, ladderConfig(1))
	a.OnRound(func(r Round) { heard <- r })
	round := Round{Number: 1, Started: time.Now().UTC(), Pairings: []Pairing{{Terms: a.ladderTerms()[0], Players: [2]protocol.PlayerID{"ann", "bob"}}}}
	p := &round.Pairings[0]
	p.ID = round.id(p)
	if _, err := a.saveRound(t.Context(), round, 0); err != nil {
		t.Fatal(err)
	}
	rec := &record.Record{ID: string(p.ID), Game: p.Terms.Game, Rules: p.Terms.Rules, Clock: p.Terms.Clock, Rated: true,
		Result: game.SecondWins, Reason: game.NoMoves, Source: record.Source{By: record.ByArena}}
	rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
	if err := a.store.publishRecord(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	a.start()
	want := game.Outcome{Result: game.SecondWins, Reason: game.NoMoves}
	if got := roundsOf(t, a, heard, 1)[0].Pairings[0]; !got.Done || got.Outcome != want || got.Plies != 0 {
		t.Errorf("%+v, want the game of the record", got)
	}
	if _, err := a.store.lastEntry(t.Context(), p.ID); !errors.Is(err, ErrNoGame) {
		t.Errorf("a second log: %v, want %v", err, ErrNoGame)
	}
	if _, _, err := a.store.storedChallenge(t.Context(), p.ID); !errors.Is(err, ErrNoGame) {
		t.Errorf("the pairing waits again: %v, want %v", err, ErrNoGame)
	}
}

// A round is over only when its games are rated.
func TestRoundAwaitsRatings(t *testing.T) {
	t.Parallel()
	a := prepareArena(t, arenatest.StartServer(t, ""), ladderConfig(1)) // it rates nothing
	rec := &record.Record{ID: "g1", Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins, Source: record.Source{By: record.ByArena}}
	rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
	if err := a.store.publishRecord(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	played := &Round{Number: 1, Pairings: []Pairing{{ID: "g1", Done: true}}}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := a.awaitRound(ctx, played); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("before the game is rated: %v, want %v", err, context.DeadlineExceeded)
	}
	a.start()
	if err := a.awaitRound(t.Context(), played); err != nil || len(a.Standings("amazons")) != 2 {
		t.Errorf("then: %v, standings %+v", err, a.Standings("amazons"))
	}
}

// More games than a round may have are not made into one, until fewer bots are there.
func TestTooManyForARound(t *testing.T) {
	t.Parallel()
	lines := &logLines{}
	cfg := ladderConfig(1)
	cfg.Ladder.StableFor = 0
	a := prepareArenaLog(t, arenatest.StartServer(t, ""), cfg, zerolog.New(lines))
	a.presence = newPresence(time.Hour)
	from := func(i int) protocol.From {
		return protocol.From{Player: protocol.PlayerID(fmt.Sprintf("bot-%d", i)), Arrived: time.Now()}
	}
	const bots = 46 // have 1,035 games
	for i := range bots {
		a.presence.hello(from(i), protocol.Hello{Instance: "i1", Kind: protocol.Bot, Games: []protocol.Capability{{Game: "amazons"}}})
	}
	made := make(chan Round, 1)
	go func() {
		r, err := a.makeRound(t.Context(), 1)
		if err != nil {
			t.Error(err)
		}
		made <- r
	}()
	said := map[string]any{"level": "error", "games": 1035, "most": maxPairings}
	gametest.Eventually(t, "the operator is told", func() bool { return lines.count(said) == 1 })
	select {
	case r := <-made:
		t.Fatalf("a round of %d games", len(r.Pairings))
	default:
	}
	a.presence.leave(from(0), protocol.Leave{Header: header(), Instance: "i1"})
	select {
	case r := <-made:
		if len(r.Pairings) != 990 {
			t.Errorf("a round of %d games, want 990", len(r.Pairings))
		}
	case <-time.After(patience):
		t.Fatal("no round of those who are left")
	}
	if n := lines.count(said); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// The game of two players who could play and do not is cancelled when that has lasted, and that
// of one who is absent when it has been absent for long.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	a := prepareArena(t, arenatest.StartServer(t, ""), ladderConfig(1))
	a.presence = newPresence(time.Hour)
	for _, p := range []protocol.PlayerID{"ann", "bob"} {
		a.presence.hello(protocol.From{Player: p, Arrived: time.Now()}, protocol.Hello{Instance: "i1", Kind: protocol.Bot, Slots: 1, Games: []protocol.Capability{{Game: "amazons"}}})
	}
	w := wanted{make(map[protocol.GameID]bool), make(map[protocol.PlayerID]time.Time), make(map[protocol.GameID]time.Time)}
	p := &Pairing{ID: "g1", Terms: small(t, "60"), Players: [2]protocol.PlayerID{"ann", "bob"}}
	look := func(noShow time.Duration) (cancelled bool) {
		t.Helper()
		a.cfg.Ladder.NoShow = noShow
		if err := a.giveUp(t.Context(), p, w); err != nil {
			t.Fatal(err)
		}
		_, err := a.store.lastEntry(t.Context(), p.ID)
		return err == nil
	}
	for range 2 {
		if look(time.Hour) {
			t.Fatal("cancelled at once")
		}
	}
	if look(0) {
		t.Error("cancelled although it may last without end")
	}
	if !look(time.Nanosecond) {
		t.Error("not cancelled")
	}

	p = &Pairing{ID: "g2", Terms: p.Terms, Players: [2]protocol.PlayerID{"ann", "cyd"}}
	a.cfg.Ladder.AbsentFor = time.Hour
	for range 2 {
		if look(time.Nanosecond) {
			t.Fatal("cancelled because a player was absent for a moment")
		}
	}
	a.cfg.Ladder.AbsentFor = time.Nanosecond
	if !look(0) {
		t.Error("not cancelled although a player is absent")
	}
	for p, want := range map[protocol.GameID]string{"g1": "a player did not take its seat", "g2": "a player is absent"} {
		if last, _, err := a.store.lastEvent(t.Context(), p); err != nil || last.Text != want || last.Holders[0].Player != "ann" {
			t.Errorf("the log of %s: %+v, %v; want %q", p, last, err, want)
		}
	}
}

// A game for which one bot is there alone is no game of a round.
func TestNobodyToMeet(t *testing.T) {
	p, now := memoryPairer(t), time.Now()
	for bots, want := range []int{0: 0, 1: 0, 2: 1} {
		if all := p.a.contests(now); len(all) != want {
			t.Errorf("%d games for %d bots, want %d", len(all), bots, want)
		}
		p.join(protocol.PlayerID(fmt.Sprintf("bot-%d", bots)), 1, now)
	}
}

// roundWithout begins a round of ann and bob in which ann gives this answer to offers.
func roundWithout(t *testing.T, answer protocol.OfferAnswer) (a *running, heard chan Round, ann *player) {
	t.Helper()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	heard = make(chan Round, 10)
	a = prepareArena(t, srv, ladderConfig(1))
	a.OnRound(func(r Round) { heard <- r })
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.set(func(p *player) { p.answer = func(protocol.Offer) protocol.OfferAnswer { return answer } })
	amazonsOnly(t, ann)
	amazonsOnly(t, bob)
	gametest.Eventually(t, "the round", func() bool { r, _, err := a.loadRound(t.Context()); return err == nil && r.Number == 1 })
	return a, heard, ann
}

// An absent player does not hold up the round.
func TestLadderCancelsTheAbsent(t *testing.T) {
	t.Parallel()
	a, heard, ann := roundWithout(t, protocol.OfferAnswer{Answer: protocol.Busy})
	ann.leaveTable()
	r := roundsOf(t, a, heard, 1)[0]
	if p := r.Pairings[0]; p.Outcome != (game.Outcome{Reason: protocol.ReasonExpired}) || p.Plies != 0 {
		t.Errorf("pairing %+v, want it cancelled", p)
	}
	if s := a.Standings("amazons"); len(s) != 0 {
		t.Errorf("standings %+v of a round without games", s)
	}
}

// Nor does one that takes no more games, as a paused bot process says in its hello.
func TestLadderCancelsThePaused(t *testing.T) {
	t.Parallel()
	a, heard, ann := roundWithout(t, protocol.OfferAnswer{Answer: protocol.Decline, Reason: protocol.DeclineDraining})
	ctx := gametest.Context(t)
	if _, err := ann.Hello(ctx, protocol.Hello{Kind: protocol.Bot, Games: []protocol.Capability{}}); err != nil {
		t.Fatal(err)
	}
	r := roundsOf(t, a, heard, 1)[0]
	if p := r.Pairings[0]; p.Outcome.Result != game.Undecided || p.Plies != 0 {
		t.Errorf("pairing %+v, want it cancelled", p)
	}
}

// A pairing whose players are present with free slots and take no seat is
// cancelled.
func TestLadderCancelsNoShows(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "", "ann", "bob")
	heard := make(chan Round, 10)
	cfg := ladderConfig(1)
	cfg.LostAfter, cfg.Ladder.AbsentFor, cfg.Ladder.NoShow = patience, 0, 500*time.Millisecond
	a := prepareArena(t, srv, cfg)
	a.OnRound(func(r Round) { heard <- r })
	a.start()
	ann, bob := join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	ann.set(func(p *player) {
		p.answer = func(protocol.Offer) protocol.OfferAnswer { return protocol.OfferAnswer{Answer: protocol.Busy} }
	})
	amazonsOnly(t, ann)
	amazonsOnly(t, bob)
	r := roundsOf(t, a, heard, 1)[0]
	if p := r.Pairings[0]; p.Outcome != (game.Outcome{Reason: protocol.ReasonExpired}) || p.Plies != 0 {
		t.Errorf("pairing %+v, want it cancelled", p)
	}
	last, _, err := a.store.lastEvent(t.Context(), r.Pairings[0].ID)
	if err != nil || last.Text != "a player did not take its seat" {
		t.Errorf("the log says %+v, %v; want why", last, err)
	}
}

// A round of many games among bots with one slot each ends, and no bot gets a second
// game while it plays or holds its slot.
func TestRoundWithOneSlotEach(t *testing.T) {
	t.Parallel()
	names := []protocol.PlayerID{"ann", "bob", "cyd", "dan"}
	srv := arenatest.StartServer(t, "", names...)
	heard := make(chan Round, 10)
	cfg := ladderConfig(1)
	cfg.HoldFor, cfg.Ladder.StableFor = 2*time.Second, 3*time.Second
	a := prepareArena(t, srv, cfg)
	a.OnRound(func(r Round) { heard <- r })
	a.start()
	for _, n := range names {
		p := join(t, srv, n, protocol.InstanceID(n[:1])+"1")
		holds := map[protocol.GameID]time.Time{}
		p.set(func(p *player) {
			p.slots = 1
			p.answer = func(o protocol.Offer) protocol.OfferAnswer {
				p.mu.Lock()
				defer p.mu.Unlock()
				for g, until := range holds { // ignoring releases, as an old bot might
					st := p.games[g]
					if g != o.Game && st == nil && time.Now().Before(until) || st != nil && st.Status != protocol.Finished {
						return protocol.OfferAnswer{Answer: protocol.Busy}
					}
				}
				holds[o.Game] = time.Now().Add(time.Duration(o.HoldMS) * time.Millisecond)
				return protocol.OfferAnswer{Answer: protocol.Accept, Player: n}
			}
		})
		amazonsOnly(t, p)
	}
	r := roundsOf(t, a, heard, 1)[0]
	if len(r.Pairings) != 6 {
		t.Errorf("%d games, want 6", len(r.Pairings))
	}
	for _, p := range r.Pairings {
		if p.Outcome.Reason != game.NoMoves {
			t.Errorf("%+v, want a game played out", p)
		}
	}
	for _, s := range a.Standings("amazons") {
		if s.Games != 3 {
			t.Errorf("%s has %d games, want 3", s.Player, s.Games)
		}
	}
}

// Records are rated once, however many arenas run and whenever they die.
func TestRatedOnce(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	nc := arenatest.Connect(t, srv.Platform())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ladders []*ladder
	var s *store
	for range 3 {
		a, err := New(ctx, nc, quick(), zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		s = a.store
		ladders = append(ladders, a.ladder)
	}
	const games = 40
	names := []string{"ann", "bob", "cyd"}
	for i := range games {
		rec := &record.Record{ID: protocol.NewID(), Game: "amazons", Rules: "amazons/6x6", Rated: i%5 != 0,
			Clock: clock.Spec{Kind: clock.PerMove, Period: time.Second}, Result: game.Result(i % 4), Source: record.Source{By: record.ByArena}}
		rec.Seats[0].Player, rec.Seats[1].Player = names[i%3], names[(i+1)%3]
		if err := s.publishRecord(ctx, rec); err != nil {
			t.Fatal(err)
		}
		if i%7 == 0 { // twice: the second is the same record
			if err := s.publishRecord(ctx, rec); err != nil {
				t.Fatal(err)
			}
		}
	}
	done := make(chan error, len(ladders))
	for _, l := range ladders {
		go func() { done <- l.follow(ctx, s) }()
	}
	for _, l := range ladders {
		gametest.Eventually(t, "all records rated", func() bool { return l.upTo(games) })
	}
	cancel()
	for range ladders {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}

	// The stored ratings equal those that one ladder computes from the start.
	want := map[string]glicko.Rating{}
	counted := map[string][4]int{} // games, won, drawn, lost
	for i := range games {
		if i%5 == 0 || i%4 == 0 {
			continue
		}
		x, y := names[i%3], names[(i+1)%3]
		score := map[game.Result]float64{game.FirstWins: 1, game.SecondWins: 0, game.Draw: 0.5}[game.Result(i%4)]
		rx, okx := want[x]
		ry, oky := want[y]
		if !okx {
			rx = glicko.Start
		}
		if !oky {
			ry = glicko.Start
		}
		want[x] = glicko.Default.Update(rx, []glicko.Game{{Opponent: ry, Score: score}})
		want[y] = glicko.Default.Update(ry, []glicko.Game{{Opponent: rx, Score: 1 - score}})
		for name, score := range map[string]float64{x: score, y: 1 - score} {
			c := counted[name]
			c[0]++
			c[map[float64]int{1: 1, 0.5: 2, 0: 3}[score]]++
			counted[name] = c
		}
	}
	fresh, err := New(t.Context(), nc, quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range fresh.Standings("amazons") {
		name, games := string(got.Player), [4]int{got.Games, got.Wins, got.Draws, got.Losses}
		if got.Rating != want[name] || games != counted[name] {
			t.Errorf("%s: %+v in games %v, want %+v in %v", name, got.Rating, games, want[name], counted[name])
		}
	}
}

// An update that was interrupted between the two players is completed.
func TestRatingHalfStored(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	nc := arenatest.Connect(t, srv.Platform())
	a, err := New(t.Context(), nc, quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Record{ID: "g1", Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins, Source: record.Source{By: record.ByArena}}
	rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
	won := glicko.Default.Update(glicko.Start, []glicko.Game{{Opponent: glicko.Start, Score: 1}})
	half := entry{Standing: Standing{Player: "ann", Game: "amazons", Speed: rec.Clock.Speed(), Rating: won, Games: 1, Wins: 1}, Seq: 1, Before: glicko.Start}
	data, _ := json.Marshal(half)
	if _, err := a.store.ladder.Create(t.Context(), ladderKey("amazons", rec.Clock.Speed(), "ann"), data); err != nil {
		t.Fatal(err)
	}
	if err := a.store.publishRecord(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if a, err = New(t.Context(), nc, quick(), zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- a.ladder.follow(ctx, a.store) }()
	gametest.Eventually(t, "the record rated", func() bool { return a.ladder.upTo(1) })
	cancel()
	<-done
	lost := glicko.Default.Update(glicko.Start, []glicko.Game{{Opponent: glicko.Start, Score: 0}})
	for _, s := range a.Standings("amazons") {
		want := map[protocol.PlayerID]glicko.Rating{"ann": won, "bob": lost}[s.Player]
		if s.Rating != want || s.Games != 1 {
			t.Errorf("%s: %+v in %d games, want %+v in 1", s.Player, s.Rating, s.Games, want)
		}
	}
}

// Records that were restored from an older backup than the standings have numbers that those
// include. The games that end then are rated nevertheless.
func TestRatedAfterRestore(t *testing.T) {
	t.Parallel()
	nc := arenatest.Connect(t, arenatest.StartServer(t, "").Platform())
	ctx := gametest.Context(t)
	ended := func(s *store, id string) {
		t.Helper()
		rec := &record.Record{ID: id, Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins, Source: record.Source{By: record.ByArena}}
		rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
		if err := s.publishRecord(ctx, rec); err != nil {
			t.Fatal(err)
		}
	}
	rated := func(records uint64, ids ...string) *store {
		t.Helper()
		a, err := New(ctx, nc, quick(), zerolog.Nop())
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			ended(a.store, id)
		}
		following, stop := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- a.ladder.follow(following, a.store) }()
		gametest.Eventually(t, "all records rated", func() bool { return a.ladder.upTo(records) })
		stop()
		<-done
		return a.store
	}
	s := rated(5, "g1", "g2", "g3", "g4", "g5")
	if err := s.js.DeleteStream(ctx, s.records.CachedInfo().Config.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.js.CreateStream(ctx, s.records.CachedInfo().Config); err != nil {
		t.Fatal(err)
	}
	ended(s, "g1")
	rated(2, "g6")
	s = rated(3, "g7") // by an arena that was started since
	again := newLadder(s.ladder, nil, zerolog.Nop())
	if err := again.load(ctx, s.records); err != nil {
		t.Fatal(err)
	}
	for p, wins := range map[protocol.PlayerID]int{"ann": 7, "bob": 0} {
		if got, _ := again.of("amazons", clock.Correspondence, p); got.Games != 7 || got.Wins != wins {
			t.Errorf("%s: %d games, %d won; want all 7, %d won", p, got.Games, got.Wins, wins)
		}
	}
}

// A standing that was erased unnoticed does not stop the ladder: its player begins afresh.
func TestRatedAfterErasure(t *testing.T) {
	t.Parallel()
	s := openTestStore(t)
	l := newLadder(s.ladder, nil, zerolog.Nop())
	rec := &record.Record{ID: "g1", Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins}
	rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
	ctx := gametest.Context(t)
	l.take(ctx, 1, rec)
	// As Erase leaves it when no arena has watched.
	key := ladderKey("amazons", rec.Clock.Speed(), "ann")
	if err := s.ladder.Purge(ctx, key); err != nil {
		t.Fatal(err)
	}
	bucket, err := s.js.Stream(ctx, "KV_"+s.ladder.Bucket())
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Purge(ctx, jetstream.WithPurgeSubject("$KV."+s.ladder.Bucket()+"."+key)); err != nil {
		t.Fatal(err)
	}
	rec.ID = "g2"
	if l.take(ctx, 2, rec); ctx.Err() != nil {
		t.Fatal("the record is not rated")
	}
	bob := glicko.Default.Update(glicko.Start, []glicko.Game{{Opponent: glicko.Start, Score: 0}})
	want := map[protocol.PlayerID]Standing{
		"ann": {Rating: glicko.Default.Update(glicko.Start, []glicko.Game{{Opponent: bob, Score: 1}}), Games: 1, Wins: 1},
		"bob": {Rating: glicko.Default.Update(bob, []glicko.Game{{Opponent: glicko.Start, Score: 0}}), Games: 2, Losses: 2},
	}
	again := newLadder(s.ladder, nil, zerolog.Nop())
	if err := again.load(ctx, s.records); err != nil {
		t.Fatal(err)
	}
	for what, l := range map[string]*ladder{"in memory": l, "stored": again} {
		for p, want := range want {
			want.Player, want.Game, want.Speed = p, "amazons", rec.Clock.Speed()
			if got, _ := l.of("amazons", rec.Clock.Speed(), p); got != want {
				t.Errorf("%s: %+v, want %+v", what, got, want)
			}
		}
	}
}

// Standings are sorted once, whoever asks, and again after a change.
// lagging is a bucket whose answers come from a server that lags: an entry is read as it was
// when the bucket was wrapped, as often as it says.
type lagging struct {
	jetstream.KeyValue
	old    map[string]jetstream.KeyValueEntry
	behind int
}

func (k *lagging) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	if k.behind == 0 {
		return k.KeyValue.Get(ctx, key)
	}
	k.behind--
	if e, ok := k.old[key]; ok {
		return e, nil
	}
	return nil, jetstream.ErrKeyNotFound
}

// An arena that finds the ratings of a game stored by another, and can't read them at once,
// says nothing, unless that goes on.
func TestRatedByAnotherArena(t *testing.T) {
	t.Parallel()
	for what, games := range map[string]int{"new players": 1, "known players": 2} {
		for behind, warnings := range []int{0, 0, 1} {
			t.Run(fmt.Sprint(what, ", behind ", behind), func(t *testing.T) {
				t.Parallel()
				s := openTestStore(t)
				ctx := gametest.Context(t)
				lines := &logLines{}
				bucket := &lagging{KeyValue: s.ladder, old: map[string]jetstream.KeyValueEntry{}}
				other, l := newLadder(s.ladder, nil, zerolog.Nop()), newLadder(bucket, nil, zerolog.New(lines).Level(zerolog.InfoLevel))
				rec := &record.Record{ID: "g", Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins}
				rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
				for seq := 1; seq <= games; seq++ {
					if seq > 1 {
						l.take(ctx, uint64(seq-1), rec)
						for _, p := range []protocol.PlayerID{"ann", "bob"} {
							key := ladderKey("amazons", rec.Clock.Speed(), p)
							e, err := s.ladder.Get(ctx, key)
							if err != nil {
								t.Fatal(err)
							}
							bucket.old[key] = e
						}
					}
					other.take(ctx, uint64(seq), rec)
				}
				bucket.behind = behind
				if l.take(ctx, uint64(games), rec); ctx.Err() != nil {
					t.Fatal("the record is not rated")
				}
				for _, p := range []protocol.PlayerID{"ann", "bob"} {
					got, _ := l.of("amazons", rec.Clock.Speed(), p)
					if want, _ := other.of("amazons", rec.Clock.Speed(), p); got != want || got.Games != games {
						t.Errorf("%+v, want %+v", got, want)
					}
				}
				if n := lines.count(map[string]any{"level": "warn"}); n != warnings {
					t.Errorf("%d warnings, want %d", n, warnings)
				}
			})
		}
	}
}

// What can't be stored is said at once and then now and then, however long it is tried.
func TestInsist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, levels := 0, map[zerolog.Level]int{}
		insist(t.Context(), func() error {
			if tries++; tries <= 100 {
				return errSpace
			}
			return nil
		}, func(level zerolog.Level, err error) {
			if tries == 1 && level != zerolog.WarnLevel || !errors.Is(err, errSpace) {
				t.Errorf("try %d: %s, %v", tries, level, err)
			}
			levels[level]++
		})
		if tries != 101 || levels[zerolog.WarnLevel] != 4 || levels[zerolog.DebugLevel] != 96 {
			t.Errorf("%d tries, %v", tries, levels)
		}
	})
}

func TestStandingsAreSortedOnce(t *testing.T) {
	l := newLadder(nil, nil, zerolog.Nop())
	add := func(gameName string, p protocol.PlayerID, rating float64) {
		e := &entry{Standing: Standing{Player: p, Game: gameName, Speed: clock.Blitz, Rating: glicko.Rating{Rating: rating, Deviation: 100}}}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.keep(ladderKey(gameName, clock.Blitz, p), e)
	}
	add("gomoku", "ann", 1500)
	add("gomoku", "bob", 1600)
	first := l.standings("gomoku")
	if len(first) != 2 || first[0].Player != "bob" {
		t.Fatalf("%+v", first)
	}
	add("amazons", "ann", 1500) // another game
	if again := l.standings("gomoku"); &again[0] != &first[0] {
		t.Error("sorted again although nothing has changed")
	}
	add("gomoku", "ann", 1700)
	if after := l.standings("gomoku"); len(after) != 2 || after[0].Player != "ann" {
		t.Errorf("after a change: %+v", after)
	}
	if first[0].Player != "bob" {
		t.Error("an answer was modified")
	}
}

// Whoever asks for a ladder gets the best hundred of each speed, and is told its own place.
func TestStandingsAreBounded(t *testing.T) {
	a := &Arena{ladder: newLadder(nil, nil, zerolog.Nop())}
	const players = protocol.MaxStandings + 20
	a.ladder.mu.Lock()
	for speed, best := range map[clock.Speed]float64{clock.Blitz: 2500, clock.Bullet: 2000} {
		for i := range players {
			s := Standing{Player: protocol.PlayerID(fmt.Sprintf("bot-%d", i)), Game: "gomoku", Speed: speed, Rating: glicko.Rating{Rating: best - float64(i), Deviation: 100}}
			a.ladder.keep(ladderKey("gomoku", speed, s.Player), &entry{Standing: s})
		}
	}
	a.ladder.mu.Unlock()
	for asks, own := range map[protocol.PlayerID]int{"bot-0": 1, "bot-110": 111, "ann": 0} {
		ans := a.askedStandings(protocol.From{Player: asks}, protocol.StandingsRequest{Game: "gomoku"})
		count, place := map[clock.Speed]int{}, map[clock.Speed]int{}
		for _, s := range ans.Standings {
			if s.Player == asks {
				place[s.Speed] = s.Rank
			}
			if s.Player != asks || s.Rank <= protocol.MaxStandings {
				if count[s.Speed]++; s.Rank != count[s.Speed] {
					t.Errorf("%s of %s has place %d, want %d", s.Player, s.Speed, s.Rank, count[s.Speed])
				}
			}
		}
		for _, speed := range []clock.Speed{clock.Blitz, clock.Bullet} {
			if count[speed] != protocol.MaxStandings || place[speed] != own {
				t.Errorf("%s asks: %d players of %s, its own place %d; want %d, %d", asks, count[speed], speed, place[speed], protocol.MaxStandings, own)
			}
		}
	}
}

func TestCorruptStandingIsNamed(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartServer(t, "")
	nc := arenatest.Connect(t, srv.Platform())
	a, err := New(t.Context(), nc, quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.ladder.PutString(t.Context(), "amazons.blitz.ann", `{"player":"ann","rating":`); err != nil {
		t.Fatal(err)
	}
	_, err = New(t.Context(), nc, quick(), zerolog.Nop())
	if err == nil || !strings.Contains(err.Error(), "amazons.blitz.ann") || !strings.Contains(err.Error(), "sparring_ladder") {
		t.Errorf("New: %v, want an error that names bucket and key", err)
	}
}
