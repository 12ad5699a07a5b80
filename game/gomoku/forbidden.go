package gomoku

import (
	"iter"

	"sparring/game"
)

// verdict is the ruling of Renju on a black stone on an empty point.
type verdict uint8

const (
	allowed verdict = iota
	makesFive
	doubleThree
	doubleFour
	overline
)

func (v verdict) forbidden() bool { return v >= doubleThree }

var verdictKind = map[verdict]game.ForbiddenKind{
	doubleThree: game.DoubleThree,
	doubleFour:  game.DoubleFour,
	overline:    game.Overline,
}

// verdict rules on a black stone on the empty point p, by the rules of the Renju
// International Federation ("The International Rules of Renju", 1996): five wins
// in any case; six or more in a row, two fours, or two threes are forbidden. A
// three counts only if one more stone can make it a straight four without making
// five, an overline, two fours, or two threes that count. Hence the recursion,
// with one more stone at each step.
func (b *Board) verdict(p Point) verdict {
	sum := b.tally(p)
	switch {
	case sum&tallyFive != 0:
		return makesFive
	case sum&tallySix != 0:
		return overline
	case sum&tallyFours > 1:
		return doubleFour
	case sum&tallyThrees < 2*tallyThree:
		return allowed
	}
	return b.threes(p)
}

// threes counts the threes of a stone at p that count.
func (b *Board) threes(p Point) verdict {
	var shapes [Directions]Shape
	for d := range shapes {
		shapes[d] = exactFive.Shape(b.Window(p, Direction(d)), Black)
	}
	count := 0
	b.Put(p, Black)
	for d, s := range shapes {
		if s.Kind.IsOpenThree() && b.extends(s, p, Direction(d)) {
			count++
		}
	}
	b.Remove(p, Black)
	if count > 1 {
		return doubleThree
	}
	return allowed
}

// A tally adds up what four directions make: the number of fours, of threes,
// of overlines and of fives, four bits each.
const (
	tallyFours  = 0x000f
	tallyThrees = 0x00f0
	tallyThree  = 0x0010
	tallySix    = 0x0f00
	tallyFive   = 0xf000
)

// tallies has the tally of every shape, by classes, as Table.shapes has the
// shapes. It is the inner loop of the forbidden-point map.
var tallies = func() (t [1 << (2 * classBits)]uint16) {
	weights := [Kinds]uint16{Four: 1, StraightFour: 1, DoubleFour: 2, OpenThree: tallyThree, OpenThree2: tallyThree, Overline: 0x100, FiveRow: 0x1000}
	for i, s := range exactFive.shapes {
		t[i] = weights[s.Kind]
	}
	return t
}()

func (b *Board) tally(p Point) (sum uint16) {
	for d := range Direction(Directions) {
		sum += tallies[exactFive.index(b.Window(p, d), Black)]
	}
	return sum
}

// extends reports whether one of the straight fours that a three can become is
// allowed. The stone at p is on the board.
func (b *Board) extends(three Shape, p Point, d Direction) bool {
	for q := range three.Points(b, p, d) {
		if b.verdict(q) == allowed {
			return true
		}
	}
	return false
}

var exactFive = TableOf(ExactFive)

// Forbidden reports whether a black stone on the empty point p is forbidden in
// Renju. It changes the board while it works and restores it.
func (b *Board) Forbidden(p Point) bool { return b.verdict(p).forbidden() }

// ForbiddenSet returns the set of points forbidden to Black, bit p&63 of word p>>6
// for point p.
func (b *Board) ForbiddenSet() (set [(MaxPoints + 63) / 64]uint64) {
	sums := b.tallyAll()
	for p, sum := range sums[:b.Points] {
		// At most one four and one three, no more: not forbidden.
		if sum&^(1|tallyThree) == 0 {
			continue
		}
		if at := Point(p); b.Empty(at) && b.verdict(at).forbidden() {
			set[p>>6] |= 1 << (p & 63)
		}
	}
	return set
}

// tallyAll returns the tally of every point. It goes along the lines instead of
// around the points, so that each line is read once and lines with fewer than two
// black stones, which contribute nothing, are skipped.
func (b *Board) tallyAll() (sums [MaxPoints]uint16) {
	const low = 0x5555555555555555 // the low bits of all cells
	for d := range b.lines {
		step := Point(b.step[d])
		for _, r := range b.runs[d] {
			line, shift := b.LineThrough(r.first, Direction(d))
			blacks := line &^ (line >> 1) & low
			if blacks&(blacks-1) == 0 {
				continue
			}
			line >>= (shift - 2*reach) & 63
			p := r.first
			for range r.points {
				sums[p] += tallies[exactFive.index(uint32(line), Black)]
				line >>= 2
				p += step
			}
		}
	}
	return sums
}

var _ game.Forbidder = (*Position)(nil)

// Forbidden lists the points forbidden to the seat to act, in the order of
// their numbers.
func (p *Position) Forbidden() []game.ForbiddenPoint {
	var list []game.ForbiddenPoint
	for at, v := range p.forbidden() {
		list = append(list, game.ForbiddenPoint{Point: p.board.PointText(at), Kind: verdictKind[v]})
	}
	return list
}

func (p *Position) forbidden() iter.Seq2[Point, verdict] {
	return func(yield func(Point, verdict) bool) {
		if p.outcome.Over() || !p.set.Forbids(p.toMove) {
			return
		}
		for at := range Point(p.board.Points) {
			if !p.board.Empty(at) {
				continue
			}
			if v := p.board.verdict(at); v.forbidden() && !yield(at, v) {
				return
			}
		}
	}
}
