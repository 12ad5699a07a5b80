package xiangqi

import (
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// pieceWorth is the usual value of the pieces, in halves of a pawn.
var pieceWorth = [rules.Kinds]int{
	rules.King: 100, rules.Advisor: 4, rules.Elephant: 4, rules.Horse: 8, rules.Rook: 18, rules.Cannon: 9, rules.Pawn: 2,
}

// capturing values a move by what it captures, less the piece that moves if that
// can be taken on its new square.
func capturing(p game.Position) func(game.Move) int {
	b := p.(*rules.Position).Board()
	me := b.Side()
	return func(m game.Move) int {
		from, to := rules.From(m), rules.To(m)
		worth := pieceWorth[b.At(to).Kind()]
		occupied := b.Occupied().Without(rules.Only(from)).Or(rules.Only(to))
		if b.AttackersTo(to, occupied).And(b.All(me.Other())).Without(rules.Only(to)).Any() {
			worth -= pieceWorth[b.At(from).Kind()]
		}
		return worth
	}
}
