package mcts

import (
	"math"
	"slices"

	"sparring/engine/search"
)

// A visit goes down the tree, evaluates, and brings the value back up. The tree is
// locked at each node while a child is chosen and not while the position is
// computed, which takes most of the time. Virtual losses keep the workers apart
// meanwhile: a visit in progress counts as one that has lost (Chaslot, Winands and
// van den Herik, "Parallel Monte-Carlo tree search", 2008).

// action is what a visit does at a node.
type action uint8

const (
	descend action = iota // by the chosen move
	expand                // open the first children, which ends the visit
	widen                 // open more children, and choose again
	stay                  // the node's value is known, or there is no memory to learn more
)

// visit makes one visit. False means that the search has ended, or at the root that
// nothing is left to learn.
func (w *worker) visit() bool {
	t := w.tree
	t.exclusive.RLock()
	defer t.exclusive.RUnlock()
	w.ply, w.path[0] = 0, t.root
	canOpen := true
	for {
		next := w.choose(canOpen)
		switch next {
		case expand, widen:
			switch result := w.open(); {
			case result == aborted:
				w.abandon()
				return false
			case result == opened && next == expand:
				w.finish(ofBest)
				return true
			case result == refused:
				canOpen = false
			}
			continue
		case stay:
			return !w.solved && w.finishCounted(ofNode)
		}
		canOpen = true
		w.pos.Do(w.moves[w.ply])
		w.ply++
		if node := w.pos.Enter(); node.Over {
			// Where the tree has no proof, the end depends on the path.
			return w.finishCounted(w.searcher.valueOf(node.Verdict))
		}
	}
}

// Values that finish looks up: that of the visit's last node, and the best that its
// children have.
const (
	ofNode value = -1 - iota
	ofBest
)

// finishCounted ends a visit that has evaluated nothing, and so counts as a node. False
// means that the search has ended.
func (w *worker) finishCounted(v value) bool {
	if !w.counter.Count() {
		w.abandon()
		return false
	}
	w.finish(v)
	return true
}

// finish brings a value, for the side to move at the last node, up to the root.
func (w *worker) finish(v value) {
	w.ascend()
	t := w.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n := t.at(w.path[w.ply]); v {
	case ofNode:
		v = value(n.q)
	case ofBest:
		v = value(n.best)
	}
	w.visits++
	t.visits++
	t.depths += uint64(w.ply)
	t.seldepth = max(t.seldepth, w.ply)
	for i := w.ply; i >= 0; i-- {
		n := t.at(w.path[i])
		n.visits++
		n.sum += int64(v)
		if i > 0 {
			n.virtual--
		}
		if n.proven == 0 {
			t.refresh(n)
		}
		w.searcher.mix(n)
		if n.proven != 0 {
			v = n.certain()
		}
		v = one - v
	}
}

// abandon ends a visit without a value.
func (w *worker) abandon() {
	w.ascend()
	t := w.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range w.path[1 : w.ply+1] {
		t.at(i).virtual--
	}
}

// ascend takes the position back to the root.
func (w *worker) ascend() {
	for i := w.ply - 1; i >= 0; i-- {
		w.pos.Undo(w.moves[i])
	}
}

// maxVisits ends a search without limits, after hours, before node.visits overflows.
// No node has more visits than the root, and each thread may finish one more.
const maxVisits = math.MaxUint32 - 1<<16

// choose says what to do at the visit's node. A child to descend to has become the
// next of the path.
func (w *worker) choose(canOpen bool) action {
	t, o := w.tree, &w.searcher.params.MCTS
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(w.path[w.ply])
	if w.ply == 0 && n.visits >= maxVisits {
		w.solved = true
		return stay
	}
	several := w.ply == 0 && w.lines > 1
	if n.proven != 0 && !several || w.ply >= search.MaxPly-2 {
		w.solved = w.ply == 0
		return stay
	}
	sqrt := math.Sqrt(float64(n.visits + 1))
	canOpen = canOpen && !n.exhausted() && n.children() < maxOpened
	switch {
	case !canOpen:
	case n.children() == 0:
		return expand
	case n.children() <= int(float64(o.Widening)*sqrt/100):
		return widen
	}

	// PUCT: the value, and a bonus for what the policy likes that falls with the
	// visits. First-play urgency is not needed, for children have been evaluated.
	explore := float64(o.Exploration) * sqrt / (100 * priorOne)
	w.skipped = w.skipped[:0]
	if several {
		w.skipBest(n)
	}
	first, best := nodeID(0), -1.0
	for {
		for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
			m := t.at(i)
			if m.won() || several && (m.proven != 0 || slices.Contains(w.skipped, i)) {
				continue
			}
			visits := float64(m.visits)
			q := float64(one-value(m.q)) / float64(one)
			if m.virtual > 0 {
				q = float64(q*visits) / (visits + float64(m.virtual))
				visits += float64(m.virtual)
			}
			if score := q + float64(explore*float64(m.prior))/(1+visits); score > best {
				first, best = i, score
			}
		}
		if best >= 0 || len(w.skipped) == 0 {
			break
		}
		w.skipped = w.skipped[:0]
	}
	switch {
	case best >= 0:
		m := t.at(first)
		m.virtual++
		w.moves[w.ply], w.path[w.ply+1] = m.move, first
		return descend
	case canOpen:
		return widen // all that are open lose
	}
	w.solved = w.ply == 0 && n.exhausted()
	return stay
}

// evenLines is how many lines get the same number of visits. Where more are wanted,
// the others have those visits that come to them anyway.
const evenLines = 8

// skipBest puts the best children into w.skipped, as many as the line that this
// visit is for has before it.
func (w *worker) skipBest(n *node) {
	t := w.tree
	for range w.visits % uint64(min(w.lines, evenLines)) {
		var best *node
		var id nodeID
		for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
			if m := t.at(i); !slices.Contains(w.skipped, i) && (best == nil || m.better(best)) {
				best, id = m, i
			}
		}
		if best == nil {
			return
		}
		w.skipped = append(w.skipped, id)
	}
}

// valueOf converts a score.
func (s *Searcher) valueOf(score search.Score) value {
	return value(math.Round(s.params.WinProb(score) * float64(one)))
}

// refresh computes a node's minimax value from its children, and its result if they
// prove one. The caller holds mu.
func (t *tree) refresh(n *node) {
	best := value(-1)
	certain := -search.Infinity
	all := n.exhausted()
	for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
		m := t.at(i)
		best = max(best, one-value(m.best))
		if m.proven == 0 {
			all = false
			continue
		}
		certain = max(certain, m.parentScore())
	}
	if best >= 0 {
		n.best = uint16(best)
	}
	switch {
	case all && n.children() == 0:
		n.proven = lostAtOnce
	case certain >= search.WinBound || all && certain <= -search.WinBound:
		n.proven = int16(certain)
	case all && certain == search.Draw:
		n.proven = provenDraw
	}
}

// parentScore returns the score of a proven node for the side that moved there, at
// the position before.
func (n *node) parentScore() search.Score {
	if n.proven == provenDraw {
		return search.Draw
	}
	return search.AtPly(-search.Score(n.proven), 1)
}

// mix computes a node's value from its statistics, which are not empty.
func (s *Searcher) mix(n *node) {
	if n.proven != 0 {
		n.best = uint16(n.certain())
		n.q = n.best
		return
	}
	mean, share := n.sum/int64(n.visits), int64(s.params.MCTS.Mean)
	n.q = uint16((mean*share + int64(n.best)*(100-share)) / 100)
}
