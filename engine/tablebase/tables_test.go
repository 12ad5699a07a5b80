package tablebase

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	rules "sparring/game/xiangqi"
)

// built builds sets in a temporary directory.
func built(t *testing.T, names ...string) (dir string, sets []Set) {
	t.Helper()
	for _, name := range names {
		sets = append(sets, set(t, name))
	}
	return builtSets(t, sets), sets
}

func builtSets(t *testing.T, sets []Set) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := Build(t.Context(), dir, sets, Options{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// made builds tables and opens them.
func made(t *testing.T, sets ...Set) *Tables {
	t.Helper()
	return opened(t, builtSets(t, sets))
}

func set(t *testing.T, name string) Set {
	t.Helper()
	s, err := ParseSet(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// opened opens tables without damage.
func opened(t *testing.T, dir string) *Tables {
	t.Helper()
	tables, err := Open(dir, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tables.Close() })
	return tables
}

func board(t *testing.T, fen string) *rules.Board {
	t.Helper()
	b, err := rules.ParseFEN(fen)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOracle compares the tables with the figures of another program: legal
// positions, wins and the longest win with Red to move.
func TestOracle(t *testing.T) {
	f, err := os.Open("testdata/xiangqi-endgames.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type row struct {
		set  string
		want Stats
	}
	var rows []row
	for in := bufio.NewScanner(f); in.Scan(); {
		fields := strings.Split(in.Text(), "\t")
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		var n [3]int
		for i := range n {
			if n[i], err = strconv.Atoi(fields[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, row{fields[0], Stats{Legal: n[0], Won: n[1], Longest: n[2]}})
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.set)
	}
	dir, sets := built(t, names...)
	tables := opened(t, dir)
	for i, r := range rows {
		got, err := tables.Stats(sets[i])
		if err != nil {
			t.Fatal(err)
		}
		red := got[rules.Red]
		red.Lost = 0 // the oracle does not count them
		if red != r.want {
			t.Errorf("%s: %+v, want %+v", r.set, red, r.want)
		}
	}
	if len(rows) < 14 {
		t.Errorf("%d rows", len(rows))
	}
}
