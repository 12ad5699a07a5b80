package search

import (
	"slices"
	"time"

	"sparring/game"
)

// iterate searches deeper and deeper until a limit is met, and leaves the
// root moves sorted, best first.
func (w *worker) iterate() {
	defer w.flushNodes()
	if !w.openRoot() || w.proveRoot() {
		return
	}
	lines := min(max(w.s.limits.Load().MultiPV, 1), len(w.root))
	w.infos = make([]Info, lines)
	depth := 1
	if on := &w.k.params.On; !on.IterativeDeepening && w.s.limits.Load().Depth > 0 {
		depth = w.s.limits.Load().Depth
	}
	// Helpers do the same on the same table, where chance soon parts them. To
	// make each leave out other depths made two threads slower, not faster.
	for ; depth < MaxPly; depth++ {
		before := w.root[0].Move
		for i := range w.root {
			w.root[i].last = w.root[i].score
		}
		for line := range lines {
			w.seldepth = 0
			w.aspirationSearch(depth, line)
			if w.stopped() {
				return
			}
			w.reportLine(depth, line, Exact)
		}
		w.finished = depth
		w.scores[depth] = w.root[0].score
		if w.root[0].Move == before {
			w.stable++
		} else {
			w.stable = 0
		}
		if w.id == 0 && w.finishedSearch(depth) {
			return
		}
	}
}

// openRoot lists the root moves in the order of their promise; false where
// there is none.
func (w *worker) openRoot() bool {
	limits := w.s.limits.Load()
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
	if len(w.root) == 0 && len(limits.Moves) > 0 {
		// A forced node gives no move that loses at once; where only such are
		// allowed, the first is as good as any.
		m := limits.Moves[0]
		w.root = append(w.root, rootMove{ScoredMove: ScoredMove{Move: m}, score: -Win + 2, last: -Win + 2})
		w.source = FromOnly
		return false
	}
	return len(w.root) > 0
}

// proveRoot asks the prover first: what it settles needs no search. It gets a
// quarter of the means at most, for most positions are not settled.
func (w *worker) proveRoot() bool {
	params, limits := &w.k.params, w.s.limits.Load()
	if w.id > 0 || w.prover == nil || params.ProveRoot == 0 || limits.MultiPV > 1 {
		return false
	}
	budget, until := params.ProveRoot, limits.Soft/4
	if limits.Nodes > 0 {
		budget = min(budget, int(limits.Nodes/4)+1)
	}
	if until == 0 {
		until = limits.Hard / 4
	}
	w.pos.Enter()
	proof, ok := w.prove(budget, until)
	if !ok || len(proof.Line) == 0 {
		return false
	}
	if limits.Mate > 0 && proof.Score < Win-Score(2*limits.Mate-1) {
		return false // a shorter win is wanted
	}
	at := slices.IndexFunc(w.root, func(r rootMove) bool { return r.Move == proof.Line[0] })
	if at < 0 {
		return false
	}
	w.root[0], w.root[at] = w.root[at], w.root[0]
	best := &w.root[0]
	best.score, best.pv, w.source = proof.Score, slices.Clone(proof.Line), proof.Kind
	w.seldepth = len(proof.Line)
	w.infos = make([]Info, 1)
	w.reportLine(1, 0, Exact)
	w.finished = 1
	return true
}

// enough decides after an iteration whether another is worth its time.
func (w *worker) finishedSearch(depth int) bool {
	limits := w.s.limits.Load()
	best := &w.root[0]
	if limits.Depth > 0 && depth >= limits.Depth {
		return true
	}
	if limits.Mate > 0 && best.score >= Win-Score(2*limits.Mate-1) {
		return true
	}
	if limits.Mate > 0 || limits.Soft == 0 && limits.Hard == 0 {
		return false
	}
	// On the clock nothing is gained by looking at a single move for long, or
	// past the end of a proven line.
	if len(w.root) == 1 && depth >= 5 {
		return true
	}
	if far := Win - max(best.score, -best.score); far <= Win-WinBound && depth > int(far) {
		return true
	}
	return w.softLimitReached(depth)
}

// spent reports whether the soft limit has been reached.
func (w *worker) softLimitReached(depth int) bool {
	limits := w.s.limits.Load()
	if limits.Soft == 0 {
		return false
	}
	soft := limits.Soft
	if limits.SoftScale != nil {
		best, params := &w.root[0], &w.k.params
		p := Progress{Depth: depth, StableIterations: w.stable, Effort: float64(best.nodes) / float64(max(w.nodes, 1))}
		if depth > 1 && best.score > -Infinity {
			p.WinProbDrop = params.WinProb(w.scores[depth-1]) - params.WinProb(best.score)
		}
		soft = time.Duration(float64(soft) * limits.SoftScale(p))
	}
	return w.s.thinkingTime() >= soft
}

// inform tells the caller how a line stands.
func (w *worker) reportLine(depth, line int, bound Bound) {
	if w.id > 0 {
		return
	}
	w.flushNodes()
	s, r := w.s, &w.root[line]
	spent := s.elapsed()
	info := Info{Depth: depth, SelDepth: max(r.seldepth, w.seldepth), Line: line + 1, Score: r.score, Bound: bound,
		WinProb: w.k.params.WinProb(r.score), Nodes: s.nodes.Load(), Time: spent, HashFull: w.table.Permille(), PV: slices.Clone(r.pv)}
	info.NPS = uint64(float64(info.Nodes) / max(time.Since(s.began).Seconds(), 1e-6))
	w.infos[line] = info
	if s.report != nil {
		s.report(info)
	}
}

// aspire searches the root with a window around the last score, because a
// narrow window cuts more, and widens it until the score lies inside.
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
		// Stable: the moves that are not better than the best keep the order
		// in which earlier iterations left them.
		slices.SortStableFunc(w.root[line:], func(a, b rootMove) int { return int(b.score) - int(a.score) })
		if w.stopped() {
			return
		}
		switch {
		case score <= alpha && alpha > -Infinity:
			alpha = max(score-delta, -Infinity)
		case score >= beta && beta < Infinity:
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

// searchRoot is search for the root, where moves are listed once and keep
// what was found of them. It begins at root move first (the lines before it
// are settled).
func (w *worker) searchRoot(alpha, beta Score, depth, first int) Score {
	node := w.pos.Enter()
	l := &w.lines[0]
	l.pvLen, l.eval = 0, noEval
	if w.k.needEval && !node.Forced && !node.Over {
		l.eval = w.correctEval(w.pos.Eval(), &node, 0)
	}
	history := w.moveHistory(0)
	best, oldAlpha, pathPly := -Infinity, alpha, noPath
	for i := first; i < len(w.root); i++ {
		w.root[i].score = -Infinity
	}
	for i := first; i < len(w.root); i++ {
		r := &w.root[i]
		if i > 0 && depth > 1 && w.id == 0 && w.softLimitReached(depth) {
			w.s.end() // what the moves so far have shown is kept
		}
		if !w.countNode() || w.stopped() {
			return best
		}
		before := w.nodes - 1
		w.do(&r.ScoredMove, 0)
		reduction := 0
		if !node.Forced {
			reduction = w.lmr(&r.ScoredMove, &history, depth, i-first+1, 0, true, false, false, false)
		}
		score, childPath := w.searchMove(alpha, beta, depth-1, reduction, 0, i == first, true, false)
		w.pos.Undo(r.Move)
		r.nodes += w.nodes - before
		if w.stopped() {
			return best
		}
		pathPly = min(pathPly, childPath)
		if i == first || score > alpha {
			w.updatePV(0, r.Move)
			r.score, r.pv, r.seldepth = score, slices.Clone(l.pv[:l.pvLen]), w.seldepth
		}
		best = max(best, score)
		if score > alpha {
			alpha = score
			if score >= beta {
				pathPly = childPath
				break
			}
		}
	}
	if first == 0 && w.s.limits.Load().Moves == nil {
		w.storeNode(&node, 0, best, oldAlpha, beta, depth, pathPly, l.pv[0], noEval)
	}
	return best
}
