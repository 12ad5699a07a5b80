// Package texttable writes tables, and counts of things, as text for terminals.
package texttable

import (
	"fmt"
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Table is text in columns, the first row its heading. Unlike those of tabwriter, its
// columns are straight where a terminal draws Chinese characters twice as wide.
type Table [][]string

// Add adds a row.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	*t = append(*t, row)
}

// Write writes the table, its columns two blanks apart.
func (t Table) Write(out io.Writer) error {
	widths := map[int]int{}
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	for _, row := range t {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-runewidth.StringWidth(cell)+2))
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
