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
	for e, ok := p.next(w.pos); ok; e, ok = p.next(w.pos) {
		if limits.Moves == nil || slices.Contains(limits.Moves, e.Move) {
			w.root = append(w.root, rootMove{Entry: e, score: -Infinity, last: -Infinity, pv: []game.Move{e.Move}})
		}
	}
	if len(w.root) == 0 && len(limits.Moves) > 0 {
		// A forced node gives no move that loses at once; where only such are
		// allowed, the first is as good as any.
		m := limits.Moves[0]
		w.root = append(w.root, rootMove{Entry: Entry{Move: m}, score: -Win + 2, last: -Win + 2, pv: []game.Move{m}})
		w.source = FromOnly
		return false
	}
	return len(w.root) > 0
}

// proveRoot asks the prover first: what it settles needs no search.
func (w *worker) proveRoot() bool {
	params, limits := &w.k.params, w.s.limits.Load()
	if w.id > 0 || w.prover == nil || params.ProveRoot == 0 || limits.MultiPV > 1 {
		return false
	}
	w.pos.Enter()
	proof, ok := w.prove(params.ProveRoot)
	if !ok || len(proof.Line) == 0 {
		return false
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
	if limits.Soft == 0 {
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
	soft := limits.Soft
	if limits.Stretch != nil {
		params := &w.k.params
		p := Progress{Depth: depth, Stable: w.stable, Effort: float64(best.nodes) / float64(max(w.nodes, 1))}
		if depth > 1 && best.last > -Infinity {
			p.Fall = params.Chance(best.last) - params.Chance(best.score)
		}
		soft = time.Duration(float64(soft) * limits.Stretch(p))
	}
	return time.Since(limits.From) >= soft
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
	alpha, beta, delta := -Infinity, Infinity, Infinity
	if last := w.root[line].last; params.On.Aspiration && depth >= 4 && last > -MaxEval && last < MaxEval {
		delta = max(params.WinScale/8, 1)
		alpha, beta = max(last-delta, -Infinity), min(last+delta, Infinity)
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
	on := &w.k.params.On
	node := w.pos.Enter()
	w.lines[0].n = 0
	best, floor, rests := -Infinity, alpha, nothing
	for i := first; i < len(w.root); i++ {
		w.root[i].score = -Infinity
	}
	for i := first; i < len(w.root); i++ {
		r := &w.root[i]
		if !w.mayDo() {
			return best
		}
		before := w.nodes - 1
		w.pos.Do(r.Move)
		var score Score
		var on1 int
		if i == first || !on.PVS {
			score, on1 = negate(w.search(-beta, -alpha, depth-1, 1))
		} else {
			score, on1 = negate(w.search(-alpha-1, -alpha, depth-1, 1))
			if score > alpha && !w.stopped() {
				score, on1 = negate(w.search(-beta, -alpha, depth-1, 1))
			}
		}
		w.pos.Undo(r.Move)
		r.nodes += w.nodes - before
		if w.stopped() {
			return best
		}
		rests = min(rests, on1)
		if i == first || score > alpha {
			w.follow(0, r.Move)
			r.score, r.pv, r.seldepth = score, slices.Clone(w.lines[0].pv[:w.lines[0].n]), w.seldepth
		}
		best = max(best, score)
		if score > alpha {
			alpha = score
			if score >= beta {
				rests = on1
				break
			}
		}
	}
	if first == 0 && w.s.limits.Load().Moves == nil {
		w.remember(&node, 0, best, floor, beta, depth, rests, w.lines[0].pv[0], noEval)
	}
	return best
}

// negate turns a child's answer into its parent's.
func negate(s Score, rests int) (Score, int) { return -s, rests }

// search is the worth of the current position to its side to move, searched
// depth plies deep, and what it rests on. Within (alpha, beta) it is exact,
// outside it is a bound (fail-soft).
func (w *worker) search(alpha, beta Score, depth, ply int) (Score, int) {
	params := &w.k.params
	on := &params.On

	// 1. At the horizon quiescence takes over.
	if depth <= 0 {
		return w.quiesce(alpha, beta, ply, 0)
	}

	// 2. The game may be over, or the line too long to follow.
	node := w.pos.Enter()
	if score, rests, over := w.over(&node, ply); over {
		return score, rests
	}

	// 3. Mate-distance pruning: a win shorter than the one already found must
	// still be possible here.
	if on.MateDistance {
		if low := AtPly(-Win, ply); low >= beta {
			return low, nothing
		}
		if high := AtPly(Win-1, ply); high <= alpha {
			return high, nothing
		}
	}

	// 4. What does the hash table know? Its score counts if it was searched
	// as deep as is wanted now.
	known, hit := w.k.table.probe(w.key(&node))
	if hit && on.HashCutoff && !node.NoCutoff && known.depth >= depth {
		if score := fromTable(known.score, ply); known.decides(alpha, beta, score) {
			return score, nothing
		}
	}

	// 5. The moves, best first.
	p := w.openPicker(All, game.NoMove)
	defer w.closePicker()
	p.ply = ply
	if on.HashMove {
		p.hash = known.move
	}
	if on.Killers {
		copy(p.refutes[:], w.lines[ply].killers[:])
	}
	if on.History {
		p.scored = w
	}
	w.lines[ply+2].killers = [2]game.Move{} // of cousins far away: forget them
	var quiets [32]Entry                    // quiet moves that did not refute
	nQuiets := 0
	best, floor, rests := -Infinity, alpha, nothing
	bestMove := game.NoMove
	searched := 0
	for {
		e, ok := p.next(w.pos)
		if !ok {
			break
		}
		if !w.mayDo() {
			return 0, nothing
		}
		w.pos.Do(e.Move)

		// 6. Principal-variation search: once a move is best, the others need
		// only be shown to be worse, with a null window; one that is not is
		// searched again.
		var score Score
		var on1 int
		if searched == 0 || !on.PVS {
			score, on1 = negate(w.search(-beta, -alpha, depth-1, ply+1))
		} else {
			score, on1 = negate(w.search(-alpha-1, -alpha, depth-1, ply+1))
			if score > alpha && score < beta && !w.stopped() {
				score, on1 = negate(w.search(-beta, -alpha, depth-1, ply+1))
			}
		}
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, nothing
		}
		searched++

		// 7. A better move; one that the opponent will not allow ends the node.
		rests = min(rests, on1)
		if score > best {
			best = score
			if score > alpha {
				alpha, bestMove = score, e.Move
				w.follow(ply, e.Move)
				if score >= beta {
					rests = on1
					w.refuted(&e, quiets[:nQuiets], depth, ply)
					break
				}
			}
		}
		if e.Noise == 0 && nQuiets < len(quiets) {
			quiets[nQuiets] = e
			nQuiets++
		}
	}

	// 8. No move at all is a loss.
	if searched == 0 {
		return AtPly(-Win, ply), nothing
	}

	// 9. Remember.
	w.remember(&node, ply, best, floor, beta, depth, rests, bestMove, noEval)
	return best, above(rests, ply)
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

// refuted learns from a move that ended a node: quiet ones are worth trying
// early elsewhere, and the quiet ones tried before it are not.
func (w *worker) refuted(e *Entry, before []Entry, depth, ply int) {
	on := &w.k.params.On
	if e.Noise > 0 {
		return
	}
	if k := &w.lines[ply].killers; on.Killers && k[0] != e.Move {
		k[0], k[1] = e.Move, k[0]
	}
	if on.History {
		bonus := historyBonus(depth)
		w.history.credit(ply&1, e, bonus)
		for i := range before {
			w.history.credit(ply&1, &before[i], -bonus)
		}
	}
}

// quiesce settles a leaf: first by proof, then by searching on through noisy
// moves until the position is quiet enough for its evaluation. q counts the
// plies since the main search.
func (w *worker) quiesce(alpha, beta Score, ply, q int) (Score, int) {
	params := &w.k.params
	on := &params.On

	// 1. The game may be over, or the line too long to follow.
	node := w.pos.Enter()
	if score, rests, over := w.over(&node, ply); over {
		return score, rests
	}

	// 2. The hash table. Where quiescence is limited in depth, a node's score
	// depends on where it began, and only beginnings are stored.
	store := q == 0 || params.QuiescencePlies == 0
	known, hit := w.k.table.probe(w.key(&node))
	if hit && on.HashCutoff && !node.NoCutoff {
		if score := fromTable(known.score, ply); known.decides(alpha, beta, score) {
			return score, nothing
		}
	}

	// 3. A proof ends all doubt; it is sought once per position.
	if q == 0 && params.ProveLeaf > 0 && w.prover != nil && !known.tried {
		if proof, ok := w.prove(params.ProveLeaf); ok {
			score := AtPly(proof.Score, ply)
			l := &w.lines[ply]
			l.n = copy(l.pv[:], proof.Line)
			if !node.NoCutoff {
				w.k.table.store(w.key(&node), record{score: toTable(score, ply), eval: noEval, depth: MaxPly, bound: Exact})
			}
			return score, nothing
		}
		if w.stopped() {
			return 0, nothing
		}
		w.k.table.store(w.key(&node), record{eval: noEval, tried: true})
	}

	// 4. Stand pat: the side to move need not make a noisy move, so the
	// evaluation is a bound, unless it is forced to move.
	limited := !params.Quiescence || (params.QuiescencePlies > 0 && q >= params.QuiescencePlies)
	best, floor, rests := -Infinity, alpha, nothing
	eval := noEval
	if !node.Forced || limited {
		if eval = known.eval; !hit || eval == noEval {
			eval = w.pos.Eval()
		}
		best = eval
		if limited || best >= beta {
			if store {
				r := record{eval: eval}
				if !limited {
					r.score, r.bound = toTable(best, ply), Lower
				}
				w.k.table.store(w.key(&node), r)
			}
			return best, nothing
		}
		alpha = max(alpha, best)
	}

	// 5. The noisy moves, or all when forced.
	mode := Noisy
	if node.Forced {
		mode = All
	}
	p := w.openPicker(mode, game.NoMove)
	defer w.closePicker()
	p.ply = ply
	if on.HashMove {
		p.hash = known.move
	}
	if on.History && node.Forced {
		p.scored = w
	}
	bestMove := game.NoMove
	for {
		e, ok := p.next(w.pos)
		if !ok {
			break
		}
		// 6. A capture that loses material is no reason to doubt the
		// evaluation.
		if on.SkipLosing && e.Noise == 1 && !node.Forced && (w.exchanger == nil || !w.exchanger.SEE(e.Move, 0)) {
			continue
		}
		if !w.mayDo() {
			return 0, nothing
		}
		w.pos.Do(e.Move)
		score, on1 := negate(w.quiesce(-beta, -alpha, ply+1, q+1))
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, nothing
		}
		rests = min(rests, on1)
		if score > best {
			best = score
			if score > alpha {
				alpha, bestMove = score, e.Move
				w.follow(ply, e.Move)
				if score >= beta {
					rests = on1
					break
				}
			}
		}
	}

	// 7. Forced and without a move is lost.
	if best == -Infinity {
		return AtPly(-Win, ply), nothing
	}
	if store {
		w.remember(&node, ply, best, floor, beta, 0, rests, bestMove, eval)
	}
	return best, above(rests, ply)
}
