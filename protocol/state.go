package protocol

import (
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// Status is the phase of a game.
type Status string

// The phases.
const (
	Playing  Status = "playing"
	Halted   Status = "halted" // the clocks stand: the platform pauses, another referee goes on
	Finished Status = "finished"
)

// SeatClock is one clock at a moment.
type SeatClock struct {
	LeftMS  int64 `json:"left_ms"`
	Periods int   `json:"periods,omitempty"`
}

// ClockOf converts a clock's state to its form on the wire.
func ClockOf(st clock.State) SeatClock {
	return SeatClock{LeftMS: st.Left.Milliseconds(), Periods: st.Periods}
}

// State is the clock's state again.
func (c SeatClock) State() clock.State {
	return clock.State{Left: time.Duration(c.LeftMS) * time.Millisecond, Periods: c.Periods}
}

// Clocks are both clocks at the message's server time, by seat. Running is
// the seat whose clock is going; absent when both stand.
type Clocks struct {
	Seats   [2]SeatClock `json:"seats"`
	Running *game.Seat   `json:"running,omitempty"`
	// UsedMS is how much of its current period (byo-yomi after the main time,
	// or fixed per move) the seat to act has used already, which Seats do
	// not show: its budget is what its seat clock allows, less this.
	UsedMS int64 `json:"used_ms,omitempty"`
}

// Holder is who sits on a seat.
type Holder struct {
	Player   PlayerID   `json:"player"`
	Display  string     `json:"display,omitempty"`
	Kind     Kind       `json:"kind"`
	Rating   int        `json:"rating,omitempty"`
	Build    string     `json:"build,omitempty"`
	Instance InstanceID `json:"instance,omitempty"` // "": the seat is vacant
	Epoch    uint64     `json:"epoch"`              // raised whenever the seat changes hands
}

// Snapshot is all there is to know of a game: whoever has the latest needs
// no earlier one.
type Snapshot struct {
	Game    GameID    `json:"game"`
	Terms   Terms     `json:"terms"`
	Pool    Pool      `json:"pool,omitempty"`
	Started time.Time `json:"started"`
	Holders [2]Holder `json:"holders"` // by seat
	Moves   []string  `json:"moves"`   // all of them, from the start position
	Turn    game.Seat `json:"turn"`
	Key     string    `json:"key"` // of the position, 16 hex digits
	Clocks  Clocks    `json:"clocks"`
	// DrawBy and TakebackBy are the seats whose offers stand open.
	DrawBy     *game.Seat   `json:"draw_by,omitempty"`
	TakebackBy *game.Seat   `json:"takeback_by,omitempty"`
	Status     Status       `json:"status"`
	Outcome    game.Outcome `json:"outcome"`
}

// State is what a player is told of its game, on to.<player>.game.<id>. Each
// carries everything, so a lost one costs nothing; one with a lower Seq than
// the last seen is out of date and dropped.
type State struct {
	V int `json:"v"`
	// To is the subject that the message was sent on. Within an account
	// anybody can have an answer delivered to any subject by naming it as
	// the reply subject of a request; no answer has this field, so that a
	// receiver can tell.
	To         string    `json:"to"`
	Seq        uint64    `json:"seq"` // of the game's log
	ServerTime time.Time `json:"server_time"`
	You        game.Seat `json:"you"`
	Snapshot
	Receipt *Receipt `json:"receipt,omitempty"` // of the last move
}

// EventKind is what happened.
type EventKind string

// The events of a game's log.
const (
	EventStart    EventKind = "start"    // the grant: the game exists from here on
	EventMove     EventKind = "move"     // Snapshot.Moves has it last
	EventOffer    EventKind = "offer"    // a draw or takeback was offered, declined or lapsed
	EventTakeback EventKind = "takeback" // moves were taken back
	EventSeat     EventKind = "seat"     // a seat was vacated or taken: see Holders
	EventTakeover EventKind = "takeover" // another referee, with a higher Term
	EventHalt     EventKind = "halt"     // clocks stopped for a pause of the platform; a takeover goes on
	EventSnapshot EventKind = "snapshot" // the log goes on after entries that could not be stored: Text says which
	EventEnd      EventKind = "end"      // Outcome says how; as the first entry: the challenge came to nothing
	EventRecorded EventKind = "recorded" // the record of the ended game is stored; nothing follows
)

// Event is one entry of a game's log (game.<id>.log) and, republished, what
// spectators see (watch.<id>). It carries the snapshot after it, so that the
// last one suffices to run the game.
type Event struct {
	V    int       `json:"v"`
	Kind EventKind `json:"kind"`
	// Index counts the entries of this game's log from 1.
	Index uint64     `json:"index"`
	Term  uint64     `json:"term"`           // of the referee that wrote it
	Time  time.Time  `json:"time"`           // when it was written
	Seat  *game.Seat `json:"seat,omitempty"` // whose doing it was
	// Request is the id of the request that caused it, so that its
	// repetition is known for a duplicate even after a change of referee.
	Request string `json:"request,omitempty"`
	// RunningSince is when the running clock of the snapshot was started
	// or last brought up to date.
	RunningSince time.Time `json:"running_since,omitzero"`
	// TurnMS is what the seat to act has been charged for this turn so far;
	// the snapshot's clocks are without it.
	TurnMS int64 `json:"turn_ms,omitempty"`
	Snapshot
	Receipt *Receipt `json:"receipt,omitempty"` // for a move
	Dispute *Dispute `json:"dispute,omitempty"` // why the game is void
	Text    string   `json:"text,omitempty"`    // for people: why a seat was vacated, what is in dispute
}

// Dispute is a disagreement on the position between a mover and the referee.
type Dispute struct {
	Move    string `json:"move"`    // after which
	Claimed string `json:"claimed"` // position key after it, by the mover
	Ruled   string `json:"ruled"`   // and by the referee
}

// Challenge is a stored challenge (challenge.<id>.<pool>): a match with one or two
// open seats.
type Challenge struct {
	V     int    `json:"v"`
	Game  GameID `json:"game"` // the id of the game to be: the grant is the first entry of its log
	Terms Terms  `json:"terms"`
	// Seats by seat: taken already, or whom to ask.
	Seats   [2]SeatWanted `json:"seats"`
	Created time.Time     `json:"created"`
	Expires time.Time     `json:"expires"`
}

// SeatWanted is a seat of a challenge. Player alone: any instance of the
// player, asked in its own pool; with Instance: taken; Pool alone: whoever
// takes it there.
type SeatWanted struct {
	Player   PlayerID   `json:"player,omitempty"`
	Instance InstanceID `json:"instance,omitempty"`
	Pool     Pool       `json:"pool,omitempty"`
}
