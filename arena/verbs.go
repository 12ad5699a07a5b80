package arena

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/arena/match"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

func refusal(c protocol.Code, format string, args ...any) protocol.Answer {
	return protocol.Answer{Error: protocol.Refuse(c, format, args...)}
}

func (a *Arena) hello(from protocol.From, m protocol.Hello) protocol.HelloAnswer {
	a.presence.hello(from, m) // the observer may come later
	return protocol.HelloAnswer{
		HeartbeatMS: a.cfg.Heartbeat.Milliseconds(), Limits: a.cfg.Limits, Held: a.board.heldBy(from.Player, m.Instance),
	}
}

func (a *Arena) alive(from protocol.From, m protocol.Alive) protocol.AliveAnswer {
	if !a.presence.known(from.Player, m.Instance) {
		return protocol.AliveAnswer{Answer: refusal(protocol.UnknownPeer, "say hello first")}
	}
	return protocol.AliveAnswer{Held: a.board.heldBy(from.Player, m.Instance)}
}

// leave only answers: every arena hears the leave in left.
func (a *Arena) leave(protocol.From, protocol.Leave) protocol.Answer { return protocol.Answer{} }

// left takes the seats from an instance that gives them back.
func (a *Arena) left(from protocol.From, m protocol.Leave) {
	a.presence.leave(from, m)
	for _, r := range a.refereed() {
		if !slices.Contains(r.players[:], from.Player) || (len(m.Games) > 0 && !slices.Contains(m.Games, r.id)) {
			continue
		}
		r.send(seatGivenBack{from.Player, m.Instance})
	}
}

// served reports whether a game has a referee, here or elsewhere, or one is on
// its way or lingers.
func (a *Arena) served(g protocol.GameID) bool {
	_, known := a.board.last(g)
	return g != "" && (known || a.refereeing(g))
}

// orphan says what to answer to an action in a game that this arena does not
// referee: nothing where another does or will.
func (a *Arena) orphan(g protocol.GameID) *protocol.Error {
	if g == "" {
		return protocol.Refuse(protocol.NoGame, "no such game")
	}
	ctx, cancel := context.WithTimeout(a.life, storeWait)
	defer cancel()
	last, _, err := a.store.lastEvent(ctx, g)
	switch {
	case errors.Is(err, errNone):
		return protocol.Refuse(protocol.NoGame, "no such game")
	case err != nil:
		return protocol.Refuse(protocol.Unavailable, "the game can't be read now")
	case last.Status == protocol.Finished:
		return protocol.Refuse(protocol.Over, "the game has ended")
	}
	return nil
}

// gameID is the id of the game that a challenge asks for: the same for the
// same request, so that its repetition is no second challenge.
func gameID(p protocol.PlayerID, request string) protocol.GameID {
	sum := sha256.Sum256([]byte(string(p) + "\n" + request))
	return protocol.GameID(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:10])))
}

// longestWait is the longest that a challenge may wait.
const longestWait = 24 * time.Hour

// challenge checks and stores what a player asks for.
func (a *Arena) challenge(from protocol.From, m protocol.ChallengeRequest) protocol.ChallengeAnswer {
	refuse := func(c protocol.Code, text string) protocol.ChallengeAnswer {
		return protocol.ChallengeAnswer{Answer: refusal(c, "%s", text)}
	}
	// An arena that has just started hears of everybody within a heartbeat or
	// two: those that it does not know are told to say hello.
	within, cancel := context.WithTimeout(a.life, 3*a.cfg.Heartbeat)
	defer cancel()
	if !a.presence.await(within, from.Player, m.Instance) {
		return refuse(protocol.UnknownPeer, "say hello first")
	}
	if m.Opponent == from.Player || m.Pool == protocol.OwnPool(from.Player) {
		return refuse(protocol.Malformed, "opponent: want somebody else")
	}
	if strings.HasPrefix(string(m.Pool), ladderPools) {
		return refuse(protocol.Malformed, "pool: the ladder's pools are the platform's own")
	}
	if _, e := match.Setup(m.Terms); e != nil {
		return protocol.ChallengeAnswer{Answer: protocol.Answer{Error: e}}
	}
	if m.Rated && (m.Position != "" || m.Clock.Kind == clock.Unlimited) {
		return refuse(protocol.Malformed, "rated: want the usual start position and a clock: a rating must not be won by choosing them")
	}
	wait := a.cfg.ChallengeFor
	if m.ExpireMS > 0 {
		wait = min(time.Duration(m.ExpireMS)*time.Millisecond, longestWait)
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
	pool := m.Pool
	if pool == "" {
		pool = protocol.OwnPool(m.Opponent)
	}
	begun := func(g protocol.GameID) bool { _, known := a.board.last(g); return known }
	if !a.waiting.add(from.Player, ch.Game, ch.Expires, from.Arrived, a.cfg.PerPlayer, begun) {
		return protocol.ChallengeAnswer{Answer: refusal(protocol.RateLimited, "%d of your challenges wait already", a.cfg.PerPlayer)}
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

// post stores a challenge in its pool's queue, once; again reports that it was
// there.
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
	a.metrics.challenges.Inc()
	return ack.Duplicate, nil
}

// withdraw closes a challenge, if nobody was faster: the first entry of the
// game's log decides.
func (a *Arena) withdraw(from protocol.From, m protocol.Withdraw) protocol.Answer {
	ctx, cancel := context.WithTimeout(a.life, storeWait)
	defer cancel()
	ch, seq, err := a.store.waiting(ctx, m.Game)
	if errors.Is(err, errNone) {
		return a.notWaiting(ctx, from, m.Game)
	}
	if err != nil {
		return refusal(protocol.Unavailable, "the challenges can't be read now")
	}
	mine := func(w protocol.SeatWanted) bool { return w.Player == from.Player && w.Instance != "" }
	if !slices.ContainsFunc(ch.Seats[:], mine) {
		return refusal(protocol.Denied, "not your challenge")
	}
	switch err := a.close(ctx, ch, protocol.ReasonWithdrawn, ""); {
	case errors.Is(err, errLost):
		return a.notWaiting(ctx, from, m.Game)
	case err != nil:
		return refusal(protocol.Unavailable, "the challenge can't be closed now")
	}
	// A matchmaker that holds it finds the log begun; this saves it the way.
	if err := a.store.challenges.DeleteMsg(ctx, seq); err != nil {
		a.log.Debug().Err(err).Str("game", string(m.Game)).Msg("withdrawn challenge stays in the queue until it is seen")
	}
	a.log.Info().Str("game", string(m.Game)).Str("player", string(from.Player)).Msg("challenge withdrawn")
	return protocol.Answer{}
}

// notWaiting answers a withdrawal of what is no waiting challenge: it may have
// been withdrawn by the same request before.
func (a *Arena) notWaiting(ctx context.Context, from protocol.From, g protocol.GameID) protocol.Answer {
	last, _, err := a.store.lastEvent(ctx, g)
	switch {
	case errors.Is(err, errNone):
		return refusal(protocol.NotOffered, "no such challenge waits")
	case err != nil:
		return refusal(protocol.Unavailable, "the game can't be read now")
	case last.Outcome.Reason == protocol.ReasonWithdrawn &&
		slices.ContainsFunc(last.Holders[:], func(h protocol.Holder) bool { return h.Player == from.Player }):
		return protocol.Answer{Code: protocol.Duplicate}
	}
	return refusal(protocol.NotOffered, "the challenge is no longer open")
}

// waiting reads the stored challenge of a game to be; errNone where there is
// none.
func (s *store) waiting(ctx context.Context, g protocol.GameID) (ch protocol.Challenge, seq uint64, err error) {
	msg, err := s.challenges.GetLastMsgForSubject(ctx, s.subjects.ChallengeAny(g))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return ch, 0, errNone
	}
	if err == nil {
		seq, err = msg.Sequence, json.Unmarshal(msg.Data, &ch)
	}
	return ch, seq, err
}

// close says that a challenge came to nothing. errLost: its fate was decided
// before.
func (a *Arena) close(ctx context.Context, ch protocol.Challenge, why game.Reason, text string) error {
	event := match.Nothing(ch, why, text, time.Now())
	return a.store.journal(ch.Game, 0, a.metrics.retries.Inc).append(ctx, event, 0)
}
