package protocol

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestNextTry: only a try that was not answered in time makes the next ones longer. A
// platform that was away for a while gets short ones as soon as it is back.
func TestNextTry(t *testing.T) {
	wait := firstTry
	for range 20 { // five seconds without a platform
		wait = nextTry(wait, longestTry, nats.ErrNoResponders)
	}
	if wait != firstTry {
		t.Errorf("after tries that nobody heard: %v, want %v", wait, firstTry)
	}
	for _, want := range []time.Duration{2 * firstTry, 4 * firstTry, longestTry, longestTry} {
		if wait = nextTry(wait, longestTry, fmt.Errorf("nats: %w", context.DeadlineExceeded)); wait != want {
			t.Errorf("after a try without an answer: %v, want %v", wait, want)
		}
	}
}
