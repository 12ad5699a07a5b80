package protocol

import (
	"slices"
	"time"

	"sparring/game"
	"sparring/game/clock"
)

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

// required has the clock: without it, a game that has one by a misspelled name would never
// end.
func (*ChallengeRequest) required() []string { return []string{"clock"} }

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

// Standing is how a player stands in the ladder of a game and speed.
type Standing struct {
	Player  PlayerID    `json:"player"`
	Display string      `json:"display,omitempty"`
	Speed   clock.Speed `json:"speed"`
	Rank    int         `json:"place"`           // from 1
	Rating  float64     `json:"rating"`          // Glicko-2
	Error   float64     `json:"error"`           // of the rating, either way, with 95 % confidence
	Fixed   bool        `json:"fixed,omitempty"` // an anchor of the scale: games do not change its rating
	Games   int         `json:"games"`
	Wins    int         `json:"wins"`
	Draws   int         `json:"draws"`
	Losses  int         `json:"losses"`
}
