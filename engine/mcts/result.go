package mcts

import (
	"slices"

	"sparring/engine/search"
	"sparring/game"
)

// line is a move at the root with what follows.
type line struct {
	pv      []game.Move
	score   search.Score
	winProb float64
	effort  float64 // share of the root's visits
}

// better reports whether a move leads to a better node than that to o, seen from
// the node before both: a proven win is best, the shortest first, and a proven
// loss worst; in between the node with more visits.
func (n *node) better(o *node) bool {
	if a, b := n.class(), o.class(); a != b {
		return a > b
	}
	if n.proven != o.proven && (n.won() || n.lost()) {
		return n.parentScore() > o.parentScore()
	}
	if n.visits != o.visits {
		return n.visits > o.visits
	}
	return n.q < o.q
}

// class is 2 for a move that wins, 0 for one that loses, 1 for others.
func (n *node) class() int {
	switch {
	case n.lost():
		return 2
	case n.won():
		return 0
	}
	return 1
}

// bestLines returns the lines that are wanted, best first. There is at least one,
// once the root has children.
func (w *worker) bestLines() []line {
	t := w.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	root := t.at(t.root)
	best := make([]*node, 0, w.lines+1)
	for i, left := root.first.firstNode(), root.children(); left > 0; i, left = t.after(i), left-1 {
		m := t.at(i)
		at := len(best)
		for at > 0 && m.better(best[at-1]) {
			at--
		}
		if at < w.lines {
			best = slices.Insert(best, at, m)[:min(len(best)+1, w.lines)]
		}
	}
	// Lines get the same number of visits, so their values decide.
	slices.SortStableFunc(best, func(a, b *node) int {
		if a.class() != 1 || b.class() != 1 || a.visits == 0 || b.visits == 0 {
			return 0
		}
		return int(a.q) - int(b.q)
	})
	lines := make([]line, len(best))
	for i, m := range best {
		lines[i] = w.lineOf(root, m)
	}
	return lines
}

// lineOf returns the line that begins with a child of the root.
func (w *worker) lineOf(root, m *node) line {
	t, params := w.tree, &w.searcher.params
	l := line{effort: float64(m.visits) / float64(max(root.visits, 1))}
	switch {
	case m.proven != 0:
		l.score = m.parentScore()
		l.winProb = params.WinProb(l.score)
	case m.visits > 0:
		l.winProb = float64(one-value(m.q)) / float64(one)
		l.score = params.ScoreFor(l.winProb)
	default: // not even the first move was evaluated
		l.winProb = params.WinProb(0)
	}
	for m != nil && len(l.pv) < search.MaxPly {
		l.pv = append(l.pv, m.move)
		var best *node
		for i, left := m.first.firstNode(), m.children(); left > 0; i, left = t.after(i), left-1 {
			if c := t.at(i); c.visits > 0 && (best == nil || c.better(best)) {
				best = c
			}
		}
		m = best
	}
	return l
}

// report reports the lines.
func (w *worker) report() {
	w.counter.Flush()
	var lines []line
	if w.without != nil {
		lines = []line{*w.without}
	} else {
		lines = w.bestLines()
	}
	full := w.tree.permille()
	depth, seldepth := w.tree.depth()
	w.infos = w.infos[:0]
	for i, l := range lines {
		w.infos = append(w.infos, w.s.Report(search.Info{Depth: max(depth, 1), SelDepth: max(seldepth, 1), Line: i + 1, Score: l.score,
			Bound: search.Exact, WinProb: l.winProb, HashFull: full, PV: l.pv}))
	}
}

// result returns the result of a finished search.
func (w *worker) result() search.Result {
	depth, seldepth := w.tree.depth()
	if len(w.infos) > 0 { // as it was reported
		depth, seldepth = max(depth, 1), max(seldepth, 1)
	}
	r := search.Result{Source: w.source, Depth: depth, SelDepth: seldepth, Nodes: w.s.Nodes(), Time: w.s.Elapsed(),
		Lines: slices.Clone(w.infos)}
	var l line
	switch {
	case w.without != nil:
		l = *w.without
	case w.rootChildren() > 0:
		l = w.bestLines()[0]
	default:
		score := -search.Win
		if node := w.pos.Enter(); node.Over {
			score = node.Verdict
		}
		l = *w.known(nil, score)
	}
	r.Score, r.WinProb, r.PV = l.score, l.winProb, l.pv
	if len(l.pv) > 0 {
		r.Move = l.pv[0]
	}
	if len(l.pv) > 1 {
		r.Ponder = l.pv[1]
	}
	return r
}
