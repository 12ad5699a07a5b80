package otb

import (
	"errors"
	"fmt"
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/record"
)

// FileVersion is the version of the journals that this package writes.
const FileVersion = 1

// Terms are the settings of a game. They are the first line of its journal.
type Terms struct {
	V        int        `json:"table"` // FileVersion
	ID       string     `json:"id"`    // of the game's record
	Rules    string     `json:"rules"` // in full
	Position string     `json:"position,omitempty"`
	Clock    clock.Spec `json:"clock"`
	MoveMS   int64      `json:"move_ms,omitempty"` // longest time for a move; 0: no limit
	// MaxPlies is when the event draws a game; 0: never.
	MaxPlies int       `json:"max_plies,omitempty"`
	Us       game.Seat `json:"us"`
	Names    [2]string `json:"names"`           // by seat
	Event    string    `json:"event,omitempty"` // title
	// Follows names the event whose form the record has, as --event does.
	Follows string `json:"follows,omitempty"`
	Place   string `json:"place,omitempty"`
	Seed    uint64 `json:"seed,string"`

	// The following may change when a game is resumed.
	Engine  string `json:"engine"` // spec
	HashMB  int    `json:"hash_mb,omitempty"`
	Threads int    `json:"threads,omitempty"`
	Ponder  bool   `json:"ponder,omitempty"`
	// HandMS is how long the operator takes to make our move and press the clock. With
	// 0 a move counts as made when the engine has decided.
	HandMS int64  `json:"hand_ms"`
	Build  string `json:"build,omitempty"` // of this program
}

// Validate reports what is wrong with the terms.
func (t *Terms) Validate() error {
	_, err := t.start()
	switch {
	case err != nil:
		return err
	case t.V != FileVersion:
		return fmt.Errorf("version %d, this program reads %d", t.V, FileVersion)
	case t.Us > game.Second:
		return fmt.Errorf("no seat %d", t.Us)
	case t.MoveMS < 0 || t.HandMS < 0 || t.MaxPlies < 0 || t.MaxPlies > record.MaxPlies:
		return errors.New("a limit is out of range")
	}
	return nil
}

// start returns the start position.
func (t *Terms) start() (game.Position, error) {
	rules, err := catalog.Rules(t.Rules)
	if err != nil {
		return nil, err
	}
	return rules.New(t.Position)
}

// fixed returns the terms without what may differ when a game is resumed.
func (t Terms) fixed() Terms {
	t.ID, t.Seed, t.Engine, t.HashMB, t.Threads, t.Ponder, t.HandMS, t.Build = "", 0, "", 0, 0, false, 0, ""
	return t
}

// hand is how long the operator takes to make our move.
func (t *Terms) hand() time.Duration { return time.Duration(t.HandMS) * time.Millisecond }

// move is the longest time for a move; 0: no limit.
func (t *Terms) move() time.Duration { return time.Duration(t.MoveMS) * time.Millisecond }
