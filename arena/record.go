package arena

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/livegame"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
	"sparring/record"
)

// maxStorePause is the longest pause between two attempts to store a record. Each reads the
// whole log and logs an error if it fails, and every game that has ended meanwhile does so.
const maxStorePause = 15 * time.Second

// storeRecord stores the record of the ended game and notes that in its log; the
// referee then answers late requests for a while and retires. If an arena
// dies in between, the log still ends with the game's end, and another arena
// stores the record.
func (r *referee) storeRecord(now time.Time) {
	switch {
	case r.recorded && now.After(r.lingerTo):
		r.retire()
		return
	case r.recorded || now.Before(r.storeAt):
		return
	}
	first := r.storePause == 0
	r.storePause = min(max(2*r.storePause, time.Second), maxStorePause)
	r.storeAt = now.Add(r.storePause)
	if err := r.a.record(r.ctx, r.id, r.missing); err != nil {
		level := zerolog.ErrorLevel
		if first && errors.Is(err, errNoEnd) {
			level = zerolog.DebugLevel // usual in a cluster, and over before the next attempt
		}
		if r.ctx.Err() == nil {
			r.log.WithLevel(level).Err(err).Msg("record not stored; trying again")
		}
		if errors.Is(err, errNoEnd) || errors.Is(err, ErrNoGame) {
			r.endAgain(now)
		}
		return
	}
	switch err := r.j.append(r.ctx, r.game.Recorded(now), 0); {
	case errors.Is(err, errSpace):
		return
	case err != nil:
		r.stop(err)
		return
	}
	r.game.Commit(r.j.last, now)
	r.recorded = true
	r.a.metrics.recorded.Inc()
}

// endAgain stores the end of the game again if the server has lost it, with the last entries of
// the log, in a power cut: the players were told it.
func (r *referee) endAgain(now time.Time) {
	last, seq, err := r.a.store.lastEvent(r.ctx, r.id)
	if err != nil && !errors.Is(err, ErrNoGame) || last.Term > r.game.Term() || last.Status == protocol.Finished || !r.a.owners.fresh(string(r.id)) {
		return
	}
	e := r.game.CatchUp("the log had lost the end of the game", now)
	r.j.last = seq
	if seq > 0 {
		e.Index, r.j.index = last.Index+1, last.Index
	}
	if err := r.j.append(r.ctx, e, 0); err != nil {
		r.stop(err)
		return
	}
	r.game.Commit(r.j.last, now)
	r.storeAt = time.Time{}
}

// retire ends the referee of a recorded game. It answers what has come to it up to the moment
// from which all arenas answer without it, see Arena.served.
func (r *referee) retire() {
	r.unlist()
	ctx, cancel := context.WithTimeout(r.ctx, storeWait)
	defer cancel()
	r.a.owners.release(ctx, string(r.id))
	for q, ok := r.waiting(); ok; q, ok = r.waiting() {
		r.serve(q)
	}
	r.stop(errRecorded)
}

// record stores the record of an ended game, once. Missing are events that are
// not in its log.
func (a *Arena) record(ctx context.Context, g protocol.GameID, missing []protocol.Event) error {
	events, err := a.store.entries(ctx, g)
	if err != nil {
		return err
	}
	rec, err := recordOf(withMissing(events, missing))
	if err != nil {
		return fmt.Errorf("record of game %s: %w", g, err)
	}
	for seat := range rec.Seats {
		if s, ok := a.ladder.of(rec.Game, rec.Clock.Speed(), protocol.PlayerID(rec.Seats[seat].Player)); ok {
			rec.Seats[seat].Before = &record.Rating{Rating: s.Rating.Rating, Deviation: s.Deviation}
		}
	}
	return a.store.publishRecord(ctx, rec)
}

// endAsRecorded ends a game that was taken over as its record says, if it has one: in a power
// cut of the server its log may have lost the end, and the stream of records nothing. A game
// whose record can't be read goes on.
func (a *Arena) endAsRecorded(ctx context.Context, live *livegame.Game, j *journal) error {
	now := time.Now()
	msg, err := a.store.storedRecord(ctx, live.Snapshot(now).Terms.Game, live.ID())
	if errors.Is(err, ErrNoGame) {
		return nil
	}
	if err != nil {
		return err
	}
	event, err := endOf(live, msg.Data, now)
	if err != nil {
		a.log.Error().Err(err).Str("game", string(live.ID())).Msg("the record of a game that goes on can't be read")
		return nil
	}
	if err := j.append(ctx, event, a.cfg.Patience); err != nil {
		return err
	}
	live.Commit(j.last, now)
	return nil
}

// endOf ends a game as its record, which is encoded, says.
func endOf(live *livegame.Game, data []byte, now time.Time) (*protocol.Event, error) {
	rec, err := record.Decode(data)
	if err != nil {
		return nil, err
	}
	moves := make([]string, len(rec.Plies))
	for i, ply := range rec.Plies {
		moves[i] = ply.Move
	}
	return live.EndAs(moves, game.Outcome{Result: rec.Result, Reason: rec.Reason}, now)
}

// withMissing returns the events of a log with those that are missing there, in order. Missing
// ones have the index of the entry that continued the log, or of one of them that was stored
// after all.
func withMissing(events, missing []protocol.Event) []protocol.Event {
	for _, e := range missing {
		same := func(o protocol.Event) bool { return o.Index == e.Index && o.Kind == e.Kind && o.Time.Equal(e.Time) }
		if !slices.ContainsFunc(events, same) {
			events = append(events, e)
		}
	}
	slices.SortStableFunc(events, func(x, y protocol.Event) int { return cmp.Or(cmp.Compare(x.Index, y.Index), x.Time.Compare(y.Time)) })
	return events
}

// errNoEnd is returned by recordOf for a log without the game's end: it was read from a server
// that lags behind.
var errNoEnd = errors.New("the log has no end yet")

// recordOf makes a game's record from the events of its log, which ends with the
// game's end.
func recordOf(events []protocol.Event) (*record.Record, error) {
	if len(events) == 0 {
		return nil, ErrNoGame
	}
	last := events[len(events)-1]
	rec := &record.Record{
		V: record.Version, ID: string(last.Game), Game: last.Terms.Game, Rules: last.Terms.Rules, Position: last.Terms.Position,
		Given: len(last.Terms.Moves), Clock: last.Terms.Clock, Rated: last.Terms.Rated, Strict: last.Terms.Strict, Private: last.Terms.Private, Pool: string(last.Pool),
		Start: last.Started, Result: last.Outcome.Result, Reason: last.Outcome.Reason,
		Source: record.Source{By: record.ByArena}, Plies: make([]record.Ply, 0, len(last.Moves)),
	}
	for seat, h := range last.Holders {
		rec.Seats[seat] = record.Seat{Player: string(h.Player), Display: h.Display, Kind: record.Kind(h.Kind), Build: h.Build}
	}
	rules, err := catalog.Rules(rec.Rules)
	if err != nil {
		return nil, err
	}
	pos, err := rules.New(rec.Position)
	if err != nil {
		return nil, err
	}
	made := receipts(events)
	for i, text := range last.Moves {
		ply := record.Ply{Seat: pos.Turn(), Move: text}
		if _, err := game.PlayText(pos, text); err != nil {
			return nil, err
		}
		ply.Key = game.KeyText(pos.Key())
		if r := made[i]; r.move == text {
			ply.UsedMS, ply.LeftMS, ply.Periods = r.ChargedMS, r.LeftMS, r.Periods
			ply.Receipt = &record.Receipt{Received: r.Received, LagMS: r.LagMS, ChargedMS: r.ChargedMS,
				LeftMS: r.LeftMS, Periods: r.Periods, WaitedMS: r.WaitedMS}
		}
		rec.Plies = append(rec.Plies, ply)
	}
	for _, e := range events {
		if e.Kind == protocol.EventEnd && rec.End.IsZero() {
			rec.End, rec.Text = e.Time, e.Text
		}
		if d := e.Dispute; d != nil {
			rec.Disputes = append(rec.Disputes, record.Dispute{
				Ply: len(e.Moves) + 1, Seat: e.Seat, Claimed: d.Claimed, Ruled: d.Ruled, Text: "after " + d.Move})
		}
	}
	if rec.End.IsZero() {
		return nil, errNoEnd
	}
	return rec, nil
}

// receipt is the receipt of one move in the log.
type receipt struct {
	protocol.Receipt
	move string
}

// receipts returns the last receipt of every ply, counted from 0.
func receipts(events []protocol.Event) map[int]receipt {
	made := make(map[int]receipt)
	for _, e := range events {
		if n := len(e.Moves); e.Receipt != nil && n > 0 && e.Receipt.Ply == n {
			made[n-1] = receipt{*e.Receipt, e.Moves[n-1]}
		}
	}
	return made
}

// publishRecord stores a record unless the game has one.
func (s *store) publishRecord(ctx context.Context, rec *record.Record) error {
	data, err := record.Encode(rec)
	if err != nil {
		return err
	}
	if int64(len(data)) > s.js.Conn().MaxPayload()-4096 { // room for headers
		// After thousands of moves: leave out the receipts, which the log has.
		for i := range rec.Plies {
			rec.Plies[i].Receipt = nil
		}
		if data, err = record.Encode(rec); err != nil {
			return err
		}
	}
	subject := s.subjects.Record(rec.Game, protocol.GameID(rec.ID))
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	_, err = s.js.Publish(ctx, subject, bytes.TrimSuffix(data, []byte("\n")), jetstream.WithMsgID(rec.ID))
	if err != nil && full(err) {
		// A subject holds one record: is it there already?
		if _, there := s.records.GetLastMsgForSubject(ctx, subject); there == nil {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", subject, err)
	}
	return nil
}

// storedRecord reads the record of a game as it is stored. It returns ErrNoGame if there is
// none.
func (s *store) storedRecord(ctx context.Context, gameName string, g protocol.GameID) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	msg, err := s.records.GetLastMsgForSubject(ctx, s.subjects.Record(gameName, g))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, fmt.Errorf("record of game %s: %w", g, ErrNoGame)
	case err != nil:
		return nil, fmt.Errorf("read the record of game %s: %w", g, err)
	}
	return msg, nil
}

// followRecords calls f for every record from a sequence on, in order, until ctx
// ends. For an unreadable record it passes an error that names it.
func (s *store) followRecords(ctx context.Context, from uint64, f func(meta *jetstream.MsgMetadata, rec *record.Record, err error)) error {
	return s.followRecordsAgain(ctx, from, 0, func(meta *jetstream.MsgMetadata, rec *record.Record, err error, _ bool) { f(meta, rec, err) })
}

// madeOf is how long a bucket that is made of the records may have lost in a power cut of the
// server: more than its sync_interval, which is two minutes if no other is set.
const madeOf = 3 * time.Minute

// followRecordsAgain is followRecords for a bucket that is made of the records. Whenever it
// begins again, as after a power cut of the server, the records of the overlap are read again,
// whether they were lost there or not.
func (s *store) followRecordsAgain(ctx context.Context, from uint64, overlap time.Duration, f func(meta *jetstream.MsgMetadata, rec *record.Record, err error, again bool)) error {
	w, err := openFollower(ctx, s.js, s.records, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(from, 1)})
	if err != nil {
		return err
	}
	w.overlap = overlap
	w.run(ctx, func(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
		rec, err := record.Decode(msg.Data())
		if err != nil {
			err = &record.DamagedError{File: "stream " + meta.Stream, Line: int(meta.Sequence.Stream), Err: fmt.Errorf("%s: %w", msg.Subject(), err)}
		}
		f(meta, rec, err, w.again)
	})
	return nil
}

// FollowRecords calls f for the record of every finished game, the oldest first,
// and then for new ones, until ctx ends. For an unreadable record it passes an
// error that names it.
func (a *Arena) FollowRecords(ctx context.Context, f func(*record.Record, error)) error {
	return a.store.followRecords(ctx, 1, func(_ *jetstream.MsgMetadata, r *record.Record, err error) { f(r, err) })
}

// Records iterates over the records that a platform has stored, the oldest
// first. nc is a connection of the platform's account. An unreadable record
// yields a *record.DamagedError, and the iteration continues; a platform without
// records yields one error.
func Records(ctx context.Context, nc *nats.Conn, subjects protocol.Subjects) iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		fail := func(err error) { yield(nil, err) }
		js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(storeWait))
		if err != nil {
			fail(err)
			return
		}
		name := streamName(subjects, "records")
		stream, err := js.Stream(ctx, name)
		if err != nil {
			fail(fmt.Errorf("stream %s: %w", name, explain(err)))
			return
		}
		if stream.CachedInfo().State.Msgs == 0 {
			return
		}
		err = (&store{js: js, records: stream}).followRecords(ctx, 1, func(meta *jetstream.MsgMetadata, r *record.Record, err error) {
			if ctx.Err() == nil && !yield(r, err) || meta.NumPending == 0 {
				cancel()
			}
		})
		if err != nil {
			fail(err)
		}
	}
}
