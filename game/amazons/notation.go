package amazons

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
)

// The notations. Parse reads all of them, in capitals too.
const (
	Slash   game.Notation = "slash"   // d1d7/b7, the usual one here
	Hyphens game.Notation = "hyphens" // d1-d7-b7, common in the literature
	Parens  game.Notation = "parens"  // d1d7(b7), of Chinese game records
)

var _ game.Notated = (*Position)(nil)

// Notations lists the notations.
func (*Position) Notations() []game.Notation { return []game.Notation{Slash, Hyphens, Parens} }

// form is the text that a notation has between and after the squares.
type form struct{ afterFrom, afterTo, end string }

func formOf(n game.Notation) form {
	switch n {
	case Hyphens:
		return form{"-", "-", ""}
	case Parens:
		return form{"", "(", ")"}
	}
	return form{"", "/", ""}
}

// name returns a square's text, a1 at the bottom left.
func (g *geometry) name(s Square) string {
	return string(rune('a'+int(s)%g.cols)) + strconv.Itoa(int(s)/g.cols+1)
}

// Format writes the move as d1d7/b7.
func (p *Position) Format(m game.Move) string { return p.FormatIn(Slash, m) }

// FormatIn writes the move in a notation.
func (p *Position) FormatIn(n game.Notation, m game.Move) string {
	from, to, arrow := Squares(m)
	g, f := p.board.geo, formOf(n)
	return g.name(from) + f.afterFrom + g.name(to) + f.afterTo + g.name(arrow) + f.end
}

// ParseIn reads a move in any notation, like Parse.
func (p *Position) ParseIn(_ game.Notation, text string) (game.Move, error) { return p.Parse(text) }

// Parse reads a move in any notation.
func (p *Position) Parse(text string) (game.Move, error) {
	squares, err := p.board.geo.parseMove(text)
	if err != nil {
		return game.NoMove, fmt.Errorf("%w: amazons move %.20q, %w", game.ErrSyntax, text, err)
	}
	m := NewMove(squares[0], squares[1], squares[2])
	if !p.board.Legal(m) {
		return game.NoMove, fmt.Errorf("%w: %s", game.ErrIllegal, p.why(m))
	}
	return m, nil
}

var errForm = errors.New("want a form like d1d7/b7, d1-d7-b7 or d1d7(b7)")

// parseMove reads the three squares of a move.
func (g *geometry) parseMove(text string) (squares [3]Square, err error) {
	rest := text
	if squares[0], rest, err = g.parseSquare(text, rest); err != nil {
		return squares, err
	}
	rest, hyphen := strings.CutPrefix(rest, "-")
	if squares[1], rest, err = g.parseSquare(text, rest); err != nil {
		return squares, err
	}
	for _, n := range (*Position)(nil).Notations() {
		f := formOf(n)
		tail, ok := strings.CutPrefix(rest, f.afterTo)
		if !ok || hyphen != (f.afterFrom != "") {
			continue
		}
		if squares[2], tail, err = g.parseSquare(text, tail); err != nil {
			return squares, err
		}
		if tail != f.end {
			return squares, fmt.Errorf("column %d: %w", len(text)-len(tail)+1, errForm)
		}
		return squares, nil
	}
	return squares, fmt.Errorf("column %d: %w", len(text)-len(rest)+1, errForm)
}

// parseSquare reads the square that rest, the tail of text, begins with.
func (g *geometry) parseSquare(text, rest string) (Square, string, error) {
	at := len(text) - len(rest) + 1
	n := 1
	for n < len(rest) && n < 3 && rest[n] >= '0' && rest[n] <= '9' {
		n++
	}
	if len(rest) < 2 || n < 2 || rest[1] == '0' {
		return 0, "", fmt.Errorf("column %d: want a square such as d1", at)
	}
	col := int(rest[0]|0x20) - 'a' // capitals too
	row, err := strconv.Atoi(rest[1:n])
	if err != nil || col < 0 || col >= g.cols || row > g.rows {
		return 0, "", fmt.Errorf("column %d: %q is not on a board of %d columns and %d rows", at, rest[:n], g.cols, g.rows)
	}
	return Square((row-1)*g.cols + col), rest[n:], nil
}
