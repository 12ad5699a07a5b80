// Package textlines reads texts that people write, line by line, and says which line is
// too long. Use [New].
package textlines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Max is the longest line that is read, in bytes: longer than a game of any kind.
const Max = 1 << 20

// ErrTooLong is returned by Scanner.Err for a longer line. What comes after it is not read.
var ErrTooLong = fmt.Errorf("a line of more than %d bytes", Max)

// Scanner is a [bufio.Scanner] that counts lines.
type Scanner struct {
	lines *bufio.Scanner
	n     int
}

// New returns a scanner of a text in UTF-8.
func New(in io.Reader) *Scanner {
	s := &Scanner{lines: bufio.NewScanner(in)}
	s.lines.Buffer(nil, Max)
	return s
}

// Scan reads the next line. It returns false at the end of the text, or if the line can't be
// read: see Err.
func (s *Scanner) Scan() bool {
	s.n++
	return s.lines.Scan()
}

// Text returns the line that Scan has read, without its end.
func (s *Scanner) Text() string { return s.lines.Text() }

// Line returns the number of the line, from 1, that Scan has read or could not read.
func (s *Scanner) Line() int { return s.n }

// Err returns why the line could not be read; nil at the end of the text.
func (s *Scanner) Err() error {
	err := s.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return ErrTooLong
	}
	return err
}
