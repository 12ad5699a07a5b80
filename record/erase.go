package record

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sparring/protocol"
)

// Pseudonymize replaces a player of a game by a pseudonym, wherever its id and its
// display name stand, so that the game can still be read. In comments and texts only
// whole words are replaced: the name "A" is not every a. It returns whether the game is
// one of the player's.
func Pseudonymize(r *Record, player, pseudonym string) bool {
	displays, ids := []string{}, []string{}
	for seat := range r.Seats {
		s := &r.Seats[seat]
		if s.Player != player {
			continue
		}
		if s.Display != "" {
			displays = append(displays, s.Display)
		}
		ids = append(ids, player)
		s.Player, s.Display = pseudonym, ""
	}
	if r.Source.Player == player {
		r.Source.Player, r.Source.Instance = pseudonym, ""
		ids = append(ids, player)
	}
	if len(ids) == 0 {
		return false
	}
	replace := func(text string) string {
		for _, name := range displays {
			text = replaceName(text, name, pseudonym, apart)
		}
		for _, id := range ids {
			text = replaceName(text, id, pseudonym, apartID)
		}
		return text
	}
	r.Text = replace(r.Text)
	own := func(id string) string { return string(protocol.OwnPool(protocol.PlayerID(id))) }
	if r.Pool == own(player) {
		r.Pool = own(pseudonym)
	}
	for _, s := range []*Settings{r.Source.Settings, r.Seats[0].Settings, r.Seats[1].Settings} {
		if s == nil {
			continue
		}
		if s.Profile == player {
			s.Profile = pseudonym
		}
		s.Spec = PseudonymizeSpec(s.Spec, player, pseudonym)
	}
	for i := range r.Plies {
		r.Plies[i].Comment = replace(r.Plies[i].Comment)
	}
	for i := range r.Disputes {
		r.Disputes[i].Text = replace(r.Disputes[i].Text)
	}
	return true
}

// PseudonymizeSpec replaces a player by a pseudonym in the spec of an engine, by which a
// match names it, or its name there: "uci:./engine,name=Ann".
func PseudonymizeSpec(spec, player, pseudonym string) string {
	if spec == player {
		return pseudonym
	}
	named := "name=" + strings.ReplaceAll(player, ",", `\,`)
	for from := 0; ; {
		at := strings.Index(spec[from:], named)
		if at < 0 {
			return spec
		}
		at += from
		end := at + len(named)
		if at > 0 && strings.ContainsRune(":,", rune(spec[at-1])) && (end == len(spec) || spec[end] == ',') {
			spec = spec[:at] + "name=" + pseudonym + spec[end:]
		}
		from = at + 1
	}
}

// replaceName replaces a name where it stands apart from what is before and after it. The
// runes of apart are the last or first of the name, and its neighbour.
func replaceName(text, name, by string, apart func(name string, edge, next rune) bool) string {
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	var b strings.Builder
	for from := 0; ; {
		at := strings.Index(text[from:], name)
		if at < 0 {
			b.WriteString(text[from:])
			return b.String()
		}
		at += from
		end := at + len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:at]) // RuneError at the ends, which is no letter
		after, _ := utf8.DecodeRuneInString(text[end:])
		if apart(name, first, before) && apart(name, last, after) {
			b.WriteString(text[from:at] + by)
			from = end
			continue
		}
		_, size := utf8.DecodeRuneInString(name)
		b.WriteString(text[from : at+size])
		from = at + size
	}
}

// apart reports whether a display name ends before a neighbour. Chinese and Japanese are
// written without spaces, so that a name of several characters may stand between others.
func apart(name string, edge, next rune) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	unspaced := unicode.In(edge, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	if unspaced && utf8.RuneCountInString(name) > 1 {
		return true
	}
	if !unspaced && unicode.In(next, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
		return true
	}
	return !word(edge) || !word(next)
}

// apartID is apart for ids.
func apartID(_ string, _, next rune) bool {
	return !(next >= 'a' && next <= 'z' || next >= '0' && next <= '9' || next == '-' || next == '_')
}
