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

// TestThinkColumns: what a record does not tell stays empty.
func TestThinkColumns(t *testing.T) {
	for _, test := range []struct {
		think *record.Think
		want  string
	}{
		{nil, "\t\t\t\t\t"},
		{&record.Think{Source: record.FromSearch, Depth: 3, Score: -20, WinProb: 0.45, Nodes: 50, PV: []string{"h8"}}, "3\t-20\t45%\t50\t\th8"},
		// A choice in an opening procedure has no score.
		{&record.Think{Source: record.FromSearch, Nodes: 50, PV: []string{"swap"}}, "\t\t\t50\t\tswap"},
		// Files of other programs have a score, but no chance.
		{&record.Think{Depth: 3, Score: 400}, "3\t+400\t91%\t\t\t"},
		{&record.Think{Score: 400}, "\t+400\t91%\t\t\t"},
		{&record.Think{Source: record.FromBook}, "book\t\t\t\t\t"},
	} {
		if got := thinkColumns(test.think); got != test.want {
			t.Errorf("%+v: %q, want %q", test.think, got, test.want)
		}
	}
}
