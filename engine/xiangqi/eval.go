package xiangqi

import (
	"math/bits"

	"sparring/engine/search"
	rules "sparring/game/xiangqi"
)

// evaluation holds the weights as the evaluation uses them, with tables computed
// from them.
type evaluation struct {
	weights
	// psqt is the value of a piece on a square: material and square table, from
	// Red's side, so Black's pieces are negative.
	psqt [rules.Pieces][256]weight
	// pairTable scores the pairs among a side's pieces; siegeTable scores its
	// attackers against the enemy's guards, that is advisors and elephants.
	pairTable  [materialCount]weight
	siegeTable [materialCount / guardCount][guardCount]weight
}

func (w weights) compile() *evaluation {
	e := &evaluation{weights: w}
	for k := rules.King; k <= rules.Pawn; k++ {
		for s := range rules.Square(rules.Squares) {
			row, col := halfSquare(s)
			sum := w.squares[k][row][col]
			sum.add(w.material[k])
			e.psqt[rules.MakePiece(rules.Red, k)][s] = sum
			e.psqt[rules.MakePiece(rules.Black, k)][s.Flip()] = weight{-sum.mg, -sum.eg}
		}
	}
	for m := range materialIndex(materialCount) {
		e.pairTable[m] = w.pairs(m)
	}
	for attackers := range e.siegeTable {
		for guards := range e.siegeTable[attackers] {
			e.siegeTable[attackers][guards] = w.attackOnGuards(materialIndex(attackers*guardCount), materialIndex(guards))
		}
	}
	return e
}

// pairs scores the pairs of a side's pieces.
func (w *weights) pairs(m materialIndex) (sum weight) {
	for k := rules.Advisor; k <= rules.Pawn; k++ {
		n := m.count(k)
		sum.add(w.together[k][k].times(n * (n - 1) / 2))
		for other := k + 1; other <= rules.Pawn; other++ {
			sum.add(w.together[k][other].times(n * m.count(other)))
		}
	}
	return sum
}

// attackOnGuards scores attackers against the enemy's guards.
func (w *weights) attackOnGuards(attackers, guards materialIndex) (sum weight) {
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

// imbalance scores combinations of material: pairs of a side's pieces, and its
// attackers against the guards that the enemy has left.
func (e *evaluation) imbalance(us, them materialIndex) weight {
	sum := e.pairTable[us]
	sum.add(e.siegeTable[us/guardCount][them%guardCount])
	return sum
}

// halfSquare returns the indices of Red's square s in a halfTable.
func halfSquare(s rules.Square) (row, col int) {
	return rules.Ranks - 1 - int(s.Rank()), min(int(s.File()), rules.Files-1-int(s.File()))
}

// materialIndex encodes how many pieces of each kind a side has, without its
// king: each kind is a digit with radix materialRadix and place value
// materialStep. The guards (advisors and elephants) are the lowest four bits. The
// rules refuse positions with more pieces.
type materialIndex int32

var (
	materialRadix = [rules.Kinds]materialIndex{rules.Advisor: 4, rules.Elephant: 4, rules.Horse: 3, rules.Rook: 3, rules.Cannon: 3, rules.Pawn: 6}
	materialStep  = [rules.Kinds]materialIndex{
		rules.Advisor: 1, rules.Elephant: 4, rules.Horse: guardCount,
		rules.Rook: guardCount * 3, rules.Cannon: guardCount * 3 * 3, rules.Pawn: guardCount * 3 * 3 * 3,
	}
)

// guardCount and materialCount are the numbers of indices for guards alone and for
// all pieces.
const (
	guardCount    = 4 * 4
	materialCount = guardCount * 3 * 3 * 3 * 6
)

func (m materialIndex) count(k rules.Kind) int { return int(m / materialStep[k] % materialRadix[k]) }

// advisors is a faster count(Advisor).
func (m materialIndex) advisors() int { return int(m & 3) }

// accumulator is the incremental part of the evaluation: e1 and e2 from Red's
// side, the phase, and the material of each colour.
type accumulator struct {
	weight
	phase    int32
	material [2]materialIndex
}

// middlegame returns the weight of the middle game in the phase, from 0 to phaseFull.
func (s *accumulator) middlegame() int32 { return min(s.phase, phaseFull) }

func (s *accumulator) put(e *evaluation, p rules.Piece, at rules.Square) {
	s.add(e.psqt[p&15][at])
	s.phase += phaseOf[p.Kind()]
	s.material[p.Colour()&1] += materialStep[p.Kind()]
}

func (s *accumulator) take(e *evaluation, p rules.Piece, at rules.Square) {
	s.sub(e.psqt[p&15][at])
	s.phase -= phaseOf[p.Kind()]
	s.material[p.Colour()&1] -= materialStep[p.Kind()]
}

func (s *accumulator) move(e *evaluation, p rules.Piece, from, to rules.Square) {
	s.sub(e.psqt[p&15][from])
	s.add(e.psqt[p&15][to])
}

// accumulate computes the accumulator of a board from scratch.
func (e *evaluation) accumulate(b *rules.Board) (s accumulator) {
	for all := b.Occupied(); all.Any(); all = all.Rest() {
		s.put(e, b.At(all.First()), all.First())
	}
	return s
}

// sideInfo is what the evaluation collects for one side.
type sideInfo struct {
	score           weight
	attacks         rules.Bits // by any piece, including defended own pieces
	byPawn          rules.Bits
	byMinor         rules.Bits    // by pawns, horses, cannons, advisors and elephants
	palaceAttack    weight        // attack on the enemy's palace
	palaceAttackers int           // pieces that attack it
	reach           [3]rules.Bits // squares that horses, rooks and cannons may move to, in this order
}

// Eval returns the static evaluation. Its terms began as the five of paper 003,
// section 5, and the relations between pieces of paper 004, section 3.6; both
// are kept as the papers have them in evalxu2006.go and evalrelations.go.
func (p *position) Eval() search.Score { return p.bounded(p.static()) }

// bounded limits an evaluation to the kernel's range and scales it down where
// endgame tables know that neither side can win by force.
func (p *position) bounded(eval int32) search.Score {
	return p.tempered(max(-search.MaxEval, min(search.MaxEval, search.Score(eval))))
}

// static returns the evaluation before bounds. Except for rounding it is linear in
// the weights.
func (p *position) static() int32 {
	total, middle := p.phaseScores(), p.accumulator().middlegame()
	return (total.mg*middle + total.eg*(phaseFull-middle)) / phaseFull
}

// phaseScores returns the evaluation for the middle game and the endgame. A weight
// counts equally often in both.
func (p *position) phaseScores() weight {
	var red, black sideInfo
	p.pieces(rules.Red, &red)
	p.pieces(rules.Black, &black)
	p.kingAttack(rules.Red, &red, &black)
	p.kingAttack(rules.Black, &black, &red)
	p.threats(rules.Red, &red, &black)
	p.threats(rules.Black, &black, &red)
	at := p.accumulator()
	total := at.weight
	total.add(red.score)
	total.sub(black.score)
	total.add(p.eval.imbalance(at.material[rules.Red], at.material[rules.Black]))
	total.sub(p.eval.imbalance(at.material[rules.Black], at.material[rules.Red]))
	if p.board.Side() == rules.Black {
		total = weight{-total.mg, -total.eg}
	}
	total.add(p.eval.tempo)
	return total
}

// pieces adds e3 (mobility) and e4 (cooperation) of c's pieces, and collects the
// attacks that later terms need.
func (p *position) pieces(c rules.Colour, us *sideInfo) {
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
				us.palaceAttackers++
			}
		}
		us.score.add(p.eval.linked[k].times(joined))
		us.palaceAttack.add(p.eval.palaceAttack[k].times(inPalace))
		us.attacks = us.attacks.Or(all)
		us.reach[k-rules.Horse] = reach
		if k != rules.Rook {
			us.byMinor = us.byMinor.Or(all)
		}
	}
	p.pawns(c, us)
	p.files(c, us)
}

// guards does this for king, advisors and elephants.
func (p *position) guards(c rules.Colour, us *sideInfo) {
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

// Squares of one half of the board, as one word of a rules.Bits.
const (
	aFile        = 1 | 1<<9 | 1<<18 | 1<<27 | 1<<36
	middleFile   = aFile << 4
	wingA        = aFile * 0b1111      // the files a to d
	wingI        = aFile * 0b1111 << 5 // the files f to i
	besidePalace = aFile * 0b111_000_111
	notLastFile  = aFile * 0b0_1111_1111 // squares with a right neighbour
)

// lastRank is the last rank for a side's pawns, in the enemy's half.
var lastRank = [2]uint64{rules.Red: 0x1ff << 36, rules.Black: 0x1ff}

// beyond returns the half of a set beyond the river, from c's side.
func beyond(c rules.Colour, set rules.Bits) uint64 {
	if c == rules.Red {
		return set.Hi
	}
	return set.Lo
}

// pawns does the same for pawns.
func (p *position) pawns(c rules.Colour, us *sideInfo) {
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
			us.palaceAttackers++
		}
	}
	us.palaceAttack.add(p.eval.palaceAttack[rules.Pawn].times(inPalace))
	us.attacks, us.byMinor = us.attacks.Or(us.byPawn), us.byMinor.Or(us.byPawn)
	if crossed := beyond(c, pawns); crossed != 0 {
		us.score.add(p.eval.pawnsHandInHand.times(bits.OnesCount64(crossed & (crossed >> 1) & notLastFile)))
		advisors := p.accumulator().material[c.Other()].advisors()
		us.score.add(p.eval.crossed[advisors][bits.OnesCount64(crossed&^lastRank[c])])
	}
}

// files scores rooks on open and half-open files, and the number of pieces on
// each wing beyond the river.
func (p *position) files(c rules.Colour, us *sideInfo) {
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

// filesOf returns all squares of the files that have a member in the set.
func filesOf(set rules.Bits) rules.Bits {
	w := set.Lo | set.Hi
	w = (w | w>>9 | w>>18 | w>>27 | w>>36) & 0x1ff * aFile
	return rules.Bits{Lo: w, Hi: w}
}

// kingAttack adds e5 (king safety) for c's attack on the enemy's king.
func (p *position) kingAttack(c rules.Colour, us, them *sideInfo) {
	b := p.board
	enemy := c.Other()
	king := b.King(enemy)
	occupied := b.Occupied()
	attack := us.palaceAttack
	attack.add(p.eval.gathering[min(us.palaceAttackers, len(p.eval.gathering)-1)])
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
	scale := missingAdvisors[p.accumulator().material[enemy].advisors()]
	us.score.add(weight{attack.mg * scale / 16, attack.eg * scale / 16})
	if king == throne[enemy] && b.At(centre[enemy]) == rules.MakePiece(enemy, rules.Horse) &&
		cannons.Meets(rules.Bits{Lo: middleFile, Hi: middleFile}) {
		us.score.add(p.eval.smothered)
	}
	p.safeChecks(c, us, them)
}

// throne is a king's initial square, centre the centre of its palace.
var (
	throne = [2]rules.Square{rules.MakeSquare(4, 0), rules.MakeSquare(4, 9)}
	centre = [2]rules.Square{rules.MakeSquare(4, 1), rules.MakeSquare(4, 8)}
)

// safeChecks is the part of e5 that depends on the squares around the king.
func (p *position) safeChecks(c rules.Colour, us, them *sideInfo) {
	b := p.board
	enemy := c.Other()
	king := b.King(enemy)
	rook, cannon := rules.LineAttacks(king, b.Occupied())
	from := [3]rules.Bits{rules.HorseSources(king, b.Occupied()), rook, cannon}
	for i, reach := range us.reach {
		if safe := from[i].And(reach).Without(them.attacks); safe.Any() {
			us.score.add(p.eval.safeCheck[rules.Horse+rules.Kind(i)].times(min(safe.Count(), maxChecks)))
		}
	}
	them.score.add(p.eval.room[rules.KingAttacks(king).Without(b.All(enemy)).Without(us.attacks).Count()])
}

// threats adds the relations of paper 004, section 3.6, for c's pieces.
func (p *position) threats(c rules.Colour, us, them *sideInfo) {
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
	scale := int32(threatEnemyMove)
	if b.Side() == c {
		scale = threatOwnMove
	}
	us.score.sub(weight{loss.mg * scale / 16, loss.eg * scale / 16})
}
