package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"
	"github.com/mattn/go-runewidth"

	"sparring/game"
	"sparring/game/gomoku"
	"sparring/otb"
	"sparring/screen/view"
)

// painter draws on a screen.
type painter struct {
	tcell.Screen
	colours bool
	width   int
	height  int
}

func (p *painter) plain() tcell.Style { return tcell.StyleDefault }

// board is the style of a board: wood, where there are colours.
func (p *painter) board() tcell.Style {
	if !p.colours {
		return tcell.StyleDefault
	}
	return tcell.StyleDefault.Background(color.BurlyWood).Foreground(color.Black)
}

// coloured sets the colour of a text, where there are colours.
func (p *painter) coloured(s tcell.Style, c tcell.Color) tcell.Style {
	if !p.colours {
		return s
	}
	return s.Foreground(c)
}

// put writes a text and returns the column after it. What is beyond the edge is cut.
func (p *painter) put(x, y int, text string, style tcell.Style) int {
	for text != "" && x < p.width {
		rest, w := p.Put(x, y, text, style)
		if rest == text || w == 0 && rest == "" {
			break
		}
		text, x = rest, x+w
	}
	return x
}

// fill writes a text over a whole stretch of a row.
func (p *painter) fill(x, y, columns int, text string, style tcell.Style) {
	text = runewidth.Truncate(text, columns, "")
	p.put(x, y, text+strings.Repeat(" ", columns-runewidth.StringWidth(text)), style)
}

// The least sizes of the panel beside the board.
const (
	panelColumns = 34
	panelRows    = 12
)

// draw draws everything.
func (p *painter) draw(m *model) {
	p.Clear()
	p.width, p.height = p.Size()
	v := &m.view
	p.header(v)
	p.bottom(m)
	rows := p.height - 3 // between the header and the two lines at the bottom
	if m.help {
		p.drawHelp(m, rows)
		return
	}
	m.board, m.hasBoard = lay(v.Pos, p.width-panelColumns, rows, 1, m.turned != fromAbove(v))
	x := 0
	if m.hasBoard {
		pos, _ := v.Entering()
		mk := marks{selected: m.points}
		if n := len(m.points); n > 0 {
			mk.targets = targets(pos, m.points)
		}
		mk.last, mk.announce, mk.row, mk.check = marked(v)
		if len(mk.announce) == 3 {
			mk.arrow = mk.announce[2]
		}
		p.drawBoard(m.board, v.Pos, mk)
		x = m.board.width + 2
	}
	p.panel(m, x, 1, p.width-x, rows)
}

// fromAbove reports whether we sit at the upper side of the board. Stones have no side.
func fromAbove(v *otb.View) bool {
	return v.Game.Terms.Us == game.Second && v.Pos.Rules().Game != gomoku.Name
}

// marked returns the points of the last move, of our announced move, of a row that has
// won, and of a king in check.
func marked(v *otb.View) (last, announced, row []string, check string) {
	if n := len(v.Game.Plies); n > 0 {
		last = view.Points(v.Game.Plies[n-1].Move)
	}
	if v.Phase == otb.Announced {
		announced = view.Points(v.Game.Choice.Move)
	}
	if w, ok := v.Pos.(game.Winner); ok {
		row = w.Row()
	}
	if c, ok := v.Pos.(game.Checker); ok {
		check = c.Check()
	}
	return last, announced, row, check
}

// header draws the first row: what is played, and between whom.
func (p *painter) header(v *otb.View) {
	t := v.Game.Terms
	left := fmt.Sprintf(" %s  %s", t.Rules, strings.TrimSpace(t.Event+" "+t.Place))
	right := fmt.Sprintf("ply %d  F1 help ", len(v.Game.Plies))
	style := p.plain().Reverse(true)
	p.fill(0, 0, p.width, left, style)
	p.put(max(p.width-len(right), 0), 0, right, style)
	if v.Unsaved != "" {
		p.fill(0, 0, p.width, " NOT SAVED: "+v.Unsaved, p.coloured(style.Bold(true), color.Red))
	}
}

// bottom draws the last two rows: an answer or the latest message, and the line being
// typed, with what it means.
func (p *painter) bottom(m *model) {
	v := &m.view
	text, style := m.message, p.plain().Bold(true)
	if text != "" {
		text, style = "! "+text, p.coloured(style.Reverse(true), color.Red)
	}
	if m.message == "" {
		if n := len(v.Messages); n > 0 {
			text, style = v.Messages[n-1].Text, p.plain().Bold(v.Messages[n-1].Alert)
		}
	}
	if hint := m.hint(); hint != "" && m.message == "" {
		text, style = hint, p.plain().Bold(strings.HasPrefix(hint, "="))
		if len(m.points) > 0 {
			text += "  (Enter, or a click on the same point)"
		}
	}
	p.fill(0, p.height-2, p.width, text, style)
	end := p.put(0, p.height-1, "> ", p.plain().Bold(true))
	end = p.put(end, p.height-1, string(m.line), p.plain().Bold(true))
	p.ShowCursor(min(end, p.width-1), p.height-1)
}

// panel draws what stands beside the board.
func (p *painter) panel(m *model, x, y, columns, rows int) {
	v := &m.view
	us := v.Game.Terms.Us
	end := y + rows
	y = p.clock(v, us.Other(), x, y, columns)
	y = p.clock(v, us, x, y, columns)
	if rows >= panelRows {
		p.put(x, y, strings.Repeat("─", columns), p.plain().Dim(true))
		y++
	}
	y = p.move(v, x, y, columns)
	for _, line := range wrap(v.Prompt, columns) {
		if y < end {
			p.put(x, y, line, p.plain().Bold(true))
		}
		y++
	}
	y = p.engine(m, x, y, columns, end)
	p.lists(m, x, y, columns, end)
}

// clock draws a seat's name and clock.
func (p *painter) clock(v *otb.View, seat game.Seat, x, y, columns int) int {
	name := v.Game.Terms.Names[seat]
	side := otb.Colour(v.Pos, seat)
	if seat == v.Game.Terms.Us {
		side += ", we"
	}
	runs := v.Clocks.Running && v.Clocks.Turn == seat
	mark, style := "  ", p.plain()
	if runs {
		mark, style = "> ", p.plain().Bold(true).Reverse(true)
	}
	if v.Clocks.Fallen[seat] {
		style = p.coloured(style.Bold(true), color.Red)
	}
	text := mark + v.ClockText(seat)
	if runs {
		text += "   this move " + otb.ClockText(v.Clocks.Used)
		if most := time.Duration(v.Game.Terms.MoveMS) * time.Millisecond; most > 0 {
			text += " of " + otb.ClockText(most)
		}
	}
	p.put(x, y, runewidth.Truncate(fmt.Sprintf("%s (%s)", name, side), columns, "…"), p.plain())
	p.fill(x, y+1, columns, text, style)
	return y + 2
}

// move draws our move large, while it is announced.
func (p *painter) move(v *otb.View, x, y, columns int) int {
	if v.Phase != otb.Announced || len(v.Shown) == 0 {
		return y
	}
	style := p.plain().Bold(true).Reverse(true)
	rows, ok := big(v.Shown[0], columns-6)
	if !ok {
		rows = [3]string{"", spaced(v.Shown[0], columns-6), ""}
	}
	for i, row := range rows {
		text := "  " + row
		if i == 1 && !ok {
			text = " WE: " + row
		}
		p.fill(x, y+i, columns, text, style)
	}
	y += 3
	if rest := strings.Join(v.Shown[1:], "   "); rest != "" {
		p.fill(x, y, columns, "  "+rest, style)
		y++
	}
	return y
}

// spaced writes a text with blanks between its characters, if there is room.
func spaced(text string, columns int) string {
	wide := strings.Join(strings.Split(text, ""), " ")
	if len(text) == len([]rune(text)) || runewidth.StringWidth(wide) > columns {
		return text
	}
	return wide
}

// engine draws what our engine does, and, unless hidden, what it thinks of the game.
func (p *painter) engine(m *model, x, y, columns, end int) int {
	a := m.view.Engine
	text := "engine: " + a.State
	if a.State == "thinking" || a.State == "pondering" {
		text += " " + otb.ClockText(a.For)
	}
	lines := []string{text}
	if m.scores && a.Known {
		lines = append(lines, fmt.Sprintf("depth %d, we win %.0f %%", a.Depth, 100*a.Chance))
		lines = append(lines, wrap(strings.Join(a.Line[:min(len(a.Line), 6)], " "), columns)...)
	} else if !m.scores {
		lines[0] += "  (F2 score)"
	}
	for i, line := range lines {
		if y+i < end {
			p.put(x, y+i, runewidth.Truncate(line, columns, ""), p.plain().Dim(i > 0))
		}
	}
	return y + len(lines)
}

// lists draws the last moves and, below them, the last messages.
func (p *painter) lists(m *model, x, y, columns, end int) {
	v := &m.view
	free := end - y
	if free < 2 {
		return
	}
	messages := min(free/3, 6)
	const half = 17
	rows := free - messages
	first := max(len(v.Game.Plies)-2*rows+len(v.Game.Plies)%2-m.back/2*2, 0) / 2 * 2
	for row := range rows {
		for i := range 2 {
			ply := first + 2*row + i
			if ply < len(v.Moves) {
				p.put(x+i*half, y+row, fmt.Sprintf("%3d. %s", ply+1, v.Moves[ply]), p.plain())
			}
		}
	}
	y += rows
	for i := range messages {
		if n := len(v.Messages) - messages + i; n >= 0 {
			text := v.Messages[n].At.Local().Format("15:04:05 ") + v.Messages[n].Text
			p.put(x, y+i, runewidth.Truncate(text, columns, "…"), p.plain().Bold(v.Messages[n].Alert).Dim(!v.Messages[n].Alert))
		}
	}
}

// keys are what the keyboard and the mouse do, for the help.
var keys = []string{
	"Enter  go ahead: start, our move is made, the clocks are right",
	"F2 score and depth   F3 undo   F4 turn the board   F5 redraw   F8 move now",
	"Page Up and Down scroll the moves; Esc empties the line, Up brings the last one back",
	"Ctrl-C twice leaves; the game can be resumed",
	"Mouse: click the points of a move, the last one twice",
}

// helpColumn is where the explanations of the help begin.
const helpColumn = 30

// helpLines returns the keys and commands, in lines of some columns.
func helpLines(columns int) (lines []string) {
	lines = append(append(lines, keys...), "")
	for _, line := range otb.Help() {
		name, about := line[:min(helpColumn, len(line))], line[min(helpColumn, len(line)):]
		for _, part := range wrap(about, max(columns-helpColumn, 20)) {
			lines = append(lines, fmt.Sprintf("%-*s%s", helpColumn, name, part))
			name = ""
		}
	}
	return lines
}

// drawHelp draws a page of the help.
func (p *painter) drawHelp(m *model, rows int) {
	lines := helpLines(p.width)
	rows = max(rows, 1)
	m.helpPages = (len(lines) + rows - 1) / rows
	for i, line := range lines[min(m.helpPage*rows, len(lines)):] {
		if i < rows {
			p.put(0, i+1, runewidth.Truncate(line, p.width, ""), p.plain())
		}
	}
	p.fill(0, p.height-2, p.width, fmt.Sprintf("page %d of %d: Space or Page Down for the next one, any other key goes on", m.helpPage+1, m.helpPages), p.plain().Bold(true))
}

// wrap breaks a text into lines of at most so many columns.
func wrap(text string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case runewidth.StringWidth(line)+1+runewidth.StringWidth(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for runewidth.StringWidth(line) > columns && columns > 1 {
			head := runewidth.Truncate(line, columns, "")
			lines, line = append(lines, head), line[len(head):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
