package gomoku

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// The stages of a run through the moves.
const (
	stageDecisive uint8 = iota // makes or stops a five or a double three
	stageUrgent                // makes or stops a four or an open three
	stageNear                  // near a stone
	stageDistant               // all other points
	stageEnd
)

// Moves implements search.Position. Against a four only the points that make
// five for either side remain. Otherwise fives and double threes of both sides
// come first (section 2.2 of the paper looks for them before any search), then
// all points where either side makes a four or an open three, the points near a
// stone, and the rest.
func (a *position) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	own, other := &a.field.sets[a.toMove], &a.field.sets[a.toMove.Other()]
	if c.Stage == stageDecisive && a.forced() {
		c.Stage = stageEnd
		set := own[five].union(&other[five])
		buf = a.appendMoves(buf, &set)
		if c.Mode == search.Noisy {
			buf = slices.DeleteFunc(buf, quiet)
		}
		return buf
	}
	if c.Mode == search.Noisy {
		if c.Stage != stageDecisive {
			return buf
		}
		c.Stage = stageEnd
		buf = a.appendMoves(buf, &own[four])
		return slices.DeleteFunc(buf, quiet)
	}
	urgent := own[open3].union(&other[open3])
	for len(buf) == 0 && c.Stage < stageEnd {
		switch c.Stage {
		case stageDecisive, stageUrgent:
			for p := range urgent.all() {
				if a.decisive(p) == (c.Stage == stageDecisive) {
					buf = append(buf, a.scoredMove(p))
				}
			}
		case stageNear:
			rest := a.field.open.minus(&urgent)
			rest = rest.intersect(&a.field.near)
			buf = a.appendMoves(buf, &rest)
		default:
			rest := a.field.open.minus(&urgent)
			rest = rest.minus(&a.field.near)
			buf = a.appendMoves(buf, &rest)
		}
		c.Stage++
	}
	return buf
}

// decisive reports whether the point is worth a double three for one of the
// sides.
func (a *position) decisive(p gomoku.Point) bool {
	return max(a.field.value(p, gomoku.Black).order, a.field.value(p, gomoku.White).order) >= doubleThree
}

// quiet reports whether a move is quiet: a forbidden four is.
func quiet(e search.ScoredMove) bool { return e.Noise == search.Quiet }

func (a *position) appendMoves(buf []search.ScoredMove, set *points) []search.ScoredMove {
	for p := range set.all() {
		buf = append(buf, a.scoredMove(p))
	}
	return buf
}

// Find implements search.Position.
func (a *position) Find(m game.Move) (search.ScoredMove, bool) {
	p, ok := a.field.board.MovePoint(m)
	if !ok || !a.field.open.has(p) {
		return search.ScoredMove{}, false
	}
	if a.forced() && !a.field.wins(p, a.toMove) && !a.field.wins(p, a.toMove.Other()) {
		return search.ScoredMove{}, false
	}
	return a.scoredMove(p), true
}

// scoredMove orders a point by what it makes for its side and what it denies the
// other.
func (a *position) scoredMove(p gomoku.Point) search.ScoredMove {
	own, other := a.field.value(p, a.toMove), a.field.value(p, a.toMove.Other())
	e := search.ScoredMove{
		Move:         gomoku.StoneMove(p),
		Order:        (ownOrder*int32(own.order)+otherOrder*int32(other.order))*orderScale/8 + inwards*a.field.inside[p],
		HistoryIndex: [2]uint16{uint16(p), 0},
	}
	switch {
	case own.foul != noFoul && a.field.foul(p, a.toMove):
		e.Order = foulOrder
	case own.tier <= two4s:
		e.Noise = search.GoodNoisy
	case own.tier == four, other.tier == five:
		e.Noise = search.BadNoisy
	}
	return e
}
