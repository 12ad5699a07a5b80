// Package xiangqi makes the kernel of package search play Xiangqi: it gives
// order and worth to the moves and positions of the rules' fast board. New
// and Params are all that a caller needs.
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

// New adapts a game's position, with its history and its rules. It fails on
// another game's.
func New(p game.Position) (search.Position, error) {
	x, ok := p.(*rules.Position)
	if !ok {
		return nil, fmt.Errorf("xiangqi engine: a position of %s", p.Rules().Name)
	}
	b := x.Board().Clone()
	a := &position{board: b, rules: x.RuleSet(), root: len(b.States()), eval: shipped}
	a.accumulators = append(make([]accumulator, 0, search.MaxPly+64), a.eval.accumulate(b))
	for _, c := range []byte(a.rules.Name()) {
		a.salt = game.Zobrist(a.salt, uint64(c))
	}
	return a, nil
}

// accumulator are the sums of the current node.
func (p *position) accumulator() *accumulator { return &p.accumulators[len(p.accumulators)-1] }

// Near the move limit a score depends on the plies left. The table keeps
// scores apart by limitStep plies from limitFar plies before the limit on, and
// is not trusted at all from limitNear on.
const (
	limitFar  = 40
	limitStep = 8
	limitNear = 12
)

// Enter tells the kernel of the position.
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
		p.settle(&node)
	}
	return node
}

// attackers are c's pieces that can give check.
func (p *position) attackers(c rules.Color) rules.Bits {
	b := p.board
	return b.Of(rules.MakePiece(c, rules.Rook)).Or(b.Of(rules.MakePiece(c, rules.Horse))).Or(b.Of(rules.MakePiece(c, rules.Cannon)))
}

// repeated judges a position that stood before. Once is enough when it stood
// in the line searched, because who made it come again can do so for ever;
// what lies before the root must have come as often as the rules demand.
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

// KeyAfter is right but near the move limit.
func (p *position) KeyAfter(m game.Move) uint64 { return p.board.KeyAfter(m) ^ p.salt }

// Do makes a move that Moves or Find gave here.
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

// Undo takes back the last Do.
func (p *position) Undo(game.Move) {
	p.accumulators = p.accumulators[:len(p.accumulators)-1]
	p.board.Undo()
}

// Pass lets the other side move.
func (p *position) Pass() { p.board.Pass() }

// Unpass takes back a Pass.
func (p *position) Unpass() { p.board.Unpass() }

// Clone is an independent copy for another worker.
func (p *position) Clone() search.Position {
	c := *p
	c.board = p.board.Clone()
	c.accumulators = append(make([]accumulator, 0, cap(p.accumulators)), p.accumulators...)
	return &c
}
