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

	"sparring/game"
	"sparring/otb"
	"sparring/screen/view"
)

// Options set up a screen.
type Options struct {
	Tty    tcell.Tty // nil: the terminal of the process
	Scores bool      // show score and depth from the start
}

// refresh is how often running clocks are drawn.
const refresh = 200 * time.Millisecond

// Show shows a table until the operator leaves or ctx ends. The error is nil if the
// operator has left.
func Show(ctx context.Context, t *otb.Table, o Options) error {
	s, err := tcell.NewTerminfoScreenFromTty(o.Tty, tcell.OptSanitizeContent(true))
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
		p := painter{Screen: s, colours: s.Colors() >= maxColours}
		p.draw(&m)
		s.Show()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.Changed():
		case <-tick.C:
		case ev, open := <-s.EventQ():
			for more := true; more; { // typed faster than drawn
				if !open {
					return errors.New("the terminal has gone")
				}
				if m.handle(ev) {
					return nil
				}
				if _, resized := ev.(*tcell.EventResize); resized {
					m.redraw = true
				}
				select {
				case ev, open = <-s.EventQ():
				default:
					more = false
				}
			}
			if m.redraw {
				m.redraw = false
				s.Sync()
			}
		}
	}
}

// maxColours is how many colours a terminal needs for a board of wood: with fewer the
// white stones would vanish, and the board is drawn without.
const maxColours = 256

// model is what the screen knows besides the table.
type model struct {
	table *otb.Table
	view  otb.View

	line                []rune // being typed
	before              string // the line entered last
	points              []string
	message             string // why the last line was refused; it stays until the next key
	scores              bool
	turned              bool // the board is seen from the other side
	help                bool // is shown, from helpPage on, of helpPages
	helpPage, helpPages int
	back                int // how far the list of moves is scrolled back
	redraw              bool
	leaving             time.Time // when Ctrl-C was pressed
	board               board
	hasBoard            bool
	pressed             bool // the mouse's button is down

	hinted   string // the position and the line that hintText is for
	hintText string
}

// hint says what the line being typed would do.
func (m *model) hint() string {
	line := string(m.line)
	if key := fmt.Sprint(len(m.view.Game.Plies), m.view.Phase, line); key != m.hinted {
		m.hinted, m.hintText = key, m.view.Hint(line)
	}
	return m.hintText
}

// hasty is how soon after our move or an end was announced an empty line is taken for a
// mistake: the second of two Enters.
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
		m.helpPage++
		next := ev.Key() == tcell.KeyPgDn || ev.Key() == tcell.KeyRune && ev.Str() == " "
		if !next || m.helpPage >= m.helpPages {
			m.help, m.helpPage = false, 0
		}
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
	if line == "" && m.isHasty() {
		m.refuse("This has just appeared. Read it, and then press Enter.")
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
	m.back = 0 // the messages answer
	return false
}

// isHasty reports whether what Enter would confirm is too new to have been read.
func (m *model) isHasty() bool {
	g := m.view.Game
	var since time.Time
	switch {
	case len(g.Away) > 0:
	case m.view.Phase == otb.Announced:
		since = g.Choice.At
	case m.view.Phase == otb.RuleEnd && len(g.Plies) > 0:
		since = g.Plies[len(g.Plies)-1].At
	}
	return m.view.Now.Sub(since) < hasty
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
