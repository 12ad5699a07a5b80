package tictactoe

import (
	"fmt"
	"math/bits"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game"
)

// Adapter returns the game's row in the engine.
func Adapter() adapter.Adapter {
	a := adapter.Adapter{
		Game: Name, New: adapt, Params: params, Length: size * size,
		Bench:    adapter.Bench{Rules: rules.Name, Depth: size * size, Deep: size * size, Positions: []string{".../.../... x", "x../.o./..x o"}},
		Openings: adapter.Openings{Plies: 1, Bound: 0.5},
		Beginner: extending,
	}
	for i := range a.Levels { // from random moves to perfect play
		a.Levels[i] = adapter.LevelParameters{Nodes: 10 << i, Compare: 10 - i, Slip: float64(9-i) / 3}
	}
	return a
}

func params() search.Params {
	return search.Params{
		Game: Name, HistorySize: [2]int{size * size, 1}, WinScale: 20,
		On: search.Switches{IterativeDeepening: true, FailSoft: true, PVS: true, HashMove: true, HashCutoff: true, Killers: true, History: true, MateDistance: true},
	}
}

// node is a board in a search.
type node struct{ board }

func adapt(p game.Position) (search.Position, error) {
	own, ok := p.(*position)
	if !ok {
		return nil, fmt.Errorf("%s: a position of %s", Name, p.Rules().Name)
	}
	return &node{own.board}, nil
}

func (n *node) Enter() search.Node {
	key := n.key()
	at := search.Node{Key: key, SearchKey: key}
	if out := n.outcome(); out.Over() {
		at.Over = true
		if out.Result != game.Draw {
			at.Verdict = -search.Win // a row is always the last mover's
		}
	}
	return at
}

func (n *node) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	if c.Stage++; c.Stage > 1 || c.Mode == search.Noisy {
		return buf
	}
	for _, m := range n.legal(nil) {
		buf = append(buf, scored(m))
	}
	return buf
}

func scored(m game.Move) search.ScoredMove {
	return search.ScoredMove{Move: m, HistoryIndex: [2]uint16{uint16(m - 1), 0}}
}

func (n *node) Find(m game.Move) (search.ScoredMove, bool) {
	if m < 1 || m > size*size || !n.empty(int(m-1)) || n.outcome().Over() {
		return search.ScoredMove{}, false
	}
	return scored(m), true
}

func (n *node) Do(m game.Move)         { n.play(m) }
func (n *node) Undo(m game.Move)       { n.undo(m) }
func (n *node) Pass()                  { n.turn = n.turn.Other() }
func (n *node) Unpass()                { n.turn = n.turn.Other() }
func (n *node) Clone() search.Position { c := *n; return &c }

// Eval counts the stones in rows that are still open.
func (n *node) Eval() (sum search.Score) {
	own, other := n.stones[n.turn], n.stones[n.turn.Other()]
	for _, row := range rows {
		if other&row == 0 {
			sum += search.Score(bits.OnesCount16(own & row))
		}
		if own&row == 0 {
			sum -= search.Score(bits.OnesCount16(other & row))
		}
	}
	return sum
}

// extending prefers the cell with the most own stones in a row with it.
func extending(p game.Position) func(game.Move) int {
	b := p.(*position).board
	return func(m game.Move) (most int) {
		for _, row := range rows {
			if row>>(m-1)&1 == 1 {
				most = max(most, bits.OnesCount16(b.stones[b.turn]&row))
			}
		}
		return most
	}
}
