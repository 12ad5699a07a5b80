package screen

import "strings"

// The letters of moves in a small font, five rows of three dots each; drawn with half
// blocks, a letter is three rows high.
var font = map[rune][5]string{
	'A': {" # ", "# #", "###", "# #", "# #"},
	'B': {"## ", "# #", "## ", "# #", "## "},
	'C': {"###", "#  ", "#  ", "#  ", "###"},
	'D': {"## ", "# #", "# #", "# #", "## "},
	'E': {"###", "#  ", "## ", "#  ", "###"},
	'F': {"###", "#  ", "## ", "#  ", "#  "},
	'G': {"###", "#  ", "# #", "# #", "###"},
	'H': {"# #", "# #", "###", "# #", "# #"},
	'I': {"###", " # ", " # ", " # ", "###"},
	'J': {"  #", "  #", "  #", "# #", "###"},
	'K': {"# #", "# #", "## ", "# #", "# #"},
	'L': {"#  ", "#  ", "#  ", "#  ", "###"},
	'M': {"# #", "###", "###", "# #", "# #"},
	'N': {"## ", "# #", "# #", "# #", "# #"},
	'O': {"###", "# #", "# #", "# #", "###"},
	'P': {"###", "# #", "###", "#  ", "#  "},
	'Q': {"###", "# #", "# #", "###", "  #"},
	'R': {"## ", "# #", "## ", "# #", "# #"},
	'S': {"###", "#  ", "###", "  #", "###"},
	'T': {"###", " # ", " # ", " # ", " # "},
	'0': {"###", "# #", "# #", "# #", "###"},
	'1': {" # ", "## ", " # ", " # ", "###"},
	'2': {"###", "  #", "###", "#  ", "###"},
	'3': {"###", "  #", "###", "  #", "###"},
	'4': {"# #", "# #", "###", "  #", "  #"},
	'5': {"###", "#  ", "###", "  #", "###"},
	'6': {"###", "#  ", "###", "# #", "###"},
	'7': {"###", "  #", "  #", " # ", " # "},
	'8': {"###", "# #", "###", "# #", "###"},
	'9': {"###", "# #", "###", "  #", "###"},
	'/': {"  #", "  #", " # ", "#  ", "#  "},
	'-': {"   ", "   ", "###", "   ", "   "},
	' ': {"   ", "   ", "   ", "   ", "   "},
}

// big returns a text in the small font, three rows; ok is false if it has characters
// that the font lacks, or is wider than so many columns.
func big(text string, columns int) (rows [3]string, ok bool) {
	var b [3]strings.Builder
	for i, r := range []rune(strings.ToUpper(text)) {
		dots, known := font[r]
		if !known {
			return rows, false
		}
		for row := range 3 {
			if i > 0 {
				b[row].WriteByte(' ')
			}
			for x := range 3 {
				upper := dots[2*row][x] == '#'
				lower := row < 2 && dots[2*row+1][x] == '#'
				b[row].WriteString(half[upper][lower])
			}
		}
	}
	for row := range rows {
		rows[row] = b[row].String()
	}
	return rows, 4*len([]rune(text))-1 <= columns
}

// half are the blocks by whether their upper and lower halves are filled.
var half = map[bool]map[bool]string{
	true:  {true: "█", false: "▀"},
	false: {true: "▄", false: " "},
}
