package xiangqi

import (
	"fmt"
	"strconv"
	"strings"

	"sparring/game"
)

// StartFEN is the usual start position.
const StartFEN = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1"

// maxCounter bounds the two counters of a FEN.
const maxCounter = 9999

// maxFEN is longer than any valid FEN; longer texts are refused unread.
const maxFEN = 256

// kindOfLetter reads the letters of all dialects: horses are N or H,
// elephants B or E.
func kindOfLetter(c byte) Kind {
	switch c | 0x20 {
	case 'k':
		return King
	case 'a':
		return Advisor
	case 'b', 'e':
		return Elephant
	case 'n', 'h':
		return Horse
	case 'r':
		return Rook
	case 'c':
		return Cannon
	case 'p':
		return Pawn
	}
	return NoKind
}

func badFEN(format string, args ...any) error {
	return fmt.Errorf("FEN: %w: %s", game.ErrSyntax, fmt.Sprintf(format, args...))
}

func impossible(format string, args ...any) error {
	return fmt.Errorf("FEN: %w: %s", game.ErrPosition, fmt.Sprintf(format, args...))
}

// ParseFEN sets up the board that a FEN describes. The fields after the
// pieces may be left out from the right: side to move ("w" or "r" for Red,
// "b" for Black), two unused ones ("-"), plies since the last capture,
// number of the move. The error wraps game.ErrSyntax, or game.ErrPosition
// when no game could reach the position.
func ParseFEN(text string) (*Board, error) {
	b, _, err := parseFEN(text)
	return b, err
}

// parseFEN is ParseFEN with the number of the move.
func parseFEN(text string) (b *Board, moveNumber int, err error) {
	if len(text) > maxFEN {
		return nil, 0, badFEN("%d characters are too many", len(text))
	}
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > 6 {
		return nil, 0, badFEN("%d fields, want 1 to 6", len(fields))
	}
	b = &Board{states: make([]State, 1, 64)}
	if err := b.readPieces(fields[0]); err != nil {
		return nil, 0, err
	}
	if len(fields) > 1 {
		switch fields[1] {
		case "w", "r":
		case "b":
			b.side = Black
		default:
			return nil, 0, badFEN("side to move %.10q, want w, r or b", fields[1])
		}
	}
	for i := 2; i < min(len(fields), 4); i++ {
		if fields[i] != "-" {
			return nil, 0, badFEN("field %d is %.10q, want -", i+1, fields[i])
		}
	}
	counters := [2]int{0, 1} // quiet plies, move number
	for i := 4; i < len(fields); i++ {
		n, err := strconv.ParseUint(fields[i], 10, 16)
		if err != nil || n > maxCounter {
			return nil, 0, badFEN("field %d is %.10q, want a number up to %d", i+1, fields[i], maxCounter)
		}
		counters[i-4] = int(n)
	}
	if err := b.start(counters[0]); err != nil {
		return nil, 0, err
	}
	return b, max(counters[1], 1), nil
}

// readPieces reads the first field, the ranks from the top.
func (b *Board) readPieces(text string) error {
	rows := strings.Split(text, "/")
	if len(rows) != Ranks {
		return badFEN("rows: %d, want %d", len(rows), Ranks)
	}
	for i, row := range rows {
		rank, file := Ranks-1-i, 0
		for j := range len(row) {
			c := row[j]
			if c >= '1' && c <= '9' {
				file += int(c - '0')
				continue
			}
			kind := kindOfLetter(c)
			if kind == NoKind {
				return badFEN("row %d, character %d: %q is not a piece", i+1, j+1, c)
			}
			if file >= Files {
				return badFEN("row %d (%.20q) has more than %d files", i+1, row, Files)
			}
			color := Red
			if c >= 'a' {
				color = Black
			}
			b.put(MakePiece(color, kind), MakeSquare(file, rank))
			file++
		}
		if file != Files {
			return badFEN("row %d (%.20q) has not %d files", i+1, row, Files)
		}
	}
	return nil
}

func (b *Board) put(p Piece, s Square) {
	b.piece[s] = p
	b.of[p] = b.of[p].Or(only[s])
	b.of[allOf(p.Colour())] = b.of[allOf(p.Colour())].Or(only[s])
}

// most is how many pieces of each kind a side may have: those of the start
// position and a third elephant, because a standard test position for move
// generators has three a side.
var most = [Kinds]int{King: 1, Advisor: 2, Elephant: 3, Horse: 2, Rook: 2, Cannon: 2, Pawn: 5}

// maxPieces is how many pieces a side may have in all.
const maxPieces = 16

// start checks the pieces and makes the first state.
func (b *Board) start(quiet int) error {
	for c := range Colour(2) {
		for k := King; k <= Pawn; k++ {
			p := MakePiece(c, k)
			if n := b.of[p].Count(); n > most[k] {
				return impossible("%s has %d of %s, want at most %d", c, n, k, most[k])
			} else if k == King && n == 0 {
				return impossible("%s has no king", c)
			}
			if out := b.of[p].Without(standing[p]); out.Any() {
				return impossible("%s's %s can never stand on %s", c, k, out.First())
			}
		}
		if n := b.All(c).Count(); n > maxPieces {
			return impossible("%s has %d pieces, want at most %d", c, n, maxPieces)
		}
		b.king[c] = b.of[MakePiece(c, King)].First()
	}
	r, k := b.king[Red], b.king[Black]
	if r.File() == k.File() && !between[r][k].Meets(b.Occupied()) {
		return impossible("the kings on %s and %s face each other", r, k)
	}
	st := &b.states[0]
	st.Quiet = uint16(quiet)
	b.side = b.side.Other()
	if b.look(st); st.Checkers.Any() {
		return impossible("%s is in check on %s but %s is to move", b.side, b.king[b.side], b.side.Other())
	}
	b.side = b.side.Other()
	b.look(st)
	st.Key = b.keyFromScratch()
	return nil
}

// keyFromScratch returns the key as the package documentation defines it.
func (b *Board) keyFromScratch() (key uint64) {
	for s, p := range b.piece {
		if p != NoPiece {
			key ^= game.Zobrist(keySeed, keyIndex(p, Square(s)))
		}
	}
	if b.side == Black {
		key ^= keyBlack
	}
	return key
}

// pieces returns the first field of the FEN.
func (b *Board) pieces() string {
	var t strings.Builder
	for rank := Ranks - 1; rank >= 0; rank-- {
		empty := 0
		for file := range Files {
			p := b.piece[MakeSquare(file, rank)]
			if p == NoPiece {
				empty++
				continue
			}
			if empty > 0 {
				t.WriteByte('0' + byte(empty))
				empty = 0
			}
			t.WriteByte(letters[p])
		}
		if empty > 0 {
			t.WriteByte('0' + byte(empty))
		}
		if rank > 0 {
			t.WriteByte('/')
		}
	}
	return t.String()
}

// fen returns the whole FEN; moveNumber is that of the position.
func (b *Board) fen(moveNumber int) string {
	side := "w"
	if b.side == Black {
		side = "b"
	}
	return fmt.Sprintf("%s %s - - %d %d", b.pieces(), side, b.State().Quiet, moveNumber)
}
