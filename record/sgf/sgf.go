// Package sgf reads and writes the Smart Game Format, FF[4], of Gomoku
// (GM[4]), Xiangqi (GM[7]) and Amazons (GM[18]), after the specification at
// https://www.red-bean.com/sgf/.
//
// A point is two letters, column from the left and row from the top: the
// point h8 of a 15x15 board is hh. A move of Gomoku is a point, one of Amazons
// three (from, to, arrow: the specification's example is ;B[djddgd]). For
// Xiangqi the specification defines nothing but the number; here a move is two
// points, from and to, and coordinates such as h2e2 are also read.
//
// In Amazons B is seat first, whose amazons start at the bottom. In Xiangqi W is
// Red. If the other colour moves first in a file, that colour is read as seat
// first's.
//
// A move that no player chose, as of the opening that a match began with, has the name "book" (N).
//
// There are four properties of our own, which other programs keep or ignore:
// FEN, a start position of Xiangqi, which AB and AW cannot describe; ACT, a
// choice in an opening procedure, in the text of the rules; BP and WP, the ids of
// players whose id differs from their name.
package sgf

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sparring/game"
	"sparring/game/amazons"
	"sparring/game/gomoku"
	"sparring/game/xiangqi"
	"sparring/record/format"
)

// Format describes the format.
func Format() format.Format {
	return format.Format{
		Name:  "sgf",
		Ext:   ".sgf",
		About: "Smart Game Format FF[4], collections and main lines",
		Games: names(),
		Detect: func(text string) bool {
			head := strings.Map(func(r rune) rune {
				if strings.ContainsRune(" \t\r\n", r) {
					return -1
				}
				return r
			}, text[:min(len(text), 4096)])
			i := strings.Index(head, "(;")
			return i >= 0 && strings.ContainsRune(head[i:], '[')
		},
		Charset: charset,
		Write:   write,
		Read:    read,
	}
}

// declared is the beginning of a collection, up to the charset of its first game.
var declared = regexp.MustCompile(`[;\]\s]CA\s*\[\s*([^\]\s]{1,40})\s*\]`)

// charset returns what CA names in the bytes of a file, "" if there is none.
func charset(data []byte) string {
	data = data[:min(len(data), 64<<10)]
	if i := bytes.IndexByte(data, '('); i < 0 || !bytes.HasPrefix(bytes.TrimSpace(data[i+1:]), []byte(";")) {
		return ""
	}
	m := declared.FindSubmatch(data)
	if m == nil {
		return ""
	}
	return string(m[1])
}

// row says how SGF writes a game.
type row struct {
	game   string // its name
	number string // in GM
	// words are how files name the game that have no such number.
	words *regexp.Regexp
	first string // colour of the seat that opens the usual game: "B" or "W"
	// cols and rows are the default size of the board; lowest is the number of
	// the lowest row in the texts of the rules.
	cols, rows, lowest int
	// move is the form of the rules' text for a move that SGF writes as points,
	// with "%s" for each point. Any other move is a choice, written in ACT.
	move string
	// hyphens: coordinates with hyphens between them are read too.
	hyphens bool
	// setup pairs the properties that set up a position with the letters of the
	// position's text; sides has that text's letters of the side to move, by
	// seat. A game without them has a fixed board, and its start position in FEN.
	setup [][2]string
	sides [2]string
	// rules lists the rule sets that a game on such a board may be under; hint
	// is RU.
	rules func(cols, rows int, hint string) []string
}

// games lists the games that can be written. Others are refused.
var games = []row{
	{
		game: gomoku.Name, number: "4", words: regexp.MustCompile(`(?i)gomoku|freestyle|standard|caro|five in a row|五子棋|五目`), first: "B", cols: 15, rows: 15, lowest: 1, move: "%s",
		setup: [][2]string{{"AB", "x"}, {"AW", "o"}}, sides: [2]string{"b", "w"},
		rules: func(_, rows int, hint string) []string {
			size := "-" + strconv.Itoa(rows)
			return format.RuleSets(gomoku.Name, hint, func(name string) bool { return strings.HasSuffix(name, size) })
		},
	},
	{
		game: xiangqi.Name, number: "7", words: regexp.MustCompile(`(?i)xiangqi|chinese chess|象棋`), first: "W", cols: 9, rows: 10, lowest: 0, move: "%s%s", hyphens: true,
		rules: func(_, _ int, hint string) []string {
			return format.RuleSets(xiangqi.Name, hint, func(string) bool { return true })
		},
	},
	{
		game: amazons.Name, number: "18", words: regexp.MustCompile(`(?i)amazons|亚马逊|亞馬遜`), first: "B", cols: 10, rows: 10, lowest: 1, move: "%s%s/%s",
		setup: [][2]string{{"AB", "Q"}, {"AW", "q"}, {"AA", "*"}}, sides: [2]string{"w", "b"},
		rules: func(cols, rows int, _ string) []string {
			return []string{fmt.Sprintf("%s/%dx%d", amazons.Name, cols, rows)}
		},
	},
}

// names lists the names of the games.
func names() (all []string) {
	for _, g := range games {
		all = append(all, g.game)
	}
	return all
}

// numbers lists the games by their number in GM.
func numbers() string {
	var all []string
	for _, g := range games {
		all = append(all, g.number+" ("+g.game+")")
	}
	return strings.Join(all, ", ")
}

// points returns the number of points of a move.
func (g row) points() int { return strings.Count(g.move, "%s") }

// colour returns the colour of the side to move, given that of seat first. In Gomoku
// it is that of the next stone: an opening procedure may swap the seats.
func colour(p game.Position, first string) string {
	if g, ok := p.(*gomoku.Position); ok {
		return [...]string{gomoku.Black: "B", gomoku.White: "W"}[g.ToMove()]
	}
	if p.Turn() == game.First {
		return first
	}
	return other(first)
}

// firstColour returns the colour of seat first in a file: the one given, unless an
// opening procedure left Black to the second seat.
func firstColour(end game.Position, first string) string {
	if g, ok := end.(*gomoku.Position); ok && g.Seat(gomoku.Black) == game.Second {
		return "W"
	}
	return first
}

// other returns the other colour.
func other(colour string) string {
	if colour == "B" {
		return "W"
	}
	return "B"
}

// letter returns a column, or a row from the top, as SGF writes it.
func letter(n int) string { return string(rune('a' + n)) }
