package sgf

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
	"sparring/record/format"
)

// writer builds the text of one game.
type writer struct {
	strings.Builder
	r      *record.Record
	row    row
	first  string // colour of seat first: "B" or "W"
	cols   int    // of the board
	rows   int
	column int // nodes on the line
}

func write(records []*record.Record, o format.WriteOptions) (string, error) {
	var all strings.Builder
	for _, r := range records {
		w := &writer{r: r}
		if err := w.game(o.Charset); err != nil {
			return "", &format.GameError{Format: "sgf", Game: r.ID, Err: err}
		}
		all.WriteString(w.String())
	}
	return all.String(), nil
}

func (w *writer) prop(id, text string) {
	if text != "" {
		w.WriteString(id + "[" + escape(text) + "]")
	}
}

func (w *writer) node() {
	if w.column%10 == 0 {
		w.WriteByte('\n')
	}
	w.column++
	w.WriteByte(';')
}

func (w *writer) game(charset format.Charset) error {
	r := w.r
	i := slices.IndexFunc(games, func(g row) bool { return g.game == r.Game })
	if i < 0 {
		return fmt.Errorf("%w: a game of %s", format.ErrCannot, r.Game)
	}
	w.row = games[i]
	end, err := format.Played(r, func(int, game.Position, game.Move) error { return nil })
	if err != nil {
		return err
	}
	w.first = firstColour(end, w.row.first)
	ca := "UTF-8"
	if charset == format.GBK {
		ca = "GB18030"
	}
	w.WriteString("(;FF[4]GM[" + w.row.number + "]CA[" + ca + "]AP[Sparring:1]")
	w.prop("RU", end.Rules().Name)
	w.prop("EV", simple(r.Event))
	w.prop("PC", simple(r.Place))
	if !r.Start.IsZero() {
		w.prop("DT", r.Start.UTC().Format("2006-01-02"))
	}
	w.clock()
	w.prop("GN", r.ID)
	w.prop("GC", r.Text)
	if err := w.start(); err != nil {
		return err
	}
	w.players()
	_, err = format.Played(r, func(ply int, p game.Position, m game.Move) error {
		w.node()
		if points, ok := w.points(p.Format(m)); ok {
			w.prop(colour(p, w.first), points)
		} else {
			w.prop("ACT", p.Format(m))
		}
		w.prop("N", format.Mark(r, ply-1))
		w.notes(&r.Plies[ply-1], w.colour(p.Turn()))
		return nil
	})
	w.WriteString(")\n")
	return err
}

var point = regexp.MustCompile(`[a-z][0-9]+`)

// points converts a move's text to points; ok is false for a text that does not
// have the form of the row's move.
func (w *writer) points(text string) (points string, ok bool) {
	if point.ReplaceAllString(text, "%s") != w.row.move {
		return "", false
	}
	for _, at := range point.FindAllString(text, -1) {
		number, _ := strconv.Atoi(at[1:]) // digits only
		points += at[:1] + letter(w.rows-1-(number-w.row.lowest))
	}
	return points, true
}

func (w *writer) colour(s game.Seat) string {
	if s == game.First {
		return w.first
	}
	return other(w.first)
}

func (w *writer) players() {
	for _, seat := range []game.Seat{game.First, game.Second} {
		s := w.r.Seats[seat]
		c := w.colour(seat)
		w.prop("P"+c, simple(format.Name(s)))
		w.prop(c+"P", format.ID(s))
	}
	w.prop("RE", w.result())
}

// endings are the reasons for which RE has a letter.
var endings = map[game.Reason]string{"resign": "R", "time": "T", "abandoned": "F"}

func (w *writer) result() string {
	switch r := w.r; {
	case r.Result == game.FirstWins:
		return w.colour(game.First) + "+" + endings[r.Reason]
	case r.Result == game.SecondWins:
		return w.colour(game.Second) + "+" + endings[r.Reason]
	case r.Result == game.Draw:
		return "Draw"
	case r.Reason != "":
		return "Void"
	}
	return "?"
}

// clock writes TM and OT, from the text that records have of the clock. A limit per
// move, which SGF does not define, is written in OT alone.
func (w *writer) clock() {
	c := w.r.Clock
	text, overtime := c.String(), ""
	if t := c.Traits(); t.Limited && !t.Saves {
		w.prop("OT", text)
		return
	}
	if _, increment, ok := strings.Cut(text, "+"); ok {
		overtime = increment + " fischer"
	} else if _, periods, ok := strings.Cut(text, "/"); ok {
		overtime = periods + " byo-yomi"
	}
	if c.Initial > 0 {
		w.prop("TM", format.Seconds(c.Initial.Milliseconds()))
	}
	w.prop("OT", overtime)
}

// notes writes what the record has of a ply besides the move.
func (w *writer) notes(p *record.Ply, colour string) {
	if p.LeftMS > 0 {
		w.prop(colour+"L", format.Seconds(p.LeftMS))
	}
	if p.Periods > 0 {
		w.prop("O"+colour, strconv.Itoa(p.Periods))
	}
	if t := p.Think; format.Evaluated(t) {
		v := t.Score // V counts for Black
		if colour == "W" {
			v = -v
		}
		w.prop("V", strconv.Itoa(v))
	}
	said := *p
	said.LeftMS = 0 // BL and WL have it
	w.prop("C", format.Comment(&said))
}

// place writes the points of a setup property.
func (w *writer) place(id string, points []string) {
	if len(points) > 0 {
		w.WriteString(id + "[" + strings.Join(points, "][") + "]")
	}
}

// start writes the size of the board and, unless it is the usual one, the start
// position.
func (w *writer) start() error {
	if w.row.setup == nil {
		w.cols, w.rows = w.row.cols, w.row.rows
		w.prop("FEN", w.r.Position)
		return nil
	}
	rules, err := catalog.Rules(w.r.Rules)
	if err != nil {
		return err
	}
	p, err := rules.New(w.r.Position)
	if err != nil {
		return err
	}
	g, ok := format.ParseGrid(p.String())
	if !ok && w.r.Position != "" {
		return fmt.Errorf("%w: the start position %.60q", format.ErrCannot, w.r.Position)
	}
	w.cols, w.rows = len(g.Rows[0]), len(g.Rows)
	size := strconv.Itoa(w.rows)
	if w.cols != w.rows {
		size = strconv.Itoa(w.cols) + ":" + size
	}
	w.prop("SZ", size)
	if w.r.Position == "" {
		return nil
	}
	points := map[byte][]string{}
	for row, cells := range g.Rows {
		for col, c := range cells {
			points[c] = append(points[c], letter(col)+letter(row))
		}
	}
	delete(points, '.')
	for _, s := range w.row.setup {
		w.place(s[0], points[s[1][0]])
		delete(points, s[1][0])
	}
	if len(points) > 0 { // dead stones of Gomoku's continuous rules
		return fmt.Errorf("%w: the start position %.60q", format.ErrCannot, w.r.Position)
	}
	w.prop("PL", w.colour(p.Turn()))
	return nil
}
