package pgn

import (
	"regexp"
	"strings"

	"sparring/game"
	"sparring/game/xiangqi"
	"sparring/record/format"
)

// moveText writes a move in a notation.
func moveText(p *xiangqi.Position, m game.Move, moves format.Moves) string {
	if moves == format.ICCS {
		return strings.ToUpper(xiangqi.From(m).String() + "-" + xiangqi.To(m).String())
	}
	return p.FormatIn(game.Notation(moves), m)
}

// iccs is a move by its squares, with ranks from 0: H2-E2 or h2e2.
var iccs = regexp.MustCompile(`^(?i)([a-i][0-9])-?([a-i][0-9])$`)

// signFirst is a move of a tandem piece with the sign before the letter: +R=8
// instead of WXF's R+=8.
var signFirst = regexp.MustCompile(`^([-+])([A-Za-z])(.*)$`)

// parseMove reads a move in any notation, also in full-width characters and with
// a mark for check after it.
func parseMove(p *xiangqi.Position, text string) (game.Move, error) {
	text = strings.TrimRight(strings.Map(format.Fold, text), "+")
	if m := signFirst.FindStringSubmatch(text); m != nil {
		text = m[2] + m[1] + m[3]
	}
	if m := iccs.FindStringSubmatch(text); m != nil {
		return p.Parse(strings.ToLower(m[1] + m[2]))
	}
	return p.ParseAny(text)
}
