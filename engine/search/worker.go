package search

import (
	"runtime"
	"slices"
	"time"

	"sparring/game"
)

// worker is one goroutine's share of a search, with all that it writes.
type worker struct {
	k         *Kernel
	s         *Search
	id        int // 0 decides
	pos       Position
	exchanger StaticExchanger // pos, where it has the power
	prover    Prover
	foreseer  KeyPrefetcher

	nodes  uint64 // Do calls so far, the prover's included
	told   uint64 // of them, already in s.nodes
	quota  uint64 // nodes may reach this without asking for more
	pollAt uint64 // nodes at which to look up, at most quota

	yielded time.Time // when other goroutines last had a chance

	history  *history
	era      uint32 // of the kernel, when the history was last cleared
	lines    [MaxPly + 2]line
	pickers  [2 * (MaxPly + 2)]picker // one per search call under way: several may stand at one ply
	tried    [2 * (MaxPly + 2)]tried  // beside the pickers
	top      int
	seldepth int

	depth      int           // of the iteration
	scores     [MaxPly]Score // of finished iterations
	unverified int           // no null move before this ply: one is being verified

	root     []rootMove
	finished int // iterations
	stable   int // of them the last, with the same best move
	source   string
	infos    []Info // last state of each line
}

// line is what a worker keeps for one ply of the line it is searching.
type line struct {
	killers  [2]game.Move
	current  ScoredMove // the move under way from this ply; NoMove: a pass
	eval     Score      // static, noEval where there is none
	excluded game.Move  // by a search for singularity
	refuted  int        // how many nodes at this ply a move ended since the last node above began
	pv       [MaxPly + 1]game.Move
	n        int // of pv
}

// tried are the slots of the first moves of a node that did not refute. They
// are kept here and not on the stack, where every call would have to clear
// them.
type tried struct {
	quiet, noisy   [32][2]uint16
	nQuiet, nNoisy int
}

func (t *tried) add(e *ScoredMove) {
	switch {
	case e.Noise == Quiet && t.nQuiet < len(t.quiet):
		t.quiet[t.nQuiet] = e.HistoryIndex
		t.nQuiet++
	case e.Noise != Quiet && t.nNoisy < len(t.noisy):
		t.noisy[t.nNoisy] = e.HistoryIndex
		t.nNoisy++
	}
}

// rootMove is a move at the root and what is known of it.
type rootMove struct {
	ScoredMove
	score, last Score // of this iteration and the one before; -Infinity: not better than the best
	pv          []game.Move
	nodes       uint64
	seldepth    int
}

// pollEvery is how many nodes go by between two looks at the clock and the
// stop flag: well under a millisecond for light nodes, a few for Amazons.
const pollEvery = 256

func newWorker(k *Kernel) *worker {
	return &worker{k: k, history: newHistory(&k.params)}
}

// reset prepares for a search as if the worker were new, but for the history
// where that is kept: what an earlier search left would make results depend on
// it.
func (w *worker) reset(s *Search, pos Position, id int) {
	w.s, w.pos, w.id = s, pos, id
	w.exchanger, _ = pos.(StaticExchanger)
	w.prover, _ = pos.(Prover)
	w.foreseer, _ = pos.(KeyPrefetcher)
	w.nodes, w.told, w.quota, w.pollAt = 0, 0, 0, 0
	if !w.k.params.On.KeepHistory || w.era != w.k.era.Load() {
		w.history.clear()
		w.era = w.k.era.Load()
	}
	for i := range w.lines {
		l := &w.lines[i]
		l.killers, l.current, l.eval, l.excluded = [2]game.Move{}, ScoredMove{}, noEval, game.NoMove
	}
	w.scores, w.unverified = [MaxPly]Score{}, 0
	w.top, w.seldepth, w.finished, w.stable = 0, 0, 0, 0
	w.root, w.infos, w.source = w.root[:0], nil, FromSearch
}

// mayDo is asked before every Do; false means that the search is over and
// everything must return.
func (w *worker) mayDo() bool {
	if w.nodes >= w.pollAt {
		w.tell()
		w.yield()
		if !w.s.mayGo() {
			return false
		}
		if w.quota <= w.nodes {
			w.quota = w.nodes + w.s.grant(pollEvery)
			if w.quota == w.nodes {
				w.s.end()
				return false
			}
		}
		w.pollAt = min(w.quota, w.nodes+pollEvery)
	}
	w.nodes++
	return true
}

// yieldEvery is how long a worker keeps its core without offering it.
const yieldEvery = time.Millisecond

// yield lets others run now and then: searches may fill all cores, and the
// scheduler would let whoever answers the network wait for the 10 ms of a time
// slice at each hop. Not every time, for it wakes idle threads to look for
// work, which costs more than the look at the clock.
func (w *worker) yield() {
	if now := time.Now(); now.Sub(w.yielded) >= yieldEvery {
		runtime.Gosched()
		w.yielded = now
	}
}

// do makes a move from ply.
func (w *worker) do(e *ScoredMove, ply int) {
	if w.foreseer != nil {
		prefetch(w.k.table.bucket(w.foreseer.KeyAfter(e.Move) ^ w.k.salt))
	}
	w.lines[ply].current = *e
	w.pos.Do(e.Move)
}

// tell adds this worker's nodes to the search's count.
func (w *worker) tell() {
	w.s.nodes.Add(w.nodes - w.told)
	w.told = w.nodes
}

// stopped reports whether the results of calls that just returned are void.
func (w *worker) stopped() bool { return w.s.halted.Load() }

// prove asks the prover with at most budget nodes; it gives up when the
// search's clock shows until, unless that is 0.
func (w *worker) prove(budget int, until time.Duration) (Proof, bool) {
	if left := int(w.quota) - int(w.nodes); left < budget {
		w.quota += w.s.grant(uint64(budget - left))
		budget = min(budget, int(w.quota-w.nodes))
	}
	if budget <= 0 {
		w.s.end()
		return Proof{}, false
	}
	proof, nodes, ok := w.prover.Prove(budget, func() bool {
		return !w.s.mayGo() || until > 0 && w.s.elapsed() >= until
	})
	w.nodes += uint64(nodes)
	w.pollAt = min(w.pollAt, w.quota)
	return proof, ok
}

// openPicker takes the next free picker; closePicker gives it back.
func (w *worker) openPicker(mode Mode, hash game.Move) *picker {
	p := &w.pickers[w.top]
	w.top++
	p.open(mode, hash)
	p.cursor.VictimOrder = !w.k.params.On.SEEOrder
	return p
}

func (w *worker) closePicker() { w.top-- }

// key is where the hash table keeps a node.
func (w *worker) key(n *Node) uint64 { return n.SearchKey ^ w.k.salt }

// follow makes m and what was found below it the line at ply.
func (w *worker) follow(ply int, m game.Move) {
	l, below := &w.lines[ply], &w.lines[ply+1]
	l.pv[0] = m
	l.n = 1 + copy(l.pv[1:], below.pv[:below.n])
}

// result is the answer of a finished search.
func (w *worker) result() Result {
	w.tell()
	s := w.s
	r := Result{Source: w.source, Depth: w.finished, SelDepth: w.seldepth,
		Nodes: s.nodes.Load(), Time: s.elapsed()}
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
	if r.Score == -Infinity { // not even the first move was searched to an end
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
		r.Ponder = w.expected(best.Move)
	}
	return r
}

// expected is the reply to m that the hash table knows of.
func (w *worker) expected(m game.Move) game.Move {
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
	r, _ := w.k.table.probe(w.key(&node))
	if _, ok := w.pos.Find(r.move); !ok {
		return game.NoMove
	}
	return r.move
}
