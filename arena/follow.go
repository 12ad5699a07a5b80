package arena

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
)

// follower reads a stream in order, as the client's ordered consumer does. Its consumer
// is in the memory of one server, so that it is lost with that server, or can't be
// reached. The ordered consumer notices that after ten seconds, and waits ten more for
// each attempt to create another one; here both take at most two.
type follower struct {
	js       jetstream.JetStream
	stream   jetstream.Stream
	first    jetstream.ConsumerConfig // where it began
	from     jetstream.ConsumerConfig // where it reads on
	last     mark                     // of the last message
	messages jetstream.MessagesContext
	read     uint64        // messages of the present consumer
	waiting  uint64        // messages that were there when it was opened
	again    bool          // the message is being read again
	overlap  time.Duration // if set, a follower of all messages that begins again reads those of this time again
	until    time.Time     // when the last one of these was stored
	silence  time.Duration // see maxSilence
}

// mark tells a message of a stream from another one that gets its number; the zero value is
// before the first.
type mark struct {
	seq uint64
	at  time.Time // when it was stored, by the server's clock
}

const (
	// followHeartbeat is how often the server says that it has nothing. A follower
	// without two of them begins again.
	followHeartbeat = time.Second
	// followRetry is the time between two attempts to begin again.
	followRetry = 250 * time.Millisecond
	// maxSilence is how long none of the old messages may come before start gives up. There
	// may be millions, so that how long all of them take says nothing.
	maxSilence = time.Minute
)

// openFollower opens a stream. Of from it needs the deliver policy, with its sequence, and
// the subjects.
func openFollower(ctx context.Context, js jetstream.JetStream, stream jetstream.Stream, from jetstream.ConsumerConfig) (*follower, error) {
	from.AckPolicy, from.MemoryStorage, from.Replicas = jetstream.AckNonePolicy, true, 1
	from.InactiveThreshold = 10 * storeWait // in place of its deletion
	if from.FilterSubject == "" {
		from.FilterSubject = ">" // the server wants one to choose the last of each subject
	}
	w := &follower{js: js, stream: stream, first: from, from: from, silence: maxSilence}
	return w, w.open(ctx)
}

// open creates a consumer that begins at from.
func (w *follower) open(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, storeWait)
	defer cancel()
	from, err := w.resume(within)
	var consumer jetstream.Consumer
	if err == nil {
		consumer, err = w.stream.CreateConsumer(within, from)
	}
	if err == nil {
		w.messages, err = consumer.Messages(jetstream.PullHeartbeat(followHeartbeat), jetstream.WithMessagesErrOnMissingHeartbeat(true))
	}
	if err != nil {
		return fmt.Errorf("read stream %s: %w", w.stream.CachedInfo().Config.Name, err)
	}
	w.read, w.waiting = 0, consumer.CachedInfo().NumPending
	w.again = w.again && w.waiting > 0
	return nil
}

// resume returns where a consumer begins that takes the place of the one before.
func (w *follower) resume(ctx context.Context) (from jetstream.ConsumerConfig, err error) {
	from = w.from
	since := func(t time.Time) {
		from.DeliverPolicy, from.OptStartSeq, from.OptStartTime = jetstream.DeliverByStartTimePolicy, 0, &t
	}
	if w.overlap > 0 && w.last.seq > 0 {
		if w.last.at.After(w.until) {
			w.until = w.last.at
		}
		since(w.last.at.Add(-w.overlap))
		return from, nil
	}
	back, err := wentBack(ctx, w.stream, w.last)
	switch {
	case !back:
	case w.first.DeliverPolicy == jetstream.DeliverLastPerSubjectPolicy:
		from, w.again = w.first, true // the last message of a subject may be an earlier one now
	default: // the numbers that it waits for may be those of the next messages but some
		since(w.last.at.Add(1))
	}
	return from, err
}

// wentBack reports whether a stream has lost a message that was read, as in a power cut or
// behind an older backup: others get its number.
func wentBack(ctx context.Context, s jetstream.Stream, read mark) (bool, error) {
	if read.seq == 0 {
		return false, nil
	}
	i, err := s.Info(ctx)
	if err != nil || i.State.LastSeq < read.seq {
		return err == nil, err
	}
	m, err := s.GetMsg(ctx, read.seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil // it was removed, as an older message may be
	}
	return err == nil && !m.Time.Equal(read.at), err
}

// run calls f for each message until ctx ends or the connection is closed. If the stream
// went back, the numbers do as well: a follower of all messages gets those that it has not
// read, and one of the last of each subject gets what is there again.
func (w *follower) run(ctx context.Context, f func(jetstream.Msg, *jetstream.MsgMetadata)) {
	for {
		stop := context.AfterFunc(ctx, w.messages.Stop)
		w.deliver(ctx, f)
		stop()
		w.messages.Stop()
		for {
			if ctx.Err() != nil || w.js.Conn().IsClosed() {
				return
			}
			sleep(ctx, followRetry)
			if w.js.Conn().IsConnected() && w.open(ctx) == nil {
				break
			}
		}
	}
}

// deliver calls f for each message of the present consumer until that fails, or has left
// out a message.
func (w *follower) deliver(ctx context.Context, f func(jetstream.Msg, *jetstream.MsgMetadata)) {
	for {
		msg, err := w.messages.Next()
		if err != nil || ctx.Err() != nil {
			return
		}
		meta, err := msg.Metadata()
		if err != nil || meta.Sequence.Consumer != w.read+1 {
			return
		}
		w.read++
		w.last = mark{meta.Sequence.Stream, meta.Timestamp}
		w.from.DeliverPolicy, w.from.OptStartSeq = jetstream.DeliverByStartSequencePolicy, meta.Sequence.Stream+1
		if w.overlap > 0 {
			w.again = !meta.Timestamp.After(w.until)
		}
		f(msg, meta)
		w.again = w.again && meta.NumPending > 0
	}
}

// start runs in the background. It returns when f has seen what was there at the start,
// the old messages.
func (w *follower) start(ctx context.Context, f func(msg jetstream.Msg, meta *jetstream.MsgMetadata, old bool)) error {
	seen, came := make(chan struct{}), make(chan struct{}, 1)
	old := w.waiting > 0
	if !old {
		close(seen)
	}
	go w.run(ctx, func(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
		f(msg, meta, old)
		if !old {
			return
		}
		if meta.NumPending == 0 {
			old = false
			close(seen)
			return
		}
		select {
		case came <- struct{}{}:
		default:
		}
	})
	silent := time.NewTimer(w.silence)
	defer silent.Stop()
	for {
		select {
		case <-seen:
			return nil
		case <-came:
			silent.Reset(w.silence)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-silent.C:
			return fmt.Errorf("read stream %s: no entry came for %v, before the last one", w.stream.CachedInfo().Config.Name, w.silence)
		}
	}
}

// readAll calls f for what is in a stream now. Of the messages of a subject, or of all, it
// may be the last one alone, if from says so.
func readAll(ctx context.Context, js jetstream.JetStream, s jetstream.Stream, from jetstream.ConsumerConfig, f func(jetstream.Msg, *jetstream.MsgMetadata)) error {
	i, err := info(ctx, s)
	if err != nil || i.State.Msgs == 0 {
		return err
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := openFollower(reading, js, s, from)
	if err != nil {
		return err
	}
	w.run(reading, func(m jetstream.Msg, meta *jetstream.MsgMetadata) {
		if f(m, meta); meta.NumPending == 0 {
			cancel()
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// warnEvery is how often a warning is logged about what is tried again and again, as a
// complaint is: a disk may be full for days.
const warnEvery = recentFor

// insist calls store every second until it succeeds or ctx ends. Failed logs why it did not.
func insist(ctx context.Context, store func() error, failed func(level zerolog.Level, err error)) {
	var warned time.Time
	for first := true; ctx.Err() == nil; first = false {
		err := store()
		if err == nil || ctx.Err() != nil {
			return
		}
		level := zerolog.DebugLevel
		usual := first && errors.Is(err, errOvertaken) // where several arenas rate
		if now := time.Now(); !usual && now.Sub(warned) >= warnEvery {
			level, warned = zerolog.WarnLevel, now
		}
		failed(level, err)
		sleep(ctx, time.Second)
	}
}

// bucket is a key-value bucket that can be followed.
type bucket struct {
	jetstream.KeyValue
	js jetstream.JetStream
}

// change is a new value of a key.
type change struct {
	key      string
	value    []byte // nil: the key is gone
	expired  bool   // because nobody renewed it
	revision uint64
}

// follow calls f for all keys and for all later changes, until ctx ends. It returns when f
// has seen what was there.
func (b bucket) follow(ctx context.Context, f func(change)) error {
	stream, err := b.js.Stream(ctx, "KV_"+b.Bucket())
	if err != nil {
		return err
	}
	w, err := openFollower(ctx, b.js, stream, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy})
	if err != nil {
		return err
	}
	prefix := "$KV." + b.Bucket() + "."
	return w.start(ctx, func(msg jetstream.Msg, meta *jetstream.MsgMetadata, _ bool) {
		c := change{key: strings.TrimPrefix(msg.Subject(), prefix), value: msg.Data(), revision: meta.Sequence.Stream}
		if removed(msg.Headers()) {
			c.value, c.expired = nil, msg.Headers().Get(jetstream.MarkerReasonHeader) == markerExpired
		} else if c.value == nil {
			c.value = []byte{}
		}
		f(c)
	})
}

// markerExpired is the reason of the marker that the server leaves for an entry whose time
// is up.
const markerExpired = "MaxAge"

// removed reports whether an entry of a bucket says that its key is gone: deleted, purged
// or expired.
func removed(h nats.Header) bool {
	return h.Get("KV-Operation") != "" || h.Get(jetstream.MarkerReasonHeader) != ""
}
