package textlines

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestScanner: lines are counted, whatever their ends, and the one that can't be read is the
// one after the last.
func TestScanner(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		in    io.Reader
		lines []string
		at    int
		err   string
	}{
		{strings.NewReader(""), nil, 1, "<nil>"},
		{strings.NewReader("a\r\n\nb"), []string{"a", "", "b"}, 4, "<nil>"},
		{strings.NewReader("a\n" + strings.Repeat("x", Max-1) + "\nb\n"), []string{"a", strings.Repeat("x", Max-1), "b"}, 4, "<nil>"},
		{strings.NewReader("a\n" + strings.Repeat("x", Max) + "\nb\n"), []string{"a"}, 2, "a line of more than 1048576 bytes"},
		{io.MultiReader(strings.NewReader("a\nb\n"), iotest.ErrReader(broken)), []string{"a", "b"}, 3, "broken"},
	} {
		s := New(c.in)
		var lines []string
		for s.Scan() {
			if lines = append(lines, s.Text()); s.Line() != len(lines) {
				t.Errorf("line %d is called %d", len(lines), s.Line())
			}
		}
		if !slices.Equal(lines, c.lines) || s.Line() != c.at || fmt.Sprint(s.Err()) != c.err {
			t.Errorf("%d lines, then line %d: %v; want %d, line %d: %s", len(lines), s.Line(), s.Err(), len(c.lines), c.at, c.err)
		}
	}
}
