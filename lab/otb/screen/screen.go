// Package screen shows a table on the whole screen of a terminal: the board with the
// last move marked, both clocks, what the operator is to do, and a line to type in. It
// only draws what otb.View has; the keyboard and the mouse make the lines that
// otb.Table.Do carries out. It works from 80 columns and 24 rows on, and shows what is
// most needed on less.
package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v3"

	"sparring/arena/web/view"
	"sparring/game"
	"sparring/lab/otb"
)

// Options set up a screen.
type Options struct {
	Tty    tcell.Tty // nil: the terminal of the process
	Scores bool      // show score and depth from the start
}

// refresh is how often running clocks are drawn.
const refresh = 100 * time.Millisecond

// Show shows a table until the operator leaves or ctx ends. The error is nil if the
// operator has left.
func Show(ctx context.Context, t *otb.Table, o Options) error {
	s, err := tcell.NewTerminfoScreenFromTty(o.Tty)
	if err == nil {
		err = s.Init()
	}
	if err != nil {
		return fmt.Errorf("the terminal can't show a screen: %w (--plain needs none)", err)
	}
	defer s.Fini()
	s.EnableMouse(tcell.MouseButtonEvents)
	m := model{table: t, scores: o.Scores}
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		m.view = t.View()
		p := painter{Screen: s, colours: s.Colors() > 0}
		p.draw(&m)
		s.Show()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.Changed():
		case <-tick.C:
		case ev, open := <-s.EventQ():
			if !open {
				return errors.New("the terminal has gone")
			}
			if m.handle(ev) {
				return nil
			}
			if _, resized := ev.(*tcell.EventResize); resized || m.redraw {
				m.redraw = false
				s.Sync()
			}
		}
	}
}

// model is what the screen knows besides the table.
type model struct {
	table *otb.Table
	view  otb.View

	line     []rune // being typed
	before   string // the line entered last
	points   []string
	message  string // why the last line was refused; it stays until the next key
	scores   bool
	turned   bool // the board is seen from the other side
	help     bool
	back     int // how far the list of moves is scrolled back
	redraw   bool
	leaving  time.Time // when Ctrl-C was pressed
	board    board
	hasBoard bool
	pressed  bool // the mouse's button is down
}

// hasty is how soon after our move was announced an empty line is taken for a mistake:
// the second of two Enters.
const hasty = 700 * time.Millisecond

// leaveTime is how long after Ctrl-C another one leaves.
const leaveTime = 3 * time.Second

// handle takes an event. It reports whether the operator leaves.
func (m *model) handle(ev tcell.Event) (leave bool) {
	switch ev := ev.(type) {
	case *tcell.EventKey:
		return m.key(ev)
	case *tcell.EventMouse:
		down := ev.Buttons()&tcell.Button1 != 0
		if down && !m.pressed && m.hasBoard && !m.help {
			if point, ok := m.board.point(ev.Position()); ok {
				leave = m.click(point)
			}
		}
		m.pressed = down
	}
	return leave
}

// key takes a key.
func (m *model) key(ev *tcell.EventKey) (leave bool) {
	if m.help {
		m.help = false
		return false
	}
	if ev.Key() != tcell.KeyEnter {
		m.message = ""
	}
	switch ev.Key() {
	case tcell.KeyEnter:
		return m.enter(string(m.line))
	case tcell.KeyEscape:
		m.line, m.points = nil, nil
	case tcell.KeyBackspace:
		if n := len(m.line); n > 0 {
			m.line = m.line[:n-1]
		}
		m.points = nil
	case tcell.KeyCtrlU:
		m.line, m.points = nil, nil
	case tcell.KeyCtrlC:
		if time.Since(m.leaving) < leaveTime {
			return true
		}
		m.leaving = time.Now()
		m.refuse("Ctrl-C again leaves; the game can be resumed.")
	case tcell.KeyUp:
		m.line = []rune(m.before)
	case tcell.KeyPgUp:
		m.back += 4
	case tcell.KeyPgDn:
		m.back = max(m.back-4, 0)
	case tcell.KeyF1:
		m.help = true
	case tcell.KeyF2:
		m.scores = !m.scores
	case tcell.KeyF3:
		return m.enter("undo")
	case tcell.KeyF4:
		m.turned = !m.turned
	case tcell.KeyF5, tcell.KeyCtrlL:
		m.redraw = true
	case tcell.KeyF8:
		return m.enter("now")
	case tcell.KeyRune:
		if ev.Modifiers()&(tcell.ModCtrl|tcell.ModAlt|tcell.ModMeta) == 0 {
			m.line, m.points = append(m.line, []rune(ev.Str())...), nil
		}
	}
	return false
}

func (m *model) refuse(why string) { m.message = why }

// enter carries out a line.
func (m *model) enter(line string) (leave bool) {
	line = strings.TrimSpace(line)
	m.line, m.points, m.message = nil, nil, ""
	m.view = m.table.View()
	if line == "" && m.view.Phase == otb.Announced && m.view.Game.Away.IsZero() && m.view.Now.Sub(m.view.Game.Choice.At) < hasty {
		m.refuse("This move has just appeared. Enter once it is on the board and the clock is pressed.")
		return false
	}
	if line != "" {
		m.before = line
	}
	switch strings.ToLower(line) {
	case "help", "?":
		m.help = true
		return false
	}
	err := m.table.Do(line)
	switch {
	case otb.Quit(err):
		return true
	case err != nil:
		m.refuse(err.Error())
		if _, ambiguous := errors.AsType[*otb.AmbiguousError](err); ambiguous {
			m.line = []rune(line) // to go on typing
		}
		return false
	}
	m.back = 0 // the news answer
	return false
}

// click takes a point that was clicked: the beginning of a move, its next point, or,
// a second time, the end of it.
func (m *model) click(point string) (leave bool) {
	m.message = ""
	if n := len(m.points); n > 0 && m.points[n-1] == point && len(m.line) > 0 {
		return m.enter(string(m.line))
	}
	pos, ours := m.view.Entering()
	if m.view.Phase == otb.Setup || m.view.Phase == otb.Ended || m.view.Phase == otb.RuleEnd {
		m.refuse("No move can be made now.")
		return false
	}
	chosen := append(slices.Clone(m.points), point)
	move, begins := clicked(pos, chosen)
	if !begins {
		chosen = []string{point}
		if move, begins = clicked(pos, chosen); !begins {
			if _, err := otb.Read(pos, strings.Join(append(slices.Clone(m.points), point), ""), false); err != nil {
				m.refuse(err.Error())
			}
			m.points, m.line = nil, nil
			return false
		}
	}
	m.points, m.line = chosen, nil
	if move != "" {
		if ours {
			move = "hand " + move
		}
		m.line = []rune(move)
	}
	return false
}

// clicked returns the move that consists of points, "" if they are only the beginning of
// one; begins is false if they are not even that.
func clicked(pos game.Position, points []string) (move string, begins bool) {
	for _, legal := range pos.Legal(nil) {
		text := pos.Format(legal)
		all := view.Points(text)
		if len(all) >= len(points) && slices.Equal(all[:len(points)], points) {
			begins = true
			if len(all) == len(points) {
				return text, true
			}
		}
	}
	return "", begins
}

// targets returns where the points chosen so far may be followed.
func targets(pos game.Position, points []string) (next []string) {
	if len(points) == 0 {
		return nil
	}
	seen := map[string]bool{}
	for _, legal := range pos.Legal(nil) {
		all := view.Points(pos.Format(legal))
		if len(all) > len(points) && slices.Equal(all[:len(points)], points) && !seen[all[len(points)]] {
			seen[all[len(points)]] = true
			next = append(next, all[len(points)])
		}
	}
	return next
}
