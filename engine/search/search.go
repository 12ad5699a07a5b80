package search

import "sparring/game"

// The search, in four files, each read from top to bottom. In root.go iterate
// deepens, aspirationSearch chooses the window, and searchRoot goes through the
// root moves; here search goes through the moves of all other nodes; prune.go
// cuts nodes off without their moves and says which moves to prune or reduce;
// quiesce.go is quiescence search.
//
// With every score comes its path ply: the smallest ply of the current line
// whose position the score depends on, because a repetition was judged by it,
// or noPath. A score whose path ply is above its own node is true on this line
// only, so it never enters the hash table (the graph-history interaction
// problem; Campbell, "The graph-history interaction: on ignoring position
// history", 1985). A fail-high depends on the path of the move that failed high
// alone; otherwise a node depends on the paths of all its moves.

// noPath is the path ply of a score that is true on every line.
const noPath = 1 << 16

// nodeType is what a node with a null window is expected to do.
type nodeType bool

const (
	allNode nodeType = false // not fail high; also principal-variation nodes
	cutNode nodeType = true  // fail high
)

// nodeState is the state of a node of the main search.
type nodeState struct {
	*Node
	ply, depth  int
	alpha, beta Score
	pv          bool // beta-alpha > 1
	expected    nodeType
	eval        Score // static or, if that is a tighter bound, from the hash table; noEval if Forced
	improving   bool  // the evaluation is better than two plies before
	hashNoisy   bool  // the hash move is noisy
	bestOrder   int64 // greatest Order known, or noOrder; see picker.bestOrder
}

// searchMove searches the move that was just made at n, for the side that made
// it. Principal variation search (PVS; Marsland and Campbell, "Parallel search
// of strongly ordered game trees", 1982; paper 003, section 6.2): all moves but
// the first are searched with a null window, and less deep by the reduction.
// One that turns out better is searched again.
func (w *worker) searchMove(n *nodeState, depth, reduction int, first bool) (Score, int) {
	on := &w.k.params.On
	full := func() (Score, int) {
		return negate(w.search(-n.beta, -n.alpha, depth, n.ply+1, nodeType(!n.pv) && !n.expected))
	}
	if first {
		return full()
	}
	// Tolerance search: a slightly better move is not worth an exact score, so
	// the null window lies a margin higher (paper 003, section 6.2).
	nullAlpha := n.alpha
	if on.ToleranceSearch && on.PVS && n.pv {
		nullAlpha = min(n.alpha+w.k.params.Margins.Tolerance, n.beta-1)
	}
	nullBeta := n.beta
	if on.PVS {
		nullBeta = nullAlpha + 1
	}
	score, pathPly := negate(w.search(-nullBeta, -nullAlpha, depth-reduction, n.ply+1, cutNode))
	if reduction > 0 && score > nullAlpha && !w.stopped() {
		score, pathPly = negate(w.search(-nullBeta, -nullAlpha, depth, n.ply+1, !n.expected))
	}
	if nullBeta < n.beta && score > nullAlpha && score < n.beta && !w.stopped() {
		return full()
	}
	if score <= nullAlpha {
		score = min(score, n.alpha)
	}
	return score, pathPly
}

// clampToWindow is the score that fail-hard search returns. Fail-soft search
// returns it as it is (Fishburn, "Another optimization of alpha-beta search",
// 1983).
func (w *worker) clampToWindow(s, alpha, beta Score) Score {
	if w.k.params.On.FailSoft {
		return s
	}
	return min(max(s, alpha), beta)
}

// negate converts a child's result to its parent's.
func negate(s Score, pathPly int) (Score, int) { return -s, pathPly }

// search is the score of the current position for its side to move, searched
// depth plies deep, and its path ply. Within (alpha, beta) the score is exact,
// outside it is a bound.
func (w *worker) search(alpha, beta Score, depth, ply int, expected nodeType) (Score, int) {
	params := &w.k.params
	on, margins := &params.On, &params.Margins
	l := &w.lines[ply]

	// 1. The end of the game, or of the line.
	node := w.pos.Enter()
	if score, pathPly, over := w.terminal(&node, ply); over {
		return score, pathPly
	}
	n := nodeState{Node: &node, ply: ply, depth: depth, alpha: alpha, beta: beta, pv: beta-alpha > 1, expected: expected, eval: noEval}

	// 2. Check extension (paper 003, section 6.4): a forced node does not cost
	// a ply. To stop in the middle of a forcing line would put its result
	// beyond the horizon.
	if on.CheckExtension && n.Forced && n.depth >= params.ExtensionDepth && ply < 2*w.depth {
		n.depth++
	}

	// 3. Quiescence search at the horizon.
	if n.depth <= 0 {
		return w.quiesce(&node, alpha, beta, ply, 0)
	}

	// 4. Mate-distance pruning: a win found here must be shorter than the one
	// already found.
	if on.MateDistance {
		if low := AtPly(-Win, ply); low >= beta {
			return low, noPath
		}
		if high := AtPly(Win-1, ply); high <= alpha {
			return high, noPath
		}
	}

	// 5. Transposition table (TT; Greenblatt, Eastlake and Crocker, "The
	// Greenblatt chess program", 1967; paper 003, section 6.1). A singular
	// search, which excludes a move, asks about another position and leaves
	// the table alone.
	excluded := l.excluded
	var tt ttEntry
	ttHit := false
	if excluded == game.NoMove {
		tt, ttHit = w.table.probe(w.key(&node))
		if ttHit && on.HashCutoff && !n.NoTable && tt.depth >= n.depth {
			if score := fromTable(tt.score, ply); tt.cutsOff(alpha, beta, score) {
				return score, noPath
			}
		}
	}

	// 6. The prover, once for each position: in the principal variation, and at
	// nodes that are probably provable. What a greater budget has not solved is not
	// asked again with a smaller one.
	if n.pv && params.ProvePV > 0 && n.depth >= params.ProvePVDepth && w.prover != nil && !tt.pvProverFailed {
		failed := ttEntry{pvProverFailed: true, proverFailed: params.ProvePV >= params.leafBudget(&node)}
		if score, ok := w.proveNode(&node, ply, params.ProvePV, failed); ok || w.stopped() {
			return score, noPath
		}
	} else if n.Provable && params.ProveNode > 0 && excluded == game.NoMove && w.prover != nil && !tt.proverFailed {
		if score, ok := w.proveLeaf(&node, ply); ok || w.stopped() {
			return score, noPath
		}
	}

	// 7. Static evaluation, with correction history.
	rawEval := noEval
	if w.k.needEval && !n.Forced {
		if rawEval = tt.eval; !ttHit || rawEval == noEval {
			rawEval = w.pos.Eval()
		}
		n.eval = w.correctEval(rawEval, &node, ply)
		if ply >= 2 {
			before := w.lines[ply-2].eval
			n.improving = before == noEval || n.eval > before
		}
	}
	staticEval := n.eval
	l.eval = staticEval
	w.lines[ply+1].doubles = l.doubles
	if ttHit && on.HashEval && n.eval != noEval {
		n.eval = tt.refine(n.eval, ply)
	}

	// 8. Node pruning: see prune.go.
	if !n.pv && !n.Forced && excluded == game.NoMove {
		if score, pathPly, ok := w.prune(&n); ok || w.stopped() {
			return w.clampToWindow(score, alpha, beta), pathPly
		}
	}

	// 9. Internal iterative reduction (IIR; Schröder, 2020): without a hash
	// move, or with that of a much shallower search, the order is poor and this
	// search expensive. A shallower one finds a hash move for the next
	// iteration.
	if on.IIR && n.depth >= params.IIRDepth && excluded == game.NoMove && (n.pv || expected == cutNode) &&
		(tt.move == game.NoMove || params.IIRDepthGap > 0 && tt.depth <= n.depth-params.IIRDepthGap) {
		n.depth--
		if n.pv {
			n.depth = max(n.depth-params.IIRExtraPV, 1)
		}
	}

	// The moves, best first.
	oneReply := on.OneReplyExtension && n.Forced && n.depth >= params.ExtensionDepth && !n.Restricted && ply < 2*w.depth && w.hasSingleMove()
	p := w.openPicker(All, game.NoMove)
	defer w.closePicker()
	w.setOrdering(p, tt.move, ply)
	p.cursor.Depth = n.depth
	p.policy = params.LMR.Order > 0 || params.PolicyPruning > 0
	w.lines[ply+2].killers = [2]game.Move{}
	w.lines[ply+1].cutoffs = 0
	history := w.moveHistory(ply)
	earlier := &w.searched[w.top-1]
	earlier.nQuiet, earlier.nNoisy = 0, 0
	best, pathPly := -Infinity, noPath
	bestMove, bestQuiet := game.NoMove, true
	searched := 0
	for {
		m := p.next(w.pos)
		if m == nil {
			break
		}
		if m.Move == excluded {
			continue
		}
		n.bestOrder = p.bestOrder
		if m.Move == tt.move && m.Noise != Quiet {
			n.hashNoisy = true
		}
		reduction := 0
		if !n.Forced {
			reduction = w.lmr(&n, m, searched+1, &history)
		}

		// Steps 10 to 14 prune moves at small depth. They skip the first move,
		// moves that give check, and everything as long as the node is lost.
		if !n.Forced && best > -RepBound && !m.Forcing {
			lmrDepth := n.depth
			if on.LMRDepthPruning && m.Noise == Quiet {
				lmrDepth = max(n.depth-reduction, 1)
			}

			// 10. Late-move pruning (LMP, move-count pruning): no more quiet moves
			// after enough others.
			noQuiets := m.Noise == Quiet && w.late(&n, searched)

			// 11. Futility pruning (Heinz, "Extended futility pruning", 1998): no
			// more quiet moves far below alpha.
			noQuiets = noQuiets || m.Noise == Quiet && w.futile(&n, staticEval, lmrDepth)

			// 12. Policy pruning: no quiet moves that are much less likely than
			// the best. As long as the picker sorts, later ones are even less so.
			unlikely := m.Noise == Quiet && w.unlikely(&n, m)
			noQuiets = noQuiets || unlikely && p.inOrder(m)
			if noQuiets {
				if !params.Quiescence {
					break // no noisy move can follow
				}
				p.skipQuiets()
				continue
			}
			if unlikely {
				continue
			}

			// 13. History pruning: no quiet moves with a bad history.
			if on.HistoryPruning && m.Noise == Quiet && lmrDepth <= params.PruneMaxDepth &&
				history.score(m) < -int32(margins.History)*int32(n.depth) {
				continue
			}

			// 14. SEE pruning: no moves that lose much material.
			if on.SEEPruning && w.see != nil && lmrDepth <= params.PruneMaxDepth && m.Noise != GoodNoisy {
				loss := margins.SEENoisy * Score(n.depth)
				if m.Noise == Quiet {
					loss = margins.SEEQuiet * Score(lmrDepth*lmrDepth)
				}
				if !w.see.SEE(m.Move, -loss) {
					continue
				}
			}
		}

		// Extensions.
		extension := 0
		switch {
		case ply >= 2*w.depth:
		case oneReply:
			// 15. One-reply extension (paper 003, section 6.4).
			extension = 1
		case on.RecaptureExtension && n.pv && w.recaptures(m, ply):
			// 16. Recapture extension (paper 003, section 6.4).
			extension = 1
		case on.SingularExtension && m.Move == tt.move && excluded == game.NoMove && n.depth >= params.SingularDepth && singularCandidate(&tt, n.depth):
			// 17. Singular extension (Anantharaman, Campbell and Hsu, "Singular
			// extensions: adding selectivity to brute-force searching", 1990):
			// without the hash move the node is much worse. If it is worse
			// still, two plies, but not too often in one line.
			ttScore := fromTable(tt.score, ply)
			singularBeta := ttScore - margins.Singular*Score(n.depth)/16
			l.excluded = m.Move
			score, pathPly := w.search(singularBeta-1, singularBeta, (n.depth-1)/2, ply, expected)
			l.excluded = game.NoMove
			l.eval = staticEval
			if w.stopped() {
				return 0, noPath
			}
			switch {
			case score < singularBeta-margins.DoubleSingular && l.doubles < params.SingularDouble:
				extension = 2
			case score < singularBeta:
				extension = 1
			case singularBeta >= beta:
				// 18. Multi-cut (Björnsson and Marsland, "Multi-cut alpha-beta
				// pruning in game-tree search", 2001): another move reaches beta, too.
				return singularBeta, pathPly
			case ttScore >= beta:
				// 19. Negative extension: other moves are nearly as good, and
				// this one will probably cut off at smaller depth, too.
				extension = -min(params.SingularNegative, max(n.depth-2, 0))
			}
		}
		if extension > 0 {
			reduction = 0
		}
		if extension > 1 {
			w.lines[ply+1].doubles++
		}

		// 20. The move itself, by PVS with LMR.
		if !w.counter.Count() {
			return 0, noPath
		}
		w.do(m, ply)
		searched++
		score, childPath := w.searchMove(&n, n.depth-1+extension, reduction, searched == 1)
		w.pos.Undo(m.Move)
		if w.stopped() {
			return 0, noPath
		}
		if extension > 1 {
			w.lines[ply+1].doubles--
		}

		// 21. Alpha-beta: a better move, or a cutoff.
		pathPly = min(pathPly, childPath)
		if score > best {
			best = score
			if score > n.alpha {
				n.alpha, bestMove, bestQuiet = score, m.Move, m.Noise == Quiet
				w.updatePV(ply, m.Move)
				if score >= beta {
					pathPly = childPath
					l.cutoffs++
					w.updateHistories(m, earlier, n.depth, ply)
					break
				}
				// 22. Alpha-raise reduction: a still better move is unlikely.
				if n.depth > 2 && n.depth <= params.AlphaRaiseDepth && score > -MaxEval && score < MaxEval {
					n.depth = max(n.depth-params.AlphaRaiseReduction, 1)
				}
			}
		}
		earlier.add(m)
	}

	// 23. No legal move is a loss. With a move excluded it says nothing.
	if searched == 0 {
		if excluded != game.NoMove {
			return alpha, noPath
		}
		return AtPly(-Win, ply), noPath
	}
	best = w.clampToWindow(best, alpha, beta)

	// 24. The transposition table and the correction history.
	if excluded == game.NoMove {
		w.storeNode(&node, ply, pathPly, ttEntry{move: bestMove, score: best, eval: rawEval, depth: n.depth, bound: boundOf(best, alpha, beta)})
		if on.CorrectionHistory && staticEval != noEval && bestQuiet && best > -MaxEval && best < MaxEval &&
			!(best >= beta && best <= staticEval) && !(best <= alpha && best >= staticEval) {
			w.updateCorrection(&node, ply, n.depth, staticEval, best)
		}
	}
	return best, pathForParent(pathPly, ply)
}

// recaptures reports whether m takes back on the square of the last capture.
func (w *worker) recaptures(m *ScoredMove, ply int) bool {
	last := &w.lines[ply-1].current
	return m.Gain > 0 && last.Gain > 0 && m.CaptureSquare != 0 && m.CaptureSquare == last.CaptureSquare
}

// setOrdering gives a picker the hash move, killers, counter move and history.
func (w *worker) setOrdering(p *picker, hash game.Move, ply int) {
	on := &w.k.params.On
	p.ply = ply
	if on.HashMove {
		p.hash = hash
	}
	if on.Killers {
		copy(p.killers[:], w.lines[ply].killers[:])
	}
	if on.CounterMoves {
		if previous := &w.lines[ply-1].current; previous.Move != game.NoMove {
			p.killers[2] = w.history.counter[ply&1][previous.HistoryIndex[w.history.contIndex]]
		}
	}
	if on.History || on.ContinuationHistory || on.NoisyHistory {
		p.history = w
	}
}

// hasSingleMove reports whether there is just one move.
func (w *worker) hasSingleMove() bool {
	p := w.openPicker(All, game.NoMove)
	defer w.closePicker()
	return p.next(w.pos) != nil && p.next(w.pos) == nil
}

// singularCandidate reports whether the hash entry is a lower bound of nearly
// this depth, so that a singular search makes sense.
func singularCandidate(tt *ttEntry, depth int) bool {
	return tt.bound&Lower != 0 && tt.depth >= depth-3 && tt.score > -MaxEval && tt.score < MaxEval
}

// terminal is the score of a node where the game or the line ends. It is called
// first at every node, and empties its principal variation.
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

// pathForParent converts a node's path ply to its parent's: a repetition of the
// node itself or within its subtree is true wherever the node stands.
func pathForParent(pathPly, ply int) int {
	if pathPly >= ply {
		return noPath
	}
	return pathPly
}

// storeNode stores a node's entry, whose score counts from the root, but
// without the score if that is true on this line only.
func (w *worker) storeNode(node *Node, ply, pathPly int, e ttEntry) {
	if pathPly < ply || node.NoTable {
		e.bound, e.score, e.depth = NoBound, 0, 0
	} else {
		e.score, e.depth = toTable(e.score, ply), min(max(e.depth, 0), MaxPly)
	}
	w.table.store(w.key(node), e)
}

// boundOf is the bound that a score is after a search with the window
// (alpha, beta).
func boundOf(score, alpha, beta Score) Bound {
	switch {
	case score >= beta:
		return Lower
	case score > alpha:
		return Exact
	}
	return Upper
}
