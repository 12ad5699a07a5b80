package arena

import (
	"context"
	"errors"
	"slices"

	"sparring/protocol"
)

func refusal(c protocol.Code, format string, args ...any) protocol.Answer {
	return protocol.Answer{Error: protocol.Refuse(c, format, args...)}
}

// otherProcess is why a process is denied what it says as an instance.
const otherProcess = "another process acts as this instance: each needs an id of its own"

func (a *Arena) alive(from protocol.From, m protocol.Alive) protocol.AliveAnswer {
	switch a.presence.listens(from.Player, m.Instance, m.Secret, from.Arrived) {
	case protocol.UnknownPeer:
		return protocol.AliveAnswer{Answer: refusal(protocol.UnknownPeer, "say hello first")}
	case protocol.Denied:
		return protocol.AliveAnswer{Answer: refusal(protocol.Denied, otherProcess)}
	}
	if !a.canStore() && protocol.CanFailOver(a.nc) {
		return protocol.AliveAnswer{Answer: refusal(protocol.Unavailable, "nothing can be stored now")} // perhaps another arena can
	}
	return protocol.AliveAnswer{Held: a.index.heldBy(from.Player, m.Instance)}
}

// canStore reports whether our lease holds and the store still answers: one that lies cut
// off with us is not waited for until the lease expires.
func (a *Arena) canStore() bool {
	_, alive := a.leases.alive()
	_, cut := a.leases.cutOff()
	return alive && !cut
}

// served reports whether a game has a referee in some arena, will have one soon,
// or has one that still answers after the end, and whether the player has a seat.
func (a *Arena) served(g protocol.GameID, p protocol.PlayerID) (refereed, seated bool) {
	if g == "" {
		return false, false
	}
	known, seated, final := a.index.seated(g, p)
	if known && !(seated && final) {
		return true, seated
	}
	a.mu.Lock()
	r := a.referees[g]
	a.mu.Unlock()
	if r != nil {
		return true, slices.Contains(r.players[:], p)
	}
	return known && a.owners.elsewhere(string(g)), seated
}

// orphan returns the answer to an action in a game that this arena does not
// referee, nil if another arena does or will.
func (a *Arena) orphan(g protocol.GameID) *protocol.Error {
	last, refused := a.lastStored(g)
	if refused == nil && last.Status == protocol.Finished {
		return protocol.Refuse(protocol.Over, "the game has ended")
	}
	return refused
}

// lastStored returns the last entry of a game's log, or a refusal if there is none.
func (a *Arena) lastStored(g protocol.GameID) (last protocol.Event, refused *protocol.Error) {
	if g == "" {
		return last, protocol.Refuse(protocol.NoGame, "no such game")
	}
	ctx, cancel := context.WithTimeout(a.life, storeWait)
	defer cancel()
	last, _, err := a.store.lastEvent(ctx, g)
	switch {
	case errors.Is(err, ErrNoGame):
		return last, protocol.Refuse(protocol.NoGame, "no such game")
	case err != nil:
		return last, protocol.Refuse(protocol.Unavailable, "the game can't be read now")
	}
	return last, nil
}
