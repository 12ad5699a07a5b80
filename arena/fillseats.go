package arena

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/game"
	"sparring/protocol"
)

// offersEach is how many instances of a pool are asked before the challenge
// waits. The queue group picks one at random each time.
const offersEach = 3

// busyEach is how often a player is asked for each of its other instances when one is busy: an instance without
// a free slot stays in the queue, for the seats of running games, and says at once that it is busy.
const busyEach = 4

// unfilled is the reason why a challenge has no game yet.
type unfilled struct {
	final  bool              // the player that was asked for declined
	later  bool              // what keeps it passes soon, and is no player's fault
	by     protocol.PlayerID // who was asked for and did not take its seat
	reason protocol.DeclineReason
	text   string
}

// fillSeats finds instances for both seats. If it fails it returns the reason,
// and the seats that it could fill.
func (a *Arena) fillSeats(ctx context.Context, msg jetstream.Msg, ch protocol.Challenge) (holders [2]protocol.Holder, verdict *unfilled) {
	now := time.Now()
	var asked []protocol.PlayerID
	for _, w := range ch.Seats {
		if w.Player != "" && w.Instance == "" {
			asked = append(asked, w.Player)
		}
	}
	if ch.Pairing {
		if verdict := a.pairable(ch, now); verdict != nil {
			return holders, verdict
		}
	}
	for seat, w := range ch.Seats {
		if w.Instance != "" && a.presence.present(w.Player, w.Instance, now) {
			holders[seat] = a.holder(ch.Terms, w.Player, w.Instance)
		} else if w.Player != "" && a.presence.busy(w.Player, a.opponent(ch, game.Seat(seat), holders[1-seat]).Kind, now) {
			// Asking the other player now would block its slot for nothing.
			return holders, &unfilled{by: w.Player}
		}
	}
	fill := func(seat game.Seat) *unfilled {
		a.sent(msg.InProgress())
		h, verdict := a.fillSeat(ctx, ch, seat, holders[seat.Other()])
		if verdict != nil {
			if !verdict.later { // else it is not the player's fault
				verdict.by = ch.Seats[seat].Player
			}
			return verdict
		}
		holders[seat] = h
		return nil
	}
	// A challenger that is gone comes before the one that it asked for, who would hold a
	// slot for nothing, and be reserved, at every attempt until the challenge expires.
	for _, seat := range []game.Seat{game.First, game.Second} {
		if ch.Seats[seat].Instance != "" && holders[seat].Player == "" {
			if verdict := fill(seat); verdict != nil {
				return holders, verdict
			}
		}
	}
	if !a.reserved.reserve(ch.Game, asked, now) {
		return holders, &unfilled{later: true}
	}
	defer func() {
		var holding []protocol.PlayerID
		for _, h := range holders {
			if verdict != nil && slices.Contains(asked, h.Player) {
				holding = append(holding, h.Player)
			}
		}
		a.reserved.release(ch.Game, asked, holding, time.Now().Add(a.cfg.HoldFor))
	}()
	for _, seat := range []game.Seat{game.First, game.Second} {
		if holders[seat].Player == "" {
			if verdict := fill(seat); verdict != nil {
				return holders, verdict
			}
		}
	}
	return holders, nil
}

// addressee chooses whom to offer a seat, so that nobody is asked who would decline:
// its player; its pool, where the queue group chooses; or, if some of the pool
// would decline or its queue did not answer lately, one of its members who have a
// free slot. It returns the reason if nobody may be asked.
func (a *Arena) addressee(w protocol.SeatWanted, t protocol.Terms, o protocol.Opponent) (protocol.Pool, protocol.PlayerID, *unfilled) {
	now := time.Now()
	if w.Player != "" {
		if why := a.presence.declines(w.Player, t, o, now); why != "" && w.Instance == "" {
			return "", "", &unfilled{final: true, reason: why, text: "the player takes no such matches"}
		}
		return protocol.OwnPool(w.Player), w.Player, nil
	}
	m := a.presence.membersOf(w.Pool, t, o, now)
	silent := func(p protocol.PlayerID) bool { return a.silentPlayers.has(p, now) }
	if quick := slices.DeleteFunc(slices.Clone(m.takers), silent); len(quick) > 0 {
		m.takers = quick // else all were slow to answer, and one of them may answer now
	}
	switch {
	case !m.declines && (len(m.takers) == 0 || !a.silentPools.has(w.Pool, now)):
		return w.Pool, "", nil
	case len(m.takers) == 0:
		return "", "", &unfilled{}
	}
	p := m.takers[rand.IntN(len(m.takers))]
	return protocol.OwnPool(p), p, nil
}

// fillSeat offers one seat to its player, or in its pool.
func (a *Arena) fillSeat(ctx context.Context, ch protocol.Challenge, seat game.Seat, other protocol.Holder) (protocol.Holder, *unfilled) {
	w := ch.Seats[seat]
	offer := protocol.Offer{Kind: protocol.OfferMatch, Game: ch.Game, Terms: ch.Terms, Seat: seat, Pool: poolOf(ch), HoldMS: a.cfg.HoldFor.Milliseconds()}
	o := a.opponent(ch, seat, other)
	if o.Player != "" {
		offer.Opponent = &o
	}
	verdict := &unfilled{}
	for tries, busy := 0, 0; tries < offersEach; tries++ {
		pool, player, nobody := a.addressee(w, ch.Terms, o)
		if nobody != nil {
			return protocol.Holder{}, nobody
		}
		offer.Player, offer.Deadline = player, time.Now().Add(a.cfg.OfferFor).UTC()
		asked := time.Now()
		ans, err := a.server.Offer(ctx, pool, offer)
		switch {
		case err != nil:
			if !a.askAgain(ctx, ch, w, pool, player, err) {
				return protocol.Holder{}, &unfilled{later: !a.nc.IsConnected() || a.reach.mayHaveLost(asked, time.Now())}
			}
		case ans.Answer == protocol.Accept && !a.presence.authentic(ans.Player, ans):
			a.metrics.offers.WithLabelValues("stranger").Inc()
			a.complain(pool, "offer accepted by an unknown instance of this player", func(line *zerolog.Event) {
				line.Str("game", string(ch.Game)).Str("player", string(ans.Player))
			})
		case ans.Answer == protocol.Accept && offer.Opponent != nil && ans.Player == offer.Opponent.Player:
			a.metrics.offers.WithLabelValues("self").Inc() // the instance releases the slot when its hold expires
		case ans.Answer == protocol.Accept && w.Player == "" && !a.presence.present(ans.Player, ans.Instance, time.Now()):
			// Only the player itself can say hello, but any member of a shared
			// pool can answer an offer.
			a.metrics.offers.WithLabelValues("stranger").Inc()
		case ans.Answer == protocol.Accept:
			a.metrics.offers.WithLabelValues(string(protocol.Accept)).Inc()
			return a.holder(ch.Terms, ans.Player, ans.Instance), nil
		default:
			a.metrics.offers.WithLabelValues(string(ans.Answer)).Inc()
			if player != "" && ans.Answer == protocol.Busy {
				busy++
				if others := a.presence.count(player, time.Now()) - 1; busy < busyEach*others {
					tries-- // one of them has room, or had
				} else if w.Player != "" {
					return protocol.Holder{}, &unfilled{}
				}
			}
			if ans.Answer == protocol.Decline && w.Player != "" && w.Instance == "" && ans.Reason != protocol.DeclineDraining {
				declined := &unfilled{final: true, reason: ans.Reason.Known(), text: ans.Text}
				if !a.presence.several(w.Player, time.Now()) {
					return protocol.Holder{}, declined
				}
				verdict = declined // unless another of its instances accepts
			}
		}
	}
	if w.Player == "" {
		a.silentPools.add(w.Pool, time.Now()) // nobody took it, although there were answers
	}
	return protocol.Holder{}, verdict
}

// askAgain notes an offer without a proper answer, and reports whether to offer the seat again
// at once: somebody else in the pool may take it, or another instance of the player, if one
// is silent.
func (a *Arena) askAgain(ctx context.Context, ch protocol.Challenge, w protocol.SeatWanted, pool protocol.Pool, player protocol.PlayerID, err error) (again bool) {
	a.metrics.offers.WithLabelValues("none").Inc()
	switch {
	case ctx.Err() != nil, errors.Is(err, nats.ErrNoResponders):
		return false
	case errors.Is(err, protocol.ErrOfferAnswer):
		a.complain(pool, "malformed answer to an offer", func(line *zerolog.Event) { line.Err(err).Str("game", string(ch.Game)) })
	case !errors.Is(err, context.DeadlineExceeded):
		return false // our own connection
	}
	switch now := time.Now(); {
	case w.Player != "":
		return a.presence.partlySilent(w.Player, now)
	case player != "": // it was offered in the player's own pool
		a.silentPlayers.add(player, now)
	default:
		a.silentPools.add(pool, now)
	}
	return true
}

// opponent describes the other seat: its holder, or the player asked for it.
func (a *Arena) opponent(ch protocol.Challenge, seat game.Seat, other protocol.Holder) protocol.Opponent {
	if other.Player == "" {
		other.Player, other.Kind = ch.Seats[seat.Other()].Player, protocol.Bot
		if other.Player.Person() {
			other.Kind = protocol.Human
		}
		other.Rating = a.rating(ch.Terms, other.Player)
		if hello := a.presence.anyHello(other.Player, time.Now()); hello != nil {
			other.Display, other.Kind = hello.Display, hello.Kind
		}
	}
	return protocol.Opponent{Player: other.Player, Display: other.Display, Kind: other.Kind, Rating: other.Rating}
}

// holder describes an instance that takes a seat.
func (a *Arena) holder(t protocol.Terms, p protocol.PlayerID, id protocol.InstanceID) protocol.Holder {
	h := protocol.Holder{Player: p, Kind: protocol.Bot, Instance: id, Rating: a.rating(t, p)}
	if hello := a.presence.helloOf(p, id); hello != nil {
		h.Display, h.Kind, h.Build = hello.Display, hello.Kind, hello.EngineName(t.Game)
	}
	return h
}
