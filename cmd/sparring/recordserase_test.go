//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/game/gametest"
	"sparring/internal/journal"
	"sparring/lab/match"
	"sparring/record"
)

// TestRecordsErase: a player is gone from all files after "records erase", also after
// one that was killed at any moment, while another process appends, and no game is lost.
func TestRecordsErase(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
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
		r := &record.Record{V: record.Version, ID: fmt.Sprintf("g%d", games), Game: "gomoku", Rules: "gomoku/freestyle-15",
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
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w, err = record.NewWriter(recordsDir(dir), "bot-b", 1<<30); err != nil {
		t.Fatal(err)
	}
	for stopped := false; !stopped; runs++ {
		for range 5000 { // in one file, which takes a while to be rewritten, and longer each time
			add()
		}
		c := run("--yes")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if stopped = stopInRewrite(t, c, recordsDir(dir)); stopped {
			t.Logf("stopped with %d records", games)
			for range 3 {
				add() // without the lock, which the other has
			}
			c.Process.Signal(syscall.SIGCONT)
		}
		if err := c.Wait(); err != nil {
			t.Fatal(err)
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

// stopInRewrite stops a process while it rewrites the file of bot-b. It returns false if
// the process was too fast, and ends or has ended.
func stopInRewrite(t *testing.T, c *exec.Cmd, dir string) bool {
	t.Helper()
	rewrites := func() bool {
		unfinished, err := filepath.Glob(filepath.Join(dir, "bot-b*.jsonl.*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(unfinished) > 0
	}
	state := func() string { // T: stopped, Z: ended
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid)); err == nil {
			_, rest, _ := strings.Cut(string(stat), ") ")
			return rest[:1]
		}
		out, err := exec.CommandContext(t.Context(), "ps", "-o", "state=", "-p", strconv.Itoa(c.Process.Pid)).Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("ps: %q, %v", out, err)
		}
		return string(out[:1])
	}
	for state() != "Z" {
		if !rewrites() {
			continue
		}
		c.Process.Signal(syscall.SIGSTOP) // it may have ended
		for s := state(); s != "T" && s != "Z"; s = state() {
		}
		if rewrites() {
			return state() == "T"
		}
		c.Process.Signal(syscall.SIGCONT) // too late for this pass
	}
	return false
}

// TestRecordsEraseOnAFullDisk: nothing is lost, and the same command goes on when there is
// room.
func TestRecordsEraseOnAFullDisk(t *testing.T) {
	disk := arenatest.NewSmallDisk(t, "4m")
	w, err := record.NewWriter(recordsDir(disk.Dir), "bot-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	const games = 200
	for i := range games {
		r := &record.Record{V: record.Version, ID: fmt.Sprintf("g%d", i), Game: "gomoku", Rules: "gomoku/freestyle-15", Text: strings.Repeat("x", 1000), Source: record.Source{By: record.ByArena}}
		r.Seats[0], r.Seats[1] = record.Seat{Player: "ann"}, record.Seat{Player: "bob"}
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	left := func(player string) (n int) {
		t.Helper()
		for r, err := range record.All(recordsDir(disk.Dir)) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Seats[0].Player == player && r.Seats[1].Player == "bob" {
				n++
			}
		}
		return n
	}
	disk.Fill()
	if code, out, errs := capture("records", "erase", "ann", "--data", disk.Dir, "--yes"); code == exitOK || !strings.Contains(errs, "no space left") {
		t.Errorf("on a full disk: exit %d, %s%s", code, out, errs)
	}
	if n := left("ann"); n != games {
		t.Errorf("%d games of %d are left", n, games)
	}
	disk.Empty()
	if code, out, errs := capture("records", "erase", "ann", "--data", disk.Dir, "--yes"); code != exitOK || !strings.Contains(out, "200 records changed") {
		t.Errorf("with room: exit %d, %s%s", code, out, errs)
	}
	if ann, all := left("ann"), len(ids(t, recordsDir(disk.Dir))); ann != 0 || all != games {
		t.Errorf("%d games of the player, %d of all", ann, all)
	}
}

// TestTrimOnAFullDisk: removing what is not kept makes room for what is.
func TestTrimOnAFullDisk(t *testing.T) {
	disk := arenatest.NewSmallDisk(t, "4m")
	dir := recordsDir(disk.Dir)
	w, err := record.NewWriter(dir, "bot-a", 0)
	if err != nil {
		t.Fatal(err)
	}
	old, at := filepath.Join(dir, "bot-old.jsonl"), time.Now().Add(-72*time.Hour)
	if err := errors.Join(os.WriteFile(old, make([]byte, 1<<20), 0o644), os.Chtimes(old, at, at)); err != nil {
		t.Fatal(err)
	}
	w.Keep("bot-", record.Bounds{Age: 48 * time.Hour})
	add := func(id string) error {
		r := &record.Record{V: record.Version, ID: id, Game: "gomoku", Rules: "gomoku/freestyle-15", Text: strings.Repeat("x", 8000), Start: time.Now(), Source: record.Source{By: record.ByArena}}
		r.Seats[0], r.Seats[1] = record.Seat{Player: "ann"}, record.Seat{Player: "bob"}
		return w.Append(r)
	}
	if err := add("before"); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	if err := add("lost"); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("on a full disk: %v", err)
	}
	if n, _, err := w.Trim(); n != 1 || err != nil {
		t.Errorf("%d files removed, %v", n, err)
	}
	if err := add("after"); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if got := ids(t, dir); len(got) != 2 || !got["before"] || !got["after"] {
		t.Errorf("left %v", got)
	}
}

// ids returns the games in a directory of records.
func ids(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for r, err := range record.All(dir) {
		if err != nil {
			t.Fatal(err)
		}
		all[r.ID] = true
	}
	return all
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

// TestRecordsEraseMatch: a match in a directory of records stays one when a player is
// erased from it, and is left alone while it runs.
func TestRecordsEraseMatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(recordsDir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(recordsDir(dir), "m.jsonl")
	terms := &match.Terms{V: match.FileVersion, ID: "mabc", Game: "gomoku", Rules: "gomoku/freestyle-15", Kind: match.RoundRobin,
		Players: []string{"self:nodes=5,name=Ann", "self"}, Labels: []string{"Ann", ""}}
	file, err := match.OpenFile(path, terms)
	if err != nil {
		t.Fatal(err)
	}
	g := match.NewGame(terms, match.Bout{Pair: 1, Leg: 2, Opening: 1, Players: [2]int{1, 0}, Names: [2]string{"self", "Ann"}, ID: "mabc-1-2"})
	if err := file.Append(g); err != nil {
		t.Fatal(err)
	}
	erase := func() (code int, said string) {
		var errs strings.Builder
		code = run([]string{"records", "erase", "Ann", "--yes", "--data", dir}, strings.NewReader(""), io.Discard, &errs)
		return code, errs.String()
	}
	if code, said := erase(); code != exitFailed || !strings.Contains(said, journal.ErrInUse.Error()) || !strings.Contains(text(t, dir), "Ann") {
		t.Errorf("while it runs: exit code %d, %s", code, said)
	}
	file.Close()
	if code, said := erase(); code != exitOK {
		t.Errorf("exit code %d, %s", code, said)
	}
	terms, games, err := match.ReadFile(path)
	if err != nil || len(games) != 1 || games[0].Match.Leg != 2 || terms.Labels[0] != games[0].Seats[1].Player || strings.Contains(text(t, dir), "Ann") {
		t.Errorf("%v\n%s", err, text(t, dir))
	}
}
