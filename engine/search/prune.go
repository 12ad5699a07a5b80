package search

import "sparring/game"

// What search leaves out: nodes that are settled without their moves, and moves
// that come too late.

// prune tries to settle a node without going through its moves; false where
// it can't. It is asked only where a null window is searched and the node is
// not forced.
func (w *worker) prune(node *Node, alpha, beta Score, depth, ply int, eval Score, improving, cut bool) (Score, int, bool) {
	params := &w.k.params
	on, margins := &params.On, &params.Margins
	if beta >= MaxEval || beta <= -MaxEval {
		return 0, noPath, false // wins and losses are settled by searching
	}

	// Razoring: so far below alpha that only tactics can help, and quiescence
	// sees those.
	if on.Razoring && depth <= 3 && eval+margins.Razoring*Score(depth) < alpha {
		score, pathPly := w.quiesce(node, alpha, beta, ply, 0)
		if score <= alpha && !w.stopped() {
			return score, pathPly, true
		}
	}

	// Reverse futility: so far above beta that the opponent's next moves
	// won't change it.
	if on.ReverseFutility && depth <= 7 {
		plies := Score(depth)
		if improving {
			plies--
		}
		if eval-margins.ReverseFutility*plies >= beta {
			return eval, noPath, true
		}
	}

	// Null move: a side that is above beta even when it passes would be so
	// after its best move, except in zugzwang, which MayPass and at great
	// depth a search without passing rule out (Donninger, "Null move and deep
	// search", 1993).
	if on.NullMove && depth >= 3 && node.MayPass && eval >= beta && ply >= w.verifyingUntil && (ply == 0 || w.lines[ply-1].current.Move != game.NoMove) {
		if score, pathPly, ok := w.nullMove(beta, depth, ply, eval, cut); ok || w.stopped() {
			return score, pathPly, ok
		}
	}

	// ProbCut: a good capture whose shallow search lies far above beta would
	// very probably reach beta in a deep one (Buro 1995).
	if on.ProbCut && depth >= 5 {
		return w.probCut(beta, depth, ply, eval, cut)
	}
	return 0, noPath, false
}

// nullMove searches the position after a pass.
func (w *worker) nullMove(beta Score, depth, ply int, eval Score, cut bool) (Score, int, bool) {
	null := &w.k.params.NullMove
	reduction := null.Base + depth/null.DepthDivisor + min(int((eval-beta)/w.k.params.Margins.NullMove), null.MaxEvalPlies)
	w.lines[ply].current = ScoredMove{}
	w.pos.Pass()
	score, pathPly := negate(w.search(-beta, -beta+1, depth-1-reduction, ply+1, !cut))
	w.pos.Unpass()
	if w.stopped() || score < beta {
		return 0, noPath, false
	}
	if score >= RepBound {
		score = beta // a win found by passing is no proof
	}
	if depth < null.VerifyDepth || w.verifyingUntil > 0 {
		return score, pathForParent(pathPly, ply), true
	}
	w.verifyingUntil = ply + 3*(depth-reduction)/4
	verified, verifiedPath := w.search(beta-1, beta, depth-1-reduction, ply, false)
	w.verifyingUntil = 0
	if w.stopped() || verified < beta {
		return 0, noPath, false
	}
	return score, min(pathForParent(pathPly, ply), verifiedPath), true
}

// probCut searches the promising captures with a raised window.
func (w *worker) probCut(beta Score, depth, ply int, eval Score, cut bool) (Score, int, bool) {
	probBeta := beta + w.k.params.Margins.ProbCut
	p := w.openPicker(Noisy, game.NoMove)
	defer w.closePicker()
	for {
		e := p.next(w.pos)
		if e == nil {
			return 0, noPath, false
		}
		if e.Noise != GoodNoisy || (w.see != nil && !w.see.SEE(e.Move, probBeta-eval)) {
			continue
		}
		if !w.countNode() {
			return 0, noPath, false
		}
		w.do(e, ply)
		child := w.pos.Enter()
		score, pathPly := negate(w.quiesceAt(&child, -probBeta, -probBeta+1, ply+1))
		if score >= probBeta && !w.stopped() {
			score, pathPly = negate(w.search(-probBeta, -probBeta+1, depth-4, ply+1, !cut))
		}
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, noPath, false
		}
		if score >= probBeta && score < MaxEval {
			return score - w.k.params.Margins.ProbCut, pathForParent(pathPly, ply), true
		}
	}
}

// tooLate reports whether quiet moves from here on are not worth searching:
// enough came before them, or the evaluation is too far below alpha for the
// depth that is left.
func (w *worker) quietsPrunable(depth, left, searched int, alpha, eval Score, improving bool) bool {
	params := &w.k.params
	if params.On.LMP && depth <= params.PruneMaxDepth {
		enough := params.LMPBase * (3 + depth*depth) / 3
		if !improving {
			enough -= enough / 3
		}
		if searched >= enough {
			return true
		}
	}
	return params.On.Futility && left <= params.PruneMaxDepth && alpha < MaxEval && alpha > -MaxEval &&
		eval+params.Margins.Futility*Score(left+1) <= alpha
}
