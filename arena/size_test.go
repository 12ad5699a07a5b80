package arena

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"sparring/arena/arenatest"
	"sparring/protocol"
)

const (
	manyWaiting = 10_000 // challenges in the store
	longGame    = 600    // plies
)

// fullStore returns an arena that does not run, over a store with many challenges
// of ann's and the log of a long game.
func fullStore(t testing.TB) (a *Arena, waits protocol.GameID, played protocol.GameID) {
	t.Helper()
	a, err := New(t.Context(), arenatest.Connect(t, arenatest.StartServer(t, "").Platform()), quick(), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	a.life = t.Context()
	now := time.Now()
	for i := range manyWaiting {
		ch := protocol.Challenge{V: protocol.Version, Game: gameID("ann", fmt.Sprint(i)), Terms: small(t, "60"), Created: now, Expires: now.Add(time.Hour)}
		ch.Seats[0] = protocol.SeatWanted{Player: "ann", Instance: "a1"}
		ch.Seats[1] = protocol.SeatWanted{Player: protocol.PlayerID(fmt.Sprintf("bob%d", i%100))}
		waits = ch.Game // the last: a walk passes all the others
		publish(t, a, a.server.Subjects().Challenge(ch.Game, protocol.OwnPool(ch.Seats[1].Player)), ch)
	}
	played = "long"
	e := protocol.Event{V: protocol.Version, Kind: protocol.EventMove, Term: 1, Time: now}
	e.Game, e.Terms = played, small(t, "60")
	for i := range longGame + 1 {
		e.Index = uint64(i + 1)
		publish(t, a, a.server.Subjects().Log(played), e)
		e.Moves = append(e.Moves, "a1b2/c3")
	}
	select {
	case <-a.store.js.PublishAsyncComplete():
	case <-time.After(patience):
		t.Fatal("the store is too small for the test")
	}
	return a, waits, played
}

func publish(t testing.TB, a *Arena, subject string, message any) {
	t.Helper()
	data, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.js.PublishAsync(subject, data, jetstream.WithStallWait(patience)); err != nil {
		t.Fatal(err)
	}
}

// traffic counts the messages that a connection sends and gets while f runs.
func traffic(nc *nats.Conn, f func()) (sent, got uint64) {
	before := nc.Stats()
	f()
	after := nc.Stats()
	return after.OutMsgs - before.OutMsgs, after.InMsgs - before.InMsgs
}

func BenchmarkWithdraw(b *testing.B) {
	a, g, _ := fullStore(b)
	sent, _ := traffic(a.nc, func() {
		for b.Loop() {
			if _, _, err := a.store.storedChallenge(b.Context(), g); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(sent)/float64(b.N), "requests/op")
}

func BenchmarkReadLog(b *testing.B) {
	a, _, g := fullStore(b)
	sent, _ := traffic(a.nc, func() {
		for b.Loop() {
			if events, err := a.store.entries(b.Context(), g); err != nil || len(events) != longGame+1 {
				b.Fatalf("%d entries (%v)", len(events), err)
			}
		}
	})
	b.ReportMetric(float64(sent)/float64(b.N), "requests/op")
}

// The cost of a withdrawal and of the end of a game does not depend on the size of
// the store.
func TestCostsOwnSize(t *testing.T) {
	t.Parallel()
	a, waits, played := fullStore(t)
	var ans protocol.Answer
	sent, _ := traffic(a.nc, func() { ans = a.withdraw(protocol.From{Player: "ann"}, protocol.Withdraw{Game: waits}) })
	if ans.Error != nil || sent != 3 {
		t.Errorf("a withdrawal among %d challenges takes %d requests (%v), want 3: find it, close it, delete it", manyWaiting, sent, ans.Error)
	}
	if ans := a.withdraw(protocol.From{Player: "eve"}, protocol.Withdraw{Game: gameID("ann", "7")}); ans.Error == nil || ans.Error.Code != protocol.Denied {
		t.Errorf("somebody else withdraws: %+v, want %s", ans, protocol.Denied)
	}
	sent, got := traffic(a.nc, func() {
		if events, err := a.store.entries(t.Context(), played); err != nil || len(events) != longGame+1 || events[longGame].Index != longGame+1 {
			t.Errorf("%d entries (%v), want %d in order", len(events), err, longGame+1)
		}
	})
	if sent > 3 || got > longGame+10 {
		t.Errorf("a log of %d entries takes %d requests and %d messages", longGame+1, sent, got)
	}
}

// A challenge that arrives before the challenger's hello waits for the hello, and
// nobody is asked before.
func TestAwaitHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPresence(time.Second)
		heard := make(chan bool)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { heard <- p.await(ctx, "ann", "a1") }()
		synctest.Wait()
		p.hello(protocol.From{Player: "bob", Arrived: time.Now()}, protocol.Hello{Instance: "b1"})
		synctest.Wait()
		p.hello(protocol.From{Player: "ann", Arrived: time.Now()}, protocol.Hello{Instance: "a1"})
		began := time.Now()
		if !<-heard || !time.Now().Equal(began) {
			t.Error("the hello is not noticed")
		}
		if p.await(ctx, "cyd", "c1") || time.Since(began) != time.Minute {
			t.Error("the wait for a missing hello is too long or too short")
		}
	})
}

// A new process takes challenges once it knows those whom it hears, and does not wait long
// for one that never says hello.
func TestSettle(t *testing.T) {
	const heartbeat = 500 * time.Millisecond
	for _, c := range []struct {
		name        string
		heard       bool
		hello       time.Duration // 0: none
		least, most time.Duration
	}{
		{"nobody", false, 0, heartbeat, heartbeat},
		{"one who is known at once", true, heartbeat / 2, heartbeat, heartbeat},
		{"one who is known later", true, 2 * heartbeat, 2 * heartbeat, 2*heartbeat + heartbeat/5},
		{"one who says nothing", true, 0, settleBeats * heartbeat, settleBeats * heartbeat},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPresence(time.Minute)
				from := protocol.From{Player: "ann", Arrived: time.Now()}
				if c.heard {
					p.alive(from, protocol.Alive{Instance: "a1"})
				}
				if c.hello > 0 {
					time.AfterFunc(c.hello, func() { p.hello(from, protocol.Hello{Instance: "a1"}) })
				}
				began := time.Now()
				p.settle(t.Context(), heartbeat)
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("settled after %v, want %v to %v", took, c.least, c.most)
				}
			})
		})
	}
}

// The number of attempts a second does not depend on the number of challenges.
func TestAttemptsDoNotGrow(t *testing.T) {
	most := Defaults().RetryMax
	for _, n := range []int64{1, 100, 1000, manyWaiting, 10 * manyWaiting} {
		delay := crowded(most, n)
		if perSecond := float64(n) / delay.Seconds(); delay < most || perSecond > retriesPerSecond {
			t.Errorf("%d challenges are tried every %v: %.0f attempts a second", n, delay, perSecond)
		}
	}
}
