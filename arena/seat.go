package arena

import (
	"time"

	"sparring/game"
	"sparring/protocol"
)

// watchSeat checks the heartbeats of a seat's holder. With one, a clock
// that the platform stopped resumes; without, the holder loses the seat, unless the
// player keeps it. A vacant seat goes to an instance of the player that claims it or
// accepts the offer. It returns when the next look is due if nothing happens before;
// zero means at the next tick.
func (r *referee) watchSeat(seat game.Seat, now time.Time) (next time.Time) {
	h := r.game.Holder(seat)
	if h.Instance == "" {
		r.fill(seat, h, now)
		return next
	}
	seen := r.a.presence.seen(h.Player, h.Instance)
	if seen.After(r.seatSince[seat]) {
		if r.game.Heard(seat, now) {
			r.sendStates()
		}
	} else {
		seen = r.seatSince[seat]
	}
	if away := r.a.reach.gone(seen, r.a.cfg.LostAfter); r.game.Keeps(seat) && (away || !r.a.presence.present(h.Player, h.Instance, now)) {
		if id, ok := r.a.presence.claimant(h.Player, r.id, r.seatSince[seat], now); ok {
			r.seat(seat, h.Epoch, id)
		}
		return next // nobody is there to whom the state could be repeated
	} else if away {
		r.a.presence.lostSeat(h.Player, h.Instance)
		r.vacated(seat, r.game.Vacate(seat, h.Instance, "no heartbeat", now), now)
		return next
	} else if request := r.a.presence.leaving(h.Player, h.Instance); request != "" {
		if event := r.game.GiveBack(seat, h.Instance, request, now); event != nil {
			r.vacated(seat, event, now)
			return next
		}
	}
	return r.repeat(seat, h, now)
}

// vacated applies the event by which an instance loses the seat, if there is one.
func (r *referee) vacated(seat game.Seat, event *protocol.Event, now time.Time) {
	if event == nil {
		return
	}
	r.seatSince[seat], r.offerNext[seat], r.spared[seat] = now, now, 0
	r.apply(event, protocol.ActAnswer{})
	if r.ctx.Err() == nil {
		r.fill(seat, r.game.Holder(seat), now)
	}
}

// spareOffers is how often a vacant seat is offered to instances with a free slot only, if there
// is one. The server chooses whom it asks, and the others say at once that they are busy.
const spareOffers = 16

// fill looks for an instance for a vacant seat.
func (r *referee) fill(seat game.Seat, h protocol.Holder, now time.Time) {
	if !r.game.Fillable(seat, now) {
		return // an accepted offer would be in vain
	}
	if id, ok := r.a.presence.claimant(h.Player, r.id, r.seatSince[seat], now); ok {
		r.seat(seat, h.Epoch, id)
		return
	}
	if r.offering[seat] || now.Before(r.offerNext[seat]) {
		return
	}
	r.offering[seat] = true
	spare := r.spared[seat] < spareOffers && r.a.presence.hasSlot(h.Player, now)
	s := r.game.Snapshot(now)
	other := s.Holders[seat.Other()]
	offer := protocol.Offer{
		Kind: protocol.OfferSeat, Game: s.Game, Terms: s.Terms, Seat: seat, Player: h.Player,
		Opponent: &protocol.Opponent{Player: other.Player, Display: other.Display, Kind: other.Kind, Rating: other.Rating},
		Ply:      len(s.Moves), Deadline: now.Add(r.a.cfg.OfferFor).UTC(), HoldMS: r.a.cfg.HoldFor.Milliseconds(),
		Spare: spare,
	}
	r.a.wg.Go(func() {
		ans, err := r.a.server.Offer(r.ctx, protocol.OwnPool(h.Player), offer)
		r.send(seatOffered{seat, h.Epoch, spare, ans, err})
	})
}

// seat gives the vacant seat to an instance.
func (r *referee) seat(seat game.Seat, epoch uint64, id protocol.InstanceID) {
	now := time.Now()
	build := ""
	if hello := r.a.presence.helloOf(r.game.Holder(seat).Player, id); hello != nil {
		build = hello.EngineName(r.game.Snapshot(now).Terms.Game)
	}
	if event := r.game.Seat(seat, epoch, id, build, now); event != nil {
		r.seatSince[seat] = now
		r.apply(event, protocol.ActAnswer{})
	}
}
