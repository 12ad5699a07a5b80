package arena

import (
	"sync"
	"time"

	"sparring/protocol"
)

// engagements keep two challenges from asking for the same players at once. A
// player that accepted one seat of a game holds its slot while the other seat
// is open; asked for another game meanwhile it could only refuse, and its
// partners there would hold theirs for nothing: with one slot each, a round
// would stand still.
type engagements struct {
	mu      sync.Mutex
	players map[protocol.PlayerID]engagement
}

// engagement is a player that one game has asked for.
type engagement struct {
	game  protocol.GameID
	until time.Time // zero: while the challenge is being judged
}

// engage claims players for a game; false when another game has one of them.
func (e *engagements) engage(g protocol.GameID, players []protocol.PlayerID, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range players {
		if x, ok := e.players[p]; ok && x.game != g && (x.until.IsZero() || now.Before(x.until)) {
			return false
		}
	}
	for _, p := range players {
		e.players[p] = engagement{game: g}
	}
	return true
}

// free ends the claim; those that hold a slot for the game stay claimed for it
// until a moment.
func (e *engagements) free(g protocol.GameID, players, holding []protocol.PlayerID, until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range players {
		if e.players[p].game == g {
			delete(e.players, p)
		}
	}
	for _, p := range holding {
		e.players[p] = engagement{g, until}
	}
}
