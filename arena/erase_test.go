package arena

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/arena/glicko"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/protocol"
	"sparring/record"
)

// A player is erased beside an arena that runs: from logs, records and standings. What is
// not the player's stays, and all ratings go on.
func TestErase(t *testing.T) {
	t.Parallel()
	const ann = protocol.PlayerID("annabelle-17")
	dir := t.TempDir()
	srv := arenatest.StartServer(t, dir, ann, "bob", "cyd")
	a := runArena(t, srv, steady())
	nc := arenatest.Connect(t, srv.Platform())
	players := map[protocol.PlayerID]*player{}
	for _, p := range []protocol.PlayerID{ann, "bob", "cyd"} {
		players[p] = join(t, srv, p, protocol.InstanceID(p+"-process"))
	}
	terms := small(t, "60+1")
	terms.Rated = true
	games := func(p protocol.PlayerID) int {
		s, _ := a.ladder.of("amazons", terms.Clock.Speed(), p)
		return s.Games
	}
	listed := func(g protocol.GameID, p protocol.PlayerID) { // after that of the other player
		t.Helper()
		gametest.Eventually(t, "the game in the list of "+string(p), func() bool {
			games, err := a.FinishedGames(t.Context(), p)
			return err == nil && slices.ContainsFunc(games, func(x FinishedGame) bool { return x.ID == g })
		})
	}
	play := func(x, y protocol.PlayerID) protocol.GameID {
		t.Helper()
		before := games(y)
		g := players[x].challenge(y, terms, game.First)
		players[y].until(g, "the end", finished)
		gametest.Eventually(t, "the rating", func() bool { return games(y) == before+1 })
		gametest.Eventually(t, "the end of the log", func() bool {
			e, _, err := a.store.lastEvent(t.Context(), g)
			return err == nil && isFinal(e)
		})
		listed(g, y)
		return g
	}
	play(ann, "bob")
	play(ann, "cyd")
	others := play("bob", "cyd")
	halted := make(chan struct{})
	players[ann].set(func(p *player) { p.play = func(protocol.State) { <-halted } })
	running := players["bob"].challenge(ann, small(t, "600+6"), game.Second)
	players["bob"].until(running, "the start", plies(0))

	erase := func(remove bool, want Erased) {
		t.Helper()
		got, err := Erase(t.Context(), nc, a.store.subjects, ann, remove)
		if err != nil || got != want {
			t.Errorf("remove %v: %+v, %v, want %+v", remove, got, err, want)
		}
	}
	all := Erased{Logs: 2, Records: 2, Standings: 1, Mentions: 2, Running: 1}
	erase(false, all)
	if got, err := Erase(t.Context(), nc, a.store.subjects, "*", true); err == nil {
		t.Errorf("everybody: %+v", got)
	}
	erase(false, all)
	if games, err := a.FinishedGames(t.Context(), ann); err != nil || len(games) != 2 || len(a.Standings("amazons")) != 3 {
		t.Errorf("what was only looked for is gone: games %v, %v; standings %+v", games, err, a.Standings("amazons"))
	}
	erase(true, all)
	if games, err := a.FinishedGames(t.Context(), ann); err != nil || len(games) > 0 {
		t.Errorf("games of who was erased: %v, %v", games, err)
	}
	gametest.Eventually(t, "the arena forgets the standing", func() bool { return games(ann) == 0 })
	for _, s := range a.Standings("amazons") {
		if s.Player == ann || s.Games != 2 {
			t.Errorf("standing of %s with %d games", s.Player, s.Games)
		}
	}
	if e, _, err := a.store.lastEvent(t.Context(), others); err != nil || !isFinal(e) {
		t.Errorf("the log of others: %+v, %v", e, err)
	}
	recordOfGame(t, a.store, others)

	close(halted)
	players[ann].set(func(p *player) { p.play = nil })
	if _, err := players["bob"].Resign(t.Context(), running, 1, len(players["bob"].until(running, "a state", plies(0)).Moves)); err != nil {
		t.Fatal(err)
	}
	gametest.Eventually(t, "the end of its log", func() bool {
		e, _, err := a.store.lastEvent(t.Context(), running)
		return err == nil && isFinal(e)
	})
	recordOfGame(t, a.store, running)
	listed(running, ann)
	listed(running, "bob")
	erase(true, Erased{Logs: 1, Records: 1})
	erase(true, Erased{})

	// Whose standings were changed beside the arena is rated further.
	play("cyd", "bob")
	gametest.Eventually(t, "the other's rating", func() bool { return games("cyd") == 3 })
	kve, err := a.store.ladder.Get(t.Context(), ladderKey("amazons", terms.Clock.Speed(), "bob"))
	if err != nil {
		t.Fatal(err)
	}
	if bob, err := readEntry(kve); err != nil || bob.Games != 3 || slices.Contains(bob.Recent, ann) {
		t.Errorf("bob's standing: %+v, %v", bob, err)
	}
	keys, err := a.store.ladder.Keys(t.Context(), jetstream.IgnoreDeletes())
	if err != nil || len(keys) != 2 {
		t.Errorf("keys of the ladder: %v, %v", keys, err)
	}
	if keys, err = a.store.history.Keys(t.Context(), jetstream.IgnoreDeletes()); err != nil || slices.Contains(keys, string(ann)) || len(keys) != 2 {
		t.Errorf("keys of the lists: %v, %v", keys, err)
	}
	left, err := a.FinishedGames(t.Context(), "bob")
	if err != nil || len(left) == 0 {
		t.Errorf("the other's list: %v, %v", left, err)
	}
	for _, g := range left {
		rec, err := a.FinishedRecord(t.Context(), g)
		if err == nil && (rec.Seats[0].Player == string(ann) || rec.Seats[1].Player == string(ann)) || err != nil && !errors.Is(err, ErrNoGame) {
			t.Errorf("%s in the other's list: %+v, %v", g.ID, rec, err)
		}
	}
	a.stop()
	srv.Close()
	for _, stream := range []string{"sparring_games", "sparring_records"} {
		noTrace(t, filepath.Join(dir, "jetstream", "PLATFORM", "streams", stream), string(ann))
	}
}

// A record stays, and is counted, until arenas have rated it and listed it among its players'
// games: erased before, it would count there for ever, or never.
func TestEraseAwaitsArenas(t *testing.T) {
	t.Parallel()
	nc := arenatest.Connect(t, arenatest.StartServer(t, "").Platform())
	for what, test := range map[string]struct {
		counts, listed bool
		rated          []protocol.PlayerID // whose standings include it
		stays          bool
	}{
		"neither":                 {true, false, nil, true},
		"rated":                   {true, false, []protocol.PlayerID{"ann", "bob"}, true},
		"listed":                  {true, true, nil, true},
		"both":                    {true, true, []protocol.PlayerID{"ann", "bob"}, false},
		"rated for one":           {true, true, []protocol.PlayerID{"ann"}, true},
		"rated for the other":     {true, true, []protocol.PlayerID{"bob"}, true},
		"not to be rated":         {false, false, nil, true},
		"not to be rated, listed": {false, true, nil, false},
	} {
		cfg := quick()
		cfg.Prefix = protocol.NewID()
		a, err := New(t.Context(), nc, cfg, zerolog.Nop()) // it does nothing by itself
		if err != nil {
			t.Fatal(err)
		}
		rec := &record.Record{ID: "g1", Game: "amazons", Rules: "amazons/6x6", Rated: test.counts, Result: game.FirstWins, Source: record.Source{By: record.ByArena}}
		rec.Seats[0].Player, rec.Seats[1].Player = "bob", "ann"
		if err := a.store.publishRecord(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		for _, p := range test.rated {
			standing := Standing{Player: p, Game: rec.Game, Speed: rec.Clock.Speed(), Rating: glicko.Start, Games: 1}
			if err := a.ladder.put(t.Context(), &entry{Standing: standing, Seq: 1, Before: glicko.Start}); err != nil {
				t.Fatal(err)
			}
		}
		if test.listed {
			a.history.take(t.Context(), 1, rec)
		}
		found, err := Erase(t.Context(), nc, a.store.subjects, "ann", true)
		if err != nil || found.Unrated+found.Records != 1 || found.Unrated == 1 != test.stays {
			t.Errorf("%s: %+v, %v", what, found, err)
		}
		if _, err := a.store.storedRecord(t.Context(), rec.Game, "g1"); errors.Is(err, ErrNoGame) == test.stays {
			t.Errorf("%s: the record afterwards: %v", what, err)
		}
	}
}

// What can't be read may be the player's: it stays, is named, and keeps nothing else from
// being erased.
func TestEraseNamesDamage(t *testing.T) {
	t.Parallel()
	nc := arenatest.Connect(t, arenatest.StartServer(t, "").Platform())
	a, err := New(t.Context(), nc, quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	damaged := []string{a.store.subjects.Log("bad"), a.store.subjects.Record("amazons", "bad")}
	for _, subject := range damaged {
		if _, err := a.store.js.Publish(t.Context(), subject, []byte(`{"v":1,`)); err != nil {
			t.Fatal(err)
		}
	}
	rec := &record.Record{ID: "g1", Game: "amazons", Rules: "amazons/6x6", Result: game.FirstWins, Source: record.Source{By: record.ByArena}}
	rec.Seats[0].Player, rec.Seats[1].Player = "bob", "ann"
	if err := a.store.publishRecord(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	a.history.take(t.Context(), 2, rec)
	found, err := Erase(t.Context(), nc, a.store.subjects, "ann", true)
	if found.Records != 1 {
		t.Errorf("%+v, want the record that can be read", found)
	}
	for _, subject := range damaged {
		if err == nil || !contains(err, subject) {
			t.Errorf("%v does not name %s", err, subject)
		}
	}
}

// noTrace checks that no file below a directory has a text.
func noTrace(t *testing.T, dir, text string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			t.Errorf("%s has %q", path, text)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%s: %d files, %v", dir, files, err)
	}
}
