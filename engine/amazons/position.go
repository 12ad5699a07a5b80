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

// position is a board with a stack of what is known of the nodes on the line.
type position struct {
	board  rules.Board
	geo    *geometry
	salt   uint64   // of the board's size, for search keys
	frames []*frame // frames[ply] is this node's
	ply    int
}

// frame is what a node has computed so far. It is shared by all cursors at the
// node, and stays valid while moves below are searched.
type frame struct {
	known    bool
	stage    *stage
	reach    [2]rules.Bits // free squares one queen move from each side's amazons
	mobility [2]int        // each side's part of m, where the stage asks for it
	order    order
}

// New is the adapter for a position of the rules. The position itself is not
// kept.
func New(p game.Position) (search.Position, error) {
	own, ok := p.(*rules.Position)
	if !ok {
		return nil, fmt.Errorf("amazons engine: not a position of amazons: %T", p)
	}
	q := &position{board: own.Board(), frames: []*frame{{}}}
	cols, rows := q.board.Size()
	q.geo = newGeometry(cols, rows)
	q.salt = game.Zobrist(rules.Seed, 1<<16+uint64(cols)<<8+uint64(rows))
	return q, nil
}

// Clone is an independent copy at the same node.
func (p *position) Clone() search.Position {
	return &position{board: p.board, geo: p.geo, salt: p.salt, frames: []*frame{{}}}
}

// here is the node's frame with its reach known.
func (p *position) here() *frame {
	f := p.frames[p.ply]
	if !f.known {
		f.known = true
		f.order.known = false
		f.stage = p.stage()
		for s := range game.Seat(2) {
			if f.stage.m != 0 {
				f.reach[s], f.mobility[s] = mobility(&p.board, s)
			} else { // all amazons at once are quicker than one by one
				f.reach[s] = p.board.Reach(p.board.Amazons(s))
				f.mobility[s] = 0
			}
		}
	}
	return f
}

// Enter settles lost positions and whether a null move makes sense: it does
// while both sides fight for the same squares, not once territories are
// divided and every move fills one's own.
func (p *position) Enter() search.Node {
	f := p.here()
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

// Do plays a legal move.
func (p *position) Do(m game.Move) {
	p.board.Do(m)
	p.descend()
}

// Undo takes it back.
func (p *position) Undo(m game.Move) {
	p.board.Undo(m)
	p.ply--
}

// Pass lets the other side move.
func (p *position) Pass() {
	p.board.Pass()
	p.descend()
}

// Unpass takes that back.
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
