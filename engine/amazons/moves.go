package amazons

import (
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

// order has a node's move-ordering scores, computed as needed.
type order struct {
	known bool
	lines lines
	// block is the weighted reach that an obstacle on a square would take from
	// the opponent, minus what it would take from the own amazons.
	block    [arrowSlots]int32
	movers   []mover
	steps    []packedStep // best first; empty until ranked
	adjacent rules.Bits   // free squares beside amazons of the opponent
}

// mover is an amazon of the side to move.
type mover struct {
	at       rules.Square
	before   int32             // mobility score of its square
	ownBlock [arrowSlots]int32 // its part of block, which does not count once it has moved
}

// step is a queen move without its arrow.
type step struct {
	from, to rules.Square
	mover    uint8
	back     uint8 // direction from to towards from
	score    int32
}

// packedStep is a step in one word that sorts best first: the negated score in
// the high half, then a byte each for from, to, mover and back.
type packedStep int64

func (s *step) pack() packedStep {
	return packedStep(-int64(s.score)<<32 | int64(s.from)<<24 | int64(s.to)<<16 | int64(s.mover)<<8 | int64(s.back))
}

func (k packedStep) step() step {
	return step{rules.Square(k >> 24), rules.Square(k >> 16), uint8(k >> 8), uint8(k), int32(-(k >> 32))}
}

// The stages of a cursor.
const (
	firstBatch uint8 = iota
	goodArrows
	otherArrows
	ended
)

// Moves implements search.Position. It takes steps in groups, best steps first,
// and gives the good arrows of every group, then the others of every group. The
// cursor has the next step in Ints[0], and in Ints[1] the score that separates
// good arrows from others.
func (p *position) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	if c.Mode == search.Noisy { // no move of Amazons is
		return buf
	}
	o := p.ranked()
	for len(buf) == 0 && c.Stage != ended {
		from := int(c.Ints[0])
		size := laterGroup
		if from == 0 {
			size = firstGroup
		}
		to := min(from+size, len(o.steps))
		for _, k := range o.steps[from:to] {
			s := k.step()
			buf = p.arrows(buf, o, &s)
		}
		if c.Stage == firstBatch {
			c.Stage = goodArrows
			c.Ints[1] = bestOrder(buf) - orderSpan
		}
		good := c.Stage == goodArrows
		buf = slices.DeleteFunc(buf, func(e search.ScoredMove) bool { return e.Order >= c.Ints[1] != good })
		c.Ints[0] = int32(to)
		if to == len(o.steps) {
			c.Stage++
			c.Ints[0] = 0
		}
	}
	return buf
}

func bestOrder(batch []search.ScoredMove) int32 {
	best := int32(-1 << 30)
	for i := range batch {
		best = max(best, batch[i].Order)
	}
	return best
}

// Find implements search.Position.
func (p *position) Find(m game.Move) (search.ScoredMove, bool) {
	if !p.board.Legal(m) {
		return search.ScoredMove{}, false
	}
	from, to, arrow := rules.Squares(m)
	o := p.blocks()
	i := 0
	for o.movers[i].at != from {
		i++
	}
	d, _ := p.geo.toward(from, to)
	s := o.step(p.geo, i, d, to)
	a, distance := p.geo.toward(to, arrow)
	return o.scoredMove(&s, arrow, o.arrowReach(p.geo, &s, a)-distance+1), true
}

// arrows appends the moves of one step.
func (p *position) arrows(buf []search.ScoredMove, o *order, s *step) []search.ScoredMove {
	for d := range directions {
		at := p.geo.pad(s.to)
		for left := o.arrowReach(p.geo, s, d); left > 0; left-- {
			at += p.geo.offset[d]
			buf = append(buf, o.scoredMove(s, p.geo.square[at], left))
		}
	}
	return buf
}

// arrowReach returns how far an arrow flies in direction d after the step. Towards
// where the amazon came from it flies over that square and beyond.
func (o *order) arrowReach(g *geometry, s *step, d int) int {
	n := int(o.lines.run[d][g.pad(s.to)])
	if d == int(s.back) {
		n += 1 + int(o.lines.run[d][g.pad(s.from)])
	}
	return n
}

// scoredMove returns a move with its order; cut is the reach that the arrow takes
// from the amazon that shoots it.
func (o *order) scoredMove(s *step, arrow rules.Square, cut int) search.ScoredMove {
	score := s.score + o.block[arrow] - o.movers[s.mover].ownBlock[arrow] - orderCut*int32(cut)
	if o.adjacent.Has(arrow) {
		score += orderAdjacent
	}
	return search.ScoredMove{
		Move:         rules.NewMove(s.from, s.to, arrow),
		Order:        score,
		HistoryIndex: [2]uint16{uint16(s.from)<<7 | uint16(s.to), uint16(arrow)},
	}
}

// blocks returns the node's order without its steps, which Find does not need.
func (p *position) blocks() *order {
	o := &p.currentFrame().order
	if o.known {
		return o
	}
	o.known = true
	o.steps = o.steps[:0]
	o.movers = o.movers[:0]
	clear(o.block[:])
	b := &p.board
	o.lines.measure(p.geo, b.Free())
	other := b.Amazons(b.Turn().Other())
	o.adjacent = b.Neighbours(other)
	for !other.Empty() {
		o.lines.cast(p.geo, other.Pop(), orderBlock, &o.block)
	}
	for set := b.Amazons(b.Turn()); !set.Empty(); {
		o.movers = append(o.movers, mover{at: set.Pop()})
		q := &o.movers[len(o.movers)-1]
		o.lines.cast(p.geo, q.at, -orderOwn, &q.ownBlock)
		o.lines.cast(p.geo, q.at, -orderOwn, &o.block)
		q.before = o.mobility(p.geo.pad(q.at))
	}
	return o
}

// ranked returns the node's order with its steps.
func (p *position) ranked() *order {
	o := p.blocks()
	if len(o.steps) > 0 {
		return o
	}
	for i := range o.movers {
		from := p.geo.pad(o.movers[i].at)
		for d := range directions {
			at := from
			for range o.lines.run[d][from] {
				at += p.geo.offset[d]
				s := o.step(p.geo, i, d, p.geo.square[at])
				o.steps = append(o.steps, s.pack())
			}
		}
	}
	slices.Sort(o.steps)
	return o
}

// step scores the step of own amazon i in direction d to a square: the mobility
// that it gains, and the reach that it takes from others there.
func (o *order) step(g *geometry, i, d int, to rules.Square) step {
	q := &o.movers[i]
	back := (d + 4) % 8
	after := o.mobility(g.pad(to)) + orderReach*(1+int32(o.lines.run[back][g.pad(q.at)]))
	score := after - q.before + o.block[to] - q.ownBlock[to]
	if o.adjacent.Has(to) {
		score += orderAdjacent
	}
	return step{q.at, to, uint8(i), uint8(back), score}
}

// mobility returns the score of a padded square for an amazon, by the free squares
// around it.
func (o *order) mobility(at int) int32 {
	reach, liberties := int32(0), int32(0)
	for d := range directions {
		n := int32(o.lines.run[d][at])
		reach += n
		liberties += min(n, 1)
	}
	return orderReach*reach + orderLiberty*liberties
}
