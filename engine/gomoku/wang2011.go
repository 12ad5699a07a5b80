package gomoku

import (
	"math"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// The evaluation of paper 002: Wang Jianxiong, "Application of Game-tree Search
// Algorithm in the Backgammon Game", 2011, section 2.3, and its rule to look for
// fives and double threes before anything else, section 2.2.

// rowValue is the value of a row of each kind, from the paper's table 2. Its
// blocked and open twos, threes and fours ("rush" and "live") are our kinds. A
// double four in one line, which the paper does not name, counts as an open
// four, since as many points make it a five. That of One is our addition: it
// keeps stones near each other on an empty board.
var rowValue = [gomoku.Kinds]int32{
	gomoku.One: 4, gomoku.OpenOne: 4,
	gomoku.Two:     20,
	gomoku.OpenTwo: 80, gomoku.OpenTwo3: 80, gomoku.OpenTwo4: 80,
	gomoku.Three:     180,
	gomoku.OpenThree: 800, gomoku.OpenThree2: 800,
	gomoku.Four:         1200,
	gomoku.DoubleFour:   2000,
	gomoku.StraightFour: 2000,
	gomoku.FiveRow:      10000,
}

// doubleThree is the value of a point at which the paper plays without a search
// (section 2.2: "at least the estimate of a double three").
const doubleThree = 2 * 800

// stonesInRow is the number of stones in a row of each kind. Each of them counts
// an equal part of the row's value.
var stonesInRow = [gomoku.Kinds]int32{
	gomoku.One: 1, gomoku.OpenOne: 1,
	gomoku.Two: 2, gomoku.OpenTwo: 2, gomoku.OpenTwo3: 2, gomoku.OpenTwo4: 2,
	gomoku.Three: 3, gomoku.OpenThree: 3, gomoku.OpenThree2: 3,
	gomoku.Four: 4, gomoku.DoubleFour: 4, gomoku.StraightFour: 4, gomoku.FiveRow: 5,
}

// share is a common denominator of 1 to 5 stones, so that sums are integers.
const share = 60

// wangInwards is the value of a stone for each step from the nearest border. It is
// not in the paper, whose table makes no difference on an empty board, so that
// the engine opened on the edge. It is small: across the whole board it is less
// than the difference of a blocked and an open two.
const wangInwards = 3

// style is the paper's K1 and K2, the weights of the rows of the side to move and of
// the other side, in eighths. The paper leaves their ratio open, above 1 for an
// attacker.
type style struct{ own, other int32 }

// styles are the evaluations of the paper by name. The side to move is an attacker
// even in the first one: it is ahead by about half a step of a row.
var styles = []struct {
	name string
	style
}{
	{"wang2011", style{9, 8}},
	{"wang2011-attack", style{12, 8}},
	{"wang2011-defence", style{8, 12}},
}

// wangEvaluations are the styles, as the adapter offers them.
func wangEvaluations() (all []adapter.Evaluation) {
	for _, s := range styles {
		all = append(all, adapter.Evaluation{Name: s.name, WinScale: 800,
			Adapt: func(p search.Position) search.Position { return wang2011{p.(*position), s.style} }})
	}
	return all
}

// The evaluations of positions that the field shows to be won or lost within
// three plies. They are above all sums of rows that occur, and below MaxEval.
const (
	evalFive     search.Score = 27000 // five at the next ply
	evalOpenFour search.Score = 26000 // an open four at the next ply
)

// Move ordering is in units of table 2 times rowOrderScale: a difference of an open
// three outweighs the kernel's history scores (+-16384), smaller ones don't.
const (
	rowOrderScale = 16
	// What a point makes counts more than what it denies the other side: of
	// equal rows, those of the side to move are completed first.
	ownOrder, otherOrder = 9, 8 // eighths
)

// wang2011 is a position with the paper's evaluation and order of moves.
type wang2011 struct {
	*position
	style style
}

// Eval returns the paper's evaluation, K1 times the rows of the side to move minus K2
// times the other side's, unless the next plies decide the game.
func (w wang2011) Eval() search.Score {
	own, other := &w.field.counts[w.toMove], &w.field.counts[w.toMove.Other()]
	bonus := search.Score(0)
	switch {
	case w.set.Continuous():
		bonus = w.countedRows()
		if own[makesFive] > 0 {
			bonus += countedRow * 7 / 8
		} else if other[makesFive] > 1 {
			bonus -= countedRow * 3 / 4
		}
	case own[makesFive] > 0:
		return evalFive
	case other[makesFive] > 1:
		return -evalFive
	case other[makesFive] == 0 && own[makesTwo4s] > 0:
		return evalOpenFour
	}
	sum := w.style.own*w.stones(w.toMove) - w.style.other*w.stones(w.toMove.Other())
	return bounded(bonus + search.Score(sum/(8*share)))
}

// stones returns the value of a colour's stones by table 2, times share.
func (w wang2011) stones(c gomoku.Colour) (sum int32) {
	b := &w.field.board
	for p := range gomoku.Point(b.Points) {
		if owner, ok := b.At(p); !ok || owner != c {
			continue
		}
		sum += share * wangInwards * w.field.border[p]
		for d := range gomoku.Direction(gomoku.Directions) {
			if k := w.field.lines.pair(b.Window(p, d)).of(c); stonesInRow[k] > 0 {
				sum += rowValue[k] * share / stonesInRow[k]
			}
		}
	}
	return sum
}

// Moves gives first the points that are worth a double three to one of the sides,
// then those where either makes a four or an open three, then the others as usual.
func (w wang2011) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = w.position.Moves(buf, c)
	for i := range buf {
		buf[i].Order = w.order(&buf[i])
	}
	return buf
}

// Find implements search.Position.
func (w wang2011) Find(m game.Move) (search.ScoredMove, bool) {
	e, ok := w.position.Find(m)
	if ok {
		e.Order = w.order(&e)
	}
	return e, ok
}

// order is the move's by the rows that it makes and denies.
func (w wang2011) order(e *search.ScoredMove) int32 {
	if e.Order == foulOrder {
		return foulOrder
	}
	p := gomoku.Point(e.Move - 1)
	own, other := w.worth(p, w.toMove), w.worth(p, w.toMove.Other())
	order := (ownOrder*own+otherOrder*other)*rowOrderScale/8 + wangInwards*w.field.border[p]
	switch {
	case max(own, other) >= doubleThree:
		order += 2 * urgent
	case w.field.sets[gomoku.Black][open3].has(p) || w.field.sets[gomoku.White][open3].has(p):
		order += urgent
	}
	return order
}

// urgent lifts moves above all that are not.
const urgent = 1 << 22

// worth is the sum of the rows that a stone of colour c at p makes.
func (w wang2011) worth(p gomoku.Point, c gomoku.Colour) (sum int32) {
	for _, k := range kindsOfCode()[w.field.state[p].codes[c]] {
		sum += rowValue[k]
	}
	if w.field.info(p, c).foul == certain {
		return 0
	}
	return min(sum, math.MaxInt16)
}

// Clone implements search.Position.
func (w wang2011) Clone() search.Position { return wang2011{w.position.Clone().(*position), w.style} }
