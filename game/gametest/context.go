package gametest

import (
	"context"
	"testing"
	"time"
)

// Context returns a context that ends with the test, or after [Patience]. It has no deadline
// on purpose: JetStream gives a request its default timeout only then. With a deadline, one
// request that is lost with a dying server takes all the time that the test has.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(Patience, cancel)
	t.Cleanup(func() {
		timer.Stop()
		cancel()
	})
	return ctx
}
