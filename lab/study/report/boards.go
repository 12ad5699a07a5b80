package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sparring/game"
	"sparring/record"
	"sparring/record/format"
	"sparring/record/review"
	"sparring/screen/view"
)

// board is a game as the page's script replays it.
type board struct {
	ID       string         `json:"id"`
	Game     string         `json:"game"`
	About    string         `json:"about"`
	Columns  int            `json:"columns"`
	Rows     int            `json:"rows"`
	FirstRow int            `json:"first_row"`
	Names    [2]string      `json:"names"`
	Sides    [2]string      `json:"sides"`
	Clock    string         `json:"clock"`
	Result   string         `json:"result"`
	Start    string         `json:"start"`   // pieces: "e0K e9k"
	Moves    []string       `json:"moves"`   // in coordinates
	Seats    string         `json:"seats"`   // of each move, 0 or 1
	Written  []string       `json:"written"` // in the notation of the language
	Changes  []string       `json:"changes"` // of the pieces by each move: "e0- e1K"
	Check    map[int]string `json:"check,omitempty"`
	Row      []string       `json:"row,omitempty"`
	Used     []int64        `json:"used,omitempty"` // ms
	Left     []int64        `json:"left,omitempty"` // ms
	Depth    []int          `json:"depth,omitempty"`
	Chance   []int          `json:"chance,omitempty"` // of seat first in permille, by position; -1: unknown
	Notes    map[int]note   `json:"notes,omitempty"`  // by ply before the move
	Reviewed bool           `json:"reviewed,omitempty"`
}

// note is what is said of a mistake.
type note struct {
	Class review.Class `json:"class"`
	Lost  int          `json:"lost"`           // permille
	Line  []string     `json:"line,omitempty"` // better, in coordinates
	Text  []string     `json:"text,omitempty"` // the same, as written
}

// notation returns the notation of moves for the language, as the page does; "" is
// that of the record.
func (w words) notation(p game.Position) game.Notation {
	n, ok := p.(game.Notated)
	if !ok {
		return ""
	}
	all := n.Notations()
	wanted := []game.Notation{"wxf", "slash"}
	if w.Lang == "zh" {
		wanted = []game.Notation{"chinese", "slash"}
	}
	for _, name := range wanted {
		if slices.Contains(all, name) {
			return name
		}
	}
	return all[0]
}

// pieces writes what stands where, or what changes from one position to the next.
func pieces(before, after map[string]string) string {
	var all []string
	for point, code := range after {
		if before[point] != code {
			all = append(all, point+code)
		}
	}
	for point := range before {
		if after[point] == "" {
			all = append(all, point+"-")
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// boardOf returns a game for the page's script.
func (r *reporter) boardOf(g *played) (*board, error) {
	rec := g.rec
	b := &board{ID: rec.ID, Game: rec.Game, Clock: rec.Clock.String(), Moves: []string{}, Written: []string{}, Changes: []string{},
		Check: map[int]string{}, Notes: map[int]note{}, Reviewed: g.review != nil}
	for i, s := range rec.Seats {
		b.Names[i] = format.Name(s)
	}
	p := g.start.Clone()
	v, err := view.Still(p)
	if err != nil {
		return nil, err
	}
	b.Columns, b.Rows, b.FirstRow, b.Start = v.Columns, v.Rows, v.FirstRow, pieces(nil, v.Pieces)
	notation := r.words.notation(p)
	var seats strings.Builder
	for i, ply := range rec.Plies {
		game.PlayOn(p)
		b.note(g, i, p, notation)
		before := v.Pieces
		if _, err := game.PlayText(p, ply.Move); err != nil {
			return nil, err
		}
		if v, err = view.Still(p); err != nil {
			return nil, err
		}
		b.Moves, b.Changes = append(b.Moves, ply.Move), append(b.Changes, pieces(before, v.Pieces))
		fmt.Fprint(&seats, min(int(ply.Seat), 1))
		if v.Check != "" {
			b.Check[i+1] = v.Check
		}
	}
	b.Seats, b.Sides, b.Row = seats.String(), v.Sides, v.Row
	b.Written = b.Moves
	if list := view.Written(p)[cmp.Or(notation, view.Plain)]; len(list) == len(b.Moves) {
		b.Written = list
	}
	b.Result = r.words.ended(rec.Result, rec.Reason, v.Sides)
	b.About = strings.Join(r.about(rec), " · ")
	b.numbers(g)
	return b, nil
}

// note adds what is known of a mistake, in the position before it.
func (b *board) note(g *played, ply int, p game.Position, n game.Notation) {
	t := g.turns[ply]
	if t.class == "" {
		return
	}
	b.Notes[ply] = note{Class: t.class, Lost: permille(t.lost), Line: t.line, Text: writtenLine(p, n, t.line)}
}

// writtenLine writes a line in a notation, as far as it can be played.
func writtenLine(p game.Position, n game.Notation, line []string) []string {
	var moves []game.Move
	q := p.Clone()
	for _, text := range line {
		m, err := game.PlayText(q, text)
		if err != nil {
			break
		}
		moves = append(moves, m)
	}
	if len(moves) == 0 {
		return nil
	}
	return game.FormatLine(p, n, moves)
}

// numbers adds times, depths and chances, as far as any are known.
func (b *board) numbers(g *played) {
	plies := g.rec.Plies
	have := func(of func(record.Ply) int64) []int64 {
		all, any := make([]int64, len(plies)), false
		for i, p := range plies {
			all[i] = of(p)
			any = any || all[i] != 0
		}
		if !any {
			return nil
		}
		return all
	}
	b.Used = have(func(p record.Ply) int64 { return p.UsedMS })
	b.Left = have(func(p record.Ply) int64 { return p.LeftMS })
	for _, d := range have(func(p record.Ply) int64 {
		if p.Think == nil {
			return 0
		}
		return int64(p.Think.Depth)
	}) {
		b.Depth = append(b.Depth, int(d))
	}
	some := false
	for _, c := range g.chances {
		b.Chance = append(b.Chance, permille(c))
		some = some || !math.IsNaN(c)
	}
	if !some {
		b.Chance = nil
	}
}

// permille rounds a chance; -1 where it is not known.
func permille(c float64) int {
	if math.IsNaN(c) {
		return -1
	}
	return int(math.Round(1000 * c))
}
