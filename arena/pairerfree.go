package arena

import (
	"slices"
	"time"

	"sparring/protocol"
)

// free is a player that can be paired.
type free struct {
	*contender
	id   protocol.PlayerID
	kind protocol.Kind
	// instances with a free slot
	instances []presentInstance
}

// process names the process of an instance, which may act for several players. The secret
// is known to it alone.
type process struct {
	id     protocol.InstanceID
	secret string
}

// slotPool names slots that players of a process have together. The levels of a bot process
// have others than the rest of its players, which shows in how many there are.
type slotPool struct {
	process
	size int
}

func slotPoolOf(h *protocol.Hello) slotPool { return slotPool{process{h.Instance, h.Secret}, h.Slots} }

// slots returns how many games the instance can begin against players of a kind: those
// of its last heartbeat, as far as its pool has room.
func (in presentInstance) slots(against protocol.Kind, room map[slotPool]freeSlots) int {
	return min(in.free.against(against), room[slotPoolOf(in.hello)].against(against))
}

// freeSlots returns the free slots of each pool of them: those of its last heartbeat, for
// whichever player, less those that are taken though no heartbeat says so yet, for
// games that have just begun.
func (a *Arena) freeSlots(present map[protocol.PlayerID][]presentInstance, now time.Time) map[slotPool]freeSlots {
	free, seen := make(map[slotPool]freeSlots), make(map[slotPool]time.Time)
	for _, instances := range present {
		for _, in := range instances {
			if key := slotPoolOf(in.hello); in.seen.After(seen[key]) {
				seen[key], free[key] = in.seen, in.pool
			}
		}
	}
	a.index.each(func(e *protocol.Event) {
		if now.Sub(e.Started) > begunLately {
			return
		}
		for seat, h := range e.Holders {
			for _, in := range present[h.Player] {
				if in.hello.Instance == h.Instance && !slices.Contains(in.games, e.Game) {
					key := slotPoolOf(in.hello)
					free[key] = free[key].less(e.Holders[1-seat].Kind)
				}
			}
		}
	})
	return free
}

// room returns the free slots of each pool of them that pairings do not wait for.
func (p *pairer) room(present map[protocol.PlayerID][]presentInstance, now time.Time) map[slotPool]freeSlots {
	room := p.a.freeSlots(present, now)
	for _, w := range p.posted {
		for seat, wanted := range w.ch.Seats {
			against := protocol.Bot
			if all := present[w.ch.Seats[1-seat].Player]; len(all) > 0 {
				against = all[0].hello.Kind
			}
			if all := present[wanted.Player]; len(all) > 0 {
				key := slotPoolOf(all[0].hello)
				room[key] = room[key].less(against)
			}
		}
	}
	return room
}

// spareSeats is how many more seats a group of the operator's bot processes may play, by the slots
// that they have together. Others have none.
type spareSeats map[slotPool]*int

// keepRoom limits the room of the operator's bot processes, so that they survive as many losses as
// the settings say. Seats that are vacant come before new games.
func (p *pairer) keepRoom(present map[protocol.PlayerID][]presentInstance, room map[slotPool]freeSlots, now time.Time) spareSeats {
	f, spare := p.a.fleetRoom(present, now), make(spareSeats)
	for _, w := range p.posted {
		for _, wanted := range w.ch.Seats {
			if g, _ := f.groupOf(present[wanted.Player]); g != nil {
				g.promise++
			}
		}
	}
	keeps := false
	for _, g := range f.groups {
		n, free := g.spare(p.a.cfg.Ladder.Losses), g.unpromised()
		keeps = keeps || n < 2 && free >= 2
		for key := range g.free {
			spare[key] = &n
			room[key] = freeSlots{min(room[key].all, n), min(room[key].bots, n)}
		}
	}
	if keeps != p.keeps {
		p.keeps = keeps
		p.a.log.Info().Bool("keeps", keeps).Int("losses", p.a.cfg.Ladder.Losses).Msg("bot processes keep their free slots for the loss of others, and are not paired")
	}
	return spare
}

// take takes a seat, and returns how to give it back; false if there is none.
func (s spareSeats) take(key slotPool) (back func(), ok bool) {
	n := s[key]
	switch {
	case n == nil:
		return func() {}, true
	case *n < 1:
		return nil, false
	}
	*n--
	return func() { *n++ }, true
}

// freePlayers returns those who may be paired now, by id.
func (p *pairer) freePlayers(present map[protocol.PlayerID][]presentInstance, room map[slotPool]freeSlots, now time.Time) map[protocol.PlayerID]*free {
	games := p.a.ladderGames()
	for _, w := range p.posted {
		for _, seat := range w.ch.Seats {
			games[seat.Player]++
		}
	}
	players := make(map[protocol.PlayerID]*free)
	for id, instances := range present {
		c := p.contender(id)
		f := &free{contender: c, id: id}
		for _, in := range instances {
			if p.wants(id, in, room) {
				f.kind = in.hello.Kind
				f.instances = append(f.instances, in)
			}
		}
		switch {
		case games[id] >= p.a.cfg.Ladder.Games:
			c.since = time.Time{}
			continue
		case len(f.instances) == 0:
			if now.Sub(c.free) > forgetAfter { // else it may have lost its connection for a moment
				c.since = time.Time{}
			}
			continue
		}
		if c.free = now; c.since.IsZero() {
			c.since = now
		}
		if now.Sub(c.since) >= p.a.cfg.Ladder.Pause && !now.Before(c.until) {
			players[id] = f
		}
	}
	return players
}

// ladderGames counts the running games of the ladder of each player.
func (a *Arena) ladderGames() map[protocol.PlayerID]int {
	games := make(map[protocol.PlayerID]int)
	a.index.each(func(e *protocol.Event) {
		if e.Pool == ladderPoolOf(e.Terms) {
			games[e.Holders[0].Player]++
			games[e.Holders[1].Player]++
		}
	})
	return games
}

// wants reports whether an instance takes part in any pool, with a slot for somebody there.
func (p *pairer) wants(id protocol.PlayerID, in presentInstance, room map[slotPool]freeSlots) bool {
	free := func(k protocol.Kind) bool { return in.slots(k, room) > 0 }
	return slices.ContainsFunc(p.pools, func(g ladderGroup) bool { return g.has(id, in.hello) && slices.ContainsFunc(g.kinds, free) })
}

// vouchedKind returns what a player is whatever its hello says: the gateways vouch for
// people. Whoever else says that a person plays is among the bots, where these are kept
// apart from people.
func vouchedKind(id protocol.PlayerID) protocol.Kind {
	if id.Person() {
		return protocol.Human
	}
	return protocol.Bot
}

// has reports whether an instance of a player takes part in a pool: bots do that take bots,
// and people who say so.
func (g ladderGroup) has(id protocol.PlayerID, h *protocol.Hello) bool {
	switch {
	case !slices.Contains(g.kinds, vouchedKind(id)):
		return false
	case h.Kind == protocol.Bot:
		return h.Declines(g.terms, protocol.Opponent{Kind: protocol.Bot}) == ""
	case !slices.Contains(h.Pools, protocol.LadderPool):
		return false
	}
	return slices.ContainsFunc(g.kinds, func(k protocol.Kind) bool { return h.Declines(g.terms, protocol.Opponent{Kind: k}) == "" })
}
