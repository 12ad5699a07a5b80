package otb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/pipe/playerspec"
	"sparring/record"
)

// sit opens a table that plays in the background until the test ends.
func sit(t *testing.T, o Options) *Table {
	t.Helper()
	table, err := tryToSit(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func openEngine(spec, gameName string) (engine.Searcher, error) {
	return playerspec.Open(spec, gameName, playerspec.Options{HashBytes: 1 << 20})
}

func tryToSit(t *testing.T, o Options) (*Table, error) {
	o.Open = openEngine
	table, err := Open(o)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		table.Run(ctx)
		close(done)
	}()
	t.Cleanup(func() {
		stop()
		<-done
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table, nil
}

// reach waits for a phase.
func reach(t *testing.T, table *Table, phase Phase) View {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		v := table.View()
		if v.Phase == phase {
			return v
		}
		if time.Now().After(deadline) {
			t.Fatalf("phase %s is not reached: %s, %s, %v", phase, v.Phase, v.Prompt, v.Messages)
		}
	}
}

// TestCommands: what can be typed when, and what it answers.
func TestCommands(t *testing.T) {
	var kept []*record.Record
	tt := terms("xiangqi/wxf", "600/2x30", game.Second)
	tt.HandMS = 0
	table := sit(t, Options{Journal: filepath.Join(t.TempDir(), "game.jsonl"), Terms: tt, Keep: func(r *record.Record) ([]string, error) {
		kept = append(kept, r)
		return []string{"a file"}, nil
	}})
	for _, c := range []struct {
		line string
		want string // part of the error, or of a message after "+"
		then Phase  // to wait for
	}{
		{"h2e2", "not possible now: the clocks have not been started (Enter starts them)", Setup},
		{"hello", "not a move", Setup},
		{"undo", "the clocks have not been started", Setup},
		{"hand h2e2", "the clocks have not been started", Setup},
		{"start now", `start: unexpected "now"`, Setup},
		{"", "+The clocks run.", Theirs},
		{"ok", "there is nothing to confirm", Theirs},
		{"hand h2e2", "it is not our move", Theirs},
		{"now", "it is not our move", Theirs},
		{"clock", `"": want us or them`, Theirs},
		{"clock us", "want us or them and a time", Theirs},
		{"clock us soon", `time "soon": want 12:34, 1:02:03 or seconds`, Theirs},
		{"clock us 1:70", "want 12:34", Theirs},
		{"clock them 8:30 1", "+The clock of alpha shows 8:30 and 1 period of 0:30.", Theirs},
		{"clock us 90", "+Our clock shows 1:30 and 2 periods of 0:30.", Theirs},
		{"C2=5", "+WE PLAY", Theirs}, // our answer is made at once
		{"h9g7", "This piece is your opponent's.", Theirs},
		{"fix h2h9", "+WE PLAY", Fixing}, // in place of C2=5; our answer to that stood on the board
		{"unplayed", "+WE PLAY", Theirs},
		{"undo", "+Taken back: ", Fixing},
		{"redo", "+Made again: ", Theirs},
		{"redo", "no move was taken back", Theirs},
		{"stop", "+Both clocks stand.", Theirs},
		{"go", "+The clocks run again.", Theirs},
		{"draw", `"": want us or them`, Theirs},
		{"accept", "no draw was offered", Theirs},
		{"draw us", "+We offer a draw.", Theirs},
		{"decline", "+The draw is declined.", Theirs},
		{"draw them", "+The opponent offers a draw", Theirs},
		{"decline", "+The draw is declined.", Theirs},
		{"penalty them", "penalty: want who and what", Theirs},
		{"penalty them late", "+Noted: penalty for alpha: late", Theirs},
		{"claim us", "+Noted: we claim a repetition: the position stands on the board for the first time", Theirs},
		{"note", "note: want a text", Theirs},
		{"moves", "+Moves: 1.", Theirs},
		{"play on", "the rules have not ended the game", Theirs},
		{"end he", "want who wins", Theirs},
		{"flag them", "+The game has ended: Black won: Red ran out of time.", Ended},
		{"h0g2", "the game has ended: Black won", Ended},
		{"reopen", "+The game goes on.", Theirs},
		{"help", "+anything else", Theirs},
		{"engine", "+The engine is started again.", Theirs},
		{"end draw both agreed", "+Written: a file", Ended},
	} {
		before := table.View()
		err := table.Do(c.line)
		news, wanted := strings.CutPrefix(c.want, "+")
		if !wanted {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%q: %v, want %q", c.line, err, c.want)
			}
			if after := table.View(); len(after.Game.Plies) != len(before.Game.Plies) || after.Phase != before.Phase {
				t.Fatalf("%q changed the game", c.line)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", c.line, err)
		}
		if c.then == Ended {
			if err := table.Exported(); err != nil {
				t.Fatal(err)
			}
		}
		v := reach(t, table, c.then)
		if c.then == Fixing && c.line[0] == 'f' {
			continue // nothing is announced before the operator has said what stands
		}
		said := ""
		for _, n := range v.Messages {
			if len(before.Messages) == 0 || n.N > before.Messages[len(before.Messages)-1].N {
				said += n.Text + "\n"
			}
		}
		if !strings.Contains(said, news) {
			t.Fatalf("%q: said %q, want %q", c.line, said, news)
		}
	}
	if prompt := table.View().Prompt; !strings.Contains(prompt, " both agreed. export writes") {
		t.Errorf("at the end: %s", prompt)
	}
	if !Quit(table.Do("quit")) {
		t.Error("quit does not leave")
	}
	if len(kept) != 2 || kept[1].Result != game.Draw || kept[1].Reason != Adjudicated || kept[1].Text != "both agreed" || kept[1].Plies[0].Move != "h2h9" {
		t.Errorf("kept %+v", kept)
	}
}

// TestUnplayedMoveIsAnnounced: our move that was taken back and not made is the one to be made
// now, and not a later one that was announced meanwhile.
func TestUnplayedMoveIsAnnounced(t *testing.T) {
	table := sit(t, Options{Journal: filepath.Join(t.TempDir(), "game.jsonl"), Terms: terms("xiangqi/wxf", "600", game.First)})
	var v View
	for _, c := range []struct {
		line string
		then Phase
	}{{"", Announced}, {"", Theirs}, {"h9g7", Announced}, {"undo", Fixing}, {"undo", Fixing}, {"unplayed", Announced}} {
		if err := table.Do(c.line); err != nil {
			t.Fatalf("%q: %v", c.line, err)
		}
		v = reach(t, table, c.then)
	}
	last, want := v.Messages[len(v.Messages)-1].Text, v.Shown[0]
	if !strings.HasPrefix(last, "WE PLAY") || !strings.Contains(last, want) {
		t.Errorf("said last: %q; to be made: %s", last, want)
	}
}

// TestExportMeanwhile: the table goes on while a record is written.
func TestExportMeanwhile(t *testing.T) {
	asked, answer := make(chan *record.Record), make(chan error)
	table := sit(t, Options{
		Journal: filepath.Join(t.TempDir(), "game.jsonl"), Terms: terms("gomoku/freestyle-15", "600", game.Second),
		Keep: func(r *record.Record) ([]string, error) { asked <- r; return []string{"a file"}, <-answer },
	})
	do := func(line string) {
		t.Helper()
		done := make(chan error)
		go func() { done <- table.Do(line) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s waits", line)
		}
	}
	do("")
	do("export")
	<-asked
	do("h8")
	reach(t, table, Announced) // and our engine has answered
	do("export")
	do("end us")
	answer <- errors.New("no room")
	if r := <-asked; r.Result != game.SecondWins {
		t.Errorf("kept %+v", r)
	}
	answer <- nil // the record in between was not asked for any more
	if err := table.Exported(); err != nil {
		t.Error(err)
	}
	text := fmt.Sprint(table.View().Messages)
	if strings.Count(text, "Written: a file") != 2 || !strings.Contains(text, "The record was not written: no room") {
		t.Error(text)
	}
}

// TestForgottenEnter: the opponent's reply says that our announced move was made, a
// hand's time after it was shown.
func TestForgottenEnter(t *testing.T) {
	tt := terms("gomoku/freestyle-15", "600", game.First)
	tt.HandMS = 1
	table := sit(t, Options{Journal: filepath.Join(t.TempDir(), "game.jsonl"), Terms: tt})
	if err := table.Do(""); err != nil {
		t.Fatal(err)
	}
	v := reach(t, table, Announced)
	ours := v.Game.Choice
	time.Sleep(50 * time.Millisecond)
	if err := table.Do(ours.Move); err == nil || !strings.Contains(err.Error(), "as the reply to our move") {
		t.Errorf("our own point again: %v", err)
	}
	if err := table.Do("a1"); err != nil {
		t.Fatal(err)
	}
	plies := table.View().Game.Plies
	if len(plies) != 2 || plies[0].Move != ours.Move || plies[0].At.After(ours.At.Add(time.Millisecond)) || plies[1].Move != "a1" {
		t.Errorf("%+v", plies)
	}
}

// TestWaitWhileClocksStand: no move of ours comes while the clocks stand, so a script that
// waits for one reads on.
func TestWaitWhileClocksStand(t *testing.T) {
	tt := terms("gomoku/freestyle-15", "600", game.Second)
	tt.HandMS = 0
	table := sit(t, Options{Journal: filepath.Join(t.TempDir(), "game.jsonl"), Terms: tt})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var out strings.Builder
	script := strings.Join([]string{"", "stop", "h8", "wait", "go", "wait", "flag them", "quit"}, "\n")
	if err := Plain(ctx, table, strings.NewReader(script), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	stood, went := strings.Index(out.String(), "The clocks stand (go starts them). Our engine waits for them."), strings.Index(out.String(), "WE PLAY")
	if stood < 0 || went < stood {
		t.Errorf("%s", out.String())
	}
}

// TestUsedJournal: a journal has one table at a time, and no other file becomes one.
func TestUsedJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.jsonl")
	o := Options{Journal: path, Terms: terms("amazons/10x10", "600", game.First)}
	sit(t, o)
	if _, err := tryToSit(t, o); err == nil || !strings.Contains(err.Error(), "another process writes to this file") {
		t.Errorf("two tables: %v", err)
	}
	o.Journal = filepath.Join(t.TempDir(), "other.jsonl")
	if err := os.WriteFile(o.Journal, []byte("{\"match\":1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := tryToSit(t, o); err == nil || !strings.Contains(err.Error(), "not the journal of a game at a table") {
		t.Errorf("another file: %v", err)
	}
}

// TestReserve: entries that the disk does not take are kept and written later, in order.
func TestReserve(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.jsonl")
	s, _, err := openStore(path, terms("amazons/10x10", "600", game.First), func(Terms) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + reserveExt); err != nil || info.Size() != reserved {
		t.Errorf("%v, %v", info, err)
	}
	if err := s.append(Entry{At: at(0), Kind: Start}); err != nil {
		t.Fatal(err)
	}
	disk := &brokenDisk{s.file, true}
	s.file = disk

	for _, line := range []string{"1 note one", "2 note two"} {
		if err := s.append(entry(t, line)); err == nil {
			t.Error("an entry is written to nowhere")
		}
	}
	if _, err := os.Stat(path + reserveExt); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reserved space is kept: %v", err)
	}
	disk.broken = false
	if err := errors.Join(s.append(entry(t, "3 note three")), s.close(false)); err != nil {
		t.Fatal(err)
	}
	g, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, n := range g.Notes {
		notes = append(notes, n.Text)
	}
	if strings.Join(notes, " ") != "one two three" {
		t.Errorf("notes %q", notes)
	}
}

// brokenDisk takes no lines while it is broken.
type brokenDisk struct {
	lines
	broken bool
}

func (d *brokenDisk) Append(v any) error {
	if d.broken {
		return errors.New("broken")
	}
	return d.lines.Append(v)
}

// machine is a machine's clocks.
type machine struct{ elapsed, set time.Duration }

func (m *machine) passes(d time.Duration) { m.elapsed += d }

// sit opens a table, whose engine does not matter, on the machine.
func (m *machine) sit(t *testing.T, path string) *Table {
	t.Helper()
	k := &timekeeper{
		wall:   func() time.Time { return begin.Add(m.elapsed + m.set) },
		steady: func() time.Duration { return m.elapsed },
	}
	k.set(k.wall())
	tt := terms("gomoku/freestyle-15", "6000", game.Second)
	table, err := open(Options{Journal: path, Terms: tt, Open: openEngine}, k)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestMachineClockSet: what somebody sets the machine's clock by is neither charged nor
// credited, whether or not the program runs, and the clocks go on at once.
func TestMachineClockSet(t *testing.T) {
	m := &machine{}
	path := filepath.Join(t.TempDir(), "game.jsonl")
	table := m.sit(t, path)
	used := func(want time.Duration, what string) {
		t.Helper()
		if v := table.View(); v.Clocks.Used != want {
			t.Errorf("%s: %v are charged, want %v", what, v.Clocks.Used, want)
		}
	}
	again := func() {
		t.Helper()
		if err := table.Close(); err != nil {
			t.Fatal(err)
		}
		table = m.sit(t, path)
	}
	tick := func(n int) {
		for range n {
			table.tick()
			m.passes(time.Second)
		}
		table.tick()
	}
	if err := table.Do(""); err != nil {
		t.Fatal(err)
	}
	tick(3)
	used(3*time.Second, "at first")
	m.set -= time.Hour
	tick(2)
	used(5*time.Second, "set back")
	m.set += 3 * time.Hour
	tick(2)
	used(7*time.Second, "set forward")
	again()
	m.passes(10 * time.Second)
	table.tick()
	used(17*time.Second, "opened again")
	m.passes(time.Minute)
	table.tick()
	used(77*time.Second, "asleep")
	// The engine says that it is ready whenever it is.
	if v := table.View(); !slices.ContainsFunc(v.Messages, func(n Message) bool { return strings.Contains(n.Text, "stood still for 1:00") }) {
		t.Errorf("asleep: %+v", v.Messages)
	}
	m.set -= 24 * time.Hour
	again()
	used(77*time.Second, "set back while away")
	tick(3)
	used(80*time.Second, "set back while away, and opened again")
	if v := table.View(); len(v.Game.Away) != 2 || !strings.Contains(v.Messages[1].Text, "set back by ") {
		t.Errorf("set back while away: %+v, %+v", v.Game.Away, v.Messages)
	}
	m.passes(20 * time.Second)
	again()
	used(100*time.Second, "and away once more")
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestJournalFromTheFuture: with a machine's clock that is behind the journal, the
// clocks run at once.
func TestJournalFromTheFuture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.jsonl")
	tt := terms("gomoku/freestyle-15", "6000", game.Second)
	s, _, err := openStore(path, tt, func(Terms) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.append(Entry{At: wall().Add(time.Hour), Kind: Start}), s.close(false)); err != nil {
		t.Fatal(err)
	}
	table := sit(t, Options{Journal: path, Terms: tt})
	for table.View().Clocks.Used == 0 { // until the test's own time is up
		time.Sleep(time.Millisecond)
	}
	if used := table.View().Clocks.Used; used > 30*time.Minute {
		t.Errorf("%v are charged", used)
	}
}
