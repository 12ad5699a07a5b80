package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/match"
	"sparring/game"
	"sparring/protocol"
)

const (
	// ackWait is how long a challenge stays with a matchmaker that says
	// nothing more.
	ackWait = 10 * time.Second
	// sendBack is how long a challenge rests that can't be read: an immediate
	// return would starve the queue.
	sendBack = 30 * time.Second
	// atOnce is how many challenges one process judges at the same time.
	atOnce = 256
	// tries is how many instances of a pool are asked before the challenge
	// waits: the queue group picks one at random each time.
	tries = 3
)

// matchmake takes challenges from the queue and judges them, until ctx ends.
func (a *Arena) matchmake(ctx context.Context) {
	failing := false
	for ctx.Err() == nil {
		if !a.room() {
			rest(ctx, 50*time.Millisecond)
			continue
		}
		wait, cancel := context.WithTimeout(ctx, 5*time.Second)
		msg, err := a.store.queue.Next(jetstream.FetchContext(wait))
		cancel()
		switch {
		case err == nil:
			a.mu.Lock()
			a.judging++
			a.mu.Unlock()
			a.wg.Go(func() {
				a.judge(ctx, msg)
				a.mu.Lock()
				a.judging--
				a.mu.Unlock()
			})
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		default:
			if !failing {
				a.log.Warn().Err(err).Msg("the queue of challenges can't be read; it is tried again")
			}
			failing = true
			rest(ctx, time.Second)
			continue
		}
		failing = false
	}
}

// room reports whether another challenge may be judged.
func (a *Arena) room() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.judging < atOnce && len(a.referees)+a.judging < a.cfg.Games
}

// rest waits, at most until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// judge decides what becomes of one challenge: a game, nothing, or another try
// later. It is acknowledged only when its fate stands in the game's log.
func (a *Arena) judge(ctx context.Context, msg jetstream.Msg) {
	attempt := uint64(1)
	if meta, err := msg.Metadata(); err == nil {
		attempt = meta.NumDelivered
	}
	var ch protocol.Challenge
	if err := readable(msg.Data(), &ch); err != nil {
		if attempt == 1 {
			a.metrics.unjudged.Inc()
			a.log.Error().Err(err).Str("subject", msg.Subject()).Msg("a challenge that can't be read goes back to the queue")
		}
		a.sent(msg.NakWithDelay(sendBack))
		return
	}
	log := a.log.With().Str("game", string(ch.Game)).Logger()
	_, err := a.store.lastEntry(ctx, ch.Game)
	switch {
	case err == nil:
		a.decided(msg, ch) // before
		return
	case !errors.Is(err, errNone):
		a.sent(msg.NakWithDelay(a.cfg.RetryMost))
		return
	}
	expired := protocol.Notice{Kind: protocol.NoticeExpired, Game: ch.Game, Text: "nobody took the challenge in time"}
	if !time.Now().Before(ch.Expires) {
		a.dismiss(ctx, msg, ch, protocol.ReasonExpired, expired)
		return
	}
	holders, verdict := a.fillSeats(ctx, msg, ch)
	if verdict == nil {
		err := a.grant(ctx, match.Opening{Game: ch.Game, Terms: ch.Terms, Pool: poolOf(ch), Holders: holders})
		switch {
		case err == nil, errors.Is(err, errLost):
			a.decided(msg, ch)
		default:
			log.Warn().Err(err).Msg("game not granted; the challenge waits")
			a.sent(msg.NakWithDelay(a.backOff(attempt)))
		}
		return
	}
	a.release(ch, holders)
	if verdict.final {
		a.dismiss(ctx, msg, ch, protocol.ReasonDeclined, protocol.Notice{
			Kind: protocol.NoticeDeclined, Game: ch.Game, From: verdict.by, Reason: verdict.reason, Text: verdict.text})
		return
	}
	if !time.Now().Before(ch.Expires) {
		a.dismiss(ctx, msg, ch, protocol.ReasonExpired, expired)
		return
	}
	if attempt == 1 {
		a.notifyChallenger(ch, protocol.Notice{Kind: protocol.NoticeWaiting, Game: ch.Game, Text: "nobody is free yet"})
	}
	delay := min(a.backOff(attempt), max(time.Until(ch.Expires), time.Millisecond))
	a.sent(msg.NakWithDelay(delay))
}

func readable(data []byte, ch *protocol.Challenge) error {
	if err := json.Unmarshal(data, ch); err != nil {
		return err
	}
	if ch.V != protocol.Version {
		return fmt.Errorf("version %d: this side reads %d", ch.V, protocol.Version)
	}
	if err := protocol.CheckID("game", ch.Game); err != nil {
		return err
	}
	if _, e := match.Setup(ch.Terms); e != nil {
		return e
	}
	for _, w := range ch.Seats {
		if w.Player == "" && w.Pool == "" {
			return errors.New("a seat that is nobody's and in no pool")
		}
	}
	return nil
}

// poolOf is the pool that an open seat was offered in.
func poolOf(ch protocol.Challenge) protocol.Pool {
	for _, w := range ch.Seats {
		if w.Pool != "" {
			return w.Pool
		}
	}
	return ""
}

// sent notes an acknowledgement that could not be sent: the challenge comes
// again, and finds its log begun.
func (a *Arena) sent(err error) {
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		a.log.Debug().Err(err).Msg("challenge not acknowledged")
	}
}

// backOff is the wait before the next try.
func (a *Arena) backOff(attempt uint64) time.Duration {
	return min(a.cfg.RetryAfter<<min(attempt-1, 16), a.cfg.RetryMost)
}

// dismiss closes a challenge that came to nothing and tells the challenger.
func (a *Arena) dismiss(ctx context.Context, msg jetstream.Msg, ch protocol.Challenge, why game.Reason, n protocol.Notice) {
	switch err := a.close(ctx, ch, why, string(n.Reason)); {
	case err == nil:
		a.notifyChallenger(ch, n)
		a.log.Info().Str("game", string(ch.Game)).Str("reason", string(why)).Msg("challenge came to nothing")
	case !errors.Is(err, errLost):
		a.sent(msg.NakWithDelay(a.cfg.RetryMost))
		return
	}
	a.decided(msg, ch)
}

// decided takes a challenge whose fate stands in its game's log off the queue.
func (a *Arena) decided(msg jetstream.Msg, ch protocol.Challenge) {
	a.waiting.decided(ch)
	a.sent(msg.Ack())
}

func (a *Arena) notifyChallenger(ch protocol.Challenge, n protocol.Notice) {
	for _, w := range ch.Seats {
		if w.Instance != "" {
			a.server.Notify(w.Player, n)
		}
	}
}

// unfilled says why a challenge has no game yet.
type unfilled struct {
	final  bool // the one who was asked for does not want it
	by     protocol.PlayerID
	reason protocol.DeclineReason
	text   string
}

// release tells those who accepted a seat that they need not wait.
func (a *Arena) release(ch protocol.Challenge, holders [2]protocol.Holder) {
	for seat, h := range holders {
		if h.Player != "" && ch.Seats[seat].Instance == "" {
			a.server.Notify(h.Player, protocol.Notice{Kind: protocol.NoticeReleased, Game: ch.Game, Text: "nobody took the other seat"})
		}
	}
}

// fillSeats finds an instance for both seats. What it found is returned with a
// verdict too.
func (a *Arena) fillSeats(ctx context.Context, msg jetstream.Msg, ch protocol.Challenge) (holders [2]protocol.Holder, verdict *unfilled) {
	now := time.Now()
	var asked []protocol.PlayerID
	for _, w := range ch.Seats {
		if w.Player != "" && w.Instance == "" {
			asked = append(asked, w.Player)
		}
	}
	if !a.engaged.engage(ch.Game, asked, now) {
		return holders, &unfilled{}
	}
	defer func() {
		var holding []protocol.PlayerID
		for _, h := range holders {
			if verdict != nil && slices.Contains(asked, h.Player) {
				holding = append(holding, h.Player)
			}
		}
		a.engaged.free(ch.Game, asked, holding, time.Now().Add(a.cfg.HoldFor))
	}()
	for seat, w := range ch.Seats {
		if w.Instance != "" && a.presence.present(w.Player, w.Instance, now) {
			holders[seat] = a.holder(ch.Terms, w.Player, w.Instance)
		} else if w.Player != "" && a.presence.busy(w.Player, now) {
			// Asking the other one now would keep its slot for nothing.
			return holders, &unfilled{}
		}
	}
	for _, seat := range []game.Seat{game.First, game.Second} {
		if holders[seat].Player != "" {
			continue
		}
		a.sent(msg.InProgress())
		h, verdict := a.fillSeat(ctx, ch, seat, holders[seat.Other()])
		if verdict != nil {
			return holders, verdict
		}
		holders[seat] = h
	}
	return holders, nil
}

// fillSeat offers one seat to its player, or to its pool.
func (a *Arena) fillSeat(ctx context.Context, ch protocol.Challenge, seat game.Seat, other protocol.Holder) (protocol.Holder, *unfilled) {
	w := ch.Seats[seat]
	pool := w.Pool
	if w.Player != "" {
		pool = protocol.OwnPool(w.Player)
	}
	offer := protocol.Offer{Kind: protocol.OfferMatch, Game: ch.Game, Terms: ch.Terms, Seat: seat, Player: w.Player, HoldMS: a.cfg.HoldFor.Milliseconds()}
	if o := a.opponent(ch, seat, other); o.Player != "" {
		offer.Opponent = &o
	}
	for range tries {
		offer.Deadline = time.Now().Add(a.cfg.OfferFor).UTC()
		ans, err := a.server.Offer(ctx, pool, offer)
		switch {
		case err != nil:
			a.metrics.offers.WithLabelValues("none").Inc()
			if !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				a.log.Warn().Err(err).Str("game", string(ch.Game)).Msg("an offer was not answered well")
			}
			return protocol.Holder{}, &unfilled{}
		case ans.Answer == protocol.Accept && !a.presence.vouches(ans.Player, ans):
			a.metrics.offers.WithLabelValues("stranger").Inc()
			a.log.Warn().Str("game", string(ch.Game)).Str("pool", string(pool)).Str("player", string(ans.Player)).
				Msg("an offer was accepted by an instance that is not known for this player")
		case ans.Answer == protocol.Accept && offer.Opponent != nil && ans.Player == offer.Opponent.Player:
			a.metrics.offers.WithLabelValues("self").Inc() // nobody plays against itself; its hold runs out
		case ans.Answer == protocol.Accept && w.Player == "" && !a.presence.present(ans.Player, ans.Instance, time.Now()):
			// Who says hello has the player's rights; in a general pool, who
			// answers an offer need not.
			a.metrics.offers.WithLabelValues("stranger").Inc()
		case ans.Answer == protocol.Accept:
			a.metrics.offers.WithLabelValues(string(protocol.Accept)).Inc()
			return a.holder(ch.Terms, ans.Player, ans.Instance), nil
		default:
			a.metrics.offers.WithLabelValues(string(ans.Answer)).Inc()
			if w.Player != "" && ans.Answer == protocol.Busy {
				return protocol.Holder{}, &unfilled{}
			}
			if ans.Answer == protocol.Decline && w.Player != "" && w.Instance == "" && ans.Reason != protocol.DeclineDraining {
				return protocol.Holder{}, &unfilled{final: true, by: w.Player, reason: ans.Reason, text: ans.Text}
			}
		}
	}
	return protocol.Holder{}, &unfilled{}
}

// opponent is what is known of the other side: its holder, or who is wanted.
func (a *Arena) opponent(ch protocol.Challenge, seat game.Seat, other protocol.Holder) protocol.Opponent {
	if other.Player == "" {
		other.Player, other.Kind = ch.Seats[seat.Other()].Player, protocol.Bot
		other.Rating = a.rating(ch.Terms, other.Player)
		if hello := a.presence.anyIntroduction(other.Player, time.Now()); hello != nil {
			other.Display, other.Kind = hello.Display, hello.Kind
		}
	}
	return protocol.Opponent{Player: other.Player, Display: other.Display, Kind: other.Kind, Rating: other.Rating}
}

// holder is an instance as it stands in a game.
func (a *Arena) holder(t protocol.Terms, p protocol.PlayerID, id protocol.InstanceID) protocol.Holder {
	h := protocol.Holder{Player: p, Kind: protocol.Bot, Instance: id, Rating: a.rating(t, p)}
	if hello := a.presence.introduction(p, id); hello != nil {
		h.Display, h.Kind, h.Build = hello.Display, hello.Kind, hello.EngineName(t.Game)
	}
	return h
}
