package play

import (
	"time"

	"sparring/engine"
	"sparring/game"
	"sparring/game/clock"
)

// Thinker finds moves. It gets whole game positions, so it is also who
// decides the choices of an opening procedure: they are moves like any other.
// It is safe for concurrent use.
type Thinker interface {
	// NewGame opens a game for the player whose engine a spec names, as package
	// playerspec reads it; "" is our own engine.
	NewGame(spec string, o engine.GameOptions) (Game, error)
}

// Game is a game that the Thinker plays for a player.
type Game interface {
	// Ready returns when the first search can begin: a program may have to be
	// started, which no clock should pay for.
	Ready() error
	// Think starts to think and returns at once. The error says why it can't.
	Think(Task) (Thought, error)
	// Close ends the game, when no search of it runs any more.
	Close() error
}

// Task is a position to think about.
type Task struct {
	Position game.Position // the thinker's own from here on
	Clock    Clock         // not for pondering
	// Ponder: think without limits until PonderHit or Stop, with cores that nobody
	// else needs.
	Ponder  bool
	Nodes   uint64 // nodes of the whole search at most; 0: no such limit
	Threads int
	// Watch, if set, is told how the thinking goes. It must not block.
	Watch func(Result)
}

// Clock is the time that a move has.
type Clock struct {
	Spec         clock.Spec
	Mine, Theirs clock.State // at the moment At
	At           time.Time   // since then the mover's clock runs
	Overhead     time.Duration
}

// Thought is a search under way. Its methods may be called by any goroutine.
type Thought interface {
	// PonderHit tells a pondering search that the expected move was played: it
	// now is a search for a move, under the clock.
	PonderHit(Clock)
	// Stop ends the search at once; again it does nothing.
	Stop()
	// Wait blocks until the search has ended. A search that was stopped
	// before it had a move says NoMove.
	Wait() (Result, error)
}

// Result is what thinking found.
type Result struct {
	Move     game.Move
	Ponder   game.Move // the expected reply; NoMove if unknown
	Score    int       // in the game's unit, from the mover's side
	WinProb  float64   // winning chance of the mover, 0 to 1, draws half
	Depth    int
	SelDepth int
	Nodes    uint64
	Time     time.Duration
	PV       []game.Move
	Source   string // "search", "book", ...: where the move is from

	// Resign gives the game up, OfferDraw offers a draw with the move: outside
	// engines may.
	Resign, OfferDraw bool
}
