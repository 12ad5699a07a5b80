package arena

import (
	"context"
	"fmt"
	"iter"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sparring/protocol"
	"sparring/record"
)

// FollowRecords calls f for the record of every finished game, the oldest first,
// and then for new ones, until ctx ends. For an unreadable record it passes an
// error that names it.
func (a *Arena) FollowRecords(ctx context.Context, f func(*record.Record, error)) error {
	return a.store.followRecords(ctx, 1, func(_ *jetstream.MsgMetadata, r *record.Record, err error) { f(r, err) })
}

// Records iterates over the records that a platform has stored, the oldest
// first. nc is a connection of the platform's account. An unreadable record
// yields an error, and the iteration continues; a platform without records
// yields one error.
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
		err = (&store{records: stream}).followRecords(ctx, 1, func(meta *jetstream.MsgMetadata, r *record.Record, err error) {
			if ctx.Err() == nil && !yield(r, err) || meta.NumPending == 0 {
				cancel()
			}
		})
		if err != nil {
			fail(err)
		}
	}
}
