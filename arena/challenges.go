package arena

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/livegame"
	"sparring/game"
	"sparring/protocol"
)

// gameID returns the id of the game that a challenge asks for. It is the same for
// the same request, so that a repetition is not a second challenge.
func gameID(p protocol.PlayerID, request string) protocol.GameID {
	sum := sha256.Sum256([]byte(string(p) + "\n" + request))
	return protocol.GameID(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10])))
}

// challenge checks and stores a player's challenge.
func (a *Arena) challenge(from protocol.From, m protocol.ChallengeRequest) protocol.ChallengeAnswer {
	refuse := func(c protocol.Code, text string) protocol.ChallengeAnswer {
		return protocol.ChallengeAnswer{Answer: refusal(c, "%s", text)}
	}
	if a.isDraining() {
		return refuse(protocol.Unavailable, "no more games are started here: the platform ends")
	}
	// An arena that has just started learns of every instance within a heartbeat
	// or two, because unknown ones are told to say hello.
	within, cancel := context.WithTimeout(a.life, 3*a.cfg.Heartbeat)
	defer cancel()
	if !a.presence.await(within, from.Player, m.Instance) {
		return refuse(protocol.UnknownPeer, "say hello first")
	}
	// Who says in its hello that it has joined another player's own pool must not get that
	// player's matches.
	if player, own := m.Pool.Owner(); own {
		m.Opponent, m.Pool = player, ""
	}
	if m.Opponent == from.Player {
		return refuse(protocol.Malformed, "opponent: want another player")
	}
	if m.Pool.Ladder() {
		return refuse(protocol.Malformed, "pool: the ladder's pools are reserved for the platform")
	}
	start, e := livegame.SetupRequested(m.Terms)
	if e != nil {
		return protocol.ChallengeAnswer{Answer: protocol.Answer{Error: e}}
	}
	// Whoever plays the game reads them in the notation of all other moves.
	_, m.Moves = game.History(start)
	if m.Rated && !from.Player.Person() && a.ladder.choosesAnchor(m) {
		return refuse(protocol.Denied, "rated: players of fixed rating play rated games with bots on the ladder alone")
	}
	for _, p := range []protocol.PlayerID{from.Player, m.Opponent} {
		if p.Person() && len(a.index.runningOf(p)) >= a.cfg.PersonGames {
			return protocol.ChallengeAnswer{Answer: refusal(protocol.RateLimited, "a person has %d games at most", a.cfg.PersonGames)}
		}
	}
	wait := a.cfg.ChallengeFor
	if m.ExpireMS > 0 {
		wait = time.Duration(m.ExpireMS) * time.Millisecond
	}
	seat := game.Seat(rand.IntN(2))
	if m.Seat != nil {
		seat = *m.Seat
	}
	ch := protocol.Challenge{
		V: protocol.Version, Game: gameID(from.Player, m.ID), Terms: m.Terms,
		Created: from.Arrived.UTC(), Expires: from.Arrived.Add(wait).UTC(),
	}
	ch.Seats[seat] = protocol.SeatWanted{Player: from.Player, Instance: m.Instance}
	ch.Seats[seat.Other()] = protocol.SeatWanted{Player: m.Opponent, Pool: m.Pool}
	pool := askedIn(ch)
	if ans, used := a.used(ch); used {
		return ans
	}
	if !a.waiting.add(ch, from.Arrived, a.cfg.PerPlayer) {
		return protocol.ChallengeAnswer{Answer: refusal(protocol.RateLimited, "%d of your challenges are waiting already", a.cfg.PerPlayer)}
	}
	again, err := a.post(a.life, pool, ch)
	if err != nil {
		a.waiting.decided(ch)
		a.log.Warn().Err(err).Str("player", string(from.Player)).Str("pool", string(pool)).Msg("challenge not stored")
		return refuse(protocol.Unavailable, "the challenge can't be stored now")
	}
	ans := protocol.ChallengeAnswer{Game: ch.Game, Expires: ch.Expires}
	if again {
		ans.Code = protocol.Duplicate
	}
	return ans
}

// used answers a challenge whose id was used before, for a challenge that waits, has
// become a game, or ended.
func (a *Arena) used(ch protocol.Challenge) (ans protocol.ChallengeAnswer, used bool) {
	g := ch.Game
	ans.Game = g
	unread := refusal(protocol.Unavailable, "the challenges can't be read now")
	over := refusal(protocol.Over, "the challenge with this id has ended; choose another id")
	ctx, cancel := context.WithTimeout(a.life, storeWait)
	defer cancel()
	// The queue first: a challenge leaves it only after its log has begun.
	waits, _, err := a.store.storedChallenge(ctx, g)
	if err != nil && !errors.Is(err, ErrNoGame) {
		ans.Answer = unread
		return ans, true
	}
	waiting := err == nil
	switch last, _, err := a.store.lastEvent(ctx, g); {
	case errors.Is(err, ErrNoGame) && !waiting:
		// The log may have been removed and the record be left: a second game could have none.
		switch _, err := a.store.storedRecord(ctx, ch.Terms.Game, g); {
		case errors.Is(err, ErrNoGame):
			return ans, false
		case err != nil:
			ans.Answer = unread
		default:
			ans.Answer = over
		}
	case errors.Is(err, ErrNoGame):
		ans.Code, ans.Expires = protocol.Duplicate, waits.Expires
	case err != nil:
		ans.Answer = unread
	case last.Status == protocol.Finished:
		ans.Answer = over
	default:
		ans.Code = protocol.Duplicate
	}
	return ans, true
}

// post stores a challenge once; again reports whether it was already there. The queue
// recognizes a challenge for some minutes, and a repetition after that has to be told
// before.
func (a *Arena) post(ctx context.Context, pool protocol.Pool, ch protocol.Challenge) (again bool, err error) {
	data, err := json.Marshal(ch)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	ack, err := a.store.js.Publish(ctx, a.server.Subjects().Challenge(ch.Game, pool), data, jetstream.WithMsgID(string(ch.Game)))
	if err != nil {
		return false, err
	}
	if !ack.Duplicate {
		a.metrics.challenges.Inc()
	}
	return ack.Duplicate, nil
}

// keepPosted posts the challenges again that the server has lost, whenever there is a connection
// again, until ctx ends: in a power cut the queue may lose those that it took last. Their
// challengers wait for them.
func (a *Arena) keepPosted(ctx context.Context) {
	again := a.nc.StatusChanged(nats.CONNECTED)
	defer a.nc.RemoveStatusListener(again)
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
		}
		for _, ch := range a.waiting.all() {
			for !a.postAgain(ctx, ch) && ctx.Err() == nil && time.Now().Before(ch.Expires) {
				sleep(ctx, time.Second) // the server has just started
			}
		}
	}
}

// postAgain posts a challenge if it is neither in the queue nor decided. It reports false if
// the store can't be read or written now.
func (a *Arena) postAgain(ctx context.Context, ch protocol.Challenge) bool {
	if ans, used := a.used(ch); used {
		return ans.Error == nil || ans.Error.Code != protocol.Unavailable
	}
	_, err := a.post(ctx, askedIn(ch), ch)
	return err == nil
}

// withdraw closes a challenge unless its fate is already decided: the first
// entry of the game's log counts.
func (a *Arena) withdraw(from protocol.From, m protocol.Withdraw) protocol.Answer {
	ctx, cancel := context.WithTimeout(a.life, storeWait)
	defer cancel()
	ch, seq, err := a.store.storedChallenge(ctx, m.Game)
	if errors.Is(err, ErrNoGame) {
		return a.notWaiting(ctx, from, m.Game)
	}
	if err != nil {
		return refusal(protocol.Unavailable, "the challenges can't be read now")
	}
	mine := func(w protocol.SeatWanted) bool { return w.Player == from.Player && w.Instance != "" }
	if !slices.ContainsFunc(ch.Seats[:], mine) {
		// A challenge stays in the queue for a moment after its game began, and is not
		// waiting any more, whoever asks.
		if _, _, err := a.store.lastEvent(ctx, m.Game); !errors.Is(err, ErrNoGame) {
			return a.notWaiting(ctx, from, m.Game)
		}
		return refusal(protocol.Denied, "not your challenge")
	}
	switch err := a.closeStored(ctx, ch, seq, protocol.ReasonWithdrawn); {
	case errors.Is(err, errLost):
		return a.notWaiting(ctx, from, m.Game)
	case err != nil:
		return refusal(protocol.Unavailable, "the challenge can't be closed now")
	}
	a.log.Info().Str("game", string(m.Game)).Str("player", string(from.Player)).Msg("challenge withdrawn")
	return protocol.Answer{}
}

// closeStored closes a challenge that may be with no matchmaker, and removes it from its
// place in the queue.
func (a *Arena) closeStored(ctx context.Context, ch protocol.Challenge, seq uint64, why game.Reason) error {
	if err := a.close(ctx, ch, "", why, ""); err != nil {
		return err
	}
	a.waiting.decided(ch)
	// A matchmaker that takes it finds the log begun; this saves it the work.
	if err := a.store.challenges.DeleteMsg(ctx, seq); err != nil {
		a.log.Debug().Err(err).Str("game", string(ch.Game)).Msg("closed challenge stays in the queue until it is delivered")
	}
	return nil
}

// notWaiting answers a withdrawal when no such challenge waits. The same request
// may have withdrawn it before.
func (a *Arena) notWaiting(ctx context.Context, from protocol.From, g protocol.GameID) protocol.Answer {
	last, _, err := a.store.lastEvent(ctx, g)
	switch {
	case errors.Is(err, ErrNoGame):
		return refusal(protocol.NotOffered, "no such challenge is waiting")
	case err != nil:
		return refusal(protocol.Unavailable, "the game can't be read now")
	case last.Outcome.Reason == protocol.ReasonWithdrawn &&
		slices.ContainsFunc(last.Holders[:], func(h protocol.Holder) bool { return h.Player == from.Player }):
		return protocol.Answer{Code: protocol.Duplicate}
	}
	return refusal(protocol.NotOffered, "the challenge is no longer open")
}

// storedChallenge reads the waiting challenge that may become a game. It returns
// ErrNoGame if there is none.
func (s *store) storedChallenge(ctx context.Context, g protocol.GameID) (ch protocol.Challenge, seq uint64, err error) {
	msg, err := s.challenges.GetLastMsgForSubject(ctx, s.subjects.ChallengeAny(g))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return ch, 0, ErrNoGame
	}
	if err == nil {
		seq, err = msg.Sequence, json.Unmarshal(msg.Data, &ch)
	}
	return ch, seq, err
}

// closedFor is how long the log of a challenge that did not become a game is kept: until
// no process can have that challenge any more. Such logs have no records, and whoever
// challenges and withdraws all day could fill a disk with them.
const closedFor = protocol.LongestChallenge

// closedPairingFor is closedFor for a pairing of the ladder, which no arena turns into a game
// once it has expired. On a slow platform many expire.
const closedPairingFor = 10 * pairingFor

// close writes to the log that a challenge does not become a game, and which player
// did not take its seat; "" if that does not matter. errLost means that its fate was
// decided before.
func (a *Arena) close(ctx context.Context, ch protocol.Challenge, by protocol.PlayerID, why game.Reason, text string) error {
	event := livegame.ChallengeClosed(ch, why, text, time.Now())
	if seat := slices.IndexFunc(ch.Seats[:], func(w protocol.SeatWanted) bool { return by != "" && w.Player == by }); seat >= 0 {
		s := game.Seat(seat)
		event.Seat = &s
	}
	j := a.store.journal(ch.Game, 0, a.metrics.retries.Inc)
	if j.lifetime = closedFor; ch.Pairing {
		j.lifetime = closedPairingFor
	}
	return j.append(ctx, event, 0)
}

// waiting has the challenges of each player that wait, as far as this process has
// seen them: those that it stored, and those that its matchmaker was given, also
// after a restart. No player can fill the queue alone. One leaves when its log begins,
// which this process learns from the log if another one has decided.
type waiting struct {
	mu sync.Mutex
	of map[protocol.PlayerID]map[protocol.GameID]protocol.Challenge
}

func newWaiting() *waiting {
	return &waiting{of: make(map[protocol.PlayerID]map[protocol.GameID]protocol.Challenge)}
}

// challenger returns the player who sent a challenge, and the challenge as that player
// sees it; "" if it is the platform's own.
func challenger(ch protocol.Challenge) (by protocol.PlayerID, w protocol.WaitingChallenge) {
	w = protocol.WaitingChallenge{Game: ch.Game, Expires: ch.Expires}
	for _, s := range ch.Seats {
		if s.Instance != "" {
			by = s.Player
		} else {
			w.Opponent, w.Pool = s.Player, s.Pool
		}
	}
	return by, w
}

// add notes a challenge, once. It returns false if its player has most waiting
// already.
func (q *waiting) add(ch protocol.Challenge, now time.Time, most int) bool {
	p, _ := challenger(ch)
	q.mu.Lock()
	defer q.mu.Unlock()
	mine := q.of[p]
	if _, again := mine[ch.Game]; again || p == "" {
		return true
	}
	if len(q.open(p, now)) >= most {
		return false
	}
	if q.of[p] == nil {
		q.of[p] = make(map[protocol.GameID]protocol.Challenge)
	}
	q.of[p][ch.Game] = ch
	return true
}

// expired returns the challenges that have expired and are not known to be closed.
func (q *waiting) expired(now time.Time) (all []protocol.GameID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, mine := range q.of {
		for g, ch := range mine {
			if now.After(ch.Expires) {
				all = append(all, g)
			}
		}
	}
	return all
}

// all returns the challenges that are not known to be decided.
func (q *waiting) all() (all []protocol.Challenge) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, mine := range q.of {
		all = slices.AppendSeq(all, maps.Values(mine))
	}
	return all
}

// lateEnd is how long after its expiry the end of a challenge is waited for.
const lateEnd = time.Minute

// open returns the challenges of a player that have not expired; q.mu is held. It drops those
// that have expired long ago: their ends were missed.
func (q *waiting) open(p protocol.PlayerID, now time.Time) (all []protocol.WaitingChallenge) {
	for g, ch := range q.of[p] {
		switch late := now.Sub(ch.Expires); {
		case late > lateEnd:
			q.remove(p, g)
		case late <= 0:
			_, w := challenger(ch)
			all = append(all, w)
		}
	}
	return all
}

// list returns the challenges of a player, those that expire first at the front.
func (q *waiting) list(p protocol.PlayerID, now time.Time) []protocol.WaitingChallenge {
	q.mu.Lock()
	defer q.mu.Unlock()
	open := q.open(p, now)
	slices.SortFunc(open, func(x, y protocol.WaitingChallenge) int {
		return cmp.Or(x.Expires.Compare(y.Expires), cmp.Compare(x.Game, y.Game))
	})
	return open
}

// decided removes a challenge that no longer waits.
func (q *waiting) decided(ch protocol.Challenge) {
	p, _ := challenger(ch)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(p, ch.Game)
}

// noteLog removes the challenge whose log an entry begins.
func (q *waiting) noteLog(e protocol.Event, _ uint64) {
	if e.Index != 1 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range e.Holders {
		q.remove(h.Player, e.Game)
	}
}

// remove removes a challenge of a player; q.mu is held.
func (q *waiting) remove(p protocol.PlayerID, g protocol.GameID) {
	if delete(q.of[p], g); len(q.of[p]) == 0 {
		delete(q.of, p)
	}
}
