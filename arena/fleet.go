package arena

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sparring/game"
	"sparring/protocol"
)

// serveFleet answers the operator, and NATS micro discovery, until ctx ends.
func (a *Arena) serveFleet(ctx context.Context) {
	protocol.RunFleet(ctx, a.nc, a.server.Subjects(), protocol.FleetProcess{
		Process: protocol.ArenaProcess, Instance: protocol.InstanceID(a.cfg.Name), Build: a.cfg.Build, Report: a.report, Abort: a.abort,
	}, a.log, nil)
}

// report describes this process to the operator.
func (a *Arena) report() protocol.Report {
	total := a.metrics.totals()
	r := &protocol.ArenaReport{
		Running: a.index.countRunning(), Moves: total["moves_total"], Ended: total["games_ended_total"],
		SeatChanges: total["seat_changes_total"], Takeovers: total["takeovers_total"], Dropped: a.server.Dropped(), Unkept: a.unkept.Load(),
		Faults: total["disputes_total"] + total["logs_corrupt_total"],
	}
	r.Refereed = a.gamesHere()
	now := time.Now()
	r.Instances, r.Omitted = a.presence.knownInstances(a.index.seatsHeld(), now)
	r.Vacant = a.vacantSeats()
	if n, ok := a.survivedLosses(now); ok {
		r.Survives = &n
	}
	r.SilentArenas = a.leases.silentArenas(now)
	return protocol.Report{Mode: protocol.ModeRunning, Arena: r, Space: a.space.report()}
}

// gamesHere is how many games this process referees. Some referees still answer after the
// end of their games, which don't count.
func (a *Arena) gamesHere() (n int) {
	for _, r := range a.refereed() {
		if e, ok := a.index.last(r.id); ok && e.Status != protocol.Finished {
			n++
		}
	}
	return n
}

// knownInstances returns the processes of bots that were heard of lately, also those
// that are silent now, those first that were heard last. The others are left out if
// there are too many. Those that have left are not among them.
func (p *presence) knownInstances(seats map[protocol.InstanceID]int, now time.Time) (known []protocol.KnownInstance, omitted int) {
	// Anybody may choose the id of another's instance, but only a process knows its secret.
	type process struct {
		id     protocol.InstanceID
		secret string
	}
	all := make(map[process]*protocol.KnownInstance)
	p.mu.Lock()
	for player, instances := range p.players {
		for id, in := range instances {
			if in.hello == nil || in.left != "" || in.hello.Kind != protocol.Bot {
				continue
			}
			k := all[process{id, in.hello.Secret}]
			if k == nil {
				k = &protocol.KnownInstance{Instance: id, Player: player, Games: seats[id], HeardMS: now.Sub(in.seen).Milliseconds()}
				all[process{id, in.hello.Secret}] = k
			}
			k.Players++
			k.Player = min(k.Player, player)
			k.Build, k.Fleet = in.hello.Build, k.Fleet || in.hello.Fleet
			k.KnownMS = max(k.KnownMS, now.Sub(in.since).Milliseconds())
			k.HeardMS = max(0, min(k.HeardMS, now.Sub(in.seen).Milliseconds()))
		}
	}
	p.mu.Unlock()
	for _, k := range all {
		known = append(known, *k)
	}
	slices.SortFunc(known, func(x, y protocol.KnownInstance) int {
		return cmp.Or(cmp.Compare(x.HeardMS, y.HeardMS), cmp.Compare(x.Instance, y.Instance))
	})
	most := min(len(known), protocol.MaxKnownInstances)
	return known[:most], len(known) - most
}

// abort ends a running game without a result, for the operator. The code Unanswered
// means that another arena answers, or that the request is to be repeated.
func (a *Arena) abort(g protocol.GameID, why string) protocol.Answer {
	a.mu.Lock()
	r := a.referees[g]
	a.mu.Unlock()
	if r == nil {
		last, refused := a.lastStored(g)
		switch {
		case refused != nil:
			return protocol.Answer{Error: refused}
		case last.Status == protocol.Finished:
			return aborted(last.Outcome)
		}
		return protocol.Answer{Code: protocol.Unanswered} // its referee answers, or will
	}
	answer := make(chan protocol.Answer, 1)
	r.send(operatorAbort{why, answer})
	select {
	case ans := <-answer:
		return ans
	case <-r.done: // another arena takes the game
		return protocol.Answer{Code: protocol.Unanswered}
	}
}

// aborted answers an abort of a game that has ended. One that ended without a result
// is what the operator wanted: a repeated request takes effect once, and another arena
// may see its effect before it sees the request.
func aborted(o game.Outcome) protocol.Answer {
	if o.Reason == protocol.ReasonVoid {
		return protocol.Answer{}
	}
	return refusal(protocol.Over, "the game has ended")
}

// operatorAbort is the operator's request to end a game.
type operatorAbort struct {
	why    string
	answer chan<- protocol.Answer
}

func (q operatorAbort) serve(r *referee) { q.answer <- r.abort(q.why) }

// abort ends the game without a result.
func (r *referee) abort(why string) protocol.Answer {
	switch {
	case r.game.EndWithheld():
		return refusal(protocol.Unavailable, "the end can't be stored now; the game is halted for its players until then")
	case r.game.Over():
		return aborted(r.game.Snapshot(time.Now()).Outcome)
	case !r.owns():
		return protocol.Answer{Code: protocol.Unanswered}
	}
	text := "aborted by the operator"
	if why != "" {
		text += ": " + why
	}
	r.apply(r.game.Abort(text, time.Now()), protocol.ActAnswer{})
	if r.ctx.Err() != nil { // another arena has the game
		return protocol.Answer{Code: protocol.Unanswered}
	}
	if r.game.EndWithheld() {
		return r.abort(why)
	}
	return protocol.Answer{}
}
