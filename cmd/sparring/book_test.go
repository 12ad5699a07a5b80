package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"sparring/bot"
	"sparring/configs"
	"sparring/engine"
	"sparring/engine/book"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/internal/journal"
	"sparring/pipe/playerspec"
	"sparring/record"
)

// TestShippedBooks checks that the shipped books are sound, small, listed in the
// manifest, and have moves for the usual start of every game's default rules.
func TestShippedBooks(t *testing.T) {
	var manifest map[string]origin
	data, err := fs.ReadFile(configs.Books(), "manifest.json")
	if err == nil {
		err = json.Unmarshal(data, &manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(configs.Books(), "*"+book.Ext)
	if err != nil || len(names) != len(manifest) {
		t.Errorf("books %v, %d in the manifest; %v", names, len(manifest), err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(configs.Books(), name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := book.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		o := manifest[name]
		if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != o.SHA256 || o.Games != b.Games() || o.Rules != b.Family() || len(o.Sources) == 0 {
			t.Errorf("%s: the manifest has %+v", name, o)
		}
		if len(data) > 300<<10 {
			t.Errorf("%s: %d bytes", name, len(data))
		}
	}
	shelf, err := book.Open(book.Shipped, "", configs.Books())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range catalog.Games() {
		r := mustRules(t, g.Default)
		p, err := r.New("")
		if err != nil {
			t.Fatal(err)
		}
		first := map[string]bool{}
		for seed := range uint64(40) {
			m, _, ok := shelf.Choose(p, book.Options{}, seed, nil)
			if !ok {
				t.Fatalf("%s: no book move at the start", r.Name)
			}
			first[p.Format(m)] = true
		}
		if len(first) < 2 {
			t.Errorf("%s: always %v", r.Name, first)
		}
	}
}

// TestBotWithoutSoundBook: a bot whose book is missing or damaged warns once and
// searches.
func TestBotWithoutSoundBook(t *testing.T) {
	dir := t.TempDir()
	torn := filepath.Join(dir, "torn.book")
	if err := os.WriteFile(torn, []byte("SparBook"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{torn, dir, filepath.Join(dir, "missing.book")} {
		var cfg bot.Config
		if err := configs.Defaults(&cfg); err != nil {
			t.Fatal(err)
		}
		cfg.Book, cfg.HashMB = name, 1
		var log bytes.Buffer
		engines := playerspec.NewEngines(players(cfg, nil, nil, zerolog.New(&log)))
		defer engines.Close()
		for _, g := range catalog.Games() {
			rules := mustRules(t, g.Default)
			s, err := engines.NewGame("", engine.GameOptions{Rules: rules})
			if err != nil {
				t.Fatal(err)
			}
			p, err := rules.New("")
			if err != nil {
				t.Fatal(err)
			}
			run, err := s.Search(p, search.Limits{Nodes: 50}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := run.Wait(); r.Source == search.FromBook || p.Play(r.Move) != nil {
				t.Errorf("%s: move %#x from %s", g.Name, uint32(r.Move), r.Source)
			}
		}
		if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, `"level":"warn"`) || !strings.Contains(text, ".book") {
			t.Errorf("%s: log\n%s", name, text)
		}
	}
}

// TestBookOfContinuedGame: the moves of a game that another one continues are not those of
// the other's players.
func TestBookOfContinuedGame(t *testing.T) {
	r := &record.Record{V: record.Version, ID: "g1", Game: "gomoku", Rules: "gomoku/freestyle-15", Given: 2, Result: game.FirstWins, Reason: "resign",
		Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}}, Source: record.Source{By: record.ByArena}}
	for i, move := range []string{"h8", "h9", "i8", "i9"} {
		r.Plies = append(r.Plies, record.Ply{Seat: game.Seat(i % 2), Move: move})
	}
	b, err := book.NewBuilder(r.Rules, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Learn(gameOf(r)); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := b.Book(1).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if moves := strings.Count(text.String(), "= 1 0 0") + strings.Count(text.String(), "= 0 0 1"); moves != 2 || strings.Contains(text.String(), "\nh8 =") {
		t.Errorf("want the third and the fourth move:\n%s", text.String())
	}
}

// TestSelfPlayInUse: a file of self-play is one process's at a time, so that no game is
// there twice.
func TestSelfPlayInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	other, err := journal.Open(path, journal.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var out, errs bytes.Buffer
	code := run([]string{"book", "selfplay", "--game", "gomoku", "--games", "1", "--nodes", "1", "--out", path}, strings.NewReader(""), &out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "another process writes to this file") {
		t.Errorf("code %d, %s", code, &errs)
	}
}

// TestBookInUse: a book that another command changes is not changed, since the later of the two
// would drop what the earlier added.
func TestBookInUse(t *testing.T) {
	dir := t.TempDir()
	text, path := filepath.Join(dir, "book.txt"), filepath.Join(dir, "my.book")
	if err := os.WriteFile(text, []byte("sparring book 1 xiangqi\nh2e2 b9a7 = 1 0 0 # \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sparring := func(args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(append([]string{"book"}, args...), strings.NewReader(""), &out, &errs)
		return code, errs.String()
	}
	if code, errs := sparring("import", text, "--out", path); code != 0 {
		t.Fatal(errs)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := journal.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"avoid", path, "--moves", "h2e2"}, {"learn", path, dir}} {
		if code, errs := sparring(args...); code != exitFailed || !strings.Contains(errs, "another process writes to this file") {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v, the book has changed", err)
	}
	unlock()
	if code, errs := sparring("avoid", path, "--moves", "h2e2"); code != 0 {
		t.Errorf("afterwards: %s", errs)
	}
	if after, err := os.ReadFile(path); err != nil || bytes.Equal(before, after) {
		t.Errorf("%v, the book has not changed", err)
	}
}

// TestSelfPlayOfOtherSettings: the same command would never go on with a file of other
// settings, which its exit code says.
func TestSelfPlayOfOtherSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.jsonl")
	for i, want := range []int{exitOK, exitUsage} {
		nodes := fmt.Sprint(i + 1)
		var errs bytes.Buffer
		code := run([]string{"book", "selfplay", "--game", "gomoku", "--games", "1", "--nodes", nodes, "--plies", "1", "--out", path},
			strings.NewReader(""), io.Discard, &errs)
		if code != want {
			t.Errorf("%s nodes: code %d, want %d: %s", nodes, code, want, &errs)
		}
	}
}
