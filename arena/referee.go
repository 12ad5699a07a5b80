package arena

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"sparring/arena/match"
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
	m       *match.Match
	j       *journal
	log     zerolog.Logger
	ctx     context.Context // ends when the game is lost, over, or the arena stops
	stop    context.CancelCauseFunc
	inbox   chan request
	done    chan struct{} // closed when the goroutine has ended

	seatSince [2]time.Time // since when the holder's pulse is expected
	told      [2]time.Time // when the seat's player was told the state last
	offering  [2]bool      // an offer of the vacant seat is under way
	offerNext [2]time.Time // when the vacant seat is offered again

	// What the store refused for want of space, since when the log is behind
	// the game.
	unkept  []protocol.Event
	catchUp time.Time // when to try again
	// What the log lacks although the game went on, for the record.
	lacking []protocol.Event

	settled  bool      // the record is stored
	settleOn time.Time // when to try again to store it
	lingerTo time.Time // ended: until when late requests are answered
	cut      bool      // off from NATS, and so from everybody
}

// errStopped ends a referee whose arena stops.
var errStopped = errors.New("the arena stops")

// errSettled ends a referee whose game is over and recorded.
var errSettled = errors.New("settled")

// own starts the referee of a game whose last event, if any, has just been
// appended.
func (a *Arena) own(life context.Context, stop context.CancelCauseFunc, m *match.Match, j *journal) {
	now := time.Now()
	r := &referee{
		a: a, id: m.ID(), players: [2]protocol.PlayerID{m.Holder(game.First).Player, m.Holder(game.Second).Player},
		m: m, j: j, ctx: life, stop: stop, inbox: make(chan request, inboxSize), done: make(chan struct{}),
		log:       a.log.With().Str("game", string(m.ID())).Uint64("term", m.Term()).Logger(),
		seatSince: [2]time.Time{now, now},
	}
	a.mu.Lock()
	a.referees[m.ID()] = r
	a.mu.Unlock()
	a.metrics.running.Inc()
	a.wg.Go(r.run)
}

// tickEvery is how often a referee looks at the pulse of its seats.
const tickEvery = 200 * time.Millisecond

func (r *referee) run() {
	defer r.leave()
	stopServing, err := r.a.server.ServeGame(r.id, func(q protocol.GameRequest) { r.send(playerRequest(q)) })
	if err != nil {
		r.stop(err)
		return
	}
	defer stopServing()
	r.tell()
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for r.ctx.Err() == nil {
		if at, ok := r.m.Deadline(); ok {
			alarm.Reset(time.Until(at))
		} else {
			alarm.Stop()
		}
		select {
		case <-r.ctx.Done():
		case q := <-r.inbox:
			r.serve(q)
		case <-alarm.C:
			select {
			case q := <-r.inbox: // a move that is waiting may have arrived in time
				r.serve(q)
			default:
				r.expire()
			}
		case <-tick.C:
			r.tick()
		}
	}
}

// leave is the end of the goroutine.
func (r *referee) leave() {
	why := context.Cause(r.ctx)
	r.a.mu.Lock()
	if r.a.referees[r.id] == r {
		delete(r.a.referees, r.id)
	}
	r.a.mu.Unlock()
	r.a.metrics.running.Dec()
	if errors.Is(why, errLost) {
		r.a.metrics.lost.Inc()
	}
	r.a.leases.drop(string(r.id)) // whatever the reason: without a referee nobody must renew it
	if len(r.unkept) > 0 {
		r.log.Error().Int("events", len(r.unkept)).Uint64("seq", r.m.Seq()).Msg("not kept: the game goes on from the last stored entry")
	}
	r.log.Debug().AnErr("why", why).Msg("referee stops")
	close(r.done)
}

// apply stores an event, commits it, and tells the players; nil changes nothing.
func (r *referee) apply(event *protocol.Event, ans protocol.ActAnswer) protocol.ActAnswer {
	if event == nil {
		return ans
	}
	began := time.Now()
	err := r.store(event)
	r.m.Excuse(time.Since(began)) // a move that came meanwhile had to wait
	switch {
	case err == nil:
		ans = r.m.Commit(r.j.last, time.Now())
	case errors.Is(err, errSpace):
		r.unkept = append(r.unkept, *event)
		ans = r.m.CommitUnlogged(time.Now())
	default:
		r.stop(err)
		return protocol.ActAnswer{Answer: protocol.Answer{Code: protocol.Unanswered}}
	}
	r.happened(event)
	r.tell()
	return ans
}

// store appends the event. errSpace means that the game goes on without it:
// the store has no room, and no other arena can have taken the game, because
// our lease is fresh or because nobody can store at all.
func (r *referee) store(event *protocol.Event) error {
	if len(r.unkept) > 0 {
		return errSpace // the log is behind: catchUpLog takes it up again
	}
	for {
		err := r.j.append(r.ctx, event, r.a.cfg.Patience)
		if !errors.Is(err, errSpace) {
			return err
		}
		if r.a.leases.fresh(string(r.id)) || r.a.store.off(err) {
			r.catchUp = time.Now().Add(time.Second)
			r.a.metrics.unkept.Inc()
			r.log.Error().Err(err).Int("ply", r.m.Ply()).Uint64("seq", r.m.Seq()).
				Msg("no space: the game goes on, from here its log and a restart's position are not being kept")
			return err
		}
		if r.ctx.Err() != nil {
			return fmt.Errorf("game %s: %w", r.id, context.Cause(r.ctx))
		}
	}
}

// catchUpLog takes the log up again with a snapshot once there is room.
func (r *referee) catchUpLog() {
	text := fmt.Sprintf("%d entries could not be stored", len(r.unkept))
	began := time.Now()
	event := r.m.Caught(text, began)
	err := r.j.append(r.ctx, event, 0)
	r.m.Excuse(time.Since(began)) // as in apply
	switch {
	case err == nil:
		r.m.Commit(r.j.last, time.Now())
		r.log.Warn().Int("events", len(r.unkept)).Uint64("seq", r.m.Seq()).Msg("space again: the log is kept again")
		r.lacking, r.unkept = append(r.lacking, r.unkept...), nil
		r.tell()
	case errors.Is(err, errSpace):
		// A store that is silent takes its time to refuse.
		r.catchUp = time.Now().Add(max(time.Second, 5*time.Since(began)))
	default:
		r.stop(err)
	}
}

// cutOff reports whether the connection is down. No clock runs then, and
// nobody is missed: neither a move nor a heartbeat could reach us.
func (r *referee) cutOff(now time.Time) bool {
	was := r.cut
	if r.cut = !r.a.nc.IsConnected(); r.cut {
		r.m.Suspend(now)
		r.seatSince = [2]time.Time{now, now}
		return true
	}
	if was && !r.m.Over() {
		r.log.Info().Int("ply", r.m.Ply()).Msg("connected again: the clock runs on when the seat to act is heard")
		r.tell()
	}
	return false
}

// expire does what the clocks demand.
func (r *referee) expire() {
	if r.cutOff(time.Now()) {
		return
	}
	before := r.m.Snapshot(time.Now()).Clocks.Running
	event := r.m.Expire(time.Now())
	r.apply(event, protocol.ActAnswer{})
	if event == nil && before == nil && !r.m.Over() {
		r.tell() // a clock that stood may run again
	}
}

// happened looks at what was just decided, for the log lines and counters.
func (r *referee) happened(e *protocol.Event) {
	switch e.Kind {
	case protocol.EventEnd:
		o := e.Outcome
		r.lingerTo = time.Now().Add(r.a.cfg.Linger)
		r.a.metrics.ended.WithLabelValues(e.Terms.Game, string(o.Reason)).Inc()
		ev := r.log.Info()
		if o.Reason == protocol.ReasonDispute || o.Reason == protocol.ReasonVoid {
			ev = r.log.Error().Str("why", e.Text)
		}
		if o.Reason == protocol.ReasonDispute {
			r.a.metrics.disputes.WithLabelValues(e.Terms.Game).Inc()
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

// tell sends both players the state of the game.
func (r *referee) tell() {
	for _, seat := range []game.Seat{game.First, game.Second} {
		r.tellSeat(seat, time.Now())
	}
}

func (r *referee) tellSeat(seat game.Seat, now time.Time) {
	r.told[seat] = now
	r.a.server.Tell(r.players[seat], r.m.State(seat, now))
}

// Repetitions of the state heal what got lost: a challenger learns the game's
// id only when the first state may be on its way already.
const (
	retell       = 2 * time.Second        // to everyone
	retellAbsent = 150 * time.Millisecond // to an instance that does not say yet that it plays the game
)

// repeat tells the seat's player again when it may have missed something.
func (r *referee) repeat(seat game.Seat, h protocol.Holder, now time.Time) {
	every := retell
	if !r.a.presence.plays(h.Player, h.Instance, r.id) {
		every = retellAbsent
	}
	if now.Sub(r.told[seat]) >= every {
		r.tellSeat(seat, now)
	}
}

// tick looks after what no request and no clock brings up.
func (r *referee) tick() {
	now := time.Now()
	if r.cutOff(now) {
		return
	}
	if len(r.unkept) > 0 && now.After(r.catchUp) {
		r.catchUpLog()
	}
	if r.ctx.Err() != nil {
		return
	}
	if r.m.Over() {
		for seat, h := range r.m.Snapshot(now).Holders {
			if r.a.presence.plays(h.Player, h.Instance, r.id) && now.Sub(r.told[seat]) >= retell {
				r.tellSeat(game.Seat(seat), now) // the end got lost
			}
		}
		if len(r.unkept) == 0 {
			r.settle(now)
		}
		return
	}
	for _, seat := range []game.Seat{game.First, game.Second} {
		r.watchSeat(seat, now)
	}
}
