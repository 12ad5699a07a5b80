package protocol

import (
	"fmt"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// Header opens every request; its answer carries the same id.
type Header struct {
	V  int    `json:"v"`
	ID string `json:"id"` // 1 to 32 of a-z 0-9 _ -, chosen by the sender; the same id again is the same request
}

// newHeader opens a new request.
func newHeader() Header { return Header{V: Version, ID: NewID()} }

// RequestID is the request's id.
func (h *Header) RequestID() string { return h.ID }

// Answer opens every answer. Error is nil when the request took effect, and
// Code is then Accepted or Duplicate.
type Answer struct {
	Header
	Code       Code      `json:"code"`
	Error      *Error    `json:"error,omitempty"`
	ServerTime time.Time `json:"server_time"`
}

// answers reports whether this is the answer to the request: by its id or,
// when the platform could not even read that, as a refusal without one.
func (a *Answer) answers(id string) bool {
	return a.ID == id || a.ID == "" && a.Error != nil
}

// Kind is what sort of player this is.
type Kind string

// The kinds of player.
const (
	Bot   Kind = "bot"
	Human Kind = "human"
)

// Capability is a game that an instance plays.
type Capability struct {
	Game   string        `json:"game"`
	Rules  []string      `json:"rules,omitempty"`  // full names; empty: all the platform has
	Speeds []clock.Speed `json:"speeds,omitempty"` // empty: all
	Engine *Engine       `json:"engine,omitempty"` // who plays it; absent: not told
}

// Engine describes the engine that plays a game for a player, as the engine
// itself gives it. What is unknown or does not apply is zero.
type Engine struct {
	Spec     string   `json:"spec,omitempty"`  // "self:level=3"; of a program its protocol and name alone, as "uci:fairy-stockfish"
	Name     string   `json:"name,omitempty"`  // "Fairy-Stockfish 14.0.1 XQ"
	Build    string   `json:"build,omitempty"` // version, if the name does not tell it
	Level    int      `json:"level,omitempty"`
	Elo      *float64 `json:"elo,omitempty"`   // measured strength of the level, relative to a scripted beginner
	Nodes    uint64   `json:"nodes,omitempty"` // limit of every search
	Depth    int      `json:"depth,omitempty"` // limit of every search
	HashMB   int      `json:"hash_mb,omitempty"`
	Threads  int      `json:"threads,omitempty"`
	Book     string   `json:"book,omitempty"`      // name of the opening book
	TableMen int      `json:"table_men,omitempty"` // largest number of pieces in its endgame tables
	Eval     string   `json:"eval,omitempty"`      // name of the evaluation; empty: the product's
	Seed     uint64   `json:"-"`                   // of random choices; differs from game to game
	// Reproducible: a move depends on the position, the limits and the seed alone.
	Reproducible bool `json:"reproducible,omitempty"`
}

// String returns the name and version, and the level if there is one.
func (e Engine) String() string {
	text := e.Name
	if strings.HasPrefix(e.Build, e.Name) {
		text = e.Build
	} else if e.Build != "" {
		text += " " + e.Build
	}
	if e.Level > 0 {
		text = fmt.Sprintf("%s level %d", text, e.Level)
	}
	if text == "" {
		return e.Spec
	}
	return text
}

// Hello announces an instance of a player, or announces it anew. The platform
// forgets what an earlier hello of the same instance said.
type Hello struct {
	Header
	Instance InstanceID   `json:"instance"`
	Kind     Kind         `json:"kind"`
	Display  string       `json:"display,omitempty"` // up to 64 runes, any script
	Build    string       `json:"build,omitempty"`   // engine and version, of all games without an engine of their own
	Slots    int          `json:"slots"`             // games at once, over all players of the instance
	Games    []Capability `json:"games"`
	Pools    []Pool       `json:"pools,omitempty"` // queues the instance listens in
	// Secret is made up by the instance and known to it and the platform
	// only. It stands in its answers to offers, which don't show otherwise
	// who sent them.
	Secret string `json:"secret,omitempty"`
}

// EngineName returns the name and version of the engine that plays a game.
func (m *Hello) EngineName(gameName string) string {
	for _, c := range m.Games {
		if c.Game == gameName && c.Engine != nil {
			name := []rune(c.Engine.String())
			return string(name[:min(len(name), maxDisplay)])
		}
	}
	return m.Build
}

// HelloAnswer says how to talk to this platform.
type HelloAnswer struct {
	Answer
	HeartbeatMS int64  `json:"heartbeat_ms"` // how often to send alive
	Limits      Limits `json:"limits"`
	// Held are all the running games whose seats this instance holds. It
	// takes up those that it has lost touch with, and lets go of those that
	// it plays and that are not here. With the answer, or soon
	// after it, the platform tells the state of each again on its subject,
	// so that whoever has missed one listens and knows all there is to know.
	Held []GameID `json:"held,omitempty"`
}

// Limits are the bounds that the platform holds requests to.
type Limits struct {
	MessageBytes int `json:"message_bytes"`
	Nesting      int `json:"nesting"`
	PerSecond    int `json:"per_second"` // requests a player may send a second, heartbeats not counted
}

// Alive is the heartbeat of an instance.
type Alive struct {
	Header
	Instance InstanceID `json:"instance"`
	Free     int        `json:"free"`            // slots free now
	Games    []GameID   `json:"games,omitempty"` // games that it plays for this player
}

// AliveAnswer corrects the instance: UnknownPeer means say hello again.
type AliveAnswer struct {
	Answer
	Held []GameID `json:"held,omitempty"` // as in HelloAnswer, but no states are sent
}

// Leave gives seats back: the instance drains. The platform offers them to
// the player's other instances.
type Leave struct {
	Header
	Instance InstanceID `json:"instance"`
	Games    []GameID   `json:"games,omitempty"` // empty: all
}

// Terms are what a match is played for and under.
type Terms struct {
	Game     string     `json:"game"`
	Rules    string     `json:"rules"`              // full name
	Position string     `json:"position,omitempty"` // start position text; "" is the usual one
	Clock    clock.Spec `json:"clock"`
	Rated    bool       `json:"rated"`
}

// ChallengeRequest asks for a match.
type ChallengeRequest struct {
	Header
	Instance InstanceID `json:"instance"` // which will play the challenger's seat
	Terms
	Seat *game.Seat `json:"seat,omitempty"` // the challenger's; absent: the platform draws
	// Exactly one of Opponent and Pool is set.
	Opponent PlayerID `json:"opponent,omitempty"`
	Pool     Pool     `json:"pool,omitempty"`
	ExpireMS int64    `json:"expire_ms,omitempty"` // 0: the platform's default
}

// ChallengeAnswer names the game to be.
type ChallengeAnswer struct {
	Answer
	Game    GameID    `json:"game,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
}

// Withdraw takes back a challenge that nobody has accepted yet.
type Withdraw struct {
	Header
	Game GameID `json:"game"`
}

// Opponent is what a player is told of the other side.
type Opponent struct {
	Player  PlayerID `json:"player"`
	Display string   `json:"display,omitempty"`
	Kind    Kind     `json:"kind"`
	Rating  int      `json:"rating,omitempty"` // Glicko-2, rounded; 0: none yet
}

// OfferKind tells a new match from a seat of a running one.
type OfferKind string

// The kinds of offer.
const (
	OfferMatch OfferKind = "match" // a new game
	OfferSeat  OfferKind = "seat"  // a running game whose holder is gone: take it over
)

// Offer is a request to a pool's queue group: who takes this seat? The
// platform waits until Deadline for one answer.
type Offer struct {
	Header
	Kind  OfferKind `json:"kind"`
	Game  GameID    `json:"game"`
	Terms Terms     `json:"terms"`
	Seat  game.Seat `json:"seat"`
	// Player whose seat it is; "" when any player of the instance may sit
	// down (a general pool).
	Player   PlayerID  `json:"player,omitempty"`
	Opponent *Opponent `json:"opponent,omitempty"` // absent while that seat is open too
	// Moves made so far and the seat's clock, for a running game.
	Ply      int       `json:"ply,omitempty"`
	Deadline time.Time `json:"deadline"`
	// HoldMS is how long the taker keeps its slot for the grant.
	HoldMS int64 `json:"hold_ms"`
}

// Taking is the answer of an instance to an offer.
type Taking string

// The answers to an offer.
const (
	Accept  Taking = "accept"
	Decline Taking = "decline" // not this match; Reason says why
	Busy    Taking = "busy"    // no slot free; ask another, or later
)

// DeclineReason is why an instance does not want a match.
type DeclineReason string

// The reasons to decline.
const (
	DeclineGame     DeclineReason = "game"     // does not play this game
	DeclineRules    DeclineReason = "rules"    // not under these rules, or from this position
	DeclineClock    DeclineReason = "clock"    // too fast, too slow or of another kind
	DeclineRated    DeclineReason = "rated"    // rated only
	DeclineCasual   DeclineReason = "casual"   // casual only
	DeclineRating   DeclineReason = "rating"   // opponent's rating out of range
	DeclineKind     DeclineReason = "kind"     // humans only, or bots only
	DeclineOpponent DeclineReason = "opponent" // on the block list, or not on the allow list
	DeclineRepeat   DeclineReason = "repeat"   // too many games against this opponent lately
	DeclineDraining DeclineReason = "draining" // shutting down
)

// OfferAnswer says whether the instance takes the seat.
type OfferAnswer struct {
	Header
	Answer   Taking        `json:"answer"`
	Player   PlayerID      `json:"player,omitempty"`
	Instance InstanceID    `json:"instance"`
	Reason   DeclineReason `json:"reason,omitempty"`
	Text     string        `json:"text,omitempty"`   // for people, up to 500 runes
	Secret   string        `json:"secret,omitempty"` // that of the hello
}

// MoveRequest plays a move.
type MoveRequest struct {
	Header
	Instance InstanceID `json:"instance"`
	Epoch    uint64     `json:"epoch"`
	Ply      int        `json:"ply"` // plies played before this move
	Move     string     `json:"move"`
	Key      string     `json:"key,omitempty"`    // the mover's position key after the move, 16 hex digits; checked when present
	LagMS    int64      `json:"lag_ms,omitempty"` // the sender's own estimate of one way; credited to people only, within a quota
}

// Step is what a seat does with an offer of draw or takeback.
type Step string

// The steps of an offer between seats.
const (
	StepOffer   Step = "offer"
	StepAccept  Step = "accept"
	StepDecline Step = "decline"
)

// ActRequest is a resignation, or a step of a draw or takeback offer.
type ActRequest struct {
	Header
	Instance InstanceID `json:"instance"`
	Epoch    uint64     `json:"epoch"`
	Ply      int        `json:"ply"`
	Step     Step       `json:"step,omitempty"` // not for resign
}

// ChatRequest says something to the other side.
type ChatRequest struct {
	Header
	Instance InstanceID `json:"instance"`
	Epoch    uint64     `json:"epoch"`
	Text     string     `json:"text"` // up to 500 runes
}

// Receipt is how a move was charged.
type Receipt struct {
	Ply       int       `json:"ply"`        // plies played after the move
	Received  time.Time `json:"received"`   // when the referee had it
	LagMS     int64     `json:"lag_ms"`     // credited for the network
	ChargedMS int64     `json:"charged_ms"` // taken off the clock
	LeftMS    int64     `json:"left_ms"`    // on the mover's clock, increment included
	Periods   int       `json:"periods,omitempty"`
	WaitedMS  int64     `json:"waited_ms,omitempty"` // in the referee, before the clock stopped: never charged
}

// ActAnswer answers every action in a game.
type ActAnswer struct {
	Answer
	Game    GameID   `json:"game,omitempty"`
	Seq     uint64   `json:"seq,omitempty"` // of the log, after the action
	Ply     int      `json:"ply,omitempty"`
	Clocks  *Clocks  `json:"clocks,omitempty"`
	Receipt *Receipt `json:"receipt,omitempty"` // for a move
}

// NoticeKind tells notices apart.
type NoticeKind string

// The kinds of notice.
const (
	NoticeWaiting  NoticeKind = "waiting"  // nobody has taken your challenge yet
	NoticeDeclined NoticeKind = "declined" // your opponent declined; the reason is in Text
	NoticeExpired  NoticeKind = "expired"  // your challenge has run out
	NoticeShutdown NoticeKind = "shutdown" // the platform is going down; games will be resumed
	NoticeReleased NoticeKind = "released" // the seat of this game that you accepted is not granted now: free the slot
	NoticeChat     NoticeKind = "chat"     // the other side says
)

// Notice tells a player of things outside the state of a game, on
// to.<player>.notice.
type Notice struct {
	V      int           `json:"v"`
	To     string        `json:"to"` // the subject it was sent on; see State
	Kind   NoticeKind    `json:"kind"`
	Game   GameID        `json:"game,omitempty"`
	From   PlayerID      `json:"from,omitempty"`
	Reason DeclineReason `json:"reason,omitempty"`
	Text   string        `json:"text,omitempty"`
}
