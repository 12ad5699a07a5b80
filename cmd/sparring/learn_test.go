package main

import (
	"bytes"
	"fmt"
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
	if got, err := gamesFrom(c, games, "amazons", nil); err != nil || got.Len() != 1 || !strings.Contains(stderr.String(), "1 game skipped: of another game than amazons\n") {
		t.Errorf("tune: %v, %s", err, &stderr)
	}
}

// TestLearnFromSeveralRules: of an archive with games under several rules, those are learnt from
// under which the weights are used, and the others are counted.
func TestLearnFromSeveralRules(t *testing.T) {
	var text bytes.Buffer
	for i, rules := range []string{"gomoku/freestyle-15", "gomoku/freestyle-20+swap2", "gomoku/renju-15", "gomoku/standard-15", "gomoku/caro-15", "amazons/10x10", "amazons/8x8"} {
		name, _, _ := strings.Cut(rules, "/")
		move := map[string]string{"amazons/10x10": "d1d2/d3", "amazons/8x8": "c1c2/c3"}[rules]
		if name == "gomoku" {
			move = "h8"
		}
		line, err := record.Encode(&record.Record{ID: fmt.Sprint("g", i), Game: name, Rules: rules, Result: game.FirstWins, Source: record.Source{By: record.ByMatch}, Plies: []record.Ply{{Move: move}}})
		if err != nil {
			t.Fatal(err)
		}
		text.Write(line)
	}
	path := filepath.Join(t.TempDir(), "games.jsonl")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, of := range map[string][2]int{ // games that are left out, and read
		"tune --game gomoku --rules freestyle": {3, 2}, "tune --game gomoku --rules standard": {3, 2}, "tune --game gomoku --rules renju": {4, 1},
		"moves --game gomoku --rules renju": {4, 1}, "tune --game amazons --rules 8x8": {1, 1}, "moves --game amazons": {0, 2},
	} {
		var stdout, stderr bytes.Buffer
		code := run(strings.Fields("learn "+args+" --out "+filepath.Join(t.TempDir(), "out")+" "+path), strings.NewReader(""), &stdout, &stderr)
		left := ""
		if of[0] > 0 {
			left = "sparring: " + count(of[0], "game", "games") + " skipped: under other rules\n"
		}
		// No search chose these moves, so that there is nothing to fit.
		if want := fmt.Sprintf(" in %d games", of[1]); code != exitFailed || !strings.Contains(stderr.String(), left) || left == "" && strings.Contains(stderr.String(), "other rules") || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: code %d, %s%s, want%s and %q", args, code, &stdout, &stderr, want, left)
		}
	}
}

// TestInterruptedTuning: the command says how to go on.
func TestInterruptedTuning(t *testing.T) {
	for keep, want := range map[string]string{"": "run with --keep", "file": "run the same command to resume"} {
		if err := (&tuneFlags{keep: keep}).interrupted(); !strings.Contains(err.Error(), want) {
			t.Errorf("learn tune --keep %q: %v", keep, err)
		}
	}
}
