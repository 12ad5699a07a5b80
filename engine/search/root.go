package search

import (
	"cmp"
	"slices"

	"sparring/game"
)

// iterate is a worker's search: iterative deepening (paper 003, section 6.3)
// until a limit is met. It leaves the root moves sorted, best first.
func (w *worker) iterate() {
	defer w.counter.Flush()
	if !w.openRoot() || !w.singleAnswer() && w.proveRoot(0) {
		return
	}
	lines := min(max(w.s.Limits().MultiPV, 1), len(w.root))
	w.infos = make([]Info, lines)
	depth := 1
	if on := &w.k.params.On; !on.IterativeDeepening && w.s.Limits().Depth > 0 {
		depth = w.s.Limits().Depth
	}
	// Helpers do the same with the same table, and soon diverge by chance. To
	// let each skip other depths made two threads slower, not faster.
	for ; depth < MaxPly; depth++ {
		before := w.root[0].Move
		var older []Info
		if lines > 1 { // a search of one line needs none
			older = slices.Clone(w.infos)
		}
		for i := range w.root {
			w.root[i].last = w.root[i].score
		}
		for line := range lines {
			w.seldepth = 0
			w.aspirationSearch(depth, line)
			if w.stopped() {
				w.sortLines(line)
				w.fillLines(line, older)
				return
			}
			w.reportLine(depth, line, Exact)
		}
		w.sortLines(lines)
		w.finished = depth
		w.scores[depth] = w.root[0].score
		if w.root[0].Move == before {
			w.stable++
		} else {
			w.stable = 0
		}
		if w.id == 0 && w.s.Limits().Wait {
			w.s.Iterated(w.progress(depth))
		}
		if w.id == 0 && (w.finishedSearch(depth) || w.proveRoot(depth)) {
			return
		}
	}
}

// openRoot lists the root moves, best first by the move ordering; false where
// there is nothing to search.
func (w *worker) openRoot() bool {
	limits := w.s.Limits()
	node := w.pos.Enter()
	var hash game.Move
	if w.k.params.On.HashMove {
		r, _ := w.table.probe(w.key(&node))
		hash = r.move
	}
	p := w.openPicker(All, hash)
	defer w.closePicker()
	for e := p.next(w.pos); e != nil; e = p.next(w.pos) {
		if limits.Moves == nil || slices.Contains(limits.Moves, e.Move) {
			w.root = append(w.root, rootMove{ScoredMove: *e, score: -Infinity, last: -Infinity})
		}
	}
	if len(w.root) == 0 {
		// Only moves are allowed that the node leaves out, because they lose. How soon they
		// do is worth a search, too, as it is where every move loses.
		for _, m := range limits.Moves {
			w.root = append(w.root, rootMove{ScoredMove: ScoredMove{Move: m}, score: -Infinity, last: -Infinity})
		}
	}
	return len(w.root) > 0
}

// proveRoot asks the prover about the root: before the search, or again after its
// iteration of the given depth.
func (w *worker) proveRoot(depth int) bool {
	if w.id > 0 || w.prover == nil {
		return false
	}
	ask := w.counter.ProveAgain
	if depth == 0 {
		ask = w.counter.ProveRoot
	}
	w.pos.Enter()
	proof, ok := ask(w.prover, &w.k.params)
	if !ok {
		return false
	}
	at := slices.IndexFunc(w.root, func(r rootMove) bool { return r.Move == proof.Line[0] })
	if at < 0 {
		return false
	}
	w.root[0], w.root[at] = w.root[at], w.root[0]
	for i := range w.root {
		w.root[i].score = -Infinity
	}
	best := &w.root[0]
	best.score, best.pv, w.source = proof.Score, slices.Clone(proof.Line), proof.Kind
	w.seldepth = len(proof.Line)
	w.infos = make([]Info, 1)
	w.finished = max(depth, 1)
	w.reportLine(w.finished, 0, Exact)
	return true
}

// singleAnswerDepth is how deep a search on the clock goes for a single answer: to
// know what to expect and to ponder on.
const singleAnswerDepth = 5

// singleAnswer reports whether there is a single move, and time to be saved.
func (w *worker) singleAnswer() bool {
	limits := w.s.Limits()
	return len(w.root) == 1 && (limits.Soft > 0 || limits.Hard > 0)
}

// finishedSearch reports after an iteration whether it was the last.
func (w *worker) finishedSearch(depth int) bool {
	limits := w.s.Limits()
	best := &w.root[0]
	if limits.Depth > 0 && depth >= limits.Depth {
		return true
	}
	if limits.Mate > 0 && best.score >= mateWithin(limits.Mate) {
		return true
	}
	if limits.Mate > 0 || limits.Soft == 0 && limits.Hard == 0 {
		return false
	}
	// On the clock there is no use in searching a single move for long, or
	// beyond the end of a proven win or loss.
	if w.singleAnswer() && depth >= singleAnswerDepth {
		return true
	}
	if far := Win - max(best.score, -best.score); far <= Win-WinBound && depth > int(far) {
		return true
	}
	return w.softLimitReached(depth)
}

// softLimitReached reports whether the soft limit has been reached.
func (w *worker) softLimitReached(depth int) bool {
	return w.s.SoftLimitReached(func() Progress { return w.progress(depth) })
}

// progress returns the state of the search in its iteration of a depth, or after it.
func (w *worker) progress(depth int) Progress {
	best, params := &w.root[0], &w.k.params
	p := Progress{Depth: depth, StableIterations: w.stable, Effort: float64(best.nodes) / float64(max(w.counter.nodes, 1))}
	if depth > 1 && best.score > -Infinity {
		p.WinProbDrop = params.WinProb(w.scores[depth-1]) - params.WinProb(best.score)
	}
	return p
}

// reportLine reports the state of a line.
func (w *worker) reportLine(depth, line int, bound Bound) {
	if w.id > 0 {
		return
	}
	w.counter.Flush()
	r := &w.root[line]
	w.infos[line] = w.s.Report(Info{Depth: depth, SelDepth: max(r.seldepth, w.seldepth), Line: line + 1, Score: r.score, Bound: bound,
		WinProb: w.k.params.WinProb(r.score), HashFull: w.table.Permille(), PV: slices.Clone(r.pv)})
}

// sortLines sorts the first n lines of an iteration: of two, the one that was found later may
// be better, because reductions and the hash table differ.
func (w *worker) sortLines(n int) {
	if n < 2 {
		return
	}
	slices.SortStableFunc(w.root[:n], byScore)
	if w.id > 0 {
		return // it reports none
	}
	slices.SortStableFunc(w.infos[:n], func(a, b Info) int { return cmp.Compare(b.Score, a.Score) })
	for i := range w.infos[:n] {
		w.infos[i].Line = i + 1
	}
}

// fillLines completes the first n lines, those of an iteration that was cut short, by those of
// the iteration before that begin with other moves.
func (w *worker) fillLines(n int, older []Info) {
	if n == 0 || w.id > 0 {
		return
	}
	older = slices.DeleteFunc(older, func(o Info) bool {
		return len(o.PV) == 0 || slices.ContainsFunc(w.infos[:n], func(i Info) bool { return i.PV[0] == o.PV[0] })
	})
	for i := range min(len(older), len(w.infos)-n) {
		w.infos[n+i] = older[i]
		w.infos[n+i].Line = n + i + 1
	}
}

// byScore orders root moves, best first.
func byScore(a, b rootMove) int { return cmp.Compare(b.score, a.score) }

// aspirationSearch searches the root with a narrow window around the last score,
// because that cuts off more, and widens it until the score lies inside
// (aspiration window; paper 003, section 6.2).
func (w *worker) aspirationSearch(depth, line int) {
	params := &w.k.params
	w.depth = depth
	center := w.root[line].last
	if line == 0 && w.finished > 0 {
		center = w.scores[depth-1]
	}
	alpha, beta, delta := -Infinity, Infinity, Infinity
	if params.On.Aspiration && depth >= 4 && center > -MaxEval && center < MaxEval {
		delta = params.Margins.Aspiration
		alpha, beta = max(center-delta, -Infinity), min(center+delta, Infinity)
	}
	for {
		score := w.searchRoot(alpha, beta, depth, line)
		w.sortRoot(line)
		if w.stopped() {
			return
		}
		switch {
		case score <= alpha && alpha > -Infinity:
			alpha = max(score-delta, -Infinity)
		case score >= beta && beta < Infinity:
			w.root[line].last = score // at least, should the time end before it is known better
			beta = min(score+delta, Infinity)
		default:
			return
		}
		delta *= 2
		if delta > MaxEval/8 {
			alpha, beta = -Infinity, Infinity
		}
	}
}

// sortRoot sorts the root moves from one on, best first. Moves that are not better than
// the best have no score and keep the order in which earlier iterations left them. They
// are most, in Amazons up to 2,000, and nearly always behind the others already.
func (w *worker) sortRoot(first int) {
	moves := w.root[first:]
	scored := len(moves)
	for scored > 0 && moves[scored-1].score == -Infinity {
		scored--
	}
	slices.SortStableFunc(moves[:scored], byScore)
}

// searchRoot is search for the root, whose moves are listed once and keep their
// results. It begins at root move first; the ones before are those of better
// lines (MultiPV).
func (w *worker) searchRoot(alpha, beta Score, depth, first int) Score {
	node := w.pos.Enter()
	n := nodeState{Node: &node, depth: depth, alpha: alpha, beta: beta, pv: true, eval: noEval, bestOrder: noOrder}
	l := &w.lines[0]

	// 1. Static evaluation, for the improving test two plies on.
	l.pvLen, l.eval = 0, noEval
	if w.k.needEval && !node.Forced && !node.Over {
		l.eval = w.correctEval(w.pos.Eval(), &node, 0)
	}
	history := w.moveHistory(0)
	best, pathPly := -Infinity, noPath
	for i := first; i < len(w.root); i++ {
		w.root[i].score = -Infinity
		n.bestOrder = max(n.bestOrder, int64(w.root[i].Order))
	}
	for i := first; i < len(w.root); i++ {
		r := &w.root[i]

		// 2. The soft limit, also within an iteration: the result is that of
		// the moves so far.
		if i > 0 && depth > 1 && w.id == 0 && w.softLimitReached(depth) {
			w.s.End()
		}
		// The prover, also within a long iteration.
		if i > first && depth > 1 && w.proveRoot(depth) {
			w.s.End()
			return best
		}
		if !w.counter.Count() || w.stopped() {
			return best
		}

		// 3. The move itself, by PVS with LMR.
		before := w.counter.nodes - 1
		w.do(&r.ScoredMove, 0)
		reduction := 0
		if !node.Forced {
			reduction = w.lmr(&n, &r.ScoredMove, i-first+1, &history)
		}
		score, childPath := w.searchMove(&n, depth-1, reduction, i == first)
		w.pos.Undo(r.Move)
		r.nodes += w.counter.nodes - before
		if w.stopped() {
			return best
		}

		// 4. Alpha-beta: a better move, or a cutoff (above an aspiration window).
		pathPly = min(pathPly, childPath)
		if i == first || score > n.alpha {
			w.updatePV(0, r.Move)
			r.score, r.pv, r.seldepth = score, slices.Clone(l.pv[:l.pvLen]), w.seldepth
		}
		best = max(best, score)
		if score > n.alpha {
			n.alpha = score
			if score >= beta {
				pathPly = childPath
				break
			}
		}
	}

	// 5. The transposition table.
	if first == 0 && w.s.Limits().Moves == nil {
		w.storeNode(&node, 0, pathPly, ttEntry{move: l.pv[0], score: best, eval: noEval, depth: depth, bound: boundOf(best, alpha, beta)})
	}
	return best
}
