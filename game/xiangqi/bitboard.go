package xiangqi

import "math/bits"

// Bits is a set of squares, one word for each half of the board: square s is bit
// s of Lo if s < 45, else bit s-45 of Hi. So no rank straddles the words, a file
// has the same pattern in both, and a side's king, advisors and elephants are in
// one word.
type Bits struct{ Lo, Hi uint64 }

// half is the number of squares on one side of the river.
const half = Squares / 2

// Only returns the set of one square.
func Only(s Square) Bits { return only[s] }

// And returns the intersection.
func (b Bits) And(o Bits) Bits { return Bits{b.Lo & o.Lo, b.Hi & o.Hi} }

// Or returns the union.
func (b Bits) Or(o Bits) Bits { return Bits{b.Lo | o.Lo, b.Hi | o.Hi} }

// Xor returns the squares in exactly one of the sets.
func (b Bits) Xor(o Bits) Bits { return Bits{b.Lo ^ o.Lo, b.Hi ^ o.Hi} }

// Without returns the squares of b that are not in o.
func (b Bits) Without(o Bits) Bits { return Bits{b.Lo &^ o.Lo, b.Hi &^ o.Hi} }

// Any reports whether the set is not empty.
func (b Bits) Any() bool { return b.Lo|b.Hi != 0 }

// Meets reports whether the sets share a square.
func (b Bits) Meets(o Bits) bool { return b.Lo&o.Lo|b.Hi&o.Hi != 0 }

// Has reports whether s is in the set.
func (b Bits) Has(s Square) bool { return b.Meets(only[s]) }

// Count returns the number of squares.
func (b Bits) Count() int { return bits.OnesCount64(b.Lo) + bits.OnesCount64(b.Hi) }

// First returns the lowest square of a set that is not empty.
func (b Bits) First() Square {
	if b.Lo != 0 {
		return Square(bits.TrailingZeros64(b.Lo))
	}
	return Square(half + bits.TrailingZeros64(b.Hi))
}

// Rest returns the set without its First.
func (b Bits) Rest() Bits {
	if b.Lo != 0 {
		return Bits{b.Lo & (b.Lo - 1), b.Hi}
	}
	return Bits{0, b.Hi & (b.Hi - 1)}
}
