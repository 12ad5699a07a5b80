package arena

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/glicko"
	"sparring/arena/pairing"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// ladder has the ratings of all players by game and speed. It processes the
// stream of records in order, with each rated game as a Glicko-2 rating period
// of its own. Every arena does so, and each update is stored only once.
type ladder struct {
	kv      jetstream.KeyValue
	anchors map[protocol.PlayerID]glicko.Rating
	log     zerolog.Logger

	mu      sync.Mutex
	entries map[string]*entry     // by key
	changes uint64                // of entries, so far
	sorted  map[string][]Standing // by game, until an entry of the game changes; never modified
	applied uint64                // the last record that has been processed
}

// entry is a standing as it is stored.
type entry struct {
	Standing
	// Seq is the last record that was rated and Before the rating before it.
	// If the process dies between the updates of two opponents, the second one
	// can still be computed.
	Seq    uint64        `json:"seq"`
	Before glicko.Rating `json:"before"`
	// Balance is how many games more the player had on the first seat than on the
	// second, and Recent its last opponents, the latest first: what the pairing of the
	// next game needs.
	Balance int                 `json:"balance,omitempty"`
	Recent  []protocol.PlayerID `json:"recent,omitempty"`

	revision uint64
}

func newLadder(kv jetstream.KeyValue, anchors map[protocol.PlayerID]glicko.Rating, log zerolog.Logger) *ladder {
	return &ladder{kv: kv, anchors: anchors, log: log, entries: make(map[string]*entry), sorted: make(map[string][]Standing)}
}

// anchored reports whether a player's rating is fixed.
func (l *ladder) anchored(p protocol.PlayerID) bool { _, ok := l.anchors[p]; return ok }

// choosesAnchor reports whether a challenge names an anchor. Its rating never falls, so
// that somebody who may choose it, the clock and the seat could win points for ever.
func (l *ladder) choosesAnchor(m protocol.ChallengeRequest) bool {
	_, anchor := l.anchors[m.Opponent]
	return anchor
}

// start returns the rating of a player without games.
func (l *ladder) start(p protocol.PlayerID) glicko.Rating {
	if r, ok := l.anchors[p]; ok {
		return r
	}
	return glicko.Start
}

// keep holds a standing in memory, with the rating of an anchor whatever was stored.
// The caller holds mu.
func (l *ladder) keep(key string, e *entry) {
	if r, ok := l.anchors[e.Player]; ok {
		e.Rating, e.Before = r, r
	}
	l.entries[key] = e
	l.changes++
	delete(l.sorted, e.Game)
}

func ladderKey(gameName string, speed clock.Speed, p protocol.PlayerID) string {
	return fmt.Sprintf("%s.%s.%s", gameName, speed, p)
}

// load reads all standings, of games whose records are in a stream. An unreadable entry is an
// error that names it, so that no rating is silently reset.
func (l *ladder) load(ctx context.Context, records jetstream.Stream) error {
	if err := l.read(ctx); err != nil {
		return err
	}
	return l.notAhead(ctx, records) // afterwards: now the stream has all records that the standings include
}

func (l *ladder) read(ctx context.Context) error {
	w, err := l.kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("bucket %s: %w", l.kv.Bucket(), explain(err))
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("bucket %s: %w", l.kv.Bucket(), context.Cause(ctx))
		case kve, ok := <-w.Updates():
			if !ok || kve == nil {
				return nil
			}
			if kve.Key() == roundKey {
				continue
			}
			e, err := readEntry(kve)
			if err != nil {
				return fmt.Errorf("bucket %s: %w", l.kv.Bucket(), err)
			}
			l.keep(kve.Key(), e)
			l.applied = max(l.applied, e.Seq-1) // the last one may have been stored for one player only
		}
	}
}

// notAhead makes the ladder rate new records although its standings include later ones, as
// when the records were restored from an older backup than the standings: by their numbers
// the new ones would count as rated.
func (l *ladder) notAhead(ctx context.Context, records jetstream.Stream) error {
	i, err := info(ctx, records)
	if err == nil {
		l.endAt(i.State.LastSeq)
	}
	return err
}

// endAt makes the ladder take records after the last one as not rated, whatever its
// standings say.
func (l *ladder) endAt(last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ahead := 0
	for _, e := range l.entries {
		if e.Seq > last {
			e.Seq = last
			ahead++
		}
	}
	l.applied = min(l.applied, last)
	if ahead > 0 {
		l.log.Warn().Int("standings", ahead).Uint64("records", last).
			Msg("standings include games whose records are gone, as after a power cut or a restore from an older backup; they stay, and new games are rated")
	}
}

func readEntry(kve jetstream.KeyValueEntry) (*entry, error) {
	e := &entry{revision: kve.Revision()}
	err := json.Unmarshal(kve.Value(), e)
	if err == nil && (e.Seq == 0 || e.Deviation <= 0 || ladderKey(e.Game, e.Speed, e.Player) != kve.Key()) {
		err = errors.New("not a standing of this player")
	}
	if err != nil {
		return nil, fmt.Errorf("key %s is corrupt: %w", kve.Key(), err)
	}
	return e, nil
}

// follow rates records until ctx ends.
func (l *ladder) follow(ctx context.Context, s *store) error {
	l.mu.Lock()
	from := l.applied + 1
	l.mu.Unlock()
	return s.followRecordsAgain(ctx, from, madeOf, func(meta *jetstream.MsgMetadata, rec *record.Record, err error, again bool) {
		seq := meta.Sequence.Stream
		switch rated := l.upTo(seq); {
		case rated && again:
			if err == nil {
				l.confirm(ctx, seq, rec)
			}
			return
		case rated: // the records went back
			l.endAt(seq - 1)
		}
		if err != nil {
			l.log.Error().Err(err).Msg("unreadable record not rated")
		} else {
			l.take(ctx, seq, rec)
		}
		if ctx.Err() == nil {
			l.mu.Lock()
			l.applied = max(l.applied, seq)
			l.mu.Unlock()
		}
	})
}

// take rates one record and tries until the ratings are stored.
func (l *ladder) take(ctx context.Context, seq uint64, rec *record.Record) {
	score, rated := firstScore(rec)
	if !rated {
		return
	}
	insist(ctx, func() error { return l.rate(ctx, seq, rec, score) }, func(level zerolog.Level, err error) {
		l.log.WithLevel(level).Err(err).Str("game", rec.ID).Msg("ratings not stored; trying again")
	})
}

// confirm stores the standings that include a record as the last one again, if the bucket has
// older ones: it has gone back in a power cut of the server. Those that include later ones wait
// for these, which may be lost.
func (l *ladder) confirm(ctx context.Context, seq uint64, rec *record.Record) {
	if _, rated := firstScore(rec); !rated {
		return
	}
	for seat := range rec.Seats {
		insist(ctx, func() error { return l.storeAgain(ctx, seq, l.entry(rec, seat)) }, func(level zerolog.Level, err error) {
			l.log.WithLevel(level).Err(err).Str("game", rec.ID).Msg("ratings not stored; trying again")
		})
	}
}

func (l *ladder) storeAgain(ctx context.Context, seq uint64, e *entry) error {
	if e.Seq != seq {
		return nil
	}
	try, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	again := *e
	switch kve, err := l.kv.Get(try, ladderKey(e.Game, e.Speed, e.Player)); {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		again.revision = 0
	case err != nil:
		return err
	default:
		stored, err := readEntry(kve)
		if err != nil || stored.Seq >= e.Seq {
			return err
		}
		again.revision = stored.revision
	}
	return l.put(ctx, &again)
}

// errOvertaken is returned by put when another arena has changed the standing, and the entry
// that was read then does not include the record: the server of a cluster that answers may
// lag behind the one that stored it. A later try reads the new one.
var errOvertaken = errors.New("changed meanwhile")

// firstScore returns the score of the first seat; ok is false if the game does
// not count.
func firstScore(rec *record.Record) (score float64, ok bool) {
	if !rec.Rated {
		return 0, false
	}
	switch rec.Result {
	case game.FirstWins:
		return 1, true
	case game.SecondWins:
		return 0, true
	case game.Draw:
		return 0.5, true
	}
	return 0, false
}

// rate updates the entries of both players, unless they include the record
// already.
func (l *ladder) rate(ctx context.Context, seq uint64, rec *record.Record, score float64) error {
	var sides [2]*entry
	for seat := range sides {
		sides[seat] = l.entry(rec, seat)
	}
	before := [2]glicko.Rating{sides[0].before(seq), sides[1].before(seq)}
	for seat, e := range sides {
		if e.Seq >= seq {
			continue
		}
		s := score
		if seat == int(game.Second) {
			s = 1 - score
		}
		next := *e
		next.Seq, next.Before = seq, before[seat]
		if !l.anchored(e.Player) {
			next.Rating = glicko.Default.Update(before[seat], []glicko.Game{{Opponent: before[1-seat], Score: s}})
		}
		next.count(s)
		next.Balance += 1 - 2*seat
		next.Recent = merged([]protocol.PlayerID{sides[1-seat].Player}, e.Recent)
		if display := rec.Seats[seat].Display; display != "" {
			next.Display = display
		}
		if err := l.put(ctx, &next); err != nil {
			return err
		}
	}
	return nil
}

// before returns the player's rating before the record.
func (e *entry) before(seq uint64) glicko.Rating {
	if e.Seq == seq {
		return e.Before
	}
	return e.Rating
}

func (e *entry) count(score float64) {
	e.Games++
	switch score {
	case 1:
		e.Wins++
	case 0:
		e.Losses++
	default:
		e.Draws++
	}
}

// entry returns the player's entry, or a new one.
func (l *ladder) entry(rec *record.Record, seat int) *entry {
	p, speed := protocol.PlayerID(rec.Seats[seat].Player), rec.Clock.Speed()
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[ladderKey(rec.Game, speed, p)]; e != nil {
		return e
	}
	return &entry{Standing: Standing{Player: p, Game: rec.Game, Speed: speed, Rating: l.start(p)}}
}

// put stores an entry at the revision at which it was read. If another arena was
// faster, its entry is used instead. One that was erased is forgotten: rated again, the
// player begins afresh.
func (l *ladder) put(ctx context.Context, e *entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	key, seq := ladderKey(e.Game, e.Speed, e.Player), e.Seq
	try, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	if e.revision == 0 {
		e.revision, err = l.kv.Create(try, key, data)
	} else {
		e.revision, err = l.kv.Update(try, key, data, e.revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		kve, getErr := l.kv.Get(try, key)
		if errors.Is(getErr, jetstream.ErrKeyNotFound) { // its marker was gone before forgetErased saw it
			l.forget(key)
			getErr = errOvertaken
		}
		if getErr != nil {
			return fmt.Errorf("bucket %s, key %s: %w", l.kv.Bucket(), key, getErr)
		}
		var stored *entry
		if stored, err = readEntry(kve); err != nil {
			return err
		}
		e = l.later(key, stored)
	}
	if err != nil {
		return fmt.Errorf("bucket %s, key %s: %w", l.kv.Bucket(), key, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(key, e)
	if e.Seq < seq { // changed, as by Erase, but not rated
		return fmt.Errorf("bucket %s, key %s: %w", l.kv.Bucket(), key, errOvertaken)
	}
	return nil
}

// later returns an entry as it is stored, or the one that is held in memory, to be stored at
// that revision, if the bucket has gone back in a power cut of the server.
func (l *ladder) later(key string, stored *entry) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.entries[key]
	if held == nil || held.Seq <= stored.Seq {
		return stored
	}
	again := *held
	again.revision = stored.revision
	return &again
}

// forgetErased drops standings that are erased, until ctx ends. Whatever else others
// store is read when it is needed. Whenever there is a connection again, it begins again: a
// watch waits for revisions after those that the server may have lost in a power cut.
func (l *ladder) forgetErased(ctx context.Context, nc *nats.Conn) {
	again := nc.StatusChanged(nats.CONNECTED)
	defer nc.RemoveStatusListener(again)
	for ctx.Err() == nil {
		w, err := l.kv.WatchAll(ctx, jetstream.UpdatesOnly(), jetstream.MetaOnly())
		if err != nil {
			sleep(ctx, time.Second)
			continue
		}
		l.forgetThoseOf(ctx, w, again)
		w.Stop()
	}
}

// forgetThoseOf drops the standings whose keys a watcher reports as erased, until it or
// ctx ends, or there is a connection again. Updates may stay open for ever when the connection
// is closed.
func (l *ladder) forgetThoseOf(ctx context.Context, w jetstream.KeyWatcher, again <-chan nats.Status) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
			return
		case kve, ok := <-w.Updates():
			if !ok {
				return
			}
			if kve != nil && kve.Operation() != jetstream.KeyValuePut {
				l.forget(kve.Key())
			}
		}
	}
}

func (l *ladder) forget(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[key]; e != nil {
		delete(l.entries, key)
		l.changes++
		delete(l.sorted, e.Game)
	}
}

// of returns a player's standing, if it has one.
func (l *ladder) of(gameName string, speed clock.Speed, p protocol.PlayerID) (Standing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[ladderKey(gameName, speed, p)]; e != nil {
		return e.Standing, true
	}
	return Standing{}, false
}

// changedBy returns how a record has changed a player's standing under the terms; nil if
// it is not the last one that did.
func (l *ladder) changedBy(t protocol.Terms, p protocol.PlayerID, record uint64) *RatingChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[ladderKey(t.Game, t.Clock.Speed(), p)]
	if e == nil || e.Seq != record {
		return nil
	}
	return &RatingChange{e.Before, e.Standing}
}

// contender returns what the pairing of a player's next game under the terms needs to
// know, but for its wait.
func (l *ladder) contender(t protocol.Terms, p protocol.PlayerID) pairing.Player {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[ladderKey(t.Game, t.Clock.Speed(), p)]; e != nil {
		return pairing.Player{ID: p, Rating: e.Rating, Games: e.Games, Balance: e.Balance, Recent: e.Recent}
	}
	return pairing.Player{ID: p, Rating: l.start(p)}
}

// upTo reports whether all records up to a sequence have been rated.
func (l *ladder) upTo(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied >= seq
}

// last returns the last record that has been rated.
func (l *ladder) last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied
}

// rating returns a player's rating for the game and speed of the terms; 0 if
// there is none.
func (a *Arena) rating(t protocol.Terms, p protocol.PlayerID) int {
	if s, ok := a.ladder.of(t.Game, t.Clock.Speed(), p); ok {
		return int(math.Round(s.Rating.Rating))
	}
	if r, ok := a.ladder.anchors[p]; ok {
		return int(math.Round(r.Rating))
	}
	return 0
}
