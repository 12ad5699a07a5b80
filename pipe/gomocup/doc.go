// Package gomocup is a codec for the Gomoku AI protocol, which managers
// (Piskvork, the Gomocup tournament, c-gomoku-cli, Yixin-Board) speak with
// engines ("brains") over pipes. It covers both directions and does no I/O.
//
// Source: "Gomoku AI protocol" by Petr Lastovicka and Martin Petricek, version
// of 2023-03-20, plastovicka.github.io/protocl2en.htm, and Yixin-Board's
// additions (the commands that begin with YX). A [Decoder] reads a manager's lines,
// [ParseAnswer] an engine's.
//
// # Points
//
// A point is x,y, both from 0, x to the right and y down: 0,0 is the top left
// corner. Our moves are written h8, with row 1 at the bottom, so converting
// takes the height of the board.
//
// # Rules
//
// The rule of a game is a bit set ([Rule]). Yixin-Board has its own numbers
// ([YixinRule]), of which 2 contradicts the protocol: Renju there, continuous
// here. An engine recognizes Yixin-Board by its command YXSHOWINFO.
package gomocup

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSyntax is wrapped by the error of a line that does not have the protocol's
// form.
var ErrSyntax = errors.New("gomocup syntax")

// Bounds of what is read. A board of 20 has 400 points; Yixin-Board may list
// passes too.
const (
	MaxLine   = 4096 // bytes of a line that are read
	MaxStones = 1024 // lines of a BOARD
	maxCoord  = 99   // FORBID has two digits for a coordinate
	maxLines  = 64   // principal variations that YXNBEST may ask for
)

// Point is a point of the board, x to the right and y down from 0,0 at the top
// left, or Pass.
type Point struct{ X, Y int }

// Pass is what Yixin-Board writes for a side that has not moved.
var Pass = Point{-1, -1}

// String is x,y.
func (p Point) String() string { return fmt.Sprintf("%d,%d", p.X, p.Y) }

// Move returns the point in our notation, h8, on a board of that height; "" for a
// point outside of it or of 26 columns.
func (p Point) Move(height int) string {
	if p.X < 0 || p.X >= 26 || p.Y < 0 || p.Y >= height {
		return ""
	}
	return string(rune('a'+p.X)) + strconv.Itoa(height-p.Y)
}

// PointOf returns the point of one of our moves on a board of that height. The error
// wraps ErrSyntax.
func PointOf(move string, height int) (Point, error) {
	bad := func() (Point, error) {
		return Point{}, fmt.Errorf("%w: move %.20q is not a point of a board of height %d", ErrSyntax, move, height)
	}
	if len(move) < 2 || len(move) > 3 || move[0] < 'a' || move[0] > 'z' {
		return bad()
	}
	row, ok := number(move[1:])
	if !ok || row < 1 || row > height {
		return bad()
	}
	return Point{int(move[0] - 'a'), height - row}, nil
}

// ParsePoint reads x,y with both from 0 to 99; spaces around the numbers are
// allowed. The error wraps ErrSyntax.
func ParsePoint(text string) (Point, error) {
	n, err := numbers(text, 2)
	if err != nil {
		return Point{}, err
	}
	p := Point{n[0], n[1]}
	if p.X < 0 || p.X > maxCoord || p.Y < 0 || p.Y > maxCoord {
		return Point{}, fmt.Errorf("%w: point %.20q, want x,y with both from 0", ErrSyntax, text)
	}
	return p, nil
}

// numbers reads count integers separated by commas.
func numbers(text string, count int) ([]int, error) {
	fields := strings.Split(text, ",")
	bad := func() ([]int, error) {
		return nil, fmt.Errorf("%w: %.40q, want %d numbers separated by commas", ErrSyntax, text, count)
	}
	if len(fields) != count {
		return bad()
	}
	out := make([]int, count)
	for i, f := range fields {
		n, ok := number(strings.TrimSpace(f))
		if !ok {
			return bad()
		}
		out[i] = n
	}
	return out, nil
}

// number reads a short integer.
func number(text string) (int, bool) {
	if len(text) > 6 {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && !strings.HasPrefix(text, "+")
}

// clean cuts an overlong line, and trims it.
func clean(line string) string {
	return strings.TrimSpace(line[:min(len(line), MaxLine)])
}
