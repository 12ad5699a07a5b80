package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"sparring/internal/texttable"
)

// display shows running games, a line each, and messages above them. On a terminal
// the lines are redrawn in place; elsewhere, and on one that has no cursor, every change is
// printed as a new line.
// It is safe for concurrent use.
type display struct {
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

func newDisplay(out io.Writer) *display {
	d := &display{out: out, lines: make(map[string]string)}
	if f, ok := fileOf(out); ok && term.IsTerminal(int(f.Fd())) && hasCursor() {
		d.width, d.height = 80, 24
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			d.width, d.height = w, h
		}
	}
	return d
}

// hasCursor reports whether the cursor of the terminal, if there is one, can be moved.
func hasCursor() bool { return os.Getenv("TERM") != "dumb" }

// say prints permanent lines.
func (d *display) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	fmt.Fprintln(d.out, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
	d.draw()
}

// game replaces a game's line.
func (d *display) game(id, line string) {
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

// set replaces the lines of all games with these, on a terminal: the first and the
// last, if it has not enough rows for all.
func (d *display) set(lines ...string) {
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

// live reports whether lines are redrawn in place.
func (d *display) live() bool { return d.width > 0 }

// pace decides when progress is shown: on a terminal always, elsewhere after each
// part of the work and at least every paceTime.
type pace struct {
	screen *display
	part   int // of the work
	said   int // progress that was shown last
	at     time.Time
}

// paceTime is the longest time between two lines of progress without a terminal.
const paceTime = 10 * time.Second

// newPace divides work of a total into maxLines parts.
func newPace(screen *display, total int) *pace {
	return &pace{screen: screen, part: max(total/maxLines, 1), at: time.Now()}
}

// due reports whether the progress n is to be shown.
func (p *pace) due(n int) bool {
	if !p.screen.live() && n < p.said+p.part && time.Since(p.at) < paceTime {
		return false
	}
	p.said, p.at = n, time.Now()
	return true
}

// timeLeft estimates how long the rest of some work takes, in words, after done of
// total since begin.
func timeLeft(begin time.Time, done, total int) string {
	if done == 0 {
		return "unknown time left"
	}
	return fmt.Sprintf("%v left", (time.Since(begin) / time.Duration(done) * time.Duration(total-done)).Round(time.Second))
}

// clear removes all games' lines.
func (d *display) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	d.order, d.lines = nil, make(map[string]string)
}

// remove forgets a game's line, and removes all from the terminal until the next
// change.
func (d *display) remove(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	delete(d.lines, id)
	d.order = slices.DeleteFunc(d.order, func(have string) bool { return have == id })
}

// end removes a game's line and prints its last one permanently.
func (d *display) end(id, line string) {
	d.remove(id)
	d.say("%s", line)
}

// The caller of erase and draw holds mu.

func (d *display) erase() {
	if d.drawn > 0 {
		fmt.Fprintf(d.out, "\x1b[%dA\x1b[J", d.drawn)
		d.drawn = 0
	}
}

func (d *display) draw() {
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

// clockText formats a clock for people: 1:05 or, below ten seconds, 9.3.
func clockText(left time.Duration) string {
	if left < 10*time.Second {
		return fmt.Sprintf("%4.1f", left.Seconds())
	}
	return fmt.Sprintf("%d:%02d", int(left.Minutes()), int(left.Seconds())%60)
}

// count is here for its many callers.
var count = texttable.Count
