package convert

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// played is a record with what its moves mean.
type played struct {
	*record.Record
	board  board
	opener game.Seat // who has the colour that opens: Black in Gomoku, White in Amazons, Red in Xiangqi
}

// board is a start position's text, taken apart: the rows from the top with
// '.' for empty points, and the side to move.
type board struct {
	rows []string
	side string
	base int // number of the lowest row in move texts
}

// replay checks the record's moves and takes its start position apart.
func replay(r *record.Record) (*played, error) {
	rules, err := catalog.Rules(r.Rules)
	if err != nil {
		return nil, err
	}
	moves := make([]string, len(r.Plies))
	for i := range r.Plies {
		moves[i] = r.Plies[i].Move
	}
	start, err := rules.New(r.Position)
	if err != nil {
		return nil, err
	}
	end, err := game.Replay(rules, r.Position, moves)
	if err != nil {
		return nil, err
	}
	b, err := takeApart(r.Game, start.String())
	if err != nil {
		return nil, err
	}
	return &played{Record: r, board: b, opener: opener(r, end)}, nil
}

// takeApart reads the rows that the position texts of all games begin with.
func takeApart(gameName, text string) (board, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return board{}, fmt.Errorf("%w: position %.60q", ErrUnsupported, text)
	}
	b := board{side: fields[1], base: 1}
	if gameName == "xiangqi" {
		b.base = 0
	}
	for _, row := range strings.Split(fields[0], "/") {
		b.rows = append(b.rows, expand(row))
	}
	return b, nil
}

// expand writes runs of empty points out.
func expand(row string) string {
	var out strings.Builder
	for row != "" {
		digits := len(row) - len(strings.TrimLeft(row, "0123456789"))
		if digits == 0 {
			out.WriteByte(row[0])
			row = row[1:]
			continue
		}
		n, err := strconv.Atoi(row[:digits])
		if err == nil {
			out.WriteString(strings.Repeat(".", min(n, 100)))
		}
		row = row[digits:]
	}
	return out.String()
}

// together is the position text of rows and side to move: expand backwards.
func together(rows [][]byte, side string) string {
	var out strings.Builder
	for i, row := range rows {
		if i > 0 {
			out.WriteByte('/')
		}
		run := 0
		for _, c := range append(row, 0) {
			if c == '.' {
				run++
				continue
			}
			if run > 0 {
				out.WriteString(strconv.Itoa(run))
				run = 0
			}
			if c != 0 {
				out.WriteByte(c)
			}
		}
	}
	return out.String() + " " + side
}

// point is a point or square by column from the left and row from the top.
type point struct{ col, row int }

// points reads the squares that a move text consists of; ok is false for an
// action of an opening procedure.
func (b *board) points(move string) (points []point, ok bool) {
	rest := strings.ReplaceAll(move, "/", "")
	for rest != "" {
		digits := 1
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		n, err := strconv.Atoi(rest[1:digits])
		p := point{int(rest[0]) - 'a', len(b.rows) - 1 - (n - b.base)}
		if err != nil || p.row < 0 || p.row >= len(b.rows) || p.col < 0 || p.col >= len(b.rows[0]) {
			return nil, false
		}
		points = append(points, p)
		rest = rest[digits:]
	}
	return points, len(points) > 0
}

// name is a point's text in a move.
func (b *board) name(p point) string {
	return string(rune('a'+p.col)) + strconv.Itoa(len(b.rows)-1-p.row+b.base)
}

// opener is the seat that has the colour which opens. In Gomoku an opening
// procedure may give it to either: the last stone tells, whose colour follows
// from the number of stones.
func opener(r *record.Record, end game.Position) game.Seat {
	if r.Game != "gomoku" {
		return game.First
	}
	b, err := takeApart(r.Game, end.String())
	if err != nil {
		return game.First
	}
	for i := len(r.Plies) - 1; i >= 0; i-- {
		points, ok := b.points(r.Plies[i].Move)
		if !ok || len(points) != 1 {
			continue
		}
		switch seat := r.Plies[i].Seat; b.rows[points[0].row][points[0].col] {
		case 'x':
			return seat
		case 'o':
			return seat.Other()
		}
	}
	return game.First
}

// usual reports whether the game began from its usual start position.
func (g *played) usual() (bool, error) {
	if g.Position == "" {
		return true, nil
	}
	rules, err := catalog.Rules(g.Rules)
	if err != nil {
		return false, err
	}
	start, err := rules.New("")
	if err != nil { // a board that has none
		return false, nil
	}
	p, err := rules.New(g.Position)
	if err != nil {
		return false, err
	}
	return p.String() == start.String(), nil
}

// needUsual is an error unless the game began from its usual start position.
func (g *played) needUsual(f Format) error {
	usual, err := g.usual()
	if err == nil && !usual {
		err = fmt.Errorf("%w: %s tells no start position", ErrUnsupported, f)
	}
	return err
}

// players are the names of the side that opens and of the other.
func (g *played) players() (opening, other string) {
	return g.nameOf(g.opener), g.nameOf(g.opener.Other())
}

func (g *played) nameOf(s game.Seat) string {
	if display := g.Seats[s].Display; display != "" {
		return display
	}
	return g.Seats[s].Player
}

// winner is 0 when the side that opens has won, 1 when the other has, -1 for
// neither.
func (g *played) winner() int {
	switch g.Result {
	case game.WonBy(g.opener):
		return 0
	case game.WonBy(g.opener.Other()):
		return 1
	}
	return -1
}

// where is the line and column of a byte of text, both from 1, as an error
// about it says them.
func where(text string, at int) string {
	before := text[:min(max(at, 0), len(text))]
	line := strings.Count(before, "\n") + 1
	column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// syntax is an error about the byte at of the text.
func syntax(text string, at int, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrSyntax, where(text, at), fmt.Sprintf(format, args...))
}
