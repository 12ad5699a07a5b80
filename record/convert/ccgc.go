package convert

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"sparring/game"
)

// The championship's texts begin with fields in brackets: the game's code (AM
// is Amazons, C5 Gomoku), both teams in the order they move, the result, date
// and place, and the event. Programs differ in brackets, capitals, blanks and
// dates; all that was seen is read, and one form is written.
const (
	firstWins  = "先手胜"
	secondWins = "后手胜"
	drawn      = "平局"
	noResult   = "未定"
)

// championship is where the dates of these texts are from.
var championship = time.FixedZone("CST", 8*60*60)

const ccgcDate = "2006.01.02 15:04"

func writeCCGC(g *played) ([]byte, error) {
	if err := g.needUsual(CCGC); err != nil {
		return nil, err
	}
	switch g.Rules {
	case "amazons/10x10":
		return g.ccgc("#", "AM", ";\r\n", g.ccgcAmazons()), nil
	}
	if g.Game != "gomoku" || len(g.board.rows) != 15 {
		return nil, fmt.Errorf("%w: ccgc is for amazons/10x10 and gomoku on 15x15, not %s", ErrUnsupported, g.Rules)
	}
	return g.ccgc("{", "C5", "", g.ccgcGomoku()), nil
}

// ccgc puts the fields before the moves.
func (g *played) ccgc(open, code, end, moves string) []byte {
	opening, other := g.players()
	result := noResult
	if w := g.winner(); w >= 0 {
		result = [...]string{firstWins, secondWins}[w]
	} else if g.Result == game.Draw {
		result = drawn
	}
	when := ""
	if !g.Start.IsZero() {
		when = g.Start.In(championship).Format(ccgcDate)
	}
	return fmt.Appendf(nil, "%s[%s][%s][%s][%s][%s][%s]%s%s", open, code, field(opening), field(other), result,
		strings.TrimSpace(when+" "+field(g.Place)), field(g.Event), end, moves)
}

// field keeps a text from breaking the brackets.
func field(s string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("[]{}【】", c) {
			return '_'
		}
		return c
	}, oneLine(s))
}

func (g *played) ccgcAmazons() string {
	var out strings.Builder
	for i := range g.Plies {
		if i%2 == 0 {
			fmt.Fprintf(&out, "%d", i/2+1)
		}
		points, _ := g.board.points(g.Plies[i].Move)
		b := &g.board
		fmt.Fprintf(&out, " %s%s(%s)", b.name(points[0]), b.name(points[1]), b.name(points[2]))
		if i%2 == 1 || i == len(g.Plies)-1 {
			out.WriteString("\r\n")
		}
	}
	return out.String()
}

func (g *played) ccgcGomoku() string {
	var out strings.Builder
	stones := 0
	for i := range g.Plies {
		points, ok := g.board.points(g.Plies[i].Move)
		if !ok || len(points) != 1 {
			continue // what an opening procedure decides is seen by its stones only
		}
		name := g.board.name(points[0])
		fmt.Fprintf(&out, ";%c(%s,%s)", "BW"[stones%2], name[:1], name[1:])
		stones++
	}
	return out.String() + "}\r\n"
}

// wide are the full-width characters that Chinese input methods leave.
var wide = strings.NewReplacer("（", "(", "）", ")", "，", ",", "；", ";", "【", "[", "】", "]", "：", ":", "＃", "#", "｛", "{", "｝", "}", "　", " ")

func readCCGC(text string) ([]*draft, error) {
	text = wide.Replace(text)
	fields, at := ccgcFields(text)
	if len(fields) < 4 {
		return nil, syntax(text, at, "%d fields in brackets, want the code, both teams and the result", len(fields))
	}
	d := &draft{}
	var err error
	switch strings.ToUpper(strings.TrimSpace(fields[0])) {
	case "AM":
		d.Game, d.Rules = "amazons", "amazons/10x10"
		err = d.ccgcAmazons(text, at)
	case "C5":
		// The championship plays by Renju's rules after an opening that the
		// text does not tell; not every text keeps to them.
		d.Game, d.Rules, d.looser = "gomoku", "gomoku/renju-15", "gomoku/freestyle-15"
		err = d.ccgcGomoku(text, at)
	default:
		err = syntax(text, 0, "code %.20q, want AM or C5", fields[0])
	}
	if err != nil {
		return nil, err
	}
	d.names = [2]string{strings.TrimSpace(fields[1]), strings.TrimSpace(fields[2])}
	d.decide(ccgcResult(fields[3]), firstWins, secondWins, drawn)
	if len(fields) > 4 {
		d.Start, d.Place = ccgcTime(fields[4])
	}
	if len(fields) > 5 {
		d.Event = strings.TrimSpace(fields[5])
	}
	return []*draft{d}, nil
}

// ccgcFields reads what stands in brackets at the beginning, however many
// brackets, and where that ends.
func ccgcFields(text string) (fields []string, at int) {
	rest := strings.TrimLeft(text, "# \t\r\n")
	for {
		inside := strings.TrimLeft(rest, "[{ \t\r\n")
		if inside == rest {
			break
		}
		end := strings.IndexAny(inside, "]}\n")
		if end < 0 || inside[end] == '\n' {
			break
		}
		fields = append(fields, inside[:end])
		rest = strings.TrimLeft(inside[end:], "]} \t")
	}
	return fields, len(text) - len(strings.TrimLeft(rest, "; \t\r\n"))
}

func ccgcResult(s string) string {
	first, second := strings.Contains(s, "先"), strings.Contains(s, "后")
	lost := strings.Contains(s, "负")
	switch {
	case strings.Contains(s, "平") || strings.Contains(s, "和"):
		return drawn
	case first == second: // not filled in: 先/后手胜
		return noResult
	case first != lost:
		return firstWins
	}
	return secondWins
}

var ccgcDates = regexp.MustCompile(`^\s*(\d{4})[.\-/年](\d{1,2})[.\-/月](\d{1,2})日?(?:\s+(\d{1,2}):(\d{2})(?::\d{2})?)?\s*`)

// ccgcTime reads date, time and place; a date that is not understood belongs
// to the place.
func ccgcTime(s string) (time.Time, string) {
	m := ccgcDates.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, strings.TrimSpace(s)
	}
	hour, minute := m[4], m[5]
	if hour == "" {
		hour, minute = "0", "00"
	}
	t, err := time.ParseInLocation("2006-1-2 15:04", fmt.Sprintf("%s-%s-%s %s:%s", m[1], m[2], m[3], hour, minute), championship)
	if err != nil {
		return time.Time{}, strings.TrimSpace(s)
	}
	return t.UTC(), strings.TrimSpace(s[len(m[0]):])
}

var (
	ccgcNumber = regexp.MustCompile(`^\d+[.:、]?`)
	ccgcStone  = regexp.MustCompile(`(?i)^([BW])\s*\(\s*([A-Z])\s*,\s*(\d{1,2})\s*\)`)
)

// ccgcAmazons reads numbered turns, one move of each side.
func (d *draft) ccgcAmazons(text string, at int) error {
	for _, span := range tokens(text, at, " \t\r\n;}") {
		token := text[span[0]:span[1]]
		token = strings.TrimPrefix(token, ccgcNumber.FindString(token))
		if token == "" {
			continue
		}
		d.texts = append(d.texts, strings.ToLower(token))
	}
	return nil
}

// ccgcGomoku reads stones, which must be Black's and White's in turn.
func (d *draft) ccgcGomoku(text string, at int) error {
	for _, span := range tokens(text, at, ";}\r\n") {
		token := strings.TrimSpace(text[span[0]:span[1]])
		if token == "" {
			continue
		}
		m := ccgcStone.FindStringSubmatch(token)
		if m == nil {
			return syntax(text, span[0], "%.20q, want a stone such as B(h,8)", token)
		}
		if colour := "BW"[len(d.texts)%2 : len(d.texts)%2+1]; !strings.EqualFold(m[1], colour) {
			return syntax(text, span[0], "%.20q, but it is %s's turn", token, colour)
		}
		d.texts = append(d.texts, strings.ToLower(m[2])+strings.TrimLeft(m[3], "0"))
	}
	return nil
}

// tokens are the spans of text from at on that separators part.
func tokens(text string, at int, separators string) (spans [][2]int) {
	for at < len(text) {
		n := strings.IndexAny(text[at:], separators)
		if n < 0 {
			n = len(text) - at
		}
		if n > 0 {
			spans = append(spans, [2]int{at, at + n})
		}
		at += n + 1
	}
	return spans
}
