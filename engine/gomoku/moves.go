package gomoku

import (
	"math/bits"
	"slices"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// The stages of a run through the moves.
const (
	stageNear    uint8 = iota // near a stone, or all moves that do not lose at once
	stageDistant              // all other points
	stageLosing               // with AndLosing, what a restricted node leaves out
	stageEnd
)

// Moves implements search.Position. Against a four only the points that make
// five for either side remain, against a threat of two fours, or of a four and a
// three, only the answers. Otherwise the points near a stone come first, in the order of the policy.
func (a *position) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	for len(buf) == 0 && c.Stage < stageEnd {
		set, need := a.batch(c)
		if c.SkipQuiets {
			noisy := a.noisy()
			set = set.intersect(&noisy)
		}
		buf = a.appendMoves(buf, &set, need)
		if c.Mode == search.Noisy {
			buf = slices.DeleteFunc(buf, func(e search.ScoredMove) bool {
				return e.Noise == search.Quiet // a forbidden four
			})
		}
	}
	return buf
}

// batch returns the points of the cursor's stage, with what they are to meet, and goes
// to the next.
func (a *position) batch(c *search.Cursor) (points, need) {
	f, stage := a.field, c.Stage
	c.Stage = stageEnd
	switch {
	case a.forced():
		return f.sets[a.toMove][five].union(&f.sets[a.toMove.Other()][five]), a.need()
	case c.Mode == search.Noisy:
		return a.fours(), a.need()
	case stage == stageLosing:
		return f.open.minus(&a.resolve().answers), meetNothing
	}
	switch top := a.resolve(); {
	case top.facing != nothing:
		if c.Mode == search.AndLosing {
			c.Stage = stageLosing
		}
		return top.answers, a.need()
	case stage == stageNear:
		c.Stage = stageDistant
		return f.open.intersect(&f.near), a.need()
	}
	return f.open.minus(&f.near), a.need()
}

// noisy returns the points whose moves are not quiet, and of those that are forbidden.
func (a *position) noisy() points {
	sets := &a.field.sets
	return sets[a.toMove][four].union(&sets[a.toMove.Other()][five])
}

// fours returns the points of fours for quiescence: those near the side's own last
// stone, if that is known, since the next threat of a line nearly always uses what the
// one before has gained (the dependency of Allis, "Searching for solutions in games and
// artificial intelligence", 1994, chapter 4).
func (a *position) fours() points {
	sets := &a.field.sets[a.toMove]
	if n := len(a.nodes); n > 1 && a.nodes[n-2].stone != gomoku.NoPoint {
		linked := sets[four].intersect(&a.field.linked[a.nodes[n-2].stone])
		return linked.union(&sets[five])
	}
	return sets[four]
}

// Find implements search.Position.
func (a *position) Find(m game.Move) (search.ScoredMove, bool) {
	p, ok := a.field.board.MovePoint(m)
	if !ok || !a.field.open.has(p) {
		return search.ScoredMove{}, false
	}
	if a.forced() {
		if !a.field.wins(p, a.toMove) && !a.field.wins(p, a.toMove.Other()) {
			return search.ScoredMove{}, false
		}
	} else if top := a.resolve(); top.facing != nothing && !top.answers.has(p) {
		return search.ScoredMove{}, false
	}
	var set points
	set.add(p)
	var buf [1]search.ScoredMove
	return a.appendMoves(buf[:0], &set, a.need())[0], true
}

// appendMoves appends the moves to some points, ordered by the policy: what a point is worth to
// its side and to the other. It sets the fields in place: to copy a move that has just been made
// would stall the processor.
func (a *position) appendMoves(buf []search.ScoredMove, set *points, need need) []search.ScoredMove {
	f, own, other := a.field, a.toMove, a.toMove.Other()
	ownScore, otherScore := &f.table[own].score[need][0], &f.table[other].score[need][1]
	mayFoul := a.set.Forbids(own)
	noisy := a.noisy()
	n := len(buf)
	buf = slices.Grow(buf, set.count())[:n+set.count()]
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			p := gomoku.Point(i<<6 + bits.TrailingZeros64(w))
			s, e := &f.state[p], &buf[n]
			n++
			*e = search.ScoredMove{}
			e.Move = gomoku.StoneMove(p)
			e.Order = (int32(ownScore[s.codes[own]])+int32(otherScore[s.codes[other]]))*orderScale + f.border[p]
			e.HistoryIndex[0] = uint16(p)
			switch {
			case mayFoul && f.foul(p, own):
				e.Order = foulOrder
			case noisy[i]&(w&-w) == 0:
			case f.table[own].threat[s.codes[own]] < makesFour:
				e.Noise = search.GoodNoisy
			default:
				e.Noise = search.BadNoisy // the four carries no other threat
			}
		}
	}
	if f.board.Stones() == 0 {
		// The policy comes from positions with stones, and prefers a corner.
		for i := range buf {
			buf[i].Order = f.border[buf[i].HistoryIndex[0]]
		}
	}
	return buf
}
