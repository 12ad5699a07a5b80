package xiangqi

import (
	"math/bits"

	"sparring/game"
)

// men is a set of pieces by number, one bit each.
type men uint32

const everyone = ^men(0)

// rerun plays the moves of a cycle again. It numbers the pieces, so that the
// attacker and the prey of a chase can be identified. A cycle has no captures.
type rerun struct {
	board  *Board
	moves  []game.Move        // still to be played, the next one last
	number [Squares]uint8     // of the piece on a square
	square [maxOnBoard]Square // of the piece with a number
}

// maxOnBoard is the number of pieces of both sides.
const maxOnBoard = 2 * maxPieces

// rewind takes back the last span plies. Next plays them again.
func (b *Board) rewind(span int) *rerun {
	r := &rerun{board: b, moves: make([]game.Move, 0, span)}
	for range span {
		r.moves = append(r.moves, b.State().Move)
		b.Undo()
	}
	n := uint8(0)
	for s := b.Occupied(); s.Any(); s = s.Rest() {
		r.number[s.First()], r.square[n] = n, s.First()
		n++
	}
	return r
}

// more reports whether a move is left to be played.
func (r *rerun) more() bool { return len(r.moves) > 0 }

// next plays the next move of the cycle.
func (r *rerun) next() {
	m := r.moves[len(r.moves)-1]
	r.moves = r.moves[:len(r.moves)-1]
	n := r.number[From(m)]
	r.number[To(m)], r.square[n] = n, To(m)
	r.board.Do(m)
}

// attacks are pairs of attacker and prey: for each attacker, by number, the
// enemy men that it attacks.
type attacks [maxOnBoard]men

// attacks finds what c's pieces of the kinds first to last could take without
// exposing their king, if it were c's turn. An existing check is ignored. Prey
// is what may be chased: anything but a king or a pawn before the river.
func (r *rerun) attacks(c Colour, first, last Kind) (a attacks) {
	b, them := r.board, c.Other()
	prey := b.All(them).Without(only[b.king[them]])
	prey = prey.Without(b.of[MakePiece(them, Pawn)].And(halves[them]))
	occupied, checkers := b.Occupied(), b.threatsToKing(c)
	for k := first; k <= last; k++ {
		for s := b.of[MakePiece(c, k)]; s.Any(); s = s.Rest() {
			from := s.First()
			for v := Attacks(b.piece[from], from, occupied).And(prey); v.Any(); v = v.Rest() {
				if b.mayTake(from, v.First(), checkers) {
					a[r.number[from]] |= 1 << r.number[v.First()]
				}
			}
		}
	}
	return a
}

// where returns the pairs whose two squares satisfy the condition.
func (r *rerun) where(a attacks, condition func(from, to Square) bool) attacks {
	for hunter := range a {
		for v := a[hunter]; v != 0; v &= v - 1 {
			prey := bits.TrailingZeros32(uint32(v))
			if !condition(r.square[hunter], r.square[prey]) {
				a[hunter] &^= 1 << prey
			}
		}
	}
	return a
}

// without returns the pairs of a that o has not.
func (a attacks) without(o attacks) attacks {
	for i := range a {
		a[i] &^= o[i]
	}
	return a
}

// prey returns all that are attacked.
func (a attacks) prey() (m men) {
	for _, p := range a {
		m |= p
	}
	return m
}

// threatsToKing returns the pieces that attack c's king, the other king included.
func (b *Board) threatsToKing(c Colour) Bits {
	k, other := b.king[c], b.king[c.Other()]
	occupied := b.Occupied()
	threats := b.AttackersTo(k, occupied).And(b.All(c.Other()))
	if k.File() == other.File() && !between[k][other].Meets(occupied) {
		threats = threats.Or(only[other])
	}
	return threats
}

// mayTake reports whether the piece on from can take on to without exposing its
// king. Existing checks are ignored unless the king itself takes.
func (b *Board) mayTake(from, to Square, checkers Bits) bool {
	p := b.piece[from]
	if p.Kind() == King {
		checkers = Bits{}
	}
	taken := b.shift(from, to)
	ok := !b.threatsToKing(p.Colour()).Without(checkers).Any()
	b.unshift(from, to, taken)
	return ok
}

// shift moves the piece on from to the square to, without a state, and returns
// the piece captured; unshift reverts it.
func (b *Board) shift(from, to Square) (taken Piece) {
	p, taken := b.piece[from], b.piece[to]
	b.clear(from)
	if taken != NoPiece {
		b.clear(to)
	}
	b.put(p, to)
	if p.Kind() == King {
		b.king[p.Colour()] = to
	}
	return taken
}

func (b *Board) unshift(from, to Square, taken Piece) {
	p := b.piece[to]
	b.clear(to)
	b.put(p, from)
	if taken != NoPiece {
		b.put(taken, to)
	}
	if p.Kind() == King {
		b.king[p.Colour()] = from
	}
}

func (b *Board) clear(s Square) {
	p := b.piece[s]
	b.of[p] = b.of[p].Without(only[s])
	b.of[allOf(p.Colour())] = b.of[allOf(p.Colour())].Without(only[s])
	b.piece[s] = NoPiece
}

// protected reports whether the piece on from could be recaptured if it took on
// to.
func (b *Board) protected(from, to Square) bool {
	them := b.piece[to].Colour()
	checkers := b.threatsToKing(them)
	taken := b.shift(from, to)
	defer b.unshift(from, to, taken)
	for s := b.AttackersTo(to, b.Occupied()).And(b.All(them)); s.Any(); s = s.Rest() {
		if b.mayTake(s.First(), to, checkers) {
			return true
		}
	}
	return false
}

// chases reports whether the attack of the piece on from on the one on to is a
// chase in the sense of the World Xiangqi Federation.
func (b *Board) chases(from, to Square) bool {
	hunter, prey := b.piece[from].Kind(), b.piece[to].Kind()
	switch {
	case hunter == prey && b.takesBack(from, to):
		return false // an offer to exchange
	case prey == Rook && hunter != Rook:
		return true // by a weaker piece, protected or not
	}
	return !b.protected(from, to)
}

// takesBack reports whether the piece on to could itself take the one on from,
// which attacks it.
func (b *Board) takesBack(from, to Square) bool {
	p := b.piece[to]
	return Attacks(p, to, b.Occupied()).Has(from) && b.mayTake(to, from, b.threatsToKing(p.Colour()))
}

// offence is the worst thing that a side does with every move of a cycle.
type offence uint8

const (
	idle offence = iota
	// unguarding: it chases one piece, but with some moves only by removing its
	// protection, not by a new attack.
	unguarding
	chasing  // it chases one piece by a new attack each time
	checking // it gives check
)

// wxfOffences finds the offences of the last span plies, other than checks, by
// the rules of the World Xiangqi Federation.
func (b *Board) wxfOffences(span int) (worst [2]offence) {
	attacked, chased := [2]men{everyone, everyone}, [2]men{everyone, everyone}
	for r := b.rewind(span); r.more(); {
		c := b.side
		if chased[c] == 0 {
			r.next()
			continue
		}
		before := r.attacks(c, Advisor, Cannon)
		chasedBefore := r.where(before, b.chases)
		r.next()
		after := r.where(r.attacks(c, Advisor, Cannon), b.chases)
		if fresh := after.without(before).prey(); fresh != 0 {
			attacked[c] &= fresh
			chased[c] &= fresh
			continue
		}
		attacked[c] = 0
		chased[c] &= after.without(chasedBefore).prey()
	}
	for c := range worst {
		switch {
		case attacked[c] != 0:
			worst[c] = chasing
		case chased[c] != 0:
			worst[c] = unguarding
		}
	}
	return worst
}
