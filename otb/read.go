package otb

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sparring/game"
	"sparring/game/xiangqi"
	"sparring/internal/texttable"
	"sparring/record/format"
	"sparring/screen/view"
)

// Reading is what a text means as a move.
type Reading struct {
	Move game.Move
	Text string // of the move, as Position.Format writes it
	// Completed: the text was only the beginning of the move, and of no other.
	Completed bool
}

// AmbiguousError is returned by Read for a text that may be several moves.
type AmbiguousError struct {
	Text       string
	Candidates []string // as Spoken writes them, with the coordinates
	More       int      // not listed
}

func (e *AmbiguousError) Error() string {
	more := ""
	if e.More > 0 {
		more = " or " + texttable.Count(e.More, "other", "others")
	}
	return fmt.Sprintf("%q may be %s%s", e.Text, strings.Join(e.Candidates, ", "), more)
}

// maxCandidates is how many candidates an AmbiguousError lists.
const maxCandidates = 8

// Read reads a move in any notation of the game, or the beginning of one that no
// other legal move shares. In Xiangqi, coordinates have ranks from 0, or from 1 if
// uci is set. The error is an *AmbiguousError, or says why there is no such move.
func Read(p game.Position, text string, uci bool) (Reading, error) {
	text = strings.TrimSpace(strings.Map(format.Fold, text))
	if text == "" {
		return Reading{}, errors.New("no move")
	}
	moves := exact(p, text, uci)
	completed := len(moves) == 0
	if completed {
		moves = beginning(p, text, uci)
	}
	switch len(moves) {
	case 0:
		return Reading{}, refusal(p, text, uci)
	case 1:
		return Reading{moves[0], p.Format(moves[0]), completed}, nil
	}
	e := &AmbiguousError{Text: text}
	for _, m := range moves[:min(len(moves), maxCandidates)] {
		e.Candidates = append(e.Candidates, describe(p, m, uci))
	}
	e.More = len(moves) - len(e.Candidates)
	return Reading{}, e
}

// notations lists those in which moves are read and written, the spoken one first; nil
// if the game has one alone.
func notations(p game.Position, uci bool) []game.Notation {
	n, ok := p.(game.Notated)
	if !ok {
		return nil
	}
	if p.Rules().Game != xiangqi.Name {
		return n.Notations()
	}
	if uci {
		return []game.Notation{xiangqi.Chinese, xiangqi.Algebra, xiangqi.WXF}
	}
	return []game.Notation{xiangqi.Chinese, xiangqi.ICCS, xiangqi.WXF}
}

// spokenNotation is the first of notations, "" for the game's only one.
func spokenNotation(p game.Position, uci bool) game.Notation {
	if all := notations(p, uci); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Writings returns a legal move in every notation, the spoken one first.
func Writings(p game.Position, m game.Move, uci bool) (all []string) {
	for _, n := range notations(p, uci) {
		if text := p.(game.Notated).FormatIn(n, m); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 {
		all = []string{p.Format(m)}
	}
	return all
}

// describe writes a move as it is spoken, with its coordinates.
func describe(p game.Position, m game.Move, uci bool) string {
	all := Writings(p, m, uci)
	if p.Rules().Game == xiangqi.Name {
		return all[0] + " " + all[1]
	}
	return all[0]
}

// exact returns the legal moves that a text names in full.
func exact(p game.Position, text string, uci bool) (found []game.Move) {
	add := func(m game.Move, err error) {
		if err == nil && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	lower := strings.ToLower(text)
	for _, n := range notations(p, uci) {
		add(p.(game.Notated).ParseIn(n, text))
		add(p.(game.Notated).ParseIn(n, lower))
	}
	if notations(p, uci) == nil {
		add(p.Parse(lower))
	}
	points := pointsOf(lower)
	if points == nil || uci && p.Rules().Game == xiangqi.Name {
		return found
	}
	for _, m := range p.Legal(nil) {
		if slices.Equal(view.Points(p.Format(m)), points) {
			add(m, nil)
		}
	}
	return found
}

// stone matches a stone as game records have it, B(H,8), after plain.
var stone = regexp.MustCompile(`^[bw]([a-z][0-9]{1,2})$`)

// pointsOf returns the points that a text consists of, nil if there is more in it.
func pointsOf(lower string) []string {
	text := plain(lower)
	if m := stone.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	points := view.Points(text)
	if strings.Join(points, "") != text {
		return nil
	}
	return points
}

// plain leaves out everything but letters and digits.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -/(),.:;", r) {
			return -1
		}
		return r
	}, text)
}

// beginning returns the legal moves of which a notation begins with the text.
func beginning(p game.Position, text string, uci bool) (found []game.Move) {
	lower := strings.ToLower(text)
	for _, m := range p.Legal(nil) {
		coordinates := p.Format(m)
		if slices.ContainsFunc(Writings(p, m, uci), func(w string) bool {
			return strings.HasPrefix(strings.ToLower(w), lower)
		}) || !(uci && p.Rules().Game == xiangqi.Name) && plain(lower) != "" && strings.HasPrefix(plain(coordinates), plain(lower)) {
			found = append(found, m)
		}
	}
	return found
}

// refusal says why a text is no legal move.
func refusal(p game.Position, text string, uci bool) error {
	lower := strings.ToLower(text)
	if points := pointsOf(lower); points != nil && !(uci && p.Rules().Game == xiangqi.Name) {
		key, err := view.Why(p, points...)
		switch {
		case err == nil && key != "":
			return fmt.Errorf("%w: %s: %s", game.ErrIllegal, text, words.T(key))
		case err == nil:
			return fmt.Errorf("%w: %s", game.ErrIllegal, text)
		}
	}
	for _, n := range notations(p, uci) {
		if _, err := p.(game.Notated).ParseIn(n, text); errors.Is(err, game.ErrIllegal) {
			return err
		}
	}
	return fmt.Errorf("%q: not a move (such as %s), and not a command (see help)", text, example(p, uci))
}

// example returns a legal move in its notations.
func example(p game.Position, uci bool) string {
	legal := p.Legal(nil)
	if len(legal) == 0 {
		return "none: the game is over"
	}
	return strings.Join(Writings(p, legal[len(legal)/2], uci), " or ")
}
