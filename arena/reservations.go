package arena

import (
	"maps"
	"sync"
	"time"

	"sparring/protocol"
)

// reservations keep two challenges from asking the same players at once. A player
// that accepted a seat holds its slot while the other seat is open. Asked for
// another game meanwhile, it could only refuse, and its opponent there would hold a
// slot for nothing; with one slot each, a round would come to a standstill.
type reservations struct {
	mu      sync.Mutex
	players map[protocol.PlayerID]reservation
}

// reservation is a player that one game asks for.
type reservation struct {
	game  protocol.GameID
	until time.Time // zero while the challenge is being decided
}

// reserve reserves players for a game. It returns false when another game has
// one of them.
func (e *reservations) reserve(g protocol.GameID, players []protocol.PlayerID, now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range players {
		if x, ok := e.players[p]; ok && x.game != g && (x.until.IsZero() || now.Before(x.until)) {
			return false
		}
	}
	for _, p := range players {
		e.players[p] = reservation{game: g}
	}
	return true
}

// release ends the reservation of players. Those that hold a slot for the game
// stay reserved for it until the given time.
func (e *reservations) release(g protocol.GameID, players, holding []protocol.PlayerID, until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range players {
		if e.players[p].game == g {
			delete(e.players, p)
		}
	}
	for _, p := range holding {
		e.players[p] = reservation{g, until}
	}
}

// end ends the reservation of all players for a game that does not begin.
func (e *reservations) end(g protocol.GameID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.players, func(_ protocol.PlayerID, x reservation) bool { return x.game == g })
}
