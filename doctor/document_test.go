package doctor

import (
	"os"
	"strings"
	"testing"
)

// example is a row of the table of faulty engines in docs/engine.md.
type example struct {
	verdict, check, text string
}

// left stands in the table for what differs from run to run, or is long.
const left = "…"

// documented returns the rows of the table, by the engine, its game, and its rule set.
func documented(t *testing.T) map[string]example {
	t.Helper()
	page, err := os.ReadFile("../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	const head = "| engine | what is wrong with it | what the check says |"
	_, table, ok := strings.Cut(string(page), head+"\n|---|---|---|\n")
	if !ok {
		t.Fatalf("docs/engine.md: no table %q", head)
	}
	rows := map[string]example{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			break
		}
		name := strings.ReplaceAll(strings.TrimSpace(cells[1]), "`", "")
		finding, text, _ := strings.Cut(strings.Trim(strings.TrimSpace(cells[3]), "`"), "` ")
		verdict, check, ok := strings.Cut(finding, " ")
		if !ok || strings.Trim(text, left+" ") == "" {
			t.Fatalf("docs/engine.md: the row of %q says no finding: %q", name, cells[3])
		}
		rows[name] = example{verdict, check, text}
	}
	if len(rows) < 12 {
		t.Errorf("docs/engine.md: %d faulty engines, want at least 12", len(rows))
	}
	return rows
}

// matches reports whether a finding is the one of the table.
func (e example) matches(f Finding) bool {
	if string(f.Verdict) != e.verdict || f.Check != e.check {
		return false
	}
	rest := f.Text
	for i, part := range strings.Split(e.text, left) {
		part = strings.TrimSpace(part)
		at := strings.Index(rest, part)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(e.text, left) || rest == ""
}
