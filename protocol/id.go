package protocol

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"regexp"
	"strings"
)

// Ids that become part of a subject. Each has a type of its own, so that the
// compiler keeps them apart. [CheckID] checks them.
type (
	PlayerID   string // an account of a bot or a person
	GameID     string // one game, from challenge to record
	InstanceID string // one process that acts for players
)

// Pool names a match queue: one or more ids joined by dots, such as
// "xiangqi.blitz", "team.alpha", or a player's own "player.<name>".
type Pool string

var (
	idForm     = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)
	prefixForm = regexp.MustCompile(`^[a-z0-9_-]{1,32}(\.[a-z0-9_-]{1,32}){0,3}$`)
)

// CheckID returns an error that describes what an id looks like, unless id is
// one. Any other text could name a wildcard or somebody else's subject.
func CheckID[T ~string](what string, id T) error {
	if !idForm.MatchString(string(id)) {
		return fmt.Errorf("%s %.40q: want 1 to 32 of a-z 0-9 _ -", what, id)
	}
	return nil
}

// Check returns an error that describes what the name of a pool looks like,
// unless p is one.
func (p Pool) Check() error {
	if !prefixForm.MatchString(string(p)) {
		return fmt.Errorf("pool %.40q: want up to four ids of a-z 0-9 _ - joined by dots", p)
	}
	return nil
}

// OwnPool returns the pool in which only instances of the player listen.
func OwnPool(p PlayerID) Pool { return Pool("player." + string(p)) }

// NewID returns a random id of 16 letters and digits (80 bits).
func NewID() string {
	b := make([]byte, 10)
	rand.Read(b) // never fails since Go 1.24
	return strings.ToLower(base32.StdEncoding.EncodeToString(b))
}
