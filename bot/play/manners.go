package play

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"sparring/engine/search"
	"sparring/game"
	"sparring/protocol"
)

// manners is the state of everything but moves: resignation, draws, takebacks, a
// greeting, and a pause before moves against a person.
type manners struct {
	resigned         bool        // decided to resign
	resigning        bool        // the request is on its way
	fault            game.Reason // of the engine, for which it resigned; "": none
	lowRun, evenRun  int         // consecutive own moves with a lost, or an even, evaluation
	drawRun          int         // consecutive own moves with one at which a draw is accepted
	offering         bool        // the engine wants to offer a draw with its move
	draws            answered    // draw offers of the other side
	takebackRequests answered    // its takeback requests
	takebacks        int         // granted
	notBefore        time.Time   // the next move is not sent earlier
}

// shouldResign records the evaluation of the search and reports whether to resign.
func (m *manners) shouldResign(s *Session, r search.Result) bool {
	if !r.Judges() {
		return false // such as a move from the book, or the only one
	}
	p := s.player.Settings.Manners
	chance := 100 * r.WinProb
	m.lowRun = inARow(m.lowRun, chance < p.ResignBelow)
	m.evenRun = inARow(m.evenRun, chance >= 50-p.DrawWithin && chance <= 50+p.DrawWithin && p.DrawWithin > 0)
	m.drawRun = inARow(m.drawRun, chance <= p.DrawAccept && p.DrawAccept > 0)
	return m.lowRun > 0 && m.lowRun >= p.ResignMoves
}

func inARow(n int, again bool) int {
	if again {
		return n + 1
	}
	return 0
}

// afterMove offers a draw after an accepted move, if the settings or the engine
// want it. Plies counts that move.
func (m *manners) afterMove(s *Session, plies int) {
	if p := s.player.Settings.Manners; !m.offering && (m.evenRun == 0 || m.evenRun < p.DrawMoves) {
		return
	}
	m.offering, m.evenRun = false, 0 // the next offer needs as many level moves again
	epoch := s.epoch
	s.request("draw offer", func(ctx context.Context) (protocol.ActAnswer, error) {
		return s.player.Client.Draw(ctx, s.id, epoch, plies, protocol.StepOffer)
	})
}

// answered says which offers of one kind were answered. Each is answered once, and only
// one at a ply: an answer takes a part of what the platform lets a player send in all its
// games, and an opponent could use that up by offering and withdrawing.
type answered struct {
	open bool // in the last state
	at   int  // 1 + the ply of the last answer; 0: none at this ply
}

// due reports whether an offer is to be answered that is open, or not, at a ply. The
// caller answers it then.
func (a *answered) due(open bool, ply int) bool {
	if a.at != ply+1 {
		a.at = 0
	}
	due := open && !a.open && a.at == 0
	a.open = open
	if due {
		a.at = ply + 1
	}
	return due
}

// answerOffers answers draw offers and takeback requests of the other side.
func (s *Session) answerOffers() {
	other := s.st.You.Other()
	p, m := s.player.Settings.Manners, &s.manners
	if m.draws.due(s.st.DrawBy != nil && *s.st.DrawBy == other, len(s.st.Moves)) {
		// A single move proves little: in an opening nobody stands better, and a weak player
		// would have a draw of every strong one that it asks early enough.
		yes := m.drawRun > 0 && m.drawRun >= p.DrawMoves
		s.answerOffer("draw", s.player.Client.Draw, yes)
	}
	if m.takebackRequests.due(s.st.TakebackBy != nil && *s.st.TakebackBy == other, len(s.st.Moves)) {
		yes := !s.st.Terms.Rated && m.takebacks < p.Takebacks
		if yes {
			m.takebacks++
		}
		s.answerOffer("takeback", s.player.Client.Takeback, yes)
	}
}

type step = func(ctx context.Context, g protocol.GameID, epoch uint64, ply int, step protocol.Step) (protocol.ActAnswer, error)

func (s *Session) answerOffer(what string, send step, yes bool) {
	answer := protocol.StepDecline
	if yes {
		answer = protocol.StepAccept
	}
	epoch, ply := s.epoch, len(s.st.Moves)
	s.log.Debug().Int("ply", ply).Str("answer", string(answer)).Msg(what + " offered")
	s.request(what, func(ctx context.Context) (protocol.ActAnswer, error) {
		return send(ctx, s.id, epoch, ply, answer)
	})
}

// greet says hello to a person.
func (s *Session) greet() {
	text := s.player.Settings.Manners.Greet
	if text == "" || !s.againstHuman() || len(s.st.Moves) > 1 {
		return
	}
	epoch := s.epoch
	s.request("greeting", func(ctx context.Context) (protocol.ActAnswer, error) {
		return s.player.Client.Chat(ctx, s.id, epoch, text)
	})
}

// request sends a request whose refusal needs no reaction.
func (s *Session) request(what string, request func(context.Context) (protocol.ActAnswer, error)) {
	s.background(func(ctx context.Context) {
		if _, err := request(ctx); err != nil && ctx.Err() == nil {
			s.player.Log.Debug().Err(err).Str("game", string(s.id)).Msg(what + " refused")
		}
	})
}

// resign sends a resignation. It is repeated with every state until the game is over.
func (s *Session) resign(why string) { s.resignFor(why, s.manners.fault) }

// resignFor is resign because the engine failed; fault says how, "" if it did not.
func (s *Session) resignFor(why string, fault game.Reason) {
	m := &s.manners
	m.fault = fault
	if m.resigning {
		return
	}
	level := zerolog.InfoLevel
	if m.resigned {
		level = zerolog.DebugLevel
	}
	m.resigned, m.resigning = true, true
	s.stopSearch()
	epoch, ply := s.epoch, len(s.st.Moves)
	s.log.WithLevel(level).Int("ply", ply).Str("why", why).Msg("resigning")
	s.background(func(ctx context.Context) {
		_, err := s.player.Client.ResignFor(ctx, s.id, epoch, ply, fault)
		s.post(func() {
			m.resigning = false
			if err != nil {
				s.player.Process.RequestHello()
			}
		})
	})
}

// againstHuman reports whether the opponent is a person.
func (s *Session) againstHuman() bool { return s.st.Holders[s.st.You.Other()].Kind == protocol.Human }

// delay returns how long to hold a move back. A move takes at least Delay, and against
// a person HumanDelay, if the clock allows.
func (m *manners) delay(s *Session, c search.Clock) time.Duration {
	now := time.Now()
	wait := m.notBefore.Sub(now)
	least := s.player.Settings.Manners.Delay
	if s.againstHuman() {
		least = max(least, s.player.Settings.Manners.HumanDelay)
	}
	if least > 0 {
		used := now.Sub(c.At)
		rest := least - used
		if budget, limited := c.Spec.Budget(c.Mine); limited {
			rest = min(rest, (budget-used-c.Overhead)/10)
		}
		wait = max(wait, rest)
	}
	return max(wait, 0)
}
