package conformance

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sparring/lab/conformance/scripted"
	"sparring/lab/texttable"
	"sparring/protocol"
)

func platformWatch(ctx context.Context, r *platformRig) (string, error) {
	e, err := r.join(ctx, eve)
	if err != nil {
		return "", err
	}
	events := make(chan protocol.Event, 1000)
	var bad atomic.Pointer[error]
	sub, err := e.Conn().Subscribe(r.subjects.Watch("*"), func(msg *nats.Msg) {
		ev, refusal := protocol.Decode[protocol.Event](msg.Data, protocol.Limits{MessageBytes: 1 << 20, Nesting: 16})
		if refusal != nil {
			err := broken("an event on %s: %v", msg.Subject, refusal)
			bad.Store(&err)
			return
		}
		events <- ev
	})
	if err != nil {
		return "", err
	}
	defer sub.Unsubscribe()
	m, err := r.meet(ctx, r.terms, active)
	if err != nil {
		return "", err
	}
	if _, err := m.ends(ctx); err != nil {
		return "", err
	}
	n, index := 0, uint64(0)
	for {
		var ev protocol.Event
		select {
		case ev = <-events:
		case <-time.After(r.eased(2 * time.Second)):
			if n == 0 {
				return "", notTried("no event came: the platform publishes none, or the player may not subscribe")
			}
			return "", broken("the last of %d events is not the end", n)
		}
		if ev.Game != m.id {
			continue
		}
		if n++; index > 0 && ev.Index != index+1 {
			return "", broken("event %d follows event %d", ev.Index, index)
		}
		index = ev.Index
		if p := bad.Load(); p != nil {
			return "", *p
		}
		if ev.Status == protocol.Finished {
			if st := m.state(m.ann); ev.Outcome != st.Outcome || len(ev.Moves) != len(st.Moves) {
				return "", broken("spectators saw %s after %d plies, the players %s after %d", ev.Outcome.Result, len(ev.Moves), st.Outcome.Result, len(st.Moves))
			}
			return texttable.Count(n, "event", "events") + " without a gap", nil
		}
	}
}

// platformWatching plays with one player that watches its game, and one that says so and loses
// all events: it gets the states, after a hello at the latest.
func platformWatching(ctx context.Context, r *platformRig) (string, error) {
	a, err := r.join(ctx, ann)
	if err != nil {
		return "", err
	}
	b, err := r.join(ctx, bob, func(c *scripted.PlayerConfig) { c.Watch = true })
	if err != nil {
		return "", err
	}
	offered := false
	b.Do(func() { offered = b.Greeting().Watch })
	if !offered {
		return "", notTried("the platform does not say that games can be watched")
	}
	m, err := r.pair(ctx, a, b, r.terms)
	if err != nil {
		return "", err
	}
	const n = 6
	for i := range n {
		p := m.mover()
		req, err := m.choose(p)
		if err != nil {
			return "", err
		}
		req.Watching = req.Watching || p == a
		if _, err := p.SendMove(ctx, m.id, req); err != nil {
			return "", broken("a legal move at ply %d: %v", i, err)
		}
		if err := m.both(ctx, "the move", plies(i+1)); err != nil {
			return "", err
		}
		soon, cancel := context.WithTimeout(ctx, r.eased(2*time.Second))
		err = b.Wait(soon, "an event", func() bool { return b.Watching(m.id) })
		if cancel(); err != nil {
			return "", broken("of ply %d no event came on %s with the headers of a log's entry and the seq of the state", i, r.subjects.Watch(m.id))
		}
	}
	return fmt.Sprintf("%d moves: those of one player by its events, those of the other, which lost its own, by states", n), nil
}
