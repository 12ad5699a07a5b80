package pgn

import (
	"regexp"
	"strings"
	"unicode/utf8"

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

// own are the characters of Chinese notation that differ between the sides. Many
// programs use one side's for both, or Arabic numbers for Red.
var own = [2]*strings.Replacer{
	xiangqi.Red: strings.NewReplacer("士", "仕", "象", "相", "将", "帅", "將", "帅", "卒", "兵",
		"1", "一", "2", "二", "3", "三", "4", "四", "5", "五", "6", "六", "7", "七", "8", "八", "9", "九"),
	xiangqi.Black: strings.NewReplacer("仕", "士", "相", "象", "帅", "将", "帥", "将", "兵", "卒",
		"一", "1", "二", "2", "三", "3", "四", "4", "五", "5", "六", "6", "七", "7", "八", "8", "九", "9"),
}

// ordinals number the pawns of tandems.
const ordinals = "一二三四五"

// parseMove reads a move in any notation, also in full-width characters and with
// a mark for check after it.
func parseMove(p *xiangqi.Position, text string) (game.Move, error) {
	text = strings.TrimRight(strings.Map(format.Fold, text), "+")
	if first, size := utf8.DecodeRuneInString(text); first >= utf8.RuneSelf {
		// The first may be the place of a pawn, which both sides write alike.
		text = text[:size] + own[p.Board().Side()].Replace(text[size:])
		if !strings.ContainsRune(ordinals, first) {
			text = own[p.Board().Side()].Replace(text[:size]) + text[size:]
		}
	}
	if m := signFirst.FindStringSubmatch(text); m != nil {
		text = m[2] + m[1] + m[3]
	}
	if m := iccs.FindStringSubmatch(text); m != nil {
		return p.Parse(strings.ToLower(m[1] + m[2]))
	}
	return p.ParseAny(text)
}
