package arena

import (
	"sync"
	"time"

	"sparring/protocol"
)

// waiting are the challenges that players have in the queue through this
// process, so that nobody fills it alone.
type waiting struct {
	mu sync.Mutex
	of map[protocol.PlayerID]map[protocol.GameID]time.Time // until when each waits
}

func newWaiting() *waiting {
	return &waiting{of: make(map[protocol.PlayerID]map[protocol.GameID]time.Time)}
}

// add notes a challenge unless its player has most waiting already; the same
// challenge again is no other. Gone tells of those that another process decided.
func (w *waiting) add(p protocol.PlayerID, g protocol.GameID, until, now time.Time, most int, gone func(protocol.GameID) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	mine := w.of[p]
	if mine == nil {
		mine = make(map[protocol.GameID]time.Time)
		w.of[p] = mine
	}
	if _, again := mine[g]; again {
		return true
	}
	for other, end := range mine {
		if now.After(end) || gone(other) {
			delete(mine, other)
		}
	}
	if len(mine) >= most {
		return false
	}
	mine[g] = until
	return true
}

// decided forgets a challenge that waits no longer.
func (w *waiting) decided(ch protocol.Challenge) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range ch.Seats {
		if mine := w.of[s.Player]; s.Instance != "" && mine != nil {
			if delete(mine, ch.Game); len(mine) == 0 {
				delete(w.of, s.Player)
			}
		}
	}
}
