package ccgc

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/record"
	"sparring/record/format"
)

// detect looks for the code of a game in the first field.
func detect(text string) bool {
	s := &scanner{src: &format.Source{Text: text[:cut(text, 512)]}}
	s.skip(isBlank)
	if c := s.peek(); c != '#' && c != '{' && c != '[' {
		return false
	}
	fields := s.header()
	return len(fields) > 0 && gameOf(fields[0].text) != ""
}

// cut returns the end of the last whole character within n bytes.
func cut(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// gameOf returns the game of a code, "" if there is none.
func gameOf(code string) string {
	code = strings.ToUpper(strings.Map(format.Fold, strings.TrimSpace(code)))
	for name, c := range codes {
		if c == code {
			return name
		}
	}
	return ""
}

// scanner reads a text character by character, with full-width characters
// converted to ASCII.
type scanner struct {
	src *format.Source
	pos int
}

// end is what peek returns after the last character.
const end rune = -1

func (s *scanner) peek() rune {
	if s.pos >= len(s.src.Text) {
		return end
	}
	r, _ := utf8.DecodeRuneInString(s.src.Text[s.pos:])
	return format.Fold(r)
}

func (s *scanner) next() rune {
	r := s.peek()
	if r != end {
		_, size := utf8.DecodeRuneInString(s.src.Text[s.pos:])
		s.pos += size
	}
	return r
}

// skip skips the characters of a kind.
func (s *scanner) skip(kind func(rune) bool) {
	for s.peek() != end && kind(s.peek()) {
		s.next()
	}
}

// take reads the characters of a kind.
func (s *scanner) take(kind func(rune) bool) string {
	var t strings.Builder
	for s.peek() != end && kind(s.peek()) {
		t.WriteRune(s.next())
	}
	return t.String()
}

func isBlank(r rune) bool  { return unicode.IsSpace(r) }
func isOpen(r rune) bool   { return r == '[' || r == '{' }
func isClose(r rune) bool  { return r == ']' || r == '}' }
func isDigit(r rune) bool  { return r >= '0' && r <= '9' }
func isLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// field is a field of the header; at is its place.
type field struct {
	at   int
	text string
}

// header reads the fields up to the semicolon or, if there is none, the end of
// the line. Brackets may be doubled, of either kind, or missing around a field.
func (s *scanner) header() []field {
	s.skip(func(r rune) bool { return r == '#' || isBlank(r) })
	var fields []field
	for {
		opened := false
		for isOpen(s.peek()) {
			s.next()
			opened = true
		}
		at := s.pos
		s.skip(func(r rune) bool { return !isOpen(r) && !isClose(r) && r != ';' && r != '\n' && r != end })
		text := strings.TrimSpace(s.src.Text[at:s.pos])
		if opened || text != "" {
			fields = append(fields, field{at, text})
		}
		for isClose(s.peek()) {
			s.next()
		}
		switch s.peek() {
		case ';':
			s.next()
			return fields
		case '\n', end:
			return fields
		}
	}
}

func read(text string, o format.ReadOptions) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		s := &scanner{src: &format.Source{Format: "ccgc", Text: text, Game: 1}}
		s.skip(isBlank)
		if s.peek() == end {
			yield(nil, s.src.Syntax(0, "no game: want #[AM][... or {[C5][..."))
			return
		}
		for ; s.peek() != end; s.skip(isBlank) {
			d := &format.Draft{Source: s.src, At: s.pos}
			err := s.game(d)
			var r *record.Record
			if err == nil {
				r, err = d.Finish(o)
			} else {
				s.toNext()
			}
			if !yield(r, err) {
				return
			}
			s.src.Game++
		}
	}
}

// toNext skips the rest of a damaged game, up to the next line on which a game
// may begin.
func (s *scanner) toNext() {
	for s.peek() != end {
		s.skip(func(r rune) bool { return r != '\n' })
		s.skip(isBlank)
		if c := s.peek(); c == '#' || isOpen(c) {
			return
		}
	}
}

// game reads a game into a draft, up to the next one.
func (s *scanner) game(d *format.Draft) error {
	if c := s.peek(); c != '#' && !isOpen(c) {
		return s.src.Syntax(s.pos, "%q: want a game, #[AM][... or {[C5][...", c)
	}
	fields := s.header()
	if len(fields) == 0 {
		return s.src.Syntax(d.At, "a header without fields")
	}
	d.Game = gameOf(fields[0].text)
	var err error
	switch d.Game {
	case amazons.Name:
		d.Rules = []string{amazons.Name + "/10x10"}
		err = s.amazonsMoves(d)
	case gomoku.Name:
		d.Rules = gomokuRules()
		err = s.gomokuMoves(d)
	default:
		return s.src.Syntax(fields[0].at, "game %.20q: want AM or C5", fields[0].text)
	}
	d.Result = describe(&d.Record, fields[1:])
	return err
}

// gomokuRules lists the sets to try. The championship plays Renju.
func gomokuRules() []string {
	return format.RuleSets(gomoku.Name, "renju", func(name string) bool { return strings.HasSuffix(name, "-15") })
}

// describe fills the record from the fields after the code and returns the
// result. The first two are the players. Any of the others may be missing, so
// they are recognized by their content.
func describe(r *record.Record, fields []field) game.Result {
	result := game.Undecided
	for i, f := range fields {
		text := f.text
		if i < 2 {
			format.SetName(&r.Seats[i], strings.TrimSuffix(text, []string{" B", " W"}[i]), "")
			continue
		}
		if word, ok := resultOf(text); ok && i == 2 {
			result = word
			continue
		}
		start, rest, dated := format.ParseDate(text, beijing)
		switch {
		case dated && r.Start.IsZero():
			r.Start, r.Place = start, rest
		case i == 3 && len(fields) > 4: // not a date that can be read
			r.Place = text
		default:
			r.Event = strings.TrimSpace(r.Event + " " + text)
		}
	}
	return result
}

// resultOf reads the third field; ok is false if it is not a result. A form that
// was not filled in ("先/后手胜") is Undecided.
func resultOf(text string) (r game.Result, ok bool) {
	text = strings.Join(strings.Fields(text), "")
	switch text {
	case drawn, "和棋", "和局", "平手", "平", "和":
		return game.Draw, true
	case "", unknown, "未知结果", "胜负关系", "结果":
		return game.Undecided, true
	}
	first, second := strings.ContainsAny(text, "先黑"), strings.ContainsAny(text, "后後白")
	won, lost := strings.ContainsAny(text, "胜勝赢"), strings.ContainsAny(text, "负負输")
	switch {
	case first == second || won == lost:
		return game.Undecided, first && second && (won || lost)
	case first == won:
		return game.FirstWins, true
	}
	return game.SecondWins, true
}

// amazonsMoves reads the numbered moves up to the next game.
func (s *scanner) amazonsMoves(d *format.Draft) error {
	for {
		s.skip(func(r rune) bool { return isBlank(r) || r == ';' || r == ',' })
		at := s.pos
		switch c := s.peek(); {
		case c == end || c == '#' || isOpen(c):
			return nil
		case isDigit(c):
			number := s.take(isDigit)
			s.skip(func(r rune) bool { return r == '.' || r == ':' || r == ')' })
			if n, err := strconv.Atoi(number); err != nil || n != d.Plies()/2+1 {
				return s.src.Syntax(at, "move number %.10s, want %d", number, d.Plies()/2+1)
			}
		case isLetter(c):
			text, err := s.amazonsMove()
			if err != nil {
				return err
			}
			d.MoveText(at, record.Ply{}, text)
		case isClose(c):
			s.next()
		default:
			return s.src.Syntax(at, "%q: want a move such as d1d7(g7)", c)
		}
	}
}

// amazonsMove reads d1d7(g7) and its variants as d1d7/g7.
func (s *scanner) amazonsMove() (string, error) {
	at := s.pos
	var squares [3]string
	for i := range squares {
		s.skip(func(r rune) bool { return r == ' ' || r == '-' || i == 2 && (r == '(' || r == '/') })
		squares[i] = strings.ToLower(s.take(isLetter)) + s.take(isDigit)
		if len(squares[i]) < 2 || len(squares[i]) > 3 || !isDigit(rune(squares[i][1])) {
			return "", s.src.Syntax(at, "%q: want a move such as d1d7(g7)", s.src.Text[at:s.pos])
		}
	}
	if s.peek() == ')' {
		s.next()
	}
	return squares[0] + squares[1] + "/" + squares[2], nil
}

// gomokuMoves reads B(H,8);W(I,9) up to the closing brace.
func (s *scanner) gomokuMoves(d *format.Draft) error {
	for {
		s.skip(func(r rune) bool { return isBlank(r) || r == ';' || r == ',' })
		at := s.pos
		switch c := s.peek(); {
		case c == end || c == '#' || isOpen(c):
			return nil
		case isClose(c):
			s.skip(isClose)
			return nil
		case isLetter(c):
			word := strings.ToUpper(s.take(isLetter))
			if word != "B" && word != "W" {
				if err := s.remark(at, word); err != nil {
					return err
				}
				continue
			}
			point, err := s.gomokuPoint(at)
			if err != nil {
				return err
			}
			d.Move(at, record.Ply{}, func(p game.Position) (game.Move, error) { return stoneMove(p, word, point) })
		default:
			return s.src.Syntax(at, "%q: want a stone such as B(H,8)", c)
		}
	}
}

// remark skips what a program has added in brackets, such as MARK[1].
func (s *scanner) remark(at int, word string) error {
	s.skip(isBlank)
	if c := s.peek(); !isOpen(c) && c != '(' {
		return s.src.Syntax(at, "%.20q: want a stone such as B(H,8)", word)
	}
	s.skip(func(r rune) bool { return !isClose(r) && r != ')' && r != ';' && r != '\n' })
	if c := s.peek(); !isClose(c) && c != ')' {
		return s.src.Syntax(at, "%.20s lacks its closing bracket", word)
	}
	s.next()
	return nil
}

// gomokuPoint reads (H,8) and its variants as h8.
func (s *scanner) gomokuPoint(at int) (string, error) {
	s.skip(isBlank)
	opened := s.peek() == '(' || isOpen(s.peek())
	if opened {
		s.next()
	}
	s.skip(isBlank)
	column := strings.ToLower(s.take(isLetter))
	s.skip(func(r rune) bool { return isBlank(r) || r == ',' })
	row := s.take(isDigit)
	s.skip(isBlank)
	if len(column) != 1 || row == "" || len(row) > 2 {
		return "", s.src.Syntax(at, "%q: want a stone such as B(H,8)", s.src.Text[at:s.pos])
	}
	if opened {
		if c := s.peek(); c != ')' && !isClose(c) {
			return "", s.src.Syntax(s.pos, "the stone has no closing bracket")
		}
		s.next()
	}
	return column + row, nil
}

// stoneMove returns the move of a stone of the colour on a point.
func stoneMove(p game.Position, colour, point string) (game.Move, error) {
	g, ok := p.(*gomoku.Position)
	if !ok {
		return game.NoMove, fmt.Errorf("%w: stones of a game of %s", format.ErrCannot, p.Rules().Game)
	}
	turn := [...]string{gomoku.Black: "B", gomoku.White: "W"}[g.ToMove()]
	if colour != turn {
		return game.NoMove, fmt.Errorf("%w: a stone of %s, but %s is to move", game.ErrIllegal, colour, turn)
	}
	return p.Parse(point)
}
