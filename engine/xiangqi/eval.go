package xiangqi

import (
	"math/bits"

	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// evaluation is the weights in the form that the evaluation uses.
type evaluation struct {
	weights
	// placed is material and square table of a piece on a square, from Red's
	// side: Black's pieces count negative.
	placed [rules.Pieces][256]weight
}

func (w weights) compile() *evaluation {
	e := &evaluation{weights: w}
	for k := rules.King; k <= rules.Pawn; k++ {
		for s := range rules.Square(rules.Squares) {
			row, col := halfSquare(s)
			v := w.squares[k][row][col]
			sum := weight{v, v * squareEndgame[k] / 16}
			sum.add(w.material[k])
			e.placed[rules.MakePiece(rules.Red, k)][s] = sum
			e.placed[rules.MakePiece(rules.Black, k)][s.Flip()] = weight{-sum.mg, -sum.eg}
		}
	}
	return e
}

// halfSquare is where a half table has a square of Red's.
func halfSquare(s rules.Square) (row, col int) {
	return rules.Ranks - 1 - int(s.Rank()), min(int(s.File()), rules.Files-1-int(s.File()))
}

// sums is the incremental part of the evaluation: e1 and e2 from Red's side,
// and the phase.
type sums struct {
	weight
	phase int32
}

func (s *sums) put(e *evaluation, p rules.Piece, at rules.Square) {
	s.add(e.placed[p&15][at])
	s.phase += phaseOf[p.Kind()]
}

func (s *sums) take(e *evaluation, p rules.Piece, at rules.Square) {
	s.sub(e.placed[p&15][at])
	s.phase -= phaseOf[p.Kind()]
}

func (s *sums) move(e *evaluation, p rules.Piece, from, to rules.Square) {
	s.sub(e.placed[p&15][from])
	s.add(e.placed[p&15][to])
}

// sums adds up a whole board.
func (e *evaluation) sums(b *rules.Board) (s sums) {
	for at := range rules.Square(rules.Squares) {
		if p := b.At(at); p != rules.NoPiece {
			s.put(e, p, at)
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
	return p.tempered(max(-search.MaxEval, min(search.MaxEval, search.Score(p.worth()))))
}

// worth is the evaluation without bounds: linear in the weights, but for
// rounding.
func (p *position) worth() int32 {
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
	total.add(p.eval.tempo)
	phase := min(at.phase, phaseFull)
	return (total.mg*phase + total.eg*(phaseFull-phase)) / phaseFull
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
		us.score.add(p.eval.mobility[k].times(moves))
		us.score.add(p.eval.linked[k].times(joined))
		us.palace.add(p.eval.palaceAttack[k].times(inPalace))
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
	us.score.add(p.eval.mobility[rules.Advisor].times(moves))
	moves = 0
	for s := b.Of(rules.MakePiece(c, rules.Elephant)); s.Any(); s = s.Rest() {
		attacks := rules.ElephantAttacks(s.First(), occupied)
		us.byMinor = us.byMinor.Or(attacks)
		moves += attacks.Without(own).Count()
	}
	us.score.add(p.eval.mobility[rules.Elephant].times(moves))
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
	us.score.add(p.eval.mobility[rules.Pawn].times(moves))
	us.palace.add(p.eval.palaceAttack[rules.Pawn].times(inPalace))
	us.attacks, us.byMinor = us.attacks.Or(us.byPawn), us.byMinor.Or(us.byPawn)
	// Those beyond the river stand in one half, which is one word.
	crossed := pawns.Without(rules.Half(c))
	half := crossed.Lo | crossed.Hi
	us.score.add(p.eval.pawnsHandInHand.times(bits.OnesCount64(half & (half >> 1) & notLastFile)))
}

// kingAttack is e5, as c attacks.
func (p *position) kingAttack(c rules.Color, us *side) {
	b := p.board
	them := c.Other()
	king := b.King(them)
	occupied := b.Occupied()
	advisers := b.Of(rules.MakePiece(them, rules.Advisor)).Count()
	attack := us.palace
	attack.add(p.eval.gathering[min(us.pressing, len(p.eval.gathering)-1)])
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
				attack.add(p.eval.hollowCannon)
			case 2:
				attack.add(p.eval.centralCannon)
			}
		}
		if at.Rank() == home && king.Rank() == home && (at.File() < 3 || at.File() > 5) {
			attack.add(p.eval.bottomCannon)
		}
	}
	scale := exposed[min(advisers, 2)]
	us.score.add(weight{attack.mg * scale / 16, attack.eg * scale / 16})
	if advisers >= 2 {
		us.score.add(p.eval.cannonAgainstFullGuard.times(cannons.Count()))
	} else {
		us.score.add(p.eval.rookAgainstBareKing.times(b.Of(rules.MakePiece(c, rules.Rook)).Count() * (2 - advisers)))
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
			loss.add(p.eval.threatened[k].times(set.And(danger).Count()))
		}
		if set.Meets(us.attacks) {
			us.score.add(p.eval.guarded[k].times(set.And(us.attacks).Count()))
		}
	}
	scale := int32(threatToSuffer)
	if b.Side() == c {
		scale = threatToMove
	}
	us.score.sub(weight{loss.mg * scale / 16, loss.eg * scale / 16})
}
