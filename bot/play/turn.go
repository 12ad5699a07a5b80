package play

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"sparring/engine/search"
	"sparring/game"
	"sparring/protocol"
)

// outgoing is a decision on its way to the platform.
type outgoing struct {
	*decision
	inFlight bool
}

// reply is the platform's answer to a move.
type moveAnswer struct {
	ans     protocol.ActAnswer
	err     error
	running bool          // our clock ran
	thought time.Duration // from our clock's start to the dispatch
	took    time.Duration // from the dispatch to the answer
}

// fallback is the source of moves that nothing was thought of.
const fallback = "fallback"

// retryPause is how long a refusal that passes is waited out.
const retryPause = 250 * time.Millisecond

// act does what the state asks for.
func (s *Session) act() {
	switch s.st.Status {
	case protocol.Finished:
		s.ended = true
		return
	case protocol.Playing:
	default: // halted: whatever it waits for, a new state follows
		s.stopSearch()
		return
	}
	s.answerOffers()
	if s.out != nil && s.out.ply != len(s.game.plies) {
		s.out = nil // played, or the game has gone another way
	}
	pos := s.game.pos
	switch {
	case s.st.Turn != s.st.You:
		s.ponder()
	case pos == nil || pos.Outcome().Over() || pos.Turn() != s.st.You:
		// Our rules can't say what to play here, and silence would only
		// lose on time.
		s.resign("no move that our rules know")
	case s.manners.resigned:
		s.resign("as before")
	case s.out != nil:
		if !s.out.inFlight {
			s.send() // refused for a reason that has passed
		}
	default:
		s.think()
	}
}

// clock is the time for the move to be made now, and whether it runs already.
// The state's clocks are as of its server time: what it took to reach us is
// gone from them.
func (s *Session) clock() (c search.Clock, running bool) {
	you := s.st.You
	c = search.Clock{
		Spec: s.st.Terms.Clock, At: time.Now(), Overhead: s.latency.Overhead(),
		Mine: s.st.Clocks.Seats[you].State(), Theirs: s.st.Clocks.Seats[you.Other()].State(),
	}
	if running = s.st.Clocks.Running != nil && *s.st.Clocks.Running == you; running {
		c.At = s.received.Add(-s.player.Clock.Age(s.st.ServerTime, s.received))
	}
	// What is gone of the current period stands beside the seat's clock.
	c.At = c.At.Add(-time.Duration(s.st.Clocks.UsedMS) * time.Millisecond)
	return c, running
}

// think starts the search for a move, or turns the pondering into one.
func (s *Session) think() {
	missed := ""
	if m := s.search; m != nil && m.after == len(s.game.plies) {
		if !m.pondering() {
			return // it goes on
		}
		if s.game.plies[m.after-1].move == m.expected {
			s.ponderHit()
			return
		}
		missed = m.expected
	}
	s.stopSearch()
	if err := s.startSearch(s.game.pos, ""); err != nil {
		s.handleResult(searchEnd{err: err})
		return
	}
	s.search.expected = missed
}

// decided plays what the search found.
func (s *Session) handleResult(t searchEnd) {
	m := s.search
	if m != nil && m.pondering() {
		m.early = &t // nothing is left to think about, but the move is not ours yet
		return
	}
	s.search = nil
	for _, incident := range t.Incidents {
		s.log.Warn().Str("incident", incident).Int("ply", len(s.game.plies)).Str("engine", s.player.Settings.Engine).Msg("the engine misbehaved")
	}
	if s.st.Turn != s.st.You || s.game.pos == nil {
		return
	}
	if t.err != nil && s.player.Settings.External {
		// Whoever plays with a program of his own wants no other to play for it.
		s.log.Error().Err(t.err).Int("ply", len(s.game.plies)).Str("engine", s.player.Settings.Engine).Msg("the engine failed")
		s.noteFailure(t.err)
		s.resign("its engine failed")
		return
	}
	if t.err == nil && t.Resign {
		s.resign("its engine resigns")
		return
	}
	r, after := s.legalMove(t)
	if after == nil {
		s.resign("no move that our rules know")
		return
	}
	if s.manners.shouldResign(s, r) {
		s.resign("hopeless")
		return
	}
	analysis := s.analyse(m, r)
	d := &decision{len(s.game.plies), s.game.pos.Format(r.Move), game.KeyText(after.Key()), &analysis}
	s.manners.offering = r.OfferDraw
	s.setPonderTarget(d, after, r.Ponder)
	s.game.decided, s.out = d, &outgoing{decision: d}
	s.send()
}

// checked is the result with a move that is legal, and the position after it;
// nil where there is none. Whatever fails in the thinker, the game goes on.
func (s *Session) legalMove(t searchEnd) (search.Result, game.Position) {
	after := s.game.pos.Clone()
	if t.err == nil && t.Move != game.NoMove {
		if t.err = after.Play(t.Move); t.err == nil {
			return t.Result, after
		}
	}
	level := zerolog.ErrorLevel
	if s.searchFailed {
		level = zerolog.DebugLevel // it was said once
	}
	s.searchFailed = true
	s.log.WithLevel(level).Err(t.err).Int("ply", len(s.game.plies)).Msg("no move from the thinker; playing any")
	for _, m := range s.game.pos.Legal(nil) {
		if after.Play(m) == nil {
			return search.Result{Move: m, Source: fallback}, after
		}
	}
	return search.Result{}, nil
}

// send dispatches the decided move, in the background.
func (s *Session) send() {
	out, epoch := s.out, s.epoch
	out.inFlight = true
	c, running := s.clock()
	wait := s.manners.delay(s, c)
	s.background(func(ctx context.Context) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		dispatched := time.Now()
		ans, err := s.player.Client.Move(ctx, s.id, epoch, out.ply, out.move, out.key)
		r := moveAnswer{ans: ans, err: err, running: running, thought: dispatched.Sub(c.At), took: time.Since(dispatched)}
		s.post(func() { s.handleAnswer(out, r) })
	})
}

// background runs f beside the session, which waits for it at its end.
func (s *Session) background(f func(context.Context)) {
	s.work.Go(func() { f(s.ctx) })
}

// post has the session do f.
func (s *Session) post(f func()) {
	select {
	case s.posts <- f:
	case <-s.ctx.Done():
	}
}

// answered takes in what the platform says to a move.
func (s *Session) handleAnswer(out *outgoing, r moveAnswer) {
	out.inFlight = false
	current := s.out == out // else the state was faster: the game has gone on, or another way
	if r.err == nil {
		if current {
			s.out = nil
			s.game.play(out.ply, out.move)                  // legalMove has seen it work
			s.minSeq = max(s.minSeq, s.st.Seq+1, r.ans.Seq) // a move is an entry of the log
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
		s.player.Process.RequestHello() // the connection is gone; a new one brings a new state
		return
	}
	log := s.log.With().Str("code", string(refusal.Code)).Str("move", out.move).Int("ply", out.ply).Logger()
	switch refusal.Code {
	case protocol.Stale, protocol.NotYourTurn, protocol.Over, protocol.Late, protocol.Denied, protocol.NoGame:
		// The game is elsewhere than we think; its state says where.
		log.Debug().Msg("move refused")
		s.player.Process.RequestHello()
	case protocol.UnknownPeer:
		s.player.Process.RequestHello() // and the state that follows sends the move again
	case protocol.Paused:
		log.Debug().Msg("move refused") // a state says when it goes on
	case protocol.Unavailable, protocol.RateLimited:
		s.manners.notBefore = time.Now().Add(retryPause)
		s.send()
	case protocol.Illegal:
		s.dispute("the platform calls " + out.move + " illegal")
		s.resign("no move that both rules know")
	default:
		log.Error().Err(refusal).Msg("the platform does not understand our move")
		s.resign("the platform does not understand us")
	}
}

// charged notes what an accepted move cost.
func (s *Session) noteCost(out *outgoing, r moveAnswer) {
	s.game.charged(out.ply, out.move, r.ans.Receipt)
	if !r.running {
		return
	}
	cost := r.took
	if rec := r.ans.Receipt; rec != nil {
		// What the referee charged beyond our thinking is what counts: a
		// lost answer delays us and costs nothing.
		cost = min(cost, max(time.Duration(rec.ChargedMS)*time.Millisecond-r.thought, 0))
	}
	s.latency.Add(cost)
}
