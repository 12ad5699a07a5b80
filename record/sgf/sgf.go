// Package sgf reads and writes the Smart Game Format, FF[4], of Gomoku
// (GM[4]), Xiangqi (GM[7]) and Amazons (GM[18]), after the specification at
// https://www.red-bean.com/sgf/.
//
// A point is two letters, column from the left and row from the top: the
// point h8 of a 15x15 board is hh. A move of Gomoku is a point, one of Amazons
// three (from, to, arrow: the specification's example is ;B[djddgd]). For
// Xiangqi the specification has the number only; moves are written here as two
// points, from and to, and coordinates such as h2e2 are read too.
//
// In Amazons B is seat first, whose amazons start at the bottom. In Xiangqi W
// is Red. A file that lets the other colour begin is read with that colour as
// the first.
//
// Beside the standard properties there are four of our own, which other
// programs keep or ignore: FEN, a start position of Xiangqi, which AB and AW
// cannot give; ACT, a choice in an opening procedure, as the rules write it;
// BP and WP, the ids of players whose name is another.
package sgf

import (
	"strings"

	"sparring/record/format"
)

// Format describes the format.
func Format() format.Format {
	return format.Format{
		Name:  "sgf",
		Ext:   ".sgf",
		About: "Smart Game Format FF[4], collections and main lines",
		Games: []string{"gomoku", "xiangqi", "amazons"},
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
		Write: write,
		Read:  read,
	}
}

// The numbers of the games in GM.
var gameNumbers = map[string]string{"gomoku": "4", "xiangqi": "7", "amazons": "18"}

// letter is a column, or a row from the top, as SGF writes it.
func letter(n int) string { return string(rune('a' + n)) }
