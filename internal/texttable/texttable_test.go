package texttable

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range []string{"0 plies", "1 ply", "2 plies"} {
		if got := Count(n, "ply", "plies"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWrite: columns are straight where Chinese characters are two wide, and no line
// ends with blanks.
func TestWrite(t *testing.T) {
	table := Table{{"player", "games", ""}}
	table.Add("天津理工大学", 12, "")
	table.Add("alice", 3.5, "weak")
	var out strings.Builder
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	const want = "" +
		"player        games\n" +
		"天津理工大学  12\n" +
		"alice         3.5    weak\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
