package mcts

import (
	"slices"
	"time"

	"sparring/engine/search"
	"sparring/game"
)

// worker is one goroutine of a search.
type worker struct {
	*scratch
	searcher *Searcher
	s        *search.Search
	tree     *tree
	id       int // 0 decides and reports
	pos      search.Position
	prover   search.Prover
	counter  search.NodeCounter
	only     []game.Move // allowed at the root, nil for all
	lines    int
	variety  search.Variety

	ply    int // of the visit; w.path has the nodes up to it
	visits uint64
	solved bool // nothing is left to learn, or no room to count it

	// Of the worker that decides.
	nextReport    uint64 // visits
	nextIteration uint64 // visits
	stable        int    // iterations in a row with the same best move
	last          line   // the best of the last iteration
	infos         []search.Info
	source        string
	without       *line // the result, if it comes without a search
}

func newWorker(r *Searcher, s *search.Search, t *tree, pos search.Position, id int) *worker {
	limits := s.Limits()
	w := &worker{scratch: r.scratch.Get().(*scratch), searcher: r, s: s, tree: t, id: id, pos: pos, counter: search.NewNodeCounter(s),
		only: limits.Moves, lines: max(limits.MultiPV, 1), source: search.FromSearch, nextReport: 1, nextIteration: 1}
	w.prover, _ = pos.(search.Prover)
	return w
}

// run makes visits until a limit is met.
func (w *worker) run() {
	defer w.counter.Flush()
	w.pos.Enter()
	if w.id == 0 && (!w.openRoot() || w.proveRoot()) {
		w.s.End() // nothing is left for the others
		return
	}
	for w.visit() {
		if w.tree.full.Load() {
			w.tree.makeRoom(w.deadline())
		}
		if w.id == 0 && w.finished() {
			break
		}
	}
	if w.id == 0 {
		w.report()
	}
}

// deadline returns when the search must end, zero if there is no such time.
func (w *worker) deadline() time.Time {
	limits := w.s.Limits()
	if limits.Hard == 0 {
		return time.Time{}
	}
	return limits.From.Add(limits.Hard)
}

// openRoot opens the first moves at the root; false where there is nothing to
// search.
func (w *worker) openRoot() bool {
	if w.rootChildren() > 0 {
		return true
	}
	open := func() openResult {
		w.tree.exclusive.RLock()
		defer w.tree.exclusive.RUnlock()
		w.path[0] = w.tree.root
		return w.open()
	}
	result := open()
	if result == refused {
		// The last search left the tree full, and no children here, as of a position that
		// was proven. What is not below it goes, however little time there is.
		w.tree.makeRoom(time.Time{})
		result = open()
	}
	switch {
	case w.rootChildren() > 0:
		return true
	case len(w.candidates) > 0: // aborted, or refused by other threads' memory
		best := w.candidates[0]
		w.without = w.known([]game.Move{best.move}, best.score)
		return false
	case result == aborted: // before the first evaluation: any move is better than none
		w.without = w.known([]game.Move{w.chosen[0].Move}, w.pos.Eval())
		return false
	}
	w.source = search.FromOnly
	return false
}

// known returns a line whose score needs no search.
func (w *worker) known(pv []game.Move, score search.Score) *line {
	return &line{pv: pv, score: score, winProb: w.searcher.params.WinProb(score)}
}

func (w *worker) rootChildren() int {
	w.tree.mu.Lock()
	defer w.tree.mu.Unlock()
	return w.tree.at(w.tree.root).children()
}

// proveRoot calls the prover first.
func (w *worker) proveRoot() bool {
	proof, ok := w.counter.ProveRoot(w.prover, &w.searcher.params)
	if !ok || w.only != nil && !slices.Contains(w.only, proof.Line[0]) {
		return false
	}
	if _, legal := w.pos.Find(proof.Line[0]); !legal {
		return false
	}
	w.source = proof.Kind
	w.without = w.known(slices.Clone(proof.Line), proof.Score)
	w.tree.foundLine(len(proof.Line))
	w.report()
	return true
}

// depth returns how deep visits have come: on average, and at most.
func (t *tree) depth() (mean, most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return int(t.depths / max(t.visits, 1)), t.seldepth
}

// foundLine notes the length of a line that was not visited.
func (t *tree) foundLine(plies int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seldepth = max(t.seldepth, plies)
}

// finished reports after a visit whether it was the last. It also reports the state
// of the search now and then.
func (w *worker) finished() bool {
	if w.visits >= w.nextIteration {
		w.nextIteration *= 2
		w.iteration()
	}
	if w.visits >= w.nextReport {
		w.nextReport += 1 + w.nextReport/4
		w.report()
	}
	limits := w.s.Limits()
	if limits.Depth > 0 {
		if depth, _ := w.tree.depth(); depth >= limits.Depth {
			return true
		}
	}
	if limits.Soft == 0 && limits.Hard == 0 {
		return false
	}
	// On the clock there is no use in searching a single move for long.
	if w.visits%singleMoveVisits == 0 && w.singleMove() {
		return true
	}
	return w.visits%softEvery == 0 && w.s.SoftLimitReached(w.progress)
}

const (
	// softEvery is the number of visits between two looks at the soft limit.
	softEvery = 16
	// singleMoveVisits are enough for a score of the only move.
	singleMoveVisits = 256
)

func (w *worker) singleMove() bool {
	t := w.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.at(t.root)
	return n.exhausted() && n.children() == 1
}

// iteration keeps the state that the next one is compared with. An iteration is a
// doubling of the visits, which takes about as long as an iteration of alpha-beta.
func (w *worker) iteration() {
	best := w.bestLines()[0]
	if len(w.last.pv) > 0 && w.last.pv[0] == best.pv[0] {
		w.stable++
	} else {
		w.stable = 0
	}
	w.last = best
}

// progress is the state of the search for the time manager.
func (w *worker) progress() search.Progress {
	depth, _ := w.tree.depth()
	p := search.Progress{Depth: depth, StableIterations: w.stable}
	best := w.bestLines()[0]
	if len(w.last.pv) > 0 {
		p.WinProbDrop = w.last.winProb - best.winProb
	}
	p.Effort = best.effort
	return p
}
