package search

import "sparring/game"

// quiesceAt is quiesce for a node that has just been entered.
func (w *worker) quiesceAt(node *Node, alpha, beta Score, ply int) (Score, int) {
	if score, pathPly, over := w.terminal(node, ply); over {
		return score, pathPly
	}
	return w.quiesce(node, alpha, beta, ply, 0)
}

// quiesce is quiescence search (paper 003, section 6.4): it searches on through
// noisy moves until the position is quiet enough for its evaluation. Qply counts
// the plies since the main search. The caller has called Enter and terminal.
func (w *worker) quiesce(node *Node, alpha, beta Score, ply, qply int) (Score, int) {
	params := &w.k.params
	on := &params.On

	// 1. Transposition table (TT). Where quiescence is limited in depth, a
	// score depends on qply, and only nodes with qply 0 are stored.
	store := qply == 0 || params.QuiescencePlies == 0
	tt, ttHit := w.table.probe(w.key(node))
	if ttHit && on.HashCutoff && !node.NoTable {
		if score := fromTable(tt.score, ply); tt.cutsOff(alpha, beta, score) {
			return score, noPath
		}
	}

	// 2. The prover, once for each position.
	if qply == 0 && params.leafBudget(node) > 0 && w.prover != nil && !tt.proverFailed {
		if score, ok := w.proveLeaf(node, ply); ok || w.stopped() {
			return score, noPath
		}
	}

	// 3. Stand pat: the side to move need not make a noisy move, so the
	// evaluation is a lower bound, unless the node is forced.
	limited := !params.Quiescence || (params.QuiescencePlies > 0 && qply >= params.QuiescencePlies)
	best, oldAlpha, pathPly := -Infinity, alpha, noPath
	rawEval, eval := noEval, noEval
	if !node.Forced || limited {
		if rawEval = tt.eval; !ttHit || rawEval == noEval {
			rawEval = w.pos.Eval()
		}
		eval = w.correctEval(rawEval, node, ply)
		best = eval
		if ttHit && on.HashEval {
			best = tt.refine(best, ply)
		}
		if limited || best >= beta {
			if store {
				r := ttEntry{eval: rawEval}
				if !limited {
					r.score, r.bound = toTable(best, ply), Lower
				}
				w.table.store(w.key(node), r)
			}
			return w.clampToWindow(best, oldAlpha, beta), noPath
		}
		alpha = max(alpha, best)
	}

	// 4. The noisy moves, or all where forced; with checks also the quiet moves
	// that give check.
	mode := Noisy
	if node.Forced {
		mode = All
	}
	checks := !node.Forced && qply < params.QuiescenceChecks
	if checks {
		mode = All
	}
	p := w.openPicker(mode, game.NoMove)
	defer w.closePicker()
	w.setOrdering(p, tt.move, ply)
	p.killers = [3]game.Move{}
	p.cursor.SkipQuiets = checks
	bestMove := game.NoMove
	for {
		m := p.next(w.pos)
		if m == nil {
			break
		}
		// 5. No bad noisy moves, but at the first plies.
		if m.Noise == BadNoisy && !node.Forced && params.QuiescenceBadNoisy > 0 && qply >= params.QuiescenceBadNoisy {
			continue
		}

		// 6. SEE pruning: no captures that lose material.
		if on.QuiescenceSEE && m.Noise != GoodNoisy && !node.Forced && (w.see == nil || !w.see.SEE(m.Move, 0)) {
			continue
		}

		// 7. Delta pruning: no captures that can't raise the evaluation to alpha.
		if on.DeltaPruning && m.Gain > 0 && !node.Forced && eval+m.Gain+params.Margins.Delta <= alpha {
			best = max(best, eval+m.Gain+params.Margins.Delta)
			continue
		}

		// 8. The move itself.
		if !w.counter.Count() {
			return 0, noPath
		}
		w.do(m, ply)
		child := w.pos.Enter()
		score, childPath, over := w.terminal(&child, ply+1)
		if !over {
			score, childPath = w.quiesce(&child, -beta, -alpha, ply+1, qply+1)
		}
		score = -score
		w.pos.Undo(m.Move)
		if w.stopped() {
			return 0, noPath
		}
		pathPly = min(pathPly, childPath)
		if score > best {
			best = score
			if score > alpha {
				alpha, bestMove = score, m.Move
				w.updatePV(ply, m.Move)
				if score >= beta {
					pathPly = childPath
					break
				}
			}
		}
	}

	// 9. No legal move at a forced node is a loss.
	if best == -Infinity {
		return AtPly(-Win, ply), noPath
	}
	best = w.clampToWindow(best, oldAlpha, beta)
	if store {
		w.storeNode(node, ply, pathPly, ttEntry{move: bestMove, score: best, eval: rawEval, bound: boundOf(best, oldAlpha, beta)})
	}
	return best, pathForParent(pathPly, ply)
}
