package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// words are the texts in one language.
type words struct {
	site *site
	lang string
}

// t returns the text of a key.
func (w words) t(key string, pairs ...any) string { return w.site.text(w.lang, key, pairs...) }

// or returns the text of a key, or the fallback if there is none.
func (w words) or(key, fallback string) string {
	if text, ok := w.site.texts[w.lang][key]; ok {
		return text
	}
	return fallback
}

// rules names a rule set. Parameters without a name of their own are shown as
// they are.
func (w words) rules(name string) string {
	for base, rest := name, ""; ; {
		if text := w.or("rules."+base, ""); text != "" {
			return text + rest
		}
		i := strings.LastIndexByte(base, '+')
		if i < 0 {
			return name
		}
		base, rest = base[:i], base[i:]+rest
	}
}

// clock describes a time control, as the page's script does.
func (w words) clock(s clock.Spec) string {
	seconds := func(d time.Duration) string {
		return w.t("clock.seconds", "n", strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
	}
	long := func(d time.Duration) string {
		switch {
		case d%(24*time.Hour) == 0:
			return w.t("clock.day_count", "n", int64(d/(24*time.Hour)))
		case d%time.Minute == 0:
			return w.t("clock.minutes", "n", int64(d/time.Minute))
		}
		return seconds(d)
	}
	main := seconds(s.Initial)
	if s.Initial%time.Minute == 0 {
		main = w.t("clock.minutes", "n", int64(s.Initial/time.Minute))
	}
	switch s.Kind {
	case clock.SuddenDeath:
		return main
	case clock.Fischer:
		return w.t("clock.fischer", "main", main, "more", seconds(s.Increment))
	case clock.ByoYomi:
		return w.t("clock.byoyomi", "main", main, "n", s.Periods, "period", seconds(s.Period))
	case clock.PerMove:
		return w.t("clock.per_move", "period", long(s.Period))
	}
	return w.t("clock.unlimited")
}

// left writes the time on a clock.
func (w words) left(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f", float64(max(d, 0)/(100*time.Millisecond))/10)
	}
	s := int64((d + time.Second - 1) / time.Second)
	switch {
	case s >= 86400:
		return w.t("clock.days", "d", s/86400, "h", s%86400/3600)
	case s >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s%3600/60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// outcome says in a sentence how a game ended. Sides are the colours of the seats
// at its end.
func (w words) outcome(o game.Outcome, sides [2]string) string {
	winner, loser := 0, 1
	if o.Result == game.SecondWins {
		winner, loser = 1, 0
	}
	fallback := w.t("result.none")
	switch o.Result {
	case game.Draw:
		fallback = w.t("result.draw")
	case game.FirstWins, game.SecondWins:
		fallback = w.t("result.wins", "name", w.side(sides[winner]))
	}
	if w.or("reason."+string(o.Reason), "") == "" {
		return fallback
	}
	return w.t("reason."+string(o.Reason), "winner", w.side(sides[winner]), "loser", w.side(sides[loser]))
}

func (w words) side(colour string) string { return w.or("side."+colour, colour) }

// move writes a move of a list; what an opening procedure decides has words.
func (w words) move(text string) string {
	if point, ok := strings.CutPrefix(text, "offer:"); ok {
		return w.t("move.offer", "point", point)
	}
	if n, ok := strings.CutPrefix(text, "fifths-"); ok {
		return w.t("move.fifths", "n", n)
	}
	return w.or("move."+text, text)
}
