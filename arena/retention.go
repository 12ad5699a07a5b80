package arena

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/protocol"
	"sparring/record"
)

// Retention is what is kept of finished games. The zero value keeps everything.
type Retention struct {
	// Logs bounds the logs of games whose records are stored, Records the records.
	Logs, Records record.Bounds
	// Notice is the time between the line in the log that says what will be removed and
	// the first removal.
	Notice time.Duration
	// Every is the time between two removals.
	Every time.Duration
}

// pruner removes what the settings do not keep.
//
// The limits of JetStream can't do it: by age they would take the first entries of
// games that last for weeks, and a stream that is full by size refuses the records of
// games that end. A log goes as a whole, after its record was stored; a record goes
// after it was rated.
type pruner struct {
	store    *store
	keep     Retention
	rated    func() uint64 // the last record that was rated
	log      zerolog.Logger
	steps    int    // entries of logs that a run looks at, since those of running games stay
	removals int    // logs that a run removes at most
	from     uint64 // the entry of a log that the next run begins with; 0 is the first
	more     bool   // the last run has left logs that are to be removed
}

// retain removes what is not kept, until ctx ends. Any arena may: a removal twice is one.
func (a *Arena) retain(ctx context.Context) {
	if a.cfg.Retention.Logs.None() && a.cfg.Retention.Records.None() {
		return
	}
	r := &pruner{store: a.store, keep: a.cfg.Retention, log: a.log, rated: a.ladder.last, steps: maxSteps, removals: maxRemovals}
	r.run(ctx)
}

// run announces and removes until ctx ends.
func (r *pruner) run(ctx context.Context) {
	said := false
	for ctx.Err() == nil {
		var err error
		if !said {
			if err = r.announce(ctx); err == nil {
				said = true
				sleep(ctx, r.keep.Notice)
			}
		}
		if said && ctx.Err() == nil {
			err = r.remove(ctx)
		}
		wait := r.keep.Every
		switch {
		case err == nil && r.more: // or a platform with more games would never catch up
			wait = removalRest
		case err != nil && ctx.Err() == nil:
			r.log.Warn().Err(err).Msg("old games not removed; trying again")
		}
		sleep(ctx, wait)
	}
}

// announce says what is about to be removed, if there is anything.
func (r *pruner) announce(ctx context.Context) error {
	logs, err := info(ctx, r.store.games)
	if err != nil {
		return err
	}
	records, err := info(ctx, r.store.records)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, s := range []struct {
		what   string
		bounds record.Bounds
		state  jetstream.StreamState
	}{{"logs", r.keep.Logs, logs.State}, {"records", r.keep.Records, records.State}} {
		if !exceeds(s.state, s.bounds, now) {
			continue
		}
		line := r.log.Warn().Str("what", s.what).Time("oldest", s.state.FirstTime).Int64("bytes", int64(s.state.Bytes)).Stringer("in", r.keep.Notice)
		if s.bounds.Age > 0 {
			line = line.Time("before", now.Add(-s.bounds.Age))
		}
		if s.bounds.Bytes > 0 {
			line = line.Int64("beyond_bytes", s.bounds.Bytes)
		}
		line.Msg("old games will be removed, as the settings say; stop this process to keep them")
	}
	return nil
}

// exceeds reports whether a stream has more than the bounds keep.
func exceeds(s jetstream.StreamState, b record.Bounds, now time.Time) bool {
	return s.Msgs > 0 && (b.Age > 0 && now.Sub(s.FirstTime) > b.Age || b.Bytes > 0 && int64(s.Bytes) > b.Bytes)
}

func (r *pruner) remove(ctx context.Context) error {
	logs, err := r.removeLogs(ctx)
	if logs > 0 {
		r.log.Info().Int("logs", logs).Msg("old logs removed")
	}
	records, failed := r.removeRecords(ctx)
	if records > 0 {
		r.log.Info().Uint64("records", records).Msg("old records removed")
	}
	return errors.Join(err, failed)
}

// info returns the state of a stream as it is now.
func info(ctx context.Context, s jetstream.Stream) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	i, err := s.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", s.CachedInfo().Config.Name, err)
	}
	return i, nil
}

// next returns the first entry of a stream from a sequence on, nil if there is none.
func next(ctx context.Context, s jetstream.Stream, seq uint64, subjects string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	msg, err := s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subjects))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	return msg, err
}

// Logs are removed a few at a time: each removal delays appends.
const (
	maxRemovals = 500
	maxSteps    = 50_000
	removalRest = 10 * time.Millisecond
)

// removeLogs removes the logs of the games that began first, of those that have ended
// and whose records are stored, and returns how many. A run that ends before it has seen
// all goes on where the last one stopped: else the entries of many running games in front
// would stop removal for good.
func (r *pruner) removeLogs(ctx context.Context) (n int, err error) {
	b := r.keep.Logs
	if r.more = false; b.None() {
		return 0, nil
	}
	state, err := info(ctx, r.store.games)
	if err != nil {
		return 0, err
	}
	kept := map[protocol.GameID]bool{}
	for steps := 0; ; steps++ {
		if !exceeds(state.State, b, time.Now()) {
			r.from = 0
			return n, nil
		}
		if r.more = n == r.removals; r.more || steps == r.steps {
			return n, nil
		}
		msg, err := next(ctx, r.store.games, max(r.from, 1), r.store.subjects.Logs())
		if err != nil {
			return n, err
		}
		if msg == nil {
			r.from = 0
			return n, nil
		}
		r.from = msg.Sequence + 1
		large := b.Bytes > 0 && int64(state.State.Bytes) > b.Bytes
		if !large && time.Since(msg.Time) <= b.Age {
			r.from = 0
			return n, nil // and so are all after it
		}
		g, ok := r.store.subjects.ParseLog(msg.Subject)
		if !ok || kept[g] {
			continue
		}
		last, err := r.store.lastEntry(ctx, g)
		if errors.Is(err, ErrNoGame) {
			continue // another arena was faster
		}
		if err != nil {
			r.from = msg.Sequence // it is looked at again
			return n, err
		}
		e, err := decodeEvent(r.store.subjects, last.Subject, last.Sequence, last.Data)
		if err != nil || !isFinal(e) || !large && time.Since(last.Time) <= b.Age {
			kept[g] = true
			continue
		}
		if err := r.purge(ctx, r.store.games, jetstream.WithPurgeSubject(msg.Subject)); err != nil {
			r.from = msg.Sequence
			return n, err
		}
		n++
		sleep(ctx, removalRest)
		if state, err = info(ctx, r.store.games); err != nil {
			return n, err
		}
	}
}

// removeRecords removes the first records, of those that have been rated, and returns
// how many.
func (r *pruner) removeRecords(ctx context.Context) (n uint64, err error) {
	b := r.keep.Records
	if b.None() {
		return 0, nil
	}
	before, err := info(ctx, r.store.records)
	if err != nil || !exceeds(before.State, b, time.Now()) {
		return 0, err
	}
	s := before.State
	end := s.FirstSeq // the first to stay
	if b.Age > 0 {
		if end, err = r.firstSince(ctx, s, time.Now().Add(-b.Age)); err != nil {
			return 0, err
		}
	}
	if more := int64(s.Bytes) - b.Bytes; b.Bytes > 0 && more > 0 {
		each := max(int64(s.Bytes)/int64(s.Msgs), 1)
		end = max(end, s.FirstSeq+uint64((more+each-1)/each))
	}
	if end = min(end, r.rated()+1); end <= s.FirstSeq {
		return 0, nil
	}
	if err := r.purge(ctx, r.store.records, jetstream.WithPurgeSequence(end)); err != nil {
		return 0, err
	}
	after, err := info(ctx, r.store.records)
	if err != nil {
		return 0, err
	}
	// Others are stored meanwhile.
	return before.State.Msgs + (after.State.LastSeq - before.State.LastSeq) - after.State.Msgs, nil
}

// firstSince returns the sequence of the first record from a time on, or the one after
// the last.
func (r *pruner) firstSince(ctx context.Context, s jetstream.StreamState, at time.Time) (uint64, error) {
	low, high := s.FirstSeq, s.LastSeq+1 // it is within
	for low < high {
		mid := low + (high-low)/2
		msg, err := next(ctx, r.store.records, mid, r.store.subjects.Records())
		if err != nil {
			return 0, err
		}
		if msg == nil || !msg.Time.Before(at) {
			high = mid
		} else {
			low = msg.Sequence + 1
		}
	}
	return low, nil
}

func (r *pruner) purge(ctx context.Context, s jetstream.Stream, what jetstream.StreamPurgeOpt) error {
	ctx, cancel := context.WithTimeout(ctx, 5*storeWait) // a large stream takes its time
	defer cancel()
	if err := s.Purge(ctx, what); err != nil {
		return fmt.Errorf("stream %s: %w", s.CachedInfo().Config.Name, err)
	}
	return nil
}
