// Package pgn reads and writes Xiangqi games in the portable game notation
// that Chinese chess programs share: the PGN of chess with the tag
// [Game "Chinese Chess"], players in Red and Black, and moves in one of three
// notations, which the tag Format names: ICCS (H2-E2), WXF (C2=5) or Chinese
// (炮二平五). The reader looks at each move and ignores the tag, which many files
// lack.
//
// Comments after a move are kept, and their commands that chess programs know
// ([%eval], [%emt], [%clk]) are read, as are those of cutechess and fastchess: {+0.35/12 1.2s},
// and {book} at a move of the opening that a match began with. Variations and annotation
// glyphs are skipped. Red is always seat first, whichever side moves first.
//
// There are three tags of our own: Rules, the rule set, and RedPlayer and
// BlackPlayer, the ids of players whose id differs from their name.
package pgn

import (
	"regexp"
	"strings"

	"sparring/game"
	"sparring/game/xiangqi"
	"sparring/record/format"
)

// Format describes the format.
func Format() format.Format {
	return format.Format{
		Name:   "pgn",
		Ext:    ".pgn",
		About:  "Xiangqi games with moves in ICCS, WXF or Chinese notation",
		Games:  []string{xiangqi.Name},
		Detect: func(text string) bool { return beginning.MatchString(text[:min(len(text), 4096)]) },
		Write:  write,
		Read:   read,
	}
}

// beginning matches the beginning of a file: a tag, after any comment lines.
var beginning = regexp.MustCompile(`^\s*([%;][^\n]*\n\s*)*\[\s*[A-Za-z]\w*\s+"`)

// results are the texts of results, in the tag and after the moves.
var results = map[string]game.Result{"1-0": game.FirstWins, "0-1": game.SecondWins, "1/2-1/2": game.Draw, "*": game.Undecided}

// known returns a tag's value, or "" if the value means "unknown".
func known(value string) string {
	value = strings.TrimSpace(value)
	if strings.Trim(value, "?-*.") == "" {
		return ""
	}
	return value
}
