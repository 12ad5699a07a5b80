package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/record"
)

// succeeds runs a command, which must succeed, and returns its output.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, strings.NewReader(""), &out, &errs); code != exitOK {
		t.Fatalf("%v: code %d, %s", args, code, &errs)
	}
	return out.String()
}

// gamesFile writes a file of n games between the same players and returns its path. They
// begin a minute after each other, unless at is zero.
func gamesFile(t *testing.T, rules, move string, at time.Time, n int) string {
	t.Helper()
	var text bytes.Buffer
	for i := range n {
		name, _, _ := strings.Cut(rules, "/")
		r := &record.Record{ID: fmt.Sprintf("g%d", i), Game: name, Rules: rules, Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}},
			Result: game.FirstWins, Reason: "resign", Source: record.Source{By: record.ByArena}, Plies: []record.Ply{{Move: move}}}
		if !at.IsZero() {
			r.Start = at.Add(time.Duration(i) * time.Minute)
		}
		line, err := record.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(line)
	}
	path := filepath.Join(t.TempDir(), "games.jsonl")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// namesIn lists the files of a folder.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return strings.Join(names, ", ")
}

// TestExportOneByOne: games that are exported one by one into a folder have the names
// that they have with --all, so that none replaces another.
func TestExportOneByOne(t *testing.T) {
	at := time.Date(2026, 7, 11, 2, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		source, want string
		flags        []string
	}{
		{gamesFile(t, "xiangqi/wxf", "h2e2", at, 3), "a-b0.PGN, a-b1.PGN, a-b2.PGN", []string{"--event", "uccileague-fast"}},
		{gamesFile(t, "amazons/10x10", "d1d7/g7", time.Time{}, 2), "AM-aB vs bW-先手胜 (2).txt, AM-aB vs bW-先手胜.txt", nil},
		{gamesFile(t, "xiangqi/wxf", "h2e2", at, 2), "g0.pgn, g1.pgn", nil},
	} {
		one, all := t.TempDir(), t.TempDir()
		for i := range strings.Count(x.want, ",") + 1 {
			succeeds(t, append([]string{"records", "export", fmt.Sprintf("g%d", i), x.source, "--out", one}, x.flags...)...)
		}
		succeeds(t, append([]string{"records", "export", "--all", x.source, "--out", all}, x.flags...)...)
		if a, b := namesIn(t, one), namesIn(t, all); a != x.want || b != x.want {
			t.Errorf("one by one %s; all at once %s; want %s", a, b, x.want)
		}
	}
}

// TestGameRefused: a game that a format can't represent is named once.
func TestGameRefused(t *testing.T) {
	source := gamesFile(t, "gomoku/freestyle-15", "h8", time.Time{}, 1)
	for args, want := range map[string]string{
		"g0":    "sparring: pgn: game g0: not possible in this format: a game of gomoku\n",
		"--all": "sparring: game g0: pgn: not possible in this format: a game of gomoku\nsparring: 1 of 1 games were not written\n",
	} {
		var out, errs bytes.Buffer
		code := run([]string{"records", "export", args, source, "--format", "pgn", "--out", t.TempDir()}, strings.NewReader(""), &out, &errs)
		if code != exitFailed || errs.String() != want {
			t.Errorf("%s: code %d, %s, want %s", args, code, errs.String(), want)
		}
	}
}

// TestExportToAFullDisk: what the disk has no room for is said once, and what was written
// before is whole.
func TestExportToAFullDisk(t *testing.T) {
	disk := arenatest.NewSmallDisk(t, "2m")
	source, dir := gamesFile(t, "gomoku/freestyle-15", "h8", time.Time{}, 9), filepath.Join(disk.Dir, "games")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	ballast := filepath.Join(disk.Dir, "ballast")
	info, err := os.Stat(ballast)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(ballast, info.Size()-int64(2*os.Getpagesize())); err != nil { // room for two games
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := run([]string{"records", "export", "--all", source, "--format", "sgf", "--out", dir}, strings.NewReader(""), &out, &errs)
	want := fmt.Sprintf("sparring: write %s: %v; 2 games were written before\n", filepath.Join(dir, "g2.sgf"), syscall.ENOSPC)
	if code != exitFailed || errs.String() != want || out.String() != "g0.sgf\ng1.sgf\n" {
		t.Errorf("code %d, %q, %q, want %q", code, errs.String(), out.String(), want)
	}
	if names := namesIn(t, dir); names != "g0.sgf, g1.sgf" {
		t.Errorf("left: %s", names)
	}
}

// TestExportsOfTwoDays: games of another export into a folder stay, also where the names do not
// tell them apart. The same export again, or one with more games, replaces its own.
func TestExportsOfTwoDays(t *testing.T) {
	at := time.Date(2026, 7, 11, 2, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	export := func(source string, more ...string) (int, string) {
		var out, errs bytes.Buffer
		code := run(append([]string{"records", "export", "--event", "uccileague-fast", "--out", dir, source}, more...), strings.NewReader(""), &out, &errs)
		return code, errs.String()
	}
	monday, tuesday := gamesFile(t, "xiangqi/wxf", "h2e2", at, 2), gamesFile(t, "xiangqi/wxf", "b0c2", at.AddDate(0, 0, 1), 3)
	for range 2 {
		if code, errs := export(monday, "--all"); code != exitOK {
			t.Fatalf("code %d, %s", code, errs)
		}
	}
	kept, err := os.ReadFile(filepath.Join(dir, "a-b0.PGN"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{tuesday, "--all"}, {"g0", tuesday}} {
		code, errs := export(args[0], args[1:]...)
		if code != exitFailed || !strings.Contains(errs, "a-b0.PGN has another game, which would be lost") {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
		if have, err := os.ReadFile(filepath.Join(dir, "a-b0.PGN")); err != nil || !bytes.Equal(have, kept) {
			t.Errorf("%v: the game is now %s, %v", args, have, err)
		}
	}
	// The day before turns up: now its games come first.
	sunday := gamesFile(t, "xiangqi/wxf", "a3a4", at.AddDate(0, 0, -1), 1)
	all := filepath.Join(t.TempDir(), "all.jsonl")
	var text []byte
	for i, path := range []string{sunday, monday, tuesday} {
		lines, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, bytes.ReplaceAll(lines, []byte(`"id":"g`), fmt.Appendf(nil, `"id":"day%d-`, i))...)
	}
	if err := os.WriteFile(all, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, errs := export(all, "--all", "--moves", "wxf"); code != exitOK {
		t.Errorf("all games in one export: code %d, %s", code, errs)
	}
	if have, want := namesIn(t, dir), "a-b0.PGN, a-b1.PGN, a-b2.PGN, a-b3.PGN, a-b4.PGN, a-b5.PGN"; have != want {
		t.Errorf("%s, want %s", have, want)
	}
}

// TestExportReplacesNoSource: neither a game alone nor all of them are written over the
// file that they were read from.
func TestExportReplacesNoSource(t *testing.T) {
	dir := t.TempDir()
	const text = "#[AM][a B][b W][先手胜][2024.07.11 10:00 沈阳][CCGC];\n1 d1d7(g7)\n#[AM][c B][d W][先手胜];\n1 d1d7(damaged)\n"
	path := filepath.Join(dir, "AM-aB vs bW-先手胜-20240711 1000 沈阳-CCGC.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(strings.Split(succeeds(t, "records", "list", path), "\n")[1], " ")
	for _, args := range [][]string{{"--all", path}, {id, path}} {
		var out, errs bytes.Buffer
		code := run(append([]string{"records", "export", "--out", dir}, args...), strings.NewReader(""), &out, &errs)
		if code == exitOK || !strings.Contains(errs.String(), "is what is read; want another file") {
			t.Errorf("%v: code %d, %s", args, code, &errs)
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != text {
			t.Errorf("%v: the source is now %s, %v", args, have, err)
		}
	}
}

// TestImportOfSeveralWriters: the records of a game by the platform and by its players are
// all imported, each once, and what the players thought is in the game.
func TestImportOfSeveralWriters(t *testing.T) {
	from, data := t.TempDir(), t.TempDir()
	for name, source := range map[string]record.Source{
		"a-arena": {By: record.ByArena}, "b-bot": {By: record.ByPlayer, Player: "a", Instance: "i1"},
	} {
		r := &record.Record{ID: "g", Game: "gomoku", Rules: "gomoku/freestyle-15", Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}},
			Result: game.FirstWins, Source: source, Plies: []record.Ply{{Move: "h8"}}}
		if source.By == record.ByPlayer {
			r.Plies[0].Think = &record.Think{Depth: 7}
		}
		line, err := record.Encode(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(from, name+".jsonl"), line, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for _, name := range []string{"a-arena", "b-bot"} {
			succeeds(t, "records", "import", "--data", data, filepath.Join(from, name+".jsonl"))
		}
	}
	r, err := record.Find(t.Context(), recordsDir(data), "g")
	if err != nil || r.Source.By != record.ByArena || r.Plies[0].Think == nil || r.Plies[0].Think.Depth != 7 {
		t.Errorf("%+v, %v", r, err)
	}
	n := 0
	for range record.All(recordsDir(data)) {
		n++
	}
	if n != 2 {
		t.Errorf("%d records, want 2", n)
	}
}

// TestReadingInterrupted: Ctrl-C ends the reading of games, which of a large file takes
// minutes, and imports no more of them.
func TestReadingInterrupted(t *testing.T) {
	source, data := gamesFile(t, "xiangqi/wxf", "h2e2", time.Time{}, 3), t.TempDir()
	for _, command := range []string{"list", "import", "export --all --out " + t.TempDir()} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		root := commands()
		root.SetArgs(append(strings.Fields("records "+command), "--data", data, source))
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&out)
		if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) || out.Len() > 0 {
			t.Errorf("%s: %v, %s", command, err, &out)
		}
	}
	kept := t.TempDir()
	succeeds(t, "records", "import", "--data", kept, source)
	for _, args := range [][]string{{"analyse", "--depth", "1", source}, {"analyse", "--depth", "1", "g1"}, {"show", "g1"}} {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		root := commands()
		root.SetArgs(append(append([]string{"records"}, args...), "--data", kept))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: %v", args, err)
		}
		if _, _, err := newImitator(ctx, io.Discard).find("xiangqi", "a", source); !errors.Is(err, context.Canceled) {
			t.Errorf("self:as=a: %v", err)
		}
	}
	for r, err := range record.All(recordsDir(data)) {
		t.Errorf("imported %v, %v", r, err)
	}
}

// TestTableExportOneByOne: the games of a match at a table have names of their own.
func TestTableExportOneByOne(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	for i := range 2 {
		path := filepath.Join(dir, fmt.Sprintf("table-%d.jsonl", i))
		text := fmt.Sprintf(`{"table":1,"id":"table-%d","rules":"xiangqi/wxf","clock":"600","us":"first","names":["a","b"],"seed":"1","engine":"self","hand_ms":0}
{"at":"2026-07-11T0%d:30:00Z","entry":"start"}
{"at":"2026-07-11T0%d:31:00Z","entry":"end","result":"first","reason":"resign"}
`, i, i, i)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		succeeds(t, "table", "export", filepath.Join(dir, fmt.Sprintf("table-%d.jsonl", i)), "--event", "uccileague-fast", "--out", out)
	}
	if names := namesIn(t, out); names != "a-b0.PGN, a-b1.PGN" {
		t.Error(names)
	}
}

// TestExportsCountOnce: games of a match whose exports are read too, as files or from the data
// directory, count once, in lists, in what is learnt, and for a book. An export can still be
// shown by its own id.
func TestExportsCountOnce(t *testing.T) {
	match := gamesFile(t, "gomoku/freestyle-15", "h8", time.Date(2026, 11, 1, 12, 0, 30, 5e6, time.UTC), 3)
	text, err := os.ReadFile(match)
	if err == nil {
		err = os.WriteFile(match, bytes.ReplaceAll(text, []byte(`"arena"`), []byte(`"match"`)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, data := t.TempDir(), t.TempDir()
	succeeds(t, "records", "export", "--all", match, "--format", "psq", "--out", out)
	var exports []string
	for _, name := range strings.Split(namesIn(t, out), ", ") {
		exports = append(exports, filepath.Join(out, name))
	}
	if len(exports) != 3 {
		t.Fatal(exports)
	}
	listed := func(args ...string) int {
		t.Helper()
		return strings.Count(succeeds(t, append([]string{"records", "list"}, args...)...), "freestyle-15")
	}
	if n := listed(append(exports, match)...); n != 3 {
		t.Errorf("3 games of a match and their exports are %d", n)
	}
	if n := listed(exports...); n != 3 {
		t.Errorf("3 exports are %d games", n)
	}
	succeeds(t, "records", "import", "--data", data, match)
	imported := succeeds(t, append([]string{"records", "import", "--data", data}, exports...)...)
	if n := strings.Count(imported, "they count as one game"); n != 3 {
		t.Errorf("%d of 3 exports are recognised: %s", n, imported)
	}
	if n := listed("--data", data); n != 3 {
		t.Errorf("3 games of a match and their exports, imported, are %d", n)
	}
	id, _, _ := strings.Cut(imported, " ")
	for _, args := range [][]string{{"--data", data, id}, {id, match, exports[0], exports[1], exports[2]}} {
		succeeds(t, append([]string{"records", "show"}, args...)...)
		succeeds(t, append([]string{"records", "export", "--format", "psq", "-o", t.TempDir()}, args...)...)
	}
	if text := succeeds(t, append([]string{"book", "build", "--game", "gomoku", "--min-games", "1", "--out", filepath.Join(t.TempDir(), "b.book"), match}, exports...)...); !strings.Contains(text, "3 games counted, 3 in the book already") {
		t.Errorf("a book of them: %s", text)
	}
	c := &cobra.Command{}
	c.SetContext(t.Context())
	c.SetErr(io.Discard)
	n := 0
	if err := eachGame(c, append(exports, match), func(*record.Record) error { n++; return nil }); err != nil || n != 3 {
		t.Errorf("%d games are learnt from, %v", n, err)
	}
}
