package gomocup

import (
	"fmt"
	"regexp"
	"strings"

	"sparring/pipe/internal/tokens"
)

// Kind is the kind of an engine's answer.
type Kind string

// The kinds of answer.
const (
	OK       Kind = "OK"
	Error    Kind = "ERROR"   // Text
	Unknown  Kind = "UNKNOWN" // Text
	Message  Kind = "MESSAGE" // Text
	Debug    Kind = "DEBUG"   // Text
	Suggest  Kind = "SUGGEST" // one Point
	Swap     Kind = "SWAP"    // to SWAP2BOARD: take the other colour
	Points   Kind = "x,y"     // one point, perhaps off the board, as -1,-1; two or three to SWAP2BOARD
	Forbid   Kind = "FORBID"  // any number of points
	Identity Kind = "ABOUT"   // Text: key="value", ...
	Chatter  Kind = ""        // Text: any other line
)

// Answer is a line from an engine.
type Answer struct {
	Kind   Kind
	Points []Point
	Text   string
}

// String returns the line.
func (a Answer) String() string {
	switch a.Kind {
	case OK, Swap:
		return string(a.Kind)
	case Points:
		return join(a.Points)
	case Suggest:
		return string(Suggest) + " " + join(a.Points)
	case Identity, Chatter:
		return tokens.Text(a.Text)
	case Forbid:
		var s strings.Builder
		for _, p := range a.Points {
			fmt.Fprintf(&s, "%02d%02d", p.X, p.Y)
		}
		return string(Forbid) + " " + s.String() + "."
	}
	return tokens.Text(string(a.Kind) + " " + a.Text)
}

func join(points []Point) string {
	texts := make([]string, len(points))
	for i, p := range points {
		texts[i] = p.String()
	}
	return strings.Join(texts, " ")
}

// aroundCommas is what some engines write for a comma; managers that read points by scanf
// take spaces behind it.
var aroundCommas = regexp.MustCompile(`[ \t]*,[ \t]*`)

// ParseAnswer reads a line from an engine. Engines write whatever they like; a
// line that is not an answer is Chatter. An answer that is known by its first
// word and malformed is an error that wraps ErrSyntax.
func ParseAnswer(line string) (Answer, error) {
	line = clean(line)
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch kind := Kind(strings.ToUpper(word)); kind {
	case OK:
		return Answer{Kind: OK, Text: rest}, nil
	case Swap:
		return Answer{Kind: Swap}, nil
	case Error, Unknown, Message, Debug:
		return Answer{Kind: kind, Text: rest}, nil
	case Suggest:
		p, err := ParsePoint(rest)
		if err != nil {
			return Answer{}, fmt.Errorf("SUGGEST: %w", err)
		}
		return Answer{Kind: Suggest, Points: []Point{p}}, nil
	case Forbid:
		points, err := parseForbid(rest)
		return Answer{Kind: Forbid, Points: points}, err
	}
	if digits := strings.TrimPrefix(line, "-"); digits == "" || digits[0] < '0' || digits[0] > '9' {
		if key, _, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(strings.TrimSpace(key), " \t\"") {
			return Answer{Kind: Identity, Text: line}, nil
		}
		return Answer{Kind: Chatter, Text: line}, nil
	}
	fields := strings.Fields(aroundCommas.ReplaceAllString(line, ","))
	if len(fields) > 3 {
		return Answer{Kind: Chatter, Text: line}, nil
	}
	a := Answer{Kind: Points}
	for _, f := range fields {
		n, err := numbers(f, 2)
		if err != nil {
			return Answer{Kind: Chatter, Text: line}, nil
		}
		a.Points = append(a.Points, Point{n[0], n[1]})
	}
	return a, nil
}

// parseForbid reads four digits for each point and the full stop at the end.
func parseForbid(text string) ([]Point, error) {
	digits, _, ok := strings.Cut(text, ".")
	if !ok || len(digits)%4 != 0 {
		return nil, fmt.Errorf("%w: FORBID %.40q, want four digits for each point, then a full stop", ErrSyntax, text)
	}
	var points []Point
	for i := 0; i < len(digits); i += 4 {
		x, okX := number(digits[i : i+2])
		y, okY := number(digits[i+2 : i+4])
		if !okX || !okY || x < 0 || y < 0 {
			return nil, fmt.Errorf("%w: FORBID %.40q: %.4q is not a point", ErrSyntax, text, digits[i:i+4])
		}
		points = append(points, Point{x, y})
	}
	return points, nil
}

// Pair is one item of an engine's answer to ABOUT.
type Pair struct{ Key, Value string }

// ParseAbout reads an engine's answer to ABOUT, the Text of an Identity, as far as
// it is a list of pairs.
func ParseAbout(text string) (pairs []Pair) {
	for {
		key, rest, ok := strings.Cut(text, `="`)
		if !ok {
			return pairs
		}
		value, rest, ok := strings.Cut(rest, `"`)
		if !ok {
			return pairs
		}
		pairs = append(pairs, Pair{strings.ToLower(strings.Trim(key, ", \t")), value})
		text = rest
	}
}

// AboutText returns the answer to ABOUT; double quotes in a value become single ones.
func AboutText(pairs ...Pair) string {
	texts := make([]string, len(pairs))
	for i, p := range pairs {
		texts[i] = p.Key + `="` + strings.ReplaceAll(tokens.Text(p.Value), `"`, "'") + `"`
	}
	return strings.Join(texts, ", ")
}
