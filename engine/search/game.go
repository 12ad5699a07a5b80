package search

import (
	"container/list"
	"slices"
	"sync"
	"time"
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
}

// Game is a game whose positions are searched one after another, with what its
// earlier searches have learnt: history tables, one set for each worker, and
// the hash table if the game has its own. No other game sees them.
//
// Histories are large (8 MB for each worker in Xiangqi). A kernel keeps those
// of the games that were searched last, as many bytes as its hash table has but
// at least 128 MB; a game that lost its own starts with empty ones. Games with their
// own table are exempt: they keep their histories until Close, so that other
// games have no influence on them.
type Game struct {
	k       *Kernel
	options GameOptions
	table   *Table // nil if each search has its own

	mu         sync.Mutex
	unfinished []*Search // in the order of their starts

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
	s := &Search{game: g, began: time.Now(), report: report,
		stop: make(chan struct{}), released: make(chan struct{}), done: make(chan struct{})}
	s.setLimits(limits)
	if !limits.Wait {
		s.release()
	}
	positions := make([]Position, max(limits.Threads, 1))
	for i := range positions {
		positions[i] = pos.Clone()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var earlier *Search
	if n := len(g.unfinished); n > 0 {
		earlier = g.unfinished[n-1]
	}
	g.unfinished = append(g.unfinished, s)
	go s.run(earlier, positions)
	return s
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
		workers[i] = newWorker(s, table, pos, i, histories[i])
	}
	return workers
}

// release takes back what the workers of a search have used.
func (g *Game) release(s *Search, workers []*worker) {
	g.mu.Lock()
	g.unfinished = slices.DeleteFunc(g.unfinished, func(other *Search) bool { return other == s })
	g.mu.Unlock()
	if g.options.Fresh != nil {
		g.options.Fresh.Put(workers[0].table)
	}
	k := g.k
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range workers {
		k.stacks = append(k.stacks, w.stack)
	}
	switch {
	case g.closed || g.options.Fresh != nil || !k.params.On.KeepHistory:
		k.dropHistories(g)
	case g.options.Table == nil:
		g.idle = k.idle.PushBack(g)
	}
	k.trimHistories()
}

// Close stops the searches that run and gives the histories back. A search
// started later learns nothing from earlier ones.
func (g *Game) Close() {
	g.mu.Lock()
	searches := slices.Clone(g.unfinished)
	g.mu.Unlock()
	for _, s := range searches {
		s.Stop()
	}
	for _, s := range searches {
		s.Wait()
	}
	g.k.mu.Lock()
	defer g.k.mu.Unlock()
	g.closed = true
	g.k.dropHistories(g)
	g.k.trimHistories()
}
