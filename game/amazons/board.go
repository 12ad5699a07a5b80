package amazons

import "sparring/game"

// A move packs three squares of seven bits: from, to, arrow.
const (
	toShift    = 7
	arrowShift = 14
	squareMask = 1<<7 - 1
)

// NewMove returns the move of the amazon on from to the square to, shooting at arrow.
func NewMove(from, to, arrow Square) game.Move {
	return game.Move(from) | game.Move(to)<<toShift | game.Move(arrow)<<arrowShift
}

// Squares takes a move apart.
func Squares(m game.Move) (from, to, arrow Square) {
	return Square(m & squareMask), Square(m >> toShift & squareMask), Square(m >> arrowShift & squareMask)
}

// Zobrist numbers, as the package comment lists them.
const (
	zobristArrow = 2 * maxSquares
	zobristTurn  = 3 * maxSquares
)

var zobrist = func() (t [zobristTurn + 1]uint64) {
	for i := range t {
		t[i] = game.Zobrist(Seed, uint64(i))
	}
	return t
}()

// Board is amazons, arrows and the side to move, without history. It is a
// value: assignment copies it. The zero Board has no squares; boards come from
// [Position.Board].
type Board struct {
	geo     *geometry
	amazons [2]Bits // by seat
	free    Bits    // neither amazon nor arrow
	turn    game.Seat
	key     uint64
}

// Size returns the number of columns and rows.
func (b *Board) Size() (cols, rows int) { return b.geo.cols, b.geo.rows }

// Turn returns the side to move.
func (b *Board) Turn() game.Seat { return b.turn }

// Key returns the position's key, see the package comment.
func (b *Board) Key() uint64 { return b.key }

// Amazons returns the squares of the amazons of s.
func (b *Board) Amazons(s game.Seat) Bits { return b.amazons[s] }

// Free returns the squares that hold neither amazon nor arrow.
func (b *Board) Free() Bits { return b.free }

// Arrows returns the squares that hold an arrow.
func (b *Board) Arrows() Bits {
	return b.geo.all.AndNot(b.free).AndNot(b.amazons[0]).AndNot(b.amazons[1])
}

// Reach returns the free squares one queen move away from any of the squares in
// from, which need not be free themselves.
func (b *Board) Reach(from Bits) Bits {
	g := b.geo.ground(b.free)
	return g.reach(from)
}

// Neighbours returns the free squares one king step away from any square in from.
func (b *Board) Neighbours(from Bits) Bits {
	g := b.geo.ground(b.free)
	return g.neighbours(from)
}

// Around returns the squares next to s, free or not.
func (b *Board) Around(s Square) Bits {
	g := b.geo.ground(b.geo.all)
	return g.neighbours(Bit(s))
}

// Connected returns the squares that king steps over squares of open can reach from
// those of from, which need not be open themselves.
func (b *Board) Connected(from, open Bits) Bits {
	for grown := from; ; {
		next := grown.Or(b.geo.spread(grown).And(open))
		if next == grown {
			return grown
		}
		grown = next
	}
}

// Targets returns the squares that the amazon on from can shoot at once it has moved
// to to, its old square included.
func (b *Board) Targets(from, to Square) Bits {
	g := b.geo.ground(b.free.Or(Bit(from)))
	return g.reach(Bit(to))
}

// CanMove reports whether the side to move has a legal move. An amazon that can
// move can always shoot, at the square it came from.
func (b *Board) CanMove() bool {
	g := b.geo.ground(b.free)
	return !g.neighbours(b.amazons[b.turn]).Empty()
}

// Legal reports whether m, any 32 bits, is a legal move.
func (b *Board) Legal(m game.Move) bool {
	from, to, arrow := Squares(m)
	return m>>(arrowShift+7) == 0 &&
		b.amazons[b.turn].Has(from) &&
		b.Reach(Bit(from)).Has(to) &&
		b.Targets(from, to).Has(arrow)
}

// Moves appends the legal moves to buf, ordered by from, to and arrow.
func (b *Board) Moves(buf []game.Move) []game.Move {
	for own := b.amazons[b.turn]; !own.Empty(); {
		from := own.Pop()
		for steps := b.Reach(Bit(from)); !steps.Empty(); {
			to := steps.Pop()
			for shots := b.Targets(from, to); !shots.Empty(); {
				buf = append(buf, NewMove(from, to, shots.Pop()))
			}
		}
	}
	return buf
}

// Do makes a legal move. It does not check the move.
func (b *Board) Do(m game.Move) {
	b.toggle(m)
	b.turn ^= 1
}

// Undo takes back m, the last move done.
func (b *Board) Undo(m game.Move) {
	b.turn ^= 1
	b.toggle(m)
}

// toggle makes or unmakes a move of b.turn, as exclusive or is its own inverse.
func (b *Board) toggle(m game.Move) {
	from, to, arrow := Squares(m)
	step := Bit(from).Xor(Bit(to))
	b.amazons[b.turn] = b.amazons[b.turn].Xor(step)
	b.free = b.free.Xor(step).Xor(Bit(arrow))
	b.key = b.KeyAfter(m)
}

// KeyAfter returns the key of the position after a legal move.
func (b *Board) KeyAfter(m game.Move) uint64 {
	from, to, arrow := Squares(m)
	side := int(b.turn) * maxSquares
	return b.key ^ zobrist[side+int(from)] ^ zobrist[side+int(to)] ^
		zobrist[zobristArrow+int(arrow)] ^ zobrist[zobristTurn]
}

// Pass gives the turn to the other side, for null moves in a search. It is its
// own inverse.
func (b *Board) Pass() {
	b.turn ^= 1
	b.key ^= zobrist[zobristTurn]
}

// computeKey returns the key from scratch.
func (b *Board) computeKey() uint64 {
	var key uint64
	if b.turn == game.Second {
		key = zobrist[zobristTurn]
	}
	for i, set := range [...]Bits{b.amazons[0], b.amazons[1], b.Arrows()} {
		for !set.Empty() {
			key ^= zobrist[i*maxSquares+int(set.Pop())]
		}
	}
	return key
}
