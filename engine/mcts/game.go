package mcts

import (
	"sync"

	"sparring/engine/search"
)

// Searcher searches positions of one game by one set of parameters. Any number of
// its games may be searched at the same time.
type Searcher struct {
	params  search.Params
	bytes   int
	shared  *store    // of the games without memory of their own
	scratch sync.Pool // of *scratch
}

// New makes a searcher for the game that the parameters describe. The trees of its
// games take at most the given bytes together, though each that is being searched
// may take 264 KiB.
func New(params search.Params, bytes int) *Searcher {
	s := &Searcher{params: params.WithDefaults(), bytes: bytes, shared: newStore(bytes)}
	s.params.MCTS.Mean = min(s.params.MCTS.Mean, 100)
	s.scratch.New = func() any { return newScratch() }
	return s
}

// GameOptions set up a Game.
type GameOptions struct {
	// OwnMemory gives the game as much memory as the searcher has, for itself alone.
	OwnMemory bool
	// Fresh makes every search begin with an empty tree, in memory of its own. With
	// one thread and no limit of time its result then depends on position and
	// limits alone.
	Fresh bool
	// Variety is in the evaluations of all searches of the game.
	Variety search.Variety
}

// Game is a game whose positions are searched one after another, with the tree that
// its searches have built.
type Game struct {
	searcher *Searcher
	options  GameOptions
	queue    search.Queue
	tree     *tree // nil if each search has its own
}

// NewGame opens a game. Close it when it has ended.
func (s *Searcher) NewGame(o GameOptions) *Game {
	g := &Game{searcher: s, options: o}
	switch {
	case o.Fresh:
	case o.OwnMemory:
		g.tree = &tree{store: newStore(s.bytes)}
	default:
		g.tree = &tree{store: s.shared}
	}
	return g
}

// Start begins a search of a position, which it clones. A game has one search
// at a time: if an earlier one is still running, this one waits for its end.
// Report, if not nil, is called from the search's goroutine now and then, for each
// line; the search waits for it.
//
// Limits.Nodes limits the positions that are evaluated, counting also the visits
// that end at a known result, and the prover's nodes. Limits.Depth ends the search
// when visits have, on average, come that deep. Once the result is proven the
// search ends, even if Limits.Mate asks for a shorter win.
func (g *Game) Start(pos search.Position, limits search.Limits, report func(search.Info)) *search.Search {
	positions := make([]search.Position, max(limits.Threads, 1))
	for i := range positions {
		positions[i] = pos.Clone()
	}
	return g.queue.Start(limits, report, func(s *search.Search) search.Result { return g.run(s, positions) })
}

// run is the search. All workers visit the same tree; the first decides.
func (g *Game) run(s *search.Search, positions []search.Position) search.Result {
	t := g.tree
	if t == nil {
		t = &tree{store: newStore(g.searcher.bytes)}
	}
	t.store.open(t)
	defer t.store.release(t)
	t.begin(positions[0], s.Limits())
	var workers []*worker
	var run []func()
	for i, pos := range positions {
		w := newWorker(g.searcher, s, t, pos, i)
		w.variety = g.options.Variety
		workers = append(workers, w)
		run = append(run, w.run)
	}
	s.RunWorkers(run...)
	result := workers[0].result()
	for _, w := range workers {
		g.searcher.scratch.Put(w.scratch)
	}
	return result
}

// ProbeTable returns false: there is no hash table.
func (g *Game) ProbeTable(search.Position) (search.TableEntry, bool) {
	return search.TableEntry{}, false
}

// Close stops the searches that run and gives the tree back.
func (g *Game) Close() {
	g.queue.Stop()
	if g.tree != nil {
		g.tree.store.drop(g.tree)
	}
}

// begin makes a position the root, with what the tree knows of it: if it is one of
// the positions at most two plies below the last root, or below the one before if
// that search has only pondered.
func (t *tree) begin(pos search.Position, limits *search.Limits) {
	t.visits, t.depths, t.seldepth = 0, 0, 0
	node := pos.Enter()
	known := len(t.slabs) > 0 && !t.restricted && limits.Moves == nil
	found, base, basePos := nodeID(0), t.root, t.rootPos
	ok := false
	if known {
		found, ok = t.find(t.root, t.rootPos, node.SearchKey, 2)
		if !ok && t.base != t.root {
			base, basePos = t.base, t.basePos
			found, ok = t.find(base, basePos, node.SearchKey, 2)
		}
	}
	if !ok {
		t.reset(pos)
		t.restricted = limits.Moves != nil
		return
	}
	t.root, t.rootPos = found, pos.Clone()
	if t.base, t.basePos = found, t.rootPos; limits.Wait {
		t.base, t.basePos = base, basePos
	}
	t.reprove(t.at(found))
}

// find looks for a position at most so many plies below a node that has been
// visited, whose position it takes and restores.
func (t *tree) find(at nodeID, pos search.Position, key uint64, plies int) (nodeID, bool) {
	n := t.at(at)
	node := pos.Enter()
	switch {
	case node.SearchKey == key:
		return at, n.visits > 0 && !node.Over
	case plies == 0 || node.Over:
		return 0, false
	}
	for i, left := n.first.firstNode(), n.children(); left > 0; i, left = t.after(i), left-1 {
		if m := t.at(i); m.visits > 0 {
			pos.Do(m.move)
			found, ok := t.find(i, pos, key, plies-1)
			pos.Undo(m.move)
			if ok {
				return found, true
			}
		}
	}
	return 0, false
}

// reprove derives a new root's result from its children: a move is wanted even if
// the result is known.
func (t *tree) reprove(n *node) {
	if n.proven == 0 {
		return
	}
	n.proven = 0
	if n.children() == 0 {
		// Nothing is known of its moves.
		*n = node{}
		return
	}
	t.refresh(n)
}
