package conformance

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/internal/texttable"
	"sparring/protocol"
	"sparring/protocol/conformance/scripted"
)

func platformWatch(t platformTrial) string {
	e := t.joinPlayer(eve)
	events := make(chan protocol.Event, 1000)
	var bad atomic.Pointer[error]
	sub, err := e.Conn().Subscribe(t.subjects.Watch("*"), func(msg *nats.Msg) {
		ev, refusal := protocol.Decode[protocol.Event](msg.Data, protocol.Limits{MessageBytes: 1 << 20, Nesting: 16})
		if refusal != nil {
			err := fmt.Errorf("an event on %s: %v", msg.Subject, refusal)
			bad.Store(&err)
			return
		}
		events <- ev
	})
	t.must(err)
	defer sub.Unsubscribe()
	m := t.meet(t.terms, active)
	m.outcome()
	n, index := 0, uint64(0)
	for {
		var ev protocol.Event
		select {
		case ev = <-events:
		case <-time.After(t.eased(2 * time.Second)):
			if n == 0 {
				t.skipf("no event came: the platform publishes none, or the player may not subscribe")
			}
			t.failf("the last of %d events is not the end", n)
		}
		if ev.Game != m.id {
			continue
		}
		if n++; index > 0 && ev.Index != index+1 {
			t.failf("event %d follows event %d", ev.Index, index)
		}
		index = ev.Index
		if p := bad.Load(); p != nil {
			t.must(*p)
		}
		if ev.Status == protocol.Finished {
			if st := m.state(m.ann); ev.Outcome != st.Outcome || len(ev.Moves) != len(st.Moves) {
				t.failf("spectators saw %s after %d plies, the players %s after %d", ev.Outcome.Result, len(ev.Moves), st.Outcome.Result, len(st.Moves))
			}
			return texttable.Count(n, "event", "events") + " without a gap"
		}
	}
}

// platformWatching plays with one player that watches its game, and one that says so and loses
// all events: it gets the states, after a hello at the latest.
func platformWatching(t platformTrial) string {
	a := t.joinPlayer(ann)
	b := t.joinPlayer(bob, func(c *scripted.PlayerConfig) { c.Watch = true })
	offered := false
	b.Do(func() { offered = b.Greeting().Watch })
	if !offered {
		t.skipf("the platform does not say that games can be watched")
	}
	m := t.pair(a, b, t.terms)
	const n = 6
	for i := range n {
		p := m.mover()
		req := m.chooseMove(p)
		req.Watching = req.Watching || p == a
		if _, err := p.SendMove(t.ctx, m.id, req); err != nil {
			t.failf("a legal move at ply %d: %v", i, err)
		}
		m.both("the move", plies(i+1))
		if b.Wait(t.within(t.eased(2*time.Second)).ctx, "an event", func() bool { return b.Watching(m.id) }) != nil {
			t.failf("of ply %d no event came on %s with the headers of a log's entry and the seq of the state", i, t.subjects.Watch(m.id))
		}
	}
	return fmt.Sprintf("%d moves: those of one player by its events, those of the other, which lost its own, by states", n)
}
