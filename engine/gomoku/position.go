package gomoku

import (
	"fmt"
	"hash/fnv"
	"slices"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// position adapts a game to the kernel.
type position struct {
	// forcing: a four leaves the opponent only the points that make five. This
	// is not so under the Caro rules, where a stone beyond the end of a row may
	// stop it, too.
	forcing bool
	set     gomoku.Set
	salt    uint64 // of the search key, by the rules
	field   *field
	toMove  gomoku.Colour
	key     uint64
	ended   []verdict        // after each stone, beginning with the root
	rows    [2]int           // counted so far; continuous rules only
	buried  [][]gomoku.Point // by each stone; continuous rules only
	prover  *prover          // made when first needed
}

// verdict is the state of the game after a stone.
type verdict uint8

const (
	goesOn verdict = iota
	won            // by the side that has just moved
	lost           // by the side that has just moved: the point was forbidden
	drawn
)

// New adapts a game of package gomoku's rules. The error is for another game's
// position, and for one in an opening procedure.
func New(p game.Position) (search.Position, error) {
	g, ok := p.(*gomoku.Position)
	if !ok {
		return nil, fmt.Errorf("engine/gomoku: %T is not a Gomoku position", p)
	}
	if _, opening := g.Step(); opening {
		return nil, fmt.Errorf("engine/gomoku: %s is in an opening procedure, which package opening decides", g)
	}
	set := g.Set()
	set.Opening = gomoku.Opening{} // the opening procedure is over
	h := fnv.New64a()
	h.Write([]byte(set.Name())) // a hash.Hash never fails
	a := &position{forcing: set.Forcing(), set: set, salt: h.Sum64(), field: newField(g.Board(), set), toMove: g.ToMove(), key: g.Key()}
	for c := range gomoku.Colour(2) {
		a.rows[c] = g.Rows(c)
	}
	now := goesOn
	switch out := g.Outcome(); {
	case set.Continuous() && out.Over():
		now = a.counted(g.ToMove().Other())
	case out.Result == game.Draw:
		now = drawn
	case out.Reason == game.Forbidden:
		now = lost
	case out.Over():
		now = won
	}
	a.ended = append(a.ended, now)
	return a, nil
}

// Enter implements search.Position.
func (a *position) Enter() search.Node {
	node := search.Node{Key: a.key, SearchKey: a.key ^ a.salt}
	switch a.ended[len(a.ended)-1] {
	case won:
		node.Over, node.Verdict = true, -search.Win
		return node
	case lost:
		node.Over, node.Verdict = true, search.Win
		return node
	case drawn:
		node.Over, node.Verdict = true, search.Draw
		return node
	}
	other := &a.field.sets[a.toMove.Other()]
	node.Forced = a.forced()
	node.MayPass = other[five].empty() && other[two4s].empty()
	return node
}

// forced reports whether the other side threatens a five that must be stopped.
func (a *position) forced() bool { return a.forcing && !a.field.sets[a.toMove.Other()][five].empty() }

// Do implements search.Position.
func (a *position) Do(m game.Move) {
	at := gomoku.Point(m - 1)
	now := goesOn
	scores := a.field.wins(at, a.toMove)
	switch {
	case a.set.Continuous():
	case scores:
		now = won
	case a.field.foul(at, a.toMove):
		now = lost
	}
	a.field.put(at, a.toMove)
	if a.set.Continuous() {
		a.score(at, scores)
	}
	if now == goesOn && a.field.board.Full() {
		now = a.counted(a.toMove)
	}
	a.ended = append(a.ended, now)
	a.key ^= gomoku.StoneKey(at, a.toMove)
	a.turn()
}

// Undo implements search.Position.
func (a *position) Undo(m game.Move) {
	at := gomoku.Point(m - 1)
	a.turn()
	a.key ^= gomoku.StoneKey(at, a.toMove)
	a.ended = a.ended[:len(a.ended)-1]
	if a.set.Continuous() {
		a.unscore()
	}
	a.field.take(at, a.toMove)
}

// counted returns the verdict on a full board for the side that moved last. Only the
// continuous rules count rows; under others it is a draw.
func (a *position) counted(mover gomoku.Colour) verdict {
	switch lead := a.rows[mover] - a.rows[mover.Other()]; {
	case lead > 0:
		return won
	case lead < 0:
		return lost
	}
	return drawn
}

// score counts the row that the last stone made, if scores, and buries it.
func (a *position) score(at gomoku.Point, scores bool) {
	c := a.toMove
	var row []gomoku.Point
	if scores {
		row = a.field.board.WinningRow(at, c, a.set.Line(c))
		a.key ^= gomoku.RowsKey(c, a.rows[c]) ^ gomoku.RowsKey(c, a.rows[c]+1)
		a.rows[c]++
	}
	for _, p := range row {
		a.key ^= gomoku.StoneKey(p, c) ^ gomoku.DeadKey(p)
		a.field.bury(p, c)
	}
	a.buried = append(a.buried, row)
}

func (a *position) unscore() {
	c := a.toMove
	last := len(a.buried) - 1
	row := a.buried[last]
	a.buried = a.buried[:last]
	for _, p := range slices.Backward(row) {
		a.key ^= gomoku.StoneKey(p, c) ^ gomoku.DeadKey(p)
		a.field.unbury(p, c)
	}
	if len(row) > 0 {
		a.key ^= gomoku.RowsKey(c, a.rows[c]) ^ gomoku.RowsKey(c, a.rows[c]-1)
		a.rows[c]--
	}
}

func (a *position) turn() {
	a.toMove = a.toMove.Other()
	a.key ^= gomoku.SideKey()
}

// Pass implements search.Position.
func (a *position) Pass() { a.turn() }

// Unpass implements search.Position.
func (a *position) Unpass() { a.turn() }

// Eval returns the paper's evaluation, K1 times the rows of the side to move minus K2
// times the other side's, unless the next plies decide the game.
func (a *position) Eval() search.Score {
	own, other := &a.field.sets[a.toMove], &a.field.sets[a.toMove.Other()]
	switch {
	case a.set.Continuous():
		return a.evalContinuous()
	case !own[five].empty():
		return evalFive
	case !other[five].empty():
		if other[five].count() > 1 {
			return -evalFive
		}
	case !own[two4s].empty():
		return evalOpenFour
	}
	return a.weigh(0)
}

// weigh is K1 times the own rows minus K2 times the other side's, plus bonus.
func (a *position) weigh(bonus search.Score) search.Score {
	sum := ownEighths*a.field.sum[a.toMove] - otherEighths*a.field.sum[a.toMove.Other()]
	return min(max(bonus+search.Score(sum/(8*share)), -evalLimit), evalLimit)
}

// evalContinuous is Eval under the continuous rules, where nothing ends the game
// early: counted rows have a value, and a five that can be made at once nearly
// the same.
func (a *position) evalContinuous() search.Score {
	lead := a.rows[a.toMove] - a.rows[a.toMove.Other()]
	bonus := search.Score(lead) * countedRow
	switch {
	case !a.field.sets[a.toMove][five].empty():
		bonus += countedRow * 7 / 8
	case a.field.sets[a.toMove.Other()][five].count() > 1:
		bonus -= countedRow * 3 / 4
	}
	return a.weigh(bonus)
}

// Clone implements search.Position.
func (a *position) Clone() search.Position {
	c := *a
	c.field = a.field.clone()
	c.ended = slices.Clone(a.ended)
	c.buried = slices.Clone(a.buried)
	c.prover = nil
	return &c
}
