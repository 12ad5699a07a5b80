package livegame

import (
	"time"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
)

// end finishes the game with an event. Refusal, if not nil, is the answer to the
// request that ended it.
func (g *Game) end(o game.Outcome, by *game.Seat, request string, now time.Time, text string, refusal *protocol.ActAnswer) (*protocol.Event, protocol.ActAnswer) {
	g.clock.Pause(now)
	g.finish(o)
	if refusal != nil {
		g.caused = *refusal
	}
	e := g.event(protocol.EventEnd, by, request, now, nil)
	e.Text = text
	return e, protocol.ActAnswer{}
}

func (g *Game) finish(o game.Outcome) {
	g.snap.Outcome, g.snap.Status = o, protocol.Finished
	g.snap.DrawBy, g.snap.TakebackBy = nil, nil
	g.resumeBy = time.Time{}
}

// flagged ends the game because a flag fell. If a seat has not made its first
// move, the game is aborted and nobody loses.
func (g *Game) flagged(seat game.Seat, request string, now time.Time, refusal *protocol.ActAnswer) (*protocol.Event, protocol.ActAnswer) {
	if !g.Started() {
		return g.end(game.Outcome{Reason: protocol.ReasonNoStart}, &seat, request, now, "no first move in time", refusal)
	}
	return g.end(game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonTime}, &seat, request, now, "", refusal)
}

// Started reports whether both seats have moved. Before that a game is aborted
// rather than lost.
func (g *Game) Started() bool { return g.moved(game.First) && g.moved(game.Second) }

// full ends the game when its log has just enough room left for that. Events that could
// not be stored count as well: they are kept in memory, for the record. The game is void,
// unless a seat was vacated and taken so often that this fills most of the log: its
// player must not get away with that.
func (g *Game) full(now time.Time) *protocol.Event {
	if int(g.index+g.unkept)+reserve < g.policy.LogLimit {
		return nil
	}
	for i, h := range g.snap.Holders {
		if h.Epoch <= uint64(g.policy.LogLimit/4) { // it rises once for two entries
			continue
		}
		seat := game.Seat(i)
		e, _ := g.end(g.abandoned(seat), &seat, "", now, "the seat changed hands until the game's log was full",
			g.refuse(now, protocol.Over, "abandoned: a seat changed hands until the game's log was full"))
		return e
	}
	e, _ := g.end(game.Outcome{Reason: protocol.ReasonVoid}, nil, "", now, "the game's log is full",
		g.refuse(now, protocol.Over, "void: the game's log is full"))
	return e
}

// abandoned is the outcome when the player of a seat has abandoned the game.
func (g *Game) abandoned(seat game.Seat) game.Outcome {
	o := game.Outcome{Result: game.WonBy(seat.Other()), Reason: protocol.ReasonAbandoned}
	if !g.Started() {
		o.Result = game.Undecided
	}
	return o
}

// Halt charges the clocks up to now and stops them for a planned change of
// referee.
func (g *Game) Halt(text string, now time.Time) *protocol.Event {
	if g.Over() {
		return nil
	}
	g.clock.Pause(now)
	g.snap.Status = protocol.Halted
	e := g.event(protocol.EventHalt, nil, "", now, nil)
	e.Text = text
	return e
}

// CreditDelay keeps a delay of the referee's own off the clocks. Call it before
// Commit with the time that storing took.
func (g *Game) CreditDelay(d time.Duration) {
	g.clock.CreditDelay(d)
	g.turnSince = g.turnSince.Add(d)
}

// Uncharge charges nobody for a time in which players may not have reached the
// referee: it keeps that time off the running clock, and off the limits for the
// first move and for vacant seats.
func (g *Game) Uncharge(from, to time.Time) {
	g.clock.Uncharge(from, to)
	g.turnSince = without(g.turnSince, from, to)
	for seat, since := range g.vacant {
		if !since.IsZero() {
			g.vacant[seat] = without(since, from, to)
		}
	}
}

// Suspend stops the clock while the referee has no connection to the players,
// which is not the fault of the seat to act: its clock is charged up to at. It resumes
// as after a change of referee. Call it repeatedly as long as there is no connection.
// Nothing is written to the log, which is unreachable as well.
func (g *Game) Suspend(at, now time.Time) {
	if g.Over() {
		return
	}
	g.clock.Pause(at)
	g.turnSince, g.resumeBy = now, now.Add(g.policy.ResumeWithin)
	for seat, since := range g.vacant {
		if !since.IsZero() {
			g.vacant[seat] = now // its player could not take it back
		}
	}
}

// Heard notes a message of the instance that holds a seat. It returns true if that
// restarts the clock, which is stopped after a change of referee.
func (g *Game) Heard(seat game.Seat, now time.Time) bool {
	if g.resumeBy.IsZero() || g.pos.Turn() != seat || g.Over() {
		return false
	}
	g.resume(now)
	return true
}

func (g *Game) resume(now time.Time) {
	g.resumeBy, g.turnSince = time.Time{}, now
	g.clock.Resume(now)
}

// Vacate takes a seat from its instance by raising the epoch, so that its
// requests are stale from now on. It returns nil if another instance or none
// holds the seat.
func (g *Game) Vacate(seat game.Seat, instance protocol.InstanceID, text string, now time.Time) *protocol.Event {
	h := &g.snap.Holders[seat]
	if g.Over() || h.Instance == "" || h.Instance != instance {
		return nil
	}
	if e := g.full(now); e != nil {
		return e
	}
	h.Instance = ""
	h.Epoch++
	g.vacant[seat], g.left[seat] = now, now
	e := g.event(protocol.EventSeat, &seat, "", now, nil)
	e.Text = text
	return e
}

// GiveBack is Vacate for an instance that gives its seat back by a request. It returns nil
// as well if the seat was given back by the same request before, and taken again since.
func (g *Game) GiveBack(seat game.Seat, instance protocol.InstanceID, request string, now time.Time) *protocol.Event {
	h, by := &g.snap.Holders[seat], protocol.GivenBack{Instance: instance, ID: request}
	if g.Over() || h.Instance != instance || h.GivenBack == by {
		return nil
	}
	h.GivenBack = by
	return g.Vacate(seat, instance, "given back", now)
}

// Fillable reports whether Seat may give a seat to an instance now, or whether it has
// changed hands too often lately.
func (g *Game) Fillable(seat game.Seat, now time.Time) bool {
	return !g.Over() && g.refills[seat].TokensAt(now) >= 1
}

// Seat gives a vacant seat to an instance of its player, or one that the player
// keeps to another of its instances. It returns nil if the seat is held, its epoch
// is no longer that of the offer, or it is not [Game.Fillable].
func (g *Game) Seat(seat game.Seat, epoch uint64, instance protocol.InstanceID, build string, now time.Time) *protocol.Event {
	h := &g.snap.Holders[seat]
	if g.Over() || h.Instance != "" && !g.Keeps(seat) || h.Epoch != epoch || !g.Fillable(seat, now) {
		return nil
	}
	if e := g.full(now); e != nil {
		return e
	}
	g.refills[seat].AllowN(now, 1)
	if h.Instance != "" {
		h.Epoch++
	}
	h.Instance = instance
	if build != "" {
		h.Build = build
	}
	g.vacant[seat] = time.Time{}
	return g.event(protocol.EventSeat, &seat, "", now, func(now time.Time) { g.Heard(seat, now) })
}

// longestGrace limits how long the opponent waits for a move that may be on its
// way, however much lag may still be credited.
const longestGrace = 2 * time.Second

// Deadline returns when Expire has something to do next; ok is false if never.
func (g *Game) Deadline() (at time.Time, ok bool) {
	if g.Over() {
		return at, false
	}
	earliest := func(t time.Time) {
		if !t.IsZero() && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	earliest(g.resumeBy)
	if flag, limited := g.clock.Flag(); limited {
		earliest(flag.Add(g.policy.FlagGrace + min(g.lag[g.pos.Turn()].quota, longestGrace)))
	}
	earliest(g.firstMoveBy(g.turnSince))
	earliest(g.turnBy())
	for _, since := range g.vacant {
		if !since.IsZero() {
			earliest(since.Add(g.limits.forfeit))
		}
	}
	return at, ok
}

// turnBy returns when the seat to act has abandoned a game whose clock never ends
// it; zero if never. Otherwise such a game could run for ever. Unlike the other limits it
// does not start over when the referee changes: a platform that is upgraded every week
// would never end the game.
func (g *Game) turnBy() time.Time {
	if g.limits.turn == 0 || !g.Started() && g.limits.firstMove < g.limits.turn || !g.resumeBy.IsZero() {
		return time.Time{}
	}
	return g.clock.TurnEnds(g.limits.turn)
}

// Expire performs what is due at a moment. It returns nil if nothing is due, or
// nothing that has to be logged.
func (g *Game) Expire(now time.Time) *protocol.Event {
	at, ok := g.Deadline()
	if !ok || now.Before(at) {
		return nil
	}
	for seat, since := range g.vacant {
		if since.IsZero() || now.Before(since.Add(g.limits.forfeit)) {
			continue
		}
		return g.forfeit(game.Seat(seat), now)
	}
	if !g.resumeBy.IsZero() {
		g.resume(now)
		return nil
	}
	turn := g.pos.Turn()
	if by := g.turnBy(); g.Started() && !by.IsZero() && !now.Before(by) {
		e, _ := g.end(g.abandoned(turn), &turn, "", now, "no move in two weeks", nil)
		return e
	}
	e, _ := g.flagged(turn, "", now, nil) // the flag, or the first move's limit
	return e
}

// leftTogether is the longest time between two seats becoming vacant in which it can't be
// told who left first: a process that held both may have ended, or a network failed, and
// the referee misses the two seats' heartbeats at different moments. It is a part at most
// of the time after which a vacant seat loses.
const leftTogether = 10 * time.Second

// forfeit ends the game because a seat has been vacant for too long. If the other one is
// vacant as well, the player who left first has abandoned the game, whatever the seats,
// and neither has if that can't be told.
func (g *Game) forfeit(seat game.Seat, now time.Time) *protocol.Event {
	if other := seat.Other(); !g.vacant[other].IsZero() {
		before := g.left[seat].Sub(g.left[other])
		if before.Abs() <= min(leftTogether, g.limits.forfeit/6) {
			return g.Abort("both players left, and neither came back in time", now)
		}
		if before > 0 {
			seat = other
		}
	}
	e, _ := g.end(g.abandoned(seat), &seat, "", now, "nobody took the seat back in time", nil)
	return e
}

// Abort ends the game without a result; text says why.
func (g *Game) Abort(text string, now time.Time) *protocol.Event {
	e, _ := g.end(game.Outcome{Reason: protocol.ReasonVoid}, nil, "", now, text, nil)
	return e
}

// EndAs ends the game with all the moves and the outcome of its record, which its log has
// lost.
func (g *Game) EndAs(moves []string, o game.Outcome, now time.Time) (*protocol.Event, error) {
	rules, err := catalog.Rules(g.snap.Terms.Rules)
	if err != nil {
		return nil, err
	}
	pos, err := game.Replay(rules, g.snap.Terms.Position, moves)
	if err != nil {
		return nil, err
	}
	g.pos, g.snap.Moves, g.movers, g.receipt = pos, moves, moversOf(pos, moves), nil
	e, _ := g.end(o, nil, "", now, "the log had lost the end that is recorded", nil)
	return e, nil
}

// Recorded returns the entry for the log of an ended game whose record is stored.
func (g *Game) Recorded(now time.Time) *protocol.Event {
	return g.event(protocol.EventRecorded, nil, "", now, nil)
}

// ChallengeClosed returns the only entry in the log of a challenge that did not
// become a game.
func ChallengeClosed(ch protocol.Challenge, why game.Reason, text string, now time.Time) *protocol.Event {
	e := &protocol.Event{V: protocol.Version, Kind: protocol.EventEnd, Index: 1, Term: 1, Time: now.UTC(), Text: text}
	e.Snapshot = protocol.Snapshot{
		Game: ch.Game, Terms: ch.Terms, Started: now.UTC(), Moves: []string{},
		Status: protocol.Finished, Outcome: game.Outcome{Reason: why},
	}
	for seat, w := range ch.Seats {
		e.Holders[seat] = protocol.Holder{Player: w.Player}
	}
	return e
}
