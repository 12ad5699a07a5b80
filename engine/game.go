package engine

import (
	"sparring/engine/search"
	"sparring/game"
)

// Searcher plays games of one kind. It is safe for concurrent use. Alpha-beta
// is one; where a game is better served otherwise, another can stand beside it.
type Searcher interface {
	// NewGame opens a game. What is learnt in it, and the process of a program
	// that plays it, belong to that game alone, until its Close. The error wraps
	// game.ErrRules for rules of another game.
	NewGame(GameOptions) (Game, error)
	// Close frees what the searcher holds besides memory. Its games are closed
	// first; a search that still runs may end with an error.
	Close() error
}

// GameOptions say what a game is opened for.
type GameOptions struct {
	ID    string      // for logs and error texts
	Rules *game.Rules // that it is played by; nil is any rules of the searcher's game
	// Seed seeds all random choices, together with the position and its ply: the
	// same position of a game gets the same choice after a restart.
	Seed uint64
	// OwnTable: the hash table is not shared with other games, and empty at the
	// start.
	OwnTable bool
	// Reproducible: a move depends on the position, the limits of its search and
	// the seed alone, if these are no limits of time. The game has its own table,
	// one thread, and searches each position as if it were the first.
	Reproducible bool
}

// Game is a game that a Searcher plays, for one player or both. Its methods may
// be called by any goroutine. There is one search at a time: another one begins
// when the one before has ended, which Running.Stop hastens.
type Game interface {
	// Options are those that the game was opened with.
	Options() GameOptions
	// Ready returns when a search can begin: when a program has been started, if
	// one plays. Whoever keeps a clock calls it first. The error is a *Fault.
	Ready() error
	// Search starts to search a position, which it copies, and returns at once.
	// Report, if not nil, is called from another goroutine, which waits for it.
	// The error wraps game.ErrOver where the game has ended, and
	// game.ErrIllegal where Limits.Moves has a move that is not legal.
	Search(p game.Position, l search.Limits, report func(search.Info)) (Running, error)
	// Describe says who plays the game, and how.
	Describe() Description
	// Close stops the search under way and frees what the game holds.
	Close() error
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

// Description says who plays a game, and with what settings: for records, and
// for the other side. What is not known, or does not apply, is zero.
type Description struct {
	Spec  string // as package playerspec reads it
	Name  string // of the engine, as it gives it itself: "Fairy-Stockfish 14.0.1 XQ"
	Build string // its version, likewise, where that is apart from the name
	Level int
	// Elo is the level's measured strength, over the beginner.
	Elo          *float64
	Nodes        uint64 // limit of every search
	Depth        int    // limit of every search
	HashMB       int
	Threads      int
	Book         string
	TableMen     int // largest number of men in its endgame tables
	Eval         string
	Seed         uint64
	Reproducible bool
}

// OurName is what our own engine calls itself.
const OurName = "sparring"

// ProbeTable is what the hash table of a game knows of a position, for debugging a
// search; searches may run meanwhile. Ok is false where nothing is stored, or
// the game is played by a program. A game that wraps another has a method
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
