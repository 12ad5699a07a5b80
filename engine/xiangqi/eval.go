package xiangqi

import (
	"math/bits"

	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// placed is material and square table of a piece on a square, from Red's
// side: Black's pieces count negative.
var placed [rules.Pieces][256]weight

func init() {
	for k := rules.King; k <= rules.Pawn; k++ {
		for s := range rules.Square(rules.Squares) {
			col := s.File()
			if col > 4 {
				col = rules.Files - 1 - col
			}
			v := squareTables[k][rules.Ranks-1-s.Rank()][col]
			w := weight{v, v * squareEndgame[k] / 16}
			w.add(material[k])
			placed[rules.MakePiece(rules.Red, k)][s] = w
			placed[rules.MakePiece(rules.Black, k)][s.Flip()] = weight{-w.mg, -w.eg}
		}
	}
}

// sums is the incremental part of the evaluation: e1 and e2 from Red's side,
// and the phase.
type sums struct {
	weight
	phase int32
}

func (s *sums) put(p rules.Piece, at rules.Square) {
	s.add(placed[p&15][at])
	s.phase += phaseOf[p.Kind()]
}

func (s *sums) take(p rules.Piece, at rules.Square) {
	s.sub(placed[p&15][at])
	s.phase -= phaseOf[p.Kind()]
}

func (s *sums) move(p rules.Piece, from, to rules.Square) {
	s.sub(placed[p&15][from])
	s.add(placed[p&15][to])
}

// sumsFromScratch adds up a whole board.
func sumsFromScratch(b *rules.Board) (s sums) {
	for at := range rules.Square(rules.Squares) {
		if p := b.At(at); p != rules.NoPiece {
			s.put(p, at)
		}
	}
	return s
}

// side is what the evaluation gathers of one side.
type side struct {
	score    weight
	attacks  rules.Bits // by any piece, own pieces defended included
	byPawn   rules.Bits
	byMinor  rules.Bits // by pawns, horses, cannons, advisers and elephants
	palace   weight     // attack on the enemy's palace
	pressing int        // pieces that take part in it
}

// Eval is the static evaluation: the five terms of paper 003 section 5, and
// the relations between pieces of paper 004 section 3.6.
func (p *position) Eval() search.Score {
	b := p.board
	var red, black side
	p.activity(rules.Red, &red)
	p.activity(rules.Black, &black)
	p.kingAttack(rules.Red, &red)
	p.kingAttack(rules.Black, &black)
	p.relations(rules.Red, &red, &black)
	p.relations(rules.Black, &black, &red)
	at := p.at()
	total := at.weight
	total.add(red.score)
	total.sub(black.score)
	if b.Side() == rules.Black {
		total = weight{-total.mg, -total.eg}
	}
	total.add(tempo)
	phase := min(at.phase, phaseFull)
	v := (total.mg*phase + total.eg*(phaseFull-phase)) / phaseFull
	return p.tempered(max(-search.MaxEval, min(search.MaxEval, search.Score(v))))
}

// activity is e3, and what the later terms need of the attacks. While it has
// the attacks at hand it also adds e4.
func (p *position) activity(c rules.Color, us *side) {
	p.guards(c, us)
	b := p.board
	occupied, own, palace := b.Occupied(), b.All(c), rules.Palace(c.Other())
	for k := rules.Horse; k <= rules.Cannon; k++ {
		set := b.Of(rules.MakePiece(c, k))
		var all rules.Bits
		moves, joined, inPalace := 0, 0, 0
		for s := set; s.Any(); s = s.Rest() {
			var attacks rules.Bits
			switch k {
			case rules.Horse:
				attacks = rules.HorseAttacks(s.First(), occupied)
				moves += attacks.Without(own).Count()
			case rules.Rook:
				attacks = rules.RookAttacks(s.First(), occupied)
				moves += attacks.Without(own).Count()
			default:
				var rook rules.Bits
				rook, attacks = rules.LineAttacks(s.First(), occupied)
				moves += rook.Without(occupied).Or(attacks.And(occupied).Without(own)).Count()
			}
			all = all.Or(attacks)
			if attacks.Meets(set) {
				joined++
			}
			if attacks.Meets(palace) {
				inPalace += attacks.And(palace).Count()
				us.pressing++
			}
		}
		us.score.add(mobility[k].times(moves))
		us.score.add(linked[k].times(joined))
		us.palace.add(palaceAttack[k].times(inPalace))
		us.attacks = us.attacks.Or(all)
		if k != rules.Rook {
			us.byMinor = us.byMinor.Or(all)
		}
	}
	p.pawns(c, us)
}

// guards is activity for king, advisers and elephants.
func (p *position) guards(c rules.Color, us *side) {
	b := p.board
	occupied, own := b.Occupied(), b.All(c)
	us.attacks = rules.KingAttacks(b.King(c))
	moves := 0
	for s := b.Of(rules.MakePiece(c, rules.Advisor)); s.Any(); s = s.Rest() {
		attacks := rules.AdvisorAttacks(s.First())
		us.byMinor = us.byMinor.Or(attacks)
		moves += attacks.Without(own).Count()
	}
	us.score.add(mobility[rules.Advisor].times(moves))
	moves = 0
	for s := b.Of(rules.MakePiece(c, rules.Elephant)); s.Any(); s = s.Rest() {
		attacks := rules.ElephantAttacks(s.First(), occupied)
		us.byMinor = us.byMinor.Or(attacks)
		moves += attacks.Without(own).Count()
	}
	us.score.add(mobility[rules.Elephant].times(moves))
	us.attacks = us.attacks.Or(us.byMinor)
}

// notLastFile are the squares of one half that have a right neighbour.
const notLastFile = 1<<(rules.Squares/2) - 1 - (1<<8 | 1<<17 | 1<<26 | 1<<35 | 1<<44)

// pawns is activity for pawns.
func (p *position) pawns(c rules.Color, us *side) {
	b := p.board
	own, palace := b.All(c), rules.Palace(c.Other())
	pawns := b.Of(rules.MakePiece(c, rules.Pawn))
	moves, inPalace := 0, 0
	for s := pawns; s.Any(); s = s.Rest() {
		attacks := rules.PawnAttacks(c, s.First())
		us.byPawn = us.byPawn.Or(attacks)
		moves += attacks.Without(own).Count()
		if attacks.Meets(palace) {
			inPalace += attacks.And(palace).Count()
			us.pressing++
		}
	}
	us.score.add(mobility[rules.Pawn].times(moves))
	us.palace.add(palaceAttack[rules.Pawn].times(inPalace))
	us.attacks, us.byMinor = us.attacks.Or(us.byPawn), us.byMinor.Or(us.byPawn)
	// Those beyond the river stand in one half, which is one word.
	crossed := pawns.Without(rules.Half(c))
	half := crossed.Lo | crossed.Hi
	us.score.add(pawnsHandInHand.times(bits.OnesCount64(half & (half >> 1) & notLastFile)))
}

// kingAttack is e5, as c attacks.
func (p *position) kingAttack(c rules.Color, us *side) {
	b := p.board
	them := c.Other()
	king := b.King(them)
	occupied := b.Occupied()
	advisers := b.Of(rules.MakePiece(them, rules.Advisor)).Count()
	attack := us.palace
	attack.add(gathering[min(us.pressing, len(gathering)-1)])
	cannons := b.Of(rules.MakePiece(c, rules.Cannon))
	home := 0
	if them == rules.Black {
		home = rules.Ranks - 1
	}
	for s := cannons; s.Any(); s = s.Rest() {
		at := s.First()
		if at.File() == king.File() {
			switch rules.Between(at, king).And(occupied).Count() {
			case 0:
				attack.add(hollowCannon)
			case 2:
				attack.add(centralCannon)
			}
		}
		if at.Rank() == home && king.Rank() == home && (at.File() < 3 || at.File() > 5) {
			attack.add(bottomCannon)
		}
	}
	scale := exposed[min(advisers, 2)]
	us.score.add(weight{attack.mg * scale / 16, attack.eg * scale / 16})
	if advisers >= 2 {
		us.score.add(cannonAgainstFullGuard.times(cannons.Count()))
	} else {
		us.score.add(rookAgainstBareKing.times(b.Of(rules.MakePiece(c, rules.Rook)).Count() * (2 - advisers)))
	}
}

// relations is 004's section 3.6 for c's pieces.
func (p *position) relations(c rules.Color, us, them *side) {
	b := p.board
	unguarded := them.attacks.Without(us.attacks)
	var loss weight
	for k := rules.Advisor; k <= rules.Pawn; k++ {
		set := b.Of(rules.MakePiece(c, k))
		danger := unguarded
		switch k {
		case rules.Rook:
			danger = danger.Or(them.byMinor)
		case rules.Horse, rules.Cannon:
			danger = danger.Or(them.byPawn)
		}
		if set.Meets(danger) {
			loss.add(threatened[k].times(set.And(danger).Count()))
		}
		if set.Meets(us.attacks) {
			us.score.add(guarded[k].times(set.And(us.attacks).Count()))
		}
	}
	scale := int32(threatToSuffer)
	if b.Side() == c {
		scale = threatToMove
	}
	us.score.sub(weight{loss.mg * scale / 16, loss.eg * scale / 16})
}
