package arena

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/glicko"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
	"sparring/record"
)

// ladder is the ratings of all players, per game and speed. It is a fold over
// the stream of records, in their order, each rated game a Glicko-2 period of
// its own. Every arena folds; what one has stored, the others find stored.
type ladder struct {
	kv  jetstream.KeyValue
	log zerolog.Logger

	mu      sync.Mutex
	entries map[string]*entry // by key
	applied uint64            // the last record that has been taken in
}

// entry is a standing with its place in the store.
type entry struct {
	Standing
	// Seq is the last record that entered, Before the rating before it: so
	// that the opponent's update, if the process died between the two, can
	// still be computed.
	Seq    uint64        `json:"seq"`
	Before glicko.Rating `json:"before"`

	revision uint64
}

// Standing is a player's place in the ladder of a game and speed.
type Standing struct {
	Player  protocol.PlayerID `json:"player"`
	Display string            `json:"display,omitempty"`
	Game    string            `json:"game"`
	Speed   clock.Speed       `json:"speed"`
	glicko.Rating
	Games  int `json:"games"`
	Wins   int `json:"wins"`
	Draws  int `json:"draws"`
	Losses int `json:"losses"`
}

// Provisional reports whether the rating says little yet.
func (s Standing) Provisional() bool { return s.Deviation >= glicko.Provisional }

func newLadder(kv jetstream.KeyValue, log zerolog.Logger) *ladder {
	return &ladder{kv: kv, log: log, entries: make(map[string]*entry)}
}

func ladderKey(gameName string, speed clock.Speed, p protocol.PlayerID) string {
	return fmt.Sprintf("%s.%s.%s", gameName, speed, p)
}

// load reads all standings. An entry that can't be read is an error that names
// it: ratings are not to start from nothing unnoticed.
func (l *ladder) load(ctx context.Context) error {
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
			l.entries[kve.Key()] = e
			l.applied = max(l.applied, e.Seq-1) // the last one may have been stored by half
		}
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

// follow takes in records until ctx ends.
func (l *ladder) follow(ctx context.Context, s *store) error {
	l.mu.Lock()
	from := l.applied + 1
	l.mu.Unlock()
	return s.followRecords(ctx, from, func(meta *jetstream.MsgMetadata, rec *record.Record, err error) {
		seq := meta.Sequence.Stream
		if err != nil {
			l.log.Error().Err(err).Msg("a record that can't be read is not rated")
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

// take rates one record, and repeats it until it is stored.
func (l *ladder) take(ctx context.Context, seq uint64, rec *record.Record) {
	score, rated := firstScore(rec)
	if !rated {
		return
	}
	for ctx.Err() == nil {
		err := l.rate(ctx, seq, rec, score)
		if err == nil || ctx.Err() != nil {
			return
		}
		l.log.Warn().Err(err).Str("game", rec.ID).Msg("ratings not stored; it is tried again")
		rest(ctx, time.Second)
	}
}

// firstScore is what the first seat scored in a rated game that counts.
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

// rate brings both players' entries to the record, each only if it is not
// there yet.
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
		next.Rating = glicko.Default.Update(before[seat], []glicko.Game{{Opponent: before[1-seat], Score: s}})
		next.count(s)
		if display := rec.Seats[seat].Display; display != "" {
			next.Display = display
		}
		if err := l.put(ctx, &next); err != nil {
			return err
		}
	}
	return nil
}

// before is the rating that the player had when the record came.
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

// entry is the player's, or a new one.
func (l *ladder) entry(rec *record.Record, seat int) *entry {
	p, speed := protocol.PlayerID(rec.Seats[seat].Player), rec.Clock.Speed()
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[ladderKey(rec.Game, speed, p)]; e != nil {
		return e
	}
	return &entry{Standing: Standing{Player: p, Game: rec.Game, Speed: speed, Rating: glicko.Start}}
}

// put stores an entry at the revision that it was read at. When another arena
// was faster, its entry is taken instead.
func (l *ladder) put(ctx context.Context, e *entry) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	key := ladderKey(e.Game, e.Speed, e.Player)
	try, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	if e.revision == 0 {
		e.revision, err = l.kv.Create(try, key, data)
	} else {
		e.revision, err = l.kv.Update(try, key, data, e.revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		kve, getErr := l.kv.Get(try, key)
		if getErr != nil {
			return errors.Join(err, getErr)
		}
		if e, err = readEntry(kve); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("bucket %s, key %s: %w", l.kv.Bucket(), key, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries[key] = e
	return nil
}

// of is a player's standing, if it has one.
func (l *ladder) of(gameName string, speed clock.Speed, p protocol.PlayerID) (Standing, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[ladderKey(gameName, speed, p)]; e != nil {
		return e.Standing, true
	}
	return Standing{}, false
}

// upTo reports whether all records up to a sequence have been taken in.
func (l *ladder) upTo(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.applied >= seq
}

// standings of a game, the best first, one speed after the other.
func (l *ladder) standings(gameName string) []Standing {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Standing
	for key, e := range l.entries {
		if strings.HasPrefix(key, gameName+".") {
			all = append(all, e.Standing)
		}
	}
	slices.SortFunc(all, func(a, b Standing) int {
		return cmp.Or(cmp.Compare(a.Speed, b.Speed), -cmp.Compare(a.Rating.Rating, b.Rating.Rating), cmp.Compare(a.Player, b.Player))
	})
	return all
}

// Standings are the ladder of a game, the best first, one speed after the other.
func (a *Arena) Standings(gameName string) []Standing { return a.ladder.standings(gameName) }

// rating is what a player is known by under the terms; 0 for nothing yet.
func (a *Arena) rating(t protocol.Terms, p protocol.PlayerID) int {
	if s, ok := a.ladder.of(t.Game, t.Clock.Speed(), p); ok {
		return int(math.Round(s.Rating.Rating))
	}
	return 0
}
