package mcts

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// scratch is what a worker needs besides the tree. It is large and used again by
// later searches.
type scratch struct {
	cursor  search.Cursor
	buf     []search.ScoredMove // a batch of moves
	chosen  []search.ScoredMove // the best of those that are not open
	priors  []uint16            // of chosen
	seen    []uint64            // a bit for each move that is open
	batch   []claimed           // children to evaluate
	found   []evaluation        // of batch
	skipped []nodeID            // children of the root that this visit is not for

	path  [search.MaxPly + 1]nodeID
	moves [search.MaxPly + 1]game.Move
}

// moveBits is the size of a move: it fits the kernel's hash table.
const moveBits = 21

func newScratch() *scratch { return &scratch{seen: make([]uint64, 1<<moveBits/64)} }

// open opens the next children of the visit's node, the best by the move order.
// False means that there is no memory for them.
func (w *worker) open() bool {
	t, s := w.tree, w.searcher
	at := w.path[w.ply]

	// The moves that are open are left out by name: batches need not come in the
	// same order every time.
	t.mu.Lock()
	n := t.at(at)
	before := n.children()
	want := chunkNodes * ((max(s.params.MCTS.Open, 1) + chunkNodes - 1) / chunkNodes)
	w.chosen = w.chosen[:0]
	for i, left := n.first.firstNode(), before; left > 0; i, left = t.after(i), left-1 {
		w.setSeen(t.at(i).move, true)
	}
	prove := before == 0 && w.ply > 0 && n.visits > 0
	t.mu.Unlock()

	if prove && w.proveHere(at) {
		return true
	}
	exhausted := w.nextMoves(want)

	t.mu.Lock()
	defer t.mu.Unlock()
	for i, left := n.first.firstNode(), before; left > 0; i, left = t.after(i), left-1 {
		w.setSeen(t.at(i).move, false)
	}
	if n.children() != before || n.exhausted() {
		return true // another worker has opened them meanwhile
	}
	ok := t.add(n, w.chosen, w.priors)
	if ok && exhausted {
		n.opened |= allOpened
		t.refresh(n)
		if n.proven != 0 {
			if n.visits == 0 {
				n.visits = 1 // the root's, which nobody evaluates
			}
			s.mix(n)
		}
	}
	return ok
}

// add opens children. The caller holds mu.
func (t *tree) add(n *node, moves []search.ScoredMove, priors []uint16) bool {
	var last chunkID
	for c := n.first; c != none; c = *t.next(c) {
		last = c
	}
	for len(moves) > 0 {
		c, ok := t.allocate()
		if !ok {
			return false // what was opened stays
		}
		if last == none {
			n.first = c
		} else {
			*t.next(last) = c
		}
		last = c
		k := min(len(moves), chunkNodes)
		for i := range k {
			m := t.at(c.firstNode() + nodeID(i))
			m.move, m.prior = moves[i].Move, priors[i]
		}
		n.opened += uint16(k)
		moves, priors = moves[k:], priors[k:]
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
// so many, into w.chosen, with their probabilities. It reports whether these are all
// that are left.
func (w *worker) nextMoves(want int) (all bool) {
	w.priors = w.priors[:0]
	var p policy
	for w.cursor = (search.Cursor{Mode: search.All}); ; {
		w.buf = w.pos.Moves(w.buf[:0], &w.cursor)
		if len(w.buf) == 0 {
			return true
		}
		if p.temperature == 0 {
			p = newPolicy(w.searcher.params.MCTS.Temperature, w.buf)
		}
		had := len(w.chosen)
		left := false
		for i := range w.buf {
			e := &w.buf[i]
			if w.isSeen(e.Move) || w.ply == 0 && w.only != nil && !slices.Contains(w.only, e.Move) {
				continue
			}
			left = w.choosing(e, had, want) || left
		}
		for _, e := range w.chosen[had:] {
			w.priors = append(w.priors, p.prior(e.Order))
		}
		if left {
			return false
		}
	}
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

// proveHere asks the prover about the visit's node and reports whether it knows the
// result.
func (w *worker) proveHere(at nodeID) bool {
	budget := w.searcher.params.MCTS.Prove
	if budget == 0 || w.prover == nil {
		return false
	}
	proof, ok := w.counter.Prove(w.prover, budget, 0)
	if !ok {
		return false
	}
	t := w.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(at)
	if n.proven == 0 {
		switch s := proof.Score; {
		case s >= search.WinBound || s <= -search.WinBound:
			n.proven = int16(s)
		case s == search.Draw:
			n.proven = provenDraw
		}
		w.searcher.mix(n)
	}
	return true
}
