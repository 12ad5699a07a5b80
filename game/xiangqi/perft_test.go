package xiangqi

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestPerft compares the move generator with leaf counts that two other
// engines agree on.
func TestPerft(t *testing.T) {
	const maxShort = 1_000_000 // leaves of a row that a short run can afford
	f, err := os.Open("testdata/perft.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		depth, err1 := strconv.Atoi(fields[1])
		want, err2 := strconv.ParseUint(fields[2], 10, 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("bad row %q", lines.Text())
		}
		rows++
		if testing.Short() && want > maxShort {
			continue
		}
		b, err := ParseFEN(fields[0])
		if err != nil {
			t.Errorf("%s: %v", fields[0], err)
			continue
		}
		if got := b.Perft(depth); got != want {
			t.Errorf("%s depth %d: %d leaves, want %d", fields[0], depth, got, want)
		}
	}
	if rows < 60 {
		t.Errorf("only %d rows", rows)
	}
}
