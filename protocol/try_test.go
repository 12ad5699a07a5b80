package protocol

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
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

// TestOvertake: a state ends the tries in its game, and no others, once each has had the time
// of a first one.
func TestOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{tries: make(map[GameID]map[*try]bool)}
		begun := time.Now()
		var mu sync.Mutex
		ended := make(map[string]time.Duration)
		trying := func(name string, g GameID) (done func()) {
			return c.trying(g, func() {
				mu.Lock()
				defer mu.Unlock()
				ended[name] = time.Since(begun)
			})
		}
		want := func(want map[string]time.Duration) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !maps.Equal(ended, want) {
				t.Errorf("ended: %v, want %v", ended, want)
			}
		}
		trying("long", "g1")
		trying("other", "g2")
		answered := trying("answered", "g1")
		time.Sleep(firstTry)
		trying("young", "g1")
		answered()
		time.Sleep(firstTry / 5)
		c.overtake("g1")
		want(map[string]time.Duration{"long": firstTry + firstTry/5})
		time.Sleep(time.Minute)
		want(map[string]time.Duration{"long": firstTry + firstTry/5, "young": 2 * firstTry})
	})
}

// TestStateOrder: a state that is sent again is not older than itself, or a player who asks
// for it would not get it.
func TestStateOrder(t *testing.T) {
	inOrder := []StateOrder{{1, 0}, {1, 1}, {1, 2}, {2, 0}, {2, 1}}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if a.Before(b) != (i < j) {
				t.Errorf("%v before %v: %v", a, b, a.Before(b))
			}
		}
	}
}
