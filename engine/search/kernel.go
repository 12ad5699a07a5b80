package search

import (
	"container/list"
	"runtime"
	"sync"

	"sparring/game"
)

// Kernel searches positions of one game by one set of parameters. Any number
// of its games may be searched at the same time.
type Kernel struct {
	params   Params
	table    *Table // shared by the games without one of their own
	salt     uint64 // changes the keys of the hash table by game
	needEval bool   // at inner nodes

	// Moves that late-move pruning searches, see Params.lmpCounts; nil without it.
	lmpImproving, lmpElsewhere []int

	mu     sync.Mutex
	stacks []*stack // unused, kept because they are large

	// History tables are assigned to games, see Game. Those of idle games and the
	// unused ones count against maxHistories.
	unused       []*history
	idle         list.List // of *Game: open, with histories, not being searched; least recently searched first
	histories    int       // that exist
	maxHistories int       // that may exist, if no more are in use
}

// minHistoryBytes is what a kernel may keep of history tables if its hash table
// is smaller: those of 15 games of Xiangqi.
const minHistoryBytes = 128 << 20

// ThreadsPerCore is how many threads of searches may share a core. A kernel keeps
// history tables for that many: allocating one takes longer than a search of few nodes.
const ThreadsPerCore = 8

// New makes a kernel for the game that the parameters describe. Kernels of
// several games and evaluations may share a table.
func New(params Params, table *Table) *Kernel {
	params.setDefaults()
	k := &Kernel{params: params, table: table, needEval: params.On.needEval()}
	if k.params.On.LMP {
		k.lmpImproving, k.lmpElsewhere = k.params.lmpCounts()
	}
	k.maxHistories = max(max(minHistoryBytes, table.Bytes())/historyBytes(&k.params), ThreadsPerCore*runtime.GOMAXPROCS(0))
	name := params.Game
	if params.Eval != "" {
		name += "/" + params.Eval
	}
	for i, c := range []byte(name) {
		k.salt ^= game.Zobrist(uint64(c), uint64(i))
	}
	return k
}

// Params returns the game's parameters.
func (k *Kernel) Params() *Params { return &k.params }

// takeStack returns an unused stack, or a new one.
func (k *Kernel) takeStack() *stack {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.stacks); n > 0 {
		st := k.stacks[n-1]
		k.stacks = k.stacks[:n-1]
		return st
	}
	return new(stack)
}

// lendHistories returns a game's histories for n workers.
func (k *Kernel) lendHistories(g *Game, n int) []*history {
	k.mu.Lock()
	defer k.mu.Unlock()
	if g.idle != nil {
		k.idle.Remove(g.idle)
		g.idle = nil
	}
	for len(g.histories) < n {
		g.histories = append(g.histories, k.takeHistory())
	}
	return g.histories[:n]
}

// takeHistory returns an empty history: an unused one, a new one, or, where there
// are enough, one of the game that has been idle for longest. The caller holds
// k.mu.
func (k *Kernel) takeHistory() *history {
	if len(k.unused) == 0 && k.histories >= k.maxHistories && k.idle.Len() > 0 {
		k.dropHistories(k.idle.Front().Value.(*Game))
	}
	n := len(k.unused)
	if n == 0 {
		k.histories++
		return newHistory(&k.params)
	}
	h := k.unused[n-1]
	k.unused = k.unused[:n-1]
	h.clear()
	return h
}

// dropHistories takes a game's histories away. The caller holds k.mu.
func (k *Kernel) dropHistories(g *Game) {
	if g.idle != nil {
		k.idle.Remove(g.idle)
		g.idle = nil
	}
	k.unused = append(k.unused, g.histories...)
	g.histories = nil
}

// trimHistories frees histories until there are no more than may be. The
// caller holds k.mu.
func (k *Kernel) trimHistories() {
	for k.histories > k.maxHistories {
		n := len(k.unused)
		switch {
		case n > 0:
			k.unused[n-1] = nil
			k.unused = k.unused[:n-1]
			k.histories--
		case k.idle.Len() > 0:
			k.dropHistories(k.idle.Front().Value.(*Game))
		default:
			return
		}
	}
}
