package otb

import (
	"time"

	"sparring/game"
	"sparring/record"
)

// Kind is what an entry does.
type Kind string

// The kinds of entry, with the fields that they need besides At.
const (
	Start    Kind = "start"    // the clock of the seat to act begins to run
	Decision Kind = "decision" // our engine has chosen Move, with Think
	Move     Kind = "move"     // Move was made on the board; By says who chose ours
	Undo     Kind = "undo"     // the last move was entered wrongly: another one was made at its time
	Unplayed Kind = "unplayed" // no move was made at the times of those taken back
	SetClock Kind = "clock"    // the clock of Seat shows LeftMS and Periods
	Stop     Kind = "stop"     // both clocks stand
	Go       Kind = "go"       // the clock of the seat to act runs again
	Offer    Kind = "offer"    // Seat offers a draw
	Decline  Kind = "decline"  // the other seat declines it
	Note     Kind = "note"     // Text, for the record
	PlayOn   Kind = "play-on"  // the arbiter does not agree that the rules end the game here
	End      Kind = "end"      // the game ended: Result, Reason, Text
	Reopen   Kind = "reopen"   // the end was entered by mistake
	Resume   Kind = "resume"   // the program is back; it was away from From
	Confirm  Kind = "confirm"  // the clocks are right after Resume
	Stood    Kind = "stood"    // the clocks had stood while the program was away
	SetWall  Kind = "wall"     // somebody set the machine's clock: from now on At is AheadMS ahead of it
)

// Entry is a line of the journal: something that the operator entered, or that the
// engine decided.
type Entry struct {
	At      time.Time     `json:"at"` // by the table's clock, which begins as the machine's
	Kind    Kind          `json:"entry"`
	Seat    game.Seat     `json:"seat,omitempty"`
	Move    string        `json:"move,omitempty"` // as Position.Format writes it
	By      By            `json:"by,omitempty"`
	Think   *record.Think `json:"think,omitempty"`
	LeftMS  int64         `json:"left_ms,omitempty"`
	Periods int           `json:"periods,omitempty"`
	From    time.Time     `json:"from,omitzero"`
	AheadMS int64         `json:"ahead_ms,omitempty"`
	Result  game.Result   `json:"result,omitempty"`
	Reason  game.Reason   `json:"reason,omitempty"`
	Text    string        `json:"text,omitempty"`
}

// By says who chose a move of ours.
type By string

// Who chose a move; "" is the opponent.
const (
	ByEngine   By = "engine"
	ByOperator By = "operator"
)
