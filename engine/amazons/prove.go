package amazons

import (
	"slices"

	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// Prove decides positions in which the territories settle the game, whatever
// is still fought for. An area that only one side's amazons are in (amazons
// are no walls, they can move away; arrows are) is that side's: nobody can
// disturb it there. Every move fills a square, so a side has at most as many
// moves left as there are free squares in the areas it has amazons in. If a
// side can be shown to have more moves than that in its own areas alone, it
// wins by playing there.
//
// Filling an area to the last square is a puzzle of its own; fill solves it by
// search, and whatever it finds is a lower bound.
func (p *position) Prove(budget int, stop func() bool) (search.Proof, int, bool) {
	me := p.board.Turn()
	land := p.survey()
	f := filler{board: &p.board, budget: budget, stop: stop}
	most := [2]int{land.most(game.First), land.most(game.Second)}
	// The side to move runs out first unless it has more moves.
	if need := most[me.Other()] + 1; land.size(me) >= need {
		if line := f.fill(land.own[me], need); len(line) >= need {
			return search.Proof{Score: search.Win - search.Score(2*need-1), Line: line[:1], Kind: "region"}, f.nodes, true
		}
	}
	if need := most[me]; land.size(me.Other()) >= need {
		if line := f.fill(land.own[me.Other()], need); len(line) >= need {
			return search.Proof{Score: -search.Win + search.Score(2*need), Kind: "region"}, f.nodes, true
		}
	}
	return search.Proof{}, f.nodes, false
}

// area is a part of the board that arrows close off.
type area struct{ amazons, free rules.Bits }

// land is how the board is divided.
type land struct {
	own    [2][]area // areas that only one side has amazons in, by side
	fought int       // free squares of all others
}

// survey divides the board into areas.
func (p *position) survey() land {
	b := &p.board
	var l land
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
			l.fought += free.Count()
		}
	}
	return l
}

// size is the free squares of a side's own areas.
func (l *land) size(s game.Seat) int {
	n := 0
	for _, a := range l.own[s] {
		n += a.free.Count()
	}
	return n
}

// most is the most moves that a side may have left.
func (l *land) most(s game.Seat) int { return l.size(s) + l.fought }

// filler looks for ways to make many moves in areas that nobody else is in.
type filler struct {
	board  *rules.Board // for its geometry; areas stand apart from it
	budget int
	stop   func() bool
	nodes  int
	want   int
	line   []game.Move // under way
	best   []game.Move
}

// fill makes up to need moves in the areas, and returns as many as it found.
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
			break // the other areas cannot make up for it
		}
	}
	return all
}

// try is a move in an area, with what it leaves.
type try struct {
	move  game.Move
	after area
	order int // less is better
}

// deepen searches below an area for f.want moves in all; true when found.
func (f *filler) deepen(a area) bool {
	if len(f.line) > len(f.best) {
		f.best = slices.Clone(f.line)
	}
	if len(f.best) >= f.want {
		return true
	}
	tries := f.tries(a)
	slices.SortFunc(tries, func(a, b try) int { return a.order - b.order })
	for _, t := range tries {
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

// tries is the moves worth trying to fill an area: short ones, one square each
// way, and of these only those that leave enough squares within reach. Those
// come first that leave most, then those that fill dead ends.
func (f *filler) tries(a area) []try {
	var tries []try
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
				tries = append(tries, try{rules.NewMove(from, to, arrow), area{moved, within},
					-64*n + b.Around(arrow).And(left).Count()})
			}
		}
	}
	return tries
}
