package arena

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/protocol"
)

// errLost means that another arena wrote the last entry of the game's log. The
// game is that arena's, and we must not write to it again.
var errLost = errors.New("another referee owns the game")

// errRemoved means that the log, which had entries, has none any more: an operator has
// purged it.
var errRemoved = errors.New("the game's log was removed from its stream")

// errSpace means that the store has no space for the entry, which may or may
// not have been written.
var errSpace = errors.New("no space to store")

// errCorrupt means that an entry of a log can't be decoded.
var errCorrupt = errors.New("corrupt log")

// ErrNoGame is returned when the platform has no game with an id, or no record
// of it.
var ErrNoGame = errors.New("no such game")

// JetStream's codes for lack of space, which its client does not name.
const (
	codeResources   = 10023 // insufficient resources
	codeStorage     = 10047 // insufficient storage resources available
	codeStoreFailed = 10077 // a limit of the stream, or the file system, refused the write
	codeNoStore     = 10049 // the files of a new stream can't be written
)

// codeNoLifetimes is JetStream's code for an entry with a lifetime in a stream whose
// settings do not have it, such as one that was restored from an old backup while arenas run.
const codeNoLifetimes = 10166

func withoutLifetimes(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeNoLifetimes
}

// JetStream's codes of a cluster that has no leader, or too few servers, at the moment.
var codesUnsettled = []jetstream.ErrorCode{10004, 10005, 10008, 10009, 10118}

// unsettled reports whether a cluster could not serve a request that it may serve later.
func unsettled(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && slices.Contains(codesUnsettled, api.ErrorCode)
}

// makeRoom tells operators what to do about a full disk. A nats-server that could
// not write once refuses everything until it is restarted.
const makeRoom = "make room, and restart nats-server if it still refuses"

// journal is the log of one game as its referee writes it.
type journal struct {
	store   *store
	game    protocol.GameID
	last    uint64 // expected last sequence of the subject
	index   uint64 // of the last entry that this journal knows to be stored; 0: it knows of none
	retries func() // counts failed attempts
	// inDoubt: the first attempt to write the last entry was not acknowledged. The server may
	// not have republished it: it died, or another one leads the stream now.
	inDoubt bool
	// lifetime is how long the server keeps the entries; 0: for ever.
	lifetime time.Duration
	// sending, if set, is told of each entry before it is sent.
	sending func(e *protocol.Event, data []byte)
	// doubts has the hashes of the entries that were given up for lack of space behind
	// last. The server may still have written one of them, since the outcome of some
	// attempts is unknown: with a disk that stalls, it writes what it was sent first.
	// While there is no space an entry is given up every second or more seldom, so that
	// a day costs less than a megabyte.
	doubts []uint64
}

// seed is that of the hashes of entries, which never leave the process.
var seed = maphash.MakeSeed()

// doubted reports whether an entry was given up before.
func (j *journal) doubted(data []byte) bool {
	return slices.Contains(j.doubts, maphash.Bytes(seed, data))
}

func (s *store) journal(g protocol.GameID, last uint64, retries func()) *journal {
	return &journal{store: s, game: g, last: last, retries: retries}
}

// append writes the event as the log's next entry, and gives it a higher index if one
// that was given up has its own. It returns nil when the entry is written, errLost when
// another arena's entry is there instead, errRemoved when no entry is there, and errSpace when the store had no space for it
// during patience.
//
// After any other failure the entry may or may not have been written. The same
// bytes are sent again with the same expected sequence, so that they are
// written at most once, until ctx ends.
func (j *journal) append(ctx context.Context, e *protocol.Event, patience time.Duration) error {
	if e.Index <= j.index {
		e.Index = j.index + 1
	}
	data := j.encode(e)
	subject := j.store.subjects.Log(j.game)
	var refused time.Time // since when the store has had no space
	j.inDoubt = false
	longest := time.Second
	if j.store.js.Conn().ConnectedClusterName() != "" {
		longest = 250 * time.Millisecond // players wait for a new leader, which refuses nothing
	}
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, longest) {
		began := time.Now()
		ack, err := j.store.publish(ctx, subject, data, j.last, j.lifetime)
		if err == nil {
			j.last, j.index, j.doubts = ack.Sequence, e.Index, nil
			return nil
		}
		j.inDoubt = true
		if conflict(err) {
			done, err := j.resolve(ctx, data)
			if err != nil {
				return err
			}
			if j.index = e.Index; done {
				return nil
			}
			e.Index++ // the entry in doubt has this one
			data = j.encode(e)
			continue
		}
		if withoutLifetimes(err) {
			j.lifetime = 0
			continue
		}
		if j.retries != nil {
			j.retries()
		}
		switch {
		case j.store.js.Conn().IsClosed(): // the error says so as well when going to another server
			return fmt.Errorf("append to %s: %w", subject, err)
		case !full(err) && !j.store.off(err, began):
			refused = time.Time{}
		case refused.IsZero():
			refused = time.Now()
		}
		if !refused.IsZero() && time.Since(refused) >= patience {
			if !j.doubted(data) {
				j.doubts = append(j.doubts, maphash.Bytes(seed, data))
			}
			return fmt.Errorf("%w: %w", errSpace, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("append to %s: %w", subject, errors.Join(context.Cause(ctx), err))
		case <-time.After(wait):
		}
	}
}

// encode encodes an entry that is about to be sent.
func (j *journal) encode(e *protocol.Event) []byte {
	data := e.Encode()
	if j.sending != nil {
		j.sending(e, data)
	}
	return data
}

// publish stores an entry behind a sequence of its subject, for a lifetime; 0 is for
// ever. Without a connection it returns at once, as [protocol.Client] does.
func (s *store) publish(ctx context.Context, subject string, data []byte, last uint64, lifetime time.Duration) (*jetstream.PubAck, error) {
	if nc := s.js.Conn(); !nc.IsConnected() && !nc.IsClosed() {
		return nil, nats.ErrConnectionReconnecting
	}
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(last), jetstream.WithRetryAttempts(0)}
	if lifetime > 0 {
		opts = append(opts, jetstream.WithMsgTTL(lifetime))
	}
	return s.js.Publish(ctx, subject, data, opts...)
}

func conflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// full reports whether the store refused an entry for lack of space.
func full(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode {
	case codeResources, codeStorage, codeStoreFailed, codeNoStore:
		return true
	}
	return strings.Contains(api.Description, syscall.ENOSPC.Error()) // other codes quote the error of the file system
}

// off reports whether a single server has switched off JetStream or a stream
// does not answer, as happens when the disk is full. Then no other arena can
// store either. In a cluster another arena may be able to, and a referee that
// can't store has to be replaced. The error is that of a request since a time.
func (s *store) off(err error, since time.Time) bool {
	nc := s.js.Conn()
	if !nc.IsConnected() || nc.ConnectedClusterName() != "" {
		return false
	}
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse),
		errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return true
	case errors.Is(err, context.DeadlineExceeded):
		// If the server itself is slow, another referee may get through where
		// this one did not. If it hung, or this process did, the request or its answer
		// may have been lost with that.
		return (s.mayHaveLost == nil || !s.mayHaveLost(since, time.Now())) && nc.FlushTimeout(storeWait/4) == nil
	}
	return false
}

// resolve reads the last entry after a conflict. If it is ours, from an attempt
// that seemed to fail, the append is done. If it is an entry in doubt, the
// append has to be tried again behind it. Any other entry means errLost, and none errRemoved.
func (j *journal) resolve(ctx context.Context, data []byte) (done bool, err error) {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		msg, err := j.store.lastEntry(ctx, j.game)
		switch {
		case err == nil && bytes.Equal(msg.Data, data):
			j.last, j.doubts = msg.Sequence, nil
			return true, nil
		case err == nil && j.doubted(msg.Data):
			j.last, j.doubts = msg.Sequence, nil
			return false, nil
		case errors.Is(err, ErrNoGame) && j.last > 0:
			return false, errRemoved
		case err == nil, errors.Is(err, ErrNoGame):
			return false, errLost
		}
		if j.retries != nil {
			j.retries()
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("game %s: %w", j.game, errors.Join(context.Cause(ctx), err))
		case <-time.After(wait):
		}
	}
}

// lastEntry reads the last entry of a game's log from the stream's leader: a
// follower's might be older than the conflict just seen. It returns ErrNoGame
// if there is no log.
func (s *store) lastEntry(ctx context.Context, g protocol.GameID) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	msg, err := s.lastOnce(ctx, s.subjects.Log(g))
	for err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		msg, err = s.lastOnce(ctx, s.subjects.Log(g))
	}
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, fmt.Errorf("game %s: %w", g, ErrNoGame)
	}
	if err != nil {
		return nil, fmt.Errorf("read the log of game %s: %w", g, err)
	}
	return msg, nil
}

// lastOnce asks once for the last entry on a subject. Without a leader nobody answers, and
// the next one only answers what it is asked itself.
func (s *store) lastOnce(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, storeWait/4)
	defer cancel()
	return s.games.GetLastMsgForSubject(ctx, subject)
}

// lastEvent returns lastEntry decoded. If that fails, the error wraps errCorrupt
// and names the subject and the entry.
func (s *store) lastEvent(ctx context.Context, g protocol.GameID) (protocol.Event, uint64, error) {
	msg, err := s.lastEntry(ctx, g)
	if err != nil {
		return protocol.Event{}, 0, err
	}
	e, err := decodeEvent(s.subjects, msg.Subject, msg.Sequence, msg.Data)
	return e, msg.Sequence, err
}

// decodeEvent decodes an entry of a log. The platform trusts what it wrote, so
// it checks only the form.
func decodeEvent(subjects protocol.Subjects, subject string, seq uint64, data []byte) (protocol.Event, error) {
	var e protocol.Event
	g, ok := subjects.ParseLog(subject)
	err := json.Unmarshal(data, &e)
	switch {
	case err != nil:
	case e.V != protocol.Version:
		err = fmt.Errorf("version %d: this side reads %d", e.V, protocol.Version)
	case !ok || e.Game != g:
		err = errors.New("the entry belongs to another game")
	case e.Index == 0 || e.Term == 0 || e.Kind == "":
		err = errors.New("not an event")
	default:
		return e, nil
	}
	return e, fmt.Errorf("%w %s, entry %d of the stream: %w", errCorrupt, subject, seq, err)
}

const (
	// fetchAtOnce is how many entries of a log are asked for in one request.
	fetchAtOnce = 1000
	// fetchRetry is the time between two requests to a new consumer that is not known to our
	// server of a cluster yet.
	fetchRetry = 20 * time.Millisecond
)

// entries returns the entries of a game's log, in order.
func (s *store) entries(ctx context.Context, g protocol.GameID) (events []protocol.Event, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read the log of game %s: %w", g, err)
		}
	}()
	consumer, err := s.games.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: s.subjects.Log(g), AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1,
		InactiveThreshold: 5 * storeWait, // in case that it can't be deleted
	})
	if err != nil {
		return nil, err
	}
	info := consumer.CachedInfo()
	defer s.games.DeleteConsumer(ctx, info.Name)
	known := time.Now().Add(storeWait) // to all servers, at the latest
	for total := int(info.NumPending); len(events) < total; {
		n := min(total-len(events), fetchAtOnce)
		batch, err := consumer.Fetch(n, jetstream.FetchMaxWait(5*storeWait))
		if err != nil {
			return nil, err
		}
		for msg := range batch.Messages() {
			meta, err := msg.Metadata()
			if err != nil {
				return nil, err
			}
			e, err := decodeEvent(s.subjects, msg.Subject(), meta.Sequence.Stream, msg.Data())
			if err != nil {
				return nil, err
			}
			events = append(events, e)
			n--
		}
		if errors.Is(batch.Error(), nats.ErrNoResponders) && time.Now().Before(known) && ctx.Err() == nil {
			sleep(ctx, fetchRetry)
			continue
		}
		if n > 0 || batch.Error() != nil {
			return nil, errors.Join(fmt.Errorf("%d entries did not come", n), batch.Error())
		}
	}
	return events, nil
}
