package search

import (
	"slices"

	"sparring/game"
)

// worker is one goroutine of a search, with all that it writes. A search makes
// new ones; only stacks and histories are used again.
type worker struct {
	*stack
	k          *Kernel
	s          *Search
	table      *Table
	id         int // 0 decides
	pos        Position
	see        StaticExchanger // pos, if it implements this; the same for the next two
	prover     Prover
	prefetcher KeyPrefetcher
	history    *history

	counter NodeCounter // of Do calls, the prover's included

	depth          int           // of the iteration
	seldepth       int           // the deepest ply of the iteration
	scores         [MaxPly]Score // of finished iterations
	variety        Variety
	salt           uint64 // of the keys of the hash table
	verifyingUntil int    // no null move before this ply: one is being verified

	finished int // iterations
	stable   int // the latest of them with the same best move
	source   string
	infos    []Info // the latest of each line
}

// stack has a worker's state for every ply. It is large and kept for later
// searches.
type stack struct {
	lines    [MaxPly + 2]line
	pickers  [2 * (MaxPly + 2)]picker        // one for each node in progress: several may stand at one ply
	searched [2 * (MaxPly + 2)]searchedMoves // as for pickers
	top      int                             // pickers in use
	root     []rootMove
}

// reset leaves nothing of an earlier search but the buffers of the pickers and of the
// root moves, of which Amazons has up to 2,000.
func (st *stack) reset() {
	st.top = 0
	clear(st.root)
	st.root = st.root[:0]
	for i := range st.lines {
		st.lines[i].plyState = plyState{eval: noEval}
	}
}

// line is a worker's state at one ply, and the principal variation from there.
type line struct {
	plyState
	pv [MaxPly + 1]game.Move // its first pvLen moves: the rest is not cleared between searches
}

// plyState is what a worker knows of a ply.
type plyState struct {
	killers  [2]game.Move
	current  ScoredMove // the move being searched; its Move is NoMove for a null move
	eval     Score      // static, or noEval
	excluded game.Move  // by a singular search
	doubles  int        // moves before this ply that were extended by two plies
	cutoffs  int        // nodes at this ply that failed high, below the current node one ply up
	pvLen    int
}

// searchedMoves has the history indices of the first moves that were searched
// at a node and did not cut off. It is part of the stack because Go would clear
// a local variable at every call.
type searchedMoves struct {
	quiet, noisy   [32][2]uint16
	nQuiet, nNoisy int
}

func (t *searchedMoves) add(e *ScoredMove) {
	switch {
	case e.Noise == Quiet && t.nQuiet < len(t.quiet):
		t.quiet[t.nQuiet] = e.HistoryIndex
		t.nQuiet++
	case e.Noise != Quiet && t.nNoisy < len(t.noisy):
		t.noisy[t.nNoisy] = e.HistoryIndex
		t.nNoisy++
	}
}

// rootMove is a move at the root and its results.
type rootMove struct {
	ScoredMove
	score, last Score // of this iteration and the one before; -Infinity where not better than the best
	pv          []game.Move
	nodes       uint64
	seldepth    int
}

func newWorker(k *Kernel, s *Search, table *Table, pos Position, id int, h *history) *worker {
	w := &worker{stack: k.takeStack(), k: k, s: s, counter: NewNodeCounter(s), table: table, id: id, pos: pos, history: h, source: FromSearch}
	w.stack.reset()
	w.see, _ = pos.(StaticExchanger)
	w.prover, _ = pos.(Prover)
	w.prefetcher, _ = pos.(KeyPrefetcher)
	return w
}

// do makes a move from ply.
func (w *worker) do(e *ScoredMove, ply int) {
	if w.prefetcher != nil {
		prefetch(w.table.bucket(w.prefetcher.KeyAfter(e.Move) ^ w.salt))
	}
	w.lines[ply].current = *e
	w.pos.Do(e.Move)
}

// stopped reports whether the search has ended, so that the result of a call that
// just returned is void.
func (w *worker) stopped() bool { return w.s.Stopped() }

// proveNode asks the prover about a node. It stores the score, or else failed, by
// which the table remembers not to ask again.
func (w *worker) proveNode(node *Node, ply, budget int, failed ttEntry) (Score, bool) {
	proof, ok := w.counter.Prove(w.prover, budget, 0)
	if !ok {
		if !w.stopped() {
			failed.eval = noEval
			w.table.store(w.key(node), failed)
		}
		return 0, false
	}
	score := AtPly(proof.Score, ply)
	l := &w.lines[ply]
	l.pvLen = copy(l.pv[:], proof.Line)
	if !node.NoTable {
		w.table.store(w.key(node), ttEntry{score: toTable(score, ply), eval: noEval, depth: MaxPly, bound: Exact})
	}
	return score, true
}

// proveLeaf asks the prover about a leaf, or a node that is probably provable.
func (w *worker) proveLeaf(node *Node, ply int) (Score, bool) {
	params := &w.k.params
	budget := params.leafBudget(node)
	return w.proveNode(node, ply, budget, ttEntry{proverFailed: true, pvProverFailed: budget >= params.ProvePV})
}

// leafBudget returns the prover's budget at a leaf.
func (p *Params) leafBudget(node *Node) int {
	if node.Provable {
		return max(p.ProveNode, p.ProveLeaf)
	}
	return p.ProveLeaf
}

// openPicker takes the next free picker; closePicker returns it.
func (w *worker) openPicker(mode Mode, hash game.Move) *picker {
	p := &w.pickers[w.top]
	w.top++
	p.open(mode, hash, w.k.params.SortedPicks)
	p.cursor.VictimOrder = !w.k.params.On.SEEOrder
	return p
}

func (w *worker) closePicker() { w.top-- }

// key returns a node's key in the hash table.
func (w *worker) key(n *Node) uint64 { return n.SearchKey ^ w.salt }

// updatePV makes m and the principal variation after it that of ply.
func (w *worker) updatePV(ply int, m game.Move) {
	l, below := &w.lines[ply], &w.lines[ply+1]
	l.pv[0] = m
	l.pvLen = 1 + copy(l.pv[1:], below.pv[:below.pvLen])
}

// result returns the result of a finished search.
func (w *worker) result() Result {
	w.counter.Flush()
	s := w.s
	r := Result{Source: w.source, Depth: w.finished, SelDepth: w.seldepth,
		Nodes: s.Nodes(), Time: s.Elapsed()}
	for _, i := range w.infos {
		if i.Line > 0 { // reached
			r.Lines = append(r.Lines, i)
		}
	}
	if len(w.root) == 0 {
		node := w.pos.Enter()
		r.Score = -Win
		if node.Over {
			r.Score = node.Verdict
		}
		r.Source = FromOnly
		r.WinProb = w.k.params.WinProb(r.Score)
		return r
	}
	best := &w.root[0]
	r.Move, r.Score = best.Move, best.score
	if r.Score == -Infinity {
		r.Score = best.last
	}
	if r.Score == -Infinity { // not even the first move was searched completely
		w.pos.Enter()
		r.Score = w.pos.Eval()
	}
	if r.PV = slices.Clone(best.pv); len(r.PV) == 0 { // stopped before it was searched
		r.PV = []game.Move{best.Move}
	}
	r.WinProb = w.k.params.WinProb(r.Score)
	if len(r.PV) > 1 {
		r.Ponder = r.PV[1]
	} else {
		r.Ponder = w.ponderMove(best.Move)
	}
	return r
}

// ponderMove returns the hash table's reply to m.
func (w *worker) ponderMove(m game.Move) game.Move {
	w.pos.Enter()
	if _, ok := w.pos.Find(m); !ok {
		return game.NoMove
	}
	w.pos.Do(m)
	defer w.pos.Undo(m)
	node := w.pos.Enter()
	if node.Over {
		return game.NoMove
	}
	r, _ := w.table.probe(w.key(&node))
	if _, ok := w.pos.Find(r.move); !ok {
		return game.NoMove
	}
	return r.move
}
