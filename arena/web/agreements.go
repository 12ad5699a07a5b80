package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena"
	"sparring/arena/web/message"
	"sparring/protocol"
)

// agreements keeps what people have agreed on among themselves, in a bucket that
// all gateways share: invitations, how games are continued, and the last results.
// Its keys:
//
//	invite.<hash>      invitation, by the hash of its token
//	after.<game>       continuations of a finished game
//	results.<player>   results against bots
//	waiting.<player>   challenges that wait
type agreements struct {
	kv  jetstream.KeyValue
	log zerolog.Logger
	// after is called when the continuations of a game have changed.
	after func(protocol.GameID, continuations)
	// invited is called when an invitation of a player has changed.
	invited func(protocol.PlayerID)
	// waiting is called with the challenges of a player when they have been stored.
	waiting func(protocol.PlayerID, []message.Waiting)

	mu         sync.Mutex
	invites    map[string]invitation           // by hash
	offers     map[protocol.PlayerID]time.Time // until when the player's offers to continue are open
	challenges map[protocol.PlayerID]challenges
}

// keepAgreements is how long an entry is kept after its last change. Invitations to
// correspondence games live nearly as long.
const keepAgreements = 14 * 24 * time.Hour

// errTaken is returned when an entry was changed by somebody else meanwhile in a
// way that the change does not allow.
var errTaken = errors.New("somebody else was faster")

func openAgreements(ctx context.Context, a *arena.Arena, log zerolog.Logger) (*agreements, error) {
	kv, err := a.Bucket(ctx, jetstream.KeyValueConfig{
		Bucket: "agreements", Description: "what people have agreed on: invitations, rematches", TTL: keepAgreements,
	})
	if err != nil {
		return nil, err
	}
	return &agreements{kv: kv, log: log, invites: make(map[string]invitation), offers: make(map[protocol.PlayerID]time.Time),
		challenges: make(map[protocol.PlayerID]challenges), after: func(protocol.GameID, continuations) {},
		invited: func(protocol.PlayerID) {}, waiting: func(protocol.PlayerID, []message.Waiting) {}}, nil
}

// run follows the changes that any gateway makes, until ctx ends.
func (s *agreements) run(ctx context.Context, nc *nats.Conn) {
	followChanges(ctx, nc, s.log, "invitations and challenges", s.follows, func() (jetstream.KeyWatcher, error) {
		w, err := s.kv.WatchFiltered(ctx, []string{"invite.>", "after.>", "waiting.>"})
		if err == nil {
			s.forget() // what is there still comes again
		}
		return w, err
	})
}

// forget drops what is in memory.
func (s *agreements) forget() {
	s.mu.Lock()
	invites := s.invites
	s.invites, s.offers, s.challenges = make(map[string]invitation), make(map[protocol.PlayerID]time.Time), make(map[protocol.PlayerID]challenges)
	s.mu.Unlock()
	for _, i := range invites {
		s.invited(i.By)
	}
}

func (s *agreements) follows(entry jetstream.KeyValueEntry) {
	key := entry.Key()
	there := entry.Operation() == jetstream.KeyValuePut
	if g, ok := strings.CutPrefix(key, "after."); ok && there {
		var c continuations
		if json.Unmarshal(entry.Value(), &c) == nil {
			s.noteOffers(c, time.Now())
			s.after(protocol.GameID(g), c)
		}
	}
	if id, ok := strings.CutPrefix(key, "waiting."); ok {
		s.followsWaiting(protocol.PlayerID(id), entry.Value()) // without a value if it is erased
		return
	}
	hash, ok := strings.CutPrefix(key, "invite.")
	if !ok {
		return
	}
	var inv invitation
	if there && json.Unmarshal(entry.Value(), &inv) != nil {
		return
	}
	s.mu.Lock()
	by := s.invites[hash].By
	if there && inv.open(time.Now()) {
		s.invites[hash], by = inv, inv.By
	} else {
		delete(s.invites, hash)
	}
	s.mu.Unlock()
	if by != "" {
		s.invited(by)
	}
}

func (s *agreements) noteOffers(c continuations, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range []*continuation{c.Rematch, c.Takeback} {
		if x.offered(now) != nil && x.Player != "" && x.At.Add(offerFor).After(s.offers[x.Player]) {
			s.offers[x.Player] = x.At.Add(offerFor)
		}
	}
}

// expecting returns the people with an open offer to continue a game or an open
// invitation to a live one: it begins only if they are here.
func (s *agreements) expecting(now time.Time) map[protocol.PlayerID]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[protocol.PlayerID]bool)
	for _, i := range s.invites {
		if now.Before(i.Expires) && live(i.Terms) {
			all[i.By] = true
		}
	}
	for p, until := range s.offers {
		if now.Before(until) {
			all[p] = true
		} else {
			delete(s.offers, p)
		}
	}
	return all
}

// readEntry returns an entry and its revision; 0 if there is none.
func readEntry[T any](ctx context.Context, s *agreements, key string) (v T, revision uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	entry, err := s.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return v, 0, nil
	}
	if err == nil {
		revision, err = entry.Revision(), json.Unmarshal(entry.Value(), &v)
	}
	if err != nil {
		return v, 0, fmt.Errorf("read %s: %w", kindOf(key), err)
	}
	return v, revision, nil
}

// changeEntry changes an entry by f, which may be called more than once and gets the
// zero value if there is none. It returns f's error.
func changeEntry[T any](ctx context.Context, s *agreements, key string, f func(*T) error) (v T, err error) {
	for range tries {
		var revision uint64
		if v, revision, err = readEntry[T](ctx, s, key); err != nil {
			return v, err
		}
		if err := f(&v); err != nil {
			return v, err
		}
		data, err := json.Marshal(v)
		if err != nil {
			return v, err
		}
		if err = s.write(ctx, key, data, revision); err == nil {
			return v, nil
		}
		if !errors.Is(err, errConflict) {
			return v, fmt.Errorf("store %s: %w", kindOf(key), err)
		}
	}
	return v, errTaken
}

// write stores an entry if it still has the revision; 0 means that there is none.
func (s *agreements) write(ctx context.Context, key string, data []byte, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	var err error
	if revision == 0 {
		_, err = s.kv.Create(ctx, key, data)
	} else {
		_, err = s.kv.Update(ctx, key, data, revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return errConflict
	}
	return err
}

// erase removes what is stored of a person.
func (s *agreements) erase(ctx context.Context, id protocol.PlayerID) {
	keys := []string{"results." + string(id), "waiting." + string(id)}
	for hash := range s.invitesOf(id) {
		keys = append(keys, "invite."+hash)
	}
	for _, key := range keys {
		if err := s.kv.Purge(ctx, key); err != nil {
			s.log.Warn().Err(err).Str("player", string(id)).Str("what", kindOf(key)).Msg("not erased; it ends by itself")
		}
	}
}

// kindOf returns the part of a key that may stand in a log.
func kindOf(key string) string {
	kind, _, _ := strings.Cut(key, ".")
	return kind
}
