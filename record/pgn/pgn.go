// Package pgn reads and writes Xiangqi games in the portable game notation
// that Chinese chess programs share: the PGN of chess with the tag
// [Game "Chinese Chess"], players in Red and Black, and moves in one of three
// notations, which the tag Format names: ICCS (H2-E2), WXF (C2=5) or Chinese
// (炮二平五). A reader goes by each move and not by the tag, which many files
// lack.
//
// Comments after a move are kept, with the commands that chess programs know
// in them ([%eval], [%emt], [%clk]); variations and annotation glyphs are
// passed over. Red's name is what the first seat is called, whichever side
// begins.
//
// Beside the usual tags there are Rules, the rule set, and RedPlayer and
// BlackPlayer, the ids of players whose name is another.
package pgn

import (
	"regexp"
	"strings"

	"sparring/game"
	"sparring/record/format"
)

// Format describes the format.
func Format() format.Format {
	return format.Format{
		Name:   "pgn",
		Ext:    ".pgn",
		About:  "Xiangqi games with moves in ICCS, WXF or Chinese notation",
		Games:  []string{"xiangqi"},
		Detect: func(text string) bool { return beginning.MatchString(text[:min(len(text), 4096)]) },
		Write:  write,
		Read:   read,
	}
}

// beginning is what a file begins with: a tag, after comments to the end of the line.
var beginning = regexp.MustCompile(`^\s*([%;][^\n]*\n\s*)*\[\s*[A-Za-z]\w*\s+"`)

// results are the texts of results, in the tag and behind the moves.
var results = map[string]game.Result{"1-0": game.FirstWins, "0-1": game.SecondWins, "1/2-1/2": game.Draw, "*": game.Undecided}

// known is a tag's value, "" where it means that nothing is known.
func known(value string) string {
	value = strings.TrimSpace(value)
	if strings.Trim(value, "?-*.") == "" {
		return ""
	}
	return value
}
