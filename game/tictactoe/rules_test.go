package tictactoe

import (
	"fmt"
	"slices"
	"strings"

	"sparring/game"
)

// Name is the game's name.
const Name = "tictactoe"

// three is the reason for a win by three in a row.
const three game.Reason = "three"

// Game returns the game's row.
func Game() game.Game {
	const only = Name + "/3x3"
	return game.Game{
		Name: Name, Default: only, Sets: []string{only}, Common: []string{only},
		Reasons: []game.Reason{three, game.BoardFull},
		Rules: func(name string) (*game.Rules, error) {
			if name != only {
				return nil, fmt.Errorf("%w %.40q: want %s", game.ErrRules, name, only)
			}
			return rules, nil
		},
		RulesFor: func(position string) (string, error) {
			_, err := parse(position)
			return only, err
		},
	}
}

var rules = &game.Rules{Name: Name + "/3x3", Game: Name, New: func(text string) (game.Position, error) {
	b, err := parse(text)
	if err != nil {
		return nil, err // not p: a nil *position is not a nil game.Position
	}
	return &position{board: b}, nil
}}

// board is a bit for each of a seat's stones, cells counted along the rows from
// the bottom left, and the seat to move. A move is its cell plus one.
type board struct {
	stones [2]uint16
	turn   game.Seat
}

const (
	size = 3
	full = 1<<(size*size) - 1
)

// rows are the cells of all rows, columns and diagonals.
var rows = []uint16{0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124}

func (b board) empty(cell int) bool { return (b.stones[0]|b.stones[1])>>cell&1 == 0 }

func (b *board) play(m game.Move) {
	b.stones[b.turn] |= 1 << (m - 1)
	b.turn = b.turn.Other()
}

func (b *board) undo(m game.Move) {
	b.turn = b.turn.Other()
	b.stones[b.turn] &^= 1 << (m - 1)
}

func (b board) outcome() game.Outcome {
	for seat, stones := range b.stones {
		for _, row := range rows {
			if stones&row == row {
				return game.Outcome{Result: game.WonBy(game.Seat(seat)), Reason: three}
			}
		}
	}
	if b.stones[0]|b.stones[1] == full {
		return game.Outcome{Result: game.Draw, Reason: game.BoardFull}
	}
	return game.Outcome{}
}

func (b board) legal(buf []game.Move) []game.Move {
	for cell := range size * size {
		if b.empty(cell) && !b.outcome().Over() {
			buf = append(buf, game.Move(cell+1))
		}
	}
	return buf
}

// key returns the Zobrist key: entry 2*cell + seat for each stone, 18 for Second's
// turn.
func (b board) key() (key uint64) {
	const seed = 0x746963746163746f // "tictacto" in ASCII
	for cell := range size * size {
		for seat, stones := range b.stones {
			if stones>>cell&1 == 1 {
				key ^= game.Zobrist(seed, uint64(2*cell+seat))
			}
		}
	}
	if b.turn == game.Second {
		key ^= game.Zobrist(seed, 2*size*size)
	}
	return key
}

// String returns the rows from the top, "." for an empty cell, then the side to
// move: ".../.x./... o".
func (b board) String() string {
	var lines []string
	for row := size - 1; row >= 0; row-- {
		line := ""
		for col := range size {
			mark := "."
			for seat, stones := range b.stones {
				if stones>>(row*size+col)&1 == 1 {
					mark = "xo"[seat : seat+1]
				}
			}
			line += mark
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "/") + " " + "xo"[b.turn:b.turn+1]
}

// parse reads what String writes; "" is the empty board.
func parse(text string) (b board, err error) {
	if text == "" {
		return b, nil
	}
	lines, side, _ := strings.Cut(text, " ")
	at := 0
	for row, line := range strings.Split(lines, "/") {
		for col, c := range line {
			if seat := strings.IndexRune("xo", c); seat >= 0 && row < size && col < size {
				b.stones[seat] |= 1 << ((size-1-row)*size + col)
			}
			at++
		}
	}
	b.turn = game.Seat(max(strings.Index("xo", side), 0))
	if at != size*size || b.String() != text {
		return b, fmt.Errorf("%w: position %.30q: want a form like .../.x./... o", game.ErrSyntax, text)
	}
	return b, nil
}

// position is a board and the moves that led to it.
type position struct {
	board
	moves []game.Move
}

func (p *position) Rules() *game.Rules                 { return rules }
func (p *position) Turn() game.Seat                    { return p.turn }
func (p *position) Legal(buf []game.Move) []game.Move  { return p.legal(buf) }
func (p *position) Outcome() game.Outcome              { return p.outcome() }
func (p *position) Key() uint64                        { return p.key() }
func (p *position) Ply() int                           { return len(p.moves) }
func (p *position) Played(buf []game.Move) []game.Move { return append(buf, p.moves...) }
func (p *position) Diagram() string                    { return strings.ReplaceAll(p.String(), "/", "\n") + "\n" }
func (p *position) Clone() game.Position               { return &position{p.board, slices.Clone(p.moves)} }

func (p *position) Play(m game.Move) error {
	if p.outcome().Over() {
		return game.ErrOver
	}
	if !slices.Contains(p.legal(nil), m) {
		return fmt.Errorf("%w: %s", game.ErrIllegal, p.Format(m))
	}
	p.board.play(m)
	p.moves = append(p.moves, m)
	return nil
}

func (p *position) Undo() {
	last := len(p.moves) - 1
	p.undo(p.moves[last])
	p.moves = p.moves[:last]
}

// Format writes a move as b2: columns a to c, rows from 1 at the bottom.
func (p *position) Format(m game.Move) string {
	return fmt.Sprintf("%c%d", 'a'+rune(m-1)%size, (m-1)/size+1)
}

func (p *position) Parse(text string) (game.Move, error) {
	for m := game.Move(1); m <= size*size; m++ {
		if p.Format(m) != text {
			continue
		}
		if !p.empty(int(m - 1)) {
			return game.NoMove, fmt.Errorf("%w: %s is taken", game.ErrIllegal, text)
		}
		return m, nil
	}
	return game.NoMove, fmt.Errorf("%w: move %.20q: want a1 to c3", game.ErrSyntax, text)
}
