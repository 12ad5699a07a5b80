package protocol

import (
	"time"

	"sparring/game"
)

// MoveRequest plays a move.
type MoveRequest struct {
	Header
	Instance InstanceID `json:"instance"`
	Epoch    uint64     `json:"epoch"`
	Ply      int        `json:"ply"` // plies played before this move
	Move     string     `json:"move"`
	Key      string     `json:"key,omitempty"`    // position key after the move, 16 hex digits; checked if present
	LagMS    int64      `json:"lag_ms,omitempty"` // the sender's estimate of the network delay; credited to people only, within a quota
	// AnswerOnly says that the answer is enough for the sender: the platform need not send
	// it the state after the move, unless the game has ended or the same seat acts again.
	AnswerOnly bool `json:"answer_only,omitempty"`
	// Watching says that the sender receives the entries of the game's log on watch.<id>, as
	// they are republished: the platform need not send it the state after a move of the
	// opponent that passes the turn to it. That holds for the seat's epoch, until a move
	// that does not say so. See HelloAnswer.Watch.
	Watching bool `json:"watching,omitempty"`
}

// Step is a step in the negotiation of a draw or a takeback.
type Step string

// The steps of a negotiation.
const (
	StepOffer   Step = "offer"   // make an offer; of a draw, also accept the opponent's
	StepAccept  Step = "accept"  // accept the opponent's offer
	StepDecline Step = "decline" // decline the opponent's offer, or withdraw one's own
)

// ActRequest resigns, or is a step in the negotiation of a draw or a takeback.
type ActRequest struct {
	Header
	Instance InstanceID `json:"instance"`
	Epoch    uint64     `json:"epoch"`
	Ply      int        `json:"ply"`
	Step     Step       `json:"step,omitempty"` // absent in a resignation
	// Fault, in a resignation, says that the player's engine failed, and how: crash,
	// hang, illegal, flood, memory or start. It becomes the reason for the end. A step has
	// none.
	Fault game.Reason `json:"fault,omitempty"`
}

// ChatRequest sends a text to the opponent.
type ChatRequest struct {
	Header
	Instance InstanceID `json:"instance"`
	Epoch    uint64     `json:"epoch"`
	Text     string     `json:"text"` // up to 500 runes
}

// Receipt says how much time a move was charged.
type Receipt struct {
	Ply       int       `json:"ply"`                 // plies played, including this move
	Received  time.Time `json:"received"`            // when the move reached the referee
	LagMS     int64     `json:"lag_ms"`              // credited for the network
	ChargedMS int64     `json:"charged_ms"`          // taken off the clock
	LeftMS    int64     `json:"left_ms"`             // on the mover's clock, including the increment
	Periods   int       `json:"periods,omitempty"`   // byo-yomi periods left
	WaitedMS  int64     `json:"waited_ms,omitempty"` // in the referee's queue; not charged
}

// ActAnswer answers an action in a game.
type ActAnswer struct {
	Answer
	Game    GameID   `json:"game,omitempty"`
	Seq     uint64   `json:"seq,omitempty"`    // of the game's log after the action
	Unkept  uint64   `json:"unkept,omitempty"` // as in State
	Ply     int      `json:"ply,omitempty"`    // plies played after the action
	Clocks  *Clocks  `json:"clocks,omitempty"`
	Receipt *Receipt `json:"receipt,omitempty"` // for a move
}

// Order returns the place among the game's states of the one after the action.
func (a *ActAnswer) Order() StateOrder { return StateOrder{a.Seq, a.Unkept} }

// NoticeKind is what a notice is about.
type NoticeKind string

// The kinds of notice.
const (
	NoticeWaiting  NoticeKind = "waiting"  // nobody has accepted the challenge yet
	NoticeDeclined NoticeKind = "declined" // the opponent declined the challenge, for Reason and Text
	NoticeExpired  NoticeKind = "expired"  // the challenge has expired
	NoticeShutdown NoticeKind = "shutdown" // the platform is shutting down; games will be resumed
	NoticeReleased NoticeKind = "released" // the accepted seat is not granted now: free the slot
	NoticeChat     NoticeKind = "chat"     // the opponent sent Text
)

// Notice tells a player what is not part of the state of a game, on
// to.<player>.notice.
type Notice struct {
	V      int           `json:"v"`
	To     string        `json:"to"` // the subject of this message; see State
	Kind   NoticeKind    `json:"kind"`
	ID     string        `json:"id,omitempty"` // of a chat message: that of the sender's request
	Game   GameID        `json:"game,omitempty"`
	From   PlayerID      `json:"from,omitempty"`
	Reason DeclineReason `json:"reason,omitempty"`
	Text   string        `json:"text,omitempty"`
}
