package arena

import (
	"cmp"
	"slices"
	"time"

	"sparring/protocol"
)

// fleetRoom has the operator's bot processes in groups: those of a group share players, directly
// or through others of it, and take over each other's seats.
type fleetRoom struct {
	groups []*roomGroup
	of     map[slotPool]*roomGroup
}

// roomGroup is a group of processes. The levels of a process have slots of their own, and
// are a process by themselves here.
type roomGroup struct {
	held    map[slotPool]int // seats in running games
	free    map[slotPool]int // slots
	vacant  int              // seats in running games that have no holder
	promise int              // seats of pairings that wait
	fewest  int              // how many processes the player with a seat has that has fewest
}

// newFleetRoom groups the instances that are present. Free are their slots.
func newFleetRoom(present map[protocol.PlayerID][]presentInstance, free map[slotPool]freeSlots) *fleetRoom {
	f := &fleetRoom{of: make(map[slotPool]*roomGroup)}
	for _, instances := range present {
		var group *roomGroup
		for _, in := range instances {
			if !in.hello.Fleet || in.hello.Kind != protocol.Bot {
				continue
			}
			key := slotPoolOf(in.hello)
			other := f.of[key]
			switch {
			case group == nil && other == nil:
				group = &roomGroup{held: make(map[slotPool]int), free: make(map[slotPool]int)}
			case group == nil:
				group = other
			case other != nil && other != group:
				f.join(group, other)
			}
			group.free[key], f.of[key] = max(free[key].all, 0), group
		}
	}
	seen := make(map[*roomGroup]bool)
	for _, g := range f.of {
		if !seen[g] {
			seen[g], g.fewest = true, len(g.free)
			f.groups = append(f.groups, g)
		}
	}
	return f
}

// join moves the processes of another group to a group.
func (f *fleetRoom) join(group, other *roomGroup) {
	for key, n := range other.free {
		group.free[key], f.of[key] = n, group
	}
}

// groupOf returns the group of a player's processes, and how many it has; nil if it has none.
func (f *fleetRoom) groupOf(instances []presentInstance) (g *roomGroup, processes int) {
	for _, in := range instances {
		if other := f.of[slotPoolOf(in.hello)]; other != nil {
			g = other
			processes++
		}
	}
	return g, processes
}

// seat counts a seat of a running game.
func (f *fleetRoom) seat(h protocol.Holder, instances []presentInstance) {
	g, processes := f.groupOf(instances)
	if g == nil {
		return
	}
	g.fewest = min(g.fewest, processes)
	i := slices.IndexFunc(instances, func(in presentInstance) bool { return in.hello.Instance == h.Instance })
	switch {
	case i >= 0:
		g.held[slotPoolOf(instances[i].hello)]++
	default: // vacant, or soon: its holder is not present
		g.vacant++
	}
}

// sizes returns how many seats each process plays or could, the most first: so many need other
// slots, or are missing there, when it is lost.
func (g *roomGroup) sizes() []int {
	var all []int
	for key, free := range g.free {
		all = append(all, free+g.held[key])
	}
	slices.SortFunc(all, func(x, y int) int { return cmp.Compare(y, x) })
	return all
}

// unpromised returns how many slots are free for games that have not begun.
func (g *roomGroup) unpromised() int {
	n := -g.vacant - g.promise
	for _, free := range g.free {
		n += free
	}
	return n
}

// survives returns how many processes can be lost at once, whichever they are, so that the
// others have a free slot for each of their seats.
func (g *roomGroup) survives() (n int) {
	left := g.unpromised()
	for _, size := range g.sizes() {
		if left -= size; left < 0 || n+1 >= g.fewest {
			break
		}
		n++
	}
	return n
}

// spare returns how many more seats may be played so that the loss of some processes is survived.
// One game is played in any case, or a fleet of small processes would play none.
func (g *roomGroup) spare(losses int) int {
	n, sizes := g.unpromised(), g.sizes()
	for _, size := range sizes[:min(losses, len(sizes)-1)] {
		n -= size
	}
	first := 2 - g.vacant - g.promise
	for _, held := range g.held {
		first -= held
	}
	return max(n, first, 0)
}

// fleetRoom returns the room of the operator's bot processes now.
func (a *Arena) fleetRoom(present map[protocol.PlayerID][]presentInstance, now time.Time) *fleetRoom {
	f := newFleetRoom(present, a.freeSlots(present, now))
	if len(f.groups) == 0 {
		return f
	}
	a.index.each(func(e *protocol.Event) {
		for _, h := range e.Holders {
			f.seat(h, present[h.Player])
		}
	})
	return f
}

// survivedLosses returns how many of the operator's bot processes can be lost at once, whichever they
// are, with a free slot elsewhere for each of their seats. Ok is false if none is present.
func (a *Arena) survivedLosses(now time.Time) (n int, ok bool) {
	for i, g := range a.fleetRoom(a.presence.all(now), now).groups {
		if s := g.survives(); i == 0 || s < n {
			n, ok = s, true
		}
	}
	return n, ok
}

// vacantSeats returns how many seats are vacant in the running games that this process referees.
func (a *Arena) vacantSeats() (n int) {
	for _, r := range a.refereed() {
		e, ok := a.index.last(r.id)
		for _, h := range e.Holders {
			if ok && e.Status != protocol.Finished && h.Instance == "" {
				n++
			}
		}
	}
	return n
}
