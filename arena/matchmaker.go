package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/livegame"
	"sparring/game"
	"sparring/protocol"
)

const (
	// ackWait is how long a challenge stays with a matchmaker that has stopped
	// responding.
	ackWait = 10 * time.Second
	// sendBack is how long an unreadable challenge stays out of the queue:
	// returned at once, it would starve the others.
	sendBack = 30 * time.Second
	// decidedAtOnce limits how many challenges one process works on at the
	// same time.
	decidedAtOnce = 256
	// takenAtOnce is how many challenges are asked for at a time: to ask for each alone
	// takes a trip to the server and back, and limited how many games begin in a second.
	takenAtOnce = 16
	// takeWait is how long the queue is asked for a challenge at a time. A server of a
	// cluster that is lost takes the question with it.
	takeWait = time.Second
	// offersEach is how many instances of a pool are asked before the challenge
	// waits. The queue group picks one at random each time.
	offersEach = 3
	// expireEvery is how often a process without room looks for challenges that have
	// expired in the queue.
	expireEvery = time.Second
	// retriesPerSecond limits the attempts of one process for all challenges
	// that wait.
	retriesPerSecond = 500
)

// matchmake takes challenges from the queue and decides on them, until ctx ends.
func (a *Arena) matchmake(ctx context.Context) {
	failing := false
	var expiredAt time.Time
	for ctx.Err() == nil {
		room := a.room()
		if room < 1 {
			if now := time.Now(); !a.isDraining() && now.Sub(expiredAt) >= expireEvery {
				a.expireUntaken(ctx, now)
				expiredAt = now
			}
			sleep(ctx, 50*time.Millisecond)
			continue
		}
		switch err := a.take(ctx, min(room, takenAtOnce)); {
		case err == nil:
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		default:
			if !failing {
				a.log.Warn().Err(err).Msg("challenge queue can't be read; trying again")
			}
			failing = true
			sleep(ctx, 250*time.Millisecond)
			continue
		}
		failing = false
	}
}

// take takes up to n challenges from the queue, in the time of takeWait, and has each
// decided on as it comes.
func (a *Arena) take(ctx context.Context, n int) error {
	wait, cancel := context.WithTimeout(ctx, takeWait)
	defer cancel()
	batch, err := a.store.queue.Fetch(n, jetstream.FetchContext(wait))
	if err != nil {
		return err
	}
	for msg := range batch.Messages() {
		a.mu.Lock()
		draining := a.draining
		if !draining {
			a.deciding++
		}
		a.mu.Unlock()
		if draining { // since the queue was asked
			a.sent(msg.Nak())
			continue
		}
		a.wg.Go(func() {
			a.decide(ctx, msg)
			a.mu.Lock()
			a.deciding--
			a.mu.Unlock()
		})
	}
	return batch.Error()
}

// room returns how many more challenges may be taken from the queue.
func (a *Arena) room() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.draining {
		return 0
	}
	return min(decidedAtOnce-a.deciding, a.cfg.Games-len(a.referees)-a.deciding)
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// decide turns a challenge into a game, closes it, or returns it to the queue. It
// is acknowledged only when the game's log says which.
func (a *Arena) decide(ctx context.Context, msg jetstream.Msg) {
	attempt := uint64(1)
	if meta, err := msg.Metadata(); err == nil {
		attempt = meta.NumDelivered
	}
	var ch protocol.Challenge
	if err := readable(msg.Data(), &ch); err != nil {
		if attempt == 1 {
			a.metrics.unreadable.Inc()
			a.log.Error().Err(err).Str("subject", msg.Subject()).Msg("unreadable challenge returned to the queue")
		}
		a.sent(msg.NakWithDelay(sendBack))
		return
	}
	log := a.log.With().Str("game", string(ch.Game)).Logger()
	// Another process may have stored it. A log that begins after this is told to the
	// waiting, and one that has begun before is found.
	a.waiting.add(ch, time.Now(), math.MaxInt)
	_, err := a.store.lastEntry(ctx, ch.Game)
	switch {
	case err == nil:
		a.decided(msg, ch) // by an earlier attempt
		return
	case !errors.Is(err, ErrNoGame):
		a.sent(msg.NakWithDelay(a.cfg.RetryMax))
		return
	}
	expired := expiredNotice(ch.Game)
	if !time.Now().Before(ch.Expires) {
		a.dismiss(ctx, msg, ch, protocol.ReasonExpired, expired)
		return
	}
	holders, verdict := a.fillSeats(ctx, msg, ch)
	if verdict == nil {
		err := a.grant(ctx, livegame.Opening{Game: ch.Game, Terms: ch.Terms, Pool: poolOf(ch), Holders: holders})
		switch {
		case err == nil, errors.Is(err, errLost):
			a.decided(msg, ch)
		default:
			log.Warn().Err(err).Msg("game not granted; the challenge waits")
			a.retry(msg, attempt, time.Until(ch.Expires))
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
	if ch.Pairing && (!verdict.later || attempt >= pairingAttempts) {
		a.dismiss(ctx, msg, ch, protocol.ReasonExpired, protocol.Notice{Kind: protocol.NoticeExpired, Game: ch.Game, From: verdict.by})
		return
	}
	if attempt == 1 {
		a.notifyChallenger(ch, protocol.Notice{Kind: protocol.NoticeWaiting, Game: ch.Game, Text: "nobody is free yet"})
	}
	a.retry(msg, attempt, time.Until(ch.Expires))
}

func expiredNotice(g protocol.GameID) protocol.Notice {
	return protocol.Notice{Kind: protocol.NoticeExpired, Game: g, Text: "nobody accepted the challenge in time"}
}

// expireUntaken closes the challenges that this process knows and that have expired. It is
// for a process that has no room for games, and so takes none from the queue: if all have
// none, nobody else would tell the challengers, until a game ends.
func (a *Arena) expireUntaken(ctx context.Context, now time.Time) {
	for _, g := range a.waiting.expired(now) {
		within, cancel := context.WithTimeout(ctx, storeWait)
		ch, seq, err := a.store.storedChallenge(within, g)
		if err == nil {
			err = a.closeStored(within, ch, seq, protocol.ReasonExpired)
		}
		cancel()
		switch {
		case err == nil:
			a.notifyChallenger(ch, expiredNotice(ch.Game))
			a.log.Info().Str("game", string(ch.Game)).Str("reason", string(protocol.ReasonExpired)).Msg("challenge closed without a game")
		case errors.Is(err, ErrNoGame), errors.Is(err, errLost):
			// Decided just now: its log says so to the waiting.
		default:
			return // the store does not answer: later
		}
	}
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
	if _, e := livegame.Setup(ch.Terms); e != nil {
		return e
	}
	for _, w := range ch.Seats {
		if w.Player == "" && w.Pool == "" {
			return errors.New("a seat has neither player nor pool")
		}
	}
	return nil
}

// poolOf returns the pool that an open seat was offered in, or that of a pairing.
func poolOf(ch protocol.Challenge) protocol.Pool {
	if ch.Pairing {
		return ladderPoolOf(ch.Terms)
	}
	for _, w := range ch.Seats {
		if w.Pool != "" {
			return w.Pool
		}
	}
	return ""
}

// sent logs an acknowledgement that could not be sent. The challenge is then
// delivered again and its log already says what became of it.
func (a *Arena) sent(err error) {
	if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		a.log.Debug().Err(err).Msg("challenge not acknowledged")
	}
}

// retry returns a challenge to the queue for its next attempt, which comes before
// left has passed.
func (a *Arena) retry(msg jetstream.Msg, attempt uint64, left time.Duration) {
	backOff := min(a.cfg.RetryAfter<<min(attempt-1, 16), a.cfg.RetryMax)
	delay := min(crowded(backOff, a.returned.Add(1)), max(left, time.Millisecond))
	time.AfterFunc(delay, func() { a.returned.Add(-1) })
	a.sent(msg.NakWithDelay(delay))
}

// crowded lengthens a delay if n challenges wait for their next attempt, so that
// there are at most retriesPerSecond attempts a second.
func crowded(delay time.Duration, n int64) time.Duration {
	return max(delay, time.Duration(n)*time.Second/retriesPerSecond)
}

// dismiss closes a challenge without a game and tells the challenger.
func (a *Arena) dismiss(ctx context.Context, msg jetstream.Msg, ch protocol.Challenge, why game.Reason, n protocol.Notice) {
	switch err := a.close(ctx, ch, n.From, why, string(n.Reason)); {
	case err == nil:
		a.reserved.end(ch.Game) // release has told who held a slot for it
		a.notifyChallenger(ch, n)
		a.log.Info().Str("game", string(ch.Game)).Str("reason", string(why)).Msg("challenge closed without a game")
	case !errors.Is(err, errLost):
		a.sent(msg.NakWithDelay(a.cfg.RetryMax))
		return
	}
	a.decided(msg, ch)
}

// decided removes a challenge from the queue once its game's log has begun.
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

// unfilled is the reason why a challenge has no game yet.
type unfilled struct {
	final  bool              // the player that was asked for declined
	later  bool              // what keeps it passes soon, and is no player's fault
	by     protocol.PlayerID // who was asked for and did not take its seat
	reason protocol.DeclineReason
	text   string
}

// release tells players who accepted a seat that the game does not start.
func (a *Arena) release(ch protocol.Challenge, holders [2]protocol.Holder) {
	for seat, h := range holders {
		if h.Player != "" && ch.Seats[seat].Instance == "" {
			a.server.Notify(h.Player, protocol.Notice{Kind: protocol.NoticeReleased, Game: ch.Game, Text: "nobody accepted the other seat"})
		}
	}
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
			verdict.by = ch.Seats[seat].Player
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
	silent := func(p protocol.PlayerID) bool { return a.silent.has(p, now) }
	if quick := slices.DeleteFunc(slices.Clone(m.takers), silent); len(quick) > 0 {
		m.takers = quick // else all were slow to answer, and one of them may answer now
	}
	switch {
	case !m.declines && (len(m.takers) == 0 || !a.pools.has(w.Pool, now)):
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
	for range offersEach {
		pool, player, nobody := a.addressee(w, ch.Terms, o)
		if nobody != nil {
			return protocol.Holder{}, nobody
		}
		offer.Player, offer.Deadline = player, time.Now().Add(a.cfg.OfferFor).UTC()
		ans, err := a.server.Offer(ctx, pool, offer)
		switch {
		case err != nil:
			a.metrics.offers.WithLabelValues("none").Inc()
			if !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
				a.log.Warn().Err(err).Str("game", string(ch.Game)).Msg("malformed answer to an offer")
			}
			if w.Player != "" || ctx.Err() != nil || errors.Is(err, nats.ErrNoResponders) {
				return protocol.Holder{}, &unfilled{later: !a.nc.IsConnected()}
			}
			a.unanswered(pool, player) // ask somebody else at once
		case ans.Answer == protocol.Accept && !a.presence.authentic(ans.Player, ans):
			a.metrics.offers.WithLabelValues("stranger").Inc()
			a.log.Warn().Str("game", string(ch.Game)).Str("pool", string(pool)).Str("player", string(ans.Player)).
				Msg("offer accepted by an unknown instance of this player")
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
			if w.Player != "" && ans.Answer == protocol.Busy && !a.presence.several(w.Player, time.Now()) {
				return protocol.Holder{}, &unfilled{} // else another of its instances may have room
			}
			if ans.Answer == protocol.Decline && w.Player != "" && w.Instance == "" && ans.Reason != protocol.DeclineDraining {
				declined := &unfilled{final: true, reason: ans.Reason, text: ans.Text}
				if !a.presence.several(w.Player, time.Now()) {
					return protocol.Holder{}, declined
				}
				verdict = declined // unless another of its instances accepts
			}
		}
	}
	if w.Player == "" {
		a.pools.add(w.Pool, time.Now()) // answers without a taker starve it as well
	}
	return protocol.Holder{}, verdict
}

// unanswered notes that an offer in a pool got no proper answer: of a player, if it was
// in that player's own, and otherwise of the pool's queue.
func (a *Arena) unanswered(pool protocol.Pool, player protocol.PlayerID) {
	now := time.Now()
	if player != "" {
		a.silent.add(player, now)
	} else {
		a.pools.add(pool, now)
	}
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
