package amazons

import (
	rules "sparring/game/amazons"

	"sparring/game"
)

// The evaluation with weights by progress that the paper compares its own with
// (section 2.2 and tables 2 to 4): Jens Lieberum, "An evaluation function for
// the game of amazons", Theoretical Computer Science 349(2), 2005.
//
// The five terms are those of formula (1), with the older mobility of section
// 3.3. Their weights are functions of w, a number for how much of the board is
// still open to both sides: the sum, over the squares that both sides reach, of
// 2 to the power of -|D1-D2|, where D1 and D2 are the sides' queen distances.
// Neither text prints the functions. Those here are the simplest with the
// properties that Lieberum asks for, and are known from courses on the game:
// queen territory has all the weight once w is 0, and 1 - w/100 before; the
// other terms share the rest equally.

// progressUnit is the number of units in 1 of w.
const progressUnit = 1 << 10

// lieberumValue is the evaluation from White's side, in hundredths of a square.
func lieberumValue(p *position) int {
	t := p.terms()
	g, free := &p.geo.slides, p.board.Free()
	neighbours := g.countNeighbours(free)
	m := 0
	for s, sign := range [2]int{1, -1} {
		for own := p.board.Amazons(game.Seat(s)); !own.Empty(); {
			m += sign * g.mobilityFigure5(free, &neighbours, own.Pop())
		}
	}
	m /= lieberumMobilityUnit
	const one = 100 * progressUnit // a weight of 1
	w := min(g.progress(free, p.currentFrame().reach)*paperEmpty/max(p.squaresToFill, 1), one)
	return (4*(one-w)*t.t1 + w*(t.t2+t.p1+t.p2+m)) / (4 * one)
}

// progress returns w in units of 1/progressUnit. First is the set of squares that
// each side reaches in one queen move.
func (s *slides) progress(free rules.Bits, first [2]rules.Bits) (w int) {
	var fronts [2][maxSquares]rules.Bits // by distance from 1
	seen, n := first, 0
	for now := first; !now[0].Or(now[1]).Empty(); n++ {
		fronts[0][n], fronts[1][n] = now[0], now[1]
		now[0], now[1] = fill128(s, free, now[0], now[1])
		for i := range now {
			now[i] = now[i].AndNot(seen[i])
			seen[i] = seen[i].Or(now[i])
		}
	}
	for d1, white := range fronts[0][:n] {
		for d2, black := range fronts[1][:n] {
			w += white.And(black).Count() * (progressUnit >> min(max(d1-d2, d2-d1), 16))
		}
	}
	return w
}

// bitPlanes is a number from 0 to 15 for each square: its binary digits, the lowest
// first, as sets of squares.
type bitPlanes [4]rules.Bits

// countNeighbours returns the number of free squares beside each square.
func (s *slides) countNeighbours(free rules.Bits) (c bitPlanes) {
	for i := range 4 {
		n := uint(s.one[i])
		c.add(shiftUp(free, n).And(rules.Bits{Lo: s.upLo[i], Hi: s.upHi[i]}))
		c.add(shiftDown(free, n).And(rules.Bits{Lo: s.downLo[i], Hi: s.downHi[i]}))
	}
	return c
}

// add adds 1 to the number of each square in b.
func (c *bitPlanes) add(b rules.Bits) {
	for i := range c {
		c[i], b = c[i].Xor(b), c[i].And(b)
	}
}

// sum returns the sum of the numbers of the squares in b.
func (c *bitPlanes) sum(b rules.Bits) (sum int) {
	for i := range c {
		sum += c[i].And(b).Count() << i
	}
	return sum
}

// mobilityFigure5 is the older mobility of section 3.3 (figure 5), in hundredths: the
// sum, over the squares that the amazon reaches in one queen move, of the
// square's empty neighbours divided by the amazon's king distance to it. Along
// an open line that distance is the number of squares.
func (s *slides) mobilityFigure5(free rules.Bits, neighbours *bitPlanes, amazon rules.Square) (m int) {
	within := rules.Bit(amazon) // d squares of it
	reach, _ := fill128(s, free, within, rules.Bits{})
	reach = reach.And(free)
	for d := 1; !reach.Empty(); d++ {
		within = s.king128(within)
		m += square * neighbours.sum(reach.And(within)) / d
		reach = reach.AndNot(within)
	}
	return m
}
