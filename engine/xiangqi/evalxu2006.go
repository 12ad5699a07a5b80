package xiangqi

import (
	"math/bits"

	rules "sparring/game/xiangqi"
)

// The evaluation of paper 003: Xu Xinhe, Wang Jiao, "Key Technologies Analysis
// of Chinese Chess Computer Game", Journal of Chinese Computer Systems 27(6),
// 2006, section 5, with the values that it prints. It is the sum of five terms
// for the own side less the same for the other. Unit: a rook is 1000.
//
// The paper prints some numbers and only names other things that "should be
// given a value". Those have the engine's own estimates from before any
// tuning (untuned in weights.go); each says so below.

// xuValue is e1, section 5.1. The king's, infinite in the paper, is left out:
// no king is ever taken.
var xuValue = [rules.Kinds]int32{
	rules.Advisor: 170, rules.Elephant: 160, rules.Horse: 450, rules.Rook: 1000, rules.Cannon: 450, rules.Pawn: 60,
}

// xuMobility is e3, section 5.3, for each square that a piece may move to. A
// move counts whether it leaves the king in check or not: the paper does not
// say.
var xuMobility = [rules.Kinds]int32{
	rules.Advisor: 1, rules.Elephant: 1, rules.Horse: 12, rules.Rook: 6, rules.Cannon: 6, rules.Pawn: 15,
}

// e4, section 5.4. The 200 for pawns hand in hand is the paper's. Of linked
// horses, cannons and rooks it says that they may be given something; its
// "pinning" of pieces has no pattern and is left out.
const (
	xuPawnsHandInHand = 200 // for each two crossed pawns side by side
	xuLinkedHorses    = 28  // two horses that guard each other (estimate)
	xuLinkedCannons   = 20  // two cannons with one piece between them (estimate)
	xuLinkedRooks     = 32  // two rooks with nothing between them (estimate)
)

// e5, section 5.5, which prints no value: all are estimates. They are for
// the attacker; the king's place is for its own side.
const (
	xuHollowCannon  = 90 // a cannon on the king's file with nothing between
	xuCentralCannon = 22 // a cannon on the king's file with two pieces between
	xuBottomCannon  = 28 // a cannon on the back rank of a king at home, beside the palace
)

// xuGathering is for horses, rooks and cannons beyond the river on the four
// files of one side, by their number.
var xuGathering = [7]int32{2: 22, 3: 60, 4: 110, 5: 150, 6: 180}

// fiveTerms are the terms e1 to e5 of one side.
type fiveTerms struct{ material, squares, mobility, cooperation, kingSafety int32 }

func (t fiveTerms) sum() int32 {
	return t.material + t.squares + t.mobility + t.cooperation + t.kingSafety
}

// xu2006 returns the evaluation for the side to move.
func xu2006(b *rules.Board) int32 {
	own, other := xuTerms(b, b.Side()), xuTerms(b, b.Side().Other())
	return own.sum() - other.sum()
}

// xuTerms returns the terms of c's pieces.
func xuTerms(b *rules.Board, c rules.Colour) (t fiveTerms) {
	for all := b.All(c); all.Any(); all = all.Rest() {
		s := all.First()
		k := b.At(s).Kind()
		t.material += xuValue[k]
		t.mobility += xuMobility[k] * int32(b.Moves(s).Count())
		if k != rules.King {
			t.squares += xuSquare(c, k, s)
		}
	}
	t.cooperation = xuCooperation(b, c)
	t.kingSafety = xuKingAttack(b, c) + xuSquare(c, rules.King, b.King(c))
	return t
}

// xuSquare is e2, section 5.2: "for each kind a matrix over the squares where it
// may stand". The paper prints the pawn's, formula (9), which the engine's own
// table has unchanged; the others are estimates. The king's is a part of e5,
// where the paper names the place of the king.
func xuSquare(c rules.Colour, k rules.Kind, s rules.Square) int32 {
	if c == rules.Black {
		s = s.Flip()
	}
	row, col := halfSquare(s)
	return untuned.squares[k][row][col].mg
}

// xuCooperation is e4.
func xuCooperation(b *rules.Board, c rules.Colour) (sum int32) {
	crossed := beyond(c, b.Of(rules.MakePiece(c, rules.Pawn)))
	sum += xuPawnsHandInHand * int32(bits.OnesCount64(crossed&(crossed>>1)&notLastFile))
	for _, pair := range [...]struct {
		kind  rules.Kind
		value int32
	}{{rules.Horse, xuLinkedHorses}, {rules.Cannon, xuLinkedCannons}, {rules.Rook, xuLinkedRooks}} {
		set := b.Of(rules.MakePiece(c, pair.kind))
		if set.Count() != 2 {
			continue
		}
		one, two := set.First(), set.Rest().First()
		occupied, piece := b.Occupied(), rules.MakePiece(c, pair.kind)
		if rules.Attacks(piece, one, occupied).Has(two) && rules.Attacks(piece, two, occupied).Has(one) {
			sum += pair.value
		}
	}
	return sum
}

// xuKingAttack is e5 as c attacks.
func xuKingAttack(b *rules.Board, c rules.Colour) (sum int32) {
	enemy := c.Other()
	king, cannons := b.King(enemy), b.Of(rules.MakePiece(c, rules.Cannon))
	for s := cannons; s.Any(); s = s.Rest() {
		if s.First().File() != king.File() {
			continue
		}
		switch rules.Between(s.First(), king).And(b.Occupied()).Count() {
		case 0:
			sum += xuHollowCannon
		case 2:
			sum += xuCentralCannon
		}
	}
	if king.Rank() == throne[enemy].Rank() {
		sum += xuBottomCannon * int32(bits.OnesCount64(beyond(c, cannons)&lastRank[c]&besidePalace))
	}
	strong := beyond(c, cannons.Or(b.Of(rules.MakePiece(c, rules.Horse))).Or(b.Of(rules.MakePiece(c, rules.Rook))))
	return sum + xuGathering[bits.OnesCount64(strong&wingA)] + xuGathering[bits.OnesCount64(strong&wingI)]
}
