package amazons

import (
	"sparring/engine/amazons/areas"
	"sparring/engine/search"
	"sparring/game"
)

// WithAreas is New for an engine that has a table of areas.
func WithAreas(t *areas.Table) func(game.Position) (search.Position, error) {
	return func(g game.Position) (search.Position, error) {
		s, err := New(g)
		if err != nil {
			return nil, err
		}
		p := s.(*position)
		p.table = t
		return p, nil
	}
}

// Prove implements search.Prover: by areas, or if the position is small by
// proof-number search, with a budget that only the root has. The root is asked about
// again and again: areas that have not decided it never will, unless their budget or
// time was short.
func (p *position) Prove(budget int, stop func() bool) (search.Proof, int, bool) {
	root, nodes := budget > proveNode, 0
	if key := p.board.Key(); !root || key != p.undecided {
		most, short := min(budget, proveRoot), false
		proof, n, ok := p.proveAreas(most, func() bool {
			short = stop()
			return short
		})
		if ok || !root {
			return proof, n, ok
		}
		if nodes = n; n < most && !short {
			p.undecided = key
		}
	}
	proof, more, ok := p.prove(budget-nodes, stop)
	return proof, nodes + more, ok
}

// proveAreas decides positions by the areas that arrows have divided the board into, see
// package areas.
func (p *position) proveAreas(budget int, stop func() bool) (search.Proof, int, bool) {
	if p.areas == nil {
		table := p.table
		if table == nil {
			table = areas.Small()
		}
		p.areas = areas.NewSolver(p.geo.cols, p.geo.rows, table)
	}
	turn := p.board.Turn()
	o, nodes, ok := p.areas.Solve(p.areas.Divide(&p.board), turn, budget, stop)
	if !ok {
		return search.Proof{}, nodes, false
	}
	proof := search.Proof{Score: search.Win - search.Score(o.Plies), Kind: "region"}
	if o.Winner != turn {
		proof.Score = -proof.Score
	} else if o.Move != game.NoMove {
		proof.Line = []game.Move{o.Move}
	}
	return proof, nodes, true
}

// provable reports whether the board is divided so far that Prove will probably
// decide the game: what both sides can still come to is little, or less than the
// lead of one of them. Shared is the number of squares that both reach in one move.
func (p *position) provable(shared int) bool {
	b := &p.board
	if 4*shared > b.Free().Count() {
		return false // the cheapest test, for most of the game
	}
	first, second := b.Amazons(game.First), b.Amazons(game.Second)
	open := b.Free().Or(first).Or(second)
	first, second = b.Connected(first, open), b.Connected(second, open)
	both := first.And(second).And(b.Free()).Count()
	lead := first.And(b.Free()).Count() - second.And(b.Free()).Count()
	amazons := b.Amazons(game.First).Or(b.Amazons(game.Second)).And(first).And(second).Count()
	return both*amazons <= provableWork && both <= provableSquares || max(lead, -lead) >= both
}
