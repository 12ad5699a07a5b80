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
	f := p.currentFrame()
	t := p.terms()
	m := (lieberumMobility(&p.board, game.First) - lieberumMobility(&p.board, game.Second)) / lieberumMobilityUnit
	const one = 100 * progressUnit // a weight of 1
	w := min(progress(&p.board, f.reach)*paperEmpty/max(p.squaresToFill, 1), one)
	return (4*(one-w)*t.t1 + w*(t.t2+t.p1+t.p2+m)) / (4 * one)
}

// progress returns w in units of 1/progressUnit. First is the set of squares that
// each side reaches in one queen move.
func progress(b *rules.Board, first [2]rules.Bits) (w int) {
	fresh := first
	var seen [2]rules.Bits
	var fronts [2][]rules.Bits // by distance from 1
	for !fresh[0].Or(fresh[1]).Empty() {
		for i := range fresh {
			fronts[i] = append(fronts[i], fresh[i])
			seen[i] = seen[i].Or(fresh[i])
			fresh[i] = b.Reach(fresh[i]).AndNot(seen[i])
		}
	}
	for d1, white := range fronts[0] {
		for d2, black := range fronts[1] {
			w += white.And(black).Count() * (progressUnit >> min(max(d1-d2, d2-d1), 16))
		}
	}
	return w
}

// lieberumMobility is the sum of mobilityFigure5 over a side's amazons.
func lieberumMobility(b *rules.Board, s game.Seat) (m int) {
	for own := b.Amazons(s); !own.Empty(); {
		m += mobilityFigure5(b, own.Pop())
	}
	return m
}

// mobilityFigure5 is the older mobility of section 3.3, in hundredths: the sum,
// over the squares that the amazon reaches in one queen move, of the square's
// empty neighbours divided by the amazon's king distance to it. Along an open
// line that distance is the number of squares.
func mobilityFigure5(b *rules.Board, amazon rules.Square) (m int) {
	near := rules.Bit(amazon)
	reach := b.Reach(near)
	for d := 1; !reach.Empty(); d++ {
		near = b.Neighbours(near)
		neighbours := 0
		for at := reach.And(near); !at.Empty(); {
			neighbours += b.Neighbours(rules.Bit(at.Pop())).Count()
		}
		m += square * neighbours / d
		reach = reach.AndNot(near)
	}
	return m
}
