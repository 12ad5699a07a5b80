package search

import "sparring/game"

// quiesceAt is quiesce for a node that has just been entered.
func (w *worker) quiesceAt(node *Node, alpha, beta Score, ply int) (Score, int) {
	if score, pathPly, over := w.terminal(node, ply); over {
		return score, pathPly
	}
	return w.quiesce(node, alpha, beta, ply, 0)
}

// quiesce settles a leaf: first by proof, then by searching on through noisy
// moves until the position is quiet enough for its evaluation. q counts the
// plies since the main search. The caller has entered the node and seen that
// the game goes on.
func (w *worker) quiesce(node *Node, alpha, beta Score, ply, qply int) (Score, int) {
	params := &w.k.params
	on := &params.On

	// 1. The hash table. Where quiescence is limited in depth, a node's score
	// depends on where it began, and only beginnings are stored.
	store := qply == 0 || params.QuiescencePlies == 0
	tt, ttHit := w.table.probe(w.key(node))
	if ttHit && on.HashCutoff && !node.NoTable {
		if score := fromTable(tt.score, ply); tt.cutsOff(alpha, beta, score) {
			return score, noPath
		}
	}

	// 2. A proof ends all doubt; it is sought once per position.
	if qply == 0 && params.ProveLeaf > 0 && w.prover != nil && !tt.proverFailed {
		if proof, ok := w.prove(params.ProveLeaf, 0); ok {
			score := AtPly(proof.Score, ply)
			l := &w.lines[ply]
			l.pvLen = copy(l.pv[:], proof.Line)
			if !node.NoTable {
				w.table.store(w.key(node), ttEntry{score: toTable(score, ply), eval: noEval, depth: MaxPly, bound: Exact})
			}
			return score, noPath
		}
		if w.stopped() {
			return 0, noPath
		}
		w.table.store(w.key(node), ttEntry{eval: noEval, proverFailed: true})
	}

	// 3. Stand pat: the side to move need not make a noisy move, so the
	// evaluation is a bound, unless it is forced to move.
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

	// 4. The noisy moves, or all when forced; near the main search also the
	// quiet ones that force.
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
		e := p.next(w.pos)
		if e == nil {
			break
		}
		// 5. A capture that loses material is no reason to doubt the
		// evaluation, nor one that can't bring it near alpha.
		if on.QuiescenceSEE && e.Noise != GoodNoisy && !node.Forced && (w.see == nil || !w.see.SEE(e.Move, 0)) {
			continue
		}
		if on.DeltaPruning && e.Gain > 0 && !node.Forced && eval+e.Gain+params.Margins.Delta <= alpha {
			best = max(best, eval+e.Gain+params.Margins.Delta)
			continue
		}
		if !w.countNode() {
			return 0, noPath
		}
		w.do(e, ply)
		child := w.pos.Enter()
		score, childPath, over := w.terminal(&child, ply+1)
		if !over {
			score, childPath = w.quiesce(&child, -beta, -alpha, ply+1, qply+1)
		}
		score = -score
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, noPath
		}
		pathPly = min(pathPly, childPath)
		if score > best {
			best = score
			if score > alpha {
				alpha, bestMove = score, e.Move
				w.updatePV(ply, e.Move)
				if score >= beta {
					pathPly = childPath
					break
				}
			}
		}
	}

	// 6. Forced and without a move is lost.
	if best == -Infinity {
		return AtPly(-Win, ply), noPath
	}
	best = w.clampToWindow(best, oldAlpha, beta)
	if store {
		w.storeNode(node, ply, best, oldAlpha, beta, 0, pathPly, bestMove, rawEval)
	}
	return best, pathForParent(pathPly, ply)
}
