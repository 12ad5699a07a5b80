package search

import "sparring/game"

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
	if hit && on.HashCutoff && !node.NoTable {
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
			if !node.NoTable {
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
		if hit && on.HashEval {
			best = known.better(best, ply)
		}
		if limited || best >= beta {
			if store {
				r := record{eval: raw}
				if !limited {
					r.score, r.bound = toTable(best, ply), Lower
				}
				w.k.table.store(w.key(node), r)
			}
			return w.within(best, floor, beta), nothing
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
	p.cursor.SkipQuiets = checks
	bestMove := game.NoMove
	for {
		e := p.next(w.pos)
		if e == nil {
			break
		}
		// 5. A capture that loses material is no reason to doubt the
		// evaluation, nor one that can't bring it near alpha.
		if on.QuiescenceSEE && e.Noise != GoodNoisy && !node.Forced && (w.exchanger == nil || !w.exchanger.SEE(e.Move, 0)) {
			continue
		}
		if on.DeltaPruning && e.Gain > 0 && !node.Forced && eval+e.Gain+params.Margins.Delta <= alpha {
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
	best = w.within(best, floor, beta)
	if store {
		w.remember(node, ply, best, floor, beta, 0, rests, bestMove, raw)
	}
	return best, above(rests, ply)
}
