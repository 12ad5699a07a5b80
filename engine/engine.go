// Package engine plays games. [New] makes our engine for a kind of game, and a
// [Searcher] like it opens games; a [Pool] schedules the searches of many games
// on the cores. It is built on one alpha-beta kernel (package search) and on what
// each kind of game adds to that (package adapter).
package engine

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

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
	// Tables are endgame tables, nil for none. Only Xiangqi uses them.
	Tables xiangqi.Tables
}

// DefaultHash is the default size of a hash table, in bytes.
const DefaultHash = 64 << 20

// MostHash returns the largest hash table that this machine has memory for, in
// bytes: three quarters of its memory. Allocating more may kill the process.
func MostHash() int {
	if m := memory(); m > 0 {
		return int(min(m/4*3, math.MaxInt))
	}
	return math.MaxInt
}

// Engine is the alpha-beta searcher for one game.
type Engine struct {
	game    string
	adapter adapter.Adapter
	params  search.Params
	options Options
	shared  func() *search.Kernel // of the games that share a hash table, made when first used
	private *search.Kernel        // of the games and searches with tables of their own
	tables  *search.Tables        // for private
}

// New makes an engine for a kind of game. The error wraps game.ErrRules for an
// unknown one.
func New(gameName string, o Options) (*Engine, error) {
	a, err := Adapter(gameName)
	if err != nil {
		return nil, err
	}
	if o.HashBytes < 0 || o.Threads < 0 {
		return nil, fmt.Errorf("engine: %d bytes of hash, %d threads: must not be negative", o.HashBytes, o.Threads)
	}
	if most := MostHash(); o.HashBytes > most {
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
	o.Threads = max(o.Threads, 1)
	return &Engine{
		game: gameName, adapter: a, params: params, options: o,
		shared:  sync.OnceValue(func() *search.Kernel { return search.New(params, search.NewTable(o.HashBytes)) }),
		private: search.New(params, search.NewTable(0)), tables: search.NewTables(o.HashBytes),
	}, nil
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
	g := &ownGame{engine: e, options: o}
	switch {
	case o.Reproducible:
		g.game = e.private.NewGame(search.GameOptions{Fresh: e.tables})
	case o.OwnTable:
		g.table = e.tables.Take()
		g.game = e.private.NewGame(search.GameOptions{Table: g.table})
	default:
		g.game = e.shared().NewGame(search.GameOptions{})
	}
	return g, nil
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
