package mcts

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// scratch is what a worker needs besides the tree. It is large and used again by
// later searches.
type scratch struct {
	cursor     search.Cursor
	buf        []search.ScoredMove // a batch of moves
	chosen     []search.ScoredMove // the best that are not open, by the move order
	candidates []candidate         // these, evaluated
	seen       []uint64            // a bit for each move that is open
	skipped    []nodeID            // children of the root that this visit is not for

	path  [search.MaxPly + 1]nodeID
	moves [search.MaxPly + 1]game.Move
}

// candidate is a move that may be opened.
type candidate struct {
	move   game.Move
	order  int32        // below that of the best move
	score  search.Score // after the move, for the side that makes it
	ended  bool         // the game ends, or its result is proven
	proven int16        // of the node after the move, see node
	prior  uint16
}

// moveBits is the size of a move: it fits the kernel's hash table.
const moveBits = 21

func newScratch() *scratch { return &scratch{seen: make([]uint64, 1<<moveBits/64)} }

// openResult is what came of an attempt to open children.
type openResult uint8

const (
	opened   openResult = iota
	refused             // there is no memory
	aborted             // the search has ended
	overtook            // another worker has opened them
)

// open opens the next children of the visit's node: of the moves that are best by the
// move order, those that are best by their evaluation.
func (w *worker) open() openResult {
	t, s := w.tree, w.searcher
	at := w.path[w.ply]

	// The moves that are open are left out by name: batches need not come in the
	// same order every time.
	t.mu.Lock()
	n := t.at(at)
	before := n.children()
	for i, left := n.first.firstNode(), before; left > 0; i, left = t.after(i), left-1 {
		w.setSeen(t.at(i).move, true)
	}
	t.mu.Unlock()

	want := chunkNodes * ((s.params.MCTS.Open + chunkNodes - 1) / chunkNodes)
	all := w.nextMoves(max(s.params.MCTS.Candidates, want))
	all = w.evaluateCandidates() && all

	t.mu.Lock()
	defer t.mu.Unlock()
	for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
		w.setSeen(t.at(i).move, false)
	}
	all = all && len(w.candidates) <= want
	k := min(want, len(w.candidates))
	if !all {
		k -= k % chunkNodes // only a node's last chunk may have places left
	}
	switch {
	case n.children() != before || n.exhausted():
		return overtook
	case k == 0 && !all:
		return aborted
	case !t.add(n, w.candidates[:k], s):
		return refused
	}
	if all {
		n.opened |= allOpened
	}
	t.refresh(n)
	if n.visits == 0 {
		n.visits, n.sum = 1, int64(n.best) // the root's, which nobody has evaluated
	}
	s.mix(n)
	return opened
}

// add opens children, all or none. The caller holds mu.
func (t *tree) add(n *node, moves []candidate, s *Searcher) bool {
	var last chunkID
	for c := n.first; c != none; c = *t.next(c) {
		last = c
	}
	if !t.reserve(chunkID(len(moves)+chunkNodes-1) / chunkNodes) {
		return false
	}
	for len(moves) > 0 {
		c := t.allocate()
		if last == none {
			n.first = c
		} else {
			*t.next(last) = c
		}
		last = c
		k := min(len(moves), chunkNodes)
		for i := range k {
			m, e := t.at(c.firstNode()+nodeID(i)), &moves[i]
			v := one - s.valueOf(e.score)
			if !e.ended {
				v = min(max(v, 1), one-1)
			}
			m.move, m.prior, m.proven = e.move, e.prior, e.proven
			m.visits, m.sum, m.best = 1, int64(v), uint16(v)
			s.mix(m)
		}
		n.opened += uint16(k)
		moves = moves[k:]
	}
	return true
}

func (w *worker) setSeen(m game.Move, on bool) {
	if word := &w.seen[m/64%(1<<moveBits/64)]; on {
		*word |= 1 << (m % 64)
	} else {
		*word &^= 1 << (m % 64)
	}
}

func (w *worker) isSeen(m game.Move) bool { return w.seen[m/64%(1<<moveBits/64)]>>(m%64)&1 != 0 }

// nextMoves puts the best moves at the current position that are not open, at most
// so many, into w.chosen. It reports whether these are all that are left.
func (w *worker) nextMoves(want int) (all bool) {
	w.chosen = w.chosen[:0]
	restricted, given := w.ply == 0 && w.only != nil, false
	for w.cursor = (search.Cursor{Mode: search.All}); ; {
		w.buf = w.pos.Moves(w.buf[:0], &w.cursor)
		if len(w.buf) == 0 {
			break
		}
		had := len(w.chosen)
		left := false
		for i := range w.buf {
			e := &w.buf[i]
			if restricted && !slices.Contains(w.only, e.Move) {
				continue
			}
			given = true
			if w.isSeen(e.Move) {
				continue
			}
			left = w.choosing(e, had, want) || left
		}
		if left {
			return false
		}
	}
	left := false
	if restricted && !given { // only moves that the node leaves out, because they lose
		for _, m := range w.only {
			if !w.isSeen(m) {
				left = w.choosing(&search.ScoredMove{Move: m}, 0, want) || left
			}
		}
	}
	return !left
}

// choosing inserts a move into w.chosen, sorted from index had on: the best first,
// equals by their number, which does not depend on the order of the batch. It
// reports whether a move is left out for it.
func (w *worker) choosing(e *search.ScoredMove, had, want int) bool {
	before := func(a, b *search.ScoredMove) bool {
		return a.Order > b.Order || a.Order == b.Order && a.Move < b.Move
	}
	n := len(w.chosen)
	full := n == want
	switch {
	case !full:
		w.chosen = append(w.chosen, *e)
		n++
	case n == had || !before(e, &w.chosen[n-1]):
		return true
	default:
		w.chosen[n-1] = *e
	}
	for i := n - 1; i > had && before(&w.chosen[i], &w.chosen[i-1]); i-- {
		w.chosen[i], w.chosen[i-1] = w.chosen[i-1], w.chosen[i]
	}
	return full
}

// evaluateCandidates evaluates the chosen moves into w.candidates, the best first, with
// their priors. It reports whether it has evaluated all, and not the search has ended.
func (w *worker) evaluateCandidates() (all bool) {
	params := &w.searcher.params
	w.candidates = w.candidates[:0]
	before := search.Score(0)
	if len(w.chosen) > 0 {
		before = w.pos.Eval()
	}
	best, evaluated := -search.Infinity, false
	for i := range w.chosen {
		if !w.counter.Count() {
			break
		}
		c := candidate{move: w.chosen[i].Move, order: w.chosen[0].Order - w.chosen[i].Order}
		if i > 0 { // a batch's moves are worse than those of the batches before
			c.order = max(c.order, w.candidates[i-1].order)
		}
		w.pos.Do(c.move)
		w.evaluate(&c)
		w.pos.Undo(c.move)
		w.candidates = append(w.candidates, c)
		if !c.ended {
			best, evaluated = max(best, c.score), true
		}
	}
	if evaluated {
		// The side that has just moved stands better in most evaluations. So that values
		// at odd and at even plies are alike, a part of what the best move gains is taken
		// from all.
		shift := (best - before) * search.Score(params.MCTS.Tempo) / 100
		for i := range w.candidates {
			if c := &w.candidates[i]; !c.ended {
				c.score = min(max(c.score-shift, -search.MaxEval), search.MaxEval)
			}
		}
	}
	slices.SortStableFunc(w.candidates, func(a, b candidate) int { return int(b.score) - int(a.score) })
	setPriors(w.candidates, params)
	return len(w.candidates) == len(w.chosen)
}

// evaluate finds out what is known of a move without searching on. The position is
// that after it.
func (w *worker) evaluate(c *candidate) {
	params := &w.searcher.params
	node := w.pos.Enter()
	if node.Over {
		c.score, c.ended = -node.Verdict, true
		// A result that depends on the path, or on how near the move limit is, does
		// not hold for every way to this position.
		if node.RepetitionPlies == 0 && !node.NoTable {
			c.proven = provenBy(node.Verdict)
		}
		return
	}
	budget := params.MCTS.Prove
	if node.Provable {
		budget = max(budget, params.ProveNode)
	}
	if budget > 0 && w.prover != nil {
		if proof, ok := w.counter.Prove(w.prover, budget, 0); ok {
			c.score, c.ended, c.proven = -proof.Score, true, provenBy(proof.Score)
			return
		}
	}
	c.score = -w.variety.Blur(w.pos.Eval(), node.Key)
}

// provenBy returns what node.proven is for a score that is certain, 0 for one that no
// proof is made of.
func provenBy(score search.Score) int16 {
	switch {
	case score == search.Draw:
		return provenDraw
	case score >= search.WinBound || score <= -search.WinBound:
		return int16(score)
	}
	return 0
}
