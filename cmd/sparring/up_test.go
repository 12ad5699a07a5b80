package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"sparring/bot"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/gametest"
	"sparring/natsserver/embedded"
	"sparring/record"
)

// patience limits the wait for what takes seconds.
const patience = gametest.Patience

// page is a screen that can be read while it is written.
type page struct {
	gametest.Output
	news chan struct{} // signals that something was written
}

func newPage() *page { return &page{news: make(chan struct{}, 1)} }

func (p *page) Write(b []byte) (int, error) {
	n, err := p.Output.Write(b)
	select {
	case p.news <- struct{}{}:
	default:
	}
	return n, err
}

// await waits until the page matches pattern and returns the submatches. It fails as
// soon as the page matches tooLate.
func (p *page) await(t *testing.T, pattern, tooLate string) []string {
	t.Helper()
	want, never := regexp.MustCompile(pattern), regexp.MustCompile(tooLate)
	for late := time.After(patience); ; {
		text := p.String()
		if m := want.FindStringSubmatch(text); m != nil {
			return m
		}
		if never.MatchString(text) {
			t.Fatalf("%q came before %q in:\n%s", tooLate, pattern, text)
		}
		select {
		case <-p.news:
		case <-late:
			t.Fatalf("never saw %q in:\n%s", pattern, p)
		}
	}
}

func mustClock(t *testing.T, text string) clock.Spec {
	t.Helper()
	spec, err := clock.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// quickNodes makes moves of a millisecond.
const quickNodes = 1000

// quickPlayers writes the shipped players with a limit of nodes a move, for tests
// that are not about strength, and returns the file.
func quickPlayers(t *testing.T, nodes int) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "configs/bots.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Players []map[string]any `json:"players"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, p := range file.Players {
		p["nodes"] = nodes
	}
	if data, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "players.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// quickUp returns flags with which moves take little time and memory, and nothing else
// is computed. No flag falls on a loaded machine.
func quickUp(t *testing.T) upFlags {
	return upFlags{data: t.TempDir(), clock: "600+10", profiles: quickPlayers(t, quickNodes), hash: 1, noTables: true, patience: gametest.Patience}
}

// quickRound returns the flags of one round of such games.
func quickRound(t *testing.T) upFlags {
	f := quickUp(t)
	f.rounds, f.ponder = 1, true
	return f
}

// TestUpPlaysARound plays a whole round of all games.
func TestUpPlaysARound(t *testing.T) {
	t.Parallel()
	f := quickRound(t)
	data := f.data
	screen := newPage()
	if err := up(t.Context(), screen, f, mustClock(t, f.clock)); err != nil {
		t.Fatalf("%v; on the screen:\n%s", err, screen)
	}
	text := screen.String()
	for _, want := range []string{"ladder after round 1", "results of round 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if lines := strings.Split(strings.TrimSpace(text), "\n"); lines[len(lines)-1] != "records: "+recordsDir(data) {
		t.Errorf("last line is %q", lines[len(lines)-1])
	}
	games, err := gather(record.All(recordsDir(data)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	played := map[string]bool{}
	for _, r := range games {
		played[r.Game] = true
		if r.Result == game.Undecided || len(r.Plies) == 0 {
			t.Errorf("%s %s: result %s (%s) after %d plies", r.Game, r.ID, r.Result, r.Reason, len(r.Plies))
		}
		thought, fromBook := 0, 0
		for i, p := range r.Plies {
			if p.Receipt == nil {
				t.Errorf("%s: ply %d has no receipt", r.ID, i+1)
			}
			if p.Think != nil {
				thought++
				if p.Think.Source == record.FromBook {
					fromBook++
				}
			}
		}
		if fromBook == 0 {
			t.Errorf("%s %s: no move from the shipped book", r.Game, r.ID)
		}
		if thought < len(r.Plies) {
			t.Errorf("%s: %d of %d plies have an analysis", r.ID, thought, len(r.Plies))
		}
	}
	if n := len(catalog.Games()); len(games) != n || len(played) != n {
		t.Errorf("%d records, of %v", len(games), played)
	}

	// A player is erased from files and store, and the ladder goes on.
	for _, want := range []string{"; --yes removes them", " removed"} {
		args := []string{"records", "erase", "amazons-hare", "--data", data}
		if want == " removed" {
			args = append(args, "--yes")
		}
		code, out, errs := capture(args...)
		if code != exitOK || !strings.Contains(out, "1 record, 1 log and 1 standing of amazons-hare on the platform, and the id in 1 standing of others"+want) {
			t.Errorf("%q: exit %d, %s%s", args, code, out, errs)
		}
	}
	if _, out, _ := capture("records", "list", "--data", data); strings.Contains(out, "amazons-hare") || strings.Count(out, "\n") != len(games)+1 {
		t.Errorf("records after it:\n%s", out)
	}
	if code, out, errs := capture("records", "erase", "amazons-hare", "--data", data, "--yes"); code != exitOK || !strings.Contains(out, "the platform has nothing of amazons-hare") {
		t.Errorf("again: exit %d, %s%s", code, out, errs)
	}
}

// TestUpGoesOn stops everything during the games and starts again on the same data.
func TestUpGoesOn(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	f := quickRound(t)
	data := f.data
	slow := f
	slow.profiles = quickPlayers(t, 25*quickNodes) // the games are under way when they are interrupted
	first := newPage()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- up(ctx, first, slow, mustClock(t, f.clock)) }()
	first.await(t, `amazons-tortoise +4 `, `amazons-tortoise .* plies, `)
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("%v; on the screen:\n%s", err, first)
		}
	case <-time.After(patience):
		t.Fatal("does not end")
	}
	second := newPage()
	if err := up(t.Context(), second, f, mustClock(t, f.clock)); err != nil {
		t.Fatalf("%v; on the screen:\n%s", err, second)
	}
	m := second.await(t, `amazons .* resumes after (\d+) pl(?:y|ies)`, `ladder after round 1`)
	if m[1] == "0" {
		t.Error("the game started again")
	}
	// One complete record a game: no move before the interruption is missing.
	byGame := map[string]*record.Record{}
	games, err := gather(record.All(recordsDir(data)), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range games {
		if byGame[r.Game] != nil {
			t.Errorf("two games of %s: %s and %s", r.Game, byGame[r.Game].ID, r.ID)
		}
		byGame[r.Game] = r
		if _, err := game.Replay(mustRules(t, r.Rules), r.Position, moves(r)); err != nil {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
	if len(byGame) != 3 {
		t.Errorf("records of %d games", len(byGame))
	}
	if strings.Contains(second.String(), "ladder after round 2") {
		t.Error("the interrupted round did not continue")
	}
}

func moves(r *record.Record) []string {
	var all []string
	for _, p := range r.Plies {
		all = append(all, p.Move)
	}
	return all
}

// TestUpEndsWhileItStarts: Ctrl-C during the start is not a failure.
func TestUpEndsWhileItStarts(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{0, 20, 40, 60, 80, 120} {
		ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
		f := quickUp(t)
		if err := up(ctx, newPage(), f, mustClock(t, f.clock)); err != nil {
			t.Errorf("ended after %d ms: %v", after, err)
		}
		cancel()
	}
}

// TestUpKeeps: what is kept of finished games, and when a full disk is warned of, is as the
// environment says, also of the platform's files.
func TestUpKeeps(t *testing.T) {
	f := quickRound(t)
	t.Setenv("SPARRING_KEEP_LOGS", "1m")
	t.Setenv("SPARRING_WARN_PERCENT", "101")
	err := up(t.Context(), io.Discard, f, mustClock(t, f.clock))
	for _, want := range []string{"SPARRING_KEEP_LOGS: 1m0s: want 0 (for ever) or at least 1h", "SPARRING_WARN_PERCENT: 101: want 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}

	t.Setenv("SPARRING_KEEP_LOGS", "0")
	t.Setenv("SPARRING_KEEP_RECORDS", "48h")
	t.Setenv("SPARRING_WARN_PERCENT", "90")
	t.Setenv("SPARRING_KEEP_RECORD", "1h")
	if err := os.MkdirAll(recordsDir(f.data), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"arena-x.jsonl", "bot-x.jsonl"} {
		path, at := filepath.Join(recordsDir(f.data), name), time.Now().Add(-72*time.Hour)
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := up(t.Context(), io.Discard, f, mustClock(t, f.clock)); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(f.data, "sparring.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "old records will be removed, as the settings say"); n != 2 {
		t.Errorf("announced for %d sorts of files, want the platform's and the bots'", n)
	}
	if !strings.Contains(string(log), "SPARRING_KEEP_RECORD\"") {
		t.Error("a misspelt setting is not named")
	}
}

// TestRecordsKeptAgain: a bot's log says when records are written again after a full disk.
func TestRecordsKeptAgain(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full, the device that is always full: ", err)
	}
	cfg := bot.Config{Data: t.TempDir(), Instance: "i1"}
	path := filepath.Join(cfg.RecordsDir(), "bot-i1.jsonl")
	if err := errors.Join(os.MkdirAll(cfg.RecordsDir(), 0o755), os.Symlink("/dev/full", path)); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	w, err := recordsOf(cfg, zerolog.New(&log))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := &record.Record{ID: "g", Game: "gomoku", Rules: "gomoku/freestyle-15", Source: record.Source{By: record.ByPlayer, Player: "a"}, Plies: []record.Ply{}}
	for range 2 {
		if err := w.Append(r); err == nil {
			t.Fatal("a record was written to a full disk")
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); strings.Count(got, "records are kept again") != 1 || !strings.Contains(got, `"lost":2`) {
		t.Errorf("the log: %s", got)
	}
}

// TestTrimRecords: files that are not kept go after the notice, and nobody else's.
func TestTrimRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for name, days := range map[string]int{"arena-old.jsonl": 3, "arena-new.jsonl": 1, "bot-old.jsonl": 3} {
			path, at := filepath.Join(dir, name), time.Now().Add(-time.Duration(days)*24*time.Hour)
			if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chtimes(path, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		w, err := record.NewWriter(dir, keptBy, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer trimRecords(w, keptBy, record.Bounds{Age: 48 * time.Hour}, dir, zerolog.Nop())()
		left := func(after time.Duration, want string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for i := range files {
				files[i] = filepath.Base(files[i])
			}
			if got := strings.Join(files, " "); got != want {
				t.Errorf("left %q, want %q", got, want)
			}
		}
		left(trimNotice-time.Second, "arena-new.jsonl arena-old.jsonl bot-old.jsonl")
		left(2*time.Second, "arena-new.jsonl bot-old.jsonl")
		left(24*time.Hour, "bot-old.jsonl")
	})
}

// TestUpTwice: a second start on the same data says what to do.
func TestUpTwice(t *testing.T) {
	f := quickUp(t)
	srv, err := embedded.Start(embedded.Config{Dir: filepath.Join(f.data, "nats"), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	if err := os.MkdirAll(recordsDir(f.data), 0o755); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := capture("records", "erase", "human-nobody", "--data", f.data, "--yes"); code == exitOK || !strings.Contains(errs, fmt.Sprintf("in use by process %d: stop it", os.Getpid())) {
		t.Errorf("erase beside it: exit %d, %s", code, errs)
	}
	err = up(t.Context(), io.Discard, f, mustClock(t, f.clock))
	want := fmt.Sprintf("another sparring already runs with this data (process %d); use its page, or choose another folder with --data: ", os.Getpid())
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "lock file") {
		t.Errorf("error %v, want one that begins with %q", err, want)
	}
}

// TestUpUnwritable: a data directory that can't be written to is named, with the cause.
func TestUpUnwritable(t *testing.T) {
	err := dataError("some/data", "log", &fs.PathError{Op: "open", Path: "some/data/sparring.log", Err: syscall.EACCES})
	want := "the data directory some/data is not writable; choose another with --data: open some/data/sparring.log: "
	if !strings.HasPrefix(err.Error(), want) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want one that begins with %q", err, want)
	}
}

// TestUpFollowsEvents: the ladder plays by the rules and the clock of events, where no
// flag says otherwise.
func TestUpFollowsEvents(t *testing.T) {
	for _, c := range []struct {
		args         []string
		clock, rules string
	}{
		{nil, ladderClock, ""},
		{[]string{"--event", "uccileague-fast", "--event", "ccgc-amazons"}, "600+3", "amazons/10x10 xiangqi/wxf+limit=50"},
		{[]string{"--event", "uccileague-fast", "--clock", "5+1", "--rules", "xiangqi=cxa,gomoku=renju-15"}, "5+1", "renju-15 xiangqi/cxa"},
	} {
		f := upFlags{}
		command := &cobra.Command{}
		command.SetErr(io.Discard)
		command.Flags().StringVar(&f.clock, "clock", ladderClock, "")
		command.Flags().StringToStringVar(&f.rules, "rules", nil, "")
		command.Flags().StringArrayVar(&f.events, "event", nil, "")
		if err := command.ParseFlags(c.args); err != nil {
			t.Fatal(err)
		}
		if err := f.follow(command); err != nil {
			t.Fatal(err)
		}
		if rules := strings.Join(slices.Sorted(maps.Values(f.rules)), " "); f.clock != c.clock || rules != c.rules {
			t.Errorf("%q: clock %s, rules %s", c.args, f.clock, rules)
		}
	}
}
