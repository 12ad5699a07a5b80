package amazons

import (
	"slices"

	rules "sparring/game/amazons"

	"sparring/engine/search"
	"sparring/game"
)

// Sizes of the kernel's history tables: queen steps by from and to, arrows by
// where they land. Smaller boards use the beginning of the tables.
const (
	stepSlots  = maxSquares * maxSquares
	arrowSlots = maxSquares
)

// order has a node's move-ordering scores, computed as needed.
type order struct {
	known   bool
	weights *orderWeights
	lines   lines
	// effects are those of an obstacle on each square, of all amazons together.
	effects   [maxSquares]effect
	movers    []mover
	steps     []packedStep  // empty until ranked
	evaluated int           // the steps at the beginning that are in order, with their final scores
	arrows    []packedArrow // of the group of steps at hand
}

// effect is what an obstacle on a square adds to scores: to the rough one of a step
// that leads there, and to that of an arrow.
type effect struct{ step, arrow int32 }

// mover is an amazon of the side to move.
type mover struct {
	at     rules.Square
	before int32              // mobility score of its square
	own    [maxSquares]effect // its part of effects, which does not count once it has moved
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

// packedArrow is an arrow in one word: its order in the high half, then the number
// of its step in the group, and the square in the low byte.
type packedArrow int64

// The stages of a cursor.
const (
	firstBatch uint8 = iota
	goodArrows
	otherArrows
	ended
)

// Moves implements search.Position. It takes steps in groups, best steps first,
// and gives the good arrows of every group, then the others of every group. The
// first group has the steps that look best roughly, unless there is time to
// evaluate all; all others come by their final scores. The cursor has the next step
// in Ints[0], and in Ints[1] the score that separates good arrows from others.
func (p *position) Moves(buf []search.ScoredMove, c *search.Cursor) []search.ScoredMove {
	buf = buf[:0]
	if c.Mode == search.Noisy { // no move of Amazons is
		return buf
	}
	o := p.withSteps()
	for len(buf) == 0 && c.Stage != ended {
		from := int(c.Ints[0])
		size := laterGroup
		if from == 0 {
			size = firstGroup
		}
		to := min(from+size, len(o.steps))
		wanted := to
		if c.Depth >= evaluateAll {
			wanted = len(o.steps)
		}
		p.rank(o, wanted)
		if from > 0 && c.Stage == goodArrows && o.steps[from].step().score+o.maxArrowScore(p.board.Free()) < c.Ints[1] {
			c.Stage, c.Ints[0] = otherArrows, 0 // no good arrow is left
			continue
		}
		best := o.shoot(p.geo, o.steps[from:to])
		if c.Stage == firstBatch {
			c.Stage = goodArrows
			c.Ints[1] = best - orderSpan
		}
		buf = o.appendMoves(buf, p.geo, o.steps[from:to], c.Ints[1], c.Stage == goodArrows)
		c.Ints[0] = int32(to)
		if to == len(o.steps) {
			c.Stage++
			c.Ints[0] = 0
		}
	}
	return buf
}

// Find implements search.Position.
func (p *position) Find(m game.Move) (search.ScoredMove, bool) {
	if !p.board.Legal(m) {
		return search.ScoredMove{}, false
	}
	from, to, arrow := rules.Squares(m)
	o := p.withEffects()
	i := 0
	for o.movers[i].at != from {
		i++
	}
	d, _ := p.geo.toward(from, to)
	s := o.step(p.geo, i, d, to)
	a, distance := p.geo.toward(to, arrow)
	cut := o.arrowReach(p.geo, &s, a) - distance + 1
	return s.move(p.geo, arrow, p.stepScore(&s)+o.arrowScore(&o.movers[i], arrow, int32(distance), int32(cut))), true
}

// stepScore is the final score of a step, which does not count its arrow: the
// evaluation after it. The arrow that is shot back to where the amazon stood is
// the one that always can be shot.
func (p *position) stepScore(s *step) int32 { return p.evalAfter(s) * p.order.eval / square }

// evalAfter is the evaluation after a step.
func (p *position) evalAfter(s *step) int32 {
	m := rules.NewMove(s.from, s.to, s.from)
	p.Do(m)
	v := -p.Eval()
	p.Undo(m)
	return int32(v)
}

// shoot lists the arrows of some steps and returns the best order of them.
func (o *order) shoot(g *geometry, steps []packedStep) (best int32) {
	best = -1 << 30
	arrows := o.arrows[:0]
	for i, k := range steps {
		s := k.step()
		from, q := g.pad(s.to), &o.movers[s.mover]
		for d, n := range o.lines.run[from] {
			if d == int(s.back) {
				n = uint8(o.arrowReach(g, &s, d))
			}
			for at, cut := from, int32(n); cut > 0; cut-- {
				at += g.offset[d]
				arrow := g.square[at]
				score := s.score + o.arrowScore(q, arrow, int32(n)-cut+1, cut)
				best = max(best, score)
				arrows = append(arrows, packedArrow(score)<<32|packedArrow(i)<<8|packedArrow(arrow))
			}
		}
	}
	o.arrows = arrows
	return best
}

// arrowReach returns how far an arrow flies in direction d after the step. Towards
// where the amazon came from it flies over that square and beyond.
func (o *order) arrowReach(g *geometry, s *step, d int) int {
	n := int(o.lines.run[g.pad(s.to)][d])
	if d == int(s.back) {
		n += 1 + int(o.lines.run[g.pad(s.from)][d])
	}
	return n
}

// arrowScore is what an arrow adds to the score of its step; distance is how far it
// flies, cut the reach that it takes from the amazon that shoots it.
func (o *order) arrowScore(q *mover, arrow rules.Square, distance, cut int32) int32 {
	w := o.weights
	return o.effects[arrow].arrow - q.own[arrow].arrow + w.distance[min(distance, int32(len(w.distance)))-1] - w.cut*cut
}

// maxArrowScore is at least the greatest arrowScore of the node.
func (o *order) maxArrowScore(free rules.Bits) int32 {
	w := o.weights
	most := w.back
	for !free.Empty() {
		most = max(most, o.effects[free.Pop()].arrow)
	}
	return most + slices.Max(w.own[:]) + slices.Max(w.distance[:]) - w.cut
}

// appendMoves appends the moves of the arrows that were shot last from the steps:
// the good ones, or the others.
func (o *order) appendMoves(buf []search.ScoredMove, g *geometry, steps []packedStep, goodFrom int32, good bool) []search.ScoredMove {
	n := len(buf)
	buf = slices.Grow(buf, len(o.arrows))[:n+len(o.arrows)]
	want := 0
	if good {
		want = 1
	}
	for _, a := range o.arrows {
		// Which arrows are good is hard to predict: each is written, and stays
		// if it is.
		score, s := int32(a>>32), steps[a>>8&0xffff].step()
		buf[n] = s.move(g, rules.Square(a), score)
		isGood := 0
		if score >= goodFrom {
			isGood = 1
		}
		n += 1 ^ isGood ^ want
	}
	return buf[:n]
}

// move returns the step with its arrow.
func (s *step) move(g *geometry, arrow rules.Square, order int32) search.ScoredMove {
	return search.ScoredMove{
		Move:         rules.NewMove(s.from, s.to, arrow),
		Order:        order,
		HistoryIndex: [2]uint16{uint16(int(s.from)*g.squares() + int(s.to)), uint16(arrow)},
	}
}

// withEffects returns the node's order without its steps, which Find does not need.
func (p *position) withEffects() *order {
	f := p.currentFrame()
	o := &f.order
	if o.known {
		return o
	}
	w := p.order
	o.known, o.weights = true, w
	o.steps, o.evaluated = o.steps[:0], 0
	o.movers = o.movers[:0]
	b := &p.board
	free, own, other := b.Free(), b.Turn(), b.Turn().Other()
	o.lines.measure(p.geo, free)
	o.addClasses(free, f.reach[own], f.reach[other], p.fill(free, f.reach[other]))
	for set := b.Amazons(other); !set.Empty(); {
		at := set.Pop()
		reach, liberties := o.lines.around(p.geo.pad(at))
		o.lines.cast(p.geo, at, &o.effects, castEffects{
			stepEach:  orderBlock,
			stepNext:  orderAdjacent,
			arrow:     w.seen[reachClass(reach)],
			arrowEach: w.taken[reachClass(reach)],
			arrowNext: w.beside[libertyClass(liberties)],
		})
	}
	for set := b.Amazons(own); !set.Empty(); {
		if len(o.movers) == cap(o.movers) {
			o.movers = append(o.movers, mover{})
		} else {
			o.movers = o.movers[:len(o.movers)+1]
		}
		q := &o.movers[len(o.movers)-1]
		q.at = set.Pop()
		clear(q.own[:p.geo.squares()])
		reach, _ := o.lines.around(p.geo.pad(q.at))
		c := castEffects{stepEach: -orderOwn, arrow: -w.own[reachClass(reach)]}
		o.lines.cast(p.geo, q.at, &q.own, c)
		o.lines.cast(p.geo, q.at, &o.effects, c)
		o.effects[q.at] = effect{arrow: w.back}
		q.before = o.mobility(p.geo.pad(q.at))
	}
	return o
}

// addClasses begins the effects with those of the free squares, by whether the
// side to move reaches a square in one queen move, and the other side in one or two.
func (o *order) addClasses(free, own, other, otherTwo rules.Bits) {
	for i, a := range [2]rules.Bits{own, free.AndNot(own)} {
		for j, b := range [3]rules.Bits{other, otherTwo.AndNot(other), free.AndNot(otherTwo)} {
			e := effect{arrow: o.weights.reached[i][j]}
			for set := a.And(b); !set.Empty(); {
				o.effects[set.Pop()] = e
			}
		}
	}
}

// withSteps returns the node's order with its steps.
func (p *position) withSteps() *order {
	o := p.withEffects()
	if len(o.steps) > 0 {
		return o
	}
	for i := range o.movers {
		from := p.geo.pad(o.movers[i].at)
		for d, n := range o.lines.run[from] {
			at := from
			for range n {
				at += p.geo.offset[d]
				s := o.step(p.geo, i, d, p.geo.square[at])
				o.steps = append(o.steps, s.pack())
			}
		}
	}
	return o
}

// rank puts at least the first n steps in order, with their final scores. Most nodes
// need only the first group.
func (p *position) rank(o *order, n int) {
	if n <= o.evaluated {
		return
	}
	if o.evaluated == 0 && n < len(o.steps) {
		o.selectBest(n)
	} else {
		n = len(o.steps)
	}
	group := o.steps[o.evaluated:n]
	for i, k := range group {
		s := k.step()
		s.score = p.stepScore(&s)
		group[i] = s.pack()
	}
	slices.Sort(group)
	o.evaluated = n
}

// selectBest moves the n best steps to the front.
func (o *order) selectBest(n int) {
	best := o.steps[:n]
	slices.Sort(best)
	for i := n; i < len(o.steps); i++ {
		k := o.steps[i]
		if k >= best[n-1] {
			continue
		}
		o.steps[i] = best[n-1]
		at := n - 1
		for ; at > 0 && best[at-1] > k; at-- {
			best[at] = best[at-1]
		}
		best[at] = k
	}
}

// step scores the step of own amazon i in direction d to a square roughly: the
// mobility that it gains, and the reach that it takes from others there.
func (o *order) step(g *geometry, i, d int, to rules.Square) step {
	q := &o.movers[i]
	back := (d + 4) % 8
	after := o.mobility(g.pad(to)) + orderReach*(1+int32(o.lines.run[g.pad(q.at)][back]))
	return step{q.at, to, uint8(i), uint8(back), after - q.before + o.effects[to].step - q.own[to].step}
}

// mobility returns the score of a padded square for an amazon, by the free squares
// around it.
func (o *order) mobility(at int) int32 {
	reach, liberties := o.lines.around(at)
	return orderReach*int32(reach) + orderLiberty*int32(liberties)
}
