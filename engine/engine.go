// Package engine thinks about positions of any game. [New] gives the searcher
// for a game; [Pool] lets the searches of many games share the cores. Below
// it stand the one kernel (package search) and what each game adds to it.
package engine

import (
	"fmt"
	"math"
	"slices"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/engine/xiangqi"
	"sparring/game"
	rules "sparring/game/xiangqi"
)

// Searcher thinks about positions of one game. It is safe for concurrent use.
// Alpha-beta is one; where a game is better served otherwise, another can
// stand beside it.
type Searcher interface {
	// Search starts to search a position, which it does not keep, and returns
	// at once. Report, if not nil, is called from another goroutine, which
	// waits for it. The error wraps game.ErrOver where the game has ended, and
	// game.ErrIllegal where Limits.Moves has a move that is not legal.
	Search(p game.Position, l search.Limits, report func(search.Info)) (Running, error)
}

// Running is a search under way. Its methods may be called by any goroutine
// at any time; calls that come too late do nothing.
type Running interface {
	// PonderHit gives a search that was started with Limits.Wait its limits.
	PonderHit(l search.Limits)
	// Stop ends it.
	Stop()
	// Pause makes it give its cores up, Resume go on. Its clock runs
	// meanwhile, but no limit ends it.
	Pause()
	Resume()
	// Done is closed when it has ended, Wait then gives the answer.
	Done() <-chan struct{}
	Wait() search.Result
}

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
	adapter adapter.Adapter
	kernel  *search.Kernel
	table   *search.Table
	threads int
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
	if o.Tables != nil && gameName == rules.Name {
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
	table := search.NewTable(o.HashBytes)
	return &Engine{a, search.New(params, table), table, max(o.Threads, 1)}, nil
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
func (e *Engine) Params() search.Params { return *e.kernel.Params() }

// Forget clears the hash table and all else that searches have learnt. No
// search may run meanwhile.
func (e *Engine) Forget() { e.kernel.Forget() }

// ProbeTable is what the hash table knows of a position, for debugging a search;
// searches may run meanwhile. Ok is false where nothing is stored.
func (e *Engine) ProbeTable(p game.Position) (known search.TableEntry, ok bool) {
	if p.Outcome().Over() {
		return search.TableEntry{}, false
	}
	pos, err := e.adapter.New(p)
	if err != nil {
		return search.TableEntry{}, false
	}
	return e.kernel.ProbeTable(pos)
}

// Search implements Searcher.
func (e *Engine) Search(p game.Position, l search.Limits, report func(search.Info)) (Running, error) {
	if err := Searchable(p, l); err != nil {
		return nil, err
	}
	if e.adapter.SelfLoss {
		if err := e.spare(p, &l); err != nil {
			return nil, err
		}
	}
	pos, err := e.adapter.New(p)
	if err != nil {
		return nil, err
	}
	if l.Threads == 0 {
		l.Threads = e.threads
	}
	return e.kernel.Start(pos, l, report), nil
}

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

// spare takes the moves that lose at once by the rules out of a search, unless
// all do: the kernel may judge a repetition otherwise than the rules, who have
// seen the whole game, and theirs is the last word.
func (e *Engine) spare(p game.Position, l *search.Limits) error {
	legal := l.Moves
	if legal == nil {
		legal = p.Legal(nil)
	}
	p = p.Clone()
	lost := game.WonBy(p.Turn().Other())
	var good []game.Move
	for _, m := range legal {
		if err := p.Play(m); err != nil {
			return fmt.Errorf("legal move %s: %w", p.Format(m), err)
		}
		if p.Outcome().Result != lost {
			good = append(good, m)
		}
		p.Undo()
	}
	if len(good) > 0 && len(good) < len(legal) {
		l.Moves = good
	}
	return nil
}
