package gomoku

import (
	"fmt"
	"hash/fnv"

	"sparring/engine/search"
	"sparring/game"
	"sparring/game/gomoku"
)

// position adapts a game to the kernel.
type position struct {
	// forcing: a four leaves its owner's opponent only the points that make
	// five. Not so under the Caro rules, where a stone beyond the end of a row
	// may stop it too.
	forcing bool
	set     gomoku.Set
	salt    uint64 // of the search key: what else changes the score
	field   *field
	toMove  gomoku.Colour
	key     uint64
	ended   []verdict // after each stone, from the root
	failed  *failures // of the prover; made when first needed
}

// verdict is how the game stands after a stone.
type verdict uint8

const (
	goesOn verdict = iota
	won            // by the side that has just moved
	lost           // by it: it played a forbidden point
	drawn
)

// New adapts a game of package gomoku's rules. The error is for another game's
// position, and for one in an opening procedure.
func New(p game.Position) (search.Position, error) {
	g, ok := p.(*gomoku.Position)
	if !ok {
		return nil, fmt.Errorf("engine/gomoku: %T is no Gomoku position", p)
	}
	if _, opening := g.Step(); opening {
		return nil, fmt.Errorf("engine/gomoku: %s is in an opening procedure, which package opening decides", g)
	}
	set := g.Set()
	set.Opening = gomoku.Opening{} // over, and of no more account
	h := fnv.New64a()
	h.Write([]byte(set.Name())) // a hash.Hash never fails
	a := &position{forcing: set.Forcing(), set: set, salt: h.Sum64(), field: newField(g.Board(), set), toMove: g.ToMove(), key: g.Key()}
	now := goesOn
	switch out := g.Outcome(); {
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

// Enter tells of a node before its moves.
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

// forced: the other side threatens five, and that decides what to look at.
func (a *position) forced() bool { return a.forcing && !a.field.sets[a.toMove.Other()][five].empty() }

// Do sets a stone.
func (a *position) Do(m game.Move) {
	at := gomoku.Point(m - 1)
	now := goesOn
	switch {
	case a.field.wins(at, a.toMove):
		now = won
	case a.field.foul(at, a.toMove):
		now = lost
	}
	a.field.put(at, a.toMove)
	if now == goesOn && a.field.board.Full() {
		now = drawn
	}
	a.ended = append(a.ended, now)
	a.key ^= gomoku.StoneKey(at, a.toMove)
	a.turn()
}

// Undo takes it back.
func (a *position) Undo(m game.Move) {
	at := gomoku.Point(m - 1)
	a.turn()
	a.key ^= gomoku.StoneKey(at, a.toMove)
	a.ended = a.ended[:len(a.ended)-1]
	a.field.take(at, a.toMove)
}

func (a *position) turn() {
	a.toMove = a.toMove.Other()
	a.key ^= gomoku.SideKey()
}

// Pass lets the other side move.
func (a *position) Pass() { a.turn() }

// Unpass takes that back.
func (a *position) Unpass() { a.turn() }

// Eval weighs the rows of both sides by table 2, K1 times the own less K2
// times the other side's, after what is settled at once.
func (a *position) Eval() search.Score {
	own, other := &a.field.sets[a.toMove], &a.field.sets[a.toMove.Other()]
	switch {
	case !own[five].empty():
		return evalFive
	case !other[five].empty():
		if other[five].count() > 1 {
			return -evalFive
		}
	case !own[two4s].empty():
		return evalOpenFour
	}
	sum := ownEighths*a.field.sum[a.toMove] - otherEighths*a.field.sum[a.toMove.Other()]
	return min(max(search.Score(sum/(8*share)), -evalLimit), evalLimit)
}

// Clone is an independent copy for another worker.
func (a *position) Clone() search.Position {
	c := *a
	c.field = a.field.clone()
	c.ended = append([]verdict(nil), a.ended...)
	c.failed = nil
	return &c
}
