package amazons

import rules "sparring/game/amazons"

// slides has what queen moves of many pieces at once need to know of a board.
// Squares are stored without gaps along the rows, so a step in any of the eight
// directions is a shift by one of four strides, up or down, and a mask against
// wrapping around the edge.
//
// A fill follows all lines at once without looking where they end (occluded
// fill; Kogge and Stone's parallel prefix, as in chess programs): after steps of
// one, two and four squares every square is reached that is up to seven away
// over free squares. Longer lines need the last step again. Where it would be
// longer than a word, on boards of more than 14 columns, it is two squares.
//
// The layout is known to the assembly: each array is one vector of four strides.
type slides struct {
	one, two, last          [4]uint64 // shifts of a step of one square, of two, and of the last step
	upLo, upHi              [4]uint64 // squares that a step up may end on
	downLo, downHi          [4]uint64 // squares that a step down may end on
	lastIsTwo               [4]uint64 // all ones if the last step is two squares
	oneBack, twoBack, lastB [4]uint64 // 64 less each shift
	repeats                 uint64    // of the last step, at least 1

	cols              uint
	notFirst, notLast rules.Bits // all squares but those of the first column, and of the last
}

func newSlides(cols, rows int) slides {
	s := slides{cols: uint(cols)}
	step := 4
	if 4*(cols+1) >= 64 {
		step = 2
	}
	s.repeats = uint64(max((max(cols, rows)-4+step-1)/step, 1)) // 3 squares are covered before
	var all rules.Bits
	for at := range rules.Square(cols * rows) {
		all = all.Or(rules.Bit(at))
		if int(at)%cols != 0 {
			s.notFirst = s.notFirst.Or(rules.Bit(at))
		}
		if int(at)%cols != cols-1 {
			s.notLast = s.notLast.Or(rules.Bit(at))
		}
	}
	for i, d := range [4]struct {
		stride   int
		up, down rules.Bits
	}{
		{1, s.notFirst, s.notLast},
		{cols, all, all},
		{cols + 1, s.notFirst, s.notLast},
		{cols - 1, s.notLast, s.notFirst},
	} {
		n := uint64(d.stride)
		s.one[i], s.two[i], s.last[i] = n, 2*n, uint64(step)*n
		s.oneBack[i], s.twoBack[i], s.lastB[i] = 64-s.one[i], 64-s.two[i], 64-s.last[i]
		s.upLo[i], s.upHi[i], s.downLo[i], s.downHi[i] = d.up.Lo, d.up.Hi, d.down.Lo, d.down.Hi
		if step == 2 {
			s.lastIsTwo[i] = ^uint64(0)
		}
	}
	return s
}

// fill64Plain returns the free squares that a queen move from any square of a
// reaches, and of a itself, and the same for b, on a board of one word.
func fill64Plain(s *slides, free, a, b uint64) (ra, rb uint64) {
	for i := range 4 {
		one, two, last := s.one[i]&63, s.two[i]&63, s.last[i]&63
		p, au, bu := free&s.upLo[i], a, b
		au |= p & (au << one)
		bu |= p & (bu << one)
		p &= p << one
		au |= p & (au << two)
		bu |= p & (bu << two)
		p &= p<<two | s.lastIsTwo[i]
		for range s.repeats {
			au |= p & (au << last)
			bu |= p & (bu << last)
		}
		p, ad, bd := free&s.downLo[i], a, b
		ad |= p & (ad >> one)
		bd |= p & (bd >> one)
		p &= p >> one
		ad |= p & (ad >> two)
		bd |= p & (bd >> two)
		p &= p>>two | s.lastIsTwo[i]
		for range s.repeats {
			ad |= p & (ad >> last)
			bd |= p & (bd >> last)
		}
		ra |= au | ad
		rb |= bu | bd
	}
	return ra, rb
}

// fill128Plain is fill64Plain for a board of two words.
func fill128Plain(s *slides, free, a, b rules.Bits) (ra, rb rules.Bits) {
	for i := range 4 {
		one, two, last := uint(s.one[i]), uint(s.two[i]), uint(s.last[i])
		p := rules.Bits{Lo: free.Lo & s.upLo[i], Hi: free.Hi & s.upHi[i]}
		p1 := p.And(shiftUp(p, one))
		p2 := p1
		if s.lastIsTwo[i] == 0 {
			p2 = p1.And(shiftUp(p1, two))
		}
		au, bu := a.Or(p.And(shiftUp(a, one))), b.Or(p.And(shiftUp(b, one)))
		au, bu = au.Or(p1.And(shiftUp(au, two))), bu.Or(p1.And(shiftUp(bu, two)))
		for range s.repeats {
			au, bu = au.Or(p2.And(shiftUp(au, last))), bu.Or(p2.And(shiftUp(bu, last)))
		}
		p = rules.Bits{Lo: free.Lo & s.downLo[i], Hi: free.Hi & s.downHi[i]}
		p1 = p.And(shiftDown(p, one))
		p2 = p1
		if s.lastIsTwo[i] == 0 {
			p2 = p1.And(shiftDown(p1, two))
		}
		ad, bd := a.Or(p.And(shiftDown(a, one))), b.Or(p.And(shiftDown(b, one)))
		ad, bd = ad.Or(p1.And(shiftDown(ad, two))), bd.Or(p1.And(shiftDown(bd, two)))
		for range s.repeats {
			ad, bd = ad.Or(p2.And(shiftDown(ad, last))), bd.Or(p2.And(shiftDown(bd, last)))
		}
		ra, rb = ra.Or(au).Or(ad), rb.Or(bu).Or(bd)
	}
	return ra, rb
}

// shiftUp shifts towards higher squares, shiftDown towards lower, by less than a word.
func shiftUp(b rules.Bits, n uint) rules.Bits {
	return rules.Bits{Lo: b.Lo << (n & 63), Hi: b.Hi<<(n&63) | b.Lo>>1>>(63-n&63)}
}

func shiftDown(b rules.Bits, n uint) rules.Bits {
	return rules.Bits{Lo: b.Lo>>(n&63) | b.Hi<<1<<(63-n&63), Hi: b.Hi >> (n & 63)}
}

// king64 returns a set with the squares one king step from it, on a board of one
// word; some of them may lie beyond the board.
func (s *slides) king64(b uint64) uint64 {
	b |= b<<1&s.notFirst.Lo | b>>1&s.notLast.Lo
	return b | b<<(s.cols&63) | b>>(s.cols&63)
}

// king128 is king64 for a board of two words.
func (s *slides) king128(b rules.Bits) rules.Bits {
	b = b.Or(shiftUp(b, 1).And(s.notFirst)).Or(shiftDown(b, 1).And(s.notLast))
	return b.Or(shiftUp(b, s.cols)).Or(shiftDown(b, s.cols))
}
