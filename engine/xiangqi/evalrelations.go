package xiangqi

import rules "sparring/game/xiangqi"

// The evaluation of paper 004, a networked Xiangqi game for telephones,
// section 3.6: the values of the pieces, their mobility and control of the
// board, and their relations, by which side is to move. Unit: a rook is 500;
// the kernel gets twice that. The rest of its text is in words, and follows
// the textbook that paper 003 cites as its reference [4]; where a number is
// missing, the comments say which was taken.

// relationValue is PieceValue of SideValue = sum of PieceNumber * PieceValue.
// The paper prints rook, horse and pawn, and a king far above all others.
// Cannon, advisor and elephant stand to the rook and horse as in paper 003.
var relationValue = [rules.Kinds]int32{
	rules.King: 10000, rules.Advisor: 85, rules.Elephant: 80, rules.Horse: 300, rules.Rook: 500, rules.Cannon: 300, rules.Pawn: 100,
}

// relationMove is MoveValue of Mobility = sum of MoveNumber * MoveValue. The
// paper prints none: these are those of paper 003, section 5.3, which are the
// textbook's, where a rook is 500.
var relationMove = xuMobility

// pointControl is for each empty point that a side controls. The paper gives
// no number: it is the least there is, as mobility counts the same moves.
const pointControl = 1

// What a threatened piece loses of its value, in sixteenths: little when its
// own side is to move, much when the enemy is. The paper has "lightly" and "a
// relatively large value"; the numbers are the textbook's.
const (
	threatOnOwnMove   = 2
	threatOnEnemyMove = 10
)

// relationTerms are the terms of one side.
type relationTerms struct{ value, mobility, control, threats int32 }

func (t relationTerms) sum() int32 { return t.value + t.mobility + t.control - t.threats }

// relations returns the evaluation for the side to move. That the side to move
// could take the king, where the paper returns the score of a lost game, never
// happens: no legal move leaves it so.
func relations(b *rules.Board) int32 {
	t := relate(b)
	return 2 * (t[b.Side()].sum() - t[b.Side().Other()].sum())
}

// controllers are the pieces of a side that may move to a point.
type controllers struct{ number, value int32 }

// relate returns the terms of both sides.
func relate(b *rules.Board) (t [2]relationTerms) {
	var attacks [2]rules.Bits // guarded pieces included
	var at [2][rules.Squares]controllers
	occupied, empty := b.Occupied(), b.Empty()
	for all := occupied; all.Any(); all = all.Rest() {
		s := all.First()
		p, moves := b.At(s), b.Moves(s)
		c, k := p.Colour(), p.Kind()
		t[c].value += relationValue[k]
		t[c].mobility += relationMove[k] * int32(moves.Count())
		attacks[c] = attacks[c].Or(rules.Attacks(p, s, occupied))
		for free := moves.And(empty); free.Any(); free = free.Rest() {
			point := &at[c][free.First()]
			point.number++
			point.value += relationValue[k]
		}
	}
	for s := range rules.Square(rules.Squares) {
		if c, ok := controls(at[rules.Red][s], at[rules.Black][s]); ok {
			t[c].control += pointControl
		}
	}
	for _, c := range [...]rules.Colour{rules.Red, rules.Black} {
		t[c].threats = threatLoss(b, c, attacks[c.Other()].Without(attacks[c]))
	}
	return t
}

// controls returns which side controls a point, if any: the only one that may move
// there, else the one with more pieces that may, else the one with the cheaper
// ones. The paper says that number and value decide, not how; who has the
// cheaper pieces can afford the exchange.
func controls(red, black controllers) (c rules.Colour, ok bool) {
	switch {
	case red == black:
		return rules.Red, false
	case red.number > black.number || red.number == black.number && red.value < black.value:
		return rules.Red, true
	}
	return rules.Black, true
}

// threatLoss returns what c's pieces lose for being attacked, by the set of what the
// enemy attacks and c does not guard. As in the paper's example a guarded piece
// is not threatened, whatever attacks it.
func threatLoss(b *rules.Board, c rules.Colour, unguarded rules.Bits) (sum int32) {
	sixteenths := int32(threatOnEnemyMove)
	if b.Side() == c {
		sixteenths = threatOnOwnMove
	}
	for s := b.All(c).And(unguarded); s.Any(); s = s.Rest() {
		if k := b.At(s.First()).Kind(); k != rules.King {
			sum += relationValue[k] * sixteenths / 16
		}
	}
	return sum
}
