package play

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/protocol"
	"sparring/record"
)

// Session is one seat of one game, from its reservation until the game ends or the
// seat is lost. It is driven by the platform's states alone. Each state is
// complete, so that a lost one costs nothing.
type Session struct {
	player  *Player
	id      protocol.GameID
	offer   *protocol.Offer // nil for a held game or an own challenge
	confirm func() bool     // see Start
	follow  *protocol.Following
	ctx     context.Context // of the session
	cancel  context.CancelFunc
	work    sync.WaitGroup // requests and searches

	states  chan *arrival
	signals chan signal
	posts   chan func()               // run by the goroutine of Run
	infos   chan search.Info          // the latest one of the running search
	began   chan struct{}             // closed when the game has begun
	held    atomic.Pointer[time.Time] // when the platform granted the seat

	// The fields below belong to the goroutine of Run.
	log      zerolog.Logger
	st       protocol.State // the latest
	received time.Time      // when it came
	epoch    uint64
	newest   protocol.StateMark // of the states; it tells which ones are out of date
	game     gameState
	reported int // plies that were logged and shown
	latency  *latency
	engine   engine.Game        // nil until the game is granted, if it can't be opened, or while it is released
	played   engine.Description // of the engine when it was last released
	stopped  *engine.Search     // the last search that was stopped early
	search   *activeSearch      // the search under way
	target   *ponderTarget      // what to ponder on after our move
	out      *outgoing          // the move decided for the current position, until it is accepted
	delay    <-chan time.Time   // when to send it; nil: now, or it has been sent
	manners  manners
	disputes []record.Dispute
	note     string // about the end, for the record
	// incidents of the engine since our last move, for the record
	incidents []string
	failed    bool // a search has failed in this game, and that was logged
	restarts  int  // of a program that had crashed while it thought
	crashes   int  // of these, since our last move
	crashNote int  // index in incidents of what tells them
	resync    resyncTimer
	ended     bool
}

// arrival is a state and when it came.
type arrival struct {
	state protocol.State
	at    time.Time
}

// signal is an event outside of the session.
type signal uint8

const (
	reservationExpired signal = iota // before the game was granted
	challengeEnded                   // it was declined or has expired
	seatUnknown                      // the platform does not know that we hold the seat
)

// New makes a session for a seat before the platform is told that it is accepted.
// The offer is nil for a game that is already held, or comes from a challenge. If
// Start is not called, or fails, call Cancel.
func New(ctx context.Context, p *Player, offer *protocol.Offer) *Session {
	ctx, cancel := context.WithCancel(ctx)
	return &Session{
		player: p, offer: offer, ctx: ctx, cancel: cancel, began: make(chan struct{}),
		states: make(chan *arrival, backlog), signals: make(chan signal, 4), posts: make(chan func()), infos: make(chan search.Info, 1),
		latency: newLatency(p.Clock.RoundTrip()),
	}
}

// Start subscribes to the game's states. Confirm is called when the game is granted,
// and returns false if its slot is gone. Call Run next.
func (s *Session) Start(g protocol.GameID, confirm func() bool) error {
	s.id, s.confirm = g, confirm
	s.log = s.player.Log.With().Str("game", string(g)).Logger()
	follow, err := s.player.Client.Follow(g, s.receive)
	s.follow = follow
	return err
}

// ID returns the id of the game.
func (s *Session) ID() protocol.GameID { return s.id }

// Offer returns the offer that was accepted; nil for a game held or challenged for.
func (s *Session) Offer() *protocol.Offer { return s.offer }

// Began is closed when the game has begun.
func (s *Session) Began() <-chan struct{} { return s.began }

// Done is closed when the session is ending.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Cancel ends the session.
func (s *Session) Cancel() {
	s.cancel()
	if s.follow != nil {
		s.follow.Unsubscribe() // fails only when the connection is closed, and the subscription with it
	}
}

// backlog is how many states may wait. The newest one is not enough, since the session
// may reject it.
const backlog = 8

// receive queues a state. When the queue is full, the oldest is dropped.
func (s *Session) receive(st protocol.State) {
	for in := (&arrival{st, time.Now()}); ; {
		select {
		case s.states <- in:
			return
		default:
		}
		select {
		case <-s.states:
		default:
		}
	}
}

func (s *Session) signal(sig signal) {
	select {
	case s.signals <- sig:
	default: // several wait already, and each of them ends the session
	}
}

// ReservationExpired signals that the reservation of the slot has expired.
func (s *Session) ReservationExpired() { s.signal(reservationExpired) }

// ChallengeEnded signals that the challenge was declined or has expired.
func (s *Session) ChallengeEnded() { s.signal(challengeEnded) }

// SeatUnknown signals that the platform does not know that we hold the seat.
func (s *Session) SeatUnknown() { s.signal(seatUnknown) }

// Held reports whether the platform has granted us the seat.
func (s *Session) Held() bool { return s.held.Load() != nil }

// HeldBefore reports whether the platform had granted us the seat by t.
func (s *Session) HeldBefore(t time.Time) bool {
	since := s.held.Load()
	return since != nil && since.Before(t)
}

// Run plays until the game ends or the seat is lost.
func (s *Session) Run() {
	defer func() { s.finish(s.ctx.Err() == nil) }()
	s.resync.timer = time.NewTimer(time.Hour)
	defer s.resync.timer.Stop()
	s.resync.reset(s)
	for !s.ended {
		select {
		case <-s.ctx.Done():
			s.ended = true
		case in := <-s.states:
			s.handleState(in)
		case sig := <-s.signals:
			s.handleSignal(sig)
		case <-s.search.over():
			s.searchEnded()
		case <-s.delay:
			s.dispatch()
		case f := <-s.posts:
			f()
		case v := <-s.infos:
			s.emitInfo(v)
		case <-s.resync.timer.C:
			s.resync.fired(s)
		}
	}
}

// finish cleans up after the session. Unless the game is over, the platform took the
// seat if the session ended by itself.
func (s *Session) finish(byItself bool) {
	s.stopSearch()
	s.Cancel()
	s.work.Wait()
	if s.engine != nil {
		s.engine.Close() // the error does not matter
	}
	if s.Held() {
		s.player.Tally.end(&s.st, byItself)
		s.reportEnd()
	}
}

// handleSignal handles a signal.
func (s *Session) handleSignal(sig signal) {
	switch {
	case sig == seatUnknown:
		// The state with the end, or with the loss of the seat, was lost or is
		// still on its way.
		s.resync.endAfter(lastStateWait)
	case s.Held():
	case sig == reservationExpired:
		s.log.Debug().Msg("no grant in time")
		s.ended = true
	case sig == challengeEnded:
		s.ended = true
	}
}

// handleState handles a state.
func (s *Session) handleState(in *arrival) {
	st := &in.state // no copies: many sessions have small stacks
	if s.newest.Outdates(st) {
		return
	}
	if st.Order().Before(s.newest.Order) {
		s.log.Warn().Int("ply", len(st.Moves)).Int("before", len(s.st.Moves)).Msg("the platform has gone back to an earlier log of the game; going on from its state")
		s.epoch = 0 // epochs begin again further back, too
	}
	mine := &st.Holders[st.You]
	ours := mine.Player == s.player.ID && mine.Instance == s.player.Settings.Instance
	switch {
	case !s.Held():
		if !ours || !s.begin(in) {
			return
		}
	case st.You != s.st.You || !st.Terms.Equal(s.st.Terms):
		s.log.Warn().Msg("state with another seat or other terms ignored")
		return
	case st.Status == protocol.Finished:
	case mine.Player == s.player.ID && mine.Instance == "":
		s.handleVacant(st)
		return
	case !ours:
		s.log.Info().Uint64("epoch", mine.Epoch).Msg("another instance has the seat")
		s.ended = true
		return
	case mine.Epoch < s.epoch:
		return // a newer state has no older epoch: invalid
	}
	s.st, s.received, s.epoch, s.newest = *st, in.at, mine.Epoch, st.Mark()
	s.resync.reset(s)
	s.syncPosition()
	if n := len(st.Moves); st.Receipt != nil && st.Receipt.Ply == n && n > 0 {
		s.game.charged(n-1, st.Moves[n-1], st.Receipt)
	}
	s.reportMoves()
	s.act()
}

// handleVacant waits. The platform has vacated the seat because our heartbeats were
// missing. They still name the game, so that the platform can give the seat back.
func (s *Session) handleVacant(st *protocol.State) {
	if !s.resync.ending {
		s.log.Warn().Uint64("epoch", st.Holders[st.You].Epoch).Msg("the platform has vacated the seat")
	}
	s.newest, s.out = st.Mark(), nil
	s.stopSearch()
	s.resync.endAfter(vacantWait)
}

// begin starts the game that the platform has granted. It returns false if the game
// can't be taken any more.
func (s *Session) begin(in *arrival) bool {
	st := &in.state
	if s.offer != nil && (!st.Terms.Equal(s.offer.Terms) || st.You != s.offer.Seat) {
		s.log.Error().Msg("the granted match is not the offered one; giving the seat back")
		s.giveBack()
		return false
	}
	if !s.confirm() {
		return false // the signal that the reservation expired is on its way
	}
	rules, err := catalog.Rules(st.Terms.Rules)
	if err == nil {
		_, err = rules.New(st.Terms.Position)
	}
	if err != nil {
		s.log.Error().Err(err).Msg("the game can't be played here; giving the seat back")
		s.giveBack()
		return false
	}
	s.game.rules, s.game.start, s.st = rules, st.Terms.Position, *st
	if err := s.openGame(); err != nil {
		s.player.Process.EngineFailed(st.Terms.Game, err)
		s.log.Error().Err(err).Msg("no engine for the game; giving the seat back")
		s.giveBack()
		return false
	}
	since := in.at
	s.held.Store(&since) // not a part of the state, which it would keep
	close(s.began)
	other := &st.Holders[st.You.Other()]
	s.log = s.log.With().Str("seat", st.You.String()).Logger()
	if len(st.Moves) > 2 {
		s.reported = len(st.Moves) // resumed: do not report the earlier moves
	}
	s.player.Process.GameBegan(other.Player)
	s.log.Info().Str("rules", st.Terms.Rules).Stringer("clock", st.Terms.Clock).Bool("rated", st.Terms.Rated).
		Str("opponent", string(other.Player)).Str("kind", string(other.Kind)).Int("ply", len(st.Moves)).Msg("game start")
	s.emit(Event{Kind: GameStarted})
	if g := s.engine; s.isCorrespondence() && st.Turn != st.You {
		s.releaseEngine() // it can be opened, and has time
	} else {
		s.work.Go(func() { g.Ready() }) // starts a program; the first search reports a failure
	}
	s.greet()
	return true
}

// giveBack returns the seat to the platform, and ends the session.
func (s *Session) giveBack() {
	s.ended = true
	s.player.Process.GiveBack(s.id)
}

// syncPosition brings the game to the state's position.
func (s *Session) syncPosition() {
	g, played, playing := &s.game, len(s.game.plies), s.st.Status == protocol.Playing
	if kept := g.update(s.st.Moves, playing, s.dispute); kept < played || g.pos == nil {
		// Moves were taken back, or can't be played: drop the search.
		s.stopSearch()
		s.target, s.out, g.decided = nil, nil, nil
	}
	switch {
	case g.pos == nil:
	case s.st.Key != "" && s.st.Key != game.KeyText(g.pos.Key()):
		s.dispute(len(s.st.Moves), "the position differs")
	case playing && g.pos.Turn() != s.st.Turn:
		s.dispute(len(s.st.Moves), fmt.Sprintf("%s to act, the platform says %s", g.pos.Turn(), s.st.Turn))
	}
}

// dispute records a difference between our rules and the platform's after n plies,
// once a ply. The platform's ruling holds.
func (s *Session) dispute(n int, why string) {
	if last := len(s.disputes) - 1; last >= 0 && s.disputes[last].Ply == n {
		return
	}
	d := record.Dispute{Ply: n, Seat: &s.st.You, Text: why}
	if n == len(s.st.Moves) { // the platform's key is that of its latest position
		d.Ruled = fmt.Sprintf("%.32s", s.st.Key)
	}
	ev := s.log.Error().Int("ply", n).Str("rules", s.st.Terms.Rules).Str("ruled", d.Ruled)
	if pos := s.game.pos; pos != nil {
		d.Claimed = game.KeyText(pos.Key())
		ev = ev.Str("claimed", d.Claimed).Stringer("position", pos)
	}
	s.disputes = append(s.disputes, d)
	s.player.Tally.Fault(fmt.Sprintf("game %s: disagreement with the platform: %s", s.id, why))
	ev.Str("why", why).Msg("disagreement with the platform")
}

// reportEnd logs how the game ended for us, and writes the record.
func (s *Session) reportEnd() {
	out := s.st.Outcome
	ev := s.log.Info()
	if s.st.Status == protocol.Finished {
		if text := protocol.FaultText(out.Reason, s.loser()); text != "" && s.note == "" {
			s.note = text
			ev = ev.Str("why", text)
		}
		ev = ev.Stringer("result", out.Result).Str("reason", string(out.Reason))
	} else {
		out = game.Outcome{}
		ev = ev.Bool("given_up", true)
	}
	ev.Int("ply", len(s.st.Moves)).Dur("overhead_ms", s.latency.Overhead()).Msg("game end")
	s.emit(Event{Kind: GameEnded, Outcome: out})
	s.write()
}

// loser returns who has lost the finished game; "" if nobody has.
func (s *Session) loser() protocol.PlayerID {
	switch s.st.Outcome.Result {
	case game.FirstWins:
		return s.st.Holders[game.Second].Player
	case game.SecondWins:
		return s.st.Holders[game.First].Player
	}
	return ""
}

// emit sends an event to the observer.
func (s *Session) emit(e Event) {
	observe := s.player.Observe
	if observe == nil {
		return
	}
	e.Player, e.Game, e.You, e.Terms = s.player.ID, s.id, s.st.You, s.st.Terms
	e.Opponent = s.st.Holders[s.st.You.Other()]
	if e.Kind != MovePlayed {
		e.Ply = len(s.st.Moves)
	}
	for seat, c := range s.st.Clocks.Seats {
		e.Clocks[seat], _ = s.st.Terms.Clock.Budget(c.State())
	}
	observe(e)
}

// reportMoves logs and emits the moves since the last state.
func (s *Session) reportMoves() {
	s.reported = min(s.reported, len(s.game.plies)) // some may have been taken back
	for ; s.reported < len(s.game.plies); s.reported++ {
		p := s.game.plies[s.reported]
		ev := s.log.Debug().Int("ply", s.reported+1).Stringer("by", p.seat).Str("move", p.move).
			Int64("clock_ms", s.st.Clocks.Seats[p.seat].LeftMS)
		if a := p.think; a != nil {
			ev = ev.Int("depth", a.Depth).Uint64("nodes", a.Nodes).Int("score", int(a.Score)).
				Float64("chance", a.WinProb).Bool("ponder_hit", a.PonderHit)
		}
		ev.Msg("move")
		s.emit(Event{Kind: MovePlayed, Ply: s.reported + 1, Move: p.move, Seat: p.seat, Think: p.think})
	}
}
