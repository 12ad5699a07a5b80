package arena

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// endedAt returns the record of a game of two bots that ended so many minutes after others.
func endedAt(id string, minute int, first, second string) *record.Record {
	rec := &record.Record{ID: id, Game: "amazons", Rules: "amazons/6x6", Result: game.FirstWins, Source: record.Source{By: record.ByArena},
		End: time.Date(2026, 11, 27, 0, minute, 0, 0, time.UTC)}
	rec.Seats = [2]record.Seat{{Player: first, Kind: record.Bot}, {Player: second, Kind: record.Bot}}
	return rec
}

// listing is an arena that only lists games.
type listing struct {
	*Arena
	t testing.TB
}

func newListing(t testing.TB, nc *nats.Conn) listing {
	t.Helper()
	a, err := New(t.Context(), nc, quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return listing{a, t}
}

func (l listing) publish(records ...*record.Record) {
	l.t.Helper()
	for _, rec := range records {
		if err := l.store.publishRecord(l.t.Context(), rec); err != nil {
			l.t.Fatal(err)
		}
	}
}

// follow lists games until stop is called.
func (l listing) follow() (stop func()) {
	ctx, cancel := context.WithCancel(l.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := l.history.follow(ctx, l.store); err != nil && ctx.Err() == nil {
			l.t.Error(err)
		}
	}()
	return func() { cancel(); <-done }
}

func (l listing) ids(p protocol.PlayerID) (ids []string) {
	l.t.Helper()
	games, err := l.FinishedGames(l.t.Context(), p)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, g := range games {
		ids = append(ids, string(g.ID))
	}
	return ids
}

// until waits for the ids of a player's games.
func (l listing) until(p protocol.PlayerID, want ...string) {
	l.t.Helper()
	gametest.Eventually(l.t, fmt.Sprintf("games of %s: %v", p, want), func() bool { return slices.Equal(l.ids(p), want) })
}

// The games of a player stand in the order of their ends, each once, and refer to records;
// also after a restart between the entries of its two players, and with two arenas.
func TestPlayedGames(t *testing.T) {
	t.Parallel()
	nc := arenatest.Connect(t, arenatest.StartServer(t, "").Platform())
	a := newListing(t, nc)
	friends := endedAt("g4", 4, "ann", "cyd")
	friends.Seats[0].Kind, friends.Seats[1].Kind = record.Human, record.Human
	secret := endedAt("g5", 5, "ann", "bob")
	secret.Private = true
	a.publish(endedAt("g1", 1, "ann", "bob"), endedAt("g3", 3, "bob", "ann"), endedAt("g2", 2, "ann", "cyd"), friends)
	stop := a.follow()
	a.until("ann", "g4", "g3", "g2", "g1")
	a.until("bob", "g3", "g1")
	a.until("cyd", "g4", "g2")
	stop()

	// Another arena dies between the entries of a game's players.
	a.publish(secret)
	if err := a.history.add(t.Context(), "ann", 5, FinishedGame{ID: "g5", Game: "amazons", Ended: secret.End, Unlisted: true}); err != nil {
		t.Fatal(err)
	}
	b := newListing(t, nc)
	defer b.follow()()
	a.until("bob", "g5", "g3", "g1")
	a.until("ann", "g5", "g4", "g3", "g2", "g1")
	defer a.follow()()
	a.publish(endedAt("g6", 6, "ann", "bob"))
	a.until("bob", "g6", "g5", "g3", "g1")
	b.until("ann", "g6", "g5", "g4", "g3", "g2", "g1")

	var games []FinishedGame
	for _, p := range []protocol.PlayerID{"ann", "bob"} {
		of, err := a.FinishedGames(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		games = append(games, of...)
	}
	for _, g := range games {
		rec, err := a.FinishedRecord(t.Context(), g)
		if err != nil || rec.ID != string(g.ID) || !rec.End.Equal(g.Ended) {
			t.Errorf("record of %+v: %+v, %v", g, rec, err)
		}
		if want := g.ID == "g4" || g.ID == "g5"; g.Unlisted != want {
			t.Errorf("%s: unlisted %t", g.ID, g.Unlisted)
		}
	}
	if games, err := a.FinishedGames(t.Context(), "*"); err == nil {
		t.Errorf("games of everybody: %v", games)
	}
	if games, err := a.FinishedGames(t.Context(), "nobody"); err != nil || len(games) > 0 {
		t.Errorf("games of nobody: %v, %v", games, err)
	}
}

// Of the many records from before there were lists, the last ones are read.
func TestPlayedBefore(t *testing.T) {
	t.Parallel()
	a := newListing(t, arenatest.Connect(t, arenatest.StartServer(t, "").Platform()))
	for i := range 5 {
		a.publish(endedAt(fmt.Sprint("g", i+1), i, "ann", "bob"))
	}
	a.history.backlog = 2
	if err := a.history.load(t.Context(), a.store); err != nil {
		t.Fatal(err)
	}
	defer a.follow()()
	a.until("bob", "g5", "g4")
}

// A player has so many games, and one that comes again is not added again.
func TestPlayedGamesAreBounded(t *testing.T) {
	var p finishedGames
	games := make([]FinishedGame, 3*maxFinished)
	for i := range games {
		games[i] = FinishedGame{ID: protocol.GameID(fmt.Sprint("g", i)), Ended: time.Unix(int64(i/2), 0)} // two each second
	}
	for _, g := range games {
		if !p.add(g) || p.add(g) {
			t.Fatalf("%s is not added once", g.ID)
		}
	}
	for _, g := range games[:2*maxFinished] {
		if p.add(g) {
			t.Errorf("%s is added, although there are %d later ones", g.ID, maxFinished)
		}
	}
	if len(p.Games) != maxFinished || !slices.IsSortedFunc(p.Games, later) {
		t.Errorf("%d games, want %d sorted: %v", len(p.Games), maxFinished, p.Games)
	}
}

// Records that were restored from an older backup than the lists have lower numbers. The
// games that end then are listed nevertheless.
func TestPlayedAfterRestore(t *testing.T) {
	t.Parallel()
	nc := arenatest.Connect(t, arenatest.StartServer(t, "").Platform())
	a := newListing(t, nc)
	a.publish(endedAt("g1", 1, "ann", "bob"), endedAt("g2", 2, "ann", "bob"), endedAt("g3", 3, "ann", "bob"))
	stop := a.follow()
	a.until("bob", "g3", "g2", "g1")
	stop()
	config := a.store.records.CachedInfo().Config
	if err := a.store.js.DeleteStream(t.Context(), config.Name); err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	a.publish(endedAt("g1", 1, "ann", "bob"))
	b := newListing(t, nc)
	defer b.follow()()
	b.publish(endedAt("g4", 4, "ann", "bob"))
	b.until("bob", "g4", "g3", "g2", "g1")
	games, _ := b.FinishedGames(t.Context(), "ann")
	for _, g := range games {
		_, err := b.FinishedRecord(t.Context(), g)
		if gone := g.ID == "g2" || g.ID == "g3"; gone != errors.Is(err, ErrNoGame) || !gone && err != nil {
			t.Errorf("record of %s: %v", g.ID, err)
		}
	}
}

// What can't be read of an entry is left out, which is logged once, and the next game is
// added to the rest.
func TestPlayedUnreadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stored string
		rest         []string
	}{
		{"no JSON", "{", nil},
		{"another form", `["g0"]`, nil},
		{"a game of another form", `{"record":7,"games":[{"id":"h2","game":"amazons","ended":"2026-11-26T00:02:00Z"},{"id":7},{"id":"h1","game":"amazons","ended":"2026-11-26T00:01:00Z"}]}`, []string{"h2", "h1"}},
		{"a game without a subject", `{"games":[{"id":"h2","game":"amazons","ended":"2026-11-26T00:02:00Z"},{"id":"*","game":"amazons"},{"id":"h1"}]}`, []string{"h2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newListing(t, arenatest.Connect(t, arenatest.StartServer(t, "").Platform()))
			var log bytes.Buffer
			a.history.log = zerolog.New(&log)
			if _, err := a.store.history.Put(t.Context(), "bob", []byte(c.stored)); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if ids := a.ids("bob"); !slices.Equal(ids, c.rest) {
					t.Errorf("games %v, want %v", ids, c.rest)
				}
			}
			stop := a.follow()
			a.publish(endedAt("g1", 1, "ann", "bob"))
			a.until("bob", append([]string{"g1"}, c.rest...)...)
			a.until("ann", "g1")
			stop()
			if n := strings.Count(log.String(), "damaged"); n != 1 {
				t.Errorf("logged %d times, want once:\n%s", n, log.String())
			}
		})
	}
}
