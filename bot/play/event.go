package play

import (
	"time"

	"sparring/engine/search"
	"sparring/game"
	"sparring/protocol"
)

// EventKind is what an event is about.
type EventKind string

// The kinds of event.
const (
	GameStarted EventKind = "start"    // or was taken over, if Ply > 0
	MovePlayed  EventKind = "move"     // of either side: see Seat
	Thinking    EventKind = "thinking" // progress of a search
	GameEnded   EventKind = "end"      // see Outcome; Undecided if the seat was given up
)

// Event is for live displays of a game.
type Event struct {
	Kind     EventKind
	Player   protocol.PlayerID
	Game     protocol.GameID
	Terms    protocol.Terms
	Opponent protocol.Holder
	You      game.Seat        // the player's
	Seat     game.Seat        // that moved
	Ply      int              // plies played
	Move     string           // the one just played
	Clocks   [2]time.Duration // budgets left, by seat; 0 without a clock
	Think    *Think           // of the own move just played, or of the search as it goes
	Outcome  game.Outcome
}

// Think is what we thought of a move: the result of its search, which a record keeps as a
// [record.Think].
type Think struct {
	search.Result
	Line        []string      // the principal variation as text
	Spent       time.Duration // from the opponent's move to the decision
	Expected    string        // the move of the opponent that was pondered on; "": none
	PonderHit   bool          // the search began on the opponent's time
	PonderSaved time.Duration // how long it had run by then
	Pondering   bool          // it still runs on the opponent's time
}
