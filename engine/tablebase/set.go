package tablebase

import (
	"fmt"
	"strings"

	rules "sparring/game/xiangqi"
)

// Set is the men on a board, kings included: the count of each piece in four
// bits, at four times the piece's number.
type Set uint64

// maxMen bounds the men of a set, of both sides together. Memory is exhausted long
// before.
const maxMen = 8

// Usual is the number of men up to which all sets are built by default. This takes
// seconds and a megabyte.
const Usual = 4

// order is the order of the men of a side in a set's name, after the king.
var order = [...]rules.Kind{rules.Rook, rules.Cannon, rules.Horse, rules.Pawn, rules.Advisor, rules.Elephant}

// most returns the number of men of a kind that a side has at the start of the game.
func most(k rules.Kind) int {
	switch k {
	case rules.King:
		return 1
	case rules.Pawn:
		return 5
	}
	return 2
}

// ParseSet reads a set's name, such as "KRkaa": Red's men in upper case,
// Black's in lower case, in any order, with horses as N or H and elephants as
// B or E.
func ParseSet(name string) (Set, error) {
	bad := func(format string, args ...any) (Set, error) {
		return 0, fmt.Errorf("tablebase set %.20q: %s", name, fmt.Sprintf(format, args...))
	}
	var s Set
	for i := range len(name) {
		p := pieceOf(name[i])
		if p == rules.NoPiece {
			return bad("%q is not a piece (K R C N P A B)", name[i])
		}
		if s.Count(p) == most(p.Kind()) {
			return bad("more than %d of %s", most(p.Kind()), p)
		}
		s = s.with(p)
	}
	for _, c := range [...]rules.Colour{rules.Red, rules.Black} {
		if king := rules.MakePiece(c, rules.King); s.Count(king) == 0 {
			return bad("no %s", king)
		}
	}
	if s.Men() > maxMen {
		return bad("%d men, at most %d can be", s.Men(), maxMen)
	}
	return s, nil
}

// pieceOf reads a piece's letter.
func pieceOf(letter byte) rules.Piece {
	color := rules.Red
	if letter >= 'a' {
		color = rules.Black
	}
	switch letter &^ 0x20 {
	case 'K':
		return rules.MakePiece(color, rules.King)
	case 'H':
		return rules.MakePiece(color, rules.Horse)
	case 'E':
		return rules.MakePiece(color, rules.Elephant)
	}
	for _, k := range order {
		if p := rules.MakePiece(color, k); p.String()[0] == letter {
			return p
		}
	}
	return rules.NoPiece
}

// SetOf returns the set of a board's men.
func SetOf(b *rules.Board) Set {
	var s Set
	for _, c := range [...]rules.Colour{rules.Red, rules.Black} {
		for k := rules.King; k <= rules.Pawn; k++ {
			p := rules.MakePiece(c, k)
			s |= Set(b.Of(p).Count()) << (4 * p)
		}
	}
	return s
}

// Count returns the number of a piece in the set.
func (s Set) Count(p rules.Piece) int { return int(s >> (4 * p) & 15) }

func (s Set) with(p rules.Piece) Set    { return s + 1<<(4*p) }
func (s Set) without(p rules.Piece) Set { return s - 1<<(4*p) }

// Men returns the number of men, kings included.
func (s Set) Men() (n int) {
	for p := range rules.Piece(rules.Pieces) {
		n += s.Count(p)
	}
	return n
}

// flip returns the set with the colours exchanged.
func (s Set) flip() Set { return s<<32 | s>>32 }

// Canonical returns the set whose table has this one's positions: the one of the two
// colourings in which Red has more rooks or, if equal, more cannons, and so on in
// the order of a name. Flipped reports whether it exchanges the colours.
func (s Set) Canonical() (c Set, flipped bool) {
	for _, k := range order {
		red, black := s.Count(rules.MakePiece(rules.Red, k)), s.Count(rules.MakePiece(rules.Black, k))
		if red != black {
			flipped = black > red
			break
		}
	}
	if flipped {
		return s.flip(), true
	}
	return s, false
}

// String returns the set's name.
func (s Set) String() string {
	var t strings.Builder
	for _, p := range s.pieces() {
		t.WriteString(strings.Repeat(p.String(), s.Count(p)))
	}
	return t.String()
}

// pieces returns the pieces of the set, in the order of its name.
func (s Set) pieces() (list []rules.Piece) {
	for _, c := range [...]rules.Colour{rules.Red, rules.Black} {
		list = append(list, rules.MakePiece(c, rules.King))
		for _, k := range order {
			if p := rules.MakePiece(c, k); s.Count(p) > 0 {
				list = append(list, p)
			}
		}
	}
	return list
}

// Needs returns the canonical sets that captures lead to, directly or not.
func (s Set) Needs() []Set {
	var list []Set
	seen := map[Set]bool{}
	var add func(Set)
	add = func(s Set) {
		for _, p := range s.pieces() {
			if p.Kind() == rules.King {
				continue
			}
			if sub, _ := s.without(p).Canonical(); !seen[sub] {
				seen[sub] = true
				add(sub)
				list = append(list, sub) // after the sets that it needs
			}
		}
	}
	add(s)
	return list
}

// UpTo returns all canonical sets of at most the given number of men, smaller ones
// first.
func UpTo(men int) []Set {
	bare := Set(0).with(rules.MakePiece(rules.Red, rules.King)).with(rules.MakePiece(rules.Black, rules.King))
	list := []Set{bare}
	seen := map[Set]bool{bare: true}
	for i := 0; i < len(list) && list[i].Men() < min(men, maxMen); i++ {
		for _, c := range [...]rules.Colour{rules.Red, rules.Black} {
			for _, k := range order {
				p := rules.MakePiece(c, k)
				if list[i].Count(p) == most(k) {
					continue
				}
				if s, _ := list[i].with(p).Canonical(); !seen[s] {
					seen[s] = true
					list = append(list, s)
				}
			}
		}
	}
	return list
}
