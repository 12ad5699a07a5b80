package xiangqi

import (
	"math/bits"

	"sparring/game"
)

// MaxMoves bounds the legal moves of a position (two rooks and two cannons
// 17 each, two horses 8, five pawns 3, two elephants and two advisors 4, a
// king 4).
const MaxMoves = 4*17 + 2*8 + 5*3 + 2*4 + 2*4 + 4

// Legal appends every legal move.
func (b *Board) Legal(buf []game.Move) []game.Move {
	return b.generate(buf, b.All(b.side.Other()).Or(b.Empty()))
}

// Captures appends every legal capture.
func (b *Board) Captures(buf []game.Move) []game.Move {
	return b.generate(buf, b.All(b.side.Other()))
}

// Quiets appends every legal move that captures nothing.
func (b *Board) Quiets(buf []game.Move) []game.Move {
	return b.generate(buf, b.Empty())
}

// Empty returns the squares without a piece.
func (b *Board) Empty() Bits {
	o := b.Occupied()
	return Bits{(1<<half - 1) &^ o.Lo, (1<<half - 1) &^ o.Hi}
}

// Moves returns the squares that the piece on s could enter by its way of moving
// alone (pseudo-legal moves): those of enemies that it attacks, and empty ones.
func (b *Board) Moves(s Square) Bits {
	p := b.piece[s]
	occupied := b.Occupied()
	if p.Kind() != Cannon {
		return Attacks(p, s, occupied).Without(b.All(p.Colour()))
	}
	rook, cannon := LineAttacks(s, occupied)
	return rook.Without(occupied).Or(cannon.And(b.All(p.Colour().Other())))
}

// IsLegal reports whether m, which may be any 32 bits, is a legal move.
func (b *Board) IsLegal(m game.Move) bool {
	if !wellFormed(m) {
		return false
	}
	from, to := From(m), To(m)
	p := b.piece[from]
	if p == NoPiece || p.Colour() != b.side || !b.Moves(from).Has(to) {
		return false
	}
	st := b.State()
	if !st.Checkers.Any() && p.Kind() != King && !st.pinned.Has(from) && !st.hollow.Has(to) {
		return true
	}
	return !b.exposes(m)
}

// evasions returns the squares that a move must enter to end check. The king and the
// screen of a checking cannon are exceptions: they may leave for any square of
// free. With several checkers, all checks must be ended.
func (b *Board) evasions(checkers Bits) (targets, free Bits) {
	k := b.king[b.side]
	targets = Bits{1<<half - 1, 1<<half - 1}
	for ; checkers.Any(); checkers = checkers.Rest() {
		at := checkers.First()
		answer := only[at]
		switch b.piece[at].Kind() {
		case Rook, King:
			answer = answer.Or(between[k][at])
		case Cannon:
			path := between[k][at]
			answer = answer.Or(path)
			free = free.Or(path)
		case Horse:
			answer = answer.Or(only[horseLeg[at][k]])
		}
		targets = targets.And(answer)
	}
	return targets, free
}

// reach returns the squares of want that a piece of kind k on s can enter.
func (b *Board) reach(k Kind, s Square, occupied, want Bits) Bits {
	switch k {
	case Advisor:
		return advisorSteps[s].And(want)
	case Elephant:
		return ElephantAttacks(s, occupied).And(want)
	case Horse:
		return HorseAttacks(s, occupied).And(want)
	case Rook:
		return RookAttacks(s, occupied).And(want)
	case Cannon:
		rook, cannon := LineAttacks(s, occupied)
		return rook.Without(occupied).Or(cannon.And(occupied)).And(want)
	}
	return pawnSteps[b.side][s].And(want)
}

// Reach is a set of squares that the piece on From may legally enter. A piece
// may have several, which are disjoint.
type Reach struct {
	From  Square
	Piece Piece
	To    Bits
}

// maxReaches bounds the reaches of a side: two for each piece.
const maxReaches = 2 * 16

// Reaches is the legal moves of a side as sets of squares.
type Reaches struct {
	list [maxReaches]Reach
	n    int
}

// All lists the reaches in the order in which Legal lists their moves.
func (r *Reaches) All() []Reach { return r.list[:r.n] }

func (r *Reaches) add(from Square, p Piece, to Bits) {
	if to.Any() {
		r.list[r.n] = Reach{from, p, to}
		r.n++
	}
}

// Reaches finds the legal moves that enter a square of want: the enemy's pieces
// for captures, empty squares for quiet moves, but no piece of the mover's own.
func (b *Board) Reaches(r *Reaches, want Bits) {
	r.n = 0
	st := b.State()
	occupied := b.Occupied()
	targets, free := want, Bits{}
	inCheck := st.Checkers.Any()
	if inCheck {
		targets, free = b.evasions(st.Checkers)
		targets = targets.And(want)
	}
	for k := Advisor; k <= Pawn; k++ {
		p := MakePiece(b.side, k)
		for s := b.of[p]; s.Any(); s = s.Rest() {
			from := s.First()
			if !inCheck && !st.pinned.Has(from) {
				t := b.reach(k, from, occupied, want)
				r.add(from, p, t.Without(st.hollow))
				if t = t.And(st.hollow); t.Any() {
					r.add(from, p, b.proven(from, t))
				}
				continue
			}
			enter := targets
			if free.Has(from) {
				enter = want
			}
			r.add(from, p, b.proven(from, b.reach(k, from, occupied, enter)))
		}
	}
	k := b.king[b.side]
	r.add(k, MakePiece(b.side, King), b.proven(k, kingSteps[k].And(want)))
}

// proven returns those of the target squares on which the mover leaves its king safe.
func (b *Board) proven(from Square, targets Bits) (safe Bits) {
	for ; targets.Any(); targets = targets.Rest() {
		if to := targets.First(); !b.exposes(MakeMove(from, to)) {
			safe = safe.Or(only[to])
		}
	}
	return safe
}

// generate appends the legal moves that enter a square of want.
func (b *Board) generate(buf []game.Move, want Bits) []game.Move {
	var r Reaches
	b.Reaches(&r, want)
	for i := range r.All() {
		buf = appendMoves(buf, r.list[i].From, r.list[i].To)
	}
	return buf
}

func appendMoves(buf []game.Move, from Square, targets Bits) []game.Move {
	for t := targets.Lo; t != 0; t &= t - 1 {
		buf = append(buf, MakeMove(from, Square(bits.TrailingZeros64(t))))
	}
	for t := targets.Hi; t != 0; t &= t - 1 {
		buf = append(buf, MakeMove(from, Square(half+bits.TrailingZeros64(t))))
	}
	return buf
}

// CountLegal returns the number of legal moves. Those that cannot expose a king are
// counted in bulk.
func (b *Board) CountLegal() (n int) {
	st := b.State()
	occupied := b.Occupied()
	want := b.All(b.side.Other()).Or(b.Empty())
	if st.Checkers.Any() {
		var room [MaxMoves]game.Move
		return len(b.generate(room[:0], want))
	}
	proven := func(from Square, targets Bits) {
		for ; targets.Any(); targets = targets.Rest() {
			if !b.exposes(MakeMove(from, targets.First())) {
				n++
			}
		}
	}
	for k := Advisor; k <= Pawn; k++ {
		for s := b.of[MakePiece(b.side, k)]; s.Any(); s = s.Rest() {
			from := s.First()
			t := b.reach(k, from, occupied, want)
			if st.pinned.Has(from) {
				proven(from, t)
				continue
			}
			n += t.Without(st.hollow).Count()
			proven(from, t.And(st.hollow))
		}
	}
	k := b.king[b.side]
	proven(k, kingSteps[k].And(want))
	return n
}

// AnyLegal reports whether the side to move has a legal move.
func (b *Board) AnyLegal() bool {
	var room [MaxMoves]game.Move
	return len(b.Legal(room[:0])) > 0
}

// Perft counts the leaves of the legal move tree, the last ply in bulk.
// Repetitions and move limits don't end a line.
func (b *Board) Perft(depth int) uint64 {
	switch {
	case depth <= 0:
		return 1
	case depth == 1:
		return uint64(b.CountLegal())
	}
	var room [MaxMoves]game.Move
	var n uint64
	for _, m := range b.Legal(room[:0]) {
		b.Do(m)
		n += b.Perft(depth - 1)
		b.Undo()
	}
	return n
}
