package convert

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// The PGN of Xiangqi follows chess's, with tags Red and Black, a tag Format
// for the notation of the moves, and FEN for the start. Rules and Termination
// are tags of ours (Termination with our words for the reason). Moves are
// written in ICCS (H2-E2); read are all notations that the game reads.

var pgnResults = map[game.Result]string{
	game.FirstWins: "1-0", game.SecondWins: "0-1", game.Draw: "1/2-1/2", game.Undecided: "*",
}

func writePGN(g *played) ([]byte, error) {
	if g.Game != "xiangqi" {
		return nil, fmt.Errorf("%w: pgn is for xiangqi, not %s", ErrUnsupported, g.Game)
	}
	var out strings.Builder
	tag := func(name, value string) {
		if value != "" {
			value = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(oneLine(value))
			fmt.Fprintf(&out, "[%s \"%s\"]\r\n", name, value)
		}
	}
	tag("Game", "Chinese Chess")
	tag("Event", g.Event)
	tag("Site", g.Place)
	if !g.Start.IsZero() {
		tag("Date", g.Start.UTC().Format("2006.01.02"))
		tag("UTCTime", g.Start.UTC().Format("15:04:05"))
	}
	tag("Red", g.nameOf(game.First))
	tag("Black", g.nameOf(game.Second))
	tag("Result", pgnResults[g.Result])
	tag("Termination", string(g.Reason))
	tag("TimeControl", g.Clock.String())
	tag("Rules", g.Rules)
	tag("FEN", g.Position)
	tag("Format", "ICCS")
	out.WriteString("\r\n")
	g.pgnMoves(&out)
	return []byte(out.String()), nil
}

// pgnMoves writes the moves and the result, in lines of up to 80 characters.
func (g *played) pgnMoves(out *strings.Builder) {
	var words []string
	for i := range g.Plies {
		ply := &g.Plies[i]
		second := 0
		if g.Plies[0].Seat == game.Second {
			second = 1
		}
		switch number := (i+second)/2 + 1; {
		case ply.Seat == game.First:
			words = append(words, strconv.Itoa(number)+".")
		case i == 0:
			words = append(words, strconv.Itoa(number)+"...")
		}
		m := strings.ToUpper(ply.Move)
		words = append(words, m[:2]+"-"+m[2:])
		if ply.Comment != "" {
			words = append(words, strings.Fields("{"+strings.ReplaceAll(ply.Comment, "}", ")")+"}")...)
		}
	}
	words = append(words, pgnResults[g.Result])
	column := 0
	for i, word := range words {
		switch {
		case i == 0:
		case column+1+len(word) > 80:
			out.WriteString("\r\n")
			column = 0
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += len(word)
	}
	out.WriteString("\r\n")
}

var (
	pgnTag    = regexp.MustCompile(`^\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]`)
	pgnNumber = regexp.MustCompile(`^\d+\s*(?:\.+|…|、)`)
	pgnGlyph  = regexp.MustCompile(`^(?:\$\d+|[!?]+)`)
	pgnICCS   = regexp.MustCompile(`^[A-Ia-i]\d-?[A-Ia-i]\d$`)
)

func readPGN(text string) ([]*draft, error) {
	var drafts []*draft
	at := 0
	for {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
		if at == len(text) {
			return drafts, nil
		}
		d := &draft{}
		d.Game = "xiangqi"
		tags, next, err := pgnTags(text, at)
		if err == nil {
			next, err = d.pgnBody(text, next)
		}
		if err != nil {
			return nil, err
		}
		d.pgnApply(tags)
		if next == at {
			return nil, syntax(text, at, "%.20q is neither a tag nor a move", text[at:])
		}
		at = next
		drafts = append(drafts, d)
	}
}

// pgnTags reads the tags of a game, and where they end.
func pgnTags(text string, at int) (map[string]string, int, error) {
	tags := map[string]string{}
	for {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
		if at == len(text) || text[at] != '[' {
			return tags, at, nil
		}
		m := pgnTag.FindStringSubmatch(text[at:])
		if m == nil {
			return nil, at, syntax(text, at, `%.20q, want a tag such as [Red "name"]`, text[at:])
		}
		tags[m[1]] = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(m[2])
		at += len(m[0])
	}
}

// pgnBody reads moves and comments up to the result, or to the next game's tags.
func (d *draft) pgnBody(text string, at int) (int, error) {
	depth, opened := 0, 0 // of variations, which are passed over
	for at < len(text) {
		rest := text[at:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '{':
			end := strings.IndexByte(rest, '}')
			if end < 0 {
				return at, syntax(text, at, "a comment without end")
			}
			if depth == 0 {
				d.comment(strings.TrimSpace(rest[1:end]))
			}
			at += end + 1
		case c == ';': // a comment to the end of the line
			line, _, _ := strings.Cut(rest, "\n")
			at += len(line)
		case c == '(':
			if depth == 0 {
				opened = at
			}
			depth++
			at++
		case c == ')':
			if depth == 0 {
				return at, syntax(text, at, "a closing bracket that was not opened")
			}
			depth--
			at++
		case c == '[' && depth == 0:
			return at, nil
		default:
			word := pgnWord(rest)
			at += len(word)
			if depth > 0 {
				continue
			}
			if d.pgnResult(word) {
				return at, nil
			}
			if !pgnNumber.MatchString(word) && !pgnGlyph.MatchString(word) {
				d.texts = append(d.texts, pgnMove(word))
			}
		}
	}
	if depth > 0 {
		return at, syntax(text, opened, "a variation without end")
	}
	return at, nil
}

// pgnMove brings ICCS to the form that the game reads; other notations are left
// to it as they are.
func pgnMove(word string) string {
	if pgnICCS.MatchString(word) {
		return strings.ToLower(strings.ReplaceAll(word, "-", ""))
	}
	return word
}

// pgnWord is the move, number, glyph or result that the text begins with.
func pgnWord(text string) string {
	for _, result := range pgnResults {
		if tail, ok := strings.CutPrefix(text, result); ok && (tail == "" || strings.ContainsRune(" \t\r\n[({;", rune(tail[0]))) {
			return result
		}
	}
	for _, form := range []*regexp.Regexp{pgnNumber, pgnGlyph} {
		if m := form.FindString(text); m != "" {
			return m
		}
	}
	if end := strings.IndexAny(text, " \t\r\n{}()[];!?$"); end > 0 {
		return text[:end]
	} else if end == 0 {
		return text[:1]
	}
	return text
}

// pgnResult takes a result in; false when the word is none.
func (d *draft) pgnResult(word string) bool {
	for _, text := range pgnResults {
		if word == text {
			d.decide(word, pgnResults[game.FirstWins], pgnResults[game.SecondWins], pgnResults[game.Draw])
			return true
		}
	}
	return false
}

// comment belongs to the move before it.
func (d *draft) comment(text string) {
	if len(d.texts) == 0 {
		return
	}
	if d.comments == nil {
		d.comments = map[int]string{}
	}
	d.comments[len(d.texts)-1] = strings.Join(strings.Fields(text), " ")
}

// pgnApply takes the tags in.
func (d *draft) pgnApply(tags map[string]string) {
	d.Rules = "xiangqi"
	if rules := tags["Rules"]; strings.HasPrefix(rules, "xiangqi/") {
		d.Rules = rules
	}
	d.Event, d.Place, d.Position = tags["Event"], tags["Site"], tags["FEN"]
	d.names = [2]string{tags["Red"], tags["Black"]}
	for i, team := range []string{tags["RedTeam"], tags["BlackTeam"]} {
		if team != "" {
			d.names[i] = strings.TrimSpace(team + " " + d.names[i])
		}
	}
	if d.winner == nil && !d.draw {
		d.pgnResult(tags["Result"])
	}
	d.Reason = game.Reason(tags["Termination"])
	if c, err := clock.Parse(tags["TimeControl"]); err == nil {
		d.Clock = c
	}
	day := strings.NewReplacer("-", ".", "/", ".").Replace(tags["Date"])
	clockTime := tags["UTCTime"]
	if clockTime == "" {
		clockTime = "00:00:00"
	}
	if at, err := time.Parse("2006.1.2 15:04:05", day+" "+clockTime); err == nil { // dates such as 2004.??.?? are left out
		d.Start = at
	}
}
