package web

import (
	"slices"
	"sync"
	"time"

	"sparring/arena"
	"sparring/protocol"
)

// restsFor is how long a level stays in the picker after its process was heard last: one that is
// slow, or is being restarted, takes the challenges that wait once it is back.
const restsFor = 3 * time.Minute

// restingLevels are the levels that were present lately.
type restingLevels struct {
	mu   sync.Mutex
	last map[protocol.PlayerID]heardInstance
}

type heardInstance struct {
	arena.Instance
	at time.Time
}

func newRestingLevels() *restingLevels {
	return &restingLevels{last: make(map[protocol.PlayerID]heardInstance)}
}

// with returns the instances that are present, and after them one for each level that has
// none but had one lately. Resting are these levels, which are busy for now.
func (r *restingLevels) with(present []arena.Instance, now time.Time) (all []arena.Instance, resting map[protocol.PlayerID]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	here := make(map[protocol.PlayerID]bool)
	for _, in := range present {
		if in.Player.IsLevel() && takesPeople(in) {
			here[in.Player], r.last[in.Player] = true, heardInstance{in, now}
		}
	}
	all, resting = slices.Clone(present), make(map[protocol.PlayerID]bool)
	for id, in := range r.last {
		switch {
		case here[id]:
		case now.Sub(in.at) > restsFor:
			delete(r.last, id)
		default:
			in.Free = 0
			all, resting[id] = append(all, in.Instance), true
		}
	}
	return all, resting
}
