package gomoku

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
)

// maxRows is how many rows of five fit on the largest board.
const maxRows = MaxPoints / 5

// maxText is longer than any position on the largest board.
const maxText = 2 * MaxPoints

// parseBoard reads rows and side to move, and returns the words that follow.
// The error wraps game.ErrSyntax and says in which row and column.
func parseBoard(text string) (b Board, toMove Colour, words []string, err error) {
	if len(text) > maxText {
		return b, 0, nil, fmt.Errorf("%w: position of %d characters, want at most %d", game.ErrSyntax, len(text), maxText)
	}
	grid, tail, _ := strings.Cut(text, " ")
	side, rest, more := strings.Cut(tail, " ")
	if more {
		words = strings.Split(rest, " ")
	}
	switch side {
	case "b":
		toMove = Black
	case "w":
		toMove = White
	default:
		return b, 0, nil, fmt.Errorf("%w: side to move %.20q after the rows, want b or w", game.ErrSyntax, side)
	}
	rows := strings.Split(grid, "/")
	if len(rows) < MinSize || len(rows) > MaxSize {
		return b, 0, nil, fmt.Errorf("%w: %d rows, want %d to %d", game.ErrSyntax, len(rows), MinSize, MaxSize)
	}
	b = NewBoard(len(rows))
	for i, row := range rows {
		if err := b.parseRow(b.Size-1-i, row); err != nil {
			return b, 0, nil, fmt.Errorf("%w: row %d from the top: %w", game.ErrSyntax, i+1, err)
		}
	}
	return b, toMove, words, nil
}

func (b *Board) parseRow(row int, text string) error {
	col := 0
	for i := 0; i < len(text); {
		at, n := i, 1
		switch ch := text[i]; {
		case ch == 'x' || ch == 'o' || ch == '#':
			i++
		case ch >= '1' && ch <= '9':
			for i < len(text) && text[i] >= '0' && text[i] <= '9' {
				i++
			}
			n, _ = strconv.Atoi(text[at:min(i, at+3)]) // three digits are too large anyway
		default:
			return fmt.Errorf("column %d: %.4q, want x, o, # or a number", col+1, text[i:])
		}
		if col+n > b.Size {
			return fmt.Errorf("column %d: %.20q goes beyond %d columns", col+1, text[at:], b.Size)
		}
		switch text[at] {
		case 'x':
			b.Put(b.Point(col, row), Black)
		case 'o':
			b.Put(b.Point(col, row), White)
		case '#':
			b.Put(b.Point(col, row), Black)
			b.Bury(b.Point(col, row), Black)
		}
		col += n
	}
	if col != b.Size {
		return fmt.Errorf("%d columns, want %d", col, b.Size)
	}
	return nil
}

// text returns the rows without the side to move.
func (b *Board) text() string {
	var s strings.Builder
	for row := b.Size - 1; row >= 0; row-- {
		run := 0
		flush := func() {
			if run > 0 {
				s.WriteString(strconv.Itoa(run))
				run = 0
			}
		}
		for col := range b.Size {
			p := b.Point(col, row)
			if b.Empty(p) {
				run++
				continue
			}
			flush()
			s.WriteByte(b.mark(p))
		}
		flush()
		if row > 0 {
			s.WriteByte('/')
		}
	}
	return s.String()
}

// mark returns the letter of the contents of p.
func (b *Board) mark(p Point) byte { return ".xo#"[b.cell(p)] }

// diagram draws the board; the marks, if any, replace the dots of empty points.
func (b *Board) diagram(marks map[Point]byte) string {
	var s strings.Builder
	for row := b.Size - 1; row >= 0; row-- {
		fmt.Fprintf(&s, "%2d", row+1)
		for col := range b.Size {
			p := b.Point(col, row)
			mark := b.mark(p)
			if m, ok := marks[p]; ok && b.Empty(p) {
				mark = m
			}
			s.WriteByte(' ')
			s.WriteByte(mark)
		}
		s.WriteByte('\n')
	}
	s.WriteString("  ")
	for col := range b.Size {
		s.WriteByte(' ')
		s.WriteByte('a' + byte(col))
	}
	s.WriteByte('\n')
	return s.String()
}

// PointText writes a point as in moves: h8.
func (g *Geometry) PointText(p Point) string {
	if int(p) >= g.Points {
		return "none"
	}
	return string(rune('a'+g.Column(p))) + strconv.Itoa(g.RowOf(p)+1)
}

// ParsePoint reads what PointText writes, also with a capital letter. The error
// wraps game.ErrSyntax.
func (g *Geometry) ParsePoint(text string) (Point, error) {
	bad := func() (Point, error) {
		return NoPoint, fmt.Errorf("%w: point %.20q, want a1 to %s", game.ErrSyntax, text, g.PointText(Point(g.Points-1)))
	}
	if len(text) < 2 || len(text) > 3 || text[1] == '0' {
		return bad()
	}
	row := 0
	for _, ch := range []byte(text[1:]) {
		if ch < '0' || ch > '9' {
			return bad()
		}
		row = 10*row + int(ch-'0')
	}
	p := g.Point(int(text[0]|0x20)-'a', row-1)
	if ch := text[0] | 0x20; ch < 'a' || ch > 'z' || p == NoPoint {
		return bad()
	}
	return p, nil
}

// words returns what follows the side to move in a position's text.
func (p *Position) words() string {
	var s strings.Builder
	if p.rows != [2]int{} {
		fmt.Fprintf(&s, " rows=%d:%d", p.rows[Black], p.rows[White])
	}
	if p.black != game.First {
		s.WriteString(" swapped")
	}
	if o := &p.opening; p.current() != nil {
		fmt.Fprintf(&s, " step=%d:%s", o.step, o.actor)
		if o.fifths > 0 {
			fmt.Fprintf(&s, " fifths=%d", o.fifths)
		}
		for i, at := range o.offers {
			s.WriteString([]string{" offers=", ","}[min(i, 1)])
			s.WriteString(p.board.PointText(at))
		}
	}
	return s.String()
}

// parseWords reads what words writes. Errors wrap game.ErrSyntax, or
// game.ErrPosition if the stones do not fit the step of the procedure.
func (p *Position) parseWords(words []string) error {
	o := &p.opening
	*o = progress{step: len(p.set.Opening.steps)}
	for i, word := range words {
		key, value, valued := strings.Cut(word, "=")
		bad := func(why string) error {
			return fmt.Errorf("%w: %.30q after the side to move: %s", game.ErrSyntax, word, why)
		}
		for _, before := range words[:i] {
			if strings.HasPrefix(before, key) {
				return bad("given twice")
			}
		}
		if key == "rows" && p.set.continuous {
			black, white, _ := strings.Cut(value, ":")
			b, err1 := strconv.ParseUint(black, 10, 8)
			w, err2 := strconv.ParseUint(white, 10, 8)
			if err1 != nil || err2 != nil || max(b, w) > maxRows {
				return bad(fmt.Sprintf("want the rows of Black and White, each 0 to %d, as rows=1:0", maxRows))
			}
			p.rows = [2]int{int(b), int(w)}
			continue
		}
		if p.set.Opening.Name == "" {
			return bad("these rules have no opening procedure")
		}
		var err error
		switch key {
		case "swapped":
			if valued {
				return bad("want swapped without a value")
			}
			p.black = game.Second
		case "step":
			number, seat, _ := strings.Cut(value, ":")
			if o.step, err = strconv.Atoi(number); err == nil {
				err = o.actor.UnmarshalText([]byte(seat))
			}
			if err != nil || o.step < 0 || o.step >= len(p.set.Opening.steps) {
				return bad(fmt.Sprintf("want step=0:first to step=%d:second", len(p.set.Opening.steps)-1))
			}
		case "fifths":
			if o.fifths, err = strconv.Atoi(value); err != nil || o.fifths < 1 || o.fifths > MaxFifths {
				return bad(fmt.Sprintf("want 1 to %d", MaxFifths))
			}
		case "offers":
			for text := range strings.SplitSeq(value, ",") {
				at, err := p.board.ParsePoint(text)
				if err != nil {
					return err
				}
				if err := p.offerable(at, p.board.selfSymmetries()); err != nil {
					return fmt.Errorf("%w: offers: %w", game.ErrPosition, err)
				}
				o.offers = append(o.offers, at)
			}
		default:
			return bad("want swapped, step=, fifths= or offers=")
		}
	}
	return p.fitsStep()
}

// fitsStep checks that a position that was set up fits its step.
func (p *Position) fitsStep() error {
	s, o := p.current(), &p.opening
	if s == nil {
		if o.fifths > 0 || len(o.offers) > 0 {
			return fmt.Errorf("%w: fifth moves without a step of the opening", game.ErrPosition)
		}
		return nil
	}
	bad := func(what string) error {
		return fmt.Errorf("%w: step %d of %s: %s", game.ErrPosition, o.step, p.set.Opening.Name, what)
	}
	black := 0
	for at := range Point(p.board.Points) {
		if c, ok := p.board.At(at); ok && c == Black {
			black++
		}
	}
	picks := s.kind == PickStep || s.kind == OfferStep
	switch {
	case p.board.stones != s.stones || black != (s.stones+1)/2 || p.toMove != Colour(s.stones%2):
		return bad(fmt.Sprintf("want %d stones, Black's first, and the colours in turn", s.stones))
	case s.by == holder && o.actor != p.Seat(p.toMove):
		return bad("the other seat acts")
	case picks && o.fifths < 2, !picks && len(o.offers) > 0:
		return bad("the fifth moves do not fit the step")
	case s.kind == OfferStep && len(o.offers) >= o.fifths, s.kind == PickStep && len(o.offers) != o.fifths:
		return bad(fmt.Sprintf("%d offers of %d", len(o.offers), o.fifths))
	}
	return nil
}
