package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sparring/record"
)

// TestRecordsErase: a player is gone from all files after "records erase", also after
// one that was killed at any moment, while another process appends, and no game is lost.
func TestRecordsErase(t *testing.T) {
	dir := t.TempDir()
	w, err := record.NewWriter(recordsDir(dir), "bot-a", 100_000)
	if err != nil {
		t.Fatal(err)
	}
	const id, display = "human-abcdefgh", "Ann Example"
	games := 0
	add := func() {
		t.Helper()
		games++
		r := &record.Record{V: record.Version, ID: "g" + strings.Repeat("x", games%7) + "-" + time.Now().Format("150405") + "-" + string(rune('a'+games%26)) + strings.Repeat("y", games/26), Game: "gomoku", Rules: "gomoku/freestyle-15",
			Text: display + " resigned", Source: record.Source{By: record.ByArena}, Plies: []record.Ply{{Move: "h8", Comment: id + " was late"}}}
		r.Seats[0] = record.Seat{Player: id, Display: display, Kind: record.Human}
		r.Seats[1] = record.Seat{Player: "bob", Display: "Bob"}
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		add()
	}
	run := func(args ...string) *exec.Cmd {
		return exec.CommandContext(t.Context(), "sparring", append([]string{"records", "erase", id, "--data", dir}, args...)...)
	}
	if out, err := run().CombinedOutput(); err != nil || !strings.Contains(string(out), "200 records of "+id) {
		t.Fatalf("%v: %s", err, out)
	}
	if seen := text(t, dir); !strings.Contains(seen, display) {
		t.Fatal("changed without --yes")
	}
	runs := 1 // that end, each with a pseudonym for what was written since
	for _, after := range []time.Duration{60, 100, 140, 180} {
		c := run("--yes")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			add()
		}
		time.Sleep(after * time.Millisecond)
		c.Process.Kill()
		if c.Wait() == nil { // too fast to be killed
			runs++
		}
	}
	if out, err := run("--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	pseudonyms, found := map[string]bool{}, map[string]bool{}
	for r, err := range record.All(recordsDir(dir)) {
		if err != nil {
			t.Fatal(err)
		}
		found[r.ID] = true
		pseudonyms[r.Seats[0].Player] = true
		if r.Seats[1].Player != "bob" || r.Plies[0].Move != "h8" {
			t.Errorf("%+v", r)
		}
	}
	if len(found) != games || len(pseudonyms) > runs {
		t.Errorf("%d games of %d, pseudonyms %v", len(found), games, pseudonyms)
	}
	if seen := text(t, dir); strings.Contains(seen, id) || strings.Contains(seen, display) {
		t.Error("the name is still there")
	}
	if left, err := filepath.Glob(filepath.Join(recordsDir(dir), ".erase-*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	dir += "-typo"
	for _, yes := range []bool{false, true} {
		if out, err := run(fmt.Sprintf("--yes=%t", yes)).CombinedOutput(); err == nil || !strings.Contains(string(out), "there is no folder") {
			t.Errorf("no records: %v: %s", err, out)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sparring", "records", "erase").CombinedOutput(); err == nil || !strings.Contains(string(out), "want one player's id") {
		t.Errorf("no player: %v: %s", err, out)
	}
}

// text returns all that the records of a data directory say, as text.
func text(t *testing.T, data string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sparring", "records", "list", "--json", "--data", data).Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(recordsDir(data), "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b...)
	}
	return string(out)
}
