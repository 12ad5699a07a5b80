package amazons

import (
	"slices"

	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// Prove decides positions that are won by territory alone. Arrows divide the
// board into areas (amazons do not, since they can move away). An area with
// amazons of just one side belongs to that side, and nobody can disturb it
// there. Every move fills a square, so a side has at most as many moves left as
// there are free squares in the areas with its amazons. A side that can be shown
// to have more moves than its opponent may have, in its own areas alone, wins by
// playing there.
//
// Filling an area completely is a puzzle of its own. Fill searches for a way, and
// what it finds is a lower bound.
func (p *position) Prove(budget int, stop func() bool) (search.Proof, int, bool) {
	me := p.board.Turn()
	land := p.divide()
	f := filler{board: &p.board, budget: budget, stop: stop}
	most := [2]int{land.maxMoves(game.First), land.maxMoves(game.Second)}
	// With equal numbers the side to move runs out of moves first.
	if need := most[me.Other()] + 1; land.ownSquares(me) >= need {
		if line := f.fill(land.own[me], need); len(line) >= need {
			return search.Proof{Score: search.Win - search.Score(2*need-1), Line: line[:1], Kind: "region"}, f.nodes, true
		}
	}
	if need := most[me]; land.ownSquares(me.Other()) >= need {
		if line := f.fill(land.own[me.Other()], need); len(line) >= need {
			return search.Proof{Score: -search.Win + search.Score(2*need), Kind: "region"}, f.nodes, true
		}
	}
	return search.Proof{}, f.nodes, false
}

// area is a part of the board enclosed by arrows.
type area struct{ amazons, free rules.Bits }

// territory is the division of the board into areas.
type territory struct {
	own       [2][]area // areas with amazons of one side only, by side
	contested int       // free squares of the other areas
}

// divide divides the board into areas.
func (p *position) divide() territory {
	b := &p.board
	var l territory
	open := b.Free().Or(b.Amazons(game.First)).Or(b.Amazons(game.Second))
	for rest := b.Amazons(game.First).Or(b.Amazons(game.Second)); !rest.Empty(); {
		all := b.Connected(rules.Bit(rest.First()), open)
		rest = rest.AndNot(all)
		free := all.And(b.Free())
		first, second := all.And(b.Amazons(game.First)), all.And(b.Amazons(game.Second))
		switch {
		case second.Empty():
			l.own[game.First] = append(l.own[game.First], area{first, free})
		case first.Empty():
			l.own[game.Second] = append(l.own[game.Second], area{second, free})
		default:
			l.contested += free.Count()
		}
	}
	return l
}

// ownSquares returns the number of free squares in a side's own areas.
func (l *territory) ownSquares(s game.Seat) int {
	n := 0
	for _, a := range l.own[s] {
		n += a.free.Count()
	}
	return n
}

// maxMoves returns the greatest number of moves that a side may have left.
func (l *territory) maxMoves(s game.Seat) int { return l.ownSquares(s) + l.contested }

// filler looks for ways to make many moves in areas of one side.
type filler struct {
	board  *rules.Board // for its geometry only
	budget int
	stop   func() bool
	nodes  int
	want   int
	line   []game.Move // current
	best   []game.Move
}

// fill finds up to need moves in the areas.
func (f *filler) fill(areas []area, need int) []game.Move {
	var all []game.Move
	rest := 0
	for _, a := range areas {
		rest += a.free.Count()
	}
	for _, a := range areas {
		size := a.free.Count()
		rest -= size
		f.line, f.best = f.line[:0], nil
		f.want = min(size, need-len(all))
		f.deepen(a)
		all = append(all, f.best...)
		if len(all)+rest < need {
			break // the other areas are too small
		}
	}
	return all
}

// fillMove is a move in an area, and the area after it.
type fillMove struct {
	move  game.Move
	after area
	order int // the smallest first
}

// deepen continues the line in an area; true when it has f.want moves.
func (f *filler) deepen(a area) bool {
	if len(f.line) > len(f.best) {
		f.best = slices.Clone(f.line)
	}
	if len(f.best) >= f.want {
		return true
	}
	moves := f.fillMoves(a)
	slices.SortFunc(moves, func(a, b fillMove) int { return a.order - b.order })
	for _, t := range moves {
		if f.nodes >= f.budget || f.nodes%256 == 255 && f.stop() {
			f.budget = f.nodes
			return false
		}
		f.nodes++
		f.line = append(f.line, t.move)
		found := f.deepen(t.after)
		f.line = f.line[:len(f.line)-1]
		if found {
			return true
		}
	}
	return false
}

// fillMoves are candidate moves to fill an area: moves and arrows of one square,
// after which enough squares can still be reached. Moves that leave more squares
// come first, then those that fill dead ends.
func (f *filler) fillMoves(a area) []fillMove {
	var moves []fillMove
	b := f.board
	for set := a.amazons; !set.Empty(); {
		from := set.Pop()
		for tos := b.Around(from).And(a.free); !tos.Empty(); {
			to := tos.Pop()
			moved := a.amazons.Xor(rules.Bit(from)).Or(rules.Bit(to))
			free := a.free.Or(rules.Bit(from)).AndNot(rules.Bit(to))
			for shots := b.Around(to).And(free); !shots.Empty(); {
				arrow := shots.Pop()
				left := free.AndNot(rules.Bit(arrow))
				within := b.Connected(moved, left.Or(moved)).And(left)
				n := within.Count()
				if len(f.line)+1+n < f.want {
					continue
				}
				moves = append(moves, fillMove{rules.NewMove(from, to, arrow), area{moved, within},
					-64*n + b.Around(arrow).And(left).Count()})
			}
		}
	}
	return moves
}
