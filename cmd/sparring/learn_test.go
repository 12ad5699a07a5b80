package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"sparring/game"
	"sparring/record"
)

// TestLearnFromSeveralWriters: the records of a game by the platform and by its players are
// one game, whatever the order of the sources, so that none is both learnt from and held
// out. Games of matches have one record each, and are told apart by their moves alone.
func TestLearnFromSeveralWriters(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, by record.Source, result game.Result, thinks int, moves ...string) string {
		t.Helper()
		r := &record.Record{ID: "g1", Game: "amazons", Rules: "amazons/6x6", Result: result, Source: by}
		for i, m := range moves {
			p := record.Ply{Seat: game.Seat(i % 2), Move: m}
			if i%2 == thinks {
				p.Think = &record.Think{Source: record.FromSearch, Score: 10 * (i + 1), WinProb: 0.5}
			}
			r.Plies = append(r.Plies, p)
		}
		path := filepath.Join(dir, name+".jsonl")
		line, err := record.Encode(r)
		if err == nil {
			err = os.WriteFile(path, line, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	moves := []string{"a3b3a3", "c6c5c6", "b3a2b3"}
	platform := write("platform", record.Source{By: record.ByArena}, game.FirstWins, -1, moves...)
	first := write("first", record.Source{By: record.ByPlayer, Player: "ann"}, game.FirstWins, 0, moves...)
	second := write("second", record.Source{By: record.ByPlayer, Player: "bob"}, game.Undecided, 1, moves[:2]...) // it left the game
	match := write("match", record.Source{By: record.ByMatch}, game.FirstWins, 0, moves...)
	again := write("again", record.Source{By: record.ByMatch}, game.FirstWins, 0, moves[:1]...)
	for _, sources := range [][]string{{dir}, {first, platform, second, match, again}, {again, second, match, first, platform}} {
		var merged, matches []*record.Record
		c := &cobra.Command{}
		c.SetContext(t.Context())
		err := eachGame(c, sources, func(r *record.Record) error {
			if r.Source.By == record.ByMatch {
				matches = append(matches, r)
			} else {
				merged = append(merged, r)
			}
			return nil
		})
		if err != nil || len(merged) != 1 || len(matches) != 2 {
			t.Errorf("%v: %d games of the platform, %d of matches, %v", sources, len(merged), len(matches), err)
			continue
		}
		r := merged[0]
		if r.Source.By != record.ByArena || r.Result != game.FirstWins || len(r.Plies) != 3 {
			t.Errorf("%v: %+v", sources, r)
		}
		for i, p := range r.Plies {
			if p.Think == nil || p.Think.Score != 10*(i+1) {
				t.Errorf("%v: ply %d: %+v", sources, i+1, p.Think)
			}
		}
	}
}

// TestLearnFromSeveralGames: of a data directory with games of several kinds, those of the kind
// that was asked for are learnt from, and the others are counted.
func TestLearnFromSeveralGames(t *testing.T) {
	games := []string{gamesFile(t, "amazons/10x10", "d1d4/g4", time.Time{}, 1), filepath.Join(t.TempDir(), "other.jsonl")}
	if err := os.WriteFile(games[1], []byte(recordLine("other", record.ByMatch, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "trees.jsonl")
	var stdout, stderr bytes.Buffer
	args := append([]string{"learn", "trees", "--game", "amazons", "--trees", "1", "--tree-nodes", "100", "--nodes", "50", "--out", out}, games...)
	if code := run(args, strings.NewReader(""), &stdout, &stderr); code != exitOK || !strings.Contains(stderr.String(), "1 game skipped: of another game than amazons\n") || !strings.Contains(stdout.String(), "games      1 ") {
		t.Errorf("trees: code %d, %s%s", code, &stdout, &stderr)
	}
	stderr.Reset()
	c := silent(t)
	c.SetErr(&stderr)
	if got, err := gamesFrom(c, games, "amazons"); err != nil || got.Len() != 1 || !strings.Contains(stderr.String(), "1 game skipped: of another game than amazons\n") {
		t.Errorf("tune: %v, %s", err, &stderr)
	}
}
