package protocol

import (
	"fmt"

	"sparring/game"
)

// Code is the outcome of a request, as a word for programs.
type Code string

// Codes of requests that took effect.
const (
	Accepted  Code = "accepted"  // the request took effect
	Duplicate Code = "duplicate" // the same request took effect before: treat it as accepted
)

// Unanswered is never sent. A handler of the platform returns it to send no
// answer, because another process will answer or because it can't know. The
// player repeats the request.
const Unanswered Code = "unanswered"

// Codes of refusals. A refused request changes nothing.
const (
	Malformed   Code = "malformed"     // not JSON of this form, or a field out of range: fix the program
	TooLarge    Code = "too-large"     // exceeds the size or nesting in Limits: fix the program
	BadVersion  Code = "bad-version"   // a protocol version that the receiver does not support: upgrade one side
	BadReply    Code = "bad-reply"     // the reply subject is not an inbox; only logged, since it can't be answered safely
	Denied      Code = "denied"        // the seat, challenge or id belongs to another player, or the instance to another process
	NoGame      Code = "no-game"       // no running game has this id: forget it
	UnknownGame Code = "unknown-game"  // the platform lacks this game or rule set, or the rules refuse the start position: choose another
	UnknownVerb Code = "unknown-verb"  // there is no such verb or action: fix the program
	Stale       Code = "stale"         // the epoch or ply is out of date: wait for the next state, which says who holds the seat
	NotYourTurn Code = "not-your-turn" // the other seat is to act: wait for the next state
	Illegal     Code = "illegal"       // the rules forbid the move: play another, the clock keeps running
	Late        Code = "late"          // the flag had fallen: the next state ends the game
	Over        Code = "over"          // the game has ended: the last state says how
	Paused      Code = "paused"        // the game is paused, by a dispute or because its log can't be written: retry after the next state
	NotOffered  Code = "not-offered"   // no such offer or challenge is open
	RateLimited Code = "rate-limited"  // more requests or bytes per second than Limits allows, too many of them waiting, or an offer that may not be repeated: wait and retry, but no such offer
	Unavailable Code = "unavailable"   // the platform can't store or decide now: wait and retry
	UnknownPeer Code = "unknown-peer"  // the platform does not know this instance: say hello, then retry
	CodeBusy    Code = "busy"          // all places for this are taken: wait and retry
)

// Error is a refusal, with a code for programs and a sentence for people. The
// sentence never quotes what the other side sent.
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

// Is reports whether target is an *Error with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Refuse returns a refusal.
func Refuse(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Text: fmt.Sprintf(format, args...)}
}

// Reasons for the end of a game other than the rules, whose reasons are in package
// game.
const (
	ReasonResign    game.Reason = "resign"
	ReasonTime      game.Reason = "time"      // the flag fell
	ReasonAgreement game.Reason = "agreement" // draw agreed
	ReasonNoStart   game.Reason = "no-start"  // aborted: a seat did not make its first move in time
	ReasonAbandoned game.Reason = "abandoned" // the seat stayed vacant too long, or changed hands until the game's log was full
	ReasonDispute   game.Reason = "dispute"   // void: player and platform disagree on the position
	ReasonVoid      game.Reason = "void"      // void: ended by the platform, for the reason in Text
	// Reasons why a player resigned whose engine failed; see ActRequest.Fault.
	ReasonCrash   game.Reason = "crash"   // the engine's process ended
	ReasonHang    game.Reason = "hang"    // it did not answer
	ReasonIllegal game.Reason = "illegal" // it gave an illegal move, or none
	ReasonFlood   game.Reason = "flood"   // it wrote too much
	ReasonMemory  game.Reason = "memory"  // it used more memory than allowed
	ReasonStart   game.Reason = "start"   // it did not start
	// Reasons why a challenge ended without a game.
	ReasonWithdrawn game.Reason = "withdrawn" // the challenger took it back
	ReasonDeclined  game.Reason = "declined"  // the opponent declined it
	ReasonExpired   game.Reason = "expired"   // nobody accepted it in time
)

// FaultText says in words how a player's engine failed, "the engine of red crashed"; ""
// if the game did not end for such a reason.
func FaultText(r game.Reason, p PlayerID) string {
	words := ""
	switch r {
	case ReasonCrash:
		words = "crashed"
	case ReasonHang:
		words = "did not answer"
	case ReasonIllegal:
		words = "gave no legal move"
	case ReasonFlood:
		words = "wrote too much"
	case ReasonMemory:
		words = "used too much memory"
	case ReasonStart:
		words = "did not start"
	default:
		return ""
	}
	return fmt.Sprintf("the engine of %s %s", p, words)
}
