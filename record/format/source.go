package format

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors of formats, wrapped with what and where. Errors of moves and
// positions wrap those of package game.
var (
	// ErrSyntax: the text is not in the format.
	ErrSyntax = errors.New("syntax")
	// ErrCannot: the format can't represent this.
	ErrCannot = errors.New("not possible in this format")
	// ErrUnknown: no format of that name, or the text looks like no format.
	ErrUnknown = errors.New("unknown format")
)

// GameError is the error of a game that is not written.
type GameError struct {
	Format string // its name
	Game   string // id
	Err    error  // as that of Format.Write
}

func (e *GameError) Error() string { return fmt.Sprintf("%s: game %s: %v", e.Format, e.Game, e.Err) }
func (e *GameError) Unwrap() error { return e.Err }

// Error is an error in a text, with its place. A number that does not apply is 0.
type Error struct {
	Format string
	Game   int // from 1
	Line   int // from 1
	Column int // from 1, in characters
	Ply    int // from 1
	Err    error
}

func (e *Error) Error() string {
	var s strings.Builder
	s.WriteString(e.Format)
	if e.Game > 1 {
		fmt.Fprintf(&s, ", game %d", e.Game)
	}
	if e.Line > 0 {
		fmt.Fprintf(&s, ", line %d, column %d", e.Line, e.Column)
	}
	if e.Ply > 0 {
		fmt.Fprintf(&s, ", ply %d", e.Ply)
	}
	fmt.Fprintf(&s, ": %v", e.Err)
	return s.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Source is a text being read.
type Source struct {
	Format string
	Text   string
	Game   int // being read, from 1

	counted, lines int // lines is the number of line ends before byte counted
}

// Error returns an error at a byte of the text; ply is 0 outside of moves.
func (s *Source) Error(at, ply int, err error) error {
	line, column := s.place(at)
	return &Error{Format: s.Format, Game: s.Game, Line: line, Column: column, Ply: ply, Err: err}
}

// Syntax returns an error that wraps ErrSyntax.
func (s *Source) Syntax(at int, format string, args ...any) error {
	return s.Error(at, 0, fmt.Errorf("%w: %s", ErrSyntax, fmt.Sprintf(format, args...)))
}

func (s *Source) place(at int) (line, column int) {
	at = min(at, len(s.Text))
	if at < s.counted {
		s.counted, s.lines = 0, 0
	}
	// Go on counting where the last error was, so that a file with many damaged
	// games is scanned once.
	s.lines += strings.Count(s.Text[s.counted:at], "\n")
	s.counted = at
	begin := strings.LastIndexByte(s.Text[:at], '\n') + 1
	return 1 + s.lines, 1 + utf8.RuneCountInString(s.Text[begin:at])
}
