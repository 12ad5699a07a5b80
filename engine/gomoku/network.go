package gomoku

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/game/gomoku"
)

// The network of look-ups corrects the sum over codes. The four cells before an empty
// point and the four after it, in each direction, name a row of numbers for either
// colour's view. The four rows of a point are added, divided by rowUnit/rowOne and
// clipped to 0..rowOne; the sums of these activations over the empty points, those of
// the side to move first, are the input of one hidden layer. There is a layer for each
// stage of the game: the more stones, the less a pattern far from all threats is worth.
//
// The sums are kept up to date like the accumulator of an NNUE (Yu Nasu,
// "Efficiently updatable neural-network-based evaluation functions for computer shogi",
// 2018); that rows are named by lines of cells is from the Mix networks of Rapfi
// (github.com/dhbloo/rapfi). Everything is integers, so that all machines get the
// same bits.
const (
	viewWidth   = 16 // numbers of a row for one view
	hiddenWidth = 32 // neurons of the hidden layer

	rowOne   = 127        // the greatest activation
	rowUnit  = 4 * rowOne // 1 in a row
	rowShift = 2          // from rowUnit to rowOne
	// inputShare divides the sums, so that a layer's weights are of a size with
	// those of rows.
	inputShare = 16
	// hiddenUnit is 1 in a hidden neuron: weights of the layer are in units of
	// 1/(hiddenUnit/inputShare/rowOne).
	hiddenBits = 21
	hiddenUnit = 1 << hiddenBits
	// leakShift: a neuron below 0 counts an eighth.
	leakShift = 3
)

// lanes are numbers for both views of a position: Black's in the first half, White's
// in the second.
type lanes [2 * viewWidth]int16

// hiddenLayer is the layer for one colour to move.
type hiddenLayer struct {
	// weight has for each pair of inputs and each neuron two weights.
	weight [viewWidth][hiddenWidth][2]int16
	bias   [hiddenWidth]int32
	// out is a neuron's share of the evaluation, in 1/evalUnit.
	out [hiddenWidth]int32
}

// network is one for a class of rules; see networkfile.go. Rows are by rowIndex.
type network struct {
	rows  [halfLines * halfLines]lanes
	layer [2][NetworkStages]hiddenLayer // by the side to move

	empty [gomoku.MaxSize + 1]atomic.Pointer[accumulator] // of an empty board, by its size
}

// NetworkStages is the number of stages of the game that a network tells apart.
const NetworkStages = 4

// stageEnds has the number of stones below which a stage ends; the last one has no end.
// About as many positions of self-play lie in each of the stages.
var stageEnds = [NetworkStages - 1]int{16, 28, 44}

// NetworkStage returns the stage of a position with so many stones.
func NetworkStage(stones int) int {
	for stage, end := range stageEnds {
		if stones < end {
			return stage
		}
	}
	return NetworkStages - 1
}

// lineCodes is the number of codes of eight cells, by which network files name rows: two bits
// for each of the four cells before the point and the four after it, from the lowest, as in a
// window (gomoku.Board.Window).
const lineCodes = 1 << 16

// halfLines is the number of contents of the four cells on one side of a point: as many of
// them as are on the board, each empty or with a stone.
const halfLines = 1 + 3 + 9 + 27 + 81

// halves numbers the contents of the four cells before a point, in steps of halfLines, and of
// those after it; noHalf does not occur. Rows by the codes of lines would have gaps, and leave
// most of the processor's caches, whose places go by the low bits of addresses, unused.
var halves = func() (h struct{ before, after [1 << 8]uint16 }) {
	n := uint16(0)
	for after := range uint32(1 << 8) {
		before := mirrored(after) >> 2
		h.before[before], h.after[after] = noHalf, noHalf
		if border := after & (after >> 1) & 0x55; border<<2&0x55&^border == 0 {
			h.before[before], h.after[after] = n*halfLines, n
			n++
		}
	}
	return h
}()

const noHalf = 1<<16 - 1

// rowIndex returns the index of the row that a window names.
func rowIndex(window uint32) uint32 {
	return uint32(halves.before[window>>2&0xff]) + uint32(halves.after[window>>12&0xff])
}

// rowChange says that one of a point's four rows is another one now.
type rowChange struct {
	point, now, before uint32 // now and before are indices of rows
}

// accumulator has a network's sums for a position. It follows the stones of the
// search only when it is asked: most nodes need no evaluation.
type accumulator struct {
	net    *network
	board  gomoku.Board
	points [gomoku.MaxPoints]lanes // the sum of the four rows of each point
	sum    lanes                   // of the activations of the empty points
	// valid is how many of the steps are still those of the position.
	valid int
	steps []step
	// What the steps changed: the point of changes[i] was before[i].
	changes []rowChange
	before  []lanes
}

// maxChanges is the most points that a stone changes: four each way in four
// directions.
const maxChanges = 32

// step is a stone that was set, or a pass.
type step struct {
	stone  gomoku.Point // NoPoint: a pass
	colour gomoku.Colour
	sum    lanes // before it
	mark   int   // where its changes begin
}

// newAccumulator returns the sums of a board without dead stones. It sets the stones on an empty one, whose
// sums are kept: adding up the rows of all points takes as long as a short search.
func newAccumulator(n *network, b gomoku.Board) *accumulator {
	kept := &n.empty[b.Size]
	empty := kept.Load()
	if empty == nil {
		empty = addRows(n, gomoku.NewBoard(b.Size))
		kept.Store(empty)
	}
	a := empty.clone()
	for p := range gomoku.Point(b.Points) {
		if c, ok := b.At(p); ok {
			a.push(p, c)
			a.steps, a.changes, a.before = a.steps[:0], a.changes[:0], a.before[:0] // it is not taken back
		}
	}
	return a
}

// addRows returns the sums of a board from nothing.
func addRows(n *network, b gomoku.Board) *accumulator {
	a := &accumulator{net: n, board: b}
	for p := range gomoku.Point(b.Points) {
		if !b.Empty(p) {
			continue
		}
		h := &a.points[p]
		for d := range gomoku.Direction(gomoku.Directions) {
			for i, x := range &n.rows[rowIndex(b.Window(p, d))] {
				h[i] += x
			}
		}
		for i, x := range h {
			a.sum[i] += activation(x)
		}
	}
	return a
}

// activation is what the sum of a point's four rows contributes.
func activation(x int16) int16 { return min(max(x>>rowShift, 0), rowOne) }

// accumulators are unused ones, of any content: they are large.
var accumulators = sync.Pool{New: func() any { return new(accumulator) }}

func (a *accumulator) clone() *accumulator {
	c := accumulators.Get().(*accumulator)
	steps, changes, before := c.steps[:0], c.changes[:0], c.before[:0]
	*c = *a
	c.steps, c.changes, c.before = append(steps, a.steps...), append(changes, a.changes...), append(before, a.before...)
	return c
}

// follow makes the sums those of the position whose nodes these are, with toMove to
// move.
func (a *accumulator) follow(nodes []nodeState, toMove gomoku.Colour) {
	for len(a.steps) > a.valid {
		a.pop()
	}
	for i := a.valid + 1; i < len(nodes); i++ {
		c := toMove
		if (len(nodes)-i)&1 == 1 {
			c = toMove.Other()
		}
		a.push(nodes[i].stone, c)
	}
	a.valid = len(a.steps)
}

// push sets a stone, or counts a pass.
func (a *accumulator) push(p gomoku.Point, c gomoku.Colour) {
	mark := len(a.changes)
	a.steps = append(a.steps, step{p, c, a.sum, mark})
	if p == gomoku.NoPoint {
		return
	}
	a.board.Put(p, c)
	a.changes = slices.Grow(a.changes, maxChanges+1)
	changes, n := a.changes[mark:mark+maxChanges+1], 0
	for d := range gomoku.Direction(gomoku.Directions) {
		// The windows of the cells four before the point to four after it, without branches: each
		// becomes a change, which the next one replaces if its cell is not empty.
		line, step := turned(&a.board, p, d), a.board.Step(d)
		now, before, empty := line>>(centre-18), line&^(3<<centre)>>(centre-18), ^(line|line>>1)>>(centre-8)
		for q := int(p) - 4*step; q <= int(p)+4*step; q += step {
			changes[n] = rowChange{uint32(q), rowIndex(uint32(now)), rowIndex(uint32(before))}
			n += int(empty & 1)
			now, before, empty = now>>2, before>>2, empty>>2
		}
	}
	a.changes = a.changes[:mark+n]
	a.before = slices.Grow(a.before, maxChanges)[:mark+n]
	a.apply(p, changes[:n], a.before[mark:])
}

// centre is where turned has the point.
const centre = 20

// turned returns the line through a point along d (gomoku.Board.LineThrough), turned so that
// the point's cell is at centre. The ten cells before it and after it follow one another, those
// beyond the border as border.
func turned(b *gomoku.Board, p gomoku.Point, d gomoku.Direction) uint64 {
	line, shift := b.LineThrough(p, d)
	return bits.RotateLeft64(line, centre-int(shift))
}

// pop takes back the last step.
func (a *accumulator) pop() {
	last := len(a.steps) - 1
	s := &a.steps[last]
	a.steps = a.steps[:last]
	if s.stone == gomoku.NoPoint {
		return
	}
	a.restore(a.changes[s.mark:], a.before[s.mark:])
	a.changes, a.before = a.changes[:s.mark], a.before[:s.mark]
	a.sum = s.sum
	a.board.Remove(s.stone, s.colour)
}

// applyPlain takes the point of a stone out of the sums, and makes the changes; the
// states of the points before them go to before, which has room for them.
func (a *accumulator) applyPlain(stone gomoku.Point, changes []rowChange, before []lanes) {
	for i, x := range &a.points[stone] {
		a.sum[i] -= activation(x)
	}
	for k, c := range changes {
		h, now, was := &a.points[c.point], &a.net.rows[c.now], &a.net.rows[c.before]
		before[k] = *h
		for i, x := range h {
			h[i] = x + now[i] - was[i]
			a.sum[i] += activation(h[i]) - activation(x)
		}
	}
}

// restorePlain gives the points of changes the states before them.
func (a *accumulator) restorePlain(changes []rowChange, before []lanes) {
	for i, c := range changes {
		a.points[c.point] = before[i]
	}
}

// value returns what the network adds to the evaluation for the side to move, in
// 1/evalUnit.
func (a *accumulator) value(toMove gomoku.Colour) int32 {
	layer := &a.net.layer[toMove][NetworkStage(a.board.Stones())]
	return int32(layer.output(&a.sum, toMove) >> hiddenBits)
}

// outputPlain returns what the hidden neurons say of the sums, in 1/evalUnit/hiddenUnit.
func (l *hiddenLayer) outputPlain(sum *lanes, toMove gomoku.Colour) (total int64) {
	var in lanes
	own := viewWidth * int(toMove)
	for i := range in {
		// The sums of the largest boards exceed 15 bits.
		in[i] = int16(min(uint16(sum[own^i]), 1<<15-1))
	}
	neurons := l.bias
	for pair := range l.weight {
		a, b := int32(in[2*pair]), int32(in[2*pair+1])
		for i, w := range &l.weight[pair] {
			neurons[i] += a*int32(w[0]) + b*int32(w[1])
		}
	}
	for i, x := range &neurons {
		total += int64(max(x, x>>leakShift)) * int64(l.out[i])
	}
	return total
}

// codesAlone is the evaluation without the network.
func codesAlone() adapter.Evaluation {
	return adapter.Evaluation{Name: "codes", Adapt: func(p search.Position) search.Position {
		a := p.Clone().(*position)
		a.net = nil
		return a
	}}
}
