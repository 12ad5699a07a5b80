package xiangqi

import "sparring/game"

// Checking says which moves of the side to move give check: directly, by
// discovery, or by becoming the screen of a cannon.
type Checking struct {
	direct [Kinds]Bits // where a piece of the kind would attack the king
	unveil Bits        // own pieces that stand between, or lie in ambush on the king's lines
	screen Bits        // empty squares before own cannons that lack a screen
}

// Checking finds the moves that give check.
func (b *Board) Checking() (c Checking) {
	us, them := b.side, b.side.Other()
	king, occupied := b.king[them], b.Occupied()
	c.direct[Rook], c.direct[Cannon] = LineAttacks(king, occupied)
	c.direct[Horse] = HorseSources(king, occupied)
	c.direct[Pawn] = pawnSources[us][king]
	_, between, screen := b.aims(them)
	// A cannon already on the line may capture and so get another screen.
	ambush := b.of[MakePiece(us, Cannon)].And(cross[king])
	c.unveil, c.screen = between.And(b.All(us)).Or(ambush), screen
	return c
}

// Targets returns the squares on which a piece that comes from there gives check, or
// may give it: where sure is false, ask GivesCheck.
func (c *Checking) Targets(p Piece, from Square) (to Bits, sure bool) {
	if c.unveil.Has(from) {
		return Bits{1<<half - 1, 1<<half - 1}, false
	}
	return c.direct[p.Kind()].Or(c.screen), true
}

// GivesCheck reports whether a legal move gives check.
func (b *Board) GivesCheck(m game.Move) bool {
	from, to := From(m), To(m)
	us := b.side
	p, king := b.piece[from], b.king[us.Other()]
	occupied := b.Occupied().Without(only[from]).Or(only[to])
	at := func(k Kind) Bits {
		set := b.of[MakePiece(us, k)]
		if p.Kind() == k {
			set = set.Without(only[from]).Or(only[to])
		}
		return set
	}
	for s := at(Rook).And(cross[king]); s.Any(); s = s.Rest() {
		if !between[king][s.First()].Meets(occupied) {
			return true
		}
	}
	for s := at(Cannon).And(cross[king]); s.Any(); s = s.Rest() {
		if between[king][s.First()].And(occupied).Count() == 1 {
			return true
		}
	}
	return at(Horse).Meets(HorseSources(king, occupied)) || at(Pawn).Meets(pawnSources[us][king])
}
