// Package engine thinks about positions of any game. [New] gives the searcher
// for a game; [Pool] lets the searches of many games share the cores. Below
// it stand the one kernel (package search) and what each game adds to it.
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
	HashBytes int // of its own hash table, DefaultHash when 0
	Threads   int // for searches whose Limits name none, 1 when 0
	// Switches turns heuristics of the kernel on or off, by the names of
	// search.Switches: to measure what each is worth.
	Switches map[string]bool
	// Numbers sets numbers of the kernel's parameters, by the names of
	// search.NumberNames, likewise.
	Numbers map[string]int
	// Eval names one of the game's adapter.Evaluations; "" is the game's own.
	Eval string
	// Tables are endgame tables for Xiangqi; nil is none. Other games have no
	// use for them.
	Tables xiangqi.Tables
}

// DefaultHash is the size of a hash table where none is named.
const DefaultHash = 64 << 20

// MostHash is the largest hash table that this machine has memory for, in bytes:
// three quarters of it. To ask the system for more ends the process.
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
	apart   *search.Kernel        // of the games with tables of their own
	tables  tables                // for apart
}

// New makes the engine for a game; the error wraps game.ErrRules for a game
// that has none.
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
		shared: sync.OnceValue(func() *search.Kernel { return search.New(params, search.NewTable(o.HashBytes)) }),
		apart:  search.New(params, search.NewTable(0)), tables: tables{bytes: o.HashBytes},
	}, nil
}

// Params are the parameters that a game is searched with, eval as in
// Options.Eval; the error is that of [New]. They tell what a score means
// (Params.WinProb) without an engine.
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

// Params are the parameters of the engine's game.
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
	if o.OwnTable || o.Reproducible {
		g.table = e.tables.take()
		g.game = e.apart.NewGame(search.GameOptions{Table: g.table, Fresh: o.Reproducible})
	} else {
		g.game = e.shared().NewGame(search.GameOptions{})
	}
	return g, nil
}

// Close implements Searcher: all that an engine holds is memory.
func (e *Engine) Close() error { return nil }

// Searchable is why there is nothing to search: an error that wraps
// game.ErrOver where the game has ended, and game.ErrIllegal where l.Moves has a
// move that is not legal.
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
