package sgf

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/game/gomoku"
	"sparring/record"
	"sparring/record/format"
)

// reader turns the main line of one game into a draft.
type reader struct {
	src   *format.Source
	nodes line
	row   row
	draft *format.Draft
	cols  int
	rows  int
	first string // the colour of seat first's moves in the file
}

// read continues after a game with an invalid move, but not after a syntax error,
// which hides where the next game begins.
func read(text string, o format.ReadOptions) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		p := &parser{src: &format.Source{Format: "sgf", Text: text, Game: 1}}
		for ; ; p.src.Game++ {
			nodes, err := p.next()
			switch {
			case err != nil:
				yield(nil, err)
				return
			case nodes == nil && p.src.Game == 1:
				yield(nil, p.src.Syntax(0, "no game: want a text that begins with (;"))
				return
			case nodes == nil:
				return
			}
			r := &reader{src: p.src, nodes: nodes}
			if !yield(r.game(o)) {
				return
			}
		}
	}
}

// info returns the first value of a property on the main line. Programs write
// properties of the whole game in any node.
func (r *reader) info(id string) (value, bool) {
	for i := range r.nodes {
		if v, ok := r.nodes[i].get(id); ok {
			return v, true
		}
	}
	return value{}, false
}

func (r *reader) text(id string) string {
	v, _ := r.info(id)
	return simple(v.text)
}

func (r *reader) game(o format.ReadOptions) (*record.Record, error) {
	r.draft = &format.Draft{Source: r.src, At: r.nodes[0].at}
	if err := r.which(o); err != nil {
		return nil, err
	}
	if err := r.size(); err != nil {
		return nil, err
	}
	if err := r.rules(o); err != nil {
		return nil, err
	}
	if err := r.start(); err != nil {
		return nil, err
	}
	for i := range r.nodes {
		r.moves(&r.nodes[i])
	}
	rec := &r.draft.Record
	rec.Event, rec.Place, rec.Text = r.text("EV"), r.text("PC"), r.text("GC")
	rec.Start, _, _ = format.ParseDate(r.text("DT"), time.UTC)
	rec.Clock = r.clock()
	return r.finish(o)
}

// which finds out which game the file has: by GM, else by the rules that the caller gives, else by
// what the file calls it.
func (r *reader) which(o format.ReadOptions) error {
	gm, ok := r.info("GM")
	number := simple(gm.text)
	// Many programs write GM[1] (Go) or GM[5] for every game, or leave out GM.
	given, _, _ := strings.Cut(o.Rules, "/")
	fits := []func(row) bool{
		func(g row) bool { return g.number == number },
		func(g row) bool { return g.game == given },
		func(g row) bool { return given == "" && r.names(g) },
	}
	for _, fit := range fits {
		if i := slices.IndexFunc(games, fit); i >= 0 {
			r.row, r.draft.Game = games[i], games[i].game
			return nil
		}
	}
	if !ok {
		return r.src.Syntax(r.draft.At, "no GM: want %s, or the rules given", numbers())
	}
	return r.src.Syntax(gm.at, "GM[%.10s]: want %s, or the rules given", number, numbers())
}

// names reports whether the file's own words are of a game or its rules.
func (r *reader) names(g row) bool {
	return slices.ContainsFunc(r.words(), func(text string) bool {
		return g.words.MatchString(text) || g.game == gomoku.Name && format.SaysRenju(text)
	})
}

// words returns what the file says of the kind of game, the surest first. The name of the game
// (GN) often has the players' names, which are left out.
func (r *reader) words() []string {
	name := r.text("GN")
	for _, player := range []string{r.text("PB"), r.text("PW")} {
		if player != "" {
			name = strings.ReplaceAll(name, player, " ")
		}
	}
	return []string{r.text("RU"), name, r.text("EV")}
}

// hint returns the words by which rule sets are tried: RU or, if it is about something else, the
// first text that has a word of Renju.
func (r *reader) hint() string {
	words := r.words()
	for _, text := range words {
		switch {
		case format.SaysRenju(text):
			return "renju"
		case r.row.words.MatchString(text): // as in "a - b: Gomoku rule"
			return strings.ToLower(words[0] + " " + text)
		}
	}
	return strings.ToLower(words[0])
}

// maxSize is the largest board, with the letters a to z.
const maxSize = 26

func (r *reader) size() error {
	r.cols, r.rows = r.row.cols, r.row.rows
	sz, ok := r.info("SZ")
	if !ok || r.row.setup == nil {
		return nil
	}
	c, rows, both := strings.Cut(simple(sz.text), ":")
	if !both {
		rows = c
	}
	var err1, err2 error
	r.cols, err1 = strconv.Atoi(c)
	r.rows, err2 = strconv.Atoi(rows)
	if err1 != nil || err2 != nil || r.cols < 1 || r.rows < 1 || r.cols > maxSize || r.rows > maxSize {
		return r.src.Syntax(sz.at, "SZ[%.20s]: want a board of 1 to %d", sz.text, maxSize)
	}
	return nil
}

// rules lists the rule sets to try: the one that the caller or RU names, else all
// that fit the board.
func (r *reader) rules(o format.ReadOptions) error {
	d := r.draft
	ru := strings.ToLower(r.text("RU"))
	switch {
	case o.Rules != "":
		d.Rules = []string{o.Rules}
		return nil
	case strings.HasPrefix(ru, d.Game+"/"):
		d.Rules = []string{ru}
		return nil
	}
	d.Rules = r.row.rules(r.cols, r.rows, r.hint())
	if len(d.Rules) == 0 {
		return r.src.Syntax(d.At, "no rule set of %s fits a board of %dx%d", d.Game, r.cols, r.rows)
	}
	return nil
}

// start finds the start position and the colour of seat first.
func (r *reader) start() error {
	d := r.draft
	begins := r.begins()
	r.first = r.row.first
	if r.row.setup == nil {
		if v, ok := r.info("FEN"); ok {
			d.Position, d.SetupAt = simple(v.text), v.at
		} else if begins != "" {
			r.first = begins
		}
		return nil
	}
	g := format.NewGrid(r.cols, r.rows, r.row.sides[0])
	if begins == other(r.first) {
		g.Side = r.row.sides[1]
	}
	given := false
	for i := range r.nodes {
		n := &r.nodes[i]
		if len(n.props["B"])+len(n.props["W"])+len(n.props["ACT"]) > 0 {
			break
		}
		for _, s := range append([][2]string{{"AE", "."}}, r.row.setup...) {
			for _, v := range n.props[s[0]] {
				given, d.SetupAt = true, v.at
				if err := r.put(g, v, s[1][0]); err != nil {
					return err
				}
			}
		}
	}
	switch {
	case given:
		d.Position = g.String()
	case begins == other(r.first):
		// The usual start with the other side to move.
		usual, err := r.usual()
		if err != nil {
			return err
		}
		usual.Side = g.Side
		d.Position = usual.String()
	}
	return nil
}

func (r *reader) usual() (*format.Grid, error) {
	rules, err := catalog.Rules(r.draft.Rules[0])
	if err != nil {
		return nil, r.src.Error(r.draft.At, 0, err)
	}
	p, err := rules.New("")
	if err != nil {
		return nil, r.src.Error(r.draft.At, 0, err)
	}
	g, _ := format.ParseGrid(p.String())
	return g, nil
}

// begins returns the colour of the first turn by PL or by the first move, "" if there
// is neither.
func (r *reader) begins() string {
	for i := range r.nodes {
		n := &r.nodes[i]
		if v, ok := n.get("PL"); ok {
			if s := strings.ToUpper(simple(v.text)); s != "" && (s[0] == 'B' || s[0] == 'W') {
				return s[:1]
			}
		}
		b, black := n.get("B")
		w, white := n.get("W")
		switch {
		case len(n.props["ACT"]) > 0:
			return ""
		case black && (!white || b.at < w.at):
			return "B"
		case white:
			return "W"
		}
	}
	return ""
}

// put sets a point, or a rectangle of points "aa:cc", of the start position.
func (r *reader) put(g *format.Grid, v value, cell byte) error {
	from, to, ok := strings.Cut(simple(v.text), ":")
	if !ok {
		to = from
	}
	c1, r1, ok1 := r.point(from)
	c2, r2, ok2 := r.point(to)
	if !ok1 || !ok2 || c2 < c1 || r2 < r1 {
		return r.src.Syntax(v.at, "%.20q is not a point of a board of %dx%d", v.text, r.cols, r.rows)
	}
	for row := r1; row <= r2; row++ {
		for col := c1; col <= c2; col++ {
			g.Rows[row][col] = cell
		}
	}
	return nil
}

// point reads two letters, as column and row from the top.
func (r *reader) point(text string) (col, row int, ok bool) {
	if len(text) != 2 {
		return 0, 0, false
	}
	col, row = int(text[0])-'a', int(text[1])-'a'
	return col, row, col >= 0 && col < r.cols && row >= 0 && row < r.rows
}

// moves adds the moves of a node, and its notes to the last of them. A node
// should have one move, but some programs write all moves in the root.
func (r *reader) moves(n *node) {
	type move struct {
		value
		colour string
	}
	var moves []move
	for _, colour := range []string{"B", "W"} {
		for _, v := range n.props[colour] {
			moves = append(moves, move{v, colour})
		}
	}
	slices.SortFunc(moves, func(a, b move) int { return a.at - b.at })
	for _, m := range moves {
		r.draft.Move(m.at, record.Ply{}, func(p game.Position) (game.Move, error) {
			if turn := colour(p, r.first); turn != m.colour {
				return game.NoMove, fmt.Errorf("%w: a move of %s, but %s is to move", game.ErrIllegal, m.colour, turn)
			}
			text, err := r.moveText(simple(m.text))
			if err != nil {
				return game.NoMove, err
			}
			return p.Parse(text)
		})
	}
	if act, ok := n.get("ACT"); ok {
		r.draft.MoveText(act.at, record.Ply{}, simple(act.text))
	}
	if last := r.draft.Last(); last != nil {
		r.notes(n, last)
	}
}

// notes adds a node's annotations to its move or, if it has none, to the one before.
func (r *reader) notes(n *node, ply *record.Ply) {
	for _, c := range []string{"B", "W"} {
		if v, ok := n.get(c + "L"); ok {
			format.AddComment(ply, "[%clk "+simple(v.text)+"]")
		}
		if v, ok := n.get("O" + c); ok {
			ply.Periods, _ = strconv.Atoi(simple(v.text))
		}
	}
	if v, ok := n.get("N"); ok {
		format.AddMark(ply, v.text)
	}
	if v, ok := n.get("C"); ok {
		format.AddComment(ply, v.text)
	}
}

// moveText converts a move to the text of the rules.
func (r *reader) moveText(text string) (string, error) {
	low := strings.ToLower(text)
	if strings.ContainsAny(low, "0123456789") { // the game's own coordinates
		if r.row.hyphens {
			low = strings.ReplaceAll(low, "-", "")
		}
		return low, nil
	}
	want := r.row.points()
	if len(text) != 2*want {
		return "", fmt.Errorf("%w: move %.20q: want %d letters", game.ErrSyntax, text, 2*want)
	}
	points := make([]any, want)
	for i := range points {
		col, row, ok := r.point(text[2*i : 2*i+2])
		if !ok {
			return "", fmt.Errorf("%w: %q is not a point of a board of %dx%d", game.ErrSyntax, text[2*i:2*i+2], r.cols, r.rows)
		}
		points[i] = letter(col) + strconv.Itoa(r.rows-1-row+r.row.lowest)
	}
	return fmt.Sprintf(r.row.move, points...), nil
}

// clock reads TM and OT as this package writes them, and as the Go servers do.
func (r *reader) clock() clock.Spec {
	tm, ot := r.text("TM"), strings.ToLower(r.text("OT"))
	word, kind, _ := strings.Cut(ot, " ")
	switch {
	case kind == "fischer":
		return format.ParseClock(tm0(tm) + "+" + word)
	case strings.Contains(word, "x"):
		return format.ParseClock(tm0(tm) + "/" + word)
	case tm == "":
		return format.ParseClock(word)
	}
	return format.ParseClock(tm)
}

func tm0(tm string) string {
	if tm == "" {
		return "0"
	}
	return tm
}

// finish plays the moves and assigns the players to their seats: PB held Black at
// the end.
func (r *reader) finish(o format.ReadOptions) (*record.Record, error) {
	d := r.draft
	d.AtEnd = func(end game.Position) {
		first := firstColour(end, r.first)
		second := other(first)
		format.SetName(&d.Record.Seats[game.First], r.text("P"+first), r.text(first+"P"))
		format.SetName(&d.Record.Seats[game.Second], r.text("P"+second), r.text(second+"P"))
		d.Result, d.Reason = r.result(first)
	}
	return d.Finish(o)
}

// result reads RE.
func (r *reader) result(first string) (game.Result, game.Reason) {
	re := strings.ToUpper(r.text("RE"))
	colour, how, won := strings.Cut(re, "+")
	switch {
	case won && (colour == "B" || colour == "W"):
		result := game.SecondWins
		if colour == first {
			result = game.FirstWins
		}
		for reason, letter := range endings {
			if how != "" && how[:1] == letter {
				return result, reason
			}
		}
		return result, ""
	case re == "0" || re == "DRAW":
		return game.Draw, ""
	case re == "VOID":
		return game.Undecided, "void"
	}
	return game.Undecided, ""
}
