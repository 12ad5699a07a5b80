package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAwaitGone: a ladder is given up that has ended, or that does not answer for long;
// not one that answers again, nor after a pause of this process.
func TestAwaitGone(t *testing.T) {
	const url = "nats://127.0.0.1:4222"
	always := func(ended bool) func() bool { return func() bool { return ended } }
	for _, c := range []struct {
		name   string
		silent func(since time.Duration) time.Duration
		left   func() bool
		after  time.Duration // at most
		says   string        // "": it is not given up
	}{
		{"ended here", func(since time.Duration) time.Duration { return since }, always(true), 10 * time.Second, "the ladder at " + url + " has ended"},
		{"killed here", func(since time.Duration) time.Duration { return since }, always(false), 2 * time.Minute, "is gone: no answer for 1m0s"},
		{"elsewhere", func(since time.Duration) time.Duration { return since }, nil, 10 * time.Minute, "is gone: no answer for 5m0s"},
		{"back each minute", func(since time.Duration) time.Duration { return since % (50 * time.Second) }, always(false), time.Hour, ""},
		{"a second after a pause", func(since time.Duration) time.Duration {
			if since.Truncate(time.Second) == time.Minute {
				return time.Hour
			}
			return 0
		}, always(true), time.Hour, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.after)
				defer cancel()
				err := awaitGone(ctx, func() time.Duration { return c.silent(time.Since(begun)) }, url, c.left)
				if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasSuffix(err.Error(), c.says)) {
					t.Errorf("after %v: %v, want %q", time.Since(begun), err, c.says)
				}
			})
		})
	}
}
