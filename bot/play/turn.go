package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/engine/timing"
	"sparring/game"
	"sparring/game/clock"
	"sparring/protocol"
)

// outgoing is a decision that is being sent to the platform.
type outgoing struct {
	*decision
	inFlight bool      // it is being sent, or due to be
	epoch    uint64    // in which it was decided
	since    time.Time // when our clock started
	running  bool      // our clock ran then
}

// moveAnswer is the platform's answer to a move.
type moveAnswer struct {
	ans     protocol.ActAnswer
	err     error
	running bool          // our clock ran when it was decided
	thought time.Duration // from our clock's start to the dispatch
	took    time.Duration // from the dispatch to the answer
}

// noLegalMove is the reason for resigning if our rules have no legal move.
const noLegalMove = "no legal move by our rules"

// fallback is the source of a move that was played because the search returned none.
const fallback = "fallback"

// retryPause is the pause before a move is sent again after a temporary refusal.
const retryPause = 250 * time.Millisecond

// act acts on the current state.
func (s *Session) act() {
	switch s.st.Status {
	case protocol.Finished:
		s.noteSilence()
		s.ended = true
		return
	case protocol.Playing:
	default: // halted: a new state follows when the game continues
		s.stopSearch()
		return
	}
	s.answerOffers()
	if s.out != nil && s.out.ply != len(s.game.plies) {
		s.out = nil // played, or the game has changed
	}
	pos := s.game.pos
	switch {
	case s.st.Turn != s.st.You:
		s.ponder()
	case pos == nil || pos.Outcome().Over() || pos.Turn() != s.st.You:
		// Our rules have no legal move here. Silence would lose on time.
		s.resign(noLegalMove)
	case s.manners.resigned:
		s.resign("the platform has not taken the resignation yet")
	case s.out != nil:
		if !s.out.inFlight {
			s.send() // the refusal was temporary
		}
	default:
		s.think()
	}
}

// clock returns the time for the next move, and whether our clock is running. The
// state has the clocks at its server time; they have been running since.
func (s *Session) clock() (c search.Clock, running bool) {
	you := s.st.You
	c = search.Clock{
		Spec: s.st.Terms.Clock, At: time.Now(), Overhead: s.latency.Overhead(),
		Mine: s.st.Clocks.Seats[you].State(), Theirs: s.st.Clocks.Seats[you.Other()].State(),
	}
	if running = s.st.Clocks.Running != nil && *s.st.Clocks.Running == you; running {
		c.At = s.received.Add(-s.player.Clock.Age(s.st.ServerTime, s.received))
	}
	// The time used in the current period is not part of the seat's clock.
	c.At = c.At.Add(-time.Duration(s.st.Clocks.UsedMS) * time.Millisecond)
	return c, running
}

// searchClock returns the clock for a search that begins now, within the longest time that a
// move takes. In a correspondence game our clock may have run for hours, as when the process
// was restarted: that is gone, and does not count as thinking. A reproducible game has a
// limit of nodes, and only the clock itself ends a search before that.
func (s *Session) searchClock() search.Clock {
	c, _ := s.clock()
	if limit := timing.MoveLimit(c.Spec, s.player.Settings.MoveTime); limit > 0 && !s.player.Settings.Reproducible {
		now := time.Now()
		turn := c.Spec.Advance(clock.Turn{State: c.Mine}, max(now.Sub(c.At), 0))
		c.Mine, c.At, c.MoveLimit = turn.State, now.Add(-turn.Used), limit+turn.Used
	}
	return c
}

// isCorrespondence reports whether the game goes on for days, or has no clock at all. It waits
// for most of that time, and costs nothing then: the engine does not ponder, and the game
// holds none of its memory.
func (s *Session) isCorrespondence() bool { return s.st.Terms.Clock.Speed() == clock.Correspondence }

// think starts the search for a move, or continues the pondering as one.
func (s *Session) think() {
	missed := ""
	if a := s.search; a != nil && a.after == len(s.game.plies) {
		if !a.pondering() {
			return // the pondering continues
		}
		if s.game.plies[a.after-1].move == a.expected {
			s.ponderHit()
			return
		}
		missed = a.expected
	}
	s.stopSearch()
	if err := s.startSearch(s.game.pos, ""); err != nil {
		s.handleResult(searchEnd{err: err})
		return
	}
	s.search.expected = missed
}

// noteSilence reports a team's own program that had not answered when the game was
// lost on time or aborted.
func (s *Session) noteSilence() {
	out := s.st.Outcome.Reason
	if a := s.search; a == nil || a.pondering() || !s.player.Settings.External || out != protocol.ReasonTime && out != protocol.ReasonNoStart {
		return
	}
	s.engineFailed(fmt.Errorf("no answer after %v, when the game ended (%s)", time.Since(s.search.started).Round(time.Millisecond), out))
}

// maxRestarts is how often in a game a program that crashes while it thinks is started
// again. One that crashes every time would otherwise use up its clock.
const maxRestarts = 3

// restart lets a program that has crashed think again, in another process, on the time
// that is left. It returns false if the error is another, or nothing can be done.
func (s *Session) restart(err error) bool {
	if faultOf(err) != protocol.ReasonCrash || s.restarts >= maxRestarts {
		return false
	}
	s.restarts++
	if s.startSearch(s.game.pos, "") != nil {
		return false
	}
	// The record has one note of a program that crashes at the same move several times.
	crashed := "crashed"
	if s.crashes++; s.crashes > 1 {
		crashed = fmt.Sprintf("crashed %d times", s.crashes)
		s.incidents = slices.Delete(s.incidents, s.crashNote, s.crashNote+1)
	}
	s.crashNote = len(s.incidents)
	s.noteIncidents([]string{fmt.Sprintf("the engine %s and was started again: %v", crashed, err)})
	return true
}

// faultOf returns the reason for which a game is lost after an error of a program.
func faultOf(err error) game.Reason {
	if f, ok := errors.AsType[*engine.Fault](err); ok && protocol.FaultText(game.Reason(f.Kind), "") != "" {
		return game.Reason(f.Kind)
	}
	return ""
}

// engineFailed logs the failure of a team's own program, and notes it for the record.
func (s *Session) engineFailed(err error) {
	s.log.Error().Err(err).Int("ply", len(s.game.plies)).Str("engine", s.player.Settings.Engine).Msg("the engine failed")
	s.player.Tally.Fault(fmt.Sprintf("game %s: the engine failed: %v", s.id, err))
	s.noteFailure(err)
}

// searchEnded handles the result of the search, which has ended.
func (s *Session) searchEnded() {
	r, err := s.search.thought.Wait()
	if len(r.Incidents) > 0 {
		s.noteIncidents(r.Incidents)
	}
	s.handleResult(searchEnd{r, err})
}

// handleResult plays the move that the search found.
func (s *Session) handleResult(t searchEnd) {
	a := s.search
	if a != nil && a.pondering() {
		a.early = &t // kept until the opponent moves
		return
	}
	s.search = nil
	if s.st.Turn != s.st.You || s.game.pos == nil {
		return
	}
	if t.err != nil && s.player.Settings.External {
		if s.restart(t.err) {
			return
		}
		// Our engine must not play for a team's own program.
		s.engineFailed(t.err)
		s.resignFor("the engine failed", faultOf(t.err))
		return
	}
	if t.err == nil && t.Resign {
		s.resign("the engine resigns")
		return
	}
	r, after := s.legalMove(t)
	if after == nil {
		s.resign(noLegalMove)
		return
	}
	if s.manners.shouldResign(s, r) {
		s.resign("hopeless")
		return
	}
	think := s.thought(a, r)
	think.Incidents, s.incidents, s.crashes = s.incidents, nil, 0
	d := &decision{len(s.game.plies), s.game.pos.Format(r.Move), game.KeyText(after.Key()), &think}
	s.manners.offering = r.OfferDraw
	s.setPonderTarget(d, after, r.Ponder)
	s.game.decided, s.out = d, &outgoing{decision: d}
	s.send()
}

// legalMove returns the result and the position after its move. If the search
// failed, it is any legal move, so that the game goes on; the position is nil if
// there is none.
func (s *Session) legalMove(t searchEnd) (search.Result, game.Position) {
	after := s.game.pos.Clone()
	if t.err == nil && t.Move != game.NoMove {
		if t.err = after.Play(t.Move); t.err == nil {
			return t.Result, after
		}
	}
	level := zerolog.ErrorLevel
	if s.failed {
		level = zerolog.DebugLevel // logged before
	} else {
		s.player.Tally.Fault(fmt.Sprintf("game %s: the search returned no move: %v", s.id, t.err))
	}
	s.failed = true
	s.log.WithLevel(level).Err(t.err).Int("ply", len(s.game.plies)).Msg("the search returned no move; playing any legal one")
	for _, m := range s.game.pos.Legal(nil) {
		if after.Play(m) == nil {
			return search.Result{Move: m, Source: fallback}, after
		}
	}
	return search.Result{}, nil
}

// send sends the decided move as soon as manners allow.
func (s *Session) send() {
	out := s.out
	c, running := s.clock()
	out.inFlight, out.epoch, out.since, out.running = true, s.epoch, c.At, running
	if wait := s.manners.delay(s, c); wait > 0 {
		s.delay = time.After(wait)
		return
	}
	s.dispatch()
}

// dispatch sends the decided move, in the background, unless the game has changed while it
// was delayed.
func (s *Session) dispatch() {
	out := s.out
	if s.delay = nil; out == nil {
		return
	}
	m := protocol.MoveRequest{Epoch: out.epoch, Ply: out.ply, Move: out.move, Key: out.key, AnswerOnly: true, Watching: s.follow.Watching()}
	dispatched := time.Now()
	r := moveAnswer{running: out.running, thought: dispatched.Sub(out.since)}
	s.background(func(ctx context.Context) {
		r.ans, r.err = s.player.Client.SendMove(ctx, s.id, m)
		r.took = time.Since(dispatched)
		s.post(func() { s.handleAnswer(out, &r) })
	})
}

// background runs f in a goroutine that the session waits for before it ends.
func (s *Session) background(f func(context.Context)) {
	s.work.Go(func() { f(s.ctx) })
}

// post runs f in the goroutine of Run.
func (s *Session) post(f func()) {
	select {
	case s.posts <- f:
	case <-s.ctx.Done():
	}
}

// handleAnswer acts on the platform's answer to a move.
func (s *Session) handleAnswer(out *outgoing, r *moveAnswer) {
	out.inFlight = false
	current := s.out == out // otherwise a state came first
	if r.err == nil {
		if current {
			s.out = nil
			s.game.play(out.ply, out.move) // legalMove has checked it
			if after := r.ans.Order(); s.newest.Order.Before(after) {
				s.newest = protocol.StateMark{Order: after, At: r.ans.ServerTime}
				s.moved(out, &r.ans)
			}
			s.resync.reset(s)
			s.ponder()
		}
		s.noteCost(out, r)
		s.manners.afterMove(s, out.ply+1)
		return
	}
	if !current {
		return
	}
	refusal, ok := errors.AsType[*protocol.Error](r.err)
	if !ok {
		s.player.Process.RequestHello() // no answer; the next state shows whether it arrived
		return
	}
	log := s.log.With().Str("code", string(refusal.Code)).Str("move", out.move).Int("ply", out.ply).Logger()
	switch refusal.Code {
	case protocol.Stale, protocol.NotYourTurn, protocol.Over, protocol.Late, protocol.Denied, protocol.NoGame:
		// Our view of the game is out of date: ask for its state.
		log.Debug().Msg("move refused")
		s.player.Process.RequestHello()
	case protocol.UnknownPeer:
		s.player.Process.RequestHello() // the move is sent again with the next state
	case protocol.Paused:
		log.Debug().Msg("move refused") // sent again when a state continues the game
	case protocol.Unavailable, protocol.RateLimited:
		s.manners.notBefore = time.Now().Add(retryPause)
		s.send()
	case protocol.Illegal:
		s.dispute(out.ply, "the platform calls "+out.move+" illegal")
		s.resign("the platform refuses a move that is legal here")
	default:
		log.Error().Err(refusal).Msg("the platform could not read our move")
		s.player.Tally.Fault(fmt.Sprintf("game %s: the platform could not read our move: %v", s.id, refusal))
		s.resign("the platform could not read our move")
	}
}

// moved changes the state by our accepted move, after which the platform sends none. The
// answer of a repeated request may tell of a later position, whose state comes.
func (s *Session) moved(out *outgoing, ans *protocol.ActAnswer) {
	if ans.Ply != out.ply+1 || len(s.st.Moves) != out.ply || ans.Clocks == nil || s.game.pos == nil {
		return
	}
	st := &s.st
	st.Seq, st.Unkept, st.ServerTime, s.received = ans.Seq, ans.Unkept, ans.ServerTime, time.Now()
	st.Moves = append(slices.Clip(st.Moves), out.move)
	st.Turn, st.Key, st.Clocks, st.Receipt = s.game.pos.Turn(), out.key, *ans.Clocks, ans.Receipt
	st.FirstMoveBy, st.TakebackBy = time.Time{}, nil
	if st.DrawBy != nil && *st.DrawBy != st.You {
		st.DrawBy = nil // a move declines the offer
	}
	s.game.charged(out.ply, out.move, ans.Receipt)
	s.reportMoves()
}

// noteCost measures what an accepted move cost beyond the thinking.
func (s *Session) noteCost(out *outgoing, r *moveAnswer) {
	s.game.charged(out.ply, out.move, r.ans.Receipt)
	cost := r.took
	if rec := r.ans.Receipt; rec != nil {
		// Only what the referee charged beyond our thinking counts: a lost
		// answer delays us, but costs no time on the clock.
		cost = min(cost, max(time.Duration(rec.ChargedMS)*time.Millisecond-r.thought, 0))
	}
	s.player.Tally.move(cost, r.running)
	if r.running {
		s.latency.Add(cost)
	}
}
