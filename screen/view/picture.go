package view

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// cell is the distance of two points in the units of a drawing. The page's script
// draws with the same units and classes, so one style sheet is enough.
const cell = 40

// drawing is a board that is drawn as SVG, row by row from the top.
type drawing struct {
	v       *View
	margin  struct{ left, right, top, bottom int }
	written strings.Builder
}

// ground draws the board of a game without pieces.
type ground struct {
	margins [4]int // left, right, top, bottom
	draw    func(d *drawing)
	// piece draws the piece of a code around the origin.
	piece func(code string) string
	// edges: the coordinates stand in the corners of the squares.
	edges bool
}

var grounds = map[string]ground{
	"xiangqi": {margins: [4]int{8, 0, 0, 10}, draw: (*drawing).xiangqi, piece: xiangqiPiece},
	"gomoku":  {margins: [4]int{22, 8, 8, 22}, draw: (*drawing).gomoku, piece: stone},
	"amazons": {draw: (*drawing).squares, piece: amazon, edges: true},
}

// Picture draws a view as SVG, with marks on the points of the last move. The
// label tells its content to people who can't see it. Moves that are told come last. Games that are not among
// those above are drawn as squares with the codes of the pieces.
func Picture(v *View, label string, told ...Told) template.HTML {
	g, ok := grounds[v.Game]
	if !ok {
		g = ground{draw: (*drawing).squares, piece: letter, edges: true}
	}
	d := &drawing{v: v}
	d.margin.left, d.margin.right, d.margin.top, d.margin.bottom = g.margins[0], g.margins[1], g.margins[2], g.margins[3]
	d.add(`<svg class="board-drawing %s" viewBox="0 0 %d %d" role="img" aria-label="%s">`,
		html.EscapeString(v.Game), d.width(), d.height(), html.EscapeString(label))
	g.draw(d)
	d.coordinates(g.edges)
	if v.Check != "" {
		d.at(v.Check, `<g class="check"><circle r="19"/></g>`)
	}
	last := Points(v.Last)
	for i, point := range last {
		mark := corners(18.5, 8)
		if i == 0 && len(last) > 1 {
			mark = corners(12, 6)
		}
		if len(last) > 1 {
			d.at(point, `<path class="last" d="`+mark+`"/>`)
		}
	}
	for row := v.Rows - 1; row >= 0; row-- {
		for column := range v.Columns {
			point := Point(column, v.FirstRow+row)
			if code := v.Pieces[point]; code != "" {
				d.at(point, g.piece(code))
			}
		}
	}
	if len(last) == 1 {
		d.at(last[0], `<circle class="last-stone" r="6.5"/>`)
	}
	for _, point := range v.Row {
		d.at(point, `<circle class="won" r="18"/>`)
	}
	for _, t := range told {
		d.told(t)
	}
	d.add("</svg>")
	return template.HTML(d.written.String()) // of numbers, codes of pieces and escaped text
}

// Told is a move that is pointed out in a position, such as a better one.
type Told struct {
	Move string // in coordinates
	Kind string // "best" or "mistake"
}

// told draws arrows along the points of a move, or marks its only point.
func (d *drawing) told(t Told) {
	points := Points(t.Move)
	if len(points) == 1 {
		sign := "M-4 0L-1 3.5L4.5 -3.5"
		if t.Kind == "mistake" {
			sign = "M-3.5 -3.5L3.5 3.5M3.5 -3.5L-3.5 3.5"
		}
		d.at(points[0], `<g class="told `+html.EscapeString(t.Kind)+`"><circle r="18.5"/><g class="badge" transform="translate(13 -13)"><circle r="7.5"/><path d="`+sign+`"/></g></g>`)
	}
	for i := 1; i < len(points); i++ {
		fromColumn, fromRow, ok := ParsePoint(points[i-1])
		toColumn, toRow, too := ParsePoint(points[i])
		if !ok || !too {
			return
		}
		dx, dy := float64(toColumn-fromColumn)*cell, float64(fromRow-toRow)*cell
		tip := math.Hypot(dx, dy) - 8
		d.at(points[i-1], fmt.Sprintf(`<path class="arrow told %s" transform="rotate(%.4g)" d="M12 -3.5H%.4gV-9L%.4g 0L%.4g 9V3.5H12Z"/>`,
			html.EscapeString(t.Kind), math.Atan2(dy, dx)*180/math.Pi, tip-13, tip, tip-13))
	}
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.written, format, args...) }

func (d *drawing) width() int  { return d.margin.left + d.v.Columns*cell + d.margin.right }
func (d *drawing) height() int { return d.margin.top + d.v.Rows*cell + d.margin.bottom }

// x and y return the middle of a column from the left and of a row from the bottom.
func (d *drawing) x(column int) int { return d.margin.left + column*cell + cell/2 }
func (d *drawing) y(row int) int {
	return d.margin.top + (d.v.Rows-1-row)*cell + cell/2
}

// at draws something around a point. A point that is not on the board is left out.
func (d *drawing) at(point, what string) {
	column, row, ok := ParsePoint(point)
	if row -= d.v.FirstRow; !ok || column >= d.v.Columns || row < 0 || row >= d.v.Rows {
		return
	}
	d.add(`<g transform="translate(%d %d)">%s</g>`, d.x(column), d.y(row), what)
}

// corners draws the four corners of a square: r is half of its side, l the length
// of each line.
func corners(r, l float64) string {
	var path strings.Builder
	for _, s := range [][2]float64{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}} {
		fmt.Fprintf(&path, "M%g %gV%gH%g", s[0]*r, s[1]*(r-l), s[1]*r, s[0]*(r-l))
	}
	return path.String()
}

// coordinates writes the names of columns and rows, inside the squares or at the
// board's edge.
func (d *drawing) coordinates(inside bool) {
	label := func(x, y int, text string) { d.add(`<text class="coordinate" x="%d" y="%d">%s</text>`, x, y, text) }
	for column := range d.v.Columns {
		x := d.x(column)
		if inside {
			x += 15
		}
		label(x, d.height()-max(6, d.margin.bottom/2), string(rune('a'+column)))
	}
	for row := range d.v.Rows {
		x, y := max(6, d.margin.left/2), d.y(row)
		if inside {
			y -= 13
		}
		label(x, y, fmt.Sprint(d.v.FirstRow+row))
	}
}

func (d *drawing) wood() { d.add(`<rect class="wood" width="%d" height="%d"/>`, d.width(), d.height()) }

func (d *drawing) xiangqi() {
	d.wood()
	left, right, top, bottom := d.x(0), d.x(8), d.y(9), d.y(0)
	d.add(`<rect class="edge" x="%d" y="%d" width="%d" height="%d"/><path class="line" d="`, left-4, top-4, right-left+8, bottom-top+8)
	for row := range 10 {
		d.add("M%d %dH%d", left, d.y(row), right)
	}
	for column := 1; column < 8; column++ {
		d.add("M%d %dV%dM%d %dV%d", d.x(column), top, d.y(5), d.x(column), d.y(4), bottom)
	}
	d.add("M%d %dV%dM%d %dV%d", left, top, bottom, right, top, bottom)
	for _, row := range []int{2, 9} {
		d.add("M%d %dL%d %dM%d %dL%d %d", d.x(3), d.y(row), d.x(5), d.y(row-2), d.x(5), d.y(row), d.x(3), d.y(row-2))
	}
	marked := [][2]int{{1, 2}, {7, 2}, {1, 7}, {7, 7}}
	for column := 0; column < 9; column += 2 {
		marked = append(marked, [2]int{column, 3}, [2]int{column, 6})
	}
	for _, p := range marked {
		for _, dx := range []int{-1, 1} {
			if p[0] == 0 && dx < 0 || p[0] == 8 && dx > 0 {
				continue
			}
			for _, dy := range []int{-1, 1} {
				d.add("M%d %dv%dh%d", d.x(p[0])+dx*3, d.y(p[1])+dy*9, -dy*6, dx*6)
			}
		}
	}
	river := (d.y(4)+d.y(5))/2 + 9
	d.add(`"/><text class="river" x="%d" y="%d">楚河</text><text class="river" x="%d" y="%d">漢界</text>`, d.x(2), river, d.x(6), river)
}

func (d *drawing) gomoku() {
	d.wood()
	n := d.v.Columns
	d.add(`<path class="line" d="`)
	for i := range n {
		d.add("M%d %dV%dM%d %dH%d", d.x(i), d.y(0), d.y(n-1), d.x(0), d.y(i), d.x(n-1))
	}
	d.add(`"/>`)
	stars := []int{3, n - 4}
	if n%2 == 1 {
		stars = append(stars, n/2)
	}
	for _, column := range stars {
		for _, row := range stars {
			if n > 15 || (column == n/2) == (row == n/2) {
				d.add(`<circle class="star" cx="%d" cy="%d" r="4"/>`, d.x(column), d.y(row))
			}
		}
	}
}

func (d *drawing) squares() {
	d.add(`<rect class="light" width="%d" height="%d"/>`, d.width(), d.height())
	for row := range d.v.Rows {
		for column := range d.v.Columns {
			if (column+row)%2 == 0 {
				d.add(`<rect class="dark" x="%d" y="%d" width="%d" height="%d"/>`, d.x(column)-cell/2, d.y(row)-cell/2, cell, cell)
			}
		}
	}
}

// characters are those of the pieces of Xiangqi, by their letters.
var characters = map[string]string{
	"K": "帥", "A": "仕", "B": "相", "N": "傌", "R": "俥", "C": "炮", "P": "兵",
	"k": "將", "a": "士", "b": "象", "n": "馬", "r": "車", "c": "砲", "p": "卒",
}

func xiangqiPiece(code string) string {
	side := "black"
	if code < "a" {
		side = "red"
	}
	return `<g class="piece disc ` + side + `"><circle r="18"/><circle class="ring" r="15.6"/><text class="glyph" y="8.4">` + characters[code] + `</text></g>`
}

func stone(code string) string {
	switch code {
	case "#":
		return `<g class="piece dead"><circle r="17"/><path d="M-7 -7L7 7M7 -7L-7 7"/></g>`
	case "?":
		return `<g class="piece offered"><circle r="15.5"/><circle r="4"/></g>`
	case "x":
		return `<g class="piece stone black"><circle r="17.5"/></g>`
	}
	return `<g class="piece stone white"><circle r="17.5"/></g>`
}

func amazon(code string) string {
	if code == "*" {
		return `<g class="piece arrowed"><rect x="-15" y="-15" width="30" height="30" rx="5"/><path d="M-7 7L6 -6M-2 -7H7V2"/></g>`
	}
	side := "black"
	if code == "Q" {
		side = "white"
	}
	return `<g class="piece queen ` + side + `"><path d="M-10 7.5L-13 -5.5L-6.8 -.6L-5 -9.6L0 -2L5 -9.6L6.8 -.6L13 -5.5L10 7.5ZM-9.5 9.5H9.5V13H-9.5Z"/></g>`
}

// letter shows a piece of a game that has no drawings.
func letter(code string) string {
	return `<text y="8">` + html.EscapeString(code) + `</text>`
}
