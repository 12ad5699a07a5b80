package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/game/gametest"
	"sparring/internal/textlines"
	"sparring/record"
)

// stopAfter is an output that ends a context after some lines.
type stopAfter struct {
	gametest.Output
	lines int
	stop  context.CancelFunc
}

func (s *stopAfter) Write(p []byte) (int, error) {
	n, err := s.Output.Write(p)
	if s.Count("\n") >= s.lines {
		s.stop()
	}
	return n, err
}

// execute runs a command line whose context ends as Ctrl-C does, after some lines of
// output.
func execute(t *testing.T, lines int, args ...string) (out string, err error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	w := &stopAfter{lines: lines, stop: stop}
	root := commands()
	root.SetArgs(args)
	root.SetOut(w)
	root.SetErr(io.Discard)
	err = root.ExecuteContext(ctx)
	return w.String(), err
}

// TestAnalyseUntilStopped: without limits an analysis goes on until Ctrl-C, and then
// has its result, whatever engine searches.
func TestAnalyseUntilStopped(t *testing.T) {
	for _, args := range []string{
		"--game xiangqi", "--game gomoku --moves h8", "--game amazons --rules 6x6 --lines 2", "--game xiangqi --engine self:level=3",
		"--game xiangqi --engine uci:broken-engine,arg=fine",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, 1, append([]string{"analyse", "--json", "--hash", "1"}, strings.Fields(args)...)...)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out), "\n")
			for i, line := range lines {
				var v analysisView
				if err := json.Unmarshal([]byte(line), &v); err != nil {
					t.Fatal(err)
				}
				if v.Final != (i == len(lines)-1) || len(v.Lines) == 0 || len(v.Lines[0].PV) == 0 || v.Lines[0].Chance == nil || v.Depth < 1 {
					t.Errorf("line %d of %d: %s", i+1, len(lines), line)
				}
			}
		})
	}
}

// TestAnalyseInterrupted: of several positions those before Ctrl-C are printed, and
// the command says that others are missing.
func TestAnalyseInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "positions.txt")
	if err := os.WriteFile(file, []byte("moves h8\nmoves h8 h9\nmoves h8 h9 h10\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := execute(t, 8, "analyse", "--game", "gomoku", "--depth", "2", "--hash", "1", file)
	if err == nil || err.Error() != "interrupted after 1 of 3 positions" && err.Error() != "interrupted after 2 of 3 positions" {
		t.Errorf("%v", err)
	}
	if !strings.Contains(out, "line 1 ") || strings.Contains(out, "positions.txt:3") {
		t.Errorf("printed:\n%s", out)
	}
}

// TestPerftInterrupted: Ctrl-C ends a count.
func TestPerftInterrupted(t *testing.T) {
	const depth = "5" // takes a few seconds, during which the count goes on here
	if out, err := execute(t, 2, "perft", "--game", "xiangqi", "--depth", depth); !errors.Is(err, context.Canceled) || strings.Contains(out, "nodes") {
		t.Errorf("%v, printed:\n%s", err, out)
	}
}

// TestReviewInterrupted: a review that was interrupted after any of its searches comes
// to its end, and searches nothing twice.
func TestReviewInterrupted(t *testing.T) {
	dir := t.TempDir()
	game := filepath.Join(dir, "game.psq")
	if err := os.WriteFile(game, []byte("Piskvorky 15x15, 11:11, 0\n8,8,0\n9,8,0\n8,7,0\n9,7,0\n8,9,0\n1,1,0\na\nb\n15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keep := filepath.Join(dir, "keep.jsonl")
	review := func(ctx context.Context) (string, error) {
		var out bytes.Buffer
		root := commands()
		root.SetArgs([]string{"records", "analyse", game, "--depth", "2", "--hash", "1", "--json", "--keep", keep})
		root.SetOut(&out)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(ctx)
		return out.String(), err
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if out, err := review(stopped); !errors.Is(err, context.Canceled) || out != "" {
		t.Errorf("interrupted: %v, %s", err, out)
	}
	if _, err := review(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(keep)
	if err != nil {
		t.Fatal(err)
	}
	searches := strings.SplitAfter(string(whole), "\n")
	if len(searches) < 1+7 {
		t.Fatalf("kept:\n%s", whole)
	}
	for n := range searches {
		if err := os.WriteFile(keep, []byte(strings.Join(searches[:n], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := review(t.Context())
		if err != nil || strings.Count(out, `"ply":`) != 6 || strings.Count(out, `"best":`) != 6 {
			t.Errorf("after %d lines: %v: %s", n, err, out)
		}
		kept, err := os.ReadFile(keep)
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]bool{}
		for line := range strings.Lines(string(kept)) {
			question, _, _ := strings.Cut(line, `"lines":`)
			question, _, _ = strings.Cut(question, `"depth":`)
			if asked[question] {
				t.Errorf("after %d lines: searched twice: %s", n, line)
			}
			asked[question] = true
		}
	}
}

// TestAnnotatedInterrupted: an interrupted review writes the games that it has, but loses
// none that an earlier one has written.
func TestAnnotatedInterrupted(t *testing.T) {
	first, second := gamesFile(t, "gomoku/freestyle-15", "h8", time.Time{}, 1), filepath.Join(t.TempDir(), "game.psq")
	if err := os.WriteFile(second, []byte("Piskvorky 15x15, 11:11, 0\n1,1,0\n9,8,0\na\nb\n15\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	annotated := filepath.Join(t.TempDir(), "annotated.jsonl")
	review := func(lines int) {
		t.Helper()
		_, err := execute(t, lines, "records", "analyse", first, second, "--depth", "1", "--hash", "1", "--json",
			"--keep", filepath.Join(t.TempDir(), "keep.jsonl"), "--annotated", annotated)
		if want := "interrupted after 1 of 2 games; run the same command to resume"; lines == 1 && (err == nil || err.Error() != want) || lines > 2 && err != nil {
			t.Fatalf("stopped after line %d: %v", lines, err)
		}
	}
	has := func(want int) {
		t.Helper()
		games := 0
		for _, err := range record.File(annotated) {
			if err != nil {
				t.Fatal(err)
			}
			games++
		}
		if games != want {
			t.Errorf("annotated: %d games, want %d", games, want)
		}
	}
	review(1)
	has(1)
	review(1)
	has(1)
	review(3)
	has(2)
	review(1)
	has(2)
}

// TestOperationsOfEPD: the id of a position may have whatever its quotes allow.
func TestOperationsOfEPD(t *testing.T) {
	for operations, want := range map[string]string{
		`id "mate in one";`:            "mate in one",
		`id "mate; in one"; bm e0e1;`:  "mate; in one",
		`bm e0e1; id "a; id b; bm c";`: "a; id b; bm c",
		`id one;`:                      "one",
		`noop; c0 "a; id wrong;";`:     "",
	} {
		p, err := readPosition("xiangqi", "", "", "3k5/4R4/9/9/9/9/9/9/9/4K4 w - - "+operations)
		if err != nil || p.id != want || p.pos.String() != "3k5/4R4/9/9/9/9/9/9/9/4K4 w - - 0 1" {
			t.Errorf("%s: id %q, want %q; %v, %v", operations, p.id, want, p.pos, err)
		}
	}
}

// TestLongLine: a line that can be no position is told by its length.
func TestLongLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "long.epd")
	if err := os.WriteFile(file, []byte("# positions\n"+strings.Repeat("x", textlines.Max+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := execute(t, 0, "analyse", "--game", "xiangqi", "--nodes", "10", file)
	if err == nil || err.Error() != file+":2: "+textlines.ErrTooLong.Error() {
		t.Error(err)
	}
}
