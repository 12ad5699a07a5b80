package mcts

import (
	"math"
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// A visit goes down the tree, evaluates, and brings the value back up. The tree is
// locked at each node while a child is chosen and not while the position is
// computed, which takes most of the time. Virtual losses keep the workers apart
// meanwhile: a visit in progress counts as one that has lost (Chaslot, Winands and
// van den Herik, "Parallel Monte-Carlo tree search", 2008).

// action is what a visit does at a node.
type action uint8

const (
	descend  action = iota // by the chosen move
	open                   // children, and choose again
	evaluate               // the chosen children
	stay                   // the node's value is known, or there is no memory to learn more
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
		switch w.choose(canOpen) {
		case open:
			canOpen = w.open()
			continue
		case stay:
			return !w.solved && w.finishKnown(stayed)
		case evaluate:
			return w.evaluate()
		}
		canOpen = true
		w.pos.Do(w.moves[w.ply])
		w.ply++
		if node := w.pos.Enter(); node.Over {
			// Where the tree has no proof, the end depends on the path.
			return w.finishKnown(w.searcher.valueOf(node.Verdict))
		}
	}
}

// stayed stands for the value that the node has already.
const stayed value = -1

// finishKnown ends a visit that has evaluated nothing new.
func (w *worker) finishKnown(v value) bool {
	w.ascend()
	counted := w.counter.Count()
	t := w.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	if !counted {
		w.abandon()
		return false
	}
	if v == stayed {
		v = value(t.at(w.path[w.ply]).q)
	}
	w.backUp(v, false)
	return true
}

// ascend takes the position back to the root.
func (w *worker) ascend() {
	for i := w.ply - 1; i >= 0; i-- {
		w.pos.Undo(w.moves[i])
	}
}

// abandon ends a visit without a value. The caller holds the tree's mu.
func (w *worker) abandon() {
	for _, i := range w.path[1 : w.ply+1] {
		w.tree.at(i).virtual--
	}
}

// choose says what to do at the visit's node. A child to descend to has become the
// next of the path; those to evaluate are in w.batch.
func (w *worker) choose(canOpen bool) action {
	t, o := w.tree, &w.searcher.params.MCTS
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(w.path[w.ply])
	several := w.ply == 0 && w.lines > 1
	if n.proven != 0 && !several || w.ply >= search.MaxPly-2 {
		w.solved = w.ply == 0
		return stay
	}
	sqrt := math.Sqrt(float64(n.visits + 1))
	canOpen = canOpen && !n.exhausted() && n.children() < maxOpened
	if canOpen && (n.children() == 0 || n.children() <= int(float64(o.Widening)*sqrt/100)) {
		return open
	}

	// PUCT: the value, and a bonus for what the policy likes that falls with the
	// visits. First-play urgency: what was never visited is worth what its parent
	// is (Gelly and Wang, "Exploration exploitation in Go", 2006).
	explore := float64(o.Exploration) * sqrt / (100 * priorOne)
	unvisited := float64(n.q)/float64(one) - float64(o.FPUReduction)/100
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
			visits := float64(m.visits) + float64(m.virtual)
			q := unvisited
			if m.visits > 0 {
				q = float64(one-value(m.q)) / float64(one)
				if m.virtual > 0 {
					q = float64(q*float64(m.visits)) / visits
				}
			} else if m.virtual > 0 {
				q = 0
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
	case canOpen:
		return open // all that are open lose
	default:
		w.solved = w.ply == 0 && n.exhausted()
		return stay
	}
	m := t.at(first)
	m.virtual++
	if m.visits > 0 {
		w.moves[w.ply], w.path[w.ply+1] = m.move, first
		return descend
	}
	w.batch = append(w.batch[:0], claimed{first, m.move})
	for i := t.after(first); i >= chunkNodes && len(w.batch) < o.Evaluate; i = t.after(i) {
		if m := t.at(i); m.move != game.NoMove && m.visits == 0 && m.virtual == 0 && !slices.Contains(w.skipped, i) {
			m.virtual++
			w.batch = append(w.batch, claimed{i, m.move})
		}
	}
	return evaluate
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
			if m := t.at(i); m.visits > 0 && !slices.Contains(w.skipped, i) && (best == nil || m.better(best)) {
				best, id = m, i
			}
		}
		if best == nil {
			return
		}
		w.skipped = append(w.skipped, id)
	}
}

// claimed is a child that a worker evaluates.
type claimed struct {
	id   nodeID
	move game.Move
}

// evaluation is what a worker has found out about a child.
type evaluation struct {
	value  value // for the child's side to move
	proven int16
}

// evaluate evaluates the children in w.batch and ends the visit with the best of
// their values.
func (w *worker) evaluate() bool {
	w.found = w.found[:0]
	t := w.tree
	for _, child := range w.batch {
		if !w.counter.Count() {
			break
		}
		w.pos.Do(child.move)
		w.found = append(w.found, w.searcher.evaluate(w.pos))
		w.pos.Undo(child.move)
	}
	w.ascend()
	t.mu.Lock()
	defer t.mu.Unlock()
	best := value(0)
	for i, child := range w.batch {
		m := t.at(child.id)
		m.virtual--
		if i >= len(w.found) {
			continue
		}
		e := w.found[i]
		best = max(best, one-e.value)
		m.visits++
		m.sum += int64(e.value)
		m.best, m.proven = uint16(e.value), e.proven
		w.searcher.mix(m)
	}
	if len(w.found) == 0 {
		w.abandon()
		return false
	}
	w.backUp(best, true)
	return true
}

// evaluate returns what is known of a position without searching on.
func (s *Searcher) evaluate(pos search.Position) evaluation {
	node := pos.Enter()
	if !node.Over {
		return evaluation{value: min(max(s.valueOf(pos.Eval()), 1), one-1)}
	}
	e := evaluation{value: s.valueOf(node.Verdict)}
	// A result that depends on the path, or on how near the move limit is, does not
	// hold for every way to this position.
	if node.RepetitionPlies == 0 && !node.NoTable {
		switch v := node.Verdict; {
		case v == search.Draw:
			e.proven = provenDraw
		case v >= search.WinBound || v <= -search.WinBound:
			e.proven = int16(v)
		}
	}
	return e
}

// valueOf converts a score.
func (s *Searcher) valueOf(score search.Score) value {
	return value(math.Round(s.params.WinProb(score) * float64(one)))
}

// backUp brings a value, for the side to move at the end of the path, up to the
// root. Grown says that children of the last node were evaluated. The caller
// holds the tree's mu.
func (w *worker) backUp(v value, grown bool) {
	t := w.tree
	w.visits++
	depth := w.ply
	if grown {
		depth++
	}
	t.visits++
	t.depths += uint64(depth)
	t.seldepth = max(t.seldepth, depth)
	before, proven := uint16(0), false // of the child on the path
	for i := w.ply; i >= 0; i-- {
		n := t.at(w.path[i])
		was, wasProven := n.best, n.proven != 0
		n.visits++
		n.sum += int64(v)
		if i > 0 {
			n.virtual--
		}
		switch {
		case n.proven != 0:
		case i == w.ply && !grown:
		case i == w.ply || proven:
			t.refresh(n)
		default:
			child := value(t.at(w.path[i+1]).best)
			if now := uint16(one - child); now >= n.best {
				n.best = now
			} else if uint16(one)-before == n.best {
				t.refresh(n)
			}
		}
		w.searcher.mix(n)
		if n.proven != 0 {
			v = n.certain()
		}
		before, proven = was, n.proven != 0 && (!wasProven || i == w.ply)
		v = one - v
	}
}

// refresh computes a node's minimax value from its children, and its result if they
// prove one. The caller holds mu.
func (t *tree) refresh(n *node) {
	best := value(-1)
	certain := -search.Infinity
	all := n.exhausted()
	for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
		m := t.at(i)
		if m.visits > 0 {
			best = max(best, one-value(m.best))
		}
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
