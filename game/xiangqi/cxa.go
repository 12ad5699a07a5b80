package xiangqi

import "sparring/game"

// The rules of the Chinese Xiangqi Association classify every move: an attack
// (da) is a check (jiang), a threat to mate (sha) or a chase (zhuo). A side that
// attacks with every move of a cycle, in any mixture and chasing any pieces,
// must vary, unless the other side does the same.

// cxaOffences finds the offences of the last span plies, other than perpetual
// check, by the rules of the Chinese Xiangqi Association.
func (b *Board) cxaOffences(span int) (worst [2]offence) {
	// Kings and pawns may chase, except that against a side that attacks with
	// every move their chases count as attacks: answering includes them.
	attacking, answering := [2]bool{true, true}, [2]bool{true, true}
	for r := b.rewind(span); r.more(); {
		c := b.side
		if !answering[c] {
			r.next()
			continue
		}
		before := r.where(r.attacks(c, King, Pawn), b.gains)
		r.next()
		if b.InCheck() {
			continue
		}
		chases := r.where(r.attacks(c, King, Pawn).without(before), b.gains)
		chases = r.where(chases, b.survives)
		byPieces := r.where(chases, func(from, _ Square) bool {
			k := b.piece[from].Kind()
			return k != King && k != Pawn
		})
		if byPieces.prey() != 0 {
			continue
		}
		attack := b.threatensMate()
		attacking[c] = attacking[c] && attack
		answering[c] = attack || chases.prey() != 0
	}
	for c := range Colour(2) {
		if attacking[c] && !answering[c.Other()] {
			worst[c] = chasing
		}
	}
	return worst
}

// exchangeValue is the Association's value of a piece in an exchange: a rook
// equals two horses or cannons or one of each, a horse a cannon, an advisor an
// elephant. A pawn beyond the river has no fixed value; here it equals an
// advisor, so that neither gains by taking the other.
var exchangeValue = [Kinds]int{King: 100, Advisor: 1, Elephant: 1, Horse: 2, Rook: 4, Cannon: 2, Pawn: 1}

// gains reports whether taking the piece on to with the one on from gains
// material in the exchange, and is not an offer to exchange equal pieces, which
// either side could accept.
func (b *Board) gains(from, to Square) bool {
	equal := exchangeValue[b.piece[from].Kind()] == exchangeValue[b.piece[to].Kind()]
	return !(equal && b.takesBack(from, to)) && b.exchange(from, to) > 0
}

// exchange returns the static exchange evaluation of a capture: both sides continue
// taking on the square to as long as that gains, least valuable piece first.
func (b *Board) exchange(from, to Square) int {
	them := b.piece[to].Colour()
	checkers := b.threatsToKing(them)
	taken := b.shift(from, to)
	defer b.unshift(from, to, taken)
	next, cheapest := NoSquare, 0
	for s := b.AttackersTo(to, b.Occupied()).And(b.All(them)); s.Any(); s = s.Rest() {
		at := s.First()
		if v := exchangeValue[b.piece[at].Kind()]; (next == NoSquare || v < cheapest) && b.mayTake(at, to, checkers) {
			next, cheapest = at, v
		}
	}
	value := exchangeValue[taken.Kind()]
	if next != NoSquare {
		value -= max(0, b.exchange(next, to))
	}
	return value
}

// survives reports whether the side to move cannot mate at once after the piece
// on from has taken on to.
func (b *Board) survives(from, to Square) bool {
	m := MakeMove(from, to)
	b.Pass()
	defer b.Unpass()
	b.Do(m)
	defer b.Undo()
	return !b.matesByChecks(1)
}

// mateChecks is the longest mate by checks, in moves of the attacker, that
// counts as a threat. The rules set no limit.
const mateChecks = 3

// threatensMate reports whether the last move, which gave no check, threatens to
// mate by checks alone. A mate that was possible before it is not a new threat.
func (b *Board) threatensMate() bool {
	b.Pass()
	mates := b.matesByChecks(mateChecks)
	b.Unpass()
	if !mates {
		return false
	}
	m := b.State().Move
	b.Undo()
	defer b.Do(m)
	return !b.matesByChecks(mateChecks)
}

// matesByChecks reports whether the side to move can mate within n moves, each
// of them a check.
func (b *Board) matesByChecks(n int) bool {
	var room, answers [MaxMoves]game.Move
	for _, m := range b.Legal(room[:0]) {
		b.Do(m)
		mates := b.InCheck()
		if mates {
			replies := b.Legal(answers[:0])
			mates = len(replies) == 0 || n > 1
			for i := 0; mates && i < len(replies); i++ {
				b.Do(replies[i])
				mates = b.matesByChecks(n - 1)
				b.Undo()
			}
		}
		b.Undo()
		if mates {
			return true
		}
	}
	return false
}
