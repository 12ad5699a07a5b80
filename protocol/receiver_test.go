package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sparring/protocol"
)

// Many clients of people receive through a few goroutines: each gets its own
// notices, all of them in order, also those that come as it subscribes, and none
// after it has unsubscribed.
func TestReceiver(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Platform())
	server := w.server(io.Discard, protocol.DefaultLimits)
	receiver := protocol.NewReceiver(nc)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { receiver.Run(ctx) })
	defer running.Wait()
	defer cancel()

	const people, each = 100, 20
	before := runtime.NumGoroutine()
	var mu sync.Mutex
	got := make(map[protocol.PlayerID][]string)
	texts := func(p protocol.PlayerID) []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got[p])
	}
	key := protocol.NewPeopleKey()
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			p := protocol.PlayerID(fmt.Sprintf("human-%d", i))
			c, err := protocol.NewPersonClient(nc, w.subjects, key, p, "g1", zerolog.Nop())
			if err != nil {
				t.Error(err)
				return
			}
			c.ReceiveBy(receiver)
			sub, err := c.Notices(func(n protocol.Notice) {
				mu.Lock()
				defer mu.Unlock()
				got[p] = append(got[p], n.Text)
			})
			if err == nil {
				err = nc.Flush()
			}
			if err != nil {
				t.Error(err)
				return
			}
			for n := range each {
				server.Notify(p, protocol.Notice{Kind: protocol.NoticeChat, Text: fmt.Sprint(n)})
			}
			for len(texts(p)) < each && w.ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			if i%2 == 0 {
				if err := errors.Join(sub.Unsubscribe(), nc.Flush()); err != nil {
					t.Error(err)
				}
				server.Notify(p, protocol.Notice{Kind: protocol.NoticeChat, Text: "late"})
			}
		})
	}
	all.Wait()
	if more := runtime.NumGoroutine() - before; more > people/2 {
		t.Errorf("%d more goroutines for %d subscriptions", more, people)
	}
	last := protocol.PlayerID("human-1")
	server.Notify(last, protocol.Notice{Kind: protocol.NoticeChat, Text: "last"})
	for len(texts(last)) == each && w.ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	for i := range people {
		p := protocol.PlayerID(fmt.Sprintf("human-%d", i))
		var want []string
		for n := range each {
			want = append(want, fmt.Sprint(n))
		}
		if p == last {
			want = append(want, "last")
		}
		if list := texts(p); !slices.Equal(list, want) {
			t.Errorf("%s got %v", p, list)
		}
	}
}
