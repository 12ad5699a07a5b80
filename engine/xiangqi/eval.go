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
	// beside is what a side's men are worth for being together; opposed is what
	// its attackers are worth by the enemy's guards.
	beside  [allMen]weight
	opposed [allMen / allGuards][allGuards]weight
}

func (w weights) compile() *evaluation {
	e := &evaluation{weights: w}
	for k := rules.King; k <= rules.Pawn; k++ {
		for s := range rules.Square(rules.Squares) {
			row, col := halfSquare(s)
			sum := w.squares[k][row][col]
			sum.add(w.material[k])
			e.placed[rules.MakePiece(rules.Red, k)][s] = sum
			e.placed[rules.MakePiece(rules.Black, k)][s.Flip()] = weight{-sum.mg, -sum.eg}
		}
	}
	for m := range men(allMen) {
		e.beside[m] = w.pairs(m)
	}
	for attackers := range e.opposed {
		for guards := range e.opposed[attackers] {
			e.opposed[attackers][guards] = w.siege(men(attackers*allGuards), men(guards))
		}
	}
	return e
}

// pairs is what the pairs of a side's pieces are worth.
func (w *weights) pairs(m men) (sum weight) {
	for k := rules.Advisor; k <= rules.Pawn; k++ {
		n := m.count(k)
		sum.add(w.together[k][k].times(n * (n - 1) / 2))
		for other := k + 1; other <= rules.Pawn; other++ {
			sum.add(w.together[k][other].times(n * m.count(other)))
		}
	}
	return sum
}

// siege is what attackers are worth by the enemy's guards.
func (w *weights) siege(attackers, guards men) (sum weight) {
	for k := rules.Horse; k <= rules.Pawn; k++ {
		for guard := rules.Advisor; guard <= rules.Elephant; guard++ {
			sum.add(w.against[k][guard].times(attackers.count(k) * (2 - guards.count(guard))))
		}
	}
	if guards.count(rules.Advisor) == 2 {
		sum.add(w.cannonAgainstFullGuard.times(attackers.count(rules.Cannon)))
	}
	return sum
}

// company is what a side's men are worth beyond their material: for being
// together, and for what the enemy's guard lacks.
func (e *evaluation) company(us, them men) weight {
	sum := e.beside[us]
	sum.add(e.opposed[us/allGuards][them%allGuards])
	return sum
}

// halfSquare is where a half table has a square of Red's.
func halfSquare(s rules.Square) (row, col int) {
	return rules.Ranks - 1 - int(s.Rank()), min(int(s.File()), rules.Files-1-int(s.File()))
}

// men is how many pieces of each kind a side has, its king aside, as one index:
// menRadix numbers for each kind, in steps of menStep. The guards, advisers and
// elephants, are the lowest four bits. The rules set up no position with more.
type men int32

var (
	menRadix = [rules.Kinds]men{rules.Advisor: 4, rules.Elephant: 4, rules.Horse: 3, rules.Rook: 3, rules.Cannon: 3, rules.Pawn: 6}
	menStep  = [rules.Kinds]men{
		rules.Advisor: 1, rules.Elephant: 4, rules.Horse: allGuards,
		rules.Rook: allGuards * 3, rules.Cannon: allGuards * 3 * 3, rules.Pawn: allGuards * 3 * 3 * 3,
	}
)

// allGuards and allMen are how many indices there are of guards and of men.
const (
	allGuards = 4 * 4
	allMen    = allGuards * 3 * 3 * 3 * 6
)

func (m men) count(k rules.Kind) int { return int(m / menStep[k] % menRadix[k]) }

// advisers is count(Advisor), fast.
func (m men) advisers() int { return int(m & 3) }

// sums is the incremental part of the evaluation: e1 and e2 from Red's side,
// the phase, and the men by colour.
type sums struct {
	weight
	phase int32
	men   [2]men
}

// middle is how much there is of a middle game, of phaseFull.
func (s *sums) middle() int32 { return min(s.phase, phaseFull) }

func (s *sums) put(e *evaluation, p rules.Piece, at rules.Square) {
	s.add(e.placed[p&15][at])
	s.phase += phaseOf[p.Kind()]
	s.men[p.Color()&1] += menStep[p.Kind()]
}

func (s *sums) take(e *evaluation, p rules.Piece, at rules.Square) {
	s.sub(e.placed[p&15][at])
	s.phase -= phaseOf[p.Kind()]
	s.men[p.Color()&1] -= menStep[p.Kind()]
}

func (s *sums) move(e *evaluation, p rules.Piece, from, to rules.Square) {
	s.sub(e.placed[p&15][from])
	s.add(e.placed[p&15][to])
}

// sums adds up a whole board.
func (e *evaluation) sums(b *rules.Board) (s sums) {
	for all := b.Occupied(); all.Any(); all = all.Rest() {
		s.put(e, b.At(all.First()), all.First())
	}
	return s
}

// side is what the evaluation gathers of one side.
type side struct {
	score    weight
	attacks  rules.Bits // by any piece, own pieces defended included
	byPawn   rules.Bits
	byMinor  rules.Bits    // by pawns, horses, cannons, advisers and elephants
	palace   weight        // attack on the enemy's palace
	pressing int           // pieces that take part in it
	reach    [3]rules.Bits // where horses, rooks and cannons may move, in this order
}

// Eval is the static evaluation: the five terms of paper 003 section 5, and
// the relations between pieces of paper 004 section 3.6.
func (p *position) Eval() search.Score { return p.bounded(p.worth()) }

// bounded is an evaluation as the kernel gets it.
func (p *position) bounded(eval int32) search.Score {
	return p.tempered(max(-search.MaxEval, min(search.MaxEval, search.Score(eval))))
}

// worth is the evaluation without bounds: linear in the weights, but for
// rounding.
func (p *position) worth() int32 {
	total, middle := p.balance(), p.at().middle()
	return (total.mg*middle + total.eg*(phaseFull-middle)) / phaseFull
}

// balance is the evaluation of both phases. A weight counts in one as often as
// in the other.
func (p *position) balance() weight {
	var red, black side
	p.activity(rules.Red, &red)
	p.activity(rules.Black, &black)
	p.kingAttack(rules.Red, &red, &black)
	p.kingAttack(rules.Black, &black, &red)
	p.relations(rules.Red, &red, &black)
	p.relations(rules.Black, &black, &red)
	at := p.at()
	total := at.weight
	total.add(red.score)
	total.sub(black.score)
	total.add(p.eval.company(at.men[rules.Red], at.men[rules.Black]))
	total.sub(p.eval.company(at.men[rules.Black], at.men[rules.Red]))
	if p.board.Side() == rules.Black {
		total = weight{-total.mg, -total.eg}
	}
	total.add(p.eval.tempo)
	return total
}

// activity is e3, and what the later terms need of the attacks. While it has
// the attacks at hand it also adds e4.
func (p *position) activity(c rules.Color, us *side) {
	p.guards(c, us)
	b := p.board
	occupied, own, palace := b.Occupied(), b.All(c), rules.Palace(c.Other())
	for k := rules.Horse; k <= rules.Cannon; k++ {
		set := b.Of(rules.MakePiece(c, k))
		var all, reach rules.Bits
		joined, inPalace := 0, 0
		for s := set; s.Any(); s = s.Rest() {
			var attacks, moves rules.Bits
			switch k {
			case rules.Horse:
				attacks = rules.HorseAttacks(s.First(), occupied)
				moves = attacks.Without(own)
			case rules.Rook:
				attacks = rules.RookAttacks(s.First(), occupied)
				moves = attacks.Without(own)
			default:
				moves, attacks = rules.LineAttacks(s.First(), occupied)
				moves = moves.Without(occupied).Or(attacks.And(occupied).Without(own))
			}
			us.score.add(p.eval.mobility[k][moves.Count()])
			all, reach = all.Or(attacks), reach.Or(moves)
			if attacks.Meets(set) {
				joined++
			}
			if attacks.Meets(palace) {
				inPalace += attacks.And(palace).Count()
				us.pressing++
			}
		}
		us.score.add(p.eval.linked[k].times(joined))
		us.palace.add(p.eval.palaceAttack[k].times(inPalace))
		us.attacks = us.attacks.Or(all)
		us.reach[k-rules.Horse] = reach
		if k != rules.Rook {
			us.byMinor = us.byMinor.Or(all)
		}
	}
	p.pawns(c, us)
	p.files(c, us)
}

// guards is activity for king, advisers and elephants.
func (p *position) guards(c rules.Color, us *side) {
	b := p.board
	occupied, own := b.Occupied(), b.All(c)
	us.attacks = rules.KingAttacks(b.King(c))
	for s := b.Of(rules.MakePiece(c, rules.Advisor)); s.Any(); s = s.Rest() {
		attacks := rules.AdvisorAttacks(s.First())
		us.byMinor = us.byMinor.Or(attacks)
		us.score.add(p.eval.mobility[rules.Advisor][attacks.Without(own).Count()])
	}
	for s := b.Of(rules.MakePiece(c, rules.Elephant)); s.Any(); s = s.Rest() {
		attacks := rules.ElephantAttacks(s.First(), occupied)
		us.byMinor = us.byMinor.Or(attacks)
		us.score.add(p.eval.mobility[rules.Elephant][attacks.Without(own).Count()])
	}
	us.attacks = us.attacks.Or(us.byMinor)
}

// Squares of one half of the board, as one of the words of a set.
const (
	aFile        = 1 | 1<<9 | 1<<18 | 1<<27 | 1<<36
	middleFile   = aFile << 4
	wingA        = aFile * 0b1111      // the files a to d
	wingI        = aFile * 0b1111 << 5 // the files f to i
	besidePalace = aFile * 0b111_000_111
	notLastFile  = aFile * 0b0_1111_1111 // those that have a right neighbour
)

// lastRank is the last rank for a side's pawns, in the enemy's half.
var lastRank = [2]uint64{rules.Red: 0x1ff << 36, rules.Black: 0x1ff}

// beyond are the members of a set in the enemy's half.
func beyond(c rules.Color, set rules.Bits) uint64 {
	if c == rules.Red {
		return set.Hi
	}
	return set.Lo
}

// pawns is activity for pawns.
func (p *position) pawns(c rules.Color, us *side) {
	b := p.board
	own, palace := b.All(c), rules.Palace(c.Other())
	pawns := b.Of(rules.MakePiece(c, rules.Pawn))
	inPalace := 0
	for s := pawns; s.Any(); s = s.Rest() {
		attacks := rules.PawnAttacks(c, s.First())
		us.byPawn = us.byPawn.Or(attacks)
		us.score.add(p.eval.mobility[rules.Pawn][attacks.Without(own).Count()])
		if attacks.Meets(palace) {
			inPalace += attacks.And(palace).Count()
			us.pressing++
		}
	}
	us.palace.add(p.eval.palaceAttack[rules.Pawn].times(inPalace))
	us.attacks, us.byMinor = us.attacks.Or(us.byPawn), us.byMinor.Or(us.byPawn)
	if crossed := beyond(c, pawns); crossed != 0 {
		us.score.add(p.eval.pawnsHandInHand.times(bits.OnesCount64(crossed & (crossed >> 1) & notLastFile)))
		advisers := p.at().men[c.Other()].advisers()
		us.score.add(p.eval.crossed[advisers][bits.OnesCount64(crossed&^lastRank[c])])
	}
}

// files is activity by files: rooks where no pawns are, and how many pieces
// are on each wing beyond the river.
func (p *position) files(c rules.Color, us *side) {
	b := p.board
	horses, rooks, cannons := b.Of(rules.MakePiece(c, rules.Horse)), b.Of(rules.MakePiece(c, rules.Rook)), b.Of(rules.MakePiece(c, rules.Cannon))
	if rooks.Any() {
		own, enemy := filesOf(b.Of(rules.MakePiece(c, rules.Pawn))), filesOf(b.Of(rules.MakePiece(c.Other(), rules.Pawn)))
		us.score.add(p.eval.openFile.times(rooks.Without(own.Or(enemy)).Count()))
		us.score.add(p.eval.halfOpenFile.times(rooks.And(enemy).Without(own).Count()))
	}
	if strong := beyond(c, horses.Or(rooks).Or(cannons)); strong != 0 {
		most := len(p.eval.wing) - 1
		us.score.add(p.eval.wing[min(bits.OnesCount64(strong&wingA), most)])
		us.score.add(p.eval.wing[min(bits.OnesCount64(strong&wingI), most)])
	}
}

// filesOf are all squares of the files that have a member of the set.
func filesOf(set rules.Bits) rules.Bits {
	w := set.Lo | set.Hi
	w = (w | w>>9 | w>>18 | w>>27 | w>>36) & 0x1ff * aFile
	return rules.Bits{Lo: w, Hi: w}
}

// kingAttack is e5, as c attacks.
func (p *position) kingAttack(c rules.Color, us, them *side) {
	b := p.board
	enemy := c.Other()
	king := b.King(enemy)
	occupied := b.Occupied()
	attack := us.palace
	attack.add(p.eval.gathering[min(us.pressing, len(p.eval.gathering)-1)])
	cannons := b.Of(rules.MakePiece(c, rules.Cannon))
	file := uint64(aFile) << king.File()
	for s := cannons.And(rules.Bits{Lo: file, Hi: file}); s.Any(); s = s.Rest() {
		switch rules.Between(s.First(), king).And(occupied).Count() {
		case 0:
			attack.add(p.eval.hollowCannon)
		case 2:
			attack.add(p.eval.centralCannon)
		}
	}
	if bottom := beyond(c, cannons) & lastRank[c] & besidePalace; bottom != 0 && king.Rank() == throne[enemy].Rank() {
		attack.add(p.eval.bottomCannon.times(bits.OnesCount64(bottom)))
	}
	scale := exposed[p.at().men[enemy].advisers()]
	us.score.add(weight{attack.mg * scale / 16, attack.eg * scale / 16})
	if king == throne[enemy] && b.At(centre[enemy]) == rules.MakePiece(enemy, rules.Horse) &&
		cannons.Meets(rules.Bits{Lo: middleFile, Hi: middleFile}) {
		us.score.add(p.eval.smothered)
	}
	p.checks(c, us, them)
}

// throne and centre are where a king is at home, and the point before it.
var (
	throne = [2]rules.Square{rules.MakeSquare(4, 0), rules.MakeSquare(4, 9)}
	centre = [2]rules.Square{rules.MakeSquare(4, 1), rules.MakeSquare(4, 8)}
)

// checks is the part of e5 that hangs on the squares around the king.
func (p *position) checks(c rules.Color, us, them *side) {
	b := p.board
	enemy := c.Other()
	king := b.King(enemy)
	rook, cannon := rules.LineAttacks(king, b.Occupied())
	from := [3]rules.Bits{rules.HorseSources(king, b.Occupied()), rook, cannon}
	for i, reach := range us.reach {
		if safe := from[i].And(reach).Without(them.attacks); safe.Any() {
			us.score.add(p.eval.safeCheck[rules.Horse+rules.Kind(i)].times(min(safe.Count(), mostChecks)))
		}
	}
	them.score.add(p.eval.room[rules.KingAttacks(king).Without(b.All(enemy)).Without(us.attacks).Count()])
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
