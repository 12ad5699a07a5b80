// Package engine plays games. [New] makes our engine for a kind of game, and a
// [Searcher] like it opens games; a [Pool] schedules the searches of many games
// on the cores. It is built on one alpha-beta kernel (package search), and on
// what each kind of game adds to it (package adapter).
package engine

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"sparring/engine/adapter"
	"sparring/engine/amazons"
	"sparring/engine/amazons/areas"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
	amazonsrules "sparring/game/amazons"
	rules "sparring/game/xiangqi"
)

// MaxThreads is the largest number of threads of an engine, as of other programs. Each has
// histories of its own, up to 8 MB: 100,000 of them took all the memory of a machine.
const MaxThreads = 512

// Options set up an engine.
type Options struct {
	HashBytes int // size of a hash table, DefaultHash when 0
	Threads   int // of a search whose Limits have none, 1 when 0
	// Switches turns heuristics of the kernel on or off, by the names of
	// search.Switches, to measure what each is worth.
	Switches map[string]bool
	// Numbers sets parameters of the kernel, by the names of search.NumberNames.
	Numbers map[string]int
	// Eval names one of the game's adapter.Evaluations; "" is the game's own.
	Eval string
	// Variety makes games differ (see search.Variety): evaluations err by up to so many
	// percentage points of winning chance, MaxVariety at most; 0 is none. The errors
	// depend on the position, GameOptions.Seed and VarietySeed. Copies of an engine that play each
	// other need different VarietySeeds to err independently.
	Variety     int
	VarietySeed uint64
	// Tables are endgame tables, nil for none. Only Xiangqi uses them.
	Tables xiangqi.Tables
	// Areas is a table of small areas, nil for none. Only Amazons uses it.
	Areas *areas.Table
}

// DefaultHash is the default size of a hash table, in bytes.
const DefaultHash = 64 << 20

// MaxHash returns the largest hash table that this machine has memory for, in
// bytes: three quarters of its memory. Allocating more may kill the process.
func MaxHash() int {
	if m := memory(); m > 0 {
		return int(min(m/4*3, math.MaxInt))
	}
	return math.MaxInt
}

// MaxVariety is the largest Options.Variety.
const MaxVariety = 50

// Engine is our searcher for one game.
type Engine struct {
	game    string
	adapter adapter.Adapter
	params  search.Params
	options Options
	open    func(GameOptions) kernelGame
}

// kernelGame is a game of the kernel, with a hash table of its own or a shared one.
type kernelGame interface {
	Start(search.Position, search.Limits, func(search.Info)) *search.Search
	ProbeTable(search.Position) (search.TableEntry, bool)
	Close()
}

// New makes an engine for a kind of game. The error wraps game.ErrRules for an
// unknown one.
func New(gameName string, o Options) (*Engine, error) {
	a, err := Adapter(gameName)
	if err != nil {
		return nil, err
	}
	if o.HashBytes < 0 || o.Threads < 0 || o.Threads > MaxThreads {
		return nil, fmt.Errorf("engine: %d bytes of hash, %d threads: must not be negative, and at most %d threads", o.HashBytes, o.Threads, MaxThreads)
	}
	if most := MaxHash(); o.HashBytes > most {
		return nil, fmt.Errorf("engine: %d MiB of hash: this machine has memory for %d", o.HashBytes>>20, most>>20)
	}
	if o.HashBytes == 0 {
		o.HashBytes = DefaultHash
	}
	if gameName != rules.Name {
		o.Tables = nil
	}
	if o.Tables != nil {
		a.New = xiangqi.Probing(o.Tables)
	}
	if gameName == amazonsrules.Name && o.Areas != nil {
		a.New = amazons.WithAreas(o.Areas)
	}
	a, err = a.WithEvaluation(o.Eval)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	params := a.Params()
	for name, on := range o.Switches {
		if err := params.On.Set(name, on); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
	}
	for name, n := range o.Numbers {
		if err := params.SetNumber(name, n); err != nil {
			return nil, fmt.Errorf("engine: %w", err)
		}
	}
	if o.Variety < 0 || o.Variety > MaxVariety {
		return nil, fmt.Errorf("engine: variety %d: want 0 to %d", o.Variety, MaxVariety)
	}
	o.Threads = max(o.Threads, 1)
	variety := func(g GameOptions) search.Variety {
		return search.Variety{Width: params.VarietyWidth(o.Variety), Seed: g.Seed ^ o.VarietySeed}
	}
	return &Engine{game: gameName, adapter: a, params: params, options: o, open: alphaBeta(params, o.HashBytes, variety)}, nil
}

// alphaBeta returns a function that opens games of the kernel. Games and searches
// with tables of their own have a kernel of their own; that of the games that
// share one is made when first used. Variety is that of a game.
func alphaBeta(params search.Params, hashBytes int, variety func(GameOptions) search.Variety) func(GameOptions) kernelGame {
	shared := sync.OnceValue(func() *search.Kernel { return search.New(params, search.NewTable(hashBytes)) })
	private, tables := search.New(params, search.NewTable(0)), search.NewTables(hashBytes)
	return func(o GameOptions) kernelGame {
		switch {
		case o.Reproducible:
			return private.NewGame(search.GameOptions{Fresh: tables, Variety: variety(o)})
		case o.OwnTable:
			table := tables.Take()
			return &tableGame{private.NewGame(search.GameOptions{Table: table, Variety: variety(o)}), func() { tables.Put(table) }}
		}
		return shared().NewGame(search.GameOptions{Variety: variety(o)})
	}
}

// tableGame is a game that gives its hash table back when it is closed.
type tableGame struct {
	*search.Game
	putBack func()
}

func (g *tableGame) Close() {
	g.Game.Close()
	g.putBack()
}

// Params returns the kernel's parameters for a kind of game, with eval as in
// Options.Eval. They tell what a score means (Params.WinProb) without an engine.
// Errors are those of [New].
func Params(gameName, eval string) (search.Params, error) {
	a, err := Adapter(gameName)
	if err != nil {
		return search.Params{}, err
	}
	if a, err = a.WithEvaluation(eval); err != nil {
		return search.Params{}, err
	}
	return a.Params(), nil
}

// Params returns the kernel's parameters, with the switches and numbers of the
// options.
func (e *Engine) Params() search.Params { return e.params }

// TableMen returns the largest number of men in its endgame tables, 0 without any.
func (e *Engine) TableMen() int {
	if e.options.Tables == nil {
		return 0
	}
	return e.options.Tables.Men()
}

// NewGame implements Searcher.
func (e *Engine) NewGame(o GameOptions) (Game, error) {
	if o.Rules != nil && o.Rules.Game != e.game {
		return nil, fmt.Errorf("%w: an engine for %s, not for %s", game.ErrRules, e.game, o.Rules.Game)
	}
	return &ownGame{engine: e, options: o, game: e.open(o)}, nil
}

// Close implements Searcher. An engine holds nothing but memory.
func (e *Engine) Close() error { return nil }

// Searchable checks a position and the moves to search. The error wraps
// game.ErrOver if the game has ended, and game.ErrIllegal if l.Moves has an illegal
// move.
func Searchable(p game.Position, l search.Limits) error {
	if out := p.Outcome(); out.Over() {
		return fmt.Errorf("%w: %s by %s", game.ErrOver, out.Result, out.Reason)
	}
	if l.Moves == nil {
		return nil
	}
	legal := p.Legal(nil)
	for _, m := range l.Moves {
		if !slices.Contains(legal, m) {
			return fmt.Errorf("%w: move %#x to search", game.ErrIllegal, uint32(m))
		}
	}
	return nil
}
