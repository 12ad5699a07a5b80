package view

import (
	"fmt"
	"strings"

	"sparring/game"
)

// maxTouched bounds the text of the points in a question.
const maxTouched = 40

// Why says why the rules refuse a move, by the key of a sentence in the page's
// dictionaries: "illegal.leg". The points are those that somebody touched, in
// order; one text may have several ("d1d7"). The key is "" if nothing is wrong with
// them. The error wraps game.ErrSyntax, or ErrNoPicture if the game gives no reasons.
func Why(p game.Position, touched ...string) (key string, err error) {
	r, ok := p.(game.Refuser)
	if !ok {
		return "", fmt.Errorf("%s: %w", p.Rules().Game, ErrNoPicture)
	}
	text := strings.ToLower(strings.Join(touched, ""))
	if len(text) > maxTouched {
		return "", fmt.Errorf("%w: points %.20q... are too many", game.ErrSyntax, text)
	}
	why, err := r.Refusal(Points(text))
	if err != nil || why == "" {
		return "", err
	}
	return "illegal." + string(why), nil
}
