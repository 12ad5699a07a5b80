package arena

import (
	"slices"
	"time"

	"sparring/protocol"
)

// maxGave bounds what is remembered of the seats that one instance has given back.
const maxGave = 256

// gaveBack is a seat that an instance has given back.
type gaveBack struct {
	game    protocol.GameID
	request string // its id
	at      time.Time
	undone  bool // by a hello: the instance takes the seat again
}

// doesWithout reports whether an instance has given back its seat in a game, and said nothing
// since.
func (in *instance) doesWithout(g protocol.GameID) bool {
	return slices.ContainsFunc(in.gave, func(of gaveBack) bool { return of.game == g && !of.undone })
}

// leave only answers. Every arena acts on the leave in left.
func (a *Arena) leave(from protocol.From, m protocol.Leave) protocol.Answer {
	if a.presence.otherProcess(from.Player, m) {
		return refusal(protocol.Denied, otherProcess)
	}
	return protocol.Answer{}
}

// left vacates the seats that an instance gives back.
func (a *Arena) left(from protocol.From, m protocol.Leave) {
	if !a.presence.leave(from, m) {
		return
	}
	for _, r := range a.refereed() {
		if !slices.Contains(r.players[:], from.Player) || (len(m.Games) > 0 && !slices.Contains(m.Games, r.id)) {
			continue
		}
		r.try(seatGivenBack{from.Player, m.Instance, m.ID}) // otherwise the next check of the seats finds it
	}
}

// leave notes which seats an instance gives back: those of the games that it names, or
// all. It reports whether the request counts: it has not come before, since the instance
// may have taken a seat again meanwhile, and comes from the process that acts as the
// instance. That of one that was replaced counts no more: its place has been taken.
func (p *presence) leave(from protocol.From, m protocol.Leave) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[from.Player][m.Instance]; in != nil && (in.otherProcess(m.Secret) || slices.Contains(in.leaves, m.ID)) {
		return false
	}
	in := p.of(from.Player, m.Instance, from.Arrived)
	if in == nil {
		return false
	}
	in.leaves = lastOf(maxGave, append(in.leaves, m.ID))
	if len(m.Games) == 0 {
		in.left = m.ID
	} else {
		for _, g := range m.Games {
			in.gave = lastOf(maxGave, append(in.gave, gaveBack{game: g, request: m.ID, at: from.Arrived}))
		}
	}
	return true
}

// otherProcess reports whether a leave comes from another process than the one that acts
// as the instance.
func (p *presence) otherProcess(player protocol.PlayerID, m protocol.Leave) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.players[player][m.Instance]
	return in != nil && in.otherProcess(m.Secret)
}

// lastOf returns the last n of a list.
func lastOf[T any](n int, all []T) []T { return all[max(0, len(all)-n):] }

// leaving returns the id of the request by which an instance has given back all seats; "" if
// it has not.
func (p *presence) leaving(player protocol.PlayerID, id protocol.InstanceID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[player][id]; in != nil {
		return in.left
	}
	return ""
}

// gaveSince returns the id of the last request by which an instance has given back its seat
// in a game since a time; "" if it has not.
func (p *presence) gaveSince(player protocol.PlayerID, id protocol.InstanceID, g protocol.GameID, since time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.players[player][id]; in != nil {
		for _, of := range slices.Backward(in.gave) {
			if of.game == g && of.at.After(since) {
				return of.request
			}
		}
	}
	return ""
}

// vacateGiven vacates the seats of a game that were given back while nobody refereed it: since
// the last entry of its log.
func (r *referee) vacateGiven(last *protocol.Event) {
	for _, h := range last.Holders {
		if request := r.a.presence.gaveSince(h.Player, h.Instance, r.id, last.Time); request != "" {
			r.try(seatGivenBack{h.Player, h.Instance, request})
		}
	}
}

// seatGivenBack is an instance that leaves a player's seat by a request.
type seatGivenBack struct {
	player   protocol.PlayerID
	instance protocol.InstanceID
	request  string
}

func (q seatGivenBack) serve(r *referee) {
	if seat, ok := r.game.SeatOf(q.player); ok && !r.game.Keeps(seat) {
		now := time.Now()
		r.vacated(seat, r.game.GiveBack(seat, q.instance, q.request, now), now)
	}
}
