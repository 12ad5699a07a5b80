// Package overnats plays the games of a match on a platform. Each game is posted
// to the match queue as a challenge between two players. Their bots, on any
// machine, accept it; the platform referees, and its record of the game is the
// result.
package overnats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/engine"
	"sparring/game"
	"sparring/lab/match"
	"sparring/protocol"
	"sparring/record"
)

// Errors of games that can't be played. ErrRefused: a player declined the game.
// ErrExpired: nobody accepted it in time.
var (
	ErrRefused = errors.New("refused")
	ErrExpired = errors.New("nobody took the game")
)

// Platform is a match.Backend. The players' specs are names of players, or
// "pool:NAME" for any player of a pool.
type Platform struct {
	js       jetstream.JetStream
	subjects protocol.Subjects
	expire   time.Duration
}

// DefaultExpire is how long a game waits for its players.
const DefaultExpire = 10 * time.Minute

// New makes a Platform from a connection of the platform's account. A game waits
// for its players until expire has passed; 0 means DefaultExpire.
func New(js jetstream.JetStream, subjects protocol.Subjects, expire time.Duration) *Platform {
	if expire == 0 {
		expire = DefaultExpire
	}
	return &Platform{js, subjects, expire}
}

// Check returns an error if a platform can't play a match with these terms.
func Check(t *match.Terms) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, spec := range t.Players {
		if _, err := seat(spec); err != nil {
			errs = append(errs, err)
		}
	}
	if len(t.Limits) > 0 {
		bad("over NATS: want no clocks of single players: a game on the platform has one clock for both")
	}
	if !t.Limit.Clock.Traits().Limited {
		bad("over NATS: want a clock, not %s: the players keep their own limits", t.Limit)
	}
	if t.MoveMS > 0 {
		bad("over NATS: the platform's clocks have no limit for a move besides that for the game")
	}
	if t.Resign != nil || t.Draw != nil || t.MaxPlies > 0 {
		bad("over NATS: the platform referees, so the match can't adjudicate games")
	}
	return errors.Join(errs...)
}

// poolPrefix marks a spec that is a pool.
const poolPrefix = "pool:"

// seat returns the seat that a spec asks for.
func seat(spec string) (protocol.SeatWanted, error) {
	if pool, ok := strings.CutPrefix(spec, poolPrefix); ok {
		return protocol.SeatWanted{Pool: protocol.Pool(pool)}, protocol.Pool(pool).Check()
	}
	return protocol.SeatWanted{Player: protocol.PlayerID(spec)}, protocol.CheckID("player", spec)
}

// Worker implements match.Backend.
func (p *Platform) Worker(t *match.Terms) (match.Worker, error) {
	if err := Check(t); err != nil {
		return nil, err
	}
	return &worker{p, t, map[string]jetstream.Stream{}}, nil
}

type worker struct {
	*Platform
	terms   *match.Terms
	streams map[string]jetstream.Stream // by the subjects that they store
}

// Close implements match.Worker.
func (*worker) Close() {}

// attempts is how often a game that the platform voids is posted.
const attempts = 5

// Play implements match.Worker. A game that an earlier run posted is not
// posted again; its result is collected. When ctx ends, the game is left to its
// players, and the next run collects its result.
func (w *worker) Play(ctx context.Context, b match.Bout) (*match.Game, error) {
	var last error
	for n := range attempts {
		id := protocol.GameID(b.ID)
		if n > 0 {
			id = protocol.GameID(fmt.Sprintf("%s-%d", b.ID, n+1))
		}
		g, fresh, err := w.try(ctx, b, id)
		switch {
		case err == nil:
			return g, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case fresh && (errors.Is(err, ErrRefused) || errors.Is(err, ErrExpired)):
			return nil, err
		case !errors.Is(err, errVoid) && !errors.Is(err, ErrRefused) && !errors.Is(err, ErrExpired):
			return nil, err
		}
		last = err // refused in an earlier run, or void: it is posted again
	}
	return nil, last
}

// errVoid: the platform ended the game without a result.
var errVoid = errors.New("no result")

// try plays the game under an id. Fresh reports whether this call posted it.
func (w *worker) try(ctx context.Context, b match.Bout, id protocol.GameID) (g *match.Game, fresh bool, err error) {
	last, err := w.lastEvent(ctx, id)
	if err != nil {
		return nil, false, err
	}
	if last == nil {
		fresh = true
		if err := w.post(ctx, b, id); err != nil {
			return nil, true, fmt.Errorf("game %s: not posted: %w", id, err)
		}
	}
	last, err = w.await(ctx, id)
	if err != nil {
		return nil, fresh, err
	}
	if last.Outcome.Result == game.Undecided && last.Outcome.Reason != protocol.ReasonNoStart {
		return nil, fresh, fmt.Errorf("game %s: %w: %s", id, noGame(last.Outcome.Reason), strings.TrimSuffix(string(last.Outcome.Reason)+": "+last.Text, ": "))
	}
	rec, err := w.record(ctx, id)
	if err != nil {
		return nil, fresh, err
	}
	return w.result(b, rec), fresh, nil
}

// noGame returns the error for a game without a result.
func noGame(why game.Reason) error {
	switch why {
	case protocol.ReasonDeclined:
		return ErrRefused
	case protocol.ReasonExpired:
		return ErrExpired
	}
	return errVoid
}

// post stores the challenge. Posting it twice does no harm: the first entry of
// the game's log decides.
func (w *worker) post(ctx context.Context, b match.Bout, id protocol.GameID) error {
	position := b.Position.String()
	if usual, err := b.Position.Rules().New(""); err == nil && usual.String() == position {
		position = ""
	}
	now := time.Now().UTC()
	ch := protocol.Challenge{
		V: protocol.Version, Game: id, Created: now, Expires: now.Add(w.expire),
		Terms: protocol.Terms{Game: w.terms.Game, Rules: w.terms.Rules, Position: position, Clock: w.terms.Limit.Clock},
	}
	for s, i := range b.Players {
		wanted, err := seat(w.terms.Players[i])
		if err != nil {
			return err
		}
		ch.Seats[s] = wanted
	}
	data, err := json.Marshal(ch)
	if err != nil {
		return err
	}
	return w.ask(ctx, func(ctx context.Context) error {
		_, err := w.js.Publish(ctx, w.subjects.Challenge(id, protocol.Pool("match."+w.terms.ID)), data, jetstream.WithMsgID(string(id)))
		return err
	})
}

// Times of a worker.
const (
	look     = 200 * time.Millisecond // between two queries about a game
	storeFor = 2 * time.Second        // for an answer of the platform's store
	patience = time.Minute            // until a store that does not answer is given up
)

// await waits for the final entry of the game's log.
func (w *worker) await(ctx context.Context, id protocol.GameID) (*protocol.Event, error) {
	for {
		last, err := w.lastEvent(ctx, id)
		if err != nil {
			return nil, err
		}
		if last != nil && (last.Kind == protocol.EventRecorded || last.Kind == protocol.EventEnd && last.Index == 1) {
			return last, nil
		}
		if err := sleep(ctx, look); err != nil {
			return nil, err
		}
	}
}

// lastEvent returns the last entry of the game's log, or nil.
func (w *worker) lastEvent(ctx context.Context, id protocol.GameID) (*protocol.Event, error) {
	data, err := w.last(ctx, w.subjects.Logs(), w.subjects.Log(id))
	if err != nil || data == nil {
		return nil, err
	}
	var e protocol.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("log of game %s: %w", id, err)
	}
	return &e, nil
}

// record returns the platform's record of a finished game.
func (w *worker) record(ctx context.Context, id protocol.GameID) (*record.Record, error) {
	for {
		data, err := w.last(ctx, w.subjects.Records(), w.subjects.Record(w.terms.Game, id))
		if err != nil {
			return nil, err
		}
		if data != nil {
			return record.Decode(data)
		}
		if err := sleep(ctx, look); err != nil { // a follower's answer may be old
			return nil, err
		}
	}
}

// last returns the last message of a subject, one of those that all matches, or nil.
func (w *worker) last(ctx context.Context, all, subject string) (data []byte, err error) {
	err = w.ask(ctx, func(ctx context.Context) error {
		stream, err := w.stream(ctx, all)
		if err != nil {
			return err
		}
		msg, err := stream.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err == nil {
			data = msg.Data
		}
		return err
	})
	return data, err
}

// stream returns the stream that stores these subjects. It is looked up once.
func (w *worker) stream(ctx context.Context, subjects string) (jetstream.Stream, error) {
	if s := w.streams[subjects]; s != nil {
		return s, nil
	}
	name, err := w.js.StreamNameBySubject(ctx, subjects)
	if err != nil {
		return nil, fmt.Errorf("no stream for %s; is an arena running there? %w", subjects, err)
	}
	s, err := w.js.Stream(ctx, name)
	if err == nil {
		w.streams[subjects] = s
	}
	return s, err
}

// ask repeats a query to the platform's store until it is answered: servers restart,
// and the connection is restored by itself.
func (w *worker) ask(ctx context.Context, f func(context.Context) error) error {
	since := time.Now()
	return protocol.Repeat(ctx, storeFor, look, func(ctx context.Context) (bool, error) {
		err := f(ctx)
		return err == nil || time.Since(since) > patience, err
	})
}

// sleep waits for d. It returns the cause of ctx if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// result returns the platform's record as a game of the match.
func (w *worker) result(b match.Bout, rec *record.Record) *match.Game {
	g := &match.Game{Record: *rec, Match: match.GameInfo{Pair: b.Pair, Leg: b.Leg, Opening: b.Opening, Players: b.Players}}
	g.Event = w.terms.EventAt(rec.Start)
	for _, p := range rec.Plies {
		side := &g.Match.Sides[p.Seat]
		side.Moves++
		side.TimeUS += 1000 * p.UsedMS
	}
	fault := func(seat game.Seat, kind engine.FaultKind) {
		g.Match.Fault = &match.Fault{Seat: seat, Kind: kind, Text: strings.TrimSuffix(string(rec.Reason)+": "+rec.Text, ": ")}
	}
	loser := game.First
	if rec.Result == game.FirstWins {
		loser = game.Second
	}
	switch rec.Reason {
	case protocol.ReasonTime:
		fault(loser, engine.FaultTime)
	case protocol.ReasonAbandoned:
		if rec.Result != game.Draw {
			fault(loser, engine.FaultDisconnect)
		}
	case protocol.ReasonNoStart:
		// The platform aborted the game; in a match the seat that never moved loses it.
		absent := b.Position.Turn()
		if n := len(rec.Plies); n > 0 {
			absent = rec.Plies[n-1].Seat.Other()
		}
		fault(absent, engine.FaultDisconnect)
		g.Result = game.WonBy(absent.Other())
	default:
		if protocol.FaultText(rec.Reason, "") != "" {
			fault(loser, engine.FaultKind(rec.Reason))
		}
	}
	return g
}
