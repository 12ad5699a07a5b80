package xiangqi

import (
	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// SEE reports whether the exchange that m starts on its target square gains at
// least threshold, if each side captures with its cheapest piece or stops. Pieces
// that leave open lines for rooks, add or remove screens of cannons, and free the
// legs of horses. Pins are ignored.
func (p *position) SEE(m game.Move, threshold search.Score) bool {
	b := p.board
	from, to := rules.From(m), rules.To(m)
	// balance is the gain of the side that just moved, above its threshold.
	balance := pieceValue[b.At(to).Kind()] - int32(threshold)
	if balance < 0 {
		return false
	}
	next := pieceValue[b.At(from).Kind()] // what stands on the target now
	if balance -= next; balance >= 0 {
		return true // even if the piece is lost for nothing
	}
	occupied := b.Occupied().Without(rules.Only(from)).Or(rules.Only(to))
	mover := b.Side()
	for {
		mover = mover.Other()
		attackers := b.AttackersTo(to, occupied)
		attacker, kind := p.cheapestOf(attackers.And(b.All(mover)))
		if kind == rules.NoKind {
			break
		}
		if kind == rules.King && attackers.Meets(b.All(mover.Other())) {
			break // the king may not capture a guarded piece
		}
		occupied = occupied.Without(rules.Only(attacker))
		// Now balance is that of the new mover, assuming that its piece is lost.
		next = pieceValue[kind]
		if balance = -balance - 1 - next; balance >= 0 {
			mover = mover.Other() // it still gains, so the other side stops
			break
		}
	}
	// The side that did not continue has lost the exchange.
	return mover != b.Side()
}

// cheapestOf returns the least valuable piece of a set.
func (p *position) cheapestOf(set rules.Bits) (rules.Square, rules.Kind) {
	if !set.Any() {
		return rules.NoSquare, rules.NoKind
	}
	at, kind, value := rules.NoSquare, rules.NoKind, int32(1<<30)
	for ; set.Any(); set = set.Rest() {
		s := set.First()
		k := p.board.At(s).Kind()
		if v := pieceValue[k]; v < value {
			at, kind, value = s, k, v
		}
	}
	return at, kind
}
