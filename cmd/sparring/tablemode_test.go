package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sparring/arena/arenatest"
	"sparring/game"
	"sparring/game/gametest"
	"sparring/otb"
	"sparring/record"
)

// operator is a person at a table: a process of sparring table --plain, in whose
// folder it runs again and again.
type operator struct {
	t    *testing.T
	dir  string
	args []string

	cmd *exec.Cmd
	in  io.WriteCloser
	out *seenOutput
}

// seenOutput is what a process has written.
type seenOutput struct {
	gametest.Output
	from int // what was looked at before
}

// take returns whether the text was written after what was last looked at.
func (o *seenOutput) take(text string) bool {
	i := strings.Index(o.String()[o.from:], text)
	if i >= 0 {
		o.from += i + len(text)
	}
	return i >= 0
}

// sit starts the program; more are arguments of this start alone.
func (o *operator) sit(more ...string) {
	o.t.Helper()
	o.out = &seenOutput{}
	o.cmd = exec.CommandContext(o.t.Context(), "sparring", append(append([]string{"table", "--plain", "--data", "data", "--hash", "4"}, o.args...), more...)...)
	o.cmd.Dir, o.cmd.Stdout, o.cmd.Stderr = o.dir, o.out, o.out
	var err error
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		o.t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { o.cmd.Process.Kill() })
}

// types enters lines, and sees waits for an answer.
func (o *operator) types(lines ...string) *operator {
	o.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(o.in, line+"\n"); err != nil {
			o.t.Fatalf("%q: %v\n%s", line, err, o.out)
		}
	}
	return o
}

func (o *operator) sees(texts ...string) {
	o.t.Helper()
	for _, text := range texts {
		for deadline := time.Now().Add(2 * time.Minute); !o.out.take(text); {
			if time.Now().After(deadline) {
				o.t.Fatalf("the operator never sees %q:\n%.5000s", text, o.out)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// leaves waits for the end of the program and returns its exit code.
func (o *operator) leaves() int {
	o.cmd.Wait() // the code tells
	return o.cmd.ProcessState.ExitCode()
}

// kill ends the program by a signal.
func (o *operator) kill(signal syscall.Signal) {
	o.t.Helper()
	if err := o.cmd.Process.Signal(signal); err != nil {
		o.t.Fatal(err)
	}
	o.cmd.Wait() // was killed
}

// ignoresHangUp says whether the tests were started so that the signal of a closed terminal is
// ignored (nohup), as it then is by the programs that they start. It is asked before a test
// listens for the signal: afterwards, it does not count as ignored any more.
var ignoresHangUp = signal.Ignored(syscall.SIGHUP)

// hangUp returns the signal of a closed terminal, or, where that is ignored, another one.
func hangUp() syscall.Signal {
	if ignoresHangUp {
		return syscall.SIGTERM
	}
	return syscall.SIGHUP
}

// journal returns the only journal with a game. A program that was killed before its game
// began leaves an empty one.
func (o *operator) journal() string {
	o.t.Helper()
	all, err := filepath.Glob(filepath.Join(o.dir, "data/table/*.jsonl"))
	all = slices.DeleteFunc(all, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Size() == 0
	})
	if err != nil || len(all) != 1 {
		o.t.Fatalf("journals %v, %v", all, err)
	}
	return all[0]
}

// moves returns the moves in the journal, as anybody would find them after a crash.
func (o *operator) moves() (moves []string) {
	o.t.Helper()
	g, err := otb.Load(o.journal())
	if err != nil {
		o.t.Fatal(err)
	}
	for _, p := range g.Plies {
		moves = append(moves, p.Move)
	}
	return moves
}

// TestTableKilled plays a game in which the program is killed again and again: nothing
// that was entered is lost, and the record is what the event wants.
func TestTableKilled(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	o := &operator{t: t, dir: t.TempDir(), args: []string{"--event", "ccgc-xiangqi", "--us", "red", "--name", "北理工", "--opponent", "天津理工大学", "--engine", "self:depth=2"}}
	o.sit()
	o.sees("We play Red. Our side begins.")
	o.kill(syscall.SIGKILL) // before the start
	o.sit()
	o.types("").sees("The clocks run.", "WE PLAY", "Make this move on the board")
	o.kill(syscall.SIGKILL) // while our move is announced
	if m := o.moves(); len(m) != 0 {
		t.Errorf("a move that the operator has not made counts: %v", m)
	}
	o.sit("--resume")
	o.sees("The program was away", "Compare both clocks")
	o.types("").sees("The clocks are confirmed.", "Make this move on the board")
	o.types("").sees("Enter the opponent's move.")
	o.kill(hangUp()) // the terminal is closed on the opponent's time
	if m := o.moves(); len(m) != 1 {
		t.Errorf("our move was lost: %v", m)
	}
	o.sit()
	o.types("clock them 20:00", "").sees("The clock of 天津理工大学 shows 20:00.", "The clocks are confirmed.")
	o.types("a9b9", "a0a1").sees("illegal move: a9b9: One of your own pieces stands there.", "This piece is your opponent's.")
	o.types("车1进1").sees("Opponent: 车1进1   a9a8")
	o.kill(syscall.SIGKILL) // at once after the opponent's move
	if m := o.moves(); len(m) != 2 || m[1] != "a9a8" {
		t.Errorf("the opponent's move was lost: %v", m)
	}
	o.sit()
	o.sees("WE PLAY")
	o.types("", "").sees("The clocks are confirmed.", "Enter the opponent's move.")
	o.types("fix 卒1进1").sees("Opponent: 卒1进1   a6a5", "redo if it stands on the board")
	o.kill(syscall.SIGKILL) // in the middle of a correction
	o.sit()
	o.types("", "unplayed").sees("The clock runs on", "WE PLAY")
	o.types("", "penalty them touched a piece", "draw them").sees("Noted: penalty for 天津理工大学: touched a piece", "The opponent offers a draw")
	o.types("decline", "stop").sees("The draw is declined.", "Both clocks stand.")
	o.kill(syscall.SIGTERM)
	o.sit()
	o.types("", "go", "end us 裁判判定").sees("The clocks run again.", "The game has ended", "Written: ", "Written: ")
	o.kill(syscall.SIGKILL) // after the end
	if m := o.moves(); len(m) != 3 || m[1] != "a6a5" {
		t.Errorf("moves %v", m)
	}
	pgn, err := filepath.Glob(filepath.Join(o.dir, "data/table/*.pgn"))
	if err != nil || len(pgn) != 1 {
		t.Fatalf("%v, %v", pgn, err)
	}
	text, err := os.ReadFile(pgn[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`[Red "北理工"]`, `[Black "天津理工大学"]`, `[Result "1-0"]`, "CCGC", "touched a piece"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the record lacks %s:\n%s", want, text)
		}
	}
	list, err := exec.CommandContext(t.Context(), "sparring", "records", "list", filepath.Join(o.dir, "data")).CombinedOutput()
	if err != nil || !strings.Contains(string(list), "天津理工大学") || !strings.Contains(string(list), "adjudication") {
		t.Errorf("%v: %s", err, list)
	}

	// The game has ended: the same command begins another.
	o.sit()
	o.sees("We play Red. Our side begins.")
	o.types("quit")
	if code := o.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, o.out)
	}
}

// TestTableAsleep: the clocks follow the wall while the program is stopped.
func TestTableAsleep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("sleeps for six seconds")
	}
	o := &operator{t: t, dir: t.TempDir(), args: []string{"--game", "gomoku", "--rules", "freestyle-15", "--clock", "100", "--us", "second", "--engine", "self:depth=2"}}
	o.sit()
	o.types("").sees("Enter the opponent's move.")
	arenatest.Pause(t, o.cmd.Process)
	time.Sleep(6 * time.Second) // more than the gap that is noticed
	arenatest.Continue(t, o.cmd.Process)
	o.sees("The machine stood still for ")
	o.types("h8").sees("Opponent: h8", "WE PLAY")
	o.types("").sees("Enter the opponent's move.")
	g, err := otb.Load(o.journal())
	if err != nil {
		t.Fatal(err)
	}
	if left := g.Record().Plies[0].LeftMS; left > 94_000 {
		t.Errorf("the opponent has %d ms left", left)
	}
	o.types("resign us", "quit")
	if code := o.leaves(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, o.out)
	}
}

// TestTableDiskFull: the game goes on while the disk is full, first in the space that
// the journal has reserved, then in memory, and is saved when there is room.
func TestTableDiskFull(t *testing.T) {
	disk := arenatest.NewSmallDisk(t, "4m")
	o := &operator{t: t, dir: disk.Dir, args: []string{"--game", "amazons", "--clock", "600", "--us", "black", "--engine", "self:nodes=100"}}
	o.sit()
	o.types("").sees("Enter the opponent's move.")
	disk.Fill()
	o.types("a4b4/c4").sees("Opponent: a4b4/c4", "WE PLAY")
	if m := o.moves(); len(m) != 1 {
		t.Errorf("the opponent's move is not in the reserved space: %v", m)
	}
	disk.Fill()
	for range 40 { // more than the reserved space
		o.types("note " + strings.Repeat("x", 50_000))
	}
	o.sees("NOT SAVED: ")
	o.types("").sees("Enter the opponent's move.")
	disk.Empty()
	o.sees("The journal is saved again.")
	o.kill(syscall.SIGKILL)
	if m := o.moves(); len(m) != 2 {
		t.Errorf("our move was lost: %v", m)
	}
}

// TestTableBrokenEngine: an engine that crashes or hangs is started again, and the
// operator can move for it.
func TestTableBrokenEngine(t *testing.T) {
	t.Parallel()
	gametest.SkipShort(t)
	for _, mode := range []string{"crash-go", "hang-go", "crash-start", "illegal", "flood"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			o := &operator{t: t, dir: t.TempDir(), args: []string{"--game", "xiangqi", "--clock", "20", "--max-move", "1s", "--hand", "0s", "--us", "first", "--engine", "uci:broken-engine,arg=" + mode}}
			o.sit()
			o.types("").sees("The engine failed: ", "The engine has failed 3 times in a row.")
			o.types("hand 炮二平五").sees("We (by hand): 炮二平五", "Enter the opponent's move.")
			o.types("resign them", "quit").sees("The game has ended")
			if code := o.leaves(); code != 0 {
				t.Errorf("exit code %d:\n%s", code, o.out)
			}
		})
	}
}

// TestTableKeepsOneFile: a result that was corrected leaves no file with the wrong one, also
// where the result is part of the file's name.
func TestTableKeepsOneFile(t *testing.T) {
	t.Parallel()
	data, out := t.TempDir(), t.TempDir()
	keep := (&tableFlags{data: data, out: out}).keep(otb.Terms{Follows: "ccgc-amazons"}, "")
	r := &record.Record{V: record.Version, ID: "table-1", Game: "amazons", Rules: "amazons/10x10", Start: time.Date(2026, 7, 11, 9, 30, 0, 0, time.UTC),
		Seats: [2]record.Seat{{Player: "a"}, {Player: "b"}}, Source: record.Source{By: record.ByPlayer}, Plies: []record.Ply{{Move: "d1d7/b7"}}}
	for _, result := range []game.Result{game.Undecided, game.FirstWins, game.FirstWins, game.Draw} {
		r.Result = result
		files, err := keep(r)
		if err != nil {
			t.Fatal(err)
		}
		have, err := os.ReadDir(out)
		if err != nil || len(have) != 1 || files[0] != filepath.Join(out, have[0].Name()) {
			t.Errorf("%v: written %v, have %v, %v", result, files, have, err)
		}
	}
}
