package amazons

import (
	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// terms are the first four terms of formula (1), from White's side (the first
// seat), in hundredths of a square.
type terms struct{ t1, t2, p1, p2 int }

// Eval implements search.Position.
func (p *position) Eval() search.Score {
	v := p.eval.value(p)
	if p.board.Turn() == game.Second {
		v = -v
	}
	return search.Score(min(max(v, -int(search.MaxEval)), int(search.MaxEval)))
}

// formula1 is formula (1) of the paper with the weights of the game's stage, from
// White's side.
func formula1(p *position) int {
	f := p.currentFrame()
	t, w := measure(&p.board, f.reach), f.stage
	m := square * (f.mobility[game.First] - f.mobility[game.Second])
	return (w.t1*t.t1 + w.t2*t.t2 + w.p1*t.p1 + w.p2*t.p2 + w.m*m) / 100
}

// stage returns the row of weights for the position, nil if the evaluation has no
// stages. Every move fills one square, so the number of arrows is the number of
// moves made. On other boards than 10x10, and from other starts, it is scaled
// by the number of squares to fill.
func (p *position) stage() *stage {
	if p.eval.stages == nil {
		return nil
	}
	arrows := p.board.Arrows().Count()
	moves := arrows * paperEmpty / p.squaresToFill()
	i := 0
	for moves >= p.eval.stages[i].until {
		i++
	}
	return &p.eval.stages[i]
}

// squaresToFill returns the number of squares that were empty at the start.
func (p *position) squaresToFill() int {
	return max(p.board.Arrows().Count()+p.board.Free().Count(), 1)
}

// measure computes the terms from distances. First is the set of squares that
// each side reaches in one queen move.
func measure(b *rules.Board, first [2]rules.Bits) terms {
	k := firstMove
	if b.Turn() == game.Second {
		k = -k
	}
	var t terms
	t.t1, t.p1 = queenTerms(b, first, k)
	t.t2, t.p2 = kingTerms(b, k)
	return t
}

// queenTerms is t1 by formula (2) and p1 by formula (3) over queen distances.
// Both sides' distance maps grow together, one move a round: the distance of a
// square is the round in which it is first reached.
func queenTerms(b *rules.Board, first [2]rules.Bits, k int) (t, p int) {
	fresh, seen := first, first
	for d := 1; ; d++ {
		w, l := fresh[0].Count(), fresh[1].Count()
		t += square*(fresh[0].AndNot(seen[1]).Count()-fresh[1].AndNot(seen[0]).Count()) +
			k*fresh[0].And(fresh[1]).Count()
		p += 2 * square * (w - l) / (1 << min(d, 16)) // truncation is the same for both sides
		if w+l == 0 {
			return t, p
		}
		for i := range fresh {
			if !fresh[i].Empty() {
				fresh[i] = b.Reach(fresh[i]).AndNot(seen[i])
				seen[i] = seen[i].Or(fresh[i])
			}
		}
	}
}

// kingTerms is t2 by formula (2) and p2 by formula (4) over king distances.
//
// The clipped difference of a square's two distances is the number of rounds in
// which one side has reached it and the other has not, up to kingCap rounds. So
// each round adds the squares that one side has reached, but not kingCap rounds
// ago, and that the other side has not.
func kingTerms(b *rules.Board, k int) (t, p int) {
	fresh := [2]rules.Bits{b.Neighbours(b.Amazons(0)), b.Neighbours(b.Amazons(1))}
	seen := fresh
	var past [kingCap][2]rules.Bits // what was seen, by round modulo kingCap
	ahead := 0
	for d := 0; ; d++ {
		t += square*(fresh[0].AndNot(seen[1]).Count()-fresh[1].AndNot(seen[0]).Count()) +
			k*fresh[0].And(fresh[1]).Count()
		old := &past[d%kingCap]
		w := seen[0].AndNot(seen[1]).AndNot(old[0]).Count()
		l := seen[1].AndNot(seen[0]).AndNot(old[1]).Count()
		if w+l == 0 && fresh[0].Empty() && fresh[1].Empty() {
			return t, square * ahead / kingCap
		}
		ahead += w - l
		*old = seen
		for i := range fresh {
			if !fresh[i].Empty() {
				fresh[i] = b.Neighbours(fresh[i]).AndNot(seen[i])
				seen[i] = seen[i].Or(fresh[i])
			}
		}
	}
}

// mobility returns the set of squares that a side's amazons reach in one queen move,
// and the side's part of m, formula (5): the number of queen moves of all its
// amazons, plus that of the least mobile one (section 3.3), which penalizes an
// amazon that is shut in early.
func mobility(b *rules.Board, s game.Seat) (reach rules.Bits, m int) {
	least := 1 << 10
	for own := b.Amazons(s); !own.Empty(); {
		one := b.Reach(rules.Bit(own.Pop()))
		n := one.Count()
		reach = reach.Or(one)
		m += n
		least = min(least, n)
	}
	return reach, m + least
}
