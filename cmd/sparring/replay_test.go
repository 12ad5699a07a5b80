package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sparring/arena"
	"sparring/engine"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/lab/study/replay"
	"sparring/record"
)

// replayPlies returns how many moves of each game TestReplay wants:
// SPARRING_REPLAY_MOVES, or enough to find a fault in seconds.
func replayPlies(t *testing.T) int {
	text := os.Getenv("SPARRING_REPLAY_MOVES")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SPARRING_REPLAY_MOVES: %v", err)
	}
	return n
}

// TestReplay plays games of every kind between reproducible players of different
// strength, in parallel on a platform, until there are enough recorded moves of each
// kind. A replay reproduces all of them, and the records and the platform name the
// players' engines.
func TestReplay(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	dir := t.TempDir()
	records := playReproducible(t, dir)
	var out bytes.Buffer
	if err := replayAll(t.Context(), &out, records); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	moves, differs := map[string]int{}, map[string]bool{}
	pool := engine.NewPool(1)
	defer pool.Close()
	for _, r := range records {
		players, err := replay.Players(r)
		if err != nil {
			t.Fatal(err)
		}
		p := players[0]
		if reasons := p.Unknown(engine.Build()); len(reasons) > 0 {
			t.Errorf("game %s: %q", r.ID, reasons)
		}
		rep, err := replayPlayer(t.Context(), pool, p)
		if err != nil || rep.First != nil || rep.Exact != rep.Moves || rep.Absent > 0 {
			t.Errorf("game %s: %+v, %v", r.ID, rep, err)
		}
		moves[r.Game] += rep.Moves
		s, level := p.Settings, strings.HasSuffix(r.Source.Player, "-hare")
		if !s.Reproducible || s.Threads != 1 || s.Ponder || s.Profile != r.Source.Player || s.Name != engine.OurName ||
			level != (s.Level == 4 && s.Elo != nil && s.Spec == "self:level=4") || !level && s.Nodes != 120 {
			t.Errorf("game %s of %s: settings %+v", r.ID, r.Source.Player, *s)
		}
		if seat := r.Seats[*r.Source.Seat]; level != strings.HasSuffix(seat.Build, " level 4") {
			t.Errorf("game %s of %s: the platform calls it %q", r.ID, r.Source.Player, seat.Build)
		}
		// With other settings a game of each kind comes out differently; a short one may not.
		if !differs[r.Game] {
			other := *r
			other.Source.Seed++
			s := *p.Settings
			s.Nodes, s.Spec, other.Source.Settings = 60, "self", &s
			players, _ := replay.Players(&other)
			rep, err := replayPlayer(t.Context(), pool, players[0])
			if err != nil {
				t.Errorf("game %s with half of the nodes: %v", r.ID, err)
			}
			differs[r.Game] = rep.First != nil
		}
	}
	for _, g := range catalog.Games() {
		if moves[g.Name] < replayPlies(t) {
			t.Errorf("%d moves of %s", moves[g.Name], g.Name)
		}
		if !differs[g.Name] {
			t.Errorf("no difference in any game of %s with other settings", g.Name)
		}
	}
}

// playReproducible runs a platform and a bot with two players for each game, at a level
// and limited by nodes, until there are enough moves. It returns the players' records.
func playReproducible(t *testing.T, dir string) (records []*record.Record) {
	cfg := arena.Defaults()
	cfg.Ladder.On, cfg.Ladder.Pause = true, time.Millisecond
	cfg.Ladder.Clocks = []clock.Spec{{Kind: clock.Fischer, Initial: time.Hour, Increment: time.Second}}
	var profiles []string
	for _, g := range catalog.Games() {
		profiles = append(profiles,
			fmt.Sprintf(`{"player": "%s-hare", "games": [%q], "engine": "self:level=4", "reproducible": true}`, g.Name, g.Name),
			fmt.Sprintf(`{"player": "%s-tortoise", "games": [%q], "nodes": 120, "reproducible": true}`, g.Name, g.Name))
	}
	g := newGround(t, cfg, botOf(t, dir, profiles...))
	last, progress := 0, time.Now()
	for {
		records, enough, err := finishedGames(recordsDir(dir), replayPlies(t))
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // a line that is being written
			t.Fatal(err)
		}
		if enough {
			break
		}
		if len(records) > last {
			last, progress = len(records), time.Now()
		}
		if time.Since(progress) > patience {
			t.Errorf("no game ended for %v, after %d", patience, last)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	g.stop()
	records, _, err := finishedGames(recordsDir(dir), replayPlies(t))
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// finishedGames returns the records of finished games; enough reports whether they
// have as many moves of each game as are wanted.
func finishedGames(dir string, wanted int) (records []*record.Record, enough bool, err error) {
	moves := map[string]int{}
	for r, err := range record.All(dir) {
		if err != nil {
			return records, false, err
		}
		if r.Result == 0 {
			continue
		}
		records = append(records, r)
		for _, p := range r.Plies {
			if p.Think != nil && p.Seat == *r.Source.Seat {
				moves[r.Game]++
			}
		}
	}
	for _, g := range catalog.Games() {
		if moves[g.Name] < wanted {
			return records, false, nil
		}
	}
	return records, true, nil
}

// TestReplayStartsNoProgram: a record comes from anywhere, so the program that it
// names is not started.
func TestReplayStartsNoProgram(t *testing.T) {
	first, started := game.First, filepath.Join(t.TempDir(), "started")
	r := &record.Record{
		ID: "g1", Game: "gomoku", Rules: "gomoku/freestyle-15",
		Source: record.Source{By: record.ByPlayer, Seat: &first, Settings: &record.Settings{
			Spec: "gomocup:/bin/sh,arg=-c,arg=touch " + started, Nodes: 100, Threads: 1, Reproducible: true}},
		Plies: []record.Ply{{Seat: game.First, Move: "h8", Think: &record.Think{Source: record.FromExternal}}},
	}
	var out bytes.Buffer
	if err := replayAll(t.Context(), &out, []*record.Record{r}); err != nil || !strings.Contains(out.String(), "does not start programs") {
		t.Errorf("%v\n%s", err, &out)
	}
	if _, err := os.Stat(started); err == nil {
		t.Error("the program was started")
	}
}
