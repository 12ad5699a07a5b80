package policy

import (
	"slices"
	"sync"
	"time"

	"sparring/protocol"
)

// Encounters counts a player's recent games by opponent. It is safe for
// concurrent use.
type Encounters struct {
	window time.Duration

	mu    sync.Mutex
	begun map[protocol.PlayerID][]time.Time
}

// NewEncounters returns a count of the games that began within the window.
func NewEncounters(window time.Duration) *Encounters {
	return &Encounters{window: window, begun: make(map[protocol.PlayerID][]time.Time)}
}

// Add counts a game that begins now.
func (e *Encounters) Add(opponent protocol.PlayerID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.begun { // otherwise the map would only grow
		e.prune(id)
	}
	e.begun[opponent] = append(e.begun[opponent], time.Now())
}

// Recent returns how many games against an opponent began within the window.
func (e *Encounters) Recent(opponent protocol.PlayerID) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.prune(opponent)
	return len(e.begun[opponent])
}

func (e *Encounters) prune(opponent protocol.PlayerID) {
	kept := slices.DeleteFunc(e.begun[opponent], func(t time.Time) bool { return time.Since(t) > e.window })
	if len(kept) == 0 {
		delete(e.begun, opponent)
	} else {
		e.begun[opponent] = kept
	}
}
