package search

import (
	"unsafe"

	"sparring/game"
)

// historyMax is the greatest absolute history score.
const historyMax = 1 << 14

// history has the statistics of which moves cut off (Schaeffer, "The history
// heuristic and alpha-beta search enhancements in practice", 1989; paper 004).
// The tables are indexed by ScoredMove.HistoryIndex; all scores lie within
// +-historyMax.
type history struct {
	quiet        [2][2][]int16 // by side to move, slot kind, slot
	noisy        [2][2][]int16 // the same for noisy moves
	continuation [2][]int16    // after the move one and two plies back: by its slot and the move's own
	usedRows     [2][]bool     // the rows of continuation that are not all zero
	rowLen       int           // of a row of continuation
	contIndex    int           // the slot kind that continuation and counter go by
	counter      [2][]game.Move

	// How evaluations erred, in 256ths: by side to move and the node's CorrectionKey,
	// and by the last move.
	correctionByKey  [2][correctionKeys]int16
	correctionByMove [2][]int16
}

// correctionKeys is the number of classes that Node.CorrectionKey is hashed
// into.
const correctionKeys = 1 << 14

func newHistory(p *Params) *history {
	h := &history{contIndex: p.ContinuationIndex, rowLen: max(p.HistorySize[p.ContinuationIndex], 1)}
	for side := range 2 {
		for kind, n := range p.HistorySize {
			h.quiet[side][kind] = make([]int16, max(n, 1))
			h.noisy[side][kind] = make([]int16, max(n, 1))
		}
		h.counter[side] = make([]game.Move, h.rowLen)
		h.correctionByMove[side] = make([]int16, h.rowLen)
		if p.On.ContinuationHistory {
			h.continuation[side] = make([]int16, h.rowLen*h.rowLen)
			h.usedRows[side] = make([]bool, h.rowLen)
			HugePages(h.continuation[side])
		}
	}
	return h
}

// historyBytes returns the size of one history.
func historyBytes(p *Params) int {
	width := max(p.HistorySize[p.ContinuationIndex], 1)
	bytes := int(unsafe.Sizeof(history{}))
	for _, n := range p.HistorySize {
		bytes += 2 * 2 * 2 * max(n, 1) // quiet and noisy, two sides
	}
	bytes += 2 * (4 + 2) * width // counter moves, corrections
	if p.On.ContinuationHistory {
		bytes += 2 * (2*width*width + width)
	}
	return bytes
}

func (h *history) clear() {
	for side := range 2 {
		for kind := range 2 {
			clear(h.quiet[side][kind])
			clear(h.noisy[side][kind])
		}
		// A short search uses few of the rows.
		for row, used := range h.usedRows[side] {
			if used {
				clear(h.continuation[side][row*h.rowLen : (row+1)*h.rowLen])
			}
		}
		clear(h.usedRows[side])
		clear(h.counter[side])
		clear(h.correctionByMove[side])
		h.correctionByKey[side] = [correctionKeys]int16{}
	}
}

// meanHistory returns the mean of a move's two scores.
func meanHistory(t *[2][]int16, s *[2]uint16) int32 {
	return (int32(t[0][s[0]]) + int32(t[1][s[1]])) / 2
}

// addHistory adds a bonus to a move's two scores. A table of one slot is that of a game
// without slots of this kind and stays zero: all moves would share its score, which
// only told how often moves cut off.
func addHistory(t *[2][]int16, s *[2]uint16, bonus int32) {
	for kind := range t {
		if len(t[kind]) > 1 {
			gravitate(&t[kind][s[kind]], bonus, historyMax)
		}
	}
}

// continuationRow has the scores of all moves after the one that was played
// back plies ago.
func (h *history) continuationRow(back int, previous *ScoredMove) []int16 {
	at := int(previous.HistoryIndex[h.contIndex]) * h.rowLen
	return h.continuation[back-1][at : at+h.rowLen]
}

// gravitate adds bonus and moves the score towards zero in proportion (history
// gravity). That keeps it within +-most and lets it forget.
func gravitate(v *int16, bonus, most int32) {
	*v += int16(bonus - int32(*v)*max(bonus, -bonus)/most)
}

// historyBonus grows with the depth of the node that was cut off.
func historyBonus(depth int) int32 {
	return int32(min(32*depth*depth+64*depth, 2048))
}

// moveHistory is the history of quiet moves at one node: the main history, and
// the continuation history after the last two moves.
type moveHistory struct {
	main         [2][]int16
	continuation [2][]int16 // nil after a null move
	contIndex    int
	tables       int32 // how many of the three
}

func (w *worker) moveHistory(ply int) (r moveHistory) {
	on, h := &w.k.params.On, w.history
	r.contIndex = h.contIndex
	if on.History {
		r.main = h.quiet[ply&1]
		r.tables = 1
	}
	if on.ContinuationHistory {
		for back := 1; back <= min(2, ply); back++ {
			if previous := &w.lines[ply-back].current; previous.Move != game.NoMove {
				r.continuation[back-1] = h.continuationRow(back, previous)
				r.tables++
			}
		}
	}
	return r
}

// score returns a move's history score, the mean of those in the tables in use.
func (r *moveHistory) score(e *ScoredMove) (sum int32) {
	if r.main[0] != nil {
		sum = (int32(r.main[0][e.HistoryIndex[0]]) + int32(r.main[1][e.HistoryIndex[1]])) / 2
	}
	if r.continuation[0] != nil {
		sum += int32(r.continuation[0][e.HistoryIndex[r.contIndex&1]])
	}
	if r.continuation[1] != nil {
		sum += int32(r.continuation[1][e.HistoryIndex[r.contIndex&1]])
	}
	switch r.tables { // constants avoid a division
	case 2:
		sum /= 2
	case 3:
		sum /= 3
	}
	return sum
}

// addHistoryTo adds history scores to the order of a batch.
func (w *worker) addHistoryTo(batch []ScoredMove, ply int) {
	r := w.moveHistory(ply)
	noisy := w.k.params.On.NoisyHistory
	mainAlone := r.tables == 1 && r.main[0] != nil // no call of score for each move
	for i := range batch {
		switch e := &batch[i]; {
		case e.Noise == Quiet && mainAlone:
			e.Order += meanHistory(&r.main, &e.HistoryIndex)
		case e.Noise == Quiet:
			e.Order += r.score(e)
		case noisy:
			e.Order += meanHistory(&w.history.noisy[ply&1], &e.HistoryIndex)
		}
	}
}

// updateHistories rewards the move e that cut off, and penalizes the moves that
// were searched before it without a cutoff.
func (w *worker) updateHistories(e *ScoredMove, earlier *searchedMoves, depth, ply int) {
	on, h := &w.k.params.On, w.history
	bonus := historyBonus(depth)
	if on.NoisyHistory {
		if e.Noise != Quiet {
			addHistory(&h.noisy[ply&1], &e.HistoryIndex, bonus)
		}
		for i := range earlier.nNoisy {
			addHistory(&h.noisy[ply&1], &earlier.noisy[i], -bonus)
		}
	}
	if e.Noise != Quiet {
		return
	}
	if k := &w.lines[ply].killers; on.Killers && k[0] != e.Move {
		k[0], k[1] = e.Move, k[0]
	}
	if ply > 0 && on.CounterMoves {
		if previous := &w.lines[ply-1].current; previous.Move != game.NoMove {
			h.counter[ply&1][previous.HistoryIndex[h.contIndex]] = e.Move
		}
	}
	r := w.moveHistory(ply)
	for back := range r.continuation {
		if r.continuation[back] != nil {
			h.usedRows[back][w.lines[ply-1-back].current.HistoryIndex[h.contIndex]] = true
		}
	}
	r.add(&e.HistoryIndex, bonus)
	for i := range earlier.nQuiet {
		r.add(&earlier.quiet[i], -bonus)
	}
}

// add adds a bonus to a quiet move's scores.
func (r *moveHistory) add(s *[2]uint16, bonus int32) {
	if r.main[0] != nil {
		addHistory(&r.main, s, bonus)
	}
	for _, row := range r.continuation {
		if row != nil {
			gravitate(&row[s[r.contIndex&1]], bonus, historyMax)
		}
	}
}

// Correction history is kept in units of WinScale/4096 and bounded by
// WinScale/4.
const (
	correctionUnit = 4096
	correctionMax  = correctionUnit / 4
)

// correctEval corrects an evaluation by the errors of similar nodes' (correction
// history). Its own error (Variety) is in what it returns, but not in the table, so that an
// evaluation from there and a new one are alike.
func (w *worker) correctEval(eval Score, node *Node, ply int) Score {
	eval = w.variety.Blur(eval, node.Key)
	if !w.k.params.On.CorrectionHistory {
		return eval
	}
	var sum int32
	for _, c := range w.correctionEntries(node, ply) {
		if c != nil {
			sum += int32(*c)
		}
	}
	eval += Score(sum) * w.k.params.WinScale / correctionUnit
	return min(max(eval, -MaxEval), MaxEval)
}

// correctionEntries returns the correction-history entries of a node, by its
// CorrectionKey and by the last move.
func (w *worker) correctionEntries(node *Node, ply int) (c [2]*int16) {
	if node.CorrectionKey != 0 {
		c[0] = &w.history.correctionByKey[ply&1][node.CorrectionKey%correctionKeys]
	}
	if ply > 0 {
		if previous := &w.lines[ply-1].current; previous.Move != game.NoMove {
			c[1] = &w.history.correctionByMove[ply&1][previous.HistoryIndex[w.history.contIndex]]
		}
	}
	return c
}

// updateCorrection moves a node's correction history towards the difference
// between its searched score and its evaluation.
func (w *worker) updateCorrection(node *Node, ply, depth int, eval, score Score) {
	scale := w.k.params.WinScale
	target := min(max(int32(score-eval)*correctionUnit/int32(scale), -correctionMax), correctionMax)
	bonus := min(max(target*int32(min(depth, 16))/64, -correctionMax/4), correctionMax/4)
	for _, c := range w.correctionEntries(node, ply) {
		if c != nil {
			gravitate(c, bonus, correctionMax)
		}
	}
}
