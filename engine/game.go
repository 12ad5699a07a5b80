package engine

import (
	"context"

	"sparring/engine/search"
	"sparring/game"
)

// Searcher plays games of one kind. It is safe for concurrent use. [Engine] is the
// alpha-beta searcher; a kind of game may have another.
type Searcher interface {
	// NewGame opens a game. What is learnt in a game belongs to it until Close,
	// and so does the process of an external engine. The error wraps
	// game.ErrRules for rules of another kind of game.
	NewGame(GameOptions) (Game, error)
	// Close frees resources other than memory. Close the games first: searches
	// that still run end, maybe with an error.
	Close() error
}

// GameOptions set up a Game.
type GameOptions struct {
	ID    string      // for logs and error texts
	Rules *game.Rules // nil: any rules of the searcher's kind of game
	// Seed seeds all random choices, together with the position and its ply. The
	// same position gets the same choice, also after a restart.
	Seed uint64
	// OwnTable gives the game a hash table of its own, which is empty at first.
	// Else it shares one with other games.
	OwnTable bool
	// Reproducible makes a move depend only on the position, the seed and the
	// limits of the search, if none of these is a limit of time: a search has one
	// thread and starts with empty tables, which it gives back at its end. OwnTable
	// then has no effect.
	Reproducible bool
}

// Game is a game that a Searcher plays, for one player or both. Its methods may
// be called by any goroutine. It has one search at a time: a search waits for the
// end of the one before.
type Game interface {
	// Options returns the options that the game was opened with.
	Options() GameOptions
	// Ready waits until a search can begin. An external engine may have to be
	// started, which takes time that should not be on the clock. The error is a
	// *Fault.
	Ready() error
	// Search starts to search a position, which it copies, and returns at once.
	// Report, if not nil, is called from another goroutine; the search waits for
	// it. The error wraps game.ErrOver if the game has ended, and
	// game.ErrIllegal if Limits.Moves has an illegal move.
	Search(p game.Position, l search.Limits, report func(search.Info)) (Running, error)
	// Describe returns the engine of the game and its settings. It may be called
	// after Close.
	Describe() Description
	// Close stops the search under way and frees what the game holds.
	Close() error
}

// Ready waits until a search of a game can begin, see Game.Ready, or until ctx ends: then
// it closes the game, and the error is the cause of ctx.
func Ready(ctx context.Context, g Game) error {
	keep := context.AfterFunc(ctx, func() { g.Close() }) // ends the wait
	err := g.Ready()
	if !keep() {
		return context.Cause(ctx)
	}
	return err
}

// Running is a search under way. Its methods may be called by any goroutine
// at any time; calls after its end do nothing.
type Running interface {
	// PonderHit sets the limits of a search that was started with Limits.Wait.
	PonderHit(l search.Limits)
	// Stop ends it.
	Stop()
	// Pause makes it use no core until Resume. Its clock runs meanwhile, but no
	// limit ends it.
	Pause()
	Resume()
	// Done is closed when it has ended. Wait waits for that and returns the
	// result.
	Done() <-chan struct{}
	Wait() search.Result
}

// Description tells who plays a game, and with what settings, for records and for
// the other side. A zero field is unknown or does not apply.
type Description struct {
	Spec  string // see package playerspec
	Name  string // as the engine gives it: "Fairy-Stockfish 14.0.1 XQ"
	Build string // its version as it gives it, unless that is part of the name
	Level int
	// Elo is the measured strength of the level, relative to the beginner.
	Elo          *float64
	EloError     float64 // of Elo, either way, with 95 % confidence
	Nodes        uint64  // limit of every search
	Depth        int     // limit of every search
	HashMB       int
	Threads      int
	Book         string
	TableMen     int // largest number of men in its endgame tables
	Eval         string
	Seed         uint64
	Reproducible bool
}

// OurName is the name of our own engine.
const OurName = "sparring"

// ProbeTable returns the entry of a position in a game's hash table, to debug a
// search. It may be called while searches run. Ok is false if the position has no
// entry, and for external engines and reproducible games. A Game that wraps another has a method
// Unwrap() Game.
func ProbeTable(g Game, p game.Position) (known search.TableEntry, ok bool) {
	for g != nil {
		if k, ok := g.(interface {
			ProbeTable(game.Position) (search.TableEntry, bool)
		}); ok {
			return k.ProbeTable(p)
		}
		u, ok := g.(interface{ Unwrap() Game })
		if !ok {
			break
		}
		g = u.Unwrap()
	}
	return search.TableEntry{}, false
}
