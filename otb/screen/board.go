package screen

import (
	"slices"
	"strings"

	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"

	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
	"sparring/screen/view"
)

// board is where the points of a board stand on the screen.
type board struct {
	grid       game.Grid
	x, y       int // of the point at the top left
	dx, dy     int // from point to point
	turned     bool
	width, end int // columns from the left edge, and the first row below
}

// labels is the width of the labels left of a board.
const labels = 3

// lay returns the largest board for some columns and rows from row top on; ok is false
// if there is no room.
func lay(p game.Position, columns, rows, top int, turned bool) (b board, ok bool) {
	pictured, ok := p.(game.Pictured)
	if !ok {
		return b, false
	}
	b.grid, b.turned, b.dx = pictured.Grid(), turned, 4
	for ; ; b.dx -= 2 {
		b.width = labels + (b.grid.Columns-1)*b.dx + 3
		if b.width <= columns {
			break
		}
		if b.dx == 2 || p.Rules().Game == xiangqi.Name {
			return b, false
		}
	}
	river := 0
	if p.Rules().Game == xiangqi.Name {
		river = 1
	}
	switch {
	case 2*b.grid.Rows-1+2 <= rows && b.dx == 4:
		b.dy = 2
	case b.grid.Rows+2+river <= rows:
		b.dy = 1
	default:
		return b, false
	}
	b.x, b.y = labels+1, top+1
	b.end = b.y + (b.grid.Rows-1)*b.dy + 2
	if b.dy == 1 {
		b.end += river
	}
	return b, true
}

// at returns where a point is drawn.
func (b *board) at(column, row int) (x, y int) {
	row -= b.grid.FirstRow
	if b.turned {
		column, row = b.grid.Columns-1-column, b.grid.Rows-1-row
	}
	y = b.y + (b.grid.Rows-1-row)*b.dy
	if b.dy == 1 && b.riverBefore(b.grid.Rows-1-row) {
		y++
	}
	return b.x + column*b.dx, y
}

// riverBefore reports whether a line from the top is below the river. Only Xiangqi's
// board has 9 columns.
func (b *board) riverBefore(line int) bool { return b.grid.Columns == 9 && line >= b.grid.Rows/2 }

// point returns the point that is drawn nearest to a cell; ok is false off the board.
func (b *board) point(x, y int) (name string, ok bool) {
	for column := range b.grid.Columns {
		for row := range b.grid.Rows {
			px, py := b.at(column, row+b.grid.FirstRow)
			if 2*(x-px) >= -b.dx+1 && 2*(x-px) <= b.dx && y == py || b.dx == 2 && x == px && y == py {
				return view.Point(column, row+b.grid.FirstRow), true
			}
		}
	}
	return "", false
}

// faces are the characters on the pieces of Xiangqi: those of the sides differ, so that
// no colour is needed.
var faces = map[string]string{
	"K": "帥", "A": "仕", "B": "相", "N": "傌", "R": "俥", "C": "炮", "P": "兵",
	"k": "將", "a": "士", "b": "象", "n": "馬", "r": "車", "c": "砲", "p": "卒",
}

// marks are the points of a board that stand out.
type marks struct {
	last     []string // of the last move
	announce []string // of our move that is announced
	arrow    string   // the last of them, if an arrow goes there
	selected []string
	targets  []string
	row      []string // that has won
	check    string
}

// drawBoard draws a position.
func (p *painter) drawBoard(b board, pos game.Position, m marks) {
	name := pos.Rules().Game
	pieces := pos.(game.Pictured).Pieces()
	p.grid(b, name)
	for column := range b.grid.Columns {
		for row := range b.grid.Rows {
			point := view.Point(column, row+b.grid.FirstRow)
			x, y := b.at(column, row+b.grid.FirstRow)
			text, style := p.piece(name, pieces[point])
			if point == m.arrow {
				text = "#"
			}
			width := 1
			if text != "" {
				width = p.put(x, y, text, style) - x
			}
			p.mark(x, y, width, point, m)
		}
	}
	p.labels(b, pos)
}

// piece returns what is drawn for the code of a piece, "" for an empty point.
func (p *painter) piece(gameName, code string) (text string, style tcell.Style) {
	style = p.board().Bold(true)
	if code == "" {
		return "", style
	}
	switch gameName {
	case xiangqi.Name:
		if code == strings.ToUpper(code) {
			return faces[code], p.coloured(style, color.Red)
		}
		return faces[code], style
	case gomoku.Name:
		stone := map[string]string{"x": "●", "o": "●", "#": "#", "?": "?"}[code]
		if !p.colours {
			stone = map[string]string{"x": "X", "o": "O", "#": "#", "?": "?"}[code]
		}
		if code == "x" {
			return stone, p.coloured(style, color.Black)
		}
		return stone, p.coloured(style, color.White)
	case amazons.Name:
		switch code {
		case "Q":
			return "W", p.coloured(style, color.White)
		case "q":
			return "B", p.coloured(style, color.Black)
		}
		return "#", p.board().Dim(!p.colours)
	}
	return code, style
}

// mark draws brackets around a point that stands out.
func (p *painter) mark(x, y, width int, point string, m marks) {
	in := func(list []string) bool { return slices.Contains(list, point) }
	var open, close string
	style := p.board().Bold(true)
	switch {
	case in(m.selected):
		open, close, style = "{", "}", p.coloured(style, color.Blue)
	case in(m.announce):
		open, close, style = "<", ">", p.coloured(style, color.DarkGreen)
	case in(m.row), m.check == point:
		open, close, style = "!", "!", p.coloured(style, color.Red)
	case in(m.last):
		open, close, style = "[", "]", p.coloured(style, color.Blue)
	case in(m.targets):
		p.put(x, y, "+", p.coloured(style, color.Blue))
		return
	default:
		return
	}
	p.put(x-1, y, open, style)
	p.put(x+width, y, close, style)
}

// grid draws the lines of an empty board.
func (p *painter) grid(b board, gameName string) {
	style := p.board()
	left, top := b.at(0, b.grid.FirstRow+b.grid.Rows-1)
	right, bottom := b.at(b.grid.Columns-1, b.grid.FirstRow)
	if b.turned {
		left, top, right, bottom = right, bottom, left, top
	}
	for y := top; y <= bottom; y++ {
		for x := left - 1; x <= right+2; x++ {
			p.put(x, y, " ", style)
		}
	}
	for line := range b.grid.Rows {
		for column := range b.grid.Columns {
			x, y := left+column*b.dx, top+line*b.dy
			if b.dy == 1 && b.riverBefore(line) {
				y++
			}
			if gameName == amazons.Name {
				p.put(x, y, "·", style)
				continue
			}
			p.put(x, y, crossing(line, column, b.grid, gameName), style)
			if column < b.grid.Columns-1 {
				p.put(x+1, y, strings.Repeat("─", b.dx-1), style)
			}
			if b.dy == 2 && line < b.grid.Rows-1 && (!b.riverBefore(line+1) || b.riverBefore(line) || column%(b.grid.Columns-1) == 0) {
				p.put(x, y+1, "│", style)
			}
		}
	}
	if gameName != xiangqi.Name {
		return
	}
	half := b.grid.Rows / 2
	y := top + (half-1)*b.dy + 1
	p.put(left+b.dx+2, y, "楚 河", style.Dim(true))
	p.put(left+5*b.dx+2, y, "漢 界", style.Dim(true))
	if b.dy == 2 {
		for _, line := range []int{0, b.grid.Rows - 3} {
			for i, text := range []string{"╲", "╱", "╱", "╲"} {
				p.put(left+(3+i%2)*b.dx+2, top+(line+i/2)*b.dy+1, text, style.Dim(true))
			}
		}
	}
}

// crossing returns the lines that meet in a point.
func crossing(line, column int, g game.Grid, gameName string) string {
	north, south := line > 0, line < g.Rows-1
	if gameName == xiangqi.Name && column > 0 && column < g.Columns-1 {
		north, south = north && line != g.Rows/2, south && line != g.Rows/2-1
	}
	rows := map[[2]bool]string{{false, true}: "┌┬┐", {true, true}: "├┼┤", {true, false}: "└┴┘"}[[2]bool{north, south}]
	at := 1
	switch column {
	case 0:
		at = 0
	case g.Columns - 1:
		at = 2
	}
	return string([]rune(rows)[at])
}

// numerals are Red's numbers of the files of Xiangqi, from its right.
var numerals = [...]string{"一", "二", "三", "四", "五", "六", "七", "八", "九"}

// labels writes the names of columns and rows.
func (p *painter) labels(b board, pos game.Position) {
	style := p.plain().Dim(true)
	for column := range b.grid.Columns {
		x, y := b.at(column, b.grid.FirstRow)
		_, other := b.at(column, b.grid.FirstRow+b.grid.Rows-1)
		letter := string(rune('a' + column))
		red, black := letter, letter
		if pos.Rules().Game == xiangqi.Name {
			red, black = numerals[b.grid.Columns-1-column]+letter, string(rune('1'+column))+letter
		}
		p.put(x, max(y, other)+1, map[bool]string{false: red, true: black}[b.turned], style)
		p.put(x, min(y, other)-1, map[bool]string{false: black, true: red}[b.turned], style)
	}
	for row := range b.grid.Rows {
		_, y := b.at(0, row+b.grid.FirstRow)
		number := row + b.grid.FirstRow
		text := " " + string(rune('0'+number%10))
		if number > 9 {
			text = string(rune('0'+number/10)) + string(rune('0'+number%10))
		}
		p.put(0, y, text, style)
	}
}
