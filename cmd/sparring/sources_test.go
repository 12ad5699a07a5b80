package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"sparring/record/format"
)

// TestCheckOutput: what a file can't be written to is refused before the work; nothing
// that is no file, such as a device, is replaced by one, and neither are games nor a
// source.
func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source := write("game.sgf", "(;GM[4])")
	closed := "/proc" // where nobody may write, root included
	if !isDir(closed) {
		closed = filepath.Join(dir, "closed")
		if err := os.Mkdir(closed, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	for path, says := range map[string]string{
		"": "", "-": "", filepath.Join(dir, "new"): "",
		write("old.html", "<!DOCTYPE html>"): "", write("weights.json", `{"rules":"freestyle","match":[]}`): "",
		source: "is what is read",
		write("match.jsonl", `{"match":1,"id":"m1"}`+"\n"):                                            "has games",
		write("records.jsonl", `{"v":1,"id":"g1","game":"gomoku","seats":[{},{}]}`+"\n"):              "has games",
		write("utf16.jsonl", utf16(t, `{"v":1,"id":"g1","game":"gomoku","seats":[{},{}]}`+"\r\n")):    "has games",
		write("marked.jsonl", byteOrderMark+`{"v":1,"id":"g1","game":"gomoku","seats":[{},{}]}`+"\n"): "has games",
		dir:                           "is a folder, want a file",
		filepath.Join(dir, "no", "x"): "there is no folder " + filepath.Join(dir, "no"),
		filepath.Join(closed, "x"):    "--out: open " + filepath.Join(closed, "x") + ": ",
		socket:                        "is a device or the like, want a file",
	} {
		if err := checkOutput("--out", path, source); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", path, err, says)
		}
	}
}

// TestCheckAnnotated: the records of --annotated replace those of an earlier run and no
// others, neither those that are read nor the games of a match.
func TestCheckAnnotated(t *testing.T) {
	dir := t.TempDir()
	const game = `{"v":1,"id":"g1","game":"gomoku","rules":"gomoku/freestyle-15","clock":"unlimited","rated":false,"seats":[{"player":"a"},{"player":"b"}],` +
		`"result":"none","source":{"by":"match"},"plies":[{"seat":"first","move":"h8"COMMENT}]}` + "\n"
	played, annotated := strings.Replace(game, "COMMENT", "", 1), strings.Replace(game, "COMMENT", `,"comment":"quick. First 52 %."`, 1)
	for name, text := range map[string]string{
		"data/records/bot.jsonl": annotated, "folder [1]/a.jsonl": annotated, "old.jsonl": played + annotated, "plain.jsonl": played,
		"match.jsonl": `{"match":1}` + "\n" + annotated,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, says := range map[string]string{
		"new.jsonl": "", "old.jsonl": "", "folder [1]/new.jsonl": "",
		"plain.jsonl": "has games that it was not written from", "match.jsonl": "has games that it was not written from",
		"folder [1]/a.jsonl": "is what is read", "data/records/bot.jsonl": "is what is read",
	} {
		err := checkAnnotated(filepath.Join(dir, name), "an-id", filepath.Join(dir, "folder [1]"), filepath.Join(dir, "data"))
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
}

// byteOrderMark is that of a text in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// utf16 returns a text as a shell of Windows writes it.
func utf16(t *testing.T, text string) string {
	t.Helper()
	out, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGamesFromAPipe: of the games that another program sends, as in <(zcat games.gz), the
// first is read like the others, whatever the form.
func TestGamesFromAPipe(t *testing.T) {
	const game = `{"v":1,"id":"ID","game":"gomoku","rules":"gomoku/freestyle-15","clock":"unlimited","rated":false,` +
		`"seats":[{"player":"a"},{"player":"b"}],"result":"none","source":{"by":"match"},"plies":[]}` + "\n"
	for name, text := range map[string]string{
		"records":                        strings.Replace(game, "ID", "g1", 1) + strings.Replace(game, "ID", "g2", 1),
		"records with a byte-order mark": byteOrderMark + strings.Replace(game, "ID", "g1", 1) + strings.Replace(game, "ID", "g2", 1),
		"records in UTF-16":              utf16(t, strings.Replace(game, "ID", "g1", 1)+strings.NewReplacer("ID", "g2", `"a"`, `"马"`).Replace(game)),
		"sgf in UTF-16":                  utf16(t, "(;GM[4]SZ[15];B[hh])(;GM[4]SZ[15]PB[马];B[gg])"),
		"sgf":                            "(;GM[4]SZ[15];B[hh])(;GM[4]SZ[15];B[gg])",
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			path := fmt.Sprintf("/dev/fd/%d", r.Fd())
			if _, err := os.Stat(path); err != nil {
				t.Skip(err)
			}
			if _, err := w.WriteString(text); err != nil { // it fits into the pipe
				t.Fatal(err)
			}
			w.Close()
			games, err := gamesIn(nil, path, format.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, err := range games {
				if err != nil {
					t.Error(err)
				}
				n++
			}
			if n != 2 {
				t.Errorf("%d games, want 2", n)
			}
		})
	}
}

// TestStandardInputAsSource: wherever games are read, "-" is a file of them, in any form.
func TestStandardInputAsSource(t *testing.T) {
	path := gamesFile(t, "gomoku/freestyle-15", "h8", time.Time{}, 4)
	records, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for args, want := range map[string]string{
		"records list SOURCE": "g3 ", "records show g2 SOURCE": "game      g2", "records export g1 SOURCE --format sgf": "B[hh]",
		"records export --all --player a SOURCE --format sgf --out " + dir + "/all/": "g3.sgf",
		"records import SOURCE --data " + dir + "/data":                              "g3  ",
		"records replay SOURCE":                                                 "",
		"records analyse SOURCE --nodes 10":                                     "game      g3",
		"records report SOURCE --html " + dir + "/r.html":                       "",
		"weaknesses --player a --analyse nodes=10 SOURCE":                       "a, 1 game,",
		"analyse --record g1 --ply 0 --nodes 10 SOURCE":                         "gomoku/freestyle-15",
		"book build --game gomoku --out " + dir + "/b SOURCE":                   "4 games counted",
		"learn tune --game gomoku --rules freestyle --out " + dir + "/t SOURCE": "1 of 1 games",
	} {
		var outs, errs [2]string
		for i, source := range []string{path, "-"} {
			var out, err bytes.Buffer
			run(strings.Fields(strings.ReplaceAll(args, "SOURCE", source)), bytes.NewReader(records), &out, &err)
			outs[i], errs[i] = out.String(), err.String()
			if err := os.RemoveAll(dir); err != nil { // the next one finds what this one found
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.Contains(outs[1]+errs[1], want) || errs[0] != errs[1] {
			t.Errorf("%s:\n%s%s\nfrom the standard input:\n%s%s", args, outs[0], errs[0], outs[1], errs[1])
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"records", "list", "-"}, strings.NewReader("(;GM[4]SZ[15];B[hh])"), &out, &errs); code != 0 || !strings.Contains(out.String(), "gomoku/freestyle-15") {
		t.Errorf("sgf: code %d, %s%s", code, &out, &errs)
	}
	if got := sourcesText(&archive{}, []string{path, "-"}); got != "games.jsonl, standard input" {
		t.Errorf("a report is about the games of %s", got)
	}
	out.Reset()
	if code := run([]string{"records", "list", "-"}, strings.NewReader("no games"), &out, &errs); code != 1 || !strings.Contains(errs.String(), "standard input: unknown format") {
		t.Errorf("no games: code %d, %s%s", code, &out, &errs)
	}
}

// TestFolderOfOtherFiles: a folder in which no file has records, as one of exported games, is
// refused, not read as one without games. One in which nothing was written yet has none.
func TestFolderOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"exported", "empty", "data/records", "data/table", "packed"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"exported/a.sgf", "exported/b.pgn", "packed/a.jsonl.zst"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, refused := range map[string]bool{"exported": true, "empty": false, "data": false, "packed": false} {
		_, err := gamesIn(nil, filepath.Join(dir, name), format.ReadOptions{})
		if (err != nil) != refused || err != nil && !strings.Contains(err.Error(), "of other programs' files give each") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCampaignAsSource: the folder of a campaign stands for its games, not for its journal, and
// a pattern that also names the locks beside the games reads no less.
func TestCampaignAsSource(t *testing.T) {
	const game = `{"v":1,"id":"g1","game":"gomoku","rules":"gomoku/freestyle-15","clock":"unlimited","rated":false,"seats":[{"player":"a"},{"player":"b"}],` +
		`"result":"none","source":{"by":"match"},"plies":[{"seat":"first","move":"h8"}]}` + "\n"
	folder := filepath.Join(t.TempDir(), "night.campaign")
	if err := os.MkdirAll(filepath.Join(folder, "games"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"campaign.jsonl": `{"campaign":1,"name":"night"}` + "\n", "campaign.jsonl.lock": "", "games/m.jsonl.lock": "",
		"games/m.jsonl": `{"match":1}` + "\n" + game,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, sources := range [][]string{{folder}, {filepath.Join(folder, "games", "m.jsonl"), filepath.Join(folder, "games", "m.jsonl.lock")}} {
		var ids []string
		for r, err := range inSources(nil, sources) {
			if err != nil {
				t.Errorf("%s: %v", sources, err)
				break
			}
			ids = append(ids, r.ID)
		}
		if len(ids) != 1 {
			t.Errorf("%s: games %q, want one", sources, ids)
		}
	}
	if err := checkOutput("--html", filepath.Join(folder, "games", "m.jsonl"), folder); err == nil {
		t.Error("a report may replace the games of a campaign")
	}
}

// TestOneFileForTwoFlags: no command writes two things to one file, of which the second
// replaces the first: an evening of searches, or half of an experiment.
func TestOneFileForTwoFlags(t *testing.T) {
	dir := t.TempDir()
	here, err := filepath.Abs("here")
	if err != nil {
		t.Fatal(err)
	}
	file, source := filepath.Join(dir, "file"), gamesFile(t, "gomoku/freestyle-15", "h8", time.Time{}, 1)
	for _, args := range []string{
		"records analyse SOURCE --keep FILE --annotated FILE", "records report SOURCE --analyse nodes=1 --keep FILE --html FILE",
		"weaknesses SOURCE --player a --analyse nodes=1 --keep FILE --positions FILE", "weaknesses SOURCE --player a --positions FILE --control " + dir + "/./file",
		"openings judge SOURCE --engine self --json FILE --out FILE", "learn tune SOURCE --game xiangqi --keep FILE --out FILE",
		"match --game xiangqi --a self:nodes=1 --b self:nodes=1 --json FILE.svg --plot FILE.svg",
		"learn spsa --game gomoku --engine self:nodes=1 --param LMPBase=4,1,16,2 --keep FILE.svg --plot FILE.svg",
		"levels calibrate --game gomoku --out FILE.svg --plot FILE.svg", "records analyse SOURCE --keep here --annotated " + here,
	} {
		var out, errs bytes.Buffer
		code := run(strings.Fields(strings.NewReplacer("SOURCE", source, "FILE", file).Replace(args)), strings.NewReader(""), &out, &errs)
		left, err := filepath.Glob(file + "*")
		if code != exitUsage || !strings.Contains(errs.String(), " are one file: ") || len(left) > 0 || err != nil {
			t.Errorf("%s: code %d, %s", args, code, &errs)
		}
	}
}

// TestInterruptedInput: Ctrl-C ends a command that waits for its standard input, as on a
// openTerminal where nobody types.
func TestInterruptedInput(t *testing.T) {
	silent, hand, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer hand.Close()
	for _, args := range []string{"analyse --game gomoku --nodes 1 -", "openings convert --game gomoku -", "records list -"} {
		ctx, cancel := context.WithCancel(t.Context())
		c := commands()
		c.SetArgs(strings.Fields(args))
		c.SetIn(silent)
		cancel()
		if err := c.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want that of the context", args, err)
		}
	}
}

// TestEditedText: editors of Windows begin UTF-8 with a byte-order mark, or write GBK.
func TestEditedText(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"utf-8.txt": "\xef\xbb\xbfHEAD炮二平五 马２进１ TAIL", "gbk.txt": "HEAD\xc5\xda\xb6\xfe\xc6\xbd\xce\xe5 \xc2\xed\xa3\xb2\xbd\xf8\xa3\xb1 TAIL",
	} {
		for what, c := range map[string]struct{ head, tail, args, says string }{
			"book":      {"sparring book 1 xiangqi\nh2e2 b9a7 = 1 0 0 # ", "\n", "book import FILE --out " + filepath.Join(dir, name+".book"), ""},
			"positions": {"moves ", "\n", "analyse --game xiangqi --notation chinese --nodes 50 --hash 1 FILE", "line 1"},
		} {
			path := filepath.Join(dir, what+"-"+name)
			if err := os.WriteFile(path, []byte(strings.NewReplacer("HEAD", c.head, "TAIL", c.tail).Replace(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if code := run(strings.Fields(strings.Replace(c.args, "FILE", path, 1)), strings.NewReader(""), &out, &errs); code != 0 || !strings.Contains(out.String(), c.says) {
				t.Errorf("%s in %s: code %d, %s%s", what, name, code, &out, &errs)
			}
		}
	}
}
