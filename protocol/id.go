package protocol

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"strings"
)

// Ids become part of subjects: 1 to 32 of a-z 0-9 _ -. Each kind has a type of its own, so
// that the compiler keeps them apart. [CheckID] checks them.
type (
	// PlayerID names a player: the account of a bot or a person.
	PlayerID string
	// GameID names a game, from the challenge to the record.
	GameID string
	// InstanceID names a process that acts for players.
	InstanceID string
)

// Pool names a match queue: one or more ids joined by dots, such as
// "xiangqi.blitz", "team.alpha", or a player's own "player.<name>".
type Pool string

// isID reports whether a text is 1 to 32 of a-z 0-9 _ -. It is called for every
// message, often several times.
func isID(text string) bool {
	if len(text) < 1 || len(text) > 32 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// isPrefix reports whether a text is one to four ids joined by dots.
func isPrefix(text string) bool {
	n := 0
	for id := range strings.SplitSeq(text, ".") {
		if n++; n > 4 || !isID(id) {
			return false
		}
	}
	return true
}

// CheckID returns an error that describes what an id looks like, unless id is
// one. Any other text could name a wildcard or somebody else's subject.
func CheckID[T ~string](what string, id T) error {
	if !isID(string(id)) {
		return fmt.Errorf("%s %.40q: want 1 to 32 of a-z 0-9 _ -", what, id)
	}
	return nil
}

// Check returns an error that describes what the name of a pool looks like,
// unless p is one.
func (p Pool) Check() error {
	if !isPrefix(string(p)) {
		return fmt.Errorf("pool %.40q: want up to four ids of a-z 0-9 _ - joined by dots", p)
	}
	return nil
}

// OwnPool returns the pool in which only instances of the player listen.
func OwnPool(p PlayerID) Pool { return Pool("player." + string(p)) }

// Owner returns the player whose own pool it is; ok is false if it is another one.
func (p Pool) Owner() (player PlayerID, ok bool) {
	name, ok := strings.CutPrefix(string(p), string(OwnPool("")))
	return PlayerID(name), ok && isID(name)
}

// LadderPool is the pool that a person's hello names to be paired on the ladder.
// Pairings wait in the pools of [LadderPoolOf]. Players can't challenge in any of these.
const LadderPool = "ladder"

// LadderPoolOf returns the pool in which the ladder's pairings of a game wait.
func LadderPoolOf(gameName string) Pool { return Pool(LadderPool + "." + gameName) }

// Ladder reports whether a pool is one of the ladder's.
func (p Pool) Ladder() bool { return p == LadderPool || strings.HasPrefix(string(p), LadderPool+".") }

// NewID returns a random id of 16 letters and digits (80 bits).
func NewID() string {
	b := make([]byte, 10)
	rand.Read(b) // never fails since Go 1.24
	return strings.ToLower(base32.StdEncoding.EncodeToString(b))
}
