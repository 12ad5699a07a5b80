package protocol

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"
)

// Repeat calls ask until it is answered, and returns its error then. A request is lost
// with the server that dies before it answers, and no other server knows of it: each call
// gets a context of its own, which ends after the time within, and the next call follows
// after pause. When ctx ends first, Repeat returns its cause.
//
// Give every request to JetStream such a bound. The default timeout of its client holds
// only for a context without a deadline, however late that is.
func Repeat(ctx context.Context, within, pause time.Duration, ask func(context.Context) (answered bool, err error)) error {
	for {
		try, cancel := context.WithTimeout(ctx, within)
		answered, err := ask(try)
		cancel()
		if answered {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// flushTimeout bounds a round trip to the server of a connection, which may die meanwhile.
const flushTimeout = 10 * time.Second

// flush waits until the server has processed what was sent on a connection.
func flush(ctx context.Context, nc *nats.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	return nc.FlushWithContext(ctx)
}
