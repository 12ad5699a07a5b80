// Package tokens reads the lines of engine protocols: words between blanks,
// most of them optional, in any order, some of them unknown. What is wrong is
// noted and passed over, because a protocol's other side can't be asked again.
package tokens

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxLine is the longest line that is looked at, in bytes: several thousand
// moves.
const MaxLine = 64 << 10

// ErrSyntax: a line that is too long, or a word that is not what it should be.
var ErrSyntax = errors.New("syntax")

// Line is a line being read, word by word.
type Line struct {
	rest string
	err  error
}

// Read begins to read a line.
func Read(line string) *Line {
	if len(line) > MaxLine {
		return &Line{err: fmt.Errorf("%w: a line of %d bytes, at most %d make sense", ErrSyntax, len(line), MaxLine)}
	}
	return &Line{rest: clean(line)}
}

// clean is the text without anything that could end a line or hide on it.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text))
}

// Text is a text that is to become part of a line.
func Text(text string) string { return clean(text) }

// Err is the first thing that was wrong.
func (l *Line) Err() error { return l.err }

// Bad notes what is wrong, unless something was before.
func (l *Line) Bad(format string, args ...any) {
	l.Note(fmt.Errorf("%w: %s", ErrSyntax, fmt.Sprintf(format, args...)))
}

// Note keeps err, if it is one, unless something was wrong before.
func (l *Line) Note(err error) {
	if l.err == nil {
		l.err = err
	}
}

// Next is the next word, "" at the end.
func (l *Line) Next() string {
	word, rest, _ := strings.Cut(l.rest, " ")
	l.rest = strings.TrimLeft(rest, " ")
	return word
}

// Peek is what Next will return.
func (l *Line) Peek() string {
	word, _, _ := strings.Cut(l.rest, " ")
	return word
}

// Rest is all that is left.
func (l *Line) Rest() string {
	rest := l.rest
	l.rest = ""
	return rest
}

// Until is the words before the next one that ends reports, or all that are left.
func (l *Line) Until(ends func(word string) bool) (words []string) {
	for l.rest != "" && !ends(l.Peek()) {
		words = append(words, l.Next())
	}
	return words
}

// Number is the next word as a number, brought within least and most. A word
// that is none is noted and stays, it may be the next keyword; ok is then false.
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

// longest is the longest time that a word may name.
const longest = 365 * 24 * time.Hour

// Millis is the next word as a time in milliseconds, negative ones included:
// an overdrawn clock.
func (l *Line) Millis(key string) (d time.Duration, ok bool) {
	return l.Time(key, time.Millisecond)
}

// Time is the next word as a time in the unit given.
func (l *Line) Time(key string, unit time.Duration) (d time.Duration, ok bool) {
	most := int64(longest / unit)
	n, ok := l.Number(key, -most, most)
	return time.Duration(n) * unit, ok
}
