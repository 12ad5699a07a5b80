package search

import "sparring/game"

// historyMax bounds every history score.
const historyMax = 1 << 14

// history remembers how moves did elsewhere in this search (Schaeffer, "The
// history heuristic and alpha-beta search enhancements in practice", 1989;
// paper 004). Tables are by the slots of ScoredMove.HistoryIndex; all scores lie within
// +-historyMax.
type history struct {
	quiet   [2][2][]int16 // by side to move, slot kind, slot
	noisy   [2][2][]int16 // the same for noisy moves
	follow  [2][]int16    // after the move one and two plies back: by its slot and the move's own
	used    [2][]bool     // the rows of follow that are not all zero
	width   int           // of a row of follow
	kind    int           // the slot kind that follow and counter go by
	counter [2][]game.Move

	// How evaluations erred, in 256ths: by side to move and the node's CorrectionKey,
	// and by the last move.
	shape [2][shapes]int16
	last  [2][]int16
}

// shapes is the number of classes that Node.CorrectionKey is hashed into.
const shapes = 1 << 14

func newHistory(p *Params) *history {
	h := &history{kind: p.ContinuationIndex, width: max(p.HistorySize[p.ContinuationIndex], 1)}
	for side := range 2 {
		for kind, n := range p.HistorySize {
			h.quiet[side][kind] = make([]int16, max(n, 1))
			h.noisy[side][kind] = make([]int16, max(n, 1))
		}
		h.counter[side] = make([]game.Move, h.width)
		h.last[side] = make([]int16, h.width)
		if p.On.ContinuationHistory {
			h.follow[side] = make([]int16, h.width*h.width)
			h.used[side] = make([]bool, h.width)
			hugePages(h.follow[side])
		}
	}
	return h
}

func (h *history) clear() {
	for side := range 2 {
		for kind := range 2 {
			clear(h.quiet[side][kind])
			clear(h.noisy[side][kind])
		}
		// A short search uses few rows of many.
		for row, used := range h.used[side] {
			if used {
				clear(h.follow[side][row*h.width : (row+1)*h.width])
			}
		}
		clear(h.used[side])
		clear(h.counter[side])
		clear(h.last[side])
		h.shape[side] = [shapes]int16{}
	}
}

// record is how a move did, by its two slots.
func recordOf(t *[2][]int16, s *[2]uint16) int32 {
	return (int32(t[0][s[0]]) + int32(t[1][s[1]])) / 2
}

func credit(t *[2][]int16, s *[2]uint16, bonus int32) {
	gravitate(&t[0][s[0]], bonus, historyMax)
	gravitate(&t[1][s[1]], bonus, historyMax)
}

// rowAfter are the records of all moves behind an earlier one.
func (h *history) rowAfter(back int, earlier *ScoredMove) []int16 {
	at := int(earlier.HistoryIndex[h.kind]) * h.width
	return h.follow[back-1][at : at+h.width]
}

// gravitate adds bonus with a pull back to zero that keeps the score within
// +-most and lets news outweigh old fame.
func gravitate(v *int16, bonus, most int32) {
	*v += int16(bonus - int32(*v)*max(bonus, -bonus)/most)
}

// historyBonus grows with the depth that a cutoff saved.
func historyBonus(depth int) int32 {
	return int32(min(32*depth*depth+64*depth, 2048))
}

// records are the tables that tell of quiet moves at one node: their own, and
// their rows behind the last two moves.
type records struct {
	own   [2][]int16
	after [2][]int16 // nil where there was no such move
	kind  int
	n     int32 // how many of the three
}

func (w *worker) records(ply int) (r records) {
	on, h := &w.k.params.On, w.history
	r.kind = h.kind
	if on.History {
		r.own = h.quiet[ply&1]
		r.n = 1
	}
	if on.ContinuationHistory {
		for back := 1; back <= min(2, ply); back++ {
			if earlier := &w.lines[ply-back].current; earlier.Move != game.NoMove {
				r.after[back-1] = h.rowAfter(back, earlier)
				r.n++
			}
		}
	}
	return r
}

// of is a move's record, within +-historyMax: the mean of what it did by
// itself and behind the last moves.
func (r *records) of(e *ScoredMove) (sum int32) {
	if r.own[0] != nil {
		sum = (int32(r.own[0][e.HistoryIndex[0]]) + int32(r.own[1][e.HistoryIndex[1]])) / 2
	}
	if r.after[0] != nil {
		sum += int32(r.after[0][e.HistoryIndex[r.kind&1]])
	}
	if r.after[1] != nil {
		sum += int32(r.after[1][e.HistoryIndex[r.kind&1]])
	}
	switch r.n { // constants spare a division
	case 2:
		sum /= 2
	case 3:
		sum /= 3
	}
	return sum
}

// score adds to a batch's order what the history says.
func (w *worker) score(batch []ScoredMove, ply int) {
	r := w.records(ply)
	noisy := w.k.params.On.NoisyHistory
	for i := range batch {
		if e := &batch[i]; e.Noise == Quiet {
			e.Order += r.of(e)
		} else if noisy {
			e.Order += recordOf(&w.history.noisy[ply&1], &e.HistoryIndex)
		}
	}
}

// refuted learns from a move that ended a node: it is worth trying early
// elsewhere, and those of its kind that were tried before it are not.
func (w *worker) refuted(e *ScoredMove, before *tried, depth, ply int) {
	on, h := &w.k.params.On, w.history
	bonus := historyBonus(depth)
	if on.NoisyHistory {
		if e.Noise != Quiet {
			credit(&h.noisy[ply&1], &e.HistoryIndex, bonus)
		}
		for i := range before.nNoisy {
			credit(&h.noisy[ply&1], &before.noisy[i], -bonus)
		}
	}
	if e.Noise != Quiet {
		return
	}
	if k := &w.lines[ply].killers; on.Killers && k[0] != e.Move {
		k[0], k[1] = e.Move, k[0]
	}
	if ply > 0 && on.CounterMoves {
		if earlier := &w.lines[ply-1].current; earlier.Move != game.NoMove {
			h.counter[ply&1][earlier.HistoryIndex[h.kind]] = e.Move
		}
	}
	r := w.records(ply)
	for back := range r.after {
		if r.after[back] != nil {
			h.used[back][w.lines[ply-1-back].current.HistoryIndex[h.kind]] = true
		}
	}
	r.credit(&e.HistoryIndex, bonus)
	for i := range before.nQuiet {
		r.credit(&before.quiet[i], -bonus)
	}
}

// credit adds a bonus to a quiet move's record.
func (r *records) credit(s *[2]uint16, bonus int32) {
	if r.own[0] != nil {
		credit(&r.own, s, bonus)
	}
	for _, row := range r.after {
		if row != nil {
			gravitate(&row[s[r.kind&1]], bonus, historyMax)
		}
	}
}

// Corrections are kept in units of a 4096th of WinScale and bounded by a
// quarter of it.
const (
	correctionUnit = 4096
	correctionMax  = correctionUnit / 4
)

// correct is an evaluation with what similar nodes have taught.
func (w *worker) correct(eval Score, node *Node, ply int) Score {
	if !w.k.params.On.CorrectionHistory {
		return eval
	}
	var sum int32
	for _, c := range w.corrections(node, ply) {
		if c != nil {
			sum += int32(*c)
		}
	}
	eval += Score(sum) * w.k.params.WinScale / correctionUnit
	return min(max(eval, -MaxEval), MaxEval)
}

// corrections are the places where errors like this node's are kept.
func (w *worker) corrections(node *Node, ply int) (c [2]*int16) {
	if node.CorrectionKey != 0 {
		c[0] = &w.history.shape[ply&1][node.CorrectionKey%shapes]
	}
	if ply > 0 {
		if earlier := &w.lines[ply-1].current; earlier.Move != game.NoMove {
			c[1] = &w.history.last[ply&1][earlier.HistoryIndex[w.history.kind]]
		}
	}
	return c
}

// learn moves the corrections towards what the search of a node has shown.
func (w *worker) learn(node *Node, ply, depth int, eval, best Score) {
	scale := w.k.params.WinScale
	wrong := min(max(int32(best-eval)*correctionUnit/int32(scale), -correctionMax), correctionMax)
	bonus := min(max(wrong*int32(min(depth, 16))/64, -correctionMax/4), correctionMax/4)
	for _, c := range w.corrections(node, ply) {
		if c != nil {
			gravitate(c, bonus, correctionMax)
		}
	}
}
