package protocol

import (
	"time"

	"sparring/game"
)

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
	Pool Pool `json:"pool,omitempty"`
	Ply  int  `json:"ply,omitempty"` // moves made so far in a running game
	// Spare, for a seat of a running game, asks only instances with a free slot: another one
	// may have it. Without it, an instance takes the seat beyond its slots if it can play it.
	Spare    bool      `json:"spare,omitempty"`
	Deadline time.Time `json:"deadline"`
	// HoldMS is how long an instance that accepts must keep its slot free for
	// the grant.
	HoldMS int64 `json:"hold_ms"`
}

// OfferDecision says whether an instance takes the seat that it is offered.
type OfferDecision string

// The decisions about an offer.
const (
	Accept  OfferDecision = "accept"  // the instance takes the seat
	Decline OfferDecision = "decline" // it does not want this match, for Reason
	Busy    OfferDecision = "busy"    // it has no free slot: ask another one, or later
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

// Known returns the reason, or "" if it is none of those above: one of a later version, or
// a text of somebody's choice, tells a player nothing.
func (r DeclineReason) Known() DeclineReason {
	switch r {
	case DeclineGame, DeclineRules, DeclineClock, DeclineRated, DeclineCasual, DeclineRating, DeclineKind, DeclineOpponent, DeclineRepeat, DeclineDraining:
		return r
	}
	return ""
}

// OfferAnswer answers an offer. Player is the one who takes the seat.
type OfferAnswer struct {
	Header
	Answer   OfferDecision `json:"answer"`
	Player   PlayerID      `json:"player,omitempty"`
	Instance InstanceID    `json:"instance"`
	Reason   DeclineReason `json:"reason,omitempty"`
	Text     string        `json:"text,omitempty"`   // for people, up to 500 runes
	Secret   string        `json:"secret,omitempty"` // as in the instance's hello
}
