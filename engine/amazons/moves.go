package amazons

import (
	"cmp"
	"slices"

	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// Sizes of the kernel's history tables: queen steps by from and to, arrows by
// where they land.
const (
	stepSlots  = 1 << 14
	arrowSlots = 1 << 7
)

// order is a node's static move order: what an obstacle on each square would
// take from either side, and the queen steps, best first.
type order struct {
	known bool
	block [arrowSlots]int32 // reach taken from the opponent, weighted, less that from all own amazons
	own   []mover
	steps []step
}

// mover is an amazon of the side to move.
type mover struct {
	at     rules.Square
	before int32             // the worth of its place now
	self   [arrowSlots]int32 // its own part of block, which no longer counts once it has moved
}

// step is a queen step without its arrow.
type step struct {
	from, to rules.Square
	mover    uint8
	score    int32
}

// stages of the cursor.
const (
	firstBatch uint8 = iota
	goodArrows
	otherArrows
	ended
)

// Moves gives the moves in groups of steps, best steps first: of every group
// the good arrows, then of every group the others. The cursor holds the next
// step in N[0] and the score that divides good from other arrows in N[1].
func (p *position) Moves(buf []search.Entry, c *search.Cursor) []search.Entry {
	buf = buf[:0]
	if c.Mode == search.Noisy { // no move of Amazons is
		return buf
	}
	o := p.ranked()
	for len(buf) == 0 && c.Stage != ended {
		from := int(c.N[0])
		size := laterGroup
		if from == 0 {
			size = firstGroup
		}
		to := min(from+size, len(o.steps))
		for i := from; i < to; i++ {
			buf = p.arrows(buf, o, &o.steps[i])
		}
		if c.Stage == firstBatch {
			c.Stage = goodArrows
			c.N[1] = bestOrder(buf) - orderSpan
		}
		good := c.Stage == goodArrows
		buf = slices.DeleteFunc(buf, func(e search.Entry) bool { return e.Order >= c.N[1] != good })
		c.N[0] = int32(to)
		if to == len(o.steps) {
			c.Stage++
			c.N[0] = 0
		}
	}
	return buf
}

func bestOrder(entries []search.Entry) int32 {
	best := int32(-1 << 30)
	for i := range entries {
		best = max(best, entries[i].Order)
	}
	return best
}

// Find is the entry of a legal move.
func (p *position) Find(m game.Move) (search.Entry, bool) {
	if !p.board.Legal(m) {
		return search.Entry{}, false
	}
	from, to, arrow := rules.Squares(m)
	o := p.blocks()
	i := 0
	for o.own[i].at != from {
		i++
	}
	s := p.step(o, i, to)
	return entry(o, &s, arrow), true
}

// arrows appends the moves of one step.
func (p *position) arrows(buf []search.Entry, o *order, s *step) []search.Entry {
	for shots := p.board.Targets(s.from, s.to); !shots.Empty(); {
		buf = append(buf, entry(o, s, shots.Pop()))
	}
	return buf
}

func entry(o *order, s *step, arrow rules.Square) search.Entry {
	return search.Entry{
		Move:  rules.NewMove(s.from, s.to, arrow),
		Order: s.score + o.block[arrow] - o.own[s.mover].self[arrow],
		Slots: [2]uint16{uint16(s.from)<<7 | uint16(s.to), uint16(arrow)},
	}
}

// blocks is the node's order as far as single moves need it.
func (p *position) blocks() *order {
	o := &p.here().order
	if o.known {
		return o
	}
	o.known = true
	o.steps = o.steps[:0]
	o.own = o.own[:0]
	clear(o.block[:])
	b := &p.board
	for set := b.Amazons(b.Turn().Other()); !set.Empty(); {
		p.cast(set.Pop(), orderBlock, &o.block)
	}
	for set := b.Amazons(b.Turn()); !set.Empty(); {
		q := mover{at: set.Pop()}
		p.cast(q.at, -orderOwn, &q.self)
		for i := range o.block {
			o.block[i] += q.self[i]
		}
		q.before = p.worth(b.Reach(rules.Bit(q.at)), q.at)
		o.own = append(o.own, q)
	}
	return o
}

// directions are the eight steps of a queen, in columns and rows.
var directions = [8][2]int{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}}

// cast adds to each square that the amazon on at reaches unit times the number
// of squares of its reach that an obstacle there would take.
func (p *position) cast(at rules.Square, unit int32, to *[arrowSlots]int32) {
	cols, rows := p.board.Size()
	free := p.board.Free()
	for _, d := range directions {
		length := int32(0)
		s := int(at)
		for col, row := s%cols+d[0], s/cols+d[1]; col >= 0 && col < cols && row >= 0 && row < rows; col, row = col+d[0], row+d[1] {
			next := row*cols + col
			if !free.Has(rules.Square(next)) {
				break
			}
			s = next
			length++
		}
		back := d[1]*cols + d[0]
		for lost := int32(1); lost <= length; lost++ {
			to[s] += unit * lost
			s -= back
		}
	}
}

// ranked is the node's order with its steps.
func (p *position) ranked() *order {
	o := p.blocks()
	if len(o.steps) > 0 {
		return o
	}
	for i := range o.own {
		for tos := p.board.Reach(rules.Bit(o.own[i].at)); !tos.Empty(); {
			o.steps = append(o.steps, p.step(o, i, tos.Pop()))
		}
	}
	slices.SortFunc(o.steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return o
}

// step scores the step of own amazon i to a square: what it gains in room,
// and what it takes from others by standing there.
func (p *position) step(o *order, i int, to rules.Square) step {
	q := &o.own[i]
	after := p.worth(p.board.Targets(q.at, to), to)
	return step{q.at, to, uint8(i), after - q.before + o.block[to] - q.self[to]}
}

// worth is how good a square is for an amazon that reaches the given squares from it.
func (p *position) worth(reach rules.Bits, at rules.Square) int32 {
	return orderStep*int32(reach.Count()) + orderLiberty*int32(p.board.Neighbours(rules.Bit(at)).Count())
}
