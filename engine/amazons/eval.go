package amazons

import (
	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// terms are the five terms of formula (1), from White's (seat first's) side,
// in hundredths of a square.
type terms struct{ t1, t2, p1, p2, m int }

// Eval is formula (1) of the paper with the weights of the game's stage.
func (p *position) Eval() search.Score {
	f := p.here()
	t := measure(&p.board, f.reach)
	s := p.stage()
	v := (s.t1*t.t1 + s.t2*t.t2 + s.p1*t.p1 + s.p2*t.p2 + s.m*t.m) / 100
	if p.board.Turn() == game.Second {
		v = -v
	}
	return search.Score(min(max(v, -int(search.MaxEval)), int(search.MaxEval)))
}

// stage is the row of weights. Every move fills one square, so the number of
// arrows is the number of moves made; on other boards than 10x10, and from
// other starts, it is scaled by the squares there are to fill.
func (p *position) stage() *stage {
	arrows := p.board.Arrows().Count()
	moves := arrows * paperEmpty / max(arrows+p.board.Free().Count(), 1)
	i := 0
	for moves >= stages[i].until {
		i++
	}
	return &stages[i]
}

// measure computes the terms; first is what each side reaches in one queen move.
func measure(b *rules.Board, first [2]rules.Bits) terms {
	k := firstMove
	if b.Turn() == game.Second {
		k = -k
	}
	var t terms
	t.t1, t.p1 = queenTerms(b, first, k)
	t.t2, t.p2 = kingTerms(b, k)
	t.m = square * (mobility(b, game.First) - mobility(b, game.Second))
	return t
}

// queenTerms is t1 by formula (2) and p1 by formula (3) over queen distances.
// Both sides' distance maps grow together, one move a round; a square's
// distance is the round it is first reached in.
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
// The clipped difference of a square's two distances is the number of rounds
// in which one side has it and the other has not, but no more than kingCap
// rounds after the first got it: so each round adds the squares that one side
// has, the other has not, and the one had not kingCap rounds ago.
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

// mobility is the number of queen steps of a side's amazons together, plus the
// number of its least mobile one (section 3.3), so that no amazon is shut in
// early unnoticed.
func mobility(b *rules.Board, s game.Seat) int {
	sum, least := 0, 1<<10
	for own := b.Amazons(s); !own.Empty(); {
		n := b.Reach(rules.Bit(own.Pop())).Count()
		sum += n
		least = min(least, n)
	}
	return sum + least
}
