package main

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sparring/record"
)

// TestManyRecordsOfAPlatform: reading the records of a platform may take as long as it likes,
// as long as some come.
func TestManyRecordsOfAPlatform(t *testing.T) {
	read := func(n int, every time.Duration) func(context.Context) iter.Seq2[*record.Record, error] {
		return func(ctx context.Context) iter.Seq2[*record.Record, error] {
			return func(yield func(*record.Record, error) bool) {
				for range n {
					select {
					case <-time.After(every):
					case <-ctx.Done():
						return
					}
					if !yield(&record.Record{}, nil) {
						return
					}
				}
			}
		}
	}
	for _, c := range []struct {
		every time.Duration
		want  int
		fails string
	}{
		{readTime / 2, 10, ""},
		{readTime + time.Second, 0, "server: no record came for 1m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			var failed error
			for _, err := range untilSilent(t.Context(), "server", read(10, c.every)) {
				if err != nil {
					failed = err
					break
				}
				n++
			}
			if n != c.want || (failed == nil) != (c.fails == "") || failed != nil && !strings.HasPrefix(failed.Error(), c.fails) {
				t.Errorf("every %v: %d records, %v; want %d, %q", c.every, n, failed, c.want, c.fails)
			}
		})
	}
}
