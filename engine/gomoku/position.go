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
	weights *weights
	sides   int // of weights: see ruleClass.sides
	field   *field
	toMove  gomoku.Colour
	key     uint64
	nodes   []nodeState      // after each stone, beginning with the root
	rows    [2]int           // counted so far; continuous rules only
	buried  [][]gomoku.Point // by each stone; continuous rules only
	prover  *prover          // made when first needed
	net     *accumulator     // nil: the evaluation is the sum over codes
}

// nodeState is what is known of a position of the search.
type nodeState struct {
	verdict verdict
	facing  facing
	answers points       // all other moves lose; see facing
	stone   gomoku.Point // the last; NoPoint at the root and after a pass
}

// facing is what the other side threatens, apart from a five, that leaves only the
// answers.
type facing uint8

const (
	nothing          facing = iota // any move may be right
	twoFours                       // it can make two fives possible
	fourAndThree                   // it can make two fives possible when its four has been answered
	perhapsFourThree               // fourAndThree or nothing: see resolve
)

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
	class := classOf(set)
	a := &position{forcing: set.Forcing(), set: set, salt: h.Sum64(), weights: shipped[class](), sides: class.sides(),
		field: newField(g.Board(), set), toMove: g.ToMove(), key: g.Key()}
	for c := range gomoku.Colour(2) {
		a.rows[c] = g.Rows(c)
	}
	if n := networkOf(set); n != nil {
		a.net = newAccumulator(n, g.Board())
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
	a.nodes = append(a.nodes, nodeState{verdict: now, stone: gomoku.NoPoint})
	return a, nil
}

// Enter implements search.Position. Where the next few plies are settled by what
// the field shows, the position counts as over, with the distance to the end.
func (a *position) Enter() search.Node {
	node := search.Node{Key: a.key, SearchKey: a.key ^ a.salt}
	top := &a.nodes[len(a.nodes)-1]
	switch top.verdict {
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
	top.facing = nothing
	if verdict, ok := a.settled(top); ok {
		node.Over, node.Verdict = true, verdict
	}
	node.Forced = a.forced()
	node.Restricted = top.facing != nothing
	node.MayPass = a.field.counts[a.toMove.Other()][makesFive] == 0 && top.facing != twoFours
	return node
}

// settled returns the result of a position that rows alone decide, as a verdict with
// the plies to the end. Otherwise it restricts the moves at top to those that do not
// lose at once.
func (a *position) settled(top *nodeState) (search.Score, bool) {
	if a.set.Continuous() {
		return 0, false // a five does not end the game
	}
	own, other := &a.field.counts[a.toMove], &a.field.counts[a.toMove.Other()]
	switch {
	case own[makesFive] > 0:
		return search.Win - 1, true
	case !a.forcing:
		return 0, false
	case other[makesFive] > 1:
		return -(search.Win - 2), true
	case other[makesFive] == 1:
		// If the only answer is forbidden, there is none.
		if a.field.foul(a.field.sets[a.toMove.Other()][five].first(), a.toMove) {
			return -(search.Win - 2), true
		}
		return 0, false
	case own[makesTwo4s] > 0:
		if _, ok := a.field.firstAllowed(&a.field.sets[a.toMove][two4s], a.toMove); ok {
			return search.Win - 3, true
		}
	}
	if other[makesTwo4s] > 0 {
		// Own fours come first; every other move loses.
		stops, threatened := a.field.stopsOfTwo4s(a.toMove.Other())
		top.answers = stops.union(&a.field.sets[a.toMove][four])
		switch {
		case threatened && top.answers.empty(): // not restricted: the root needs a move
			return -(search.Win - 4), true
		case threatened:
			top.facing = twoFours
			return 0, false
		}
	}
	if other[makesFourMore] > 0 {
		top.facing = perhapsFourThree // most nodes need no answers: they are leaves
	}
	return 0, false
}

// resolve finds what the node faces, and its answers, if that is not yet known.
func (a *position) resolve() *nodeState {
	top := &a.nodes[len(a.nodes)-1]
	if top.facing != perhapsFourThree {
		return top
	}
	top.facing = nothing
	if stops, threatened := a.field.stopsOfFourThrees(a.toMove.Other()); threatened {
		top.facing, top.answers = fourAndThree, stops.union(&a.field.sets[a.toMove][four])
	}
	return top
}

// need returns what the side to move has to meet.
func (a *position) need() need {
	if a.nodes[len(a.nodes)-1].facing == twoFours {
		return meetThree
	}
	return meetNothing
}

// forced reports whether the other side threatens a five that must be stopped.
func (a *position) forced() bool {
	return a.forcing && a.field.counts[a.toMove.Other()][makesFive] > 0
}

// KeyAfter implements search.KeyPrefetcher. It is right unless the stone scores a row
// under the continuous rules.
func (a *position) KeyAfter(m game.Move) uint64 {
	return a.key ^ gomoku.StoneKey(gomoku.Point(m-1), a.toMove) ^ gomoku.SideKey() ^ a.salt
}

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
	a.nodes = append(a.nodes, nodeState{verdict: now, stone: at})
	a.key ^= gomoku.StoneKey(at, a.toMove)
	a.turn()
}

// Undo implements search.Position.
func (a *position) Undo(m game.Move) {
	at := gomoku.Point(m - 1)
	a.turn()
	a.key ^= gomoku.StoneKey(at, a.toMove)
	a.drop()
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
func (a *position) Pass() {
	a.nodes = append(a.nodes, nodeState{stone: gomoku.NoPoint})
	a.turn()
}

// Unpass implements search.Position.
func (a *position) Unpass() {
	a.drop()
	a.turn()
}

// drop takes back the last node.
func (a *position) drop() {
	last := len(a.nodes) - 1
	a.nodes = a.nodes[:last]
	if a.net != nil {
		a.net.valid = min(a.net.valid, last-1)
	}
}

// Eval returns the static evaluation: what the empty points are worth by their
// codes, who threatens what, and what the network corrects.
func (a *position) Eval() search.Score {
	own, _ := valuesOf(a.field.value[a.toMove])
	_, other := valuesOf(a.field.value[a.toMove.Other()])
	sum := own + other
	sum += a.weights.eval[int(a.toMove)%a.sides].threat[a.field.threatIndex(a.toMove)]
	if a.net != nil && a.field.board.Stones() > fewStones {
		a.net.follow(a.nodes, a.toMove)
		sum += a.net.value(a.toMove)
	}
	return bounded(search.Score(sum/evalUnit) + a.countedRows() + a.places())
}

// places is what the places of the stones are worth to the side to move while there
// are few.
func (a *position) places() search.Score {
	switch {
	case a.field.board.Stones() > fewStones:
		return 0
	case a.toMove == gomoku.White:
		return search.Score(-inwards * a.field.inside)
	}
	return search.Score(inwards * a.field.inside)
}

// countedRows is the value of the rows counted so far under the continuous rules.
func (a *position) countedRows() search.Score {
	return search.Score(a.rows[a.toMove]-a.rows[a.toMove.Other()]) * countedRow
}

func bounded(v search.Score) search.Score { return min(max(v, -evalLimit), evalLimit) }

// Clone implements search.Position.
func (a *position) Clone() search.Position {
	c := *a
	c.field = a.field.clone()
	c.nodes = slices.Clone(a.nodes)
	c.buried = slices.Clone(a.buried)
	c.prover = nil
	if a.net != nil {
		c.net = a.net.clone()
	}
	return &c
}
