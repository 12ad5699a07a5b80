// Package sau is a codec for the line protocol that the SAU game platform of the
// Chinese computer games championship speaks with engines over pipes. It covers
// both directions, for the games whose moves are lists of squares: here Amazons
// and Gomoku.
//
//	platform      engine
//	name?         name Sparring
//	new black     move DJDDGD        black opens: the engine moves first
//	move AGDGDJ   move GJGDDG        the opponent's move, the answer
//	new white                        the engine waits for a move
//	error                            the engine's last move was refused
//	end [black|white]                the game is over, and the winner
//	quit
//
// Source: the platform's documentation as quoted by engines (AUGUSTRUSH8/
// SixChessGo, README), and engines for Amazons (tongque0/gotack-examples,
// amazon). A line has at most 256 bytes. The platform's accept, refuse, take
// and taked are for other games.
//
// # Squares
//
// A square is two capital letters, column and row, both from 'A', with the
// origin at the top left. A move lists its squares without spaces: a stone is
// one square, a move of an amazon three: from, to, arrow. So row A is our
// highest row: on 10x10, DJDDGD is d1d7/g7. (The championship's game records
// write the same move d1d7(g7), which confirms the direction of the rows.)
//
// Black moves first in every game. In Amazons it starts at the bottom, in rows G
// and J, as our first seat does, so the board is not turned.
package sau

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sparring/pipe/internal/tokens"
)

// ErrSyntax is wrapped by the error of a line or move that does not have the
// protocol's form.
var ErrSyntax = errors.New("sau syntax")

// MaxLine is the longest line that the platform allows, in bytes, with its end.
const MaxLine = 256

// maxSquares is the longest move: an amazon's.
const maxSquares = 3

// Word is the first word of a line.
type Word string

// The words. Name is an engine's, Move anyone's, the others the platform's.
const (
	AskName Word = "name?"
	New     Word = "new"   // Side: the engine's colour
	Move    Word = "move"  // Squares
	Refused Word = "error" // the engine's last move was refused
	End     Word = "end"   // Side: the winner, if given
	Quit    Word = "quit"
	Name    Word = "name" // Text
)

// Side is a colour. Black moves first.
type Side string

// The colours; End may name none.
const (
	Black  Side = "black"
	White  Side = "white"
	NoSide Side = ""
)

// Line is a line of either side.
type Line struct {
	Word    Word // one of the constants, or an unknown word, to be ignored
	Side    Side
	Squares string // of Move: pairs of capital letters
	Text    string // of Name; what follows an unknown word
}

// String returns the line without its end, cut if it is too long.
func (l Line) String() string {
	rest := l.Text
	switch l.Word {
	case New, End:
		rest = string(l.Side)
	case Move:
		rest = l.Squares
	}
	text := tokens.Text(string(l.Word) + " " + rest)
	if len(text) > MaxLine-2 {
		text = strings.ToValidUTF8(text[:MaxLine-2], "")
	}
	return text
}

// Parse reads a line. The platform ignores unknown words, and so must an engine:
// they are not errors. The error wraps ErrSyntax.
func Parse(line string) (Line, error) {
	if len(line) > MaxLine {
		return Line{}, fmt.Errorf("%w: a line of %d bytes, at most %d are allowed", ErrSyntax, len(line), MaxLine)
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	l := Line{Word: Word(word)}
	switch l.Word {
	case New, End:
		l.Side = Side(strings.ToLower(rest))
		if l.Side == Black || l.Side == White || l.Side == NoSide && l.Word == End {
			return l, nil
		}
		return Line{Word: l.Word}, fmt.Errorf("%w: %s %.20q, want black or white", ErrSyntax, word, rest)
	case Move:
		l.Squares = strings.ToUpper(rest)
		if _, err := split(l.Squares); err != nil {
			return Line{Word: Move}, err
		}
	default:
		l.Text = rest
	}
	return l, nil
}

// split splits a list of squares.
func split(squares string) ([]string, error) {
	bad := func() ([]string, error) {
		return nil, fmt.Errorf("%w: move %.20q, want one to %d squares of two letters each", ErrSyntax, squares, maxSquares)
	}
	if len(squares) == 0 || len(squares)%2 != 0 || len(squares) > 2*maxSquares {
		return bad()
	}
	var out []string
	for i := 0; i < len(squares); i += 2 {
		if c, r := squares[i], squares[i+1]; c < 'A' || c > 'Z' || r < 'A' || r > 'Z' {
			return bad()
		}
		out = append(out, squares[i:i+2])
	}
	return out, nil
}

// Ours converts a move into our notation, on a board of that many rows: h8 for
// one square, d1d7/g7 for three. The error wraps ErrSyntax.
func Ours(squares string, rows int) (string, error) {
	list, err := split(squares)
	if err != nil {
		return "", err
	}
	var s strings.Builder
	for i, q := range list {
		row := rows - int(q[1]-'A')
		if row < 1 {
			return "", fmt.Errorf("%w: square %s of move %s is below a board of %d rows", ErrSyntax, q, squares, rows)
		}
		if i == 2 {
			s.WriteByte('/')
		}
		fmt.Fprintf(&s, "%c%d", q[0]|0x20, row)
	}
	return s.String(), nil
}

// Squares converts one of our moves into the platform's notation. The error wraps
// ErrSyntax.
func Squares(move string, rows int) (string, error) {
	var s strings.Builder
	for rest := move; rest != ""; {
		if s.Len() == 4 {
			rest = strings.TrimPrefix(rest, "/")
		}
		end := 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		row, err := strconv.Atoi(rest[min(1, len(rest)):min(end, len(rest))])
		if err != nil || rest[0] < 'a' || rest[0] > 'z' || row < 1 || row > min(rows, 26) || rows-row >= 26 || s.Len() == 2*maxSquares {
			return "", fmt.Errorf("%w: move %.20q is not on a board of %d rows", ErrSyntax, move, rows)
		}
		s.WriteByte(rest[0] - 'a' + 'A')
		s.WriteByte('A' + byte(rows-row))
		rest = rest[end:]
	}
	if s.Len() == 0 {
		return "", fmt.Errorf("%w: no move", ErrSyntax)
	}
	return s.String(), nil
}
