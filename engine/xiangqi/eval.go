package xiangqi

import (
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
	var sides [2]side
	for c := range rules.Color(2) {
		p.activity(c, &sides[c])
	}
	at := p.at()
	total := at.weight
	for c := range rules.Color(2) {
		us, them := &sides[c], &sides[c.Other()]
		p.cooperation(c, us)
		p.kingAttack(c, us)
		p.relations(c, us, them)
		if c == rules.Red {
			total.add(us.score)
		} else {
			total.sub(us.score)
		}
	}
	if b.Side() == rules.Black {
		total = weight{-total.mg, -total.eg}
	}
	total.add(tempo)
	phase := min(at.phase, phaseFull)
	v := (total.mg*phase + total.eg*(phaseFull-phase)) / phaseFull
	return p.tempered(max(-search.MaxEval, min(search.MaxEval, search.Score(v))))
}

// activity is e3, and what the later terms need of the attacks.
func (p *position) activity(c rules.Color, us *side) {
	b := p.board
	occupied, own := b.Occupied(), b.All(c)
	palace := rules.Palace(c.Other())
	for k := rules.King; k <= rules.Pawn; k++ {
		for s := b.Of(rules.MakePiece(c, k)); s.Any(); s = s.Rest() {
			at := s.First()
			var attacks, moves rules.Bits
			if k == rules.Cannon {
				var rook rules.Bits
				rook, attacks = rules.LineAttacks(at, occupied)
				moves = rook.Without(occupied).Or(attacks.And(occupied).Without(own))
			} else {
				attacks = rules.Attacks(rules.MakePiece(c, k), at, occupied)
				moves = attacks.Without(own)
			}
			us.attacks = us.attacks.Or(attacks)
			us.score.add(mobility[k].times(moves.Count()))
			switch k {
			case rules.King:
				continue
			case rules.Pawn:
				us.byPawn = us.byPawn.Or(attacks)
				us.byMinor = us.byMinor.Or(attacks)
			case rules.Rook:
			default:
				us.byMinor = us.byMinor.Or(attacks)
			}
			if n := attacks.And(palace).Count(); n > 0 && k >= rules.Horse {
				us.palace.add(palaceAttack[k].times(n))
				us.pressing++
			}
		}
	}
}

// cooperation is e4.
func (p *position) cooperation(c rules.Color, us *side) {
	b := p.board
	pawns := b.Of(rules.MakePiece(c, rules.Pawn)).Without(rules.Half(c))
	for s := pawns; s.Any(); s = s.Rest() {
		at := s.First()
		if at.File() < rules.Files-1 && pawns.Has(at+1) {
			us.score.add(pawnsHandInHand)
		}
	}
	occupied := b.Occupied()
	for _, pair := range [3]struct {
		kind  rules.Kind
		bonus weight
	}{{rules.Horse, horsesLinked}, {rules.Cannon, cannonsLinked}, {rules.Rook, rooksLinked}} {
		piece := rules.MakePiece(c, pair.kind)
		set := b.Of(piece)
		if set.Count() < 2 {
			continue
		}
		first, second := set.First(), set.Rest().First()
		// Horses may guard one way only; sum both ways so that the mirrored
		// position counts the same.
		n := 0
		if rules.Attacks(piece, first, occupied).Has(second) {
			n++
		}
		if rules.Attacks(piece, second, occupied).Has(first) {
			n++
		}
		us.score.add(pair.bonus.times(n))
	}
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
	scale := int32(threatToSuffer)
	if b.Side() == c {
		scale = threatToMove
	}
	var loss weight
	for k := rules.Advisor; k <= rules.Pawn; k++ {
		set := b.Of(rules.MakePiece(c, k))
		danger := set.And(them.attacks).Without(us.attacks)
		switch k {
		case rules.Rook:
			danger = danger.Or(set.And(them.byMinor))
		case rules.Horse, rules.Cannon:
			danger = danger.Or(set.And(them.byPawn))
		}
		loss.add(threatened[k].times(danger.Count()))
		us.score.add(guarded[k].times(set.And(us.attacks).Count()))
	}
	us.score.sub(weight{loss.mg * scale / 16, loss.eg * scale / 16})
}
