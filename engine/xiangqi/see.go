package xiangqi

import (
	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// SEE reports whether the exchange that m starts on its target gains at least
// threshold, each side capturing with its cheapest piece or stopping. Pieces
// that leave open lines for rooks, add or take screens for cannons and free
// legs for horses. Pins are not seen.
func (p *position) SEE(m game.Move, threshold search.Score) bool {
	b := p.board
	from, to := rules.From(m), rules.To(m)
	// balance is what the side that just moved has gained over its threshold.
	balance := pieceValue[b.At(to).Kind()] - int32(threshold)
	if balance < 0 {
		return false
	}
	next := pieceValue[b.At(from).Kind()] // what stands on the target now
	if balance -= next; balance >= 0 {
		return true // even losing the piece for nothing
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
			break // the king may not capture what is guarded
		}
		occupied = occupied.Without(rules.Only(attacker))
		// From here on balance is seen from the new mover's side, were its
		// piece lost at once.
		next = pieceValue[kind]
		if balance = -balance - 1 - next; balance >= 0 {
			mover = mover.Other() // it can afford that: the other side stops here
			break
		}
	}
	// Who could not or would not go on has lost the exchange.
	return mover != b.Side()
}

// cheapestOf picks the piece of a set that joins an exchange first.
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
