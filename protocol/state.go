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
	Playing  Status = "playing"  // in progress
	Halted   Status = "halted"   // the clocks are stopped until a referee continues the game
	Finished Status = "finished" // over: see Outcome
)

// SeatClock is the clock of one seat.
type SeatClock struct {
	LeftMS  int64 `json:"left_ms"`           // main time left
	Periods int   `json:"periods,omitempty"` // byo-yomi periods left
}

// ClockOf converts the state of a clock to its form in messages.
func ClockOf(st clock.State) SeatClock {
	return SeatClock{LeftMS: st.Left.Milliseconds(), Periods: st.Periods}
}

// State converts the clock back.
func (c SeatClock) State() clock.State {
	return clock.State{Left: time.Duration(c.LeftMS) * time.Millisecond, Periods: c.Periods}
}

// Clocks are both clocks at the server time of the message.
type Clocks struct {
	Seats   [2]SeatClock `json:"seats"`
	Running *game.Seat   `json:"running,omitempty"` // whose clock runs; absent if both are stopped
	// UsedMS is how much of its current period the seat to act has used: in
	// byo-yomi after the main time, or with a fixed time per move. Subtract it
	// from what Seats leaves that seat.
	UsedMS int64 `json:"used_ms,omitempty"`
}

// Holder is the player on a seat, and the instance that plays for it.
type Holder struct {
	Player   PlayerID   `json:"player"`
	Display  string     `json:"display,omitempty"`
	Kind     Kind       `json:"kind"`
	Rating   int        `json:"rating,omitempty"`
	Build    string     `json:"build,omitempty"`
	Instance InstanceID `json:"instance,omitempty"` // "" while the seat is vacant
	Epoch    uint64     `json:"epoch"`              // incremented when the seat changes hands
	// VacantSince is since when the seat has been vacant.
	VacantSince time.Time `json:"vacant_since,omitzero"`
	// GivenBack is the request that gave the seat back last. A new referee recognizes a
	// repetition of the request by it.
	GivenBack GivenBack `json:"given_back,omitzero"`
}

// GivenBack is a request by which an instance gave a seat back.
type GivenBack struct {
	Instance InstanceID `json:"instance"`
	ID       string     `json:"id"`
}

// Snapshot is the complete state of a game. The latest one replaces all others.
type Snapshot struct {
	Game       GameID     `json:"game"`
	Terms      Terms      `json:"terms"`
	Pool       Pool       `json:"pool,omitempty"`
	Started    time.Time  `json:"started"`
	Holders    [2]Holder  `json:"holders"` // by seat
	Moves      []string   `json:"moves"`   // all moves from the start position
	Turn       game.Seat  `json:"turn"`
	Key        string     `json:"key"` // of the position, 16 hex digits
	Clocks     Clocks     `json:"clocks"`
	DrawBy     *game.Seat `json:"draw_by,omitempty"`     // whose draw offer is open
	TakebackBy *game.Seat `json:"takeback_by,omitempty"` // whose takeback request is open
	// FirstMoveBy is when the game is called off if the seat to act has not made its
	// first move; absent once it has.
	FirstMoveBy time.Time `json:"first_move_by,omitzero"`
	// ForfeitMS is how long a seat may be vacant before its player loses.
	ForfeitMS int64        `json:"forfeit_ms,omitempty"`
	Status    Status       `json:"status"`
	Outcome   game.Outcome `json:"outcome"`
}

// State tells a player the state of its game, on to.<player>.game.<id>. Each
// message is complete, so a lost one does no harm. Drop a message that is older
// than the last one seen, see [StateMark.Outdates].
type State struct {
	V int `json:"v"`
	// To is the subject of this message. Receivers must check it: anybody in
	// the account can have an answer delivered to any subject, by naming it as
	// the reply subject of a request, but no answer has this field.
	To  string `json:"to"`
	Seq uint64 `json:"seq"` // of the game's log
	// Unkept counts the changes since that entry that could not be stored. States
	// are ordered by Seq, and those with the same Seq by Unkept.
	Unkept     uint64    `json:"unkept,omitempty"`
	ServerTime time.Time `json:"server_time"`
	You        game.Seat `json:"you"`
	Snapshot
	Receipt *Receipt `json:"receipt,omitempty"` // of the last move
}

func (m *State) version() int { return m.V }

// Order returns the place of the state among those of its game.
func (m *State) Order() StateOrder { return StateOrder{m.Seq, m.Unkept} }

// StateOrder orders the states of a game: by the last entry of its log, and by the
// changes since then that could not be stored.
type StateOrder struct{ Seq, Unkept uint64 }

// Before reports whether a state is older than another.
func (o StateOrder) Before(p StateOrder) bool {
	return o.Seq < p.Seq || o.Seq == p.Seq && o.Unkept < p.Unkept
}

// StateMark is what a player remembers of the newest state of a game that it has seen.
type StateMark struct {
	Order StateOrder
	At    time.Time // when it was sent, by the platform's clock
}

// Mark returns what to remember of the state.
func (m *State) Mark() StateMark { return StateMark{m.Order(), m.ServerTime} }

// rewoundAfter is longer than a referee that another one has replaced can go on sending
// states: it has lost its lease before that one begins.
const rewoundAfter = 5 * time.Second

// Outdates reports whether a state is older than the newest one, and to be dropped. One that
// was sent much later is not: it tells of a platform whose store has lost its last entries, by
// a power cut or because it was restored from a backup.
func (n StateMark) Outdates(st *State) bool {
	return st.Order().Before(n.Order) && st.ServerTime.Sub(n.At) < rewoundAfter
}

// EventKind is what an entry of a game's log reports.
type EventKind string

// The events of a game's log.
const (
	EventStart    EventKind = "start"    // the game was granted and begins
	EventMove     EventKind = "move"     // the last of Moves was played
	EventOffer    EventKind = "offer"    // a draw or takeback was offered, or the offer was declined or lapsed
	EventTakeback EventKind = "takeback" // moves were taken back
	EventSeat     EventKind = "seat"     // a seat was vacated or taken: see Holders
	EventTakeover EventKind = "takeover" // a new referee with a higher Term took over
	EventHalt     EventKind = "halt"     // the platform stopped the clocks, until the next takeover
	EventSnapshot EventKind = "snapshot" // the log continues after entries that could not be stored: see Text
	EventEnd      EventKind = "end"      // the game ended with Outcome, or, as the first entry, the challenge ended without a game
	EventRecorded EventKind = "recorded" // the record of the game is stored; this is the last entry
)

// Event is an entry of a game's log (game.<id>.log), which is republished to
// spectators (watch.<id>). It contains the snapshot after it, so that the last
// entry is enough to continue the game.
type Event struct {
	V    int       `json:"v"`
	Kind EventKind `json:"kind"`
	// Index is the number of the entry in this game's log, from 1.
	Index uint64     `json:"index"`
	Term  uint64     `json:"term"`           // of the referee that wrote it
	Time  time.Time  `json:"time"`           // when it was written
	Seat  *game.Seat `json:"seat,omitempty"` // whose action it was, or who did not take its seat
	// Request is the id of the request that caused the entry. A new referee
	// recognizes a repetition of the request by it.
	Request string `json:"request,omitempty"`
	// Earlier are the requests of earlier entries that could still be ruled on a second time:
	// they name the ply after this entry, or a later one that was taken back. A new referee
	// recognizes repetitions of them, too.
	Earlier []EarlierRequest `json:"earlier,omitempty"`
	// DrawOffered are the seats that have offered a draw since the last move, and
	// TakebackAsked those that have asked for a takeback. Each may do so once per move, also
	// under another referee.
	DrawOffered   []game.Seat `json:"draw_offered,omitempty"`
	TakebackAsked []game.Seat `json:"takeback_asked,omitempty"`
	// RunningSince is when the running clock of the snapshot started or was
	// last updated.
	RunningSince time.Time `json:"running_since,omitzero"`
	// TurnMS is what the seat to act has been charged for this turn so far. The
	// snapshot's clocks are already reduced by it.
	TurnMS int64 `json:"turn_ms,omitempty"`
	Snapshot
	Receipt *Receipt `json:"receipt,omitempty"` // for a move
	Dispute *Dispute `json:"dispute,omitempty"` // why the game ended
	Text    string   `json:"text,omitempty"`    // for people: why a seat was vacated, or what is in dispute
}

func (m *Event) version() int { return m.V }

// State returns the state that a player learns from the entry, of which seq is the sequence.
func (m *Event) State(to string, seq uint64, you game.Seat) State {
	return State{V: m.V, To: to, Seq: seq, ServerTime: m.Time, You: you, Snapshot: m.Snapshot, Receipt: m.Receipt}
}

// EarlierRequest is a request in a game that took effect.
type EarlierRequest struct {
	Seat game.Seat `json:"seat"` // whose it was
	ID   string    `json:"id"`
	Ply  int       `json:"ply"` // that it named
}

// Dispute is a disagreement about the position between a player and the referee.
type Dispute struct {
	Move    string `json:"move"`    // the move that led to the position
	Claimed string `json:"claimed"` // position key after the move, according to the player
	Ruled   string `json:"ruled"`   // position key after the move, according to the referee
}

// Challenge is a stored challenge (challenge.<id>.<pool>): a match with one or two
// open seats.
type Challenge struct {
	V     int    `json:"v"`
	Game  GameID `json:"game"` // the id that the game will have; the grant is the first entry of its log
	Terms Terms  `json:"terms"`
	// Seats says by seat whether it is taken, and otherwise whom to offer it to.
	Seats   [2]SeatWanted `json:"seats"`
	Created time.Time     `json:"created"`
	Expires time.Time     `json:"expires"`
	// Pairing is set in a game of a ladder that pairs whoever is free. If one of the
	// players does not take its seat at once, the pairing is off, so that the other
	// can be paired again.
	Pairing bool `json:"pairing,omitempty"`
}

// SeatWanted is a seat of a challenge. With Player and Instance it is taken. With
// Player alone it is offered in the player's own pool, with Pool alone in that
// pool.
type SeatWanted struct {
	Player   PlayerID   `json:"player,omitempty"`
	Instance InstanceID `json:"instance,omitempty"`
	Pool     Pool       `json:"pool,omitempty"`
}
