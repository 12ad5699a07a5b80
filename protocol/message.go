package protocol

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

// Header is part of every request, and of its answer with the same id.
type Header struct {
	V  int    `json:"v"`
	ID string `json:"id"` // 1 to 32 of a-z 0-9 _ -, chosen by the sender; repeated with the request
}

// newHeader returns the header of a new request.
func newHeader() Header { return Header{V: Version, ID: NewID()} }

func (h *Header) version() int { return h.V }

// RequestID returns the id of the request.
func (h *Header) RequestID() string { return h.ID }

// Answer is part of every answer. If the request took effect, Error is nil and
// Code is Accepted or Duplicate.
type Answer struct {
	Header
	Code       Code      `json:"code"`
	Error      *Error    `json:"error,omitempty"`
	ServerTime time.Time `json:"server_time"`
}

// answers reports whether this is the answer to the request with this id. A
// refusal without an id is, too: the platform could not read the request.
func (a *Answer) answers(id string) bool {
	return a.ID == id || a.ID == "" && a.Error != nil
}

// Kind tells bots from people.
type Kind string

// The kinds of player.
const (
	Bot   Kind = "bot"   // a program
	Human Kind = "human" // a person
)

// Capability is a game that an instance plays.
type Capability struct {
	Game   string        `json:"game"`
	Rules  []string      `json:"rules,omitempty"`  // full names; empty means all
	Speeds []clock.Speed `json:"speeds,omitempty"` // empty means all
	Engine *Engine       `json:"engine,omitempty"` // the engine that plays it; absent: unknown
}

// Engine describes the engine that plays a game for a player, as the engine
// itself gives it. What is unknown or does not apply is zero.
type Engine struct {
	Spec     string   `json:"spec,omitempty"`  // "self:level=3"; of a program its protocol and name alone, as "uci:fairy-stockfish"
	Name     string   `json:"name,omitempty"`  // "Fairy-Stockfish 14.0.1 XQ"
	Build    string   `json:"build,omitempty"` // version, if the name does not tell it
	Level    int      `json:"level,omitempty"`
	Elo      *float64 `json:"elo,omitempty"`       // measured strength of the level, relative to a scripted beginner
	EloError float64  `json:"elo_error,omitempty"` // of Elo, either way, with 95 % confidence
	Nodes    uint64   `json:"nodes,omitempty"`     // limit of every search
	Depth    int      `json:"depth,omitempty"`     // limit of every search
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

// Hello announces an instance of a player. It replaces an earlier hello of the
// same instance.
type Hello struct {
	Header
	Instance InstanceID   `json:"instance"`
	Kind     Kind         `json:"kind"`
	Display  string       `json:"display,omitempty"` // up to 64 runes, any script
	Build    string       `json:"build,omitempty"`   // engine and version, of all games without an engine of their own
	Slots    int          `json:"slots"`             // games at once, over all players of the instance
	Games    []Capability `json:"games"`
	Pools    []Pool       `json:"pools,omitempty"` // match queues that the instance has joined
	Takes    *Takes       `json:"takes,omitempty"` // absent: the instance does not say
	// Fleet says that the instance answers the platform's operator, see FleetVerb.
	Fleet bool `json:"fleet,omitempty"`
	// Host is the name of the machine. The platform tells it only to the player's own
	// instances, see OtherInstance, and to nobody else.
	Host string `json:"host,omitempty"`
	// Secret is chosen by the instance and known only to it and the platform.
	// The instance repeats it in its answers to offers, which nothing else
	// shows to be its own.
	Secret string `json:"secret,omitempty"`
}

// Takes says which matches an instance takes in the games that it plays. An empty
// field excludes nothing. The platform offers no others.
type Takes struct {
	Kinds     []Kind      `json:"kinds,omitempty"`      // of opponents
	Rated     *bool       `json:"rated,omitempty"`      // true: rated games only; false: casual games only
	Usual     bool        `json:"usual,omitempty"`      // only from the usual start position
	Fastest   *clock.Spec `json:"fastest,omitempty"`    // clocks are compared by their time for 40 moves
	Slowest   *clock.Spec `json:"slowest,omitempty"`    // excludes unlimited, too
	MinRating int         `json:"min_rating,omitempty"` // of opponents; 0: no limit
	MaxRating int         `json:"max_rating,omitempty"` // of opponents; 0: no limit
}

// Declines returns why the instance would decline a match, as its hello tells; ""
// if it would not.
func (m *Hello) Declines(t Terms, o Opponent) DeclineReason {
	i := slices.IndexFunc(m.Games, func(c Capability) bool { return c.Game == t.Game })
	if i < 0 {
		return DeclineGame
	}
	switch c := m.Games[i]; {
	case len(c.Rules) > 0 && !slices.Contains(c.Rules, t.Rules):
		return DeclineRules
	case len(c.Speeds) > 0 && !slices.Contains(c.Speeds, t.Clock.Speed()):
		return DeclineClock
	case m.Takes != nil:
		return m.Takes.declines(t, o)
	}
	return ""
}

func (k *Takes) declines(t Terms, o Opponent) DeclineReason {
	expected, limited := t.Clock.Expected()
	switch {
	case len(k.Kinds) > 0 && !slices.Contains(k.Kinds, o.Kind):
		return DeclineKind
	case k.Rated != nil && *k.Rated && !t.Rated:
		return DeclineRated
	case k.Rated != nil && !*k.Rated && t.Rated:
		return DeclineCasual
	case k.Usual && !t.Usual():
		return DeclineRules
	case o.Rating != 0 && (o.Rating < k.MinRating || k.MaxRating != 0 && o.Rating > k.MaxRating):
		return DeclineRating
	}
	if k.Fastest != nil {
		if bound, ok := k.Fastest.Expected(); ok && limited && expected < bound {
			return DeclineClock
		}
	}
	if k.Slowest != nil {
		if bound, ok := k.Slowest.Expected(); ok && (!limited || expected > bound) {
			return DeclineClock
		}
	}
	return ""
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
	// Held lists the running games in which this instance holds a seat. The
	// instance resumes games here that it does not know of, and drops games
	// that are not here. With the answer or soon after it, the platform sends
	// the state of each game again.
	Held []GameID `json:"held,omitempty"`
	// Waiting lists the player's challenges that nobody has accepted yet, as far as
	// this process of the platform knows, so that a client that has lost their ids can
	// withdraw them.
	Waiting []WaitingChallenge `json:"waiting,omitempty"`
	// Others lists the player's other instances that are present, up to 8, those that
	// this process of the platform has known longest first.
	Others []OtherInstance `json:"others,omitempty"`
}

// OtherInstance is another instance of the same player. Games are shared among a
// player's instances, and so is its rating.
type OtherInstance struct {
	Instance InstanceID     `json:"instance"`
	Host     string         `json:"host,omitempty"` // by its hello
	Since    time.Time      `json:"since"`          // when this process of the platform first heard of it
	Games    []InstanceGame `json:"games,omitempty"`
}

// InstanceGame is a game that an instance plays, by its hello.
type InstanceGame struct {
	Game   string  `json:"game"`
	Engine *Engine `json:"engine,omitempty"` // absent: unknown
}

// MaxOthers is the length of the longest list of other instances.
const MaxOthers = 8

// WaitingChallenge is a challenge that nobody has accepted yet.
type WaitingChallenge struct {
	Game     GameID    `json:"game"`               // that it may become
	Opponent PlayerID  `json:"opponent,omitempty"` // whom it asks; absent if it asks a pool
	Pool     Pool      `json:"pool,omitempty"`
	Expires  time.Time `json:"expires"`
}

// Limits are the platform's limits for requests. Those per player hold for all its
// instances together; twice as much may come at once.
type Limits struct {
	MessageBytes int `json:"message_bytes"`
	Nesting      int `json:"nesting"`
	PerSecond    int `json:"per_second"` // requests per second and player, without heartbeats and standings
	// HeartbeatsPerSecond, StandingsPerSecond and BytesPerSecond are limits per player, too.
	HeartbeatsPerSecond int `json:"heartbeats_per_second,omitempty"`
	StandingsPerSecond  int `json:"standings_per_second,omitempty"`
	BytesPerSecond      int `json:"bytes_per_second,omitempty"` // of all its requests, heartbeats included
}

// Alive is the heartbeat of an instance.
type Alive struct {
	Header
	Instance InstanceID `json:"instance"`
	Free     int        `json:"free"`            // free slots
	Games    []GameID   `json:"games,omitempty"` // games that it plays for this player
}

// AliveAnswer answers a heartbeat. After UnknownPeer the instance must say hello
// again.
type AliveAnswer struct {
	Answer
	Held []GameID `json:"held,omitempty"` // as in HelloAnswer, but the states are not sent
}

// Leave gives back seats, before the instance shuts down. The platform offers
// them to the player's other instances.
type Leave struct {
	Header
	Instance InstanceID `json:"instance"`
	Games    []GameID   `json:"games,omitempty"` // empty means all
}

// Terms are the conditions of a match.
type Terms struct {
	Game     string `json:"game"`
	Rules    string `json:"rules"`              // full name
	Position string `json:"position,omitempty"` // start position; "" is the usual one
	// Moves are played from the start position before the game begins, as in a
	// game that continues another. They keep what the rules know of the past, such
	// as repetitions. The moves of the game's states begin with them.
	Moves []string   `json:"moves,omitempty"`
	Clock clock.Spec `json:"clock"`
	Rated bool       `json:"rated"`
	// Strict forbids help: no takebacks, and no hints or analysis by the platform
	// while the game runs. Rated games are always strict in this sense.
	Strict bool `json:"strict,omitempty"`
	// Private keeps the game off the platform's lists: it is shown to its players,
	// and to those who have its link.
	Private bool `json:"private,omitempty"`
}

// Equal reports whether both are the same terms.
func (t Terms) Equal(u Terms) bool {
	return t.Game == u.Game && t.Rules == u.Rules && t.Position == u.Position && slices.Equal(t.Moves, u.Moves) &&
		t.Clock == u.Clock && t.Rated == u.Rated && t.Strict == u.Strict && t.Private == u.Private
}

// Usual reports whether the game begins from the usual start position.
func (t Terms) Usual() bool { return t.Position == "" && len(t.Moves) == 0 }

// LongestChallenge is the longest lifetime of a challenge.
const LongestChallenge = 24 * time.Hour

// ChallengeRequest asks for a match.
type ChallengeRequest struct {
	Header
	Instance InstanceID `json:"instance"` // will play for the challenger
	Terms
	Seat *game.Seat `json:"seat,omitempty"` // of the challenger; if absent, the platform chooses at random
	// Exactly one of Opponent and Pool is set.
	Opponent PlayerID `json:"opponent,omitempty"`
	Pool     Pool     `json:"pool,omitempty"`
	ExpireMS int64    `json:"expire_ms,omitempty"` // lifetime, up to LongestChallenge; 0 is the platform's default
}

// ChallengeAnswer tells the id that the game will have.
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

// StandingsRequest asks for the ladder of a game. Every player may.
type StandingsRequest struct {
	Header
	Game string `json:"game"`
}

// StandingsAnswer is the ladder of a game, by speed, the best first. Of a long one it
// has the best players of each speed, and always the one who asks.
type StandingsAnswer struct {
	Answer
	Standings []Standing `json:"standings"`
}

// MaxStandings is how many players of a speed an answer has, besides the one who asks.
const MaxStandings = 100

// Standing is a player's place in the ladder of a game and speed.
type Standing struct {
	Player  PlayerID    `json:"player"`
	Display string      `json:"display,omitempty"`
	Speed   clock.Speed `json:"speed"`
	Place   int         `json:"place"`           // from 1
	Rating  float64     `json:"rating"`          // Glicko-2
	Error   float64     `json:"error"`           // of the rating, either way, with 95 % confidence
	Fixed   bool        `json:"fixed,omitempty"` // an anchor of the scale: games do not change its rating
	Games   int         `json:"games"`
	Wins    int         `json:"wins"`
	Draws   int         `json:"draws"`
	Losses  int         `json:"losses"`
}

// Opponent describes the other player of a match.
type Opponent struct {
	Player  PlayerID `json:"player"`
	Display string   `json:"display,omitempty"`
	Kind    Kind     `json:"kind"`
	Rating  int      `json:"rating,omitempty"` // Glicko-2, rounded; 0 if unrated
}

// OfferKind tells a new match from a seat of a running one.
type OfferKind string

// The kinds of offer.
const (
	OfferMatch OfferKind = "match" // a new game
	OfferSeat  OfferKind = "seat"  // a vacant seat in a running game
)

// Offer offers a seat to the queue group of a pool. The platform waits for one
// answer, until Deadline.
type Offer struct {
	Header
	Kind  OfferKind `json:"kind"`
	Game  GameID    `json:"game"`
	Terms Terms     `json:"terms"`
	Seat  game.Seat `json:"seat"`
	// Player owns the seat. "" in a general pool, where any player of the
	// instance may take it.
	Player   PlayerID  `json:"player,omitempty"`
	Opponent *Opponent `json:"opponent,omitempty"` // absent while the other seat is open, too
	// Pool is that of the challenge; "" if it asks a player. "ladder.xiangqi" is a
	// pairing of the ladder: no player can challenge there.
	Pool     Pool      `json:"pool,omitempty"`
	Ply      int       `json:"ply,omitempty"` // moves made so far in a running game
	Deadline time.Time `json:"deadline"`
	// HoldMS is how long an instance that accepts must keep its slot free for
	// the grant.
	HoldMS int64 `json:"hold_ms"`
}

// Taking is the answer of an instance to an offer.
type Taking string

// The answers to an offer.
const (
	Accept  Taking = "accept"  // the instance takes the seat
	Decline Taking = "decline" // it does not want this match, for Reason
	Busy    Taking = "busy"    // it has no free slot: ask another one, or later
)

// DeclineReason is why an instance declines a match.
type DeclineReason string

// The reasons to decline.
const (
	DeclineGame     DeclineReason = "game"     // it does not play this game
	DeclineRules    DeclineReason = "rules"    // it does not play these rules or this start position
	DeclineClock    DeclineReason = "clock"    // the clock is too fast, too slow or of another kind
	DeclineRated    DeclineReason = "rated"    // it plays rated games only
	DeclineCasual   DeclineReason = "casual"   // it plays casual games only
	DeclineRating   DeclineReason = "rating"   // the opponent's rating is out of its range
	DeclineKind     DeclineReason = "kind"     // it plays only people, or only bots
	DeclineOpponent DeclineReason = "opponent" // the opponent is blocked, or not on the list of allowed ones
	DeclineRepeat   DeclineReason = "repeat"   // it has played this opponent too often lately
	DeclineDraining DeclineReason = "draining" // it is shutting down
)

// OfferAnswer says whether the instance takes the seat.
type OfferAnswer struct {
	Header
	Answer   Taking        `json:"answer"`
	Player   PlayerID      `json:"player,omitempty"`
	Instance InstanceID    `json:"instance"`
	Reason   DeclineReason `json:"reason,omitempty"`
	Text     string        `json:"text,omitempty"`   // for people, up to 500 runes
	Secret   string        `json:"secret,omitempty"` // as in the instance's hello
}

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
}

// Step is a step in the negotiation of a draw or a takeback.
type Step string

// The steps of a negotiation.
const (
	StepOffer   Step = "offer"   // make an offer, or accept the opponent's
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
	Game   GameID        `json:"game,omitempty"`
	From   PlayerID      `json:"from,omitempty"`
	Reason DeclineReason `json:"reason,omitempty"`
	Text   string        `json:"text,omitempty"`
}
