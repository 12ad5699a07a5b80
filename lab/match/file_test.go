package match

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sparring/game"
	"sparring/record"
)

// TestLongestGame: a game of as many moves as a record may have, each with as long a
// principal variation as our search finds, can be read again, with all that was played.
func TestLongestGame(t *testing.T) {
	p := planOf(t, "nodes=10", map[string]script{"a": steady, "b": drawn}, "a", "b")
	path := filepath.Join(t.TempDir(), "long.jsonl")
	file, err := OpenFile(path, &p.Terms)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	g := &Game{Match: GameInfo{Pair: 1, Leg: 1, Opening: 1, Players: [2]int{0, 1}}}
	g.Record = record.Record{V: record.Version, ID: "g1", Game: "xiangqi", Rules: "xiangqi/wxf+limit=none+repetition=none",
		Result: game.Draw, Source: record.Source{By: record.ByMatch}}
	line := slices.Repeat([]string{"h2e2", "h9g7"}, 64)
	for i := range record.MaxPlies {
		g.Plies = append(g.Plies, record.Ply{Seat: game.Seat(i % 2), Move: line[i%2], Think: &record.Think{Depth: i, PV: line}})
	}
	if b, err := json.Marshal(g); err != nil || len(b) <= record.MaxLine {
		t.Fatalf("%d bytes, %v: not too long for a line", len(b), err)
	}
	if err := file.Append(g); err != nil {
		t.Fatal(err)
	}
	if n := len(g.Plies[0].Think.PV); n != len(line) {
		t.Errorf("the game itself has %d moves of a line now", n)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	file, err = OpenFile(path, &p.Terms)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	games := file.Games()
	if len(games) != 1 || len(games[0].Plies) != record.MaxPlies {
		t.Fatalf("%d games", len(games))
	}
	for i, ply := range games[0].Plies {
		if ply.Move != line[i%2] || ply.Think == nil || ply.Think.Depth != i || len(ply.Think.PV) < 32 || !slices.Equal(ply.Think.PV, line[:len(ply.Think.PV)]) {
			t.Fatalf("ply %d: %+v, %+v", i+1, ply, ply.Think)
		}
	}
}

// TestUnfitLines: a line that is no game of the match, or one that is there already, is named
// when the file is opened.
func TestUnfitLines(t *testing.T) {
	p := planOf(t, "nodes=10", map[string]script{"a": steady, "b": drawn}, "a", "b")
	path := filepath.Join(t.TempDir(), "m.jsonl")
	file, err := OpenFile(path, &p.Terms)
	if err != nil {
		t.Fatal(err)
	}
	p.Games, p.File = 2, file
	_, err = Run(t.Context(), p)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for added, want := range map[string]string{
		"":       "",
		lines[2]: "line 4: pair 1, leg 2: this game is there already",
		lines[0]: "line 4: the settings of a match again: each match has a file of its own",
		strings.Replace(lines[1], `"players":[0,1]`, `"players":[0,2]`, 1): "line 4: players [0 2] of 2: not a game of this match",
		strings.Replace(lines[1], `"leg":1`, `"leg":3`, 1):                 "line 4: pair 1, leg 3: not a game of this match",
	} {
		if err := os.WriteFile(path, append(whole[:len(whole):len(whole)], added...), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := OpenFile(path, &p.Terms)
		if err == nil {
			file.Close()
		}
		_, _, read := ReadFile(path)
		for _, err := range []error{err, read} {
			if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}
