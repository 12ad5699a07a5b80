package xiangqi

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// kindCheckmate names proofs by checks.
const kindCheckmate = "checks"

// mateDepth is the greatest number of attacking moves in a proof.
const mateDepth = 20

// Prove looks the position up in the endgame tables, or else looks for a win
// by checks.
func (p *position) Prove(budget int, stop func() bool) (search.Proof, int, bool) {
	if proof, ok := p.lookUp(); ok {
		return proof, 0, true
	}
	return p.proveByChecks(budget, stop)
}

// proveByChecks looks for a win by checks alone. Each of them leaves the opponent
// few replies, so it goes much deeper than a search with quiet moves. It finds
// the shortest win first. A line that repeats a position or reaches the move
// limit proves nothing.
func (p *position) proveByChecks(budget int, stop func() bool) (proof search.Proof, nodes int, ok bool) {
	a := attacker{position: p, budget: budget, stop: stop}
	defer func() { nodes = a.nodes }()
	for depth := 1; depth <= mateDepth; depth++ {
		a.cut = false
		if a.wins(depth, 0) {
			plies := 2*depth - 1
			line := slices.Clone(a.line[0])
			return search.Proof{Score: search.Win - search.Score(plies), Line: line, Kind: kindCheckmate}, a.nodes, true
		}
		if !a.cut || a.spent() {
			break // no line was cut short, so there is nothing deeper
		}
	}
	return search.Proof{}, a.nodes, false
}

// attacker is a search for a win by checks.
type attacker struct {
	*position
	budget, nodes int
	stop          func() bool
	cut           bool                       // a line ended at the depth limit with a check
	checks        [mateDepth][]checkingMove  // buffers, by the number of checks given before
	line          [mateDepth + 1][]game.Move // the win found, indexed like checks
}

// checkingMove is a check and the number of replies to it.
type checkingMove struct {
	move    game.Move
	answers int
}

// stopEvery is the number of nodes between two calls of stop.
const stopEvery = 256

func (a *attacker) spent() bool {
	if a.nodes%stopEvery == 0 && a.stop() {
		a.budget = 0
	}
	return a.nodes >= a.budget
}

// wins reports whether the side to move mates with at most depth checks, after at
// checks given before.
func (a *attacker) wins(depth, at int) bool {
	checks := a.listChecks(a.checks[at][:0])
	a.checks[at] = checks
	for i := range checks {
		if checks[i].answers == 0 {
			a.line[at] = append(a.line[at][:0], checks[i].move)
			return true
		}
	}
	if depth == 1 {
		a.cut = a.cut || len(checks) > 0
		return false
	}
	for _, c := range checks {
		if a.spent() {
			return false
		}
		a.nodes++
		a.Do(c.move)
		won := a.mated(depth-1, at)
		a.Undo(c.move)
		if won {
			a.line[at] = append(append(a.line[at][:0], c.move), a.line[at+1]...)
			return true
		}
	}
	return false
}

// mated reports whether all replies to the check lose; line[at+1] is then the one
// that lasts longest, with its continuation.
func (a *attacker) mated(depth, at int) bool {
	if a.undecided() {
		return false
	}
	var longest []game.Move
	var room [rules.MaxMoves]game.Move
	for _, m := range a.board.Legal(room[:0]) {
		if a.spent() {
			return false
		}
		a.nodes++
		a.Do(m)
		won := !a.undecided() && a.wins(depth, at+1)
		a.Undo(m)
		if !won {
			return false
		}
		if len(a.line[at+1])+1 > len(longest) {
			longest = append([]game.Move{m}, a.line[at+1]...)
		}
	}
	a.line[at+1] = longest
	return true
}

// undecided reports whether the result depends on more than the board: on a
// repetition or the move limit.
func (a *attacker) undecided() bool {
	node := a.Enter()
	return node.Over || node.NoTable
}

// listChecks returns the checks of the side to move, those with the fewest replies
// first.
func (a *attacker) listChecks(list []checkingMove) []checkingMove {
	b := a.board
	checking := b.Checking()
	var room [rules.MaxMoves]game.Move
	for _, m := range b.Legal(room[:0]) {
		from, to := rules.From(m), rules.To(m)
		if targets, sure := checking.Targets(b.At(from), from); !targets.Has(to) || !sure && !b.GivesCheck(m) {
			continue
		}
		b.Do(m)
		a.nodes++
		n := b.CountLegal()
		b.Undo()
		list = append(list, checkingMove{m, n})
	}
	slices.SortStableFunc(list, func(x, y checkingMove) int { return x.answers - y.answers })
	return list
}
