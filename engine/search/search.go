package search

import (
	"slices"
	"time"

	"sparring/game"
)

// The search, read from top to bottom: iterate deepens, aspire chooses the
// window, searchRoot goes through the root moves, search through the moves of
// all other nodes, quiesce settles the leaves.
//
// Every score comes with what it rests on: the earliest ply on the current
// line whose position it depends on, because a repetition was judged by it, or
// nothing. A score that rests on a position before its own node is true on
// this line only, so it never enters the hash table (the graph-history
// interaction problem; Campbell, "The graph-history interaction: on ignoring
// position history", 1985). A refutation rests on what its own subtree rests
// on; only where all moves failed does a node rest on all of them.

// nothing is what a score rests on that is true on every line.
const nothing = 1 << 16

// iterate searches deeper and deeper until a limit is met, and leaves the
// root moves sorted, best first.
func (w *worker) iterate() {
	defer w.tell()
	if !w.openRoot() || w.proveRoot() {
		return
	}
	lines := min(max(w.s.limits.Load().MultiPV, 1), len(w.root))
	w.infos = make([]Info, lines)
	for depth := 1; depth < MaxPly; depth++ {
		// Helpers leave out some iterations, each others, so that threads
		// spread over depths instead of doing the same work.
		if w.id > 0 && (depth+w.id)%4 == 0 && depth > 2 {
			continue
		}
		before := w.root[0].Move
		for i := range w.root {
			w.root[i].last = w.root[i].score
		}
		for line := range lines {
			w.seldepth = 0
			w.aspire(depth, line)
			if w.stopped() {
				return
			}
			w.inform(depth, line, Exact)
		}
		w.finished = depth
		w.scores[depth] = w.root[0].score
		if w.root[0].Move == before {
			w.stable++
		} else {
			w.stable = 0
		}
		if w.id == 0 && w.enough(depth) {
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
		r, _ := w.k.table.probe(w.key(&node))
		hash = r.move
	}
	p := w.openPicker(All, hash)
	defer w.closePicker()
	for e := p.next(w.pos); e != nil; e = p.next(w.pos) {
		if limits.Moves == nil || slices.Contains(limits.Moves, e.Move) {
			w.root = append(w.root, rootMove{Entry: *e, score: -Infinity, last: -Infinity})
		}
	}
	if len(w.root) == 0 && len(limits.Moves) > 0 {
		// A forced node gives no move that loses at once; where only such are
		// allowed, the first is as good as any.
		m := limits.Moves[0]
		w.root = append(w.root, rootMove{Entry: Entry{Move: m}, score: -Win + 2, last: -Win + 2})
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
	w.inform(1, 0, Exact)
	w.finished = 1
	return true
}

// enough decides after an iteration whether another is worth its time.
func (w *worker) enough(depth int) bool {
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
	return w.spent(depth)
}

// spent reports whether the soft limit has been reached.
func (w *worker) spent(depth int) bool {
	limits := w.s.limits.Load()
	if limits.Soft == 0 {
		return false
	}
	soft := limits.Soft
	if limits.Stretch != nil {
		best, params := &w.root[0], &w.k.params
		p := Progress{Depth: depth, Stable: w.stable, Effort: float64(best.nodes) / float64(max(w.nodes, 1))}
		if depth > 1 && best.score > -Infinity {
			p.Fall = params.Chance(w.before(depth)) - params.Chance(best.score)
		}
		soft = time.Duration(float64(soft) * limits.Stretch(p))
	}
	return w.s.thought() >= soft
}

// before is the score that one of this depth is compared with.
func (w *worker) before(depth int) Score {
	if w.k.params.Parity && depth > 2 {
		return w.scores[depth-2]
	}
	return w.scores[depth-1]
}

// inform tells the caller how a line stands.
func (w *worker) inform(depth, line int, bound Bound) {
	if w.id > 0 {
		return
	}
	w.tell()
	s, r := w.s, &w.root[line]
	spent := s.elapsed()
	info := Info{Depth: depth, SelDepth: max(r.seldepth, w.seldepth), Line: line + 1, Score: r.score, Bound: bound,
		Chance: w.k.params.Chance(r.score), Nodes: s.nodes.Load(), Time: spent, HashFull: w.k.table.Full(), PV: slices.Clone(r.pv)}
	info.NPS = uint64(float64(info.Nodes) / max(time.Since(s.began).Seconds(), 1e-6))
	w.infos[line] = info
	if s.report != nil {
		s.report(info)
	}
}

// aspire searches the root with a window around the last score, because a
// narrow window cuts more, and widens it until the score lies inside.
func (w *worker) aspire(depth, line int) {
	params := &w.k.params
	w.depth = depth
	center := w.root[line].last
	if line == 0 && depth > 1 {
		center = w.before(depth)
	}
	alpha, beta, delta := -Infinity, Infinity, Infinity
	if params.On.Aspiration && depth >= 4 && center > -MaxEval && center < MaxEval {
		delta = params.Margins.Window
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
	l.n, l.eval = 0, noEval
	if w.k.evaluates && !node.Forced && !node.Over {
		l.eval = w.correct(w.pos.Eval(), &node, 0)
	}
	best, floor, rests := -Infinity, alpha, nothing
	for i := first; i < len(w.root); i++ {
		w.root[i].score = -Infinity
	}
	for i := first; i < len(w.root); i++ {
		r := &w.root[i]
		if i > 0 && depth > 1 && w.id == 0 && w.spent(depth) {
			w.s.end() // what the moves so far have shown is kept
		}
		if !w.mayDo() || w.stopped() {
			return best
		}
		before := w.nodes - 1
		w.do(&r.Entry, 0)
		less := 0
		if !node.Forced {
			less = w.reduction(&r.Entry, depth, i-first+1, 0, true, false, false)
		}
		score, onChild := w.searchMove(alpha, beta, depth-1, less, 0, i == first, true, false)
		w.pos.Undo(r.Move)
		r.nodes += w.nodes - before
		if w.stopped() {
			return best
		}
		rests = min(rests, onChild)
		if i == first || score > alpha {
			w.follow(0, r.Move)
			r.score, r.pv, r.seldepth = score, slices.Clone(l.pv[:l.n]), w.seldepth
		}
		best = max(best, score)
		if score > alpha {
			alpha = score
			if score >= beta {
				rests = onChild
				break
			}
		}
	}
	if first == 0 && w.s.limits.Load().Moves == nil {
		w.remember(&node, 0, best, floor, beta, depth, rests, l.pv[0], noEval)
	}
	return best
}

// searchMove searches the move that was just made at ply, for the side that
// made it: principal-variation search (once a move is best, the others need
// only be shown to be worse, with a null window) and reductions (late moves
// are looked at less plies deep first). What turns out better than expected is
// searched again.
func (w *worker) searchMove(alpha, beta Score, depth, less, ply int, first, pv, cut bool) (Score, int) {
	full := func() (Score, int) { return negate(w.search(-beta, -alpha, depth, ply+1, !pv && !cut)) }
	if first {
		return full()
	}
	// Tolerance search: a move that is hardly better than the best is not
	// worth knowing how much, so it has to pass a higher test (paper 003,
	// section 6.2).
	test := alpha
	if on := &w.k.params.On; on.Tolerance && on.PVS && pv {
		test = min(alpha+w.k.params.Margins.Tolerance, beta-1)
	}
	edge := beta
	if w.k.params.On.PVS {
		edge = test + 1
	}
	score, rests := negate(w.search(-edge, -test, depth-less, ply+1, true))
	if less > 0 && score > test && !w.stopped() {
		score, rests = negate(w.search(-edge, -test, depth, ply+1, !cut))
	}
	if edge < beta && score > test && score < beta && !w.stopped() {
		return full()
	}
	if score <= test {
		score = min(score, alpha) // good, but not good enough to be told apart
	}
	return score, rests
}

// negate turns a child's answer into its parent's.
func negate(s Score, rests int) (Score, int) { return -s, rests }

// reduction is how many plies less deep to look at the n-th move of a node
// first. Moves late in a good order are seldom best; the better their record,
// the less they are reduced.
func (w *worker) reduction(e *Entry, depth, n, ply int, pv, cut, improving bool) int {
	params := &w.k.params
	if !params.On.Reductions || depth < 3 || n < 2 || e.Noise == 2 {
		return 0
	}
	r := params.Reduce.plies(depth, n)
	if e.Noise == 0 {
		records := w.records(ply)
		r -= int(records.of(e)) * params.Reduce.Record / historyMax
	}
	if pv {
		r -= 1024
	}
	if cut {
		r += 1024
	}
	if !improving {
		r += 512
	}
	if k := &w.lines[ply].killers; e.Move == k[0] || e.Move == k[1] {
		r -= 1024
	}
	return min(max(r/1024, 0), depth-2)
}

// search is the worth of the current position to its side to move, searched
// depth plies deep, and what it rests on. Within (alpha, beta) it is exact,
// outside it is a bound (fail-soft). Cut says that a refutation is expected.
func (w *worker) search(alpha, beta Score, depth, ply int, cut bool) (Score, int) {
	params := &w.k.params
	on, margins := &params.On, &params.Margins
	l := &w.lines[ply]

	// 1. The game may be over, or the line too long to follow.
	node := w.pos.Enter()
	if score, rests, over := w.over(&node, ply); over {
		return score, rests
	}

	// 2. A forced node is not a ply of its own: to stop in the middle of a
	// forcing line would put what it forces beyond the horizon.
	if on.ForcedExtension && node.Forced && ply < 2*w.depth {
		depth++
	}

	// 3. At the horizon quiescence takes over.
	if depth <= 0 {
		return w.quiesce(&node, alpha, beta, ply, 0)
	}

	// 4. Mate-distance pruning: a win shorter than the one already found must
	// still be possible here.
	if on.MateDistance {
		if low := AtPly(-Win, ply); low >= beta {
			return low, nothing
		}
		if high := AtPly(Win-1, ply); high <= alpha {
			return high, nothing
		}
	}

	// 5. What does the hash table know? Its score counts if it was searched
	// as deep as is wanted now. A search without one of the moves is about
	// another question, and leaves the table alone.
	pv := beta-alpha > 1
	excluded := l.excluded
	var known record
	hit := false
	if excluded == game.NoMove {
		known, hit = w.k.table.probe(w.key(&node))
		if hit && on.HashCutoff && !node.NoCutoff && known.depth >= depth {
			if score := fromTable(known.score, ply); known.decides(alpha, beta, score) {
				return score, nothing
			}
		}
	}

	// 6. The static evaluation, what experience makes of it, and whether it
	// is better than two plies before.
	raw, eval, improving := noEval, noEval, false
	if w.k.evaluates && !node.Forced {
		if raw = known.eval; !hit || raw == noEval {
			raw = w.pos.Eval()
		}
		eval = w.correct(raw, &node, ply)
		if ply >= 2 {
			improving = w.lines[ply-2].eval == noEval || eval > w.lines[ply-2].eval
		}
	}
	l.eval = eval

	// 7. Where the evaluation or a shallow search says enough, that decides.
	if !pv && !node.Forced && excluded == game.NoMove {
		if score, rests, ok := w.prune(&node, alpha, beta, depth, ply, eval, improving, cut); ok || w.stopped() {
			return score, rests
		}
	}

	// 8. Internal iterative reduction: without a hash move the order is poor
	// and this search long; a shallower one finds the move for the next.
	if on.Internal && depth >= 4 && excluded == game.NoMove && known.move == game.NoMove && (pv || cut) {
		depth--
	}

	// 9. A forced node with a single reply is no ply of its own either.
	oneReply := on.OneReply && node.Forced && ply < 2*w.depth && w.single()

	// 10. The moves, best first.
	p := w.openPicker(All, game.NoMove)
	defer w.closePicker()
	w.aim(p, known.move, ply)
	w.lines[ply+2].killers = [2]game.Move{} // of cousins far away: forget them
	tried := &w.tried[w.top-1]
	tried.nQuiet, tried.nNoisy = 0, 0
	best, floor, rests := -Infinity, alpha, nothing
	bestMove, bestQuiet := game.NoMove, true
	searched := 0
	for {
		e := p.next(w.pos)
		if e == nil {
			break
		}
		if e.Move == excluded {
			continue
		}

		// 11. Moves that come late, at small depth, where there is no sign
		// that they could matter, are not searched at all. The first always
		// is, and all are while nothing is better than a loss.
		if ply > 0 && !node.Forced && best > -RepBound {
			if e.Noise == 0 && !e.Forces {
				if w.tooLate(depth, searched, alpha, eval, improving) {
					if !params.Quiescence {
						break // no noisy move can follow
					}
					p.skipQuiets()
					continue
				}
			}
			if on.SEEPruning && w.exchanger != nil && depth <= 6 && e.Noise < 2 && !e.Forces {
				risk := margins.SEENoisy * Score(depth)
				if e.Noise == 0 {
					risk = margins.SEEQuiet * Score(depth*depth)
				}
				if !w.exchanger.SEE(e.Move, -risk) {
					continue
				}
			}
		}

		// 12. Extensions, one ply at most.
		more := 0
		switch {
		case ply >= 2*w.depth:
		case oneReply:
			more = 1
		case on.Recapture && pv && ply > 0 && e.Gain > 0 && e.To != 0 && e.To == w.lines[ply-1].entry.To && w.lines[ply-1].entry.Gain > 0:
			more = 1
		case on.Singular && e.Move == known.move && excluded == game.NoMove && w.trusted(&known, depth):
			// The hash move is singular if without it the node is much worse:
			// then all hangs on it. If without it the node still reaches
			// beta, several moves do, and that is enough.
			target := fromTable(known.score, ply) - margins.Singular*Score(depth)/16
			l.excluded = e.Move
			score, rests := w.search(target-1, target, (depth-1)/2, ply, cut)
			l.excluded = game.NoMove
			l.eval = eval
			if w.stopped() {
				return 0, nothing
			}
			if score < target {
				more = 1
			} else if target >= beta {
				return target, rests
			}
		}

		if !w.mayDo() {
			return 0, nothing
		}
		w.do(e, ply)
		searched++

		// 13. The move itself.
		less := 0
		if !node.Forced && more == 0 {
			less = w.reduction(e, depth, searched, ply, pv, cut, improving)
		}
		score, onChild := w.searchMove(alpha, beta, depth-1+more, less, ply, searched == 1, pv, cut)
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, nothing
		}

		// 14. A better move; one that the opponent will not allow ends the node.
		rests = min(rests, onChild)
		if score > best {
			best = score
			if score > alpha {
				alpha, bestMove, bestQuiet = score, e.Move, e.Noise == 0
				w.follow(ply, e.Move)
				if score >= beta {
					rests = onChild
					w.refuted(e, tried, depth, ply)
					break
				}
			}
		}
		tried.add(e)
	}

	// 15. No move at all is a loss; none but the excluded one tells nothing.
	if searched == 0 {
		if excluded != game.NoMove {
			return alpha, nothing
		}
		return AtPly(-Win, ply), nothing
	}

	// 16. Remember, and learn how far the evaluation was wrong.
	if excluded == game.NoMove {
		w.remember(&node, ply, best, floor, beta, depth, rests, bestMove, raw)
		if on.Correction && eval != noEval && bestQuiet && best > -MaxEval && best < MaxEval &&
			!(best >= beta && best <= eval) && !(best <= floor && best >= eval) {
			w.learn(&node, ply, depth, eval, best)
		}
	}
	return best, above(rests, ply)
}

// aim gives a picker what is known from elsewhere.
func (w *worker) aim(p *picker, hash game.Move, ply int) {
	on := &w.k.params.On
	p.ply = ply
	if on.HashMove {
		p.hash = hash
	}
	if on.Killers {
		copy(p.refutes[:], w.lines[ply].killers[:])
	}
	if on.Counter && ply > 0 {
		if earlier := &w.lines[ply-1].entry; earlier.Move != game.NoMove {
			p.refutes[2] = w.history.counter[ply&1][earlier.Slots[w.history.kind]]
		}
	}
	if on.History || on.Continuation || on.NoisyHistory {
		p.scored = w
	}
}

// single reports whether there is just one move.
func (w *worker) single() bool {
	p := w.openPicker(All, game.NoMove)
	defer w.closePicker()
	return p.next(w.pos) != nil && p.next(w.pos) == nil
}

// trusted: the table's score is a lower bound of about this depth, so that it
// makes sense to ask how much worse the other moves are.
func (w *worker) trusted(known *record, depth int) bool {
	return depth >= 7 && known.bound&Lower != 0 && known.depth >= depth-3 && known.score > -MaxEval && known.score < MaxEval
}

// tooLate reports whether quiet moves from here on are not worth searching:
// enough came before them, or the evaluation is too far below alpha.
func (w *worker) tooLate(depth, searched int, alpha, eval Score, improving bool) bool {
	params := &w.k.params
	if params.On.LateMoves && depth <= 6 {
		enough := params.LateFrom * (3 + depth*depth) / 3
		if !improving {
			enough -= enough / 3
		}
		if searched >= enough {
			return true
		}
	}
	return params.On.Futility && depth <= 6 && alpha < MaxEval && alpha > -MaxEval &&
		eval+params.Margins.Futility*Score(depth+1) <= alpha
}

// prune tries to settle a node without going through its moves; false where
// it can't. It is asked only where a null window is searched and the node is
// not forced.
func (w *worker) prune(node *Node, alpha, beta Score, depth, ply int, eval Score, improving, cut bool) (Score, int, bool) {
	params := &w.k.params
	on, margins := &params.On, &params.Margins
	if beta >= MaxEval || beta <= -MaxEval {
		return 0, nothing, false // wins and losses are settled by searching
	}

	// Razoring: so far below alpha that only tactics can help, and quiescence
	// sees those.
	if on.Razoring && depth <= 3 && eval+margins.Razor*Score(depth) < alpha {
		score, rests := w.quiesce(node, alpha, beta, ply, 0)
		if score <= alpha && !w.stopped() {
			return score, rests, true
		}
	}

	// Reverse futility: so far above beta that the opponent's next moves
	// won't change it.
	if on.ReverseFutility && depth <= 7 {
		plies := Score(depth)
		if improving {
			plies--
		}
		if eval-margins.Reverse*plies >= beta {
			return eval, nothing, true
		}
	}

	// Null move: a side that is above beta even when it passes would be so
	// after its best move, except in zugzwang, which MayPass and at great
	// depth a search without passing rule out (Donninger, "Null move and deep
	// search", 1993).
	if on.NullMove && depth >= 3 && node.MayPass && eval >= beta && ply >= w.unverified && (ply == 0 || w.lines[ply-1].entry.Move != game.NoMove) {
		if score, rests, ok := w.nullMove(beta, depth, ply, eval, cut); ok || w.stopped() {
			return score, rests, ok
		}
	}

	// ProbCut: a good capture whose shallow search lies far above beta would
	// very probably reach beta in a deep one (Buro 1995).
	if on.ProbCut && depth >= 5 {
		return w.probCut(beta, depth, ply, eval, cut)
	}
	return 0, nothing, false
}

// nullMove searches the position after a pass.
func (w *worker) nullMove(beta Score, depth, ply int, eval Score, cut bool) (Score, int, bool) {
	const verifyFrom = 10
	less := 3 + depth/4 + int(min((eval-beta)/max(w.k.params.WinScale, 1), 3))
	w.lines[ply].entry = Entry{}
	w.pos.Pass()
	score, rests := negate(w.search(-beta, -beta+1, depth-1-less, ply+1, !cut))
	w.pos.Unpass()
	if w.stopped() || score < beta {
		return 0, nothing, false
	}
	if score >= RepBound {
		score = beta // a win found by passing is no proof
	}
	if depth < verifyFrom || w.unverified > 0 {
		return score, above(rests, ply), true
	}
	w.unverified = ply + 3*(depth-less)/4
	check, onCheck := w.search(beta-1, beta, depth-1-less, ply, false)
	w.unverified = 0
	if w.stopped() || check < beta {
		return 0, nothing, false
	}
	return score, min(above(rests, ply), onCheck), true
}

// probCut searches the promising captures with a raised window.
func (w *worker) probCut(beta Score, depth, ply int, eval Score, cut bool) (Score, int, bool) {
	raised := beta + w.k.params.Margins.ProbCut
	p := w.openPicker(Noisy, game.NoMove)
	defer w.closePicker()
	for {
		e := p.next(w.pos)
		if e == nil {
			return 0, nothing, false
		}
		if e.Noise < 2 || (w.exchanger != nil && !w.exchanger.SEE(e.Move, raised-eval)) {
			continue
		}
		if !w.mayDo() {
			return 0, nothing, false
		}
		w.do(e, ply)
		child := w.pos.Enter()
		score, rests := negate(w.quiesceAt(&child, -raised, -raised+1, ply+1))
		if score >= raised && !w.stopped() {
			score, rests = negate(w.search(-raised, -raised+1, depth-4, ply+1, !cut))
		}
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, nothing, false
		}
		if score >= raised && score < MaxEval {
			return score - w.k.params.Margins.ProbCut, above(rests, ply), true
		}
	}
}

// over settles a node where the game has ended or the line grows too long;
// it begins every node, and clears its line.
func (w *worker) over(node *Node, ply int) (Score, int, bool) {
	w.lines[ply].n = 0
	w.seldepth = max(w.seldepth, ply)
	if node.Over {
		if node.Back > 0 {
			return AtPly(node.Verdict, ply), ply - node.Back, true
		}
		return AtPly(node.Verdict, ply), nothing, true
	}
	if ply >= MaxPly-1 {
		return w.pos.Eval(), nothing, true
	}
	return 0, nothing, false
}

// above is what a node's score rests on for its parent: a repetition that
// began in the node itself or below is true wherever the node stands.
func above(rests, ply int) int {
	if rests >= ply {
		return nothing
	}
	return rests
}

// remember stores a node, without its score where that is true on this line
// only.
func (w *worker) remember(node *Node, ply int, best, alpha, beta Score, depth, rests int, move game.Move, eval Score) {
	r := record{move: move, score: toTable(best, ply), eval: eval, depth: min(max(depth, 0), MaxPly)}
	switch {
	case rests < ply || node.NoCutoff:
		r.bound, r.score, r.depth = NoBound, 0, 0
	case best >= beta:
		r.bound = Lower
	case best > alpha:
		r.bound = Exact
	default:
		r.bound = Upper
	}
	w.k.table.store(w.key(node), r)
}

// quiesceAt is quiesce for a node that has just been entered.
func (w *worker) quiesceAt(node *Node, alpha, beta Score, ply int) (Score, int) {
	if score, rests, over := w.over(node, ply); over {
		return score, rests
	}
	return w.quiesce(node, alpha, beta, ply, 0)
}

// quiesce settles a leaf: first by proof, then by searching on through noisy
// moves until the position is quiet enough for its evaluation. q counts the
// plies since the main search. The caller has entered the node and seen that
// the game goes on.
func (w *worker) quiesce(node *Node, alpha, beta Score, ply, q int) (Score, int) {
	params := &w.k.params
	on := &params.On

	// 1. The hash table. Where quiescence is limited in depth, a node's score
	// depends on where it began, and only beginnings are stored.
	store := q == 0 || params.QuiescencePlies == 0
	known, hit := w.k.table.probe(w.key(node))
	if hit && on.HashCutoff && !node.NoCutoff {
		if score := fromTable(known.score, ply); known.decides(alpha, beta, score) {
			return score, nothing
		}
	}

	// 2. A proof ends all doubt; it is sought once per position.
	if q == 0 && params.ProveLeaf > 0 && w.prover != nil && !known.tried {
		if proof, ok := w.prove(params.ProveLeaf, 0); ok {
			score := AtPly(proof.Score, ply)
			l := &w.lines[ply]
			l.n = copy(l.pv[:], proof.Line)
			if !node.NoCutoff {
				w.k.table.store(w.key(node), record{score: toTable(score, ply), eval: noEval, depth: MaxPly, bound: Exact})
			}
			return score, nothing
		}
		if w.stopped() {
			return 0, nothing
		}
		w.k.table.store(w.key(node), record{eval: noEval, tried: true})
	}

	// 3. Stand pat: the side to move need not make a noisy move, so the
	// evaluation is a bound, unless it is forced to move.
	limited := !params.Quiescence || (params.QuiescencePlies > 0 && q >= params.QuiescencePlies)
	best, floor, rests := -Infinity, alpha, nothing
	raw, eval := noEval, noEval
	if !node.Forced || limited {
		if raw = known.eval; !hit || raw == noEval {
			raw = w.pos.Eval()
		}
		eval = w.correct(raw, node, ply)
		best = eval
		if limited || best >= beta {
			if store {
				r := record{eval: raw}
				if !limited {
					r.score, r.bound = toTable(best, ply), Lower
				}
				w.k.table.store(w.key(node), r)
			}
			return best, nothing
		}
		alpha = max(alpha, best)
	}

	// 4. The noisy moves, or all when forced; near the main search also the
	// quiet ones that force.
	mode := Noisy
	if node.Forced {
		mode = All
	}
	checks := !node.Forced && q < params.QuiescenceChecks
	if checks {
		mode = All
	}
	p := w.openPicker(mode, game.NoMove)
	defer w.closePicker()
	w.aim(p, known.move, ply)
	p.refutes = [3]game.Move{}
	p.cursor.NoQuiets = checks
	bestMove := game.NoMove
	for {
		e := p.next(w.pos)
		if e == nil {
			break
		}
		// 5. A capture that loses material is no reason to doubt the
		// evaluation, nor one that can't bring it near alpha.
		if on.SkipLosing && e.Noise < 2 && !node.Forced && (w.exchanger == nil || !w.exchanger.SEE(e.Move, 0)) {
			continue
		}
		if on.Delta && e.Gain > 0 && !node.Forced && eval+e.Gain+params.Margins.Delta <= alpha {
			best = max(best, eval+e.Gain+params.Margins.Delta)
			continue
		}
		if !w.mayDo() {
			return 0, nothing
		}
		w.do(e, ply)
		child := w.pos.Enter()
		score, onChild, over := w.over(&child, ply+1)
		if !over {
			score, onChild = w.quiesce(&child, -beta, -alpha, ply+1, q+1)
		}
		score = -score
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, nothing
		}
		rests = min(rests, onChild)
		if score > best {
			best = score
			if score > alpha {
				alpha, bestMove = score, e.Move
				w.follow(ply, e.Move)
				if score >= beta {
					rests = onChild
					break
				}
			}
		}
	}

	// 6. Forced and without a move is lost.
	if best == -Infinity {
		return AtPly(-Win, ply), nothing
	}
	if store {
		w.remember(node, ply, best, floor, beta, 0, rests, bestMove, raw)
	}
	return best, above(rests, ply)
}
