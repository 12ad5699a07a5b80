package amazons

import (
	"math/bits"

	rules "sparring/game/amazons"

	"sparring/engine/amazons/areas"
	"sparring/game"
)

// The learnt evaluation counts, and gives each count a weight that depends on
// the stage of the game:
//
//   - the free squares by how many queen moves the side to move needs to get
//     there and how many the other side needs, and the same for king steps: all
//     four territory terms of formula (1) are functions of these two pairs;
//   - the amazons by their number of queen moves, and each side's least mobile
//     one again, which are the two parts of formula (5);
//   - the amazons by their number of free neighbours;
//   - the amazons that have an area of their own, and the squares of small ones that
//     they can't fill.
//
// With the right weights it is formula (1), from which learning starts.

// The classes of distances: 1 to 5 moves are the classes 0 to 4.
const (
	more      = 5 // and reachable
	unreached = 6
	classes   = 7
)

// moveKnots are the numbers of queen moves for which an amazon has a weight of its
// own. Between two of them it is interpolated, so that a weight for each move, as in
// formula (5), is a special case.
var moveKnots = [...]int{0, 1, 2, 4, 7, 11, 16, 24}

const (
	maxMoves     = 64 // more than an amazon has on any board, and a power of two
	maxLiberties = 8
	maxAlone     = 4 // amazons in areas of their own; more count as this many
)

// evalTable has the weights for one number of arrows by what is looked up, in units of
// 1/evalUnit of a hundredth of a square. In arrays of two the side to move comes first.
type evalTable struct {
	queen, king  pairs
	moves, least [2][maxMoves]int32 // by the number of queen moves
	liberties    [2][maxLiberties + 1]int32
	alone        [2][maxAlone + 1]int32
	defect       [2]int32
	tempo        int32
}

// pairs has a weight for each pair of distance classes: the side to move's first, then
// the other side's.
type pairs [classes][classes]int32

// fronts64 has the free squares of each distance class, for the side to move and the
// other side, on a board of one word.
type fronts64 [2][classes]uint64

// fronts128 is fronts64 for boards of two words.
type fronts128 [2][classes]rules.Bits

// learntValue is the learnt evaluation from White's side, in hundredths of a square.
func learntValue(p *position) int {
	b, f, t := &p.board, p.currentFrame(), p.tables[p.arrows()]
	turn, free := b.Turn(), b.Free()
	amazons := [2]rules.Bits{b.Amazons(turn), b.Amazons(turn.Other())}
	reach := [2]rules.Bits{f.reach[turn], f.reach[turn.Other()]}
	v := t.tempo
	var regions [2]rules.Bits
	if p.geo.oneWord {
		var king, queen fronts64
		regions[0].Lo, regions[1].Lo = kingFronts64(&p.geo.slides, free.Lo, amazons[0].Lo, amazons[1].Lo, &king)
		queenFronts64(&p.geo.slides, free.Lo, reach[0].Lo, reach[1].Lo, regions, &queen)
		v += sum64(&t.king, &king) + sum64(&t.queen, &queen)
	} else {
		var king, queen fronts128
		regions[0], regions[1] = kingFronts128(&p.geo.slides, free, amazons[0], amazons[1], &king)
		queenFronts128(&p.geo.slides, free, reach[0], reach[1], regions, &queen)
		v += sum128(&t.king, &king) + sum128(&t.queen, &queen)
	}
	for side, own := range amazons {
		alone := p.geo.alone(own, regions[side^1])
		v += t.alone[side][min(alone.Count(), maxAlone)] + t.defect[side]*p.defects(alone)
		least := uint8(maxMoves - 1)
		for !own.Empty() {
			at := own.Pop()
			n := f.moves[at] % maxMoves
			least = min(least, n)
			v += t.moves[side][n] + t.liberties[side][p.geo.near[at].And(free).Count()]
		}
		v += t.least[side][least]
	}
	v >>= evalUnitBits
	if turn == game.Second {
		v = -v
	}
	return int(v)
}

// alone returns those of a side's amazons that are not next to the other side's region,
// which is all that it can come to.
func (g *geometry) alone(amazons, region rules.Bits) rules.Bits {
	if g.oneWord {
		return rules.Bits{Lo: amazons.Lo &^ g.slides.king64(region.Lo)}
	}
	return amazons.AndNot(g.slides.king128(region))
}

// defects returns how many squares the amazons that have a small area each cannot fill,
// which other amazons could.
func (p *position) defects(alone rules.Bits) (n int32) {
	b := &p.board
	amazons := b.Amazons(game.First).Or(b.Amazons(game.Second))
	for !alone.Empty() {
		at := alone.Pop()
		area := p.geo.smallPart(at, b.Free().Or(amazons))
		if area.Count() > areas.SmallSquares || area.And(amazons) != rules.Bit(at) {
			continue
		}
		if p.defective == nil {
			p.defective = new(defectCache)
		}
		e := p.defective.slot(area, at)
		if e.area != area || e.amazon != at {
			free := area.AndNot(amazons)
			filling, _ := areas.Small().Filling(p.geo.cols, at, free)
			*e = areaDefect{area, at, int32(free.Count() - filling)}
		}
		n += e.defect
	}
	return n
}

// areaDefect is the defect of an area, amazon included.
type areaDefect struct {
	area   rules.Bits
	amazon rules.Square
	defect int32
}

// defectCache remembers defects: most moves leave most areas as they are.
type defectCache [1 << 10]areaDefect

// slot returns the place of an area.
func (c *defectCache) slot(area rules.Bits, amazon rules.Square) *areaDefect {
	const odd = 0x9e3779b97f4a7c15
	return &c[((area.Lo^area.Hi*odd)*odd+uint64(amazon)*odd)>>54]
}

// smallPart returns the part of the open squares that king steps connect with one of
// them, or more squares than areas.SmallSquares of a larger part.
func (g *geometry) smallPart(from rules.Square, open rules.Bits) rules.Bits {
	part := rules.Bit(from)
	for fresh := part; !fresh.Empty() && part.Count() <= areas.SmallSquares; {
		next := g.near[fresh.Pop()].And(open).AndNot(part)
		part, fresh = part.Or(next), fresh.Or(next)
	}
	return part
}

// The distance classes come in two versions, for boards of one word and of two, which
// are the same but for the type.

// kingFronts64 finds the classes of king distances and returns each side's region: all
// that it can come to, which for queens is the same. F is empty before.
func kingFronts64(s *slides, free, own, other uint64, f *fronts64) (ownRegion, otherRegion uint64) {
	for d := 0; ; d++ {
		own, other = s.king64(own)&free&^ownRegion, s.king64(other)&free&^otherRegion
		if own|other == 0 {
			f[0][unreached], f[1][unreached] = otherRegion&^ownRegion, ownRegion&^otherRegion
			return ownRegion, otherRegion
		}
		class := min(d, more)
		f[0][class] |= own
		f[1][class] |= other
		ownRegion, otherRegion = ownRegion|own, otherRegion|other
	}
}

// kingFronts128 is kingFronts64 for boards of two words.
func kingFronts128(s *slides, free, own, other rules.Bits, f *fronts128) (ownRegion, otherRegion rules.Bits) {
	for d := 0; ; d++ {
		own, other = s.king128(own).And(free).AndNot(ownRegion), s.king128(other).And(free).AndNot(otherRegion)
		if own.Or(other).Empty() {
			f[0][unreached], f[1][unreached] = otherRegion.AndNot(ownRegion), ownRegion.AndNot(otherRegion)
			return ownRegion, otherRegion
		}
		class := min(d, more)
		f[0][class] = f[0][class].Or(own)
		f[1][class] = f[1][class].Or(other)
		ownRegion, otherRegion = ownRegion.Or(own), otherRegion.Or(other)
	}
}

// queenFronts64 finds the classes of queen distances. Own and other are the squares
// that each side reaches in one move.
func queenFronts64(s *slides, free, own, other uint64, regions [2]rules.Bits, f *fronts64) {
	ownRegion, otherRegion := regions[0].Lo, regions[1].Lo
	f[0][0], f[1][0] = own, other
	f[0][unreached], f[1][unreached] = otherRegion&^ownRegion, ownRegion&^otherRegion
	for d := 1; ; d++ {
		ownRegion, otherRegion = ownRegion&^own, otherRegion&^other
		if ownRegion|otherRegion == 0 {
			return
		}
		if d == more {
			f[0][more], f[1][more] = ownRegion, otherRegion
			return
		}
		own, other = fill64(s, free, own, other)
		own, other = own&ownRegion, other&otherRegion
		f[0][d], f[1][d] = own, other
	}
}

// queenFronts128 is queenFronts64 for boards of two words.
func queenFronts128(s *slides, free, own, other rules.Bits, regions [2]rules.Bits, f *fronts128) {
	ownRegion, otherRegion := regions[0], regions[1]
	f[0][0], f[1][0] = own, other
	f[0][unreached], f[1][unreached] = otherRegion.AndNot(ownRegion), ownRegion.AndNot(otherRegion)
	for d := 1; ; d++ {
		ownRegion, otherRegion = ownRegion.AndNot(own), otherRegion.AndNot(other)
		if ownRegion.Or(otherRegion).Empty() {
			return
		}
		if d == more {
			f[0][more], f[1][more] = ownRegion, otherRegion
			return
		}
		own, other = fill128(s, free, own, other)
		own, other = own.And(ownRegion), other.And(otherRegion)
		f[0][d], f[1][d] = own, other
	}
}

// sum64 returns the sum of the weights of all squares.
func sum64(w *pairs, f *fronts64) (sum int32) {
	for i, own := range f[0] {
		if own == 0 {
			continue
		}
		for j, other := range f[1] {
			sum += w[i][j] * int32(bits.OnesCount64(own&other))
		}
	}
	return sum
}

// sum128 is sum64 for boards of two words.
func sum128(w *pairs, f *fronts128) (sum int32) {
	for i, own := range f[0] {
		if own.Empty() {
			continue
		}
		for j, other := range f[1] {
			sum += w[i][j] * int32(own.And(other).Count())
		}
	}
	return sum
}
