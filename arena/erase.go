package arena

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/protocol"
	"sparring/record"
)

// Erased is what [Erase] found of a player in a platform's store.
type Erased struct {
	Logs      int // of games that have ended
	Records   int
	Standings int // in the ladder
	Mentions  int // in the standings of others, as one of their last opponents
	// Running are the player's games that have not ended, and Unrated the records that no
	// arena has rated, or entered in its players' lists, yet. They stay: erase again later.
	Running, Unrated int
}

// markerRest is the time in which arenas learn from a marker that a standing is erased.
const markerRest = time.Second

// Erase finds a player in a platform's store and, with remove, removes it: the records and
// logs of all its games, which are overwritten on the server's disk, its standings, its list
// of games, and its id in the standings of others. It may run beside arenas, and again after it was
// killed. nc is a connection of the platform's account.
func Erase(ctx context.Context, nc *nats.Conn, subjects protocol.Subjects, player protocol.PlayerID, remove bool) (found Erased, err error) {
	if err := protocol.CheckID("player", player); err != nil { // it becomes part of subjects: * would be everybody
		return found, err
	}
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(storeWait))
	if err != nil {
		return found, err
	}
	e := &eraser{store: &store{js: js, subjects: subjects}, player: player, remove: remove}
	for what, s := range map[string]*jetstream.Stream{"games": &e.store.games, "records": &e.store.records} {
		name := streamName(subjects, what)
		if *s, err = js.Stream(ctx, name); err != nil {
			return found, fmt.Errorf("stream %s: %w", name, explain(err))
		}
	}
	bucket := streamName(subjects, "ladder")
	if e.store.ladder, err = js.KeyValue(ctx, bucket); err != nil {
		return found, fmt.Errorf("bucket %s: %w", bucket, explain(err))
	}
	if e.standings, err = js.Stream(ctx, "KV_"+bucket); err != nil {
		return found, fmt.Errorf("bucket %s: %w", bucket, err)
	}
	e.ladder = newLadder(e.store.ladder, nil, zerolog.Nop())
	if err := e.ladder.load(ctx, e.store.records); err != nil {
		return found, err
	}
	if e.history, err = e.listed(ctx); err != nil {
		return found, err
	}
	// The standings and the player's list of games last: they say which records have been
	// rated and listed.
	err = errors.Join(e.logs(ctx), e.records(ctx))
	if err == nil {
		err = e.ratings(ctx)
	}
	if err == nil && remove && e.history != nil {
		err = e.history.erase(ctx, player)
	}
	return e.found, err
}

// listed opens the lists of the players' games, and notes which records are in them; nil
// if no arena of this platform has made any.
func (e *eraser) listed(ctx context.Context) (*history, error) {
	kv, err := e.store.js.KeyValue(ctx, streamName(e.store.subjects, "history"))
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", streamName(e.store.subjects, "history"), explain(err))
	}
	h, err := openHistory(ctx, e.store.js, kv, zerolog.Nop())
	if err == nil {
		e.upTo, err = h.upTo(ctx, e.store.js)
	}
	return h, err
}

// eraser is one run of Erase.
type eraser struct {
	store     *store
	standings jetstream.Stream // of the ladder's bucket
	ladder    *ladder          // as it is stored
	history   *history         // nil if there is none
	upTo      uint64           // the last record that is in the lists of its players' games
	player    protocol.PlayerID
	remove    bool
	found     Erased
}

// logs removes the logs of the player's games that have ended.
func (e *eraser) logs(ctx context.Context) error {
	ended := make(map[protocol.GameID]bool) // the player's games
	var faults []error
	err := readAll(ctx, e.store.js, e.store.games, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy}, func(m jetstream.Msg, meta *jetstream.MsgMetadata) {
		last, err := decodeEvent(e.store.subjects, m.Subject(), meta.Sequence.Stream, m.Data())
		if err != nil {
			faults = append(faults, err)
		} else if slices.ContainsFunc(last.Holders[:], func(h protocol.Holder) bool { return h.Player == e.player }) {
			ended[last.Game] = isFinal(last)
		}
	})
	if err != nil {
		return err
	}
	for g, over := range ended {
		if !over {
			e.found.Running++
			continue
		}
		e.found.Logs++
		// The first entry first: without the last one the game would seem to run.
		for seq := uint64(1); e.remove; seq++ {
			m, err := next(ctx, e.store.games, seq, e.store.subjects.Log(g))
			if err != nil {
				return fmt.Errorf("log of game %s: %w", g, err)
			}
			if m == nil {
				break
			}
			seq = m.Sequence
			if err := overwrite(ctx, e.store.games, seq); err != nil {
				return err
			}
		}
	}
	return errors.Join(faults...)
}

// records removes the records of the player's games that have been rated.
func (e *eraser) records(ctx context.Context) error {
	var rated []uint64
	var faults []error
	err := readAll(ctx, e.store.js, e.store.records, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy}, func(m jetstream.Msg, meta *jetstream.MsgMetadata) {
		rec, err := record.Decode(m.Data())
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("%s: %w", m.Subject(), err))
		case rec.Seats[0].Player != string(e.player) && rec.Seats[1].Player != string(e.player):
		case e.rated(rec, meta.Sequence.Stream):
			rated = append(rated, meta.Sequence.Stream)
		default:
			e.found.Unrated++
		}
	})
	if err != nil {
		return err
	}
	e.found.Records = len(rated)
	for _, seq := range rated {
		if !e.remove {
			break
		}
		if err := overwrite(ctx, e.store.records, seq); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// rated reports whether both players' standings include a record, or none has to, and
// their lists, so that no arena adds it there later.
func (e *eraser) rated(rec *record.Record, seq uint64) bool {
	if e.history != nil && e.upTo < seq {
		return false
	}
	if _, counts := firstScore(rec); !counts {
		return true
	}
	return e.ladder.entry(rec, 0).Seq >= seq && e.ladder.entry(rec, 1).Seq >= seq
}

// ratings removes the player's standings, and its id from those of others.
func (e *eraser) ratings(ctx context.Context) error {
	for key, of := range e.ladder.entries {
		switch {
		case of.Player == e.player:
			e.found.Standings++
			if !e.remove {
				continue
			}
			within, cancel := context.WithTimeout(ctx, storeWait)
			err := e.store.ladder.Purge(within, key) // which arenas see
			cancel()
			if err != nil {
				return fmt.Errorf("bucket %s, key %s: %w", e.store.ladder.Bucket(), key, err)
			}
		case slices.Contains(of.Recent, e.player):
			e.found.Mentions++
			if err := e.withoutMention(ctx, of); err != nil {
				return err
			}
		}
	}
	if !e.remove {
		return nil
	}
	sleep(ctx, markerRest)
	within, cancel := context.WithTimeout(ctx, 5*storeWait)
	defer cancel()
	// The markers have the id in their subjects.
	if err := e.standings.Purge(within, jetstream.WithPurgeSubject(fmt.Sprintf("$KV.%s.*.*.%s", e.store.ladder.Bucket(), e.player))); err != nil {
		return fmt.Errorf("bucket %s: %w", e.store.ladder.Bucket(), err)
	}
	return nil
}

// withoutMention removes the player from somebody's last opponents, also if an arena
// rates a game meanwhile.
func (e *eraser) withoutMention(ctx context.Context, of *entry) error {
	for e.remove && slices.Contains(of.Recent, e.player) {
		next := *of
		next.Recent = slices.DeleteFunc(slices.Clone(of.Recent), func(p protocol.PlayerID) bool { return p == e.player })
		if err := e.ladder.put(ctx, &next); err != nil {
			return err
		}
		e.ladder.mu.Lock()
		of = e.ladder.entries[ladderKey(of.Game, of.Speed, of.Player)]
		e.ladder.mu.Unlock()
	}
	return nil
}

// overwrite removes a message and overwrites it on the server's disk. One that is gone is
// no error.
func overwrite(ctx context.Context, s jetstream.Stream, seq uint64) error {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	err := s.SecureDeleteMsg(ctx, seq)
	if err == nil {
		return nil
	}
	if _, getErr := s.GetMsg(ctx, seq); errors.Is(getErr, jetstream.ErrMsgNotFound) {
		return nil
	}
	return fmt.Errorf("stream %s, entry %d: %w", s.CachedInfo().Config.Name, seq, err)
}
