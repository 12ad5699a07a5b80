package xiangqi

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"

	"sparring/game"
)

// TestClauses plays the cycles of testdata/repetition.tsv to their end under
// every rule set.
func TestClauses(t *testing.T) {
	f, err := os.Open("testdata/repetition.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	verdicts := map[string]game.Outcome{
		"draw":         {Result: game.Draw, Reason: game.Repetition},
		"red checks":   {Result: game.SecondWins, Reason: game.PerpetualCheck},
		"red chases":   {Result: game.SecondWins, Reason: game.PerpetualChase},
		"black checks": {Result: game.FirstWins, Reason: game.PerpetualCheck},
		"black chases": {Result: game.FirstWins, Reason: game.PerpetualChase},
	}
	row, shown := 0, map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		row++
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 7 {
			t.Fatalf("row %d has %d fields", row, len(fields))
		}
		for _, clause := range strings.Fields(fields[0]) {
			shown[clause] = true
		}
		for i, s := range sets {
			want, ok := verdicts[fields[3+i]]
			if !ok {
				t.Fatalf("row %d: no verdict %q", row, fields[3+i])
			}
			p := replay(t, string(s)+"+limit=none", fields[1], "").(*Position)
			if got := cycle(t, p, ICCS, strings.Fields(fields[2])); got != want {
				t.Errorf("row %d (%s, %s) under %s: %+v, want %s\n%s", row, fields[0], fields[6], s, got, fields[3+i], mustBoard(t, fields[1]).fen(1))
			}
		}
	}
	for letter, n := range map[string]int{"W": 11, "C": 9, "S": 2} {
		for i := 1; i <= n; i++ {
			if clause := letter + strconv.Itoa(i); !shown[clause] {
				t.Errorf("no case shows clause %s", clause)
			}
		}
	}
}
