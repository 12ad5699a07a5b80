package main

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/gdamore/tcell/v3/vt"
)

// window is a terminal window with sparring table in it.
type window struct {
	t   *testing.T
	cmd *exec.Cmd
	pty *os.File

	mu   sync.Mutex
	mock vt.MockTerm // what it shows
	size vt.Coord
}

// openTerminal runs sparring in a terminal of some size.
func openTerminal(t *testing.T, dir string, columns, rows int, env []string, args ...string) *window {
	t.Helper()
	w := &window{t: t, size: vt.Coord{X: vt.Col(columns), Y: vt.Row(rows)}}
	w.mock = vt.NewMockTerm(vt.MockOptSize(w.size))
	if err := w.mock.Start(); err != nil {
		t.Fatal(err)
	}
	w.cmd = exec.CommandContext(t.Context(), "sparring", args...)
	w.cmd.Dir = dir
	w.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "COLUMNS=", "LINES="), env...)
	var err error
	w.pty, err = pty.StartWithSize(w.cmd, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)})
	if err != nil {
		t.Skipf("this machine has no pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill(); w.pty.Close() })
	go func() { // lives until the program ends
		buf := make([]byte, 1<<16)
		for {
			n, err := w.pty.Read(buf)
			w.mu.Lock()
			w.mock.Write(buf[:n])
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { // the terminal's answers to the program's questions
		buf := make([]byte, 1<<12)
		for {
			n, err := w.mock.Read(buf)
			if n > 0 {
				w.pty.Write(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	return w
}

// String returns what the terminal shows.
func (w *window) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mock.Drain()
	var b strings.Builder
	for y := range w.size.Y {
		var line strings.Builder
		for x := vt.Col(0); x < w.size.X; x++ {
			cell := w.mock.GetCell(vt.Coord{X: x, Y: y})
			if cell.C == "" {
				cell.C = " "
			}
			line.WriteString(cell.C)
			if cell.W == 2 {
				x++
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// types sends keys.
func (w *window) types(keys string) {
	w.t.Helper()
	if _, err := w.pty.WriteString(keys); err != nil {
		w.t.Fatalf("%v\n%s", err, w)
	}
}

// sees waits until the terminal shows all the texts.
func (w *window) sees(texts ...string) {
	w.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for _, text := range texts {
		for !strings.Contains(w.String(), text) {
			if time.Now().After(deadline) {
				w.t.Fatalf("the terminal never shows %q:\n%s", text, w)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// resize changes the size of the window.
func (w *window) resize(columns, rows int) {
	w.t.Helper()
	w.mu.Lock()
	w.size = vt.Coord{X: vt.Col(columns), Y: vt.Row(rows)}
	w.mock.SetSize(w.size)
	w.mu.Unlock()
	if err := pty.Setsize(w.pty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *window) kill(signal syscall.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(signal); err != nil {
		w.t.Fatal(err)
	}
	w.cmd.Wait() // was killed
}

// TestTableScreen plays in a terminal that is resized, hung up and killed; the game goes
// on in the next one.
func TestTableScreen(t *testing.T) {
	dir := t.TempDir()
	args := []string{"table", "--data", "data", "--game", "amazons", "--clock", "600", "--us", "white", "--engine", "self:nodes=100", "--hash", "4"}
	w := openTerminal(t, dir, 80, 24, nil, args...)
	w.sees("We play White.", "B")
	w.types("\r")
	w.sees("Make this move on the board")
	w.resize(100, 30)
	w.sees("Make this move on the board,")
	w.resize(50, 12)
	w.sees("Make this move on the board,", "10:00")
	time.Sleep(time.Second) // what comes at once is taken for a mistake
	w.types("\r")
	w.sees("Enter the opponent's move.")
	w.kill(hangUp())

	w = openTerminal(t, dir, 80, 24, []string{"NO_COLOR=1"}, args...)
	w.sees("The program was away", "[")
	w.types("\r")
	w.sees("Enter the opponent's move.")
	second := exec.CommandContext(t.Context(), "sparring", args...)
	second.Dir = dir
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "another table goes on with this game (--new begins another)") {
		t.Errorf("a second table: %v, %s", err, out)
	}
	w.types("a7a8/b8") // not entered
	w.sees("= a7a8/b8")
	w.kill(syscall.SIGKILL)

	w = openTerminal(t, dir, 80, 24, nil, "table", "--resume")
	w.sees("The program was away")
	w.types("\rresign them\r")
	w.sees("The game has ended")
	w.types("\x03")
	w.sees("Ctrl-C again leaves")
	w.types("\x03")
	if err := w.cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, w)
	}
}
