package search

import "sparring/game"

// The search, in four files, each read from top to bottom. In root.go iterate
// deepens, aspire chooses the window, and searchRoot goes through the root moves;
// here search goes through the moves of all other nodes; prune.go is what lets it
// leave some out; in quiesce.go quiesce settles the leaves.
//
// Every score comes with what it rests on: the earliest ply on the current
// line whose position it depends on, because a repetition was judged by it, or
// nothing. A score that rests on a position before its own node is true on
// this line only, so it never enters the hash table (the graph-history
// interaction problem; Campbell, "The graph-history interaction: on ignoring
// position history", 1985). A refutation rests on what its own subtree rests
// on; only where all moves failed does a node rest on all of them.

// nothing is what a score rests on that is true on every line.
const noPath = 1 << 16

// searchMove searches the move that was just made at ply, for the side that
// made it: principal-variation search (once a move is best, the others need
// only be shown to be worse, with a null window) and reductions (late moves
// are looked at less plies deep first). What turns out better than expected is
// searched again.
func (w *worker) searchMove(alpha, beta Score, depth, reduction, ply int, first, pv, cut bool) (Score, int) {
	full := func() (Score, int) { return negate(w.search(-beta, -alpha, depth, ply+1, !pv && !cut)) }
	if first {
		return full()
	}
	// Tolerance search: a move that is hardly better than the best is not
	// worth knowing how much, so it has to pass a higher test (paper 003,
	// section 6.2).
	testAlpha := alpha
	if on := &w.k.params.On; on.ToleranceSearch && on.PVS && pv {
		testAlpha = min(alpha+w.k.params.Margins.Tolerance, beta-1)
	}
	testBeta := beta
	if w.k.params.On.PVS {
		testBeta = testAlpha + 1
	}
	score, pathPly := negate(w.search(-testBeta, -testAlpha, depth-reduction, ply+1, true))
	if reduction > 0 && score > testAlpha && !w.stopped() {
		score, pathPly = negate(w.search(-testBeta, -testAlpha, depth, ply+1, !cut))
	}
	if testBeta < beta && score > testAlpha && score < beta && !w.stopped() {
		return full()
	}
	if score <= testAlpha {
		score = min(score, alpha) // good, but not good enough to be told apart
	}
	return score, pathPly
}

// within is a score as fail-hard search tells it, no further out than its
// window; fail-soft search tells all that it knows.
func (w *worker) clampToWindow(s, alpha, beta Score) Score {
	if w.k.params.On.FailSoft {
		return s
	}
	return min(max(s, alpha), beta)
}

// negate turns a child's answer into its parent's.
func negate(s Score, pathPly int) (Score, int) { return -s, pathPly }

// reduction is how many plies less deep to look at the n-th move of a node
// first. Moves late in a good order are seldom best; the better their record,
// the less they are reduced.
func (w *worker) lmr(e *ScoredMove, history *moveHistory, depth, n, ply int, pv, cut, improving, hashNoisy bool) int {
	params := &w.k.params
	lmr := &params.LMR
	if !params.On.LMR || depth < 3 || n < 2 || e.Noise == GoodNoisy {
		return 0
	}
	r := lmr.base(depth, n)
	if e.Noise == Quiet {
		r -= int(history.score(e)) * lmr.History / historyMax
	}
	if pv {
		r -= lmr.PV
	}
	if cut {
		r += lmr.CutNode
	}
	if !improving {
		r += lmr.NotImproving
	}
	if hashNoisy {
		r += lmr.HashNoisy
	}
	if w.lines[ply+1].cutoffs > 3 {
		r += lmr.CutoffCount
	}
	if k := &w.lines[ply].killers; e.Move == k[0] || e.Move == k[1] {
		r -= lmr.Killer
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
	if score, pathPly, over := w.terminal(&node, ply); over {
		return score, pathPly
	}

	// 2. A forced node is not a ply of its own: to stop in the middle of a
	// forcing line would put what it forces beyond the horizon.
	if on.CheckExtension && node.Forced && ply < 2*w.depth {
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
			return low, noPath
		}
		if high := AtPly(Win-1, ply); high <= alpha {
			return high, noPath
		}
	}

	// 5. What does the hash table know? Its score counts if it was searched
	// as deep as is wanted now. A search without one of the moves is about
	// another question, and leaves the table alone.
	pv := beta-alpha > 1
	excluded := l.excluded
	var tt ttEntry
	ttHit := false
	if excluded == game.NoMove {
		tt, ttHit = w.table.probe(w.key(&node))
		if ttHit && on.HashCutoff && !node.NoTable && tt.depth >= depth {
			if score := fromTable(tt.score, ply); tt.cutsOff(alpha, beta, score) {
				return score, noPath
			}
		}
	}

	// 6. The static evaluation, what experience makes of it, and whether it
	// is better than two plies before.
	rawEval, eval, improving := noEval, noEval, false
	if w.k.needEval && !node.Forced {
		if rawEval = tt.eval; !ttHit || rawEval == noEval {
			rawEval = w.pos.Eval()
		}
		eval = w.correctEval(rawEval, &node, ply)
		if ply >= 2 {
			improving = w.lines[ply-2].eval == noEval || eval > w.lines[ply-2].eval
		}
	}
	staticEval := eval
	l.eval = staticEval
	if ttHit && on.HashEval && eval != noEval {
		eval = tt.refine(eval, ply)
	}

	// 7. Where the evaluation or a shallow search says enough, that decides.
	if !pv && !node.Forced && excluded == game.NoMove {
		if score, pathPly, ok := w.prune(&node, alpha, beta, depth, ply, eval, improving, cut); ok || w.stopped() {
			return w.clampToWindow(score, alpha, beta), pathPly
		}
	}

	// 8. Internal iterative reduction: without a hash move the order is poor
	// and this search long; a shallower one finds the move for the next.
	if on.IIR && depth >= 4 && excluded == game.NoMove && tt.move == game.NoMove && (pv || cut) {
		depth--
		if pv {
			depth = max(depth-params.IIRExtraPV, 1)
		}
	}

	// 9. A forced node with a single reply is no ply of its own either.
	oneReply := on.OneReplyExtension && node.Forced && ply < 2*w.depth && w.hasSingleMove()

	// 10. The moves, best first.
	p := w.openPicker(All, game.NoMove)
	defer w.closePicker()
	w.setOrdering(p, tt.move, ply)
	w.lines[ply+2].killers = [2]game.Move{} // of cousins far away: forget them
	w.lines[ply+1].cutoffs = 0
	history, hashNoisy := w.moveHistory(ply), false
	earlier := &w.searched[w.top-1]
	earlier.nQuiet, earlier.nNoisy = 0, 0
	best, oldAlpha, pathPly := -Infinity, alpha, noPath
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
		if e.Move == tt.move && e.Noise != Quiet {
			hashNoisy = true
		}
		reduction := 0
		if !node.Forced {
			reduction = w.lmr(e, &history, depth, searched+1, ply, pv, cut, improving, hashNoisy)
		}
		if ply > 0 && !node.Forced && best > -RepBound && !e.Forcing {
			lmrDepth := depth
			if on.LMRDepthPruning && e.Noise == Quiet {
				lmrDepth = max(depth-reduction, 1)
			}
			if e.Noise == Quiet {
				if w.quietsPrunable(depth, lmrDepth, searched, alpha, staticEval, improving) {
					if !params.Quiescence {
						break // no noisy move can follow
					}
					p.skipQuiets()
					continue
				}
				if on.HistoryPruning && lmrDepth <= params.PruneMaxDepth && history.score(e) < -int32(margins.History)*int32(depth) {
					continue
				}
			}
			if on.SEEPruning && w.see != nil && lmrDepth <= params.PruneMaxDepth && e.Noise != GoodNoisy {
				risk := margins.SEENoisy * Score(depth)
				if e.Noise == Quiet {
					risk = margins.SEEQuiet * Score(lmrDepth*lmrDepth)
				}
				if !w.see.SEE(e.Move, -risk) {
					continue
				}
			}
		}

		// 12. Extensions, one ply at most.
		extension := 0
		switch {
		case ply >= 2*w.depth:
		case oneReply:
			extension = 1
		case on.RecaptureExtension && pv && ply > 0 && e.Gain > 0 && e.CaptureSquare != 0 && e.CaptureSquare == w.lines[ply-1].current.CaptureSquare && w.lines[ply-1].current.Gain > 0:
			extension = 1
		case on.SingularExtension && e.Move == tt.move && excluded == game.NoMove && w.singularCandidate(&tt, depth):
			// The hash move is singular if without it the node is much worse:
			// then all hangs on it. If without it the node still reaches
			// beta, several moves do, and that is enough.
			singularBeta := fromTable(tt.score, ply) - margins.Singular*Score(depth)/16
			l.excluded = e.Move
			score, pathPly := w.search(singularBeta-1, singularBeta, (depth-1)/2, ply, cut)
			l.excluded = game.NoMove
			l.eval = staticEval
			if w.stopped() {
				return 0, noPath
			}
			if score < singularBeta {
				extension = 1
			} else if singularBeta >= beta {
				return singularBeta, pathPly
			}
		}

		if !w.countNode() {
			return 0, noPath
		}
		w.do(e, ply)
		searched++

		// 13. The move itself.
		if extension > 0 {
			reduction = 0
		}
		score, childPath := w.searchMove(alpha, beta, depth-1+extension, reduction, ply, searched == 1, pv, cut)
		w.pos.Undo(e.Move)
		if w.stopped() {
			return 0, noPath
		}

		// 14. A better move; one that the opponent will not allow ends the node.
		pathPly = min(pathPly, childPath)
		if score > best {
			best = score
			if score > alpha {
				alpha, bestMove, bestQuiet = score, e.Move, e.Noise == Quiet
				w.updatePV(ply, e.Move)
				if score >= beta {
					pathPly = childPath
					l.cutoffs++
					w.updateHistories(e, earlier, depth, ply)
					break
				}
				// Another move that is better still is not likely.
				if depth > 2 && depth < 8 && alpha > -MaxEval && alpha < MaxEval {
					depth = max(depth-params.AlphaRaiseReduction, 1)
				}
			}
		}
		earlier.add(e)
	}

	// 15. No move at all is a loss; none but the excluded one tells nothing.
	if searched == 0 {
		if excluded != game.NoMove {
			return alpha, noPath
		}
		return AtPly(-Win, ply), noPath
	}

	best = w.clampToWindow(best, oldAlpha, beta)

	// 16. Remember, and learn how far the evaluation was wrong.
	if excluded == game.NoMove {
		w.storeNode(&node, ply, best, oldAlpha, beta, depth, pathPly, bestMove, rawEval)
		if on.CorrectionHistory && staticEval != noEval && bestQuiet && best > -MaxEval && best < MaxEval &&
			!(best >= beta && best <= staticEval) && !(best <= oldAlpha && best >= staticEval) {
			w.updateCorrection(&node, ply, depth, staticEval, best)
		}
	}
	return best, pathForParent(pathPly, ply)
}

// aim gives a picker what is known from elsewhere.
func (w *worker) setOrdering(p *picker, hash game.Move, ply int) {
	on := &w.k.params.On
	p.ply = ply
	if on.HashMove {
		p.hash = hash
	}
	if on.Killers {
		copy(p.killers[:], w.lines[ply].killers[:])
	}
	if on.CounterMoves && ply > 0 {
		if earlier := &w.lines[ply-1].current; earlier.Move != game.NoMove {
			p.killers[2] = w.history.counter[ply&1][earlier.HistoryIndex[w.history.contIndex]]
		}
	}
	if on.History || on.ContinuationHistory || on.NoisyHistory {
		p.history = w
	}
}

// single reports whether there is just one move.
func (w *worker) hasSingleMove() bool {
	p := w.openPicker(All, game.NoMove)
	defer w.closePicker()
	return p.next(w.pos) != nil && p.next(w.pos) == nil
}

// trusted: the table's score is a lower bound of about this depth, so that it
// makes sense to ask how much worse the other moves are.
func (w *worker) singularCandidate(known *ttEntry, depth int) bool {
	return depth >= 7 && known.bound&Lower != 0 && known.depth >= depth-3 && known.score > -MaxEval && known.score < MaxEval
}

// over settles a node where the game has ended or the line grows too long;
// it begins every node, and clears its line.
func (w *worker) terminal(node *Node, ply int) (Score, int, bool) {
	w.lines[ply].pvLen = 0
	w.seldepth = max(w.seldepth, ply)
	if node.Over {
		if node.RepetitionPlies > 0 {
			return AtPly(node.Verdict, ply), ply - node.RepetitionPlies, true
		}
		return AtPly(node.Verdict, ply), noPath, true
	}
	if ply >= MaxPly-1 {
		return w.pos.Eval(), noPath, true
	}
	return 0, noPath, false
}

// above is what a node's score rests on for its parent: a repetition that
// began in the node itself or below is true wherever the node stands.
func pathForParent(pathPly, ply int) int {
	if pathPly >= ply {
		return noPath
	}
	return pathPly
}

// remember stores a node, without its score where that is true on this line
// only.
func (w *worker) storeNode(node *Node, ply int, best, alpha, beta Score, depth, pathPly int, move game.Move, eval Score) {
	r := ttEntry{move: move, score: toTable(best, ply), eval: eval, depth: min(max(depth, 0), MaxPly)}
	switch {
	case pathPly < ply || node.NoTable:
		r.bound, r.score, r.depth = NoBound, 0, 0
	case best >= beta:
		r.bound = Lower
	case best > alpha:
		r.bound = Exact
	default:
		r.bound = Upper
	}
	w.table.store(w.key(node), r)
}
