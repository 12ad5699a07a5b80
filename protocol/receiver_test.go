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
	"weak"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sparring/game/gametest"
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

// A handler may unsubscribe while more messages wait for it. None of them reaches it, what
// it holds can be freed, and Run does not end before it has returned.
func TestReceiverUnsubscribe(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("alice"))
	server := w.server(io.Discard, protocol.DefaultLimits)
	receiver := protocol.NewReceiver(nc)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { receiver.Run(ctx); close(ended) }()
	defer func() { cancel(); <-ended }()

	c := w.clientOver(nc, "alice", io.Discard)
	c.ReceiveBy(receiver)
	entered, leave := make(chan struct{}), make(chan struct{})
	subscribe := func() (*nats.Subscription, weak.Pointer[[1 << 10]byte]) {
		held := new([1 << 10]byte)
		sub, err := c.Notices(func(protocol.Notice) {
			held[0]++
			entered <- struct{}{} // here another message would wait for ever
			<-leave
		})
		w.must(err, nc)
		return sub, weak.Make(held)
	}
	notify := func(times int) {
		for range times {
			server.Notify("alice", protocol.Notice{Kind: protocol.NoticeChat, Text: "hello"})
		}
		w.must(nil, w.platform, nc) // all of them are with the receiver
	}

	sub, held := subscribe()
	notify(10)
	<-entered
	w.must(sub.Unsubscribe(), nc)
	leave <- struct{}{}
	gametest.Eventually(t, "what the handler holds to be freed", func() bool { runtime.GC(); return held.Value() == nil })

	subscribe()
	notify(1)
	<-entered
	cancel()
	select {
	case <-ended:
		t.Error("Run ended before a handler")
	case <-time.After(50 * time.Millisecond):
	}
	leave <- struct{}{}
}

// A subscription that can't be made is an error.
func TestReceiverWithoutConnection(t *testing.T) {
	w := newWire(t)
	nc := w.connect(w.Player("alice"))
	c := w.clientOver(nc, "alice", io.Discard)
	c.ReceiveBy(protocol.NewReceiver(nc))
	nc.Close()
	if _, err := c.Notices(func(protocol.Notice) {}); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("over a closed connection: %v", err)
	}
}
