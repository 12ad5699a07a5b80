// Package tokens reads the lines of engine protocols: words separated by spaces,
// most of them optional, in any order, some of them unknown. An error is
// recorded and reading continues, because the sender can't be asked again.
package tokens

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxLine is the longest line that is read, in bytes: several thousand moves.
const MaxLine = 64 << 10

// ErrSyntax is wrapped by the error of a line that is too long or has an invalid
// word. What could be read of the line is valid.
var ErrSyntax = errors.New("syntax")

// Line is a line being read, word by word.
type Line struct {
	rest string
	err  error
}

// Read begins to read a line.
func Read(line string) *Line {
	if len(line) > MaxLine {
		return &Line{err: fmt.Errorf("%w: a line of %d bytes, over the limit of %d", ErrSyntax, len(line), MaxLine)}
	}
	return &Line{rest: Text(line)}
}

// Text makes a text valid within a line: control characters become spaces, and the
// spaces around it are removed.
func Text(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text))
}

// Err returns the first error.
func (l *Line) Err() error { return l.err }

// Bad records a syntax error, unless there was one before.
func (l *Line) Bad(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("%w: %s", ErrSyntax, fmt.Sprintf(format, args...))
	}
}

// Next returns the next word, "" at the end.
func (l *Line) Next() string {
	word, rest, _ := strings.Cut(l.rest, " ")
	l.rest = strings.TrimLeft(rest, " ")
	return word
}

// Peek returns what Next will return.
func (l *Line) Peek() string {
	word, _, _ := strings.Cut(l.rest, " ")
	return word
}

// Rest returns the unread part of the line.
func (l *Line) Rest() string {
	rest := l.rest
	l.rest = ""
	return rest
}

// Words returns all words that are left.
func (l *Line) Words() []string { return l.Until(func(string) bool { return false }) }

// Until returns the words before the first for which ends is true.
func (l *Line) Until(ends func(word string) bool) (words []string) {
	for l.rest != "" && !ends(l.Peek()) {
		words = append(words, l.Next())
	}
	return words
}

// Number reads the next word as a number, clamped to [least, most]. A word that
// is not a number is an error and stays unread, for it may be the next keyword;
// ok is then false.
func (l *Line) Number(key string, least, most int64) (n int64, ok bool) {
	word := l.Peek()
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		l.Bad("%s %.40q: want a number", key, word)
		return 0, false
	}
	l.Next()
	return min(max(n, least), most), true
}

// maxTime is the longest time that a word may give.
const maxTime = 365 * 24 * time.Hour

// Millis reads the next word as a time in milliseconds. It may be negative, as
// an overdrawn clock is.
func (l *Line) Millis(key string) (d time.Duration, ok bool) {
	const most = int64(maxTime / time.Millisecond)
	n, ok := l.Number(key, -most, most)
	return time.Duration(n) * time.Millisecond, ok
}

// Position reads what follows "position" in UCI and UCCI: "startpos" or "fen
// TEXT", then "moves ...".
func (l *Line) Position() (fen string, moves []string) {
	isMoves := func(w string) bool { return w == "moves" }
	switch w := l.Next(); w {
	case "startpos":
	case "fen":
		fen = strings.Join(l.Until(isMoves), " ")
		if fen == "" {
			l.Bad("position fen: nothing follows")
		}
	default:
		l.Bad("position %.40q: want startpos or fen", w)
	}
	l.Until(isMoves)
	l.Next()
	return fen, l.Words()
}
