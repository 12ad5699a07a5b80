package event

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"sparring/configs"
	"sparring/game"
	"sparring/lab/match/openings"
	"sparring/record"
	"sparring/record/interchange"
)

// TestShippedEvents: every shipped event can be read, has a dated source, and can be
// recorded in its format. Where it wants our openings, there are some for its rules.
func TestShippedEvents(t *testing.T) {
	names, err := Names(configs.Events())
	if err != nil || len(names) == 0 {
		t.Fatalf("%d events, %v", len(names), err)
	}
	for _, name := range names {
		e, err := Find(name, configs.Events())
		if err != nil {
			t.Error(err)
			continue
		}
		if !Named(name) || e.Name != name || e.Title == "" || len(e.Sources) == 0 || e.Record.Format == "" {
			t.Errorf("%s: %+v", name, e)
		}
		if e.Clock == nil && !strings.Contains(strings.Join(e.Uncertain, " "), "clock") {
			t.Errorf("%s: does not say that its clock is not known", name)
		}
		if _, err := interchange.Find(e.Record.Format); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if e.Openings == "shipped" {
			if _, _, err := openings.Find(configs.Openings(), e.Rules.Name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestFaultyFiles: a bad file gives one error, with the line and the key.
func TestFaultyFiles(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "e.yaml: the file is empty"},
		{"rules: wxf\n", "e.yaml: game is required"},
		{"- game\n", "e.yaml: line 1: want keys with values"},
		{"game: xiangqi\nclok: 300\n", `e.yaml: line 2: no key "clok" (have clock, game, margin, max-plies, memory, move, openings, penalties, place, record, rules, sources, title, uncertain)`},
		{"game: xiangqi\nclock: 300\nclock: 400\n", "e.yaml: line 3: clock is given twice"},
		{"game: chess\n", "e.yaml: line 1: rules: "},
		{"game: xiangqi\nrules: renju-15\n", "e.yaml: line 2: rules: "},
		{"game: xiangqi\nclock: soon\n", `e.yaml: line 2: clock: clock "soon": `},
		{"game: xiangqi\nclock: [1]\n", "e.yaml: line 2: clock: "},
		{"game: xiangqi\nmove: 30\n", `e.yaml: line 2: move: "30": want a time such as 200ms or 30s`},
		{"game: xiangqi\nmargin: -1s\n", `e.yaml: line 2: margin: "-1s": want a time`},
		{"game: xiangqi\nmax-plies: 0\n", `e.yaml: line 2: max-plies: "0": want a number of at least 1`},
		{"game: xiangqi\npenalties: none\n", "e.yaml: line 2: penalties: want a list with something in it"},
		{"game: xiangqi\nrecord: pgn\n", "e.yaml: line 2: want keys with values"},
		{"game: xiangqi\nrecord:\n  format: xml\n", `e.yaml: line 3: format: unknown format "xml"`},
		{"game: xiangqi\nrecord:\n  format: psq\n", "e.yaml: record: format psq can't represent games of xiangqi"},
		{"game: xiangqi\nrecord:\n  moves: english\n", `e.yaml: line 3: moves: "english": want iccs, wxf, chinese`},
		{"game: xiangqi\nrecord:\n  charset: big5\n", `e.yaml: line 3: charset: "big5": want utf-8, gbk`},
		{"game: xiangqi\nrecord:\n  file: \"{red}.pgn\"\n", "e.yaml: line 3: file: no word {red} (have {first}, "},
		{"game: xiangqi\nrecord:\n  file: ../{id}.pgn\n", "e.yaml: line 3: file: want a name with words in braces"},
		{"game: xiangqi\nsources:\n  - date: 2024-05-17\n", "e.yaml: line 3: sources: want the date and what the source says"},
		{"game: xiangqi\nsources:\n  - date: May\n", `e.yaml: line 3: date: "May": want a day such as 2024-05-17`},
		{"game: [\n", "e.yaml: line "},
	} {
		_, err := Parse([]byte(c.text), "e.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestFind: shipped names work anywhere, and files have paths.
func TestFind(t *testing.T) {
	folder := fstest.MapFS{"cup.yaml": {Data: []byte("game: xiangqi\nmargin: 0s\nclock: 60\n")}}
	e, err := Find("cup", folder)
	if err != nil || e.Name != "cup" || e.Rules.Game != "xiangqi" || e.Margin == nil || *e.Margin != 0 || e.Clock.String() != "60" || e.Move != 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	for _, name := range []string{"cups", "../cup", ""} {
		if _, err := Find(name, folder); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "My cup.yaml")
	if err := os.WriteFile(path, []byte("game: gomoku\nrules: renju-15\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if e, err := Find(path, folder); err != nil || e.Name != "My cup" || e.Rules.Name != "gomoku/renju-15" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := Find(path+".yml", folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for text, named := range map[string]bool{"ccgc-xiangqi": true, "./x.yaml": true, "2026 CCGC": false, "全国赛": false, "Cup": false} {
		if Named(text) != named {
			t.Errorf("Named(%q) is %v", text, !named)
		}
	}
}

func TestTitlesAndFileNames(t *testing.T) {
	start := time.Date(2026, 7, 11, 2, 30, 0, 0, time.UTC)
	if got := TitleAt("{year} CCGC", start); got != "2026 CCGC" {
		t.Errorf("title %q", got)
	}
	if got := TitleAt("Gomocup {year}", time.Time{}); got != "Gomocup" {
		t.Errorf("title without a date %q", got)
	}
	g := &record.Record{ID: "g1", Start: start, Result: game.Draw, Seats: [2]record.Seat{{Player: "p1", Display: "红"}, {Player: "a/b"}}}
	if got := (Record{File: "{first}-{second}{n} {date} {time} {result} {id}.PGN"}).FileName(g, 3); got != "红-a_b3 2026-07-11 0230 draw g1.PGN" {
		t.Errorf("file name %q", got)
	}
	if got := (Record{}).FileName(g, 0); got != "" {
		t.Errorf("file name without a template %q", got)
	}
}
