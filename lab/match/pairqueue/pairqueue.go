// Package pairqueue lets several machines play the pairs of a campaign, over NATS.
//
// The process that has the campaign's folder is its owner: [Queue.Worker] posts pairs and
// waits for their games. On each other machine [Queue.Serve] takes pairs and plays
// them. Both streams are the owner's and live in the account of the platform.
//
// A pair is leased to a machine, which renews the lease while it plays. If it is
// killed, paused or cut off, the lease ends after [Lease] and another machine gets
// the pair. The first result of a game is the only one: a second is refused by the
// server.
package pairqueue

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/lab/match"
	"sparring/lab/match/campaign"
	"sparring/protocol"
	"sparring/record"
)

// Lease is how long a machine that does not answer keeps a pair.
const Lease = 30 * time.Second

// Times of a queue.
const (
	look      = 300 * time.Millisecond // between two queries for a result
	answer    = 5 * time.Second        // for an answer of the server
	repost    = 20 * time.Second       // between two looks whether a pair is still posted
	keepFor   = 30 * 24 * time.Hour    // results that nobody collects
	passed    = time.Second            // before a pair that a machine has not the files for is offered again, at first
	sayAfter  = time.Minute            // without an answer of the server
	fetchTime = 5 * time.Second        // of a request for a pair
)

// Queue is the queue of a campaign.
type Queue struct {
	js    jetstream.JetStream
	base  string // of all subjects
	name  string // of the streams, without ending
	lease time.Duration
	say   func(format string, args ...any)

	mu    sync.Mutex
	heard time.Time // when the server last answered
	mute  bool      // that it does not was said

	told  map[string]bool // ids of matches of which a pair was passed over
	fails map[string]int  // by subject of a pair: errors of this machine
}

// New makes the queue of a campaign from a connection of the platform's account.
// Prefix is that of all subjects. Say is called with lines for people, also
// concurrently; lease is usually Lease.
func New(js jetstream.JetStream, prefix, campaignName string, lease time.Duration, say func(format string, args ...any)) *Queue {
	sum := sha256.Sum256([]byte(campaignName)) // a name may have dots and letters that subjects refuse
	token := hex.EncodeToString(sum[:6])
	return &Queue{js: js, base: prefix + ".campaign." + token, name: strings.ReplaceAll(prefix, ".", "_") + "_campaign_" + token, lease: lease, say: say, heard: time.Now(), told: map[string]bool{}, fails: map[string]int{}}
}

func (q *Queue) pairSubject(matchID string, pair int) string {
	return fmt.Sprintf("%s.pair.%s-%d", q.base, matchID, pair)
}
func (q *Queue) gameSubject(id string) string { return q.base + ".game." + id }

// ask repeats a request until it is answered or ctx ends: servers restart, and the
// connection is restored by itself. Errors that the server gives as its answer are
// those that answers lists.
func (q *Queue) ask(ctx context.Context, f func(context.Context) error, answers ...error) error {
	return protocol.Repeat(ctx, answer, look, func(ctx context.Context) (bool, error) {
		err := f(ctx)
		answered := err == nil || slices.ContainsFunc(answers, func(a error) bool { return errors.Is(err, a) })
		q.hear(answered, err)
		return answered, err
	})
}

// hear says once that the server does not answer, and once that it does again.
func (q *Queue) hear(answered bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case answered:
		q.heard = time.Now()
		if q.mute {
			q.mute = false
			q.say("the NATS server answers again")
		}
	case !q.mute && time.Since(q.heard) > sayAfter:
		q.mute = true
		q.say("the NATS server does not answer, waiting: %v", err)
	}
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

// streams makes sure that the streams and the consumer are there.
func (q *Queue) streams(ctx context.Context) (pairs, games jetstream.Stream, machines jetstream.Consumer, err error) {
	err = q.ask(ctx, func(ctx context.Context) (err error) {
		pairs, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: q.name + "_pairs", Description: "pairs of games to play", Subjects: []string{q.base + ".pair.*"},
			Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
			Storage: jetstream.FileStorage,
		})
		if err != nil {
			return err
		}
		games, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: q.name + "_games", Description: "finished games", Subjects: []string{q.base + ".game.*"},
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxAge: keepFor,
			Storage: jetstream.FileStorage,
		})
		if err != nil {
			return err
		}
		machines, err = pairs.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: "machines", AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.lease, MaxAckPending: -1,
		})
		return err
	})
	return pairs, games, machines, err
}

// result is what a machine sends: a game, or why the pair can't be played.
type result struct {
	Game  *match.Game `json:"game,omitempty"`
	Error string      `json:"error,omitempty"`
}

// encode writes a result as compressed JSON: a long game with its analysis would not
// fit into a message.
func (r *result) encode() ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	err := errors.Join(json.NewEncoder(w).Encode(r), w.Close())
	return b.Bytes(), err
}

// largest is that of a result, in bytes, uncompressed.
const largest = 4 * record.MaxLine

func decode(data []byte) (*result, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, largest))
	if err != nil {
		return nil, err
	}
	var res result
	if err := json.Unmarshal(text, &res); err != nil {
		return nil, err
	}
	if res.Game == nil && res.Error == "" {
		return nil, errors.New("neither a game nor an error")
	}
	return &res, nil
}

// found returns the result that a subject has; nil if there is none.
func (q *Queue) found(ctx context.Context, games jetstream.Stream, subject string) (*result, error) {
	data, err := q.stored(ctx, games, subject)
	if err != nil || data == nil {
		return nil, err
	}
	return decode(data)
}

// stored returns the encoded result that a subject has; nil if there is none. The error is
// that of ctx.
func (q *Queue) stored(ctx context.Context, games jetstream.Stream, subject string) ([]byte, error) {
	var msg *jetstream.RawStreamMsg
	err := q.ask(ctx, func(ctx context.Context) (err error) {
		msg, err = games.GetLastMsgForSubject(ctx, subject)
		return err
	}, jetstream.ErrMsgNotFound, jetstream.ErrStreamNotFound)
	if errors.Is(err, jetstream.ErrMsgNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return msg.Data, nil
}

// put stores a message unless its subject has one.
func (q *Queue) put(ctx context.Context, subject string, data []byte) error {
	return q.ask(ctx, func(ctx context.Context) error {
		_, err := q.js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0))
		if e, ok := errors.AsType[*jetstream.APIError](err); ok && e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			return nil // it is there
		}
		return err
	})
}

// restore returns the pair of a message, with its positions.
func restore(data []byte) (*campaign.Pair, error) {
	p := &campaign.Pair{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, err
	}
	if p.Terms == nil || len(p.Bouts) == 0 {
		return nil, errors.New("no games")
	}
	rules, err := catalog.Rules(p.Terms.Rules)
	if err != nil {
		return nil, err
	}
	for i := range p.Bouts {
		b := &p.Bouts[i]
		if b.Position, err = game.Replay(rules, b.Start, b.Moves); err != nil {
			return nil, err
		}
	}
	return p, nil
}
