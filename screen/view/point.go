package view

import (
	"regexp"
	"strconv"
)

// pointText finds the names of points.
var pointText = regexp.MustCompile(`[a-z][0-9]{1,2}`)

// Points returns the points of a move's text, in order; none of "swap".
func Points(move string) []string { return pointText.FindAllString(move, -1) }

// Point names the point in a column from the left, from 0, and a row by its number.
func Point(column, row int) string { return string(rune('a'+column)) + strconv.Itoa(row) }

// ParsePoint reads what Point writes.
func ParsePoint(text string) (column, row int, ok bool) {
	if len(text) < 2 || text[0] < 'a' || text[0] > 'z' {
		return 0, 0, false
	}
	row, err := strconv.Atoi(text[1:])
	return int(text[0] - 'a'), row, err == nil && row >= 0
}
