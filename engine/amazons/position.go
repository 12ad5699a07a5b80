// Package amazons lets the kernel play the Game of the Amazons: the adapter of
// search.Position over the rules' board, with an evaluation that is learnt and
// contains the staged one of Guo, Li and Bao (2012), and its parameters.
package amazons

import (
	"fmt"

	rules "sparring/game/amazons"

	"sparring/engine/amazons/areas"
	"sparring/engine/search"
	"sparring/game"
)

// position is a board with a stack of frames, one for each node of the line.
type position struct {
	board  rules.Board
	geo    *geometry
	salt   uint64 // of the board's size, for search keys
	eval   *evaluation
	stages []*stage     // of the evaluation by number of arrows, if it has stages
	tables []*evalTable // the same for the learnt one
	order  *orderWeights
	// squaresToFill is the number of arrows at the end of the longest game.
	squaresToFill int
	frames        []*frame // frames[ply] is this node's
	ply           int
	table         *areas.Table  // may be nil
	areas         *areas.Solver // made when first asked, like the next
	proofs        *proofSearch
	defective     *defectCache // made when first needed
	undecided     uint64       // key of a position that areas do not decide, or 0
}

// frame has what was computed at a node. All cursors at the node share it, and it
// stays valid while the node's moves are searched.
type frame struct {
	known bool
	reach [2]rules.Bits     // free squares one queen move from each side's amazons
	moves [maxSquares]uint8 // the number of queen moves of the amazon on a square
	order order
}

// New adapts a position of the rules, which it does not keep.
func New(p game.Position) (search.Position, error) {
	own, ok := p.(*rules.Position)
	if !ok {
		return nil, fmt.Errorf("amazons engine: not a position of amazons: %T", p)
	}
	q := &position{board: own.Board(), order: shippedOrder, frames: []*frame{{}}}
	cols, rows := q.board.Size()
	q.geo = geometryOf(cols, rows)
	q.salt = game.Zobrist(rules.Seed, 1<<16+uint64(cols)<<8+uint64(rows))
	q.squaresToFill = q.board.Arrows().Count() + q.board.Free().Count()
	q.evaluateBy(&learnt)
	return q, nil
}

// evaluateBy changes the evaluation.
func (p *position) evaluateBy(e *evaluation) {
	p.eval, p.stages, p.tables = e, nil, nil
	if e.stages != nil {
		p.stages = stagesByArrows(e.stages, p.squaresToFill)
	}
	if e == &learnt {
		p.tables = shippedTables[nearestBoard(p.geo.squares())][p.squaresToFill]()
	}
}

// Clone implements search.Position.
func (p *position) Clone() search.Position {
	q := *p
	q.frames, q.ply, q.areas, q.proofs, q.defective = []*frame{{}}, 0, nil, nil, nil
	return &q
}

// currentFrame returns the node's frame with its reach computed.
func (p *position) currentFrame() *frame {
	f := p.frames[p.ply]
	if !f.known {
		f.known = true
		f.order.known = false
		f.reach = p.geo.queenMoves(p.board.Free(), [2]rules.Bits{p.board.Amazons(game.First), p.board.Amazons(game.Second)}, &f.moves)
	}
	return f
}

// fill returns the free squares that a queen move from any square of a set reaches,
// and those of the set itself that are free.
func (p *position) fill(free, from rules.Bits) rules.Bits {
	if p.geo.oneWord {
		a, _ := fill64(&p.geo.slides, free.Lo, from.Lo, 0)
		return rules.Bits{Lo: a & free.Lo}
	}
	a, _ := fill128(&p.geo.slides, free, from, rules.Bits{})
	return a.And(free)
}

// Enter implements search.Position. A null move makes sense while both sides
// reach the same squares, but not once territories are divided and every move
// fills a square of one's own.
func (p *position) Enter() search.Node {
	f := p.currentFrame()
	shared := f.reach[0].And(f.reach[1])
	n := search.Node{
		Key:       p.board.Key(),
		SearchKey: p.board.Key() ^ p.salt,
		MayPass:   !shared.Empty(),
		Provable:  p.provable(shared.Count()),
	}
	if f.reach[p.board.Turn()].Empty() {
		n.Over, n.Verdict = true, -search.Win
	}
	return n
}

// KeyAfter implements search.KeyPrefetcher.
func (p *position) KeyAfter(m game.Move) uint64 { return p.board.KeyAfter(m) ^ p.salt }

// Do implements search.Position.
func (p *position) Do(m game.Move) {
	p.board.Do(m)
	p.descend()
}

// Undo implements search.Position.
func (p *position) Undo(m game.Move) {
	p.board.Undo(m)
	p.ply--
}

// Pass implements search.Position.
func (p *position) Pass() {
	p.board.Pass()
	p.descend()
}

// Unpass implements search.Position.
func (p *position) Unpass() {
	p.board.Pass()
	p.ply--
}

func (p *position) descend() {
	p.ply++
	if p.ply == len(p.frames) {
		p.frames = append(p.frames, &frame{})
	}
	p.frames[p.ply].known = false
}
