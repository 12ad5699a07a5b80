package play

import (
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/protocol"
)

// EventKind tells events apart.
type EventKind string

// The kinds of event.
const (
	GameStarted EventKind = "start"    // or taken over: Ply says
	MovePlayed  EventKind = "move"     // by either side: Seat says whose
	Thinking    EventKind = "thinking" // how the search for a move, or the pondering, goes
	GameEnded   EventKind = "end"      // Outcome says how; Undecided where the seat was given up
)

// Event is what a live display shows of a game.
type Event struct {
	Kind     EventKind
	Player   protocol.PlayerID
	Game     protocol.GameID
	Terms    protocol.Terms
	Opponent protocol.Holder
	You      game.Seat        // the player's
	Seat     game.Seat        // who moved
	Ply      int              // plies played
	Move     string           // the one just played
	Clocks   [2]time.Duration // budgets left, by seat; 0 without a clock
	Analysis *Analysis        // of the own move just played, or of the search as it goes
	Outcome  game.Outcome
}

// Analysis is what was thought of a move.
type Analysis struct {
	search.Result
	Line        []string      // the principal variation as text
	Spent       time.Duration // from the opponent's move to the decision
	Expected    string        // the move of the opponent that was pondered on; "": none
	PonderHit   bool          // the search began on the opponent's time
	PonderSaved time.Duration // how long it had run there
	Pondering   bool          // it still runs there
}
