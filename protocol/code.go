package protocol

import (
	"fmt"

	"sparring/game"
)

// Code is the outcome of a request, the same word in every language.
type Code string

// Codes of requests that took effect.
const (
	Accepted  Code = "accepted"  // done
	Duplicate Code = "duplicate" // done before, by the same request: nothing changed, all is well
)

// Unanswered never goes over the wire: a platform's handler returns it to say
// nothing, because another process will, or because it can't know. The player
// asks again.
const Unanswered Code = "unanswered"

// Codes of refusals. None changes anything.
const (
	Malformed   Code = "malformed"     // not JSON of this message's form, or a field out of its range
	TooLarge    Code = "too-large"     // over the size or nesting that Limits names
	BadVersion  Code = "bad-version"   // a version that this platform does not speak
	BadReply    Code = "bad-reply"     // the reply subject is no inbox; this one goes to the log only
	Denied      Code = "denied"        // not a seat of this player
	NoGame      Code = "no-game"       // no running game of that id
	UnknownGame Code = "unknown-game"  // no such game or rule set, or a position its rules refuse
	UnknownVerb Code = "unknown-verb"  // no such verb or action
	Stale       Code = "stale"         // an old epoch or ply: read the state, another instance holds the seat or the game has moved on
	NotYourTurn Code = "not-your-turn" // the other seat is to act
	Illegal     Code = "illegal"       // a move that the rules refuse
	Late        Code = "late"          // the flag had fallen
	Over        Code = "over"          // the game has ended
	Paused      Code = "paused"        // the game waits (a dispute, or its referee cannot store)
	NotOffered  Code = "not-offered"   // no such offer is open
	RateLimited Code = "rate-limited"  // more requests than Limits allows
	Unavailable Code = "unavailable"   // the platform can't store or judge now; ask again
	UnknownPeer Code = "unknown-peer"  // say hello first
)

// Error is a refusal: a code for programs and a sentence for people. The
// sentence never repeats what the other side sent.
type Error struct {
	Code Code   `json:"code"`
	Text string `json:"text,omitempty"`
}

func (e *Error) Error() string {
	if e.Text == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Text
}

// Is makes errors.Is compare codes.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Refuse makes a refusal.
func Refuse(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Text: fmt.Sprintf(format, args...)}
}

// Reasons that end a game from around the board; those of the rules are in
// package game.
const (
	ReasonResign    game.Reason = "resign"
	ReasonTime      game.Reason = "time"      // the flag fell
	ReasonAgreement game.Reason = "agreement" // draw agreed
	ReasonNoStart   game.Reason = "no-start"  // aborted: a seat never made its first move
	ReasonAbandoned game.Reason = "abandoned" // nobody of the player took the seat back in time
	ReasonDispute   game.Reason = "dispute"   // void: the sides disagree on the position
	ReasonVoid      game.Reason = "void"      // void: ended by the platform, Text says why
	// Of challenges that came to nothing: no game was played.
	ReasonWithdrawn game.Reason = "withdrawn" // taken back by the challenger
	ReasonDeclined  game.Reason = "declined"  // the opponent does not want it
	ReasonExpired   game.Reason = "expired"   // nobody took it in time
)
