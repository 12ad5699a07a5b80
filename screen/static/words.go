package static

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// Words are the texts in one language.
type Words struct {
	Lang  string
	Texts map[string]string // by key
}

// placeholder matches what stands in braces in a text: {name}, or {name|one|many},
// which chooses a word by the number of that name.
var placeholder = regexp.MustCompile(`\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}`)

// T returns the text of a key, or the key if there is none. Pairs name the values for
// what stands in braces: T("page.guest", "n", 4821).
func (w Words) T(key string, pairs ...any) string {
	text, ok := w.Texts[key]
	if !ok {
		return key
	}
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		m := placeholder.FindStringSubmatch(found)
		for i := 0; i+1 < len(pairs); i += 2 {
			value := fmt.Sprint(pairs[i+1])
			switch {
			case pairs[i] != m[1]:
			case m[2]+m[3] == "":
				return value
			case value == "1":
				return m[2]
			default:
				return m[3]
			}
		}
		return found
	})
}

// Or returns the text of a key, or the fallback if there is none.
func (w Words) Or(key, fallback string) string {
	if text, ok := w.Texts[key]; ok {
		return text
	}
	return fallback
}

// Rules names a rule set. Parameters without a name of their own are shown as
// they are.
func (w Words) Rules(name string) string {
	for base, rest := name, ""; ; {
		if text := w.Or("rules."+base, ""); text != "" {
			return text + rest
		}
		i := strings.LastIndexByte(base, '+')
		if i < 0 {
			return name
		}
		base, rest = base[:i], base[i:]+rest
	}
}

// Clock describes a time control, as the page's script does.
func (w Words) Clock(s clock.Spec) string {
	seconds := func(d time.Duration) string {
		return w.T("clock.seconds", "n", strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
	}
	long := func(d time.Duration) string {
		switch {
		case d%(24*time.Hour) == 0:
			return w.T("clock.day_count", "n", int64(d/(24*time.Hour)))
		case d%time.Minute == 0:
			return w.T("clock.minutes", "n", int64(d/time.Minute))
		}
		return seconds(d)
	}
	main := seconds(s.Initial)
	if s.Initial%time.Minute == 0 {
		main = w.T("clock.minutes", "n", int64(s.Initial/time.Minute))
	}
	switch s.Kind {
	case clock.SuddenDeath:
		return main
	case clock.Fischer:
		return w.T("clock.fischer", "main", main, "more", seconds(s.Increment))
	case clock.ByoYomi:
		return w.T("clock.byoyomi", "main", main, "n", s.Periods, "period", seconds(s.Period))
	case clock.PerMove:
		return w.T("clock.per_move", "period", long(s.Period))
	}
	return w.T("clock.unlimited")
}

// Left writes the time on a clock.
func (w Words) Left(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f", float64(max(d, 0)/(100*time.Millisecond))/10)
	}
	s := int64((d + time.Second - 1) / time.Second)
	switch {
	case s >= 86400:
		return w.T("clock.days", "d", s/86400, "h", s%86400/3600)
	case s >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s%3600/60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Outcome says in a sentence how a game ended. Sides are the colours of the seats
// at its end.
func (w Words) Outcome(o game.Outcome, sides [2]string) string {
	winner, loser := 0, 1
	if o.Result == game.SecondWins {
		winner, loser = 1, 0
	}
	fallback := w.T("result.none")
	switch o.Result {
	case game.Draw:
		fallback = w.T("result.draw")
	case game.FirstWins, game.SecondWins:
		fallback = w.T("result.wins", "name", w.Side(sides[winner]))
	}
	if o.Result == game.Undecided && o.Reason == protocol.ReasonAbandoned {
		return w.T("result.left")
	}
	if w.Or("reason."+string(o.Reason), "") == "" {
		return fallback
	}
	return w.T("reason."+string(o.Reason), "winner", w.Side(sides[winner]), "loser", w.Side(sides[loser]))
}

// CalledOff says that a game was called off because somebody did not begin.
func (w Words) CalledOff(late string) string { return w.T("result.late", "name", late) }

// Side names a colour.
func (w Words) Side(colour string) string { return w.Or("side."+colour, colour) }

// Move writes a move of a list; what an opening procedure decides has words.
func (w Words) Move(text string) string {
	if point, ok := strings.CutPrefix(text, "offer:"); ok {
		return w.T("move.offer", "point", point)
	}
	if n, ok := strings.CutPrefix(text, "fifths-"); ok {
		return w.T("move.fifths", "n", n)
	}
	return w.Or("move."+text, text)
}
