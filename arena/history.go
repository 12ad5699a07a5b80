package arena

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/protocol"
	"sparring/record"
)

// history keeps for every player which of its finished games ended last, one entry of a
// bucket for each player. It follows the stream of records in the background, as the
// ladder does, so that the end of a game waits for nothing. Every arena does so; an entry
// that has a game already stays as it is.
//
// The entries have nothing but references to records: what is removed or erased there is
// gone from here, too, and in no arena's memory is anything of them.
type history struct {
	kv      jetstream.KeyValue
	stream  jetstream.Stream // of the bucket
	from    uint64           // the record to go on with; 0 is the first
	backlog uint64           // see maxBacklog
	log     zerolog.Logger
	damaged sync.Map // PlayerID to the revision of its entry that was logged as damaged
}

// FinishedGame refers to the record of a finished game.
type FinishedGame struct {
	ID    protocol.GameID `json:"id"`
	Game  string          `json:"game"`
	Ended time.Time       `json:"ended"`
	// Unlisted says that lists show the game to its own players only, see [Unlisted].
	Unlisted bool `json:"unlisted,omitempty"`
}

// Unlisted reports whether lists leave out a game of players of two kinds: it is shown to
// whoever has its link.
func Unlisted(private bool, first, second protocol.Kind) bool {
	return private || first == protocol.Human && second == protocol.Human
}

// finishedGames is the entry of a player.
type finishedGames struct {
	// Record is the sequence of the record for which the entry was written.
	Record uint64         `json:"record"`
	Games  []FinishedGame `json:"games"` // the latest first, at most maxFinished
}

const (
	// maxFinished is how many games of a player are kept. Both entries are rewritten at
	// the end of a game: with so many they are some 10 KB each.
	maxFinished = 100
	// maxBacklog is how many of the records that are there at first are read, the latest
	// ones: a platform may have millions of them from before there was a history.
	maxBacklog = 100_000
)

// later orders games by their ends, the latest first.
func later(x, y FinishedGame) int {
	return cmp.Or(y.Ended.Compare(x.Ended), cmp.Compare(x.ID, y.ID))
}

// add adds a game; false if it is there already, or as many later ones are.
func (p *finishedGames) add(g FinishedGame) bool {
	i, found := slices.BinarySearchFunc(p.Games, g, later)
	if found || i == maxFinished {
		return false
	}
	p.Games = slices.Insert(p.Games, i, g)
	p.Games = p.Games[:min(len(p.Games), maxFinished)]
	return true
}

func openHistory(ctx context.Context, js jetstream.JetStream, kv jetstream.KeyValue, log zerolog.Logger) (*history, error) {
	stream, err := js.Stream(ctx, "KV_"+kv.Bucket())
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", kv.Bucket(), err)
	}
	return &history{kv: kv, stream: stream, log: log, backlog: maxBacklog}, nil
}

// load finds the record to go on with: the one for which an entry was written last, since
// the entry of its other player may be missing.
func (h *history) load(ctx context.Context, s *store) error {
	written, err := h.upTo(ctx, s.js)
	if err != nil {
		return err
	}
	records, err := info(ctx, s.records)
	if err != nil {
		return err
	}
	h.from = min(written, records.State.LastSeq+1) // they may have been restored from an older backup
	if written == 0 && records.State.LastSeq > h.backlog {
		h.from = records.State.LastSeq - h.backlog + 1
	}
	return nil
}

// follow adds games to their players' entries until ctx ends.
func (h *history) follow(ctx context.Context, s *store) error {
	return s.followRecordsAgain(ctx, h.from, madeOf, func(meta *jetstream.MsgMetadata, rec *record.Record, err error, _ bool) {
		if err == nil { // else the ladder, which reads all of them, has logged it
			h.take(ctx, meta.Sequence.Stream, rec)
		}
		h.from = meta.Sequence.Stream
	})
}

// upTo returns the sequence of the record for which an entry was written last; 0 if there
// is none.
func (h *history) upTo(ctx context.Context, js jetstream.JetStream) (record uint64, err error) {
	err = readAll(ctx, js, h.stream, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverLastPolicy}, func(m jetstream.Msg, _ *jetstream.MsgMetadata) {
		if of, _ := decodePlayed(m.Data()); of.Record > 0 {
			record = of.Record
		}
	})
	return record, err
}

// take adds a game to the entries of its players, and tries until they are stored.
func (h *history) take(ctx context.Context, seq uint64, rec *record.Record) {
	g := FinishedGame{ID: protocol.GameID(rec.ID), Game: rec.Game, Ended: rec.End.UTC().Truncate(time.Millisecond),
		Unlisted: Unlisted(rec.Private, protocol.Kind(rec.Seats[0].Kind), protocol.Kind(rec.Seats[1].Kind))}
	for _, seat := range rec.Seats {
		p := protocol.PlayerID(seat.Player)
		if protocol.CheckID("player", p) != nil {
			continue
		}
		insist(ctx, func() error { return h.add(ctx, p, seq, g) }, func(level zerolog.Level, err error) {
			h.log.WithLevel(level).Err(err).Str("game", rec.ID).Msg("game not entered among those of its players; trying again")
		})
	}
}

// add adds a game to a player's entry.
func (h *history) add(ctx context.Context, p protocol.PlayerID, seq uint64, g FinishedGame) error {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	for {
		of, revision, err := h.read(ctx, p)
		if err != nil {
			return err
		}
		if !of.add(g) {
			return nil
		}
		of.Record = seq
		data, err := json.Marshal(of)
		if err != nil {
			return err
		}
		if revision == 0 {
			_, err = h.kv.Create(ctx, string(p), data)
		} else {
			_, err = h.kv.Update(ctx, string(p), data, revision)
		}
		if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			continue // another arena was faster, or the player was erased
		}
		if err != nil {
			return fmt.Errorf("bucket %s: %w", h.kv.Bucket(), err)
		}
		return nil
	}
}

// read returns a player's entry and its revision; 0 if there is none. What can't be read of
// it is left out: the player can be shown without that, and the next game replaces it.
func (h *history) read(ctx context.Context, p protocol.PlayerID) (of finishedGames, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	kve, err := h.kv.Get(ctx, string(p))
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return of, 0, nil
	case err != nil:
		return of, 0, fmt.Errorf("bucket %s: %w", h.kv.Bucket(), err)
	}
	of, err = decodePlayed(kve.Value())
	if err != nil {
		if logged, _ := h.damaged.Swap(p, kve.Revision()); logged != kve.Revision() {
			h.log.Error().Err(err).Str("player", string(p)).Msg("the list of a player's games is damaged; what can't be read is left out")
		}
	}
	return of, kve.Revision(), nil
}

// decodePlayed reads an entry as it is stored. With an error it returns what can be read.
func decodePlayed(data []byte) (of finishedGames, err error) {
	var stored struct {
		Record uint64            `json:"record"`
		Games  []json.RawMessage `json:"games"`
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		return of, err
	}
	of.Record = stored.Record
	var faults []error
	for _, raw := range stored.Games {
		var g FinishedGame
		if err := errors.Join(json.Unmarshal(raw, &g), protocol.CheckID("game", g.ID), protocol.CheckID("name of a game", g.Game)); err != nil {
			faults = append(faults, err)
			continue
		}
		of.Games = append(of.Games, g)
	}
	return of, errors.Join(faults...)
}

// erase removes a player's entry.
func (h *history) erase(ctx context.Context, p protocol.PlayerID) error {
	ctx, cancel := context.WithTimeout(ctx, 5*storeWait)
	defer cancel()
	// Not by a marker, which would have the id in its subject.
	if err := h.stream.Purge(ctx, jetstream.WithPurgeSubject("$KV."+h.kv.Bucket()+"."+string(p))); err != nil {
		return fmt.Errorf("bucket %s: %w", h.kv.Bucket(), err)
	}
	return nil
}

// FinishedGames returns the finished games of a player, the latest first, at most the last
// 100. A game is there a moment after its record.
func (a *Arena) FinishedGames(ctx context.Context, p protocol.PlayerID) ([]FinishedGame, error) {
	if err := protocol.CheckID("player", p); err != nil {
		return nil, err
	}
	of, _, err := a.history.read(ctx, p)
	return of.Games, err
}

// FinishedRecord returns the record of a game. It returns an error that wraps ErrNoGame if
// that has been removed.
func (a *Arena) FinishedRecord(ctx context.Context, g FinishedGame) (*record.Record, error) {
	return a.recordIn(ctx, g.Game, g.ID)
}
