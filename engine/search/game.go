package search

import (
	"container/list"
)

// GameOptions set up a Game.
type GameOptions struct {
	// Table is a hash table for this game alone; nil is the kernel's, which
	// games share.
	Table *Table
	// Fresh, if not nil, lends every search an empty hash table, in place of
	// Table, and the search starts with empty histories. With one thread and no
	// limit of time its result then depends on position and limits alone.
	Fresh *Tables
	// Variety is in the evaluations of all searches of the game.
	Variety Variety
}

// Game is a game whose positions are searched one after another, with what its
// earlier searches have learnt: history tables, one set for each worker, and
// the hash table if the game has its own. No other game sees them.
//
// Histories are large (8 MB for each worker in Xiangqi). A kernel keeps those
// of the games that were searched last, as many bytes as its hash table has but
// at least 128 MB, and ThreadsPerCore of them for each core; a game that lost its
// own starts with empty ones. Games with their own table are exempt: they keep
// their histories until Close, so that other games have no influence on them.
// Nothing is kept of a search of less than keepNodes.
type Game struct {
	k       *Kernel
	options GameOptions
	table   *Table // nil if each search has its own

	queue Queue

	// Guarded by k.mu.
	histories []*history
	idle      *list.Element // in k.idle
	closed    bool
}

// NewGame opens a game. Close it when it has ended.
func (k *Kernel) NewGame(o GameOptions) *Game {
	g := &Game{k: k, options: o, table: k.table}
	switch {
	case o.Fresh != nil:
		g.table = nil
	case o.Table != nil:
		g.table = o.Table
	}
	return g
}

// Start begins a search of a position, which it clones. A game has one search
// at a time: if an earlier one is still running, this one waits for its end.
// Report, if not nil, is called from the search's goroutine after every
// iteration and line; the search waits for it.
func (g *Game) Start(pos Position, limits Limits, report func(Info)) *Search {
	positions := make([]Position, max(limits.Threads, 1))
	for i := range positions {
		positions[i] = pos.Clone()
	}
	return g.queue.Start(limits, report, func(s *Search) Result { return g.run(s, positions) })
}

// salt changes the game's keys in the hash table.
func (g *Game) salt() uint64 { return g.k.salt ^ g.options.Variety.salt() }

// run is the search: the first worker decides, the others fill the hash table
// for it (lazy SMP).
func (g *Game) run(s *Search, positions []Position) Result {
	workers := g.workers(s, positions)
	var iterate []func()
	for _, w := range workers {
		iterate = append(iterate, w.iterate)
	}
	s.RunWorkers(iterate...)
	result := workers[0].result()
	g.release(workers, result.Nodes)
	return result
}

// workers are ready to search the positions, with the game's histories.
func (g *Game) workers(s *Search, positions []Position) []*worker {
	histories := g.k.lendHistories(g, len(positions))
	table := g.table
	if g.options.Fresh != nil {
		table = g.options.Fresh.Take()
	}
	table.newSearch()
	workers := make([]*worker, len(positions))
	for i, pos := range positions {
		if g.options.Fresh != nil || !g.k.params.On.KeepHistory {
			histories[i].clear()
		}
		workers[i] = newWorker(g.k, s, table, pos, i, histories[i])
		workers[i].variety, workers[i].salt = g.options.Variety, g.salt()
	}
	return workers
}

// keepNodes is how many nodes of a search leave histories that are worth their memory. In
// a process of a thousand games whose bots search 50 nodes a move, those kept of a few
// were what the others had to clear, and most of its memory.
const keepNodes = 1000

// release takes back what the workers of a search have used. The search had so many nodes.
func (g *Game) release(workers []*worker, nodes uint64) {
	if g.options.Fresh != nil {
		g.options.Fresh.Put(workers[0].table)
	}
	k := g.k
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range workers {
		k.stacks = append(k.stacks, w.stack)
		if r, ok := w.pos.(Releaser); ok {
			r.Release()
		}
	}
	switch {
	case g.closed || g.options.Fresh != nil || !k.params.On.KeepHistory:
		k.dropHistories(g)
	case g.options.Table != nil: // they are the game's
	case nodes < keepNodes:
		k.dropHistories(g)
	default:
		g.idle = k.idle.PushBack(g)
	}
	k.trimHistories()
}

// Close stops the searches that run and gives the histories back. A search
// started later learns nothing from earlier ones.
func (g *Game) Close() {
	g.queue.Stop()
	g.k.mu.Lock()
	defer g.k.mu.Unlock()
	g.closed = true
	g.k.dropHistories(g)
	g.k.trimHistories()
}
