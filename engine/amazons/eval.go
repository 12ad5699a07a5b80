package amazons

import (
	"math/bits"

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
	t, w := p.terms(), p.stage()
	m := 0
	if w.m != 0 {
		m = square * p.mobility()
	}
	return (w.t1*t.t1 + w.t2*t.t2 + w.p1*t.p1 + w.p2*t.p2 + w.m*m) / 100
}

// stagesByArrows returns the row of weights for each number of arrows. Every move
// fills one square, so the number of arrows is the number of moves made. On
// other boards than 10x10, and from other starts, it is scaled by the number
// of squares to fill.
func stagesByArrows(stages []stage, squaresToFill int) (all []*stage) {
	i := 0
	for arrows := range squaresToFill + 1 {
		for arrows*paperEmpty/max(squaresToFill, 1) >= stages[i].until {
			i++
		}
		all = append(all, &stages[i])
	}
	return all
}

// stage returns the row of weights for the position.
func (p *position) stage() *stage {
	return p.stages[p.arrows()]
}

// arrows returns the number of arrows on the board.
func (p *position) arrows() int { return p.squaresToFill - p.board.Free().Count() }

// terms computes the terms that go by distances.
func (p *position) terms() (t terms) {
	k := firstMove
	if p.board.Turn() == game.Second {
		k = -k
	}
	b, f := &p.board, p.currentFrame()
	free, first, second := b.Free(), b.Amazons(game.First), b.Amazons(game.Second)
	if p.geo.oneWord {
		var regions [2]uint64
		t.t2, t.p2, regions = kingTerms64(&p.geo.slides, free.Lo, [2]uint64{first.Lo, second.Lo}, k)
		t.t1, t.p1 = queenTerms64(&p.geo.slides, free.Lo, [2]uint64{f.reach[0].Lo, f.reach[1].Lo}, regions, k)
	} else {
		var regions [2]rules.Bits
		t.t2, t.p2, regions = kingTerms128(&p.geo.slides, free, [2]rules.Bits{first, second}, k)
		t.t1, t.p1 = queenTerms128(&p.geo.slides, free, f.reach, regions, k)
	}
	return t
}

// The terms come in two versions, for boards of one word and of two, which are the
// same but for the type.

// queenTerms64 is t1 by formula (2) and p1 by formula (3) over queen distances.
// Both sides' distance maps grow together, one move a round: the distance of a
// square is the round in which it is first reached. First is the set of squares
// that each side reaches in one move, regions are those that it reaches at all.
func queenTerms64(s *slides, free uint64, first, regions [2]uint64, k int) (t, p int) {
	white, black := first[0], first[1]
	seenWhite, seenBlack := white, black
	for d := 1; ; d++ {
		t += square*(bits.OnesCount64(white&^seenBlack)-bits.OnesCount64(black&^seenWhite)) + k*bits.OnesCount64(white&black)
		p += halved(2*square*(bits.OnesCount64(white)-bits.OnesCount64(black)), d)
		if seenWhite == regions[0] && seenBlack == regions[1] {
			return t, p
		}
		white, black = fill64(s, free, white, black)
		white, black = white&^seenWhite, black&^seenBlack
		seenWhite, seenBlack = seenWhite|white, seenBlack|black
	}
}

// queenTerms128 is queenTerms64 for boards of two words.
func queenTerms128(s *slides, free rules.Bits, first, regions [2]rules.Bits, k int) (t, p int) {
	white, black := first[0], first[1]
	seenWhite, seenBlack := white, black
	for d := 1; ; d++ {
		t += square*(white.AndNot(seenBlack).Count()-black.AndNot(seenWhite).Count()) + k*white.And(black).Count()
		p += halved(2*square*(white.Count()-black.Count()), d)
		if seenWhite == regions[0] && seenBlack == regions[1] {
			return t, p
		}
		white, black = fill128(s, free, white, black)
		white, black = white.AndNot(seenWhite), black.AndNot(seenBlack)
		seenWhite, seenBlack = seenWhite.Or(white), seenBlack.Or(black)
	}
}

// halved is v halved d times, rounded towards zero so that it is the same for both
// sides.
func halved(v, d int) int {
	d = min(d, 16)
	return (v + v>>(bits.UintSize-1)&(1<<(d&31)-1)) >> (d & 31)
}

// kingTerms64 is t2 by formula (2) and p2 by formula (4) over king distances.
//
// The clipped difference of a square's two distances is the number of rounds in
// which one side has reached it and the other has not, up to kingCap rounds. So
// each round adds the squares that one side has reached, but not kingCap rounds
// ago, and that the other side has not. What a side reaches at all, its region, is
// the same for queens.
func kingTerms64(s *slides, free uint64, amazons [2]uint64, k int) (t, p int, regions [2]uint64) {
	white, black := s.king64(amazons[0])&free, s.king64(amazons[1])&free
	seenWhite, seenBlack := white, black
	var past [kingCap][2]uint64 // what was seen, by round modulo kingCap
	ahead := 0
	for at := 0; ; {
		t += square*(bits.OnesCount64(white&^seenBlack)-bits.OnesCount64(black&^seenWhite)) + k*bits.OnesCount64(white&black)
		old := &past[at]
		w := bits.OnesCount64(seenWhite &^ seenBlack &^ old[0])
		l := bits.OnesCount64(seenBlack &^ seenWhite &^ old[1])
		if w+l == 0 && white|black == 0 {
			return t, square * ahead / kingCap, [2]uint64{seenWhite, seenBlack}
		}
		ahead += w - l
		*old = [2]uint64{seenWhite, seenBlack}
		if at++; at == kingCap {
			at = 0
		}
		white, black = s.king64(white)&free&^seenWhite, s.king64(black)&free&^seenBlack
		seenWhite, seenBlack = seenWhite|white, seenBlack|black
	}
}

// kingTerms128 is kingTerms64 for boards of two words.
func kingTerms128(s *slides, free rules.Bits, amazons [2]rules.Bits, k int) (t, p int, regions [2]rules.Bits) {
	white, black := s.king128(amazons[0]).And(free), s.king128(amazons[1]).And(free)
	seenWhite, seenBlack := white, black
	var past [kingCap][2]rules.Bits
	ahead := 0
	for at := 0; ; {
		t += square*(white.AndNot(seenBlack).Count()-black.AndNot(seenWhite).Count()) + k*white.And(black).Count()
		old := &past[at]
		w := seenWhite.AndNot(seenBlack).AndNot(old[0]).Count()
		l := seenBlack.AndNot(seenWhite).AndNot(old[1]).Count()
		if w+l == 0 && white.Or(black).Empty() {
			return t, square * ahead / kingCap, [2]rules.Bits{seenWhite, seenBlack}
		}
		ahead += w - l
		*old = [2]rules.Bits{seenWhite, seenBlack}
		if at++; at == kingCap {
			at = 0
		}
		white, black = s.king128(white).And(free).AndNot(seenWhite), s.king128(black).And(free).AndNot(seenBlack)
		seenWhite, seenBlack = seenWhite.Or(white), seenBlack.Or(black)
	}
}

// mobility is m, formula (5), from White's side: each side has the number of queen
// moves of all its amazons, plus that of the least mobile one (section 3.3),
// which penalizes an amazon that is shut in early.
func (p *position) mobility() (m int) {
	return p.sideMobility(game.First) - p.sideMobility(game.Second)
}

// sideMobility is a side's part of m.
func (p *position) sideMobility(s game.Seat) (m int) {
	moves := &p.currentFrame().moves
	least := uint8(maxMoves)
	for own := p.board.Amazons(s); !own.Empty(); {
		n := moves[own.Pop()]
		m += int(n)
		least = min(least, n)
	}
	return m + int(least)
}
