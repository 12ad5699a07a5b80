// Package xiangqi is the kernel's adapter for Xiangqi: move generation and
// ordering on the board of the rules, evaluation and parameters. [Adapter] is its
// row in the table of package engine.
package xiangqi

import (
	"fmt"

	"sparring/engine/search"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// position adapts a board to the kernel.
type position struct {
	board        *rules.Board
	rules        *rules.Rules
	eval         *evaluation
	root         int           // states of the board at the root
	accumulators []accumulator // of the root and each Do since
	salt         uint64        // of the rule set, in SearchKey

	reaches rules.Reaches // room for Moves

	tables Tables // nil: none
	past   past
}

// New adapts a position with its history and rules. The error is for a position
// of another game.
func New(p game.Position) (search.Position, error) {
	x, ok := p.(*rules.Position)
	if !ok {
		return nil, fmt.Errorf("xiangqi engine: a position of %s", p.Rules().Name)
	}
	b := x.Board().Clone()
	a := &position{board: b, rules: x.RuleSet(), root: len(b.States()), eval: shipped}
	a.accumulators = []accumulator{a.eval.accumulate(b)}
	for _, c := range []byte(a.rules.Name()) {
		a.salt = game.Zobrist(a.salt, uint64(c))
	}
	return a, nil
}

// accumulator returns the sums of the current node.
func (p *position) accumulator() *accumulator { return &p.accumulators[len(p.accumulators)-1] }

// Near the move limit a score depends on the number of plies left. From limitFar
// plies before the limit on, the hash table tells positions apart by limitStep
// plies; from limitNear on it is not used.
const (
	limitFar  = 40
	limitStep = 8
	limitNear = 12
)

// Enter implements search.Position.
func (p *position) Enter() search.Node {
	b := p.board
	st := b.State()
	node := search.Node{Key: st.Key, SearchKey: st.Key ^ p.salt, Forced: st.Checkers.Any()}
	node.MayPass = !node.Forced && p.attackers(b.Side()).Any()
	if b.Insufficient() {
		node.Over, node.Verdict = true, search.Draw
		return node
	}
	if p.repeated(&node) {
		return node
	}
	if limit := p.rules.Limit(); limit > 0 {
		left := limit - int(st.Quiet)
		switch {
		case left <= 0:
			node.Over, node.Verdict = true, search.Draw
			if !b.AnyLegal() {
				node.Verdict = -search.Win
			}
		case left <= limitFar:
			node.SearchKey ^= game.Zobrist(p.salt, uint64(left/limitStep))
			node.NoTable = left <= limitNear
		}
	}
	if p.tables != nil {
		p.probeNode(&node)
	}
	return node
}

// attackers are c's pieces that can give check.
func (p *position) attackers(c rules.Colour) rules.Bits {
	b := p.board
	return b.Of(rules.MakePiece(c, rules.Rook)).Or(b.Of(rules.MakePiece(c, rules.Horse))).Or(b.Of(rules.MakePiece(c, rules.Cannon)))
}

// repeated applies the repetition rules to a position that has occurred before.
// One earlier occurrence is enough if it is in the line searched, because the
// players can repeat it forever. Before the root the rules' number of
// occurrences is needed.
func (p *position) repeated(node *search.Node) bool {
	b := p.board
	span := b.Recurrence(1)
	if span == 0 {
		return false
	}
	if searched := len(b.States()) - p.root; span > searched {
		if span = b.Recurrence(rules.Occurrences - 1); span == 0 {
			return false
		}
	}
	node.Over, node.RepetitionPlies = true, span
	switch out := p.rules.JudgeRepetition(b, span); {
	case out.Result == game.WonBy(b.Side().Seat()):
		node.Verdict = search.RepWin
	case out.Result == game.Draw:
		node.Verdict = search.Draw
	default:
		node.Verdict = -search.RepWin
	}
	return true
}

// KeyAfter implements search.KeyPrefetcher. It is right except near the move
// limit.
func (p *position) KeyAfter(m game.Move) uint64 { return p.board.KeyAfter(m) ^ p.salt }

// Do implements search.Position.
func (p *position) Do(m game.Move) {
	from, to := rules.From(m), rules.To(m)
	next := *p.accumulator()
	if captured := p.board.At(to); captured != rules.NoPiece {
		next.take(p.eval, captured, to)
	}
	next.move(p.eval, p.board.At(from), from, to)
	p.accumulators = append(p.accumulators, next)
	p.board.Do(m)
}

// Undo implements search.Position.
func (p *position) Undo(game.Move) {
	p.accumulators = p.accumulators[:len(p.accumulators)-1]
	p.board.Undo()
}

// Pass implements search.Position.
func (p *position) Pass() { p.board.Pass() }

// Unpass implements search.Position.
func (p *position) Unpass() { p.board.Unpass() }

// usualLine is how deep most searches look. For longer lines their stacks grow, once.
const usualLine = 48

// Clone implements search.Position. Searches clone the position that they are of, so
// there is room for their lines.
func (p *position) Clone() search.Position {
	c := *p
	c.board = p.board.CloneForSearch(usualLine)
	c.accumulators = append(make([]accumulator, 0, len(p.accumulators)+usualLine), p.accumulators...)
	return &c
}
