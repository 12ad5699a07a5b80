package interchange

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"sparring/game"
	"sparring/game/clock"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/format/formattest"
)

// TestDetect: the format of every sample is recognized, in any
// charset, and imports to the same records each time.
func TestDetect(t *testing.T) {
	for _, f := range Formats() {
		files, err := filepath.Glob("../" + f.Name + "/testdata/*" + f.Ext)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", f.Name, len(files), err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := Decode(data)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if found, err := Detect(text); err != nil || found.Name != f.Name {
				t.Errorf("%s is recognized as %q, %v", file, found.Name, err)
			}
			gbk, err := format.Encode(text, format.GBK)
			if err != nil {
				t.Fatal(err)
			}
			first, err := formattest.All(Import(bytes.NewReader(data), format.ReadOptions{}))
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			second, err := formattest.All(Import(bytes.NewReader(gbk), format.ReadOptions{}))
			if err != nil || ids(first) != ids(second) {
				t.Errorf("%s in GBK: %s, want %s, %v", file, ids(second), ids(first), err)
			}
			for _, r := range first {
				if line, err := record.Encode(r); err != nil {
					t.Errorf("%s: %v of %s", file, err, line)
				}
			}
		}
	}
}

func ids(records []*record.Record) string {
	var s []string
	for _, r := range records {
		s = append(s, r.ID)
	}
	return strings.Join(s, " ")
}

func TestExport(t *testing.T) {
	games := map[string]string{"gomoku": "gomoku/freestyle-15", "amazons": "amazons/10x10", "xiangqi": "xiangqi/simple"}
	for _, f := range Formats() {
		for name, rules := range games {
			r := formattest.Random(t, rules, "", 4, 30)
			var out bytes.Buffer
			err := Export(&out, strings.ToUpper(f.Name), []*record.Record{r}, format.WriteOptions{Charset: format.GBK})
			if !slices.Contains(f.Games, name) {
				if !errors.Is(err, format.ErrCannot) || out.Len() > 0 {
					t.Errorf("%s of %s: %v", f.Name, name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s of %s: %v", f.Name, name, err)
				continue
			}
			back, err := formattest.All(Import(&out, format.ReadOptions{}))
			if err != nil || len(back) != 1 || len(back[0].Plies) != 30 || back[0].Game != name || format.Name(back[0].Seats[1]) != "北理工 二队" {
				t.Errorf("%s of %s: %v", f.Name, name, err)
			}
		}
	}
}

// TestCopies: an export of a game is recognised in every format, also one with an opening
// procedure that the format does not have, and next to another export of it. Other games are
// not, and no record but an imported one ever is.
func TestCopies(t *testing.T) {
	read := func(f format.Format, r *record.Record) *record.Record {
		t.Helper()
		var out bytes.Buffer
		d := *r
		d.Event = "another title"
		if err := Export(&out, f.Name, []*record.Record{&d}, format.WriteOptions{}); err != nil {
			t.Fatal(f.Name, err)
		}
		back, err := formattest.All(Import(&out, format.ReadOptions{}))
		if err != nil || len(back) != 1 {
			t.Fatalf("%s: %d games, %v", f.Name, len(back), err)
		}
		return back[0]
	}
	distinct := func(imported ...*record.Record) (n int) {
		var copies format.Copies
		for _, r := range imported {
			copies.NoteImport(r)
		}
		for _, r := range imported {
			if copies.Of(r) == "" {
				n++
			}
		}
		return n
	}
	tried := 0
	for _, rules := range []string{"gomoku/freestyle-15", "gomoku/renju-15+swap2", "amazons/10x10", "xiangqi/simple", "xiangqi/wxf"} {
		r := formattest.Random(t, rules, "", 6, 40)
		r.Start = r.Start.Add(17*time.Second + 123*time.Millisecond)
		r.Seats[0] = record.Seat{Player: "self:nodes=2000"} // as in a match
		r.Source.By = record.ByMatch
		other := *r
		other.ID, other.Result = "g-2", game.Draw
		later := *r
		later.ID, later.Start = "g-3", r.Start.Add(48*time.Hour)
		stranger := *r
		stranger.ID, stranger.Seats = "g-4", [2]record.Seat{r.Seats[1], r.Seats[0]}
		longer := *r
		longer.ID, longer.Plies = "g-5", r.Plies[:len(r.Plies)-1]
		var known format.Copies
		known.Note(r)
		var exported []*record.Record
		for _, f := range Formats() {
			if !slices.Contains(f.Games, r.Game) {
				continue
			}
			back := read(f, r)
			exported = append(exported, back)
			if got := known.Of(back); got != r.ID {
				t.Errorf("%s of %s: a copy of %q, want %s", f.Name, rules, got, r.ID)
			}
			for _, no := range []*record.Record{&other, &later, &stranger, &longer} {
				if got := known.Of(read(f, no)); got != "" {
					t.Errorf("%s of %s: game %s is taken for %s", f.Name, rules, no.ID, got)
				}
				tried++
			}
		}
		again := *r
		again.ID = "g-6"
		if got := known.Of(&again); got != "" {
			t.Errorf("%s: a record of a match is taken for a copy of %s", rules, got)
		}
		if n := distinct(exported...); n != 1 {
			t.Errorf("%s: %d exports of one game are %d games", rules, len(exported), n)
		}
	}
	if tried < 20 {
		t.Errorf("%d other games tried", tried)
	}

	// A file with the day alone does not stand for two games of that day.
	r := formattest.Random(t, "xiangqi/simple", "", 6, 40)
	second := *r
	second.Start = r.Start.Add(time.Hour)
	byName := func(name string) format.Format { f, _ := Find(name); return f }
	if n := distinct(read(byName("sgf"), r), read(byName("pgn"), r), read(byName("pgn"), &second)); n != 2 {
		t.Errorf("two games of a day are %d", n)
	}
}

// TestClockKinds: records and every format that has clocks keep a clock of
// every kind.
func TestClockKinds(t *testing.T) {
	rules := map[string]string{"pgn": "xiangqi/simple", "psq": "gomoku/freestyle-15", "sgf": "amazons/10x10"}
	for _, k := range clock.Kinds() {
		c, err := clock.Parse(k.Example())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Formats() {
			if f.Name == "ccgc" {
				continue // has no clocks
			}
			r := formattest.Random(t, rules[f.Name], "", 1, 6)
			r.Clock = c
			if back := formattest.RoundTrip(t, f, format.WriteOptions{}, r); back[0].Clock != c {
				t.Errorf("%s: %s comes back as %s", f.Name, c, back[0].Clock)
			}
			line, err := record.Encode(r)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := record.Decode(line); err != nil || back.Clock != c {
				t.Errorf("JSON: %s comes back as %+v, %v", c, back, err)
			}
		}
	}
}

// TestDamagedAmongGood: a damaged game is reported and the others are read.
func TestDamagedAmongGood(t *testing.T) {
	for _, x := range []struct {
		name, text string
		good, bad  int
	}{
		{"sgf, illegal", "(;GM[4];B[hh])\n(;GM[4];B[hh];W[hh])\n(;GM[4];B[hi])", 2, 1},
		{"sgf, syntax", "(;GM[4];B[hh])\n(;GM[4];B[hh];W)\n(;GM[4];B[hi])", 1, 1},
		{"psq, illegal", "Piskvorky 15x15, 0:0, 0\n8,8,0\nPiskvorky 15x15, 0:0, 0\n8,8,0\n8,8,0\nPiskvorky 15x15, 0:0, 0\n8,9,0\n", 2, 1},
		{"psq, board", "Piskvorky 15x15, 0:0, 0\n8,8,0\nPiskvorky 9x9, 0:0, 0\n8,8,0\n8,8,0\nPiskvorky 15x15, 0:0, 0\n8,9,0\n", 2, 1},
		{"ccgc, illegal", "{[C5][a][b];B(H,8)}\n{[C5][a][b];B(H,8);W(H,8)}\n{[C5][a][b];B(H,9)}\n", 2, 1},
		{"ccgc, syntax", "{[C5][a][b];B(H,8)}\n{[C5][a][b];B(H;W(H,8)}\n{[C5][a][b];B(H,9)}\n", 2, 1},
		{"ccgc, code", "#[AM][a][b];\n1 d1d7(g7)\n#[XX][a][b];\n1 d1d7(g7)\n#[AM][a][b];\n1 d1d6(g6)\n", 2, 1},
		{"pgn, illegal", "[Game \"Chinese Chess\"]\n1. h2e2 *\n[Game \"Chinese Chess\"]\n1. h2e9 *\n[Game \"Chinese Chess\"]\n1. h2d2 *\n", 2, 1},
		{"pgn, syntax", "[Game \"Chinese Chess\"]\n1. h2e2 *\n\n[Game \"Chinese Chess\"]\n[Red \"x]\n1. h2e2 *\n\n[Game \"Chinese Chess\"]\n1. h2d2 *\n", 2, 1},
	} {
		good, bad := 0, 0
		for r, err := range Import(strings.NewReader(x.text), format.ReadOptions{}) {
			var where *format.Error
			switch {
			case err == nil && len(r.Plies) == 1:
				good++
			case errors.As(err, &where) && where.Game == 2:
				bad++
			default:
				t.Errorf("%s: %v", x.name, err)
			}
		}
		if good != x.good || bad != x.bad {
			t.Errorf("%s: %d games and %d errors, want %d and %d", x.name, good, bad, x.good, x.bad)
		}
	}
}

// TestCharsets: names come back from a file in the charset that its CA names.
func TestCharsets(t *testing.T) {
	for name, player := range map[string]string{"Big5": "乙許功", "GB18030": "乙表", "Shift_JIS": "中村ソ表", "EUC-KR": "김수찬", "ISO-8859-1": "Jürgen Müller", "UTF-8": "乙 ü"} {
		e, err := htmlindex.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := e.NewEncoder().Bytes([]byte("(;FF[4]GM[4]CA[" + name + "]PB[" + player + "]PW[x];B[hh])"))
		if err != nil {
			t.Fatal(err)
		}
		games, err := formattest.All(Import(bytes.NewReader(data), format.ReadOptions{}))
		if err != nil || format.Name(games[0].Seats[0]) != player {
			t.Errorf("%s: %+v, %v", name, games, err)
		}
	}
}

// TestPlayedOn: a game that its arbiter let go on after an end by the rules is written in
// full, and read again: after a third repetition under the rule set without it, after a draw for
// want of material, which every set has, with a text that says so.
func TestPlayedOn(t *testing.T) {
	for _, x := range []struct {
		position, moves string
		rules, text     string // when read again
	}{
		{"", strings.TrimSpace(strings.Repeat("a0a1 a9a8 a1a0 a8a9 ", 4)), "xiangqi/wxf+repetition=none", ""},
		{"3k5/3ra4/9/9/9/9/9/9/3RA4/4K4 w - - 0 1", "d1d8 d9d8 e1f2 d8d9 f2e1", "xiangqi/wxf",
			"the rules say draw (insufficient-material) after ply 2; the game went on"},
		{"4k4/9/9/9/9/9/9/9/9/3K5 b - - 0 1", "e9e8 d0d1", "xiangqi/wxf", "the rules say draw (insufficient-material) after ply 0; the game went on"},
	} {
		for reason, result := range map[game.Reason]game.Result{"agreement": game.Draw, "time": game.FirstWins, "resign": game.SecondWins} {
			r := &record.Record{V: record.Version, ID: "g", Game: "xiangqi", Rules: "xiangqi/wxf", Position: x.position, Result: result, Reason: reason,
				Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}}, Source: record.Source{By: record.ByArena}}
			seat := game.First
			if strings.Contains(x.position, " b ") {
				seat = game.Second
			}
			for _, m := range strings.Fields(x.moves) {
				r.Plies = append(r.Plies, record.Ply{Seat: seat, Move: m})
				seat = seat.Other()
			}
			for _, name := range []string{"pgn", "sgf", "pgn"} { // the second time from what was read
				var out bytes.Buffer
				if err := Export(&out, name, []*record.Record{r}, format.WriteOptions{}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				back, err := formattest.All(Import(&out, format.ReadOptions{}))
				if err != nil || len(back) != 1 {
					t.Fatalf("%s: %d games, %v", name, len(back), err)
				}
				got := back[0]
				if formattest.Moves(got) != x.moves || got.Rules != x.rules || got.Result != result || got.Text != x.text {
					t.Errorf("%s, %s: %s, %s, %s, %q", name, reason, formattest.Moves(got), got.Rules, got.Result, got.Text)
				}
				r = got
			}
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := Find("gif"); !errors.Is(err, format.ErrUnknown) || !strings.Contains(err.Error(), "ccgc, pgn, psq, sgf") {
		t.Error(err)
	}
	if err := Export(&bytes.Buffer{}, "gif", nil, format.WriteOptions{}); !errors.Is(err, format.ErrUnknown) {
		t.Error(err)
	}
	if err := Export(&bytes.Buffer{}, "sgf", nil, format.WriteOptions{Charset: "ebcdic"}); !errors.Is(err, format.ErrCannot) {
		t.Error(err)
	}
	for text, want := range map[string]error{
		"":                    format.ErrUnknown,
		"hello":               format.ErrUnknown,
		"\xff\xff\xff":        format.ErrSyntax,
		"\xef\xbb\xbf\xff":    format.ErrSyntax,
		"(;GM[4]SZ[15];B[hh]": format.ErrSyntax,
	} {
		if _, err := formattest.All(Import(strings.NewReader(text), format.ReadOptions{})); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if _, err := formattest.All(Import(strings.NewReader(strings.Repeat(" ", MaxFile+1)), format.ReadOptions{})); !errors.Is(err, format.ErrSyntax) {
		t.Error(err)
	}
}

func TestFileName(t *testing.T) {
	r := formattest.Random(t, "amazons/10x10", "", 4, 30)
	r.Seats[0].Player = `a/b\c:d`
	for name, want := range map[string]string{
		"sgf":  "g-1.sgf",
		"ccgc": "AM-a_b_c_dB vs 北理工 二队W-后手胜-20260803 2230 沈阳-CCGC 2026.txt",
	} {
		f, err := Find(name)
		if got := FileName(f, r); err != nil || got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	r.Event = strings.Repeat("赛", 200)
	f, _ := Find("ccgc")
	if got := FileName(f, r); len(got) > 255 || !strings.HasSuffix(got, ".txt") {
		t.Errorf("%q", got)
	}
}
