package pgn

import (
	"iter"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sparring/game"
	"sparring/game/xiangqi"
	"sparring/record"
	"sparring/record/format"
)

// reader goes through a file, game by game.
type reader struct {
	src *format.Source
	pos int
}

// value is a tag's value; at is where it begins.
type value struct {
	at   int
	text string
}

func read(text string, o format.ReadOptions) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		r := &reader{src: &format.Source{Format: "pgn", Text: text, Game: 1}}
		if !r.toTags() {
			yield(nil, r.src.Syntax(0, `no game: want tags such as [Game "Chinese Chess"]`))
			return
		}
		for ; r.toTags(); r.src.Game++ {
			d := &format.Draft{Source: r.src, At: r.pos, Game: xiangqi.Name}
			err := r.game(d)
			var rec *record.Record
			if err == nil {
				rec, err = d.Finish(o)
			} else {
				r.toBlock()
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// toBlock skips the rest of a damaged game, up to the next block of tags: a line
// with a tag after a line without.
func (r *reader) toBlock() {
	inTags := true
	for r.pos < len(r.src.Text) {
		i := strings.IndexByte(r.src.Text[r.pos:], '\n')
		if i < 0 {
			r.pos = len(r.src.Text)
			return
		}
		r.pos += i + 1
		tag := strings.HasPrefix(r.src.Text[r.pos:], "[")
		if tag && !inTags {
			return
		}
		inTags = tag
	}
}

// toTags goes to the next line that begins with a tag. Other text between games,
// such as the greetings of a web site, is skipped.
func (r *reader) toTags() bool {
	for r.pos < len(r.src.Text) {
		r.blanks()
		if strings.HasPrefix(r.src.Text[r.pos:], "[") {
			return true
		}
		i := strings.IndexByte(r.src.Text[r.pos:], '\n')
		if i < 0 {
			return false
		}
		r.pos += i + 1
	}
	return false
}

func (r *reader) blanks() {
	rest := strings.TrimLeftFunc(r.src.Text[r.pos:], unicode.IsSpace)
	r.pos = len(r.src.Text) - len(rest)
}

var tagName = regexp.MustCompile(`^\[\s*(\w{1,64})\s*"`)

// tags reads the tags of a game, by their names in lower case.
func (r *reader) tags() (map[string]value, error) {
	tags := map[string]value{}
	for r.blanks(); strings.HasPrefix(r.src.Text[r.pos:], "["); r.blanks() {
		m := tagName.FindStringSubmatch(r.src.Text[r.pos:])
		if m == nil {
			return nil, r.src.Syntax(r.pos, `want a tag such as [Red "name"]`)
		}
		at := r.pos + len(m[0])
		text, n := tagValue(r.src.Text[at:])
		if n == 0 {
			return nil, r.src.Syntax(at, `tag %s without its closing "]`, m[1])
		}
		r.pos = at + n
		if id := strings.ToLower(m[1]); tags[id].text == "" {
			tags[id] = value{at: at, text: text}
		}
	}
	return tags, nil
}

// tagValue reads up to a quote with a bracket after it on the same line, and
// returns the number of bytes read, including the bracket. It does so because few
// programs escape quotes in a value.
func tagValue(text string) (string, int) {
	var s strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\n':
			return "", 0
		case '\\':
			if i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\') {
				i++
			}
			s.WriteByte(text[i])
		case '"':
			rest := strings.TrimLeft(text[i+1:], " \t")
			if strings.HasPrefix(rest, "]") {
				return strings.TrimSpace(s.String()), len(text) - len(rest) + 1
			}
			s.WriteByte(c)
		default:
			s.WriteByte(c)
		}
	}
	return "", 0
}

// game reads a game into a draft, up to its result or the next game.
func (r *reader) game(d *format.Draft) error {
	tags, err := r.tags()
	if err != nil {
		return err
	}
	if g, ok := tags["game"]; ok && !strings.EqualFold(g.text, "Chinese Chess") && !strings.EqualFold(g.text, xiangqi.Name) {
		return r.src.Syntax(g.at, `game %.40q: want "Chinese Chess"`, g.text)
	}
	if w, ok := tags["white"]; ok && tags["red"].text == "" && tags["game"].text == "" && !strings.EqualFold(tags["variant"].text, xiangqi.Name) {
		return r.src.Syntax(w.at, `a tag White without [Game "Chinese Chess"]: this looks like chess`)
	}
	d.Rules = format.RuleSets(xiangqi.Name, "", func(string) bool { return true })
	if rules := tags["rules"].text; strings.HasPrefix(rules, xiangqi.Name+"/") {
		d.Rules = []string{rules}
	}
	if fen, ok := tags["fen"]; ok {
		d.Position, d.SetupAt = fen.text, fen.at
	}
	describe(&d.Record, tags)
	token, err := r.moves(d)
	if err != nil {
		return err
	}
	d.Result = results[strings.ReplaceAll(tags["result"].text, " ", "")]
	if d.Result == game.Undecided {
		d.Result = results[token]
	}
	d.Reason = reason(tags["termination"].text)
	return nil
}

// describe fills the record from the tags.
func describe(r *record.Record, tags map[string]value) {
	get := func(id string) string { return known(tags[id].text) }
	r.Event, r.Place = get("event"), get("site")
	if round := get("round"); round != "" {
		r.Event = strings.TrimSpace(r.Event + " (round " + round + ")")
	}
	var ok bool
	if r.Start, _, ok = format.ParseDate(tags["utcdate"].text+" "+tags["utctime"].text, time.UTC); !ok {
		r.Start, _, _ = format.ParseDate(tags["date"].text+" "+tags["time"].text, time.UTC)
	}
	for seat, ids := range [2][2]string{{"red", "white"}, {"black", "black"}} {
		name := get(ids[0])
		if name == "" {
			name = get(ids[1])
		}
		format.SetName(&r.Seats[seat], name, get(ids[0]+"player"))
	}
	r.Clock = format.ParseClock(tags["timecontrol"].text)
}

var reasonText = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)

// reason reads Termination. The words of the PGN standard say less than ours; cutechess and
// fastchess have two more.
func reason(text string) game.Reason {
	switch {
	case text == timeForfeit:
		return "time"
	case text == "illegal move":
		return "illegal"
	case text == "stalled connection":
		return "hang"
	case text == "normal", text == "unterminated", !reasonText.MatchString(text):
		return ""
	}
	return game.Reason(text)
}

// moves reads the moves up to the result or the tags of the next game. It returns
// the result, "" if there is none.
func (r *reader) moves(d *format.Draft) (result string, err error) {
	depth := 0 // of variations
	for r.pos < len(r.src.Text) {
		at := r.pos
		c, size := utf8.DecodeRuneInString(r.src.Text[at:])
		switch {
		case unicode.IsSpace(c):
			r.pos += size
		case c == '{':
			text, ok := r.until('}')
			if !ok {
				return "", r.src.Syntax(at, "a comment without its }")
			}
			if depth == 0 {
				comment(d, text)
			}
		case c == ';', c == '%' && (at == 0 || r.src.Text[at-1] == '\n'):
			text, _ := r.until('\n')
			if depth == 0 && c == ';' {
				comment(d, text)
			}
		case c == '(':
			r.pos++
			depth++
		case c == ')':
			if depth == 0 {
				return "", r.src.Syntax(at, "a ) without its (")
			}
			r.pos++
			depth--
		case c == '[':
			if depth > 0 {
				return "", r.src.Syntax(at, "a variation without its )")
			}
			return "", nil
		default:
			token := r.token()
			if _, ok := results[token]; ok && depth == 0 {
				return token, nil
			}
			if text, skipped := bare(token); text != "" && depth == 0 {
				d.Move(at+skipped, record.Ply{}, func(p game.Position) (game.Move, error) {
					return parseMove(p.(*xiangqi.Position), text)
				})
			}
		}
	}
	if depth > 0 {
		return "", r.src.Syntax(r.pos, "a variation without its )")
	}
	return "", nil
}

// until reads up to the character and skips it. Ok is false if the text ends
// before.
func (r *reader) until(end byte) (text string, ok bool) {
	rest := r.src.Text[r.pos+1:]
	i := strings.IndexByte(rest, end)
	if i < 0 {
		r.pos = len(r.src.Text)
		return rest, false
	}
	r.pos += i + 2
	return rest[:i], true
}

// token reads up to a blank, or a sign that ends a move.
func (r *reader) token() string {
	rest := r.src.Text[r.pos:]
	i := strings.IndexFunc(rest, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("{}()[;", c) })
	switch {
	case i < 0:
		i = len(rest)
	case i == 0: // a } alone
		i = 1
	}
	r.pos += i
	return rest[:i]
}

var (
	numbered = regexp.MustCompile(`^[0-9０-９]+[.。．、]+`)
	onlySign = regexp.MustCompile(`^(\$[0-9]*|[0-9]+|[.。．…·]+|[!?！？]+)$`)
)

// bare returns the move of a token without the number before it and the marks after
// it, "" if the token is not a move, and the number of bytes before the move.
func bare(token string) (move string, skipped int) {
	move = token[len(numbered.FindString(token)):]
	skipped = len(token) - len(move)
	dots := strings.TrimLeft(move, ".。．…")
	skipped += len(move) - len(dots)
	move = strings.TrimRight(dots, "!?！？#")
	if onlySign.MatchString(move) {
		return "", 0
	}
	return move, skipped
}

// comment adds a comment to the move before it, or to the game if there is none.
func comment(d *format.Draft, text string) {
	if last := d.Last(); last != nil {
		format.AddComment(last, text)
		return
	}
	var p record.Ply
	p.Comment = d.Record.Text
	format.AddComment(&p, text)
	d.Record.Text = p.Comment
}
