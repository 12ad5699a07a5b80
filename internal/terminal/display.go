// Package terminal writes what a command shows: lines that are redrawn in place on a terminal
// and come one below the other elsewhere, progress with the time left, the warnings of a log,
// and an output that remembers what of it was lost. It knows no game and no command.
package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"
)

// Display shows what goes on, such as running games, a line each, and messages above them. On a terminal
// the lines are redrawn in place; elsewhere, and on one that has no cursor, every change is
// printed as a new line.
// It is safe for concurrent use.
type Display struct {
	mu     sync.Mutex
	out    io.Writer
	width  int // of the terminal; 0: not a terminal
	height int
	order  []string
	lines  map[string]string
	drawn  int       // lines on the terminal now
	last   time.Time // of the last redraw
}

// redraw is the shortest time between two redraws of a terminal.
const redraw = 50 * time.Millisecond

// NewDisplay returns a display on out, with the size that a terminal has now.
func NewDisplay(out io.Writer) *Display {
	d := &Display{out: out, lines: make(map[string]string)}
	if f, ok := FileOf(out); ok && term.IsTerminal(int(f.Fd())) && HasCursor() {
		d.width, d.height = 80, 24
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			d.width, d.height = w, h
		}
	}
	return d
}

// Say prints permanent lines.
func (d *Display) Say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	fmt.Fprintln(d.out, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
	d.draw()
}

// Line replaces the line of a game, or of something else that goes on.
func (d *Display) Line(id, line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.width == 0 {
		fmt.Fprintln(d.out, line)
		return
	}
	if _, known := d.lines[id]; !known {
		d.order = append(d.order, id)
	}
	d.lines[id] = line
	if time.Since(d.last) >= redraw {
		d.erase()
		d.draw()
	}
}

// Set replaces all lines that are redrawn with these, on a terminal: the first and the
// last, if it has not enough rows for all.
func (d *Display) Set(lines ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.width == 0 {
		return
	}
	d.erase()
	d.order = d.order[:0]
	if rows := max(d.height-1, 2); len(lines) > rows {
		lines = append(lines[:rows-1:rows-1], lines[len(lines)-1])
	}
	for i, line := range lines {
		id := fmt.Sprint(i)
		d.order = append(d.order, id)
		d.lines[id] = line
	}
	d.draw()
}

// Live reports whether lines are redrawn in place.
func (d *Display) Live() bool { return d.width > 0 }

// Clear removes all lines that are redrawn.
func (d *Display) Clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	d.order, d.lines = nil, make(map[string]string)
}

// Remove forgets a line, and removes all from the terminal until the next
// change.
func (d *Display) Remove(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	delete(d.lines, id)
	d.order = slices.DeleteFunc(d.order, func(have string) bool { return have == id })
}

// End removes a line and prints its last one permanently.
func (d *Display) End(id, line string) {
	d.Remove(id)
	d.Say("%s", line)
}

// The caller of erase and draw holds mu.

func (d *Display) erase() {
	if d.drawn > 0 {
		fmt.Fprintf(d.out, "\x1b[%dA\x1b[J", d.drawn)
		d.drawn = 0
	}
}

func (d *Display) draw() {
	if d.width == 0 {
		return
	}
	for _, id := range d.order {
		fmt.Fprintln(d.out, clip(d.lines[id], d.width-1))
		d.drawn++
	}
	d.last = time.Now()
}

// clip cuts a line to a number of columns. Chinese characters have two.
func clip(s string, columns int) string { return runewidth.Truncate(s, columns, "") }
