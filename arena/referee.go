package arena

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/livegame"
	"sparring/game"
	"sparring/protocol"
)

// referee owns one game of this process: a single goroutine that rules on
// requests, watches the clocks and the seats, and writes the log. Everything
// below runs on that goroutine unless it says otherwise; others send it
// requests.
type referee struct {
	a       *Arena
	id      protocol.GameID
	players [2]protocol.PlayerID // by seat; they never change
	game    *livegame.Game
	j       *journal
	log     zerolog.Logger
	ctx     context.Context // ends when the game is lost, over, or the arena stops
	stop    context.CancelCauseFunc
	inbox   chan request
	lanes   [2]chan *playerRequest // by seat: what its player sends
	done    chan struct{}          // closed when the goroutine has ended

	look  chan struct{}         // signals that tick is due, see watchSeats
	quiet atomic.Pointer[quiet] // nil: tick is due all the time

	seatSince [2]time.Time  // from when heartbeats of the holder are expected
	sentAt    [2]time.Time  // when the seat's player was last sent the state
	resend    time.Duration // when it is sent again, if nothing happens
	watching  [2]uint64     // epoch in which the seat's holder receives the entries of the log; 0: never
	offering  [2]bool       // an offer of the vacant seat is under way
	offerNext [2]time.Time  // when the vacant seat is offered again
	spared    [2]int        // offers of the vacant seat to those with a free slot that were in vain

	unlogged  []protocol.Event // refused by the store for lack of space: the log is behind the game
	catchUpAt time.Time        // when to try again
	missing   []protocol.Event // never logged because the store was full; they go into the record

	recorded   bool          // the record is stored
	storeAt    time.Time     // when to try again to store it
	storePause time.Duration // the pause before that
	lingerTo   time.Time     // after the end: until when late requests are answered
	suspended  bool          // see checkSuspended
	offline    bool          // there was no connection to NATS, while suspended

	uncharged time.Time // outages have been taken off the clocks up to here
	halted    time.Time // when the last outage began that stopped the clocks
}

// errStopped ends a referee whose arena stops.
var errStopped = errors.New("the arena stops")

// errRecorded ends a referee whose game is over and recorded.
var errRecorded = errors.New("the game is recorded")

// own starts the referee of a game whose last event, if any, has just been
// appended.
func (a *Arena) own(life context.Context, stop context.CancelCauseFunc, live *livegame.Game, j *journal) *referee {
	now := time.Now()
	r := &referee{
		a: a, id: live.ID(), players: [2]protocol.PlayerID{live.Holder(game.First).Player, live.Holder(game.Second).Player},
		game: live, j: j, ctx: life, stop: stop, inbox: make(chan request, inboxSize), done: make(chan struct{}),
		lanes:     [2]chan *playerRequest{make(chan *playerRequest, laneSize), make(chan *playerRequest, laneSize)},
		log:       a.log.With().Str("game", string(live.ID())).Uint64("term", live.Term()).Logger(),
		seatSince: [2]time.Time{now, now}, uncharged: now, look: make(chan struct{}, 1),
	}
	j.sending = a.index.expect
	a.mu.Lock()
	a.referees[live.ID()] = r
	a.mu.Unlock()
	a.metrics.running.Inc()
	a.wg.Go(r.run)
	return r
}

// recheck is how long a deadline that has passed waits for what players sent before
// it.
const recheck = pingEvery / 2

func (r *referee) run() {
	defer r.leave()
	stopServing, err := r.a.server.ServeGame(r.id, r.players[:], r.receive)
	if err != nil {
		r.stop(err)
		return
	}
	defer stopServing()
	r.sendStates()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for r.ctx.Err() == nil {
		if at, ok := r.game.Deadline(); ok {
			alarm.Reset(max(time.Until(at), recheck))
		} else {
			alarm.Stop()
		}
		select {
		case <-r.ctx.Done():
		case q := <-r.inbox:
			r.checkOutage()
			r.serve(q)
		case q := <-r.lanes[game.First]:
			r.checkOutage()
			r.serve(q)
		case q := <-r.lanes[game.Second]:
			r.checkOutage()
			r.serve(q)
		case <-alarm.C:
			r.checkOutage()
			if q, ok := r.waiting(); ok {
				r.serve(q) // a move that is waiting may have arrived in time
			} else {
				r.expire()
			}
		case <-r.look:
			r.checkOutage()
			r.tick()
		}
	}
}

// checkOutage charges nobody for a time in which players may not have reached us. After
// one that was long enough to cost a seat, the clock stands until the seat to act is
// heard, as after a change of referee, and the seats' heartbeats are expected from then on.
func (r *referee) checkOutage() {
	now := time.Now()
	o := r.a.reach.outage(now)
	long := o.to.Sub(o.from) >= r.a.cfg.LostAfter
	for seat := range r.seatSince { // heartbeats may be lost, or still be on their way
		if long && r.seatSince[seat].Before(o.to) {
			r.seatSince[seat] = o.to
		}
	}
	if !r.uncharged.Before(o.to) || r.game.Over() {
		return
	}
	// A busy process may have had several since it was here last.
	for _, one := range r.a.reach.outagesSince(r.uncharged, now) {
		from := one.from
		if from.Before(r.uncharged) {
			from = r.uncharged
		}
		r.game.Uncharge(from, one.to)
		r.uncharged = one.to
	}
	if !long || !r.halted.Before(o.from) {
		return
	}
	r.halted = o.from
	r.quiet.Store(nil)
	if r.a.reach.news(o) {
		r.a.log.Warn().Dur("ms", o.to.Sub(o.from)).Int("games", r.a.gamesHere()).Msg("players could not reach this process: clocks resume when the seats to act send heartbeats")
	}
	r.game.Suspend(now, now)
	r.repeatStates()
}

// leave cleans up at the end of the goroutine.
func (r *referee) leave() {
	why := context.Cause(r.ctx)
	r.unlist()
	r.a.metrics.running.Dec()
	if errors.Is(why, errLost) {
		r.a.metrics.lost.Inc()
	}
	r.a.owners.drop(string(r.id))
	if len(r.unlogged) > 0 {
		r.a.unkept.Add(-1)
		r.log.Error().Int("events", len(r.unlogged)).Uint64("seq", r.game.Seq()).Msg("events lost: the game continues from the last stored entry")
	}
	r.log.Debug().AnErr("why", why).Msg("referee stops")
	close(r.done)
}

// unlist removes the referee from those of the arena.
func (r *referee) unlist() {
	r.a.mu.Lock()
	defer r.a.mu.Unlock()
	if r.a.referees[r.id] == r {
		delete(r.a.referees, r.id)
	}
}

// apply stores an event, commits it, and tells the players. Without an event
// nothing has changed and the answer is final.
func (r *referee) apply(event *protocol.Event, ans protocol.ActAnswer) protocol.ActAnswer {
	return r.applyFor(event, ans, false)
}

// applyFor is apply for a request whose sender may need no other message than its answer.
func (r *referee) applyFor(event *protocol.Event, ans protocol.ActAnswer, answerOnly bool) protocol.ActAnswer {
	if event == nil {
		return ans
	}
	if event.Kind != protocol.EventMove || r.game.Over() {
		r.quiet.Store(nil)
	}
	began := time.Now()
	err := r.store(event)
	r.creditDelay(began)
	switch {
	case err == nil:
		ans = r.game.Commit(r.j.last, time.Now())
		r.a.index.noteOwn(event, r.j.last)
	case errors.Is(err, errSpace):
		r.quiet.Store(nil)
		r.unlogged = append(r.unlogged, *event)
		ans = r.game.CommitUnlogged(time.Now())
		if r.game.EndWithheld() {
			r.log.Error().Int("ply", r.game.Ply()).Msg("no space: the game has ended, and nobody is told until that is stored")
			r.sendStates()
			return ans
		}
	default:
		r.stop(err)
		return protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Unanswered}}
	}
	r.report(event)
	r.tell(event, err == nil && !r.j.inDoubt, answerOnly)
	return ans
}

// creditDelay charges nobody for the time that the store took: a move that arrived
// meanwhile had to wait.
func (r *referee) creditDelay(began time.Time) {
	now := time.Now()
	r.game.CreditDelay(now.Sub(began))
	r.uncharged = now
}

// store appends the event. errSpace means that the game continues without
// the entry: the store has no room, and no other arena can have taken the game,
// because our lease is fresh or because no arena can store anything.
func (r *referee) store(event *protocol.Event) error {
	if len(r.unlogged) > 0 {
		return errSpace // resumeLog continues the log
	}
	for {
		err := r.j.append(r.ctx, event, r.a.cfg.Patience)
		if errors.Is(err, errRemoved) && r.beginLogAgain() {
			continue
		}
		if !errors.Is(err, errSpace) {
			return err
		}
		if r.a.owners.fresh(string(r.id)) || r.a.store.off(err, time.Now()) {
			r.catchUpAt = time.Now().Add(time.Second)
			r.a.metrics.unkept.Inc()
			r.a.unkept.Add(1)
			r.log.Error().Err(err).Int("ply", r.game.Ply()).Uint64("seq", r.game.Seq()).
				Msg("no space: the game continues without its log; a restart would return to the last stored entry")
			return err
		}
		if r.ctx.Err() != nil {
			return fmt.Errorf("game %s: %w", r.id, context.Cause(r.ctx))
		}
	}
}

// beginLogAgain prepares to begin the log again that somebody has removed from the stream, if
// nobody has gone on with the game elsewhere. The next entry has the whole game, so that its
// record will lack no more than the times of the moves before.
func (r *referee) beginLogAgain() bool {
	_, seen, _ := r.a.index.entry(r.id)
	_, err := r.a.store.storedRecord(r.ctx, r.game.Snapshot(time.Now()).Terms.Game, r.id)
	if seen > r.j.last || !r.a.owners.fresh(string(r.id)) || !errors.Is(err, ErrNoGame) {
		return false
	}
	r.log.Error().Int("ply", r.game.Ply()).Uint64("seq", r.j.last).Msg("the log of a running game was removed from its stream: it begins again with the position that this process has")
	r.j.last = 0
	r.watching = [2]uint64{} // to players, sequences that begin again are out of date: they go by the times of states
	return true
}

// resumeLog continues the log with a snapshot once there is room.
func (r *referee) resumeLog() {
	text := fmt.Sprintf("entries that could not be stored: %d", len(r.unlogged))
	began := time.Now()
	event := r.game.CatchUp(text, began)
	err := r.j.append(r.ctx, event, 0)
	if errors.Is(err, errRemoved) && r.beginLogAgain() {
		err = r.j.append(r.ctx, event, 0)
	}
	r.creditDelay(began)
	switch {
	case err == nil:
		r.game.Commit(r.j.last, time.Now())
		r.log.Warn().Int("events", len(r.unlogged)).Uint64("seq", r.game.Seq()).Msg("space again: the log continues")
		r.missing, r.unlogged = append(r.missing, r.unlogged...), nil
		r.a.unkept.Add(-1)
		if r.game.Over() {
			r.report(event)
		}
		r.sendStates()
	case errors.Is(err, errSpace):
		// A silent store takes long to refuse: wait longer between attempts.
		r.catchUpAt = time.Now().Add(max(time.Second, 5*time.Since(began)))
	default:
		r.stop(err)
	}
}

// checkSuspended reports whether the game is suspended: there is no connection, or our own
// lease has expired, so that the game may be another arena's. Neither moves nor heartbeats
// may reach us then, and no seat can be given to anybody, so no clock runs and no seat is
// lost.
func (r *referee) checkSuspended(now time.Time) bool {
	was, offline := r.suspended, !r.a.nc.IsConnected()
	if r.suspended = offline || !r.game.Over() && !r.owns(); r.suspended {
		r.offline = r.offline || offline
		r.quiet.Store(nil) // look again until it is over
		r.game.Suspend(now, now)
		r.seatSince = [2]time.Time{now, now}
		return true
	}
	if was && !r.game.Over() {
		if r.offline {
			r.log.Info().Int("ply", r.game.Ply()).Msg("connected again: the clock resumes when the seat to act sends a heartbeat")
		}
		r.repeatStates()
	}
	r.offline = false
	return false
}

// expire handles a deadline of the game, as soon as everything has arrived that
// players sent before it.
func (r *referee) expire() {
	if r.checkSuspended(time.Now()) {
		return
	}
	if at, ok := r.game.Deadline(); ok && r.a.reach.heardUntil().Before(at) {
		return
	}
	before := r.game.Snapshot(time.Now()).Clocks.Running
	event := r.game.Expire(time.Now())
	r.apply(event, protocol.ActAnswer{})
	if event == nil && before == nil && !r.game.Over() {
		r.repeatStates() // a stopped clock may run again
	}
}

// report logs and counts an event that has just been committed.
func (r *referee) report(e *protocol.Event) {
	switch e.Kind {
	case protocol.EventEnd:
		o := e.Outcome
		r.lingerTo = time.Now().Add(r.a.cfg.Linger)
		r.a.metrics.ended.WithLabelValues(e.Terms.Game, string(o.Reason)).Inc()
		ev := r.log.Info()
		switch {
		case e.Dispute != nil:
			ev = r.log.Error().Str("why", e.Text)
			r.a.metrics.disputes.WithLabelValues(e.Terms.Game).Inc()
		case o.Reason == protocol.ReasonVoid: // both players left, or the operator wanted it
			ev = r.log.Warn().Str("why", e.Text)
		}
		ev.Stringer("result", o.Result).Str("reason", string(o.Reason)).Int("ply", len(e.Moves)).Msg("game ended")
	case protocol.EventMove:
		r.log.Debug().Stringer("seat", *e.Seat).Int("ply", len(e.Moves)).Str("move", e.Moves[len(e.Moves)-1]).
			Int64("clock_ms", e.Receipt.LeftMS).Int64("charged_ms", e.Receipt.ChargedMS).Msg("move")
	case protocol.EventSeat:
		h := e.Holders[*e.Seat]
		r.log.Info().Stringer("seat", *e.Seat).Str("player", string(h.Player)).Str("instance", string(h.Instance)).
			Uint64("epoch", h.Epoch).Str("why", e.Text).Msg("seat changed hands")
		r.a.metrics.handovers.Inc()
	}
}

// tick does the work that neither a request nor a deadline triggers.
func (r *referee) tick() {
	now := time.Now()
	if r.checkSuspended(now) {
		return
	}
	if len(r.unlogged) > 0 && now.After(r.catchUpAt) {
		r.resumeLog()
	}
	if r.ctx.Err() != nil {
		return
	}
	if r.game.Over() {
		for seat, p := range r.players {
			if now.Sub(r.sentAt[seat]) >= minResend && r.a.presence.reported(p, r.id) {
				r.sendState(game.Seat(seat), now) // the last state was lost, or the end is held back
			}
		}
		if len(r.unlogged) == 0 {
			r.storeRecord(now)
		}
		return
	}
	q := &quiet{until: now.Add(maxResend)}
	calm := len(r.unlogged) == 0
	for _, seat := range []game.Seat{game.First, game.Second} {
		next := r.watchSeat(seat, now)
		if next.IsZero() || r.ctx.Err() != nil {
			calm = false
			continue
		}
		h := r.game.Holder(seat)
		q.seats[seat], q.until = seatHolder{h.Player, h.Instance}, earlier(q.until, next)
	}
	if calm && !r.game.Suspended() && !r.game.Over() {
		q.since = now
		r.quiet.Store(q)
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
