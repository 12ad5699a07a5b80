// Package amazons lets the kernel play the Game of the Amazons: the adapter of
// search.Position over the rules' board, with the staged evaluation of Guo, Li
// and Bao (2012), and its parameters.
package amazons

import (
	"fmt"

	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// position is a board with a stack of frames, one for each node of the line.
type position struct {
	board  rules.Board
	geo    *geometry
	salt   uint64 // of the board's size, for search keys
	eval   *evaluation
	frames []*frame // frames[ply] is this node's
	ply    int
}

// frame has what was computed at a node. All cursors at the node share it, and it
// stays valid while the node's moves are searched.
type frame struct {
	known    bool
	stage    *stage        // nil without stages
	reach    [2]rules.Bits // free squares one queen move from each side's amazons
	mobility [2]int        // each side's part of m, if the stage uses it
	order    order
}

// New adapts a position of the rules, which it does not keep.
func New(p game.Position) (search.Position, error) {
	own, ok := p.(*rules.Position)
	if !ok {
		return nil, fmt.Errorf("amazons engine: not a position of amazons: %T", p)
	}
	q := &position{board: own.Board(), eval: &staged, frames: []*frame{{}}}
	cols, rows := q.board.Size()
	q.geo = newGeometry(cols, rows)
	q.salt = game.Zobrist(rules.Seed, 1<<16+uint64(cols)<<8+uint64(rows))
	return q, nil
}

// Clone implements search.Position.
func (p *position) Clone() search.Position {
	return &position{board: p.board, geo: p.geo, salt: p.salt, eval: p.eval, frames: []*frame{{}}}
}

// currentFrame returns the node's frame with its reach computed.
func (p *position) currentFrame() *frame {
	f := p.frames[p.ply]
	if !f.known {
		f.known = true
		f.order.known = false
		f.stage = p.stage()
		for s := range game.Seat(2) {
			if f.stage != nil && f.stage.m != 0 {
				f.reach[s], f.mobility[s] = mobility(&p.board, s)
			} else { // all amazons at once are faster than one by one
				f.reach[s] = p.board.Reach(p.board.Amazons(s))
				f.mobility[s] = 0
			}
		}
	}
	return f
}

// Enter implements search.Position. A null move makes sense while both sides
// reach the same squares, but not once territories are divided and every move
// fills a square of one's own.
func (p *position) Enter() search.Node {
	f := p.currentFrame()
	n := search.Node{
		Key:       p.board.Key(),
		SearchKey: p.board.Key() ^ p.salt,
		MayPass:   !f.reach[0].And(f.reach[1]).Empty(),
	}
	if f.reach[p.board.Turn()].Empty() {
		n.Over, n.Verdict = true, -search.Win
	}
	return n
}

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
