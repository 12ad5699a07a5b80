package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

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
	// expireEvery is how often a process without room looks for challenges that have
	// expired in the queue.
	expireEvery = time.Second
	// retriesPerSecond limits the attempts of one process for all challenges
	// that wait.
	retriesPerSecond = 500
)

// matchmake takes challenges from the queue and decides on them, until ctx ends.
func (a *Arena) matchmake(ctx context.Context) {
	a.presence.settle(ctx, a.cfg.Heartbeat)
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
			if queueGone(err) {
				if err := a.store.openQueue(ctx); err != nil {
					a.log.Debug().Err(err).Msg("challenge queue not opened again")
				}
			}
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
	if a.draining || a.missingStreams() != nil {
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
	if verdict == nil && ch.Pairing && !time.Now().Before(ch.Expires) {
		verdict = &unfilled{} // its players may be paired again, see closedPairingFor
	}
	if verdict == nil {
		err := a.grant(ctx, livegame.Opening{Game: ch.Game, Terms: ch.Terms, Pool: poolOf(ch), Holders: holders})
		switch {
		case err == nil, errors.Is(err, errLost):
			a.decided(msg, ch)
		default:
			a.complain(askedIn(ch), "game not granted; the challenge waits", func(line *zerolog.Event) { line.Err(err).Str("game", string(ch.Game)) })
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
			a.closed(ch, protocol.ReasonExpired, expiredNotice(ch.Game))
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

// askedIn returns the pool in which a challenge asks for a player: poolOf, or the player's own.
func askedIn(ch protocol.Challenge) protocol.Pool {
	pool := poolOf(ch)
	for _, w := range ch.Seats {
		if pool == "" && w.Instance == "" {
			pool = protocol.OwnPool(w.Player)
		}
	}
	return pool
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
		a.closed(ch, why, n)
	case !errors.Is(err, errLost):
		a.sent(msg.NakWithDelay(a.cfg.RetryMax))
		return
	}
	a.decided(msg, ch)
}

// closed tells the challenger that the challenge was closed without a game.
func (a *Arena) closed(ch protocol.Challenge, why game.Reason, n protocol.Notice) {
	a.reserved.end(ch.Game) // release has told who held a slot for it
	a.notifyChallenger(ch, n)
	a.log.Info().Str("game", string(ch.Game)).Str("reason", string(why)).Msg("challenge closed without a game")
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

// release tells players who accepted a seat that the game does not start.
func (a *Arena) release(ch protocol.Challenge, holders [2]protocol.Holder) {
	for seat, h := range holders {
		if h.Player != "" && ch.Seats[seat].Instance == "" {
			a.server.Notify(h.Player, protocol.Notice{Kind: protocol.NoticeReleased, Game: ch.Game, Text: "nobody accepted the other seat"})
		}
	}
}
