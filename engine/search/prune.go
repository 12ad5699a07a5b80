package search

import "sparring/game"

// Pruning of whole nodes, the conditions for pruning quiet moves, and reductions.

// prune tries to cut off a node without going through its moves; ok is false
// where it can't. It is called only with a null window and where the node is
// not forced.
func (w *worker) prune(n *nodeState) (score Score, pathPly int, ok bool) {
	params := &w.k.params
	on, margins := &params.On, &params.Margins
	if n.beta >= MaxEval || n.beta <= -MaxEval {
		return 0, noPath, false // only search proves wins and losses
	}

	// 1. Razoring (Birmingham and Kent, "Tree-searching and tree-pruning
	// techniques", 1977): so far below alpha only tactics can help, and
	// quiescence sees those.
	if on.Razoring && n.depth <= params.RazoringDepth && n.eval+margins.Razoring*Score(n.depth) < n.alpha {
		score, pathPly := w.quiesce(n.Node, n.alpha, n.beta, n.ply, 0)
		if score <= n.alpha && !w.stopped() {
			return score, pathPly, true
		}
	}

	// 2. Reverse futility pruning (RFP, static null-move pruning): so far above
	// beta the opponent's next moves won't change it. Like a null move it takes a
	// position that does not ask for a certain move.
	if on.ReverseFutility && n.MayPass && n.depth <= params.ReverseFutilityDepth {
		plies := Score(n.depth)
		if n.improving {
			plies--
		}
		if n.eval-margins.ReverseFutility*plies >= n.beta {
			return n.eval, noPath, true
		}
	}

	// 3. Null-move pruning (NMP; Donninger, "Null move and deep search", 1993;
	// paper 003, section 6.4): a side that is above beta even when it passes
	// would be so after its best move, except in zugzwang.
	if on.NullMove && n.depth >= params.NullMove.MinDepth && n.MayPass && n.eval >= n.beta && n.ply >= w.verifyingUntil && w.lines[n.ply-1].current.Move != game.NoMove {
		if score, pathPly, ok := w.nullMove(n); ok || w.stopped() {
			return score, pathPly, ok
		}
	}

	// 4. ProbCut (Buro, "ProbCut: an effective selective extension of the
	// alpha-beta algorithm", 1995): a good capture that reaches far above beta
	// at small depth would very probably reach beta at full depth.
	if on.ProbCut && n.depth >= params.ProbCutDepth {
		return w.probCut(n)
	}
	return 0, noPath, false
}

// nullMove searches the position after a pass. From VerifyDepth on it verifies
// a cutoff by a search without null moves, because of zugzwang (David-Tabibi
// and Netanyahu, "Verified null-move pruning", 2002).
func (w *worker) nullMove(n *nodeState) (score Score, pathPly int, ok bool) {
	null := &w.k.params.NullMove
	reduction := null.Base + n.depth/null.DepthDivisor + min(int((n.eval-n.beta)/w.k.params.Margins.NullMove), null.MaxEvalPlies)
	w.lines[n.ply].current = ScoredMove{}
	w.pos.Pass()
	score, pathPly = negate(w.search(-n.beta, -n.beta+1, n.depth-1-reduction, n.ply+1, !n.expected))
	w.pos.Unpass()
	if w.stopped() || score < n.beta {
		return 0, noPath, false
	}
	if score >= RepBound {
		score = n.beta // a win after a pass proves none
	}
	if n.depth < null.VerifyDepth || w.verifyingUntil > 0 {
		return score, pathForParent(pathPly, n.ply), true
	}
	w.verifyingUntil = n.ply + 3*(n.depth-reduction)/4
	verified, verifiedPath := w.search(n.beta-1, n.beta, n.depth-1-reduction, n.ply, allNode)
	w.verifyingUntil = 0
	if w.stopped() || verified < n.beta {
		return 0, noPath, false
	}
	return score, min(pathForParent(pathPly, n.ply), verifiedPath), true
}

// probCut searches the good captures with a raised beta, first in quiescence,
// then four plies less deep.
func (w *worker) probCut(n *nodeState) (score Score, pathPly int, ok bool) {
	beta := n.beta + w.k.params.Margins.ProbCut
	p := w.openPicker(Noisy, game.NoMove)
	defer w.closePicker()
	for {
		m := p.next(w.pos)
		if m == nil {
			return 0, noPath, false
		}
		if m.Noise != GoodNoisy || (w.see != nil && !w.see.SEE(m.Move, beta-n.eval)) {
			continue
		}
		if !w.counter.Count() {
			return 0, noPath, false
		}
		w.do(m, n.ply)
		child := w.pos.Enter()
		score, pathPly := negate(w.quiesceAt(&child, -beta, -beta+1, n.ply+1))
		if score >= beta && !w.stopped() {
			score, pathPly = negate(w.search(-beta, -beta+1, n.depth-4, n.ply+1, !n.expected))
		}
		w.pos.Undo(m.Move)
		if w.stopped() {
			return 0, noPath, false
		}
		if score >= beta && score < MaxEval {
			return score - w.k.params.Margins.ProbCut, pathForParent(pathPly, n.ply), true
		}
	}
}

// late reports whether enough moves were searched for late-move pruning.
func (w *worker) late(n *nodeState, searched int) bool {
	counts := w.k.lmpElsewhere
	if n.improving {
		counts = w.k.lmpImproving
	}
	return n.depth < len(counts) && searched >= counts[n.depth]
}

// unlikely reports whether a quiet move's Order is far enough below the best for
// policy pruning.
func (w *worker) unlikely(n *nodeState, m *ScoredMove) bool {
	params := &w.k.params
	return params.PolicyPruning > 0 && n.depth <= params.PruneMaxDepth &&
		n.bestOrder-int64(m.Order) > int64(params.Margins.Policy)*int64(n.depth+params.PolicyPruning)
}

// futile reports whether the static evaluation is far enough below alpha for
// futility pruning.
func (w *worker) futile(n *nodeState, eval Score, depth int) bool {
	params := &w.k.params
	return params.On.Futility && depth <= params.PruneMaxDepth && n.alpha < MaxEval && n.alpha > -MaxEval &&
		eval+params.Margins.Futility*Score(depth+1) <= n.alpha
}

// lmr is the late-move reduction of the number-th move m of a node, in plies
// (LMR; Romstad, "An introduction to late move reductions", 2006).
func (w *worker) lmr(n *nodeState, m *ScoredMove, number int, history *moveHistory) int {
	params := &w.k.params
	lmr := &params.LMR
	if !params.On.LMR || n.depth < 3 || number < 2 || m.Noise == GoodNoisy {
		return 0
	}
	r := lmr.base(n.depth, number)
	if m.Noise == Quiet {
		r -= int(history.score(m)) * lmr.History / historyMax
	}
	if n.pv {
		r -= lmr.PV
	}
	if n.expected == cutNode {
		r += lmr.CutNode
	}
	if !n.improving {
		r += lmr.NotImproving
	}
	if n.hashNoisy {
		r += lmr.HashNoisy
	}
	if w.lines[n.ply+1].cutoffs > 3 {
		r += lmr.CutoffCount
	}
	// By policy, if Order is a scaled log-probability (Tsuruoka, Yokoyama and
	// Chikayama, "Game-tree search algorithm based on realization probability",
	// ICGA J. 25, 2002).
	if lmr.Order > 0 && n.bestOrder > int64(m.Order) {
		r += int((n.bestOrder - int64(m.Order)) * int64(lmr.Order) / orderUnit)
	}
	// Far above beta most moves cut off, whatever the depth.
	if lmr.EvalAboveBeta > 0 && n.eval > n.beta && n.beta > -MaxEval {
		margin := params.Margins.EvalAboveBeta
		r += lmr.EvalAboveBeta * int(min(n.eval-n.beta, maxEvalAboveBeta*margin)) / int(margin)
	}
	if k := &w.lines[n.ply].killers; m.Move == k[0] || m.Move == k[1] {
		r -= lmr.Killer
	}
	return min(max(r/1024, 0), n.depth-2)
}
