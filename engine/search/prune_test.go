package search

import (
	"math"
	"slices"
	"testing"

	"sparring/game"
)

// workerFor returns a worker with parameters, enough to ask it about a node.
func workerFor(params Params) *worker {
	params.WinScale = 100
	return &worker{stack: new(stack), k: New(params, NewTable(1)), history: newHistory(&params)}
}

func TestPower(t *testing.T) {
	for _, hundredths := range []int{50, 100, 130, 200} {
		for base := range 30 {
			want := int(math.Pow(float64(base), float64(hundredths)/100) + 1e-9)
			if got := power(base, hundredths); got != want {
				t.Errorf("%d^%d/100 = %d, want %d", base, hundredths, got, want)
			}
		}
	}
	if one, most := power(1, maxNumber), power(MaxPly, maxNumber); one != 1 || most != maxNumber {
		t.Errorf("with the greatest exponent: %d and %d", one, most)
	}
}

// Late-move pruning in both forms: moves searched before it, by depth.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		exponent                int
		improving, notImproving []int // at depths 1 to 6
	}{
		{0, []int{4, 7, 12, 19, 28, 39}, []int{3, 5, 8, 13, 19, 26}},
		{130, []int{4, 5, 7, 9, 11, 13}, []int{2, 2, 3, 4, 5, 6}},
	} {
		w := workerFor(Params{LMPBase: 3, LMPExponent: c.exponent, On: Switches{LMP: true}})
		for _, improving := range []bool{true, false} {
			var got []int
			for depth := 1; depth <= 6; depth++ {
				n := nodeState{depth: depth, improving: improving}
				moves := 0
				for moves < 1000 && !w.late(&n, moves) {
					moves++
				}
				got = append(got, moves)
			}
			want := c.improving
			if !improving {
				want = c.notImproving
			}
			if !slices.Equal(got, want) {
				t.Errorf("exponent %d, improving %v: %v moves, want %v", c.exponent, improving, got, want)
			}
		}
		if w.late(&nodeState{depth: 7}, 1000) {
			t.Errorf("exponent %d: prunes beyond PruneMaxDepth", c.exponent)
		}
		if off := workerFor(Params{LMPExponent: c.exponent}); off.late(&nodeState{depth: 1}, 1000) {
			t.Errorf("exponent %d: prunes though LMP is off", c.exponent)
		}
	}
}

// RFP cuts off far above beta, but not where a certain move is asked for.
func TestReverseFutility(t *testing.T) {
	w := workerFor(Params{On: Switches{ReverseFutility: true}})
	margin := w.k.params.Margins.ReverseFutility
	for _, c := range []struct {
		eval    Score
		mayPass bool
		want    bool
	}{{2 * margin, true, true}, {2*margin - 1, true, false}, {10 * margin, false, false}} {
		n := nodeState{Node: &Node{MayPass: c.mayPass}, depth: 2, alpha: -1, beta: 0, eval: c.eval}
		if score, _, ok := w.prune(&n); ok != c.want || ok && score != c.eval {
			t.Errorf("evaluation %d, MayPass %v: cuts off %v with %d", c.eval, c.mayPass, ok, score)
		}
	}
}

// The reduction grows with how far a move's Order is below the best one.
func TestPolicyReduction(t *testing.T) {
	for _, c := range []struct {
		number     int
		best       int64
		order      int32
		difference int
	}{
		{1024, 0, 0, 0}, {1024, 0, -16384, 1}, {1024, 5000, 5000 - 2*16384, 2}, {512, 0, -3 * 16384, 1}, {2048, 0, -16384, 2},
		{1024, -500, 100, 0}, {1024, noOrder, math.MinInt32, 0}, {1024, noOrder, math.MaxInt32, 0},
		{0, 0, -100 * 16384, 0},
	} {
		lmr := func(number int) int {
			w := workerFor(Params{LMR: LMRParams{Base: 2048, Order: number}, On: Switches{LMR: true}})
			return w.lmr(&nodeState{depth: 20, improving: true, bestOrder: c.best}, &ScoredMove{Move: 1, Order: c.order}, 4, &moveHistory{})
		}
		if got := lmr(c.number) - lmr(0); got != c.difference {
			t.Errorf("LMR.Order %d, best %d, move %d: %d plies more, want %d", c.number, c.best, c.order, got, c.difference)
		}
	}
}

// The reduction grows with how far the evaluation is above beta, up to a bound.
func TestReductionAboveBeta(t *testing.T) {
	for _, c := range []struct {
		number     int
		eval, beta Score
		difference int
	}{
		{1024, 50, 50, 0}, {1024, 250, 50, 1}, {1024, 450, 50, 2}, {1024, 650, 50, 3}, {1024, 20000, 50, 3}, {2048, 150, 50, 1},
		{1024, 50, 650, 0}, {1024, noEval, -MaxEval + 1, 0}, {1024, 650, -Win, 0}, {0, 650, 50, 0},
	} {
		lmr := func(number int) int {
			w := workerFor(Params{LMR: LMRParams{Base: 2048, EvalAboveBeta: number}, Margins: Margins{EvalAboveBeta: 200}, On: Switches{LMR: true}})
			return w.lmr(&nodeState{depth: 20, improving: true, eval: c.eval, beta: c.beta}, &ScoredMove{Move: 1}, 4, &moveHistory{})
		}
		if got := lmr(c.number) - lmr(0); got != c.difference {
			t.Errorf("LMR.EvalAboveBeta %d, evaluation %d, beta %d: %d plies more, want %d", c.number, c.eval, c.beta, got, c.difference)
		}
	}
}

// listed is a position with a list of batches.
type listed struct {
	Position
	batches [][]ScoredMove
}

func (l *listed) Moves(buf []ScoredMove, c *Cursor) []ScoredMove {
	if int(c.Stage) == len(l.batches) {
		return buf[:0]
	}
	c.Stage++
	return append(buf[:0], l.batches[c.Stage-1]...)
}

func (l *listed) Find(m game.Move) (ScoredMove, bool) {
	for _, b := range l.batches {
		if i := slices.IndexFunc(b, func(e ScoredMove) bool { return e.Move == m }); i >= 0 {
			return b[i], true
		}
	}
	return ScoredMove{}, false
}

// The best Order is that of the hash move or of the first batch, the killers' bonus
// left out.
func TestBestOrder(t *testing.T) {
	l := &listed{batches: [][]ScoredMove{{{Move: 1, Order: 10}, {Move: 2, Order: 30}, {Move: 3, Order: 20}}, {{Move: 4, Order: 70}}}}
	for _, c := range []struct {
		what   string
		policy bool
		hash   game.Move
		want   []int64 // after each move
	}{
		{"no hash move", true, game.NoMove, []int64{30, 30, 30, 30}},
		{"hash move in the batch", true, 2, []int64{30, 30, 30, 30}},
		{"hash move in a later batch", true, 4, []int64{70, 70, 70, 70}},
		{"hash move worse than the batch", true, 1, []int64{10, 30, 30, 30}},
		{"no policy", false, 1, []int64{noOrder, noOrder, noOrder, noOrder}},
	} {
		var p picker
		p.open(All, c.hash, 16)
		p.policy, p.killers[0] = c.policy, 3
		var got []int64
		for p.next(l) != nil {
			got = append(got, p.bestOrder)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: best order %v, want %v", c.what, got, c.want)
		}
	}
}

// A game without slots of the second kind has one, which all its moves have in common:
// what is learnt of a move stays with it.
func TestOneSlotForAllMoves(t *testing.T) {
	w := workerFor(Params{HistorySize: [2]int{4, 1}, On: Switches{History: true}})
	r := w.moveHistory(0)
	for range 20 {
		r.add(&[2]uint16{2, 0}, 1000)
	}
	for slot := range uint16(4) {
		if got := r.score(&ScoredMove{HistoryIndex: [2]uint16{slot, 0}}); (got > 0) != (slot == 2) || got < 0 {
			t.Errorf("slot %d: score %d", slot, got)
		}
	}
}

// With policy a move that is found has history in its Order, as those of a batch
// have.
func TestFoundHistory(t *testing.T) {
	w := workerFor(Params{HistorySize: [2]int{4, 1}, On: Switches{History: true}})
	w.history.quiet[0][0][2] = 3000
	l := &listed{batches: [][]ScoredMove{{{Move: 1, Order: 50}}, {{Move: 2, Order: 10, HistoryIndex: [2]uint16{2, 0}}}}}
	for policy, want := range map[bool]int32{false: 10, true: 10 + 1500} {
		for _, killer := range []bool{false, true} {
			var p picker
			p.open(All, game.NoMove, 16)
			p.policy, p.history = policy, w
			if killer {
				p.killers[0] = 2
				p.next(l)
			} else {
				p.hash = 2
			}
			if m := p.next(l); m.Move != 2 || m.Order != want {
				t.Errorf("policy %v, killer %v: move %d of order %d, want 2 of %d", policy, killer, m.Move, m.Order, want)
			}
		}
	}
}

// The picker knows how long it gives moves in order.
func TestInOrder(t *testing.T) {
	l := &listed{batches: [][]ScoredMove{nil}}
	for i := range 20 {
		l.batches[0] = append(l.batches[0], ScoredMove{Move: game.Move(i + 1), Order: int32(i * 7 % 20)})
	}
	var p picker
	p.open(All, 5, 16)
	for i := range 20 {
		m := p.next(l)
		if got, want := p.inOrder(m), i >= 1 && i <= p.sorted; got != want {
			t.Errorf("move %d, order %d: in order %v, want %v", i+1, m.Order, got, want)
		}
	}
}
