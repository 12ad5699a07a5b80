package arena

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// rater returns an arena that is not serving, whose followers of records are the test's, and a
// function that stores the record of another rated game, which its first player won.
func rater(t *testing.T, ctx context.Context, srv *arenatest.NATSProcess) (a *Arena, end func(first, second string)) {
	t.Helper()
	a, err := New(ctx, arenatest.Connect(t, srv.Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	return a, func(first, second string) {
		t.Helper()
		n++
		rec := &record.Record{ID: fmt.Sprintf("g%d", n), Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins,
			Source: record.Source{By: record.ByArena}, End: time.Now()}
		rec.Seats[0].Player, rec.Seats[1].Player = first, second
		gametest.Eventually(t, "a record stored", func() bool { return a.store.publishRecord(ctx, rec) == nil })
	}
}

// slowGame begins a game of two players who wait before each move, and returns after some moves.
func slowGame(t *testing.T, srv platform, terms protocol.Terms, wait time.Duration) (ann, bob *player, g protocol.GameID) {
	t.Helper()
	ann, bob = join(t, srv, "ann", "a1"), join(t, srv, "bob", "b1")
	slow(ann, wait)
	slow(bob, wait)
	g = ann.challenge("bob", terms, game.First)
	ann.until(g, "some moves", plies(4))
	return ann, bob, g
}

// A power cut of the server alone takes the last records, and the next ones get their
// numbers. An arena that goes on rates these, too.
func TestRatedAfterPowerCut(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"records", "records and standings"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
			ctx := gametest.Context(t)
			a, end := rater(t, ctx, srv)
			go a.ladder.follow(ctx, a.store)
			games := func(more, want int) {
				t.Helper()
				var unanswered error
				defer func() {
					if unanswered != nil {
						t.Log(unanswered)
					}
				}()
				gametest.Eventually(t, "the server", func() bool { _, unanswered = a.store.records.Info(ctx); return unanswered == nil })
				for range more {
					end("ann", "bob")
				}
				gametest.Eventually(t, fmt.Sprintf("%d games rated", want), func() bool {
					s, _ := a.ladder.of("amazons", clock.Correspondence, "ann")
					return s.Games == want
				})
			}
			games(3, 3)
			copied := srv.Restart()
			games(3, 6)
			streams, want := []string{streamName(a.store.subjects, "records")}, 6
			if lost != "records" {
				streams, want = append(streams, bucketStream(a.store.subjects, "ladder")), 3
			}
			srv.CutPower(copied, streams...)
			games(5, want+5)
		})
	}
}

// Standings and lists of games that the server has lost in a power cut are stored again
// from the records that are left.
func TestMadeOfRecordsAfterPowerCut(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	ctx := gametest.Context(t)
	a, play := rater(t, ctx, srv)
	go a.ladder.follow(ctx, a.store)
	go a.history.follow(ctx, a.store)
	stored := func(id protocol.PlayerID, games int) {
		t.Helper()
		gametest.Eventually(t, fmt.Sprintf("%d games of %s stored", games, id), func() bool {
			kve, err := a.store.ladder.Get(ctx, ladderKey("amazons", clock.Correspondence, id))
			if err != nil {
				return false
			}
			e, err := readEntry(kve)
			list, listed := a.FinishedGames(ctx, id)
			return err == nil && e.Games == games && listed == nil && len(list) == games
		})
	}
	play("ann", "bob")
	stored("bob", 1)
	copied := srv.Restart()
	play("ann", "bob")
	play("cat", "dan")
	stored("bob", 2)
	stored("dan", 1)
	srv.CutPower(copied, bucketStream(a.store.subjects, "ladder"), bucketStream(a.store.subjects, "history"))
	play("ann", "eve")
	for id, games := range map[protocol.PlayerID]int{"ann": 3, "bob": 2, "cat": 1, "dan": 1, "eve": 1} {
		stored(id, games)
	}
}

// A game goes on where its log ends after a power cut of the server, and is rated.
func TestGameAfterPowerCut(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	a := runArena(t, srv, quick())
	terms := small(t, "600+10")
	terms.Rated = true
	ann, bob, g := slowGame(t, srv, terms, 100*time.Millisecond)
	copied := srv.Restart()
	ann.until(g, "moves that will be lost", plies(10))
	srv.CutPower(copied)
	for _, p := range []*player{ann, bob} {
		if end := p.until(g, "the end", finished); end.Outcome.Reason != game.NoMoves {
			t.Errorf("%s: %+v, want a game played out", p.id, end.Outcome)
		}
	}
	whole(t, a.store, g)
	gametest.Eventually(t, "the game rated", func() bool {
		s, _ := a.ladder.of(terms.Game, terms.Clock.Speed(), "ann")
		return s.Games == 1
	})
	gametest.Eventually(t, "no game listed as running", func() bool { return a.CountRunning() == 0 })
}

// A power cut of the server may take the end of a game that players were told. No arena
// takes it for over then: it goes on, or ends as its record says.
func TestEndLostInPowerCut(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"everything", "games"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
			a, other := runArena(t, srv, quick()), runArena(t, srv, quick())
			ann, _, g := slowGame(t, srv, small(t, "600+10"), 50*time.Millisecond)
			copied := srv.Restart()
			ann.until(g, "the end", finished)
			over := func(a *running) bool {
				last, known := a.index.last(g)
				return known && isFinal(last)
			}
			gametest.Eventually(t, "the record noted", func() bool { return over(a) && over(other) })
			var streams []string
			if lost == "games" {
				streams = append(streams, streamName(a.store.subjects, lost))
			}
			srv.CutPower(copied, streams...)
			gametest.Eventually(t, "the game recorded again", func() bool {
				last, seq, err := a.store.lastEvent(t.Context(), g)
				_, seen, _ := a.index.entry(g)
				_, there, _ := other.index.entry(g)
				return err == nil && isFinal(last) && seen == seq && there == seq
			})
			last := whole(t, a.store, g)
			rec, err := a.recordIn(t.Context(), "amazons", g)
			if err != nil {
				t.Fatal(err)
			}
			if end := last[len(last)-1]; len(rec.Plies) != len(end.Moves) || rec.Result != end.Outcome.Result {
				t.Errorf("the log ends after %d plies, %v; the record after %d, %v", len(end.Moves), end.Outcome, len(rec.Plies), rec.Result)
			}
		})
	}
}

// A power cut of the server may take the end of a game before the record is stored. The
// players were told that end: it is stored again.
func TestEndLostBeforeRecord(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	a := runArena(t, srv, quick())
	ann, _, g := slowGame(t, srv, small(t, "600+10"), 50*time.Millisecond)
	a.visit(g, func(r *referee) { r.storeAt = time.Now().Add(patience) })
	copied := srv.Restart()
	end := ann.until(g, "the end", finished)
	srv.CutPower(copied)
	gametest.Eventually(t, "the server", func() bool { _, err := a.store.lastEntry(t.Context(), g); return err == nil })
	a.visit(g, func(r *referee) { r.storeAt = time.Time{} })
	gametest.Eventually(t, "the record noted", func() bool {
		last, _, err := a.store.lastEvent(t.Context(), g)
		return err == nil && isFinal(last)
	})
	whole(t, a.store, g)
	rec, err := a.recordIn(t.Context(), "amazons", g)
	if err != nil || len(rec.Plies) != len(end.Moves) || rec.Result != end.Outcome.Result {
		t.Errorf("%+v, %v; the players were told %d plies, %v", rec, err, len(end.Moves), end.Outcome)
	}
}

// A game that goes on although it has a record, which is damaged, is played on.
func TestGameWithDamagedRecord(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	first := runArena(t, srv, quick())
	ann, bob, g := slowGame(t, srv, small(t, "600+10"), 50*time.Millisecond)
	if _, err := first.store.js.Publish(t.Context(), first.store.subjects.Record("amazons", g), []byte("{")); err != nil {
		t.Fatal(err)
	}
	first.crash()
	var log gametest.Output
	next := prepareArenaLog(t, srv, quick(), zerolog.New(&log))
	next.start()
	for _, p := range []*player{ann, bob} {
		if end := p.until(g, "the end", finished); end.Outcome.Reason != game.NoMoves {
			t.Errorf("%s: %+v, want a game played out", p.id, end.Outcome)
		}
	}
	whole(t, next.store, g)
	if line := `"game":"` + string(g) + `","message":"the record of a game that goes on can't be read"`; !log.Has(line) {
		t.Errorf("no %s in the log:\n%s", line, log.String())
	}
}

// A challenge that the queue has lost in a power cut of the server waits on: its player
// was told that it is stored.
func TestChallengeLostInPowerCut(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	a := runArena(t, srv, quick())
	ann := join(t, srv, "ann", "a1")
	copied := srv.Restart()
	g := ann.challenge("bob", small(t, "600+10"), game.First)
	srv.CutPower(copied, streamName(a.store.subjects, "challenges"))
	gametest.Eventually(t, "the server", func() bool { _, err := a.store.challenges.Info(t.Context()); return err == nil })
	join(t, srv, "bob", "b1")
	ann.until(g, "the start", func(st protocol.State) bool { return st.Status == protocol.Playing })
}

// Standings that are erased after a power cut of the server are forgotten, although their
// markers have the revisions of standings that were lost.
func TestErasedAfterPowerCut(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	a, err := New(t.Context(), arenatest.Connect(t, srv.Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	go a.ladder.forgetErased(t.Context(), a.nc)
	var rated uint64
	rate := func(games int) {
		t.Helper()
		for range games {
			rated++
			rec := &record.Record{Game: "amazons", Rules: "amazons/6x6", Rated: true, Result: game.FirstWins}
			rec.Seats[0].Player, rec.Seats[1].Player = "ann", "bob"
			gametest.Eventually(t, "a game rated", func() bool { return a.ladder.rate(t.Context(), rated, rec, 1) == nil })
		}
	}
	followed := func() {
		t.Helper()
		gametest.Eventually(t, "the changes followed", func() bool {
			stream, err := a.store.js.Stream(t.Context(), bucketStream(a.store.subjects, "ladder"))
			return err == nil && stream.CachedInfo().State.Consumers > 0
		})
	}
	rate(1)
	copied := srv.Restart()
	followed()
	rate(3)
	srv.CutPower(copied, bucketStream(a.store.subjects, "ladder"))
	followed()
	key := ladderKey("amazons", clock.Correspondence, "ann")
	if err := a.store.ladder.Purge(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the standing forgotten", func() bool {
		_, there := a.ladder.of("amazons", clock.Correspondence, "ann")
		return !there
	})
}

// A round of the ladder goes on although the server has lost, in a power cut, that a game of
// it had begun.
func TestRoundAfterPowerCut(t *testing.T) {
	t.Parallel()
	srv := arenatest.StartNATS(t, filepath.Join(t.TempDir(), "nats"))
	a := prepareArena(t, srv, ladderConfig(1))
	heard := make(chan Round, 1)
	a.OnRound(func(r Round) { heard <- r })
	a.start()
	copied := srv.Restart()
	waits := func(p *player) { p.play = nil }
	players := []*player{join(t, srv, "ann", "a1", waits), join(t, srv, "bob", "b1", waits)}
	for _, p := range players {
		amazonsOnly(t, p)
	}
	gametest.Eventually(t, "a game of the round", func() bool { return a.CountRunning() == 1 })
	g := a.index.running()[0].Game
	srv.Close()
	a.visit(g, func(r *referee) { r.stop(errLost) }) // else it may begin the log again
	srv.CutPower(copied, streamName(a.store.subjects, "games"), streamName(a.store.subjects, "challenges"))
	for _, p := range players {
		slow(p, 10*time.Millisecond)
	}
	for _, p := range roundsOf(t, a, heard, 1)[0].Pairings {
		if p.Outcome.Reason != game.NoMoves {
			t.Errorf("%+v, want a game played out", p)
		}
	}
}
