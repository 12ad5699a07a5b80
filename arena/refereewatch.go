package arena

import (
	"context"
	"time"

	"sparring/protocol"
)

// tickEvery is how often the heartbeats of seats are checked.
const tickEvery = 200 * time.Millisecond

// quiet is a running game in which nothing is to be done without a request, as long as
// the holders of its seats are there.
type quiet struct {
	seats [2]seatHolder
	since time.Time
	until time.Time
}

// seatHolder is who holds a seat.
type seatHolder struct {
	player   protocol.PlayerID
	instance protocol.InstanceID
}

// watchSeats makes the referees look at their seats every tick, until ctx ends, but for
// those of quiet games: thousands of games would otherwise keep a core busy with looking.
func (a *Arena) watchSeats(ctx context.Context) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	var last outage
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		o := a.reach.outage(now)
		_, alive := a.leases.alive()
		disturbed := !a.nc.IsConnected() || !alive || o != last
		last = o
		for _, r := range a.restless(now, disturbed) {
			select {
			case r.look <- struct{}{}:
			default: // it has not looked yet
			}
		}
	}
}

// restless returns the referees that have to look at their seats.
func (a *Arena) restless(now time.Time, all bool) (found []*referee) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.presence.mu.Lock()
	defer a.presence.mu.Unlock()
	for _, r := range a.referees {
		q := r.quiet.Load()
		if all || q == nil || !now.Before(q.until) || !a.presence.holds(q, now) {
			found = append(found, r)
		}
	}
	return found
}

// holds reports whether the holders of a quiet game are there, and have not said hello
// since. The caller holds p.mu.
func (p *presence) holds(q *quiet, now time.Time) bool {
	for _, s := range q.seats {
		in := p.players[s.player][s.instance]
		if in == nil || in.left != "" || in.greeted.After(q.since) || now.Sub(in.seen) > p.lostAfter/2 {
			return false
		}
	}
	return true
}
