package amazons

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
)

// maxText bounds the length of position texts: a letter for each square, a slash
// between the rows and the side to move.
const maxText = 2*maxSquares + 2

// parseBoard reads a position text; errors name the column of the text, from 1.
func parseBoard(text string) (Board, error) {
	bad := func(kind error, at int, format string, args ...any) (Board, error) {
		return Board{}, fmt.Errorf("%w: amazons position %.60q, column %d: %s", kind, text, at+1, fmt.Sprintf(format, args...))
	}
	if len(text) > maxText {
		return bad(game.ErrSyntax, maxText, "too long")
	}
	field, side, ok := strings.Cut(text, " ")
	if !ok || side != "w" && side != "b" {
		return bad(game.ErrSyntax, len(field), "want the rows, a blank and the side to move, w or b")
	}
	rows := strings.Split(field, "/")
	board := make([]string, len(rows)) // one byte for each square, top row first
	at := 0
	for i, row := range rows {
		cells, wrong, why := expandRow(row)
		if why != "" {
			return bad(game.ErrSyntax, at+wrong, "%s", why)
		}
		if i > 0 && len(cells) != len(board[0]) {
			return bad(game.ErrPosition, at, "row %d has %d squares, the top row %d", len(rows)-i, len(cells), len(board[0]))
		}
		board[i] = cells
		at += len(row) + 1
	}
	geo, err := newGeometry(len(board[0]), len(rows))
	if err != nil {
		return bad(game.ErrPosition, 0, "%v", err)
	}
	b := Board{geo: geo}
	if side == "b" {
		b.turn = game.Second
	}
	for i, row := range board {
		for c, cell := range row {
			s := Bit(Square((len(rows)-1-i)*geo.cols + c))
			switch cell {
			case 'Q':
				b.amazons[game.First] = b.amazons[game.First].Or(s)
			case 'q':
				b.amazons[game.Second] = b.amazons[game.Second].Or(s)
			case '.':
				b.free = b.free.Or(s)
			}
		}
	}
	for seat, letter := range []string{"Q", "q"} {
		if b.amazons[seat].Empty() {
			return bad(game.ErrPosition, 0, "no amazon %s of seat %s", letter, game.Seat(seat))
		}
	}
	b.key = b.computeKey()
	return b, nil
}

// expandRow writes a row with '.' for each empty square, or says what is wrong
// at which byte.
func expandRow(row string) (cells string, at int, why string) {
	if row == "" {
		return "", 0, "an empty row"
	}
	var out strings.Builder
	for i := 0; i < len(row); {
		switch c := row[i]; {
		case c == 'Q' || c == 'q' || c == '*':
			out.WriteByte(c)
			i++
		case c >= '1' && c <= '9':
			end := i + 1
			for end < len(row) && row[end] >= '0' && row[end] <= '9' {
				end++
			}
			n, err := strconv.Atoi(row[i:end])
			if err != nil || n > maxSide {
				return "", i, fmt.Sprintf("a run of %.10s empty squares", row[i:end])
			}
			out.WriteString(strings.Repeat(".", n))
			i = end
		default:
			return "", i, fmt.Sprintf("%q: want Q, q, * or a number", c)
		}
		if out.Len() > maxSide {
			return "", i - 1, fmt.Sprintf("more than %d squares in a row", maxSide)
		}
	}
	return out.String(), 0, ""
}

// cell returns the letter of a square: Q, q, * or '.'.
func (b *Board) cell(s Square) byte {
	switch {
	case b.free.Has(s):
		return '.'
	case b.amazons[game.First].Has(s):
		return 'Q'
	case b.amazons[game.Second].Has(s):
		return 'q'
	}
	return '*'
}

// String returns the position text.
func (p *Position) String() string {
	b := &p.board
	var out strings.Builder
	for row := b.geo.rows - 1; row >= 0; row-- {
		empty := 0
		flush := func() {
			if empty > 0 {
				out.WriteString(strconv.Itoa(empty))
			}
			empty = 0
		}
		for col := range b.geo.cols {
			if cell := b.cell(Square(row*b.geo.cols + col)); cell == '.' {
				empty++
			} else {
				flush()
				out.WriteByte(cell)
			}
		}
		flush()
		if row > 0 {
			out.WriteByte('/')
		}
	}
	if b.turn == game.First {
		out.WriteString(" w")
	} else {
		out.WriteString(" b")
	}
	return out.String()
}

// Diagram draws the board with its coordinates.
func (p *Position) Diagram() string {
	b := &p.board
	var out strings.Builder
	for row := b.geo.rows - 1; row >= 0; row-- {
		fmt.Fprintf(&out, "%2d", row+1)
		for col := range b.geo.cols {
			out.WriteByte(' ')
			out.WriteByte(b.cell(Square(row*b.geo.cols + col)))
		}
		out.WriteByte('\n')
	}
	out.WriteString("  ")
	for col := range b.geo.cols {
		out.WriteByte(' ')
		out.WriteByte(byte('a' + col))
	}
	out.WriteByte('\n')
	return out.String()
}
