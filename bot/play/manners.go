package play

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"sparring/engine/search"
	"sparring/protocol"
)

// manners are what a session does beyond moves: resigning, draws, takebacks,
// a greeting, and not answering a person at once.
type manners struct {
	resigned         bool      // decided to
	resigning        bool      // and the request is on its way
	lowRun, evenRun  int       // own moves in a row that found the game lost, or level
	known            bool      // there was an own move, and
	chance           float64   // in percent, was what it thought
	offering         bool      // a draw with the move that was decided: the engine's wish
	drawAnswered     bool      // the open draw offer was answered
	takebackAnswered bool      // the open takeback request was answered
	takebacks        int       // granted
	notBefore        time.Time // no request before
}

// hopeless takes in what the search thinks, and reports whether to resign.
func (m *manners) shouldResign(s *Session, r search.Result) bool {
	if r.Depth == 0 {
		return false // a book or only move, not thought about
	}
	p := s.player.Settings.Manners
	m.known, m.chance = true, 100*r.WinProb
	m.lowRun = inARow(m.lowRun, m.chance < p.ResignBelow)
	m.evenRun = inARow(m.evenRun, m.chance >= 50-p.DrawWithin && m.chance <= 50+p.DrawWithin && p.DrawWithin > 0)
	return m.lowRun > 0 && m.lowRun >= p.ResignMoves
}

func inARow(n int, again bool) int {
	if again {
		return n + 1
	}
	return 0
}

// played offers a draw after a move that was accepted and made so many plies,
// where policy says so.
func (m *manners) afterMove(s *Session, plies int) {
	if p := s.player.Settings.Manners; !m.offering && (m.evenRun == 0 || m.evenRun < p.DrawMoves) {
		return
	}
	m.offering, m.evenRun = false, 0 // the next offer waits as long
	epoch := s.epoch
	s.request("draw offer", func(ctx context.Context) (protocol.ActAnswer, error) {
		return s.player.Client.Draw(ctx, s.id, epoch, plies, protocol.StepOffer)
	})
}

// answerOffers answers what the other side has asked for.
func (s *Session) answerOffers() {
	other := s.st.You.Other()
	p, m := s.player.Settings.Manners, &s.manners
	open := s.st.DrawBy != nil && *s.st.DrawBy == other
	if open && !m.drawAnswered {
		yes := p.DrawAccept > 0 && m.known && m.chance <= p.DrawAccept
		s.answerOffer("draw", s.player.Client.Draw, yes)
	}
	m.drawAnswered = open

	open = s.st.TakebackBy != nil && *s.st.TakebackBy == other
	if open && !m.takebackAnswered {
		yes := !s.st.Terms.Rated && m.takebacks < p.Takebacks
		if yes {
			m.takebacks++
		}
		s.answerOffer("takeback", s.player.Client.Takeback, yes)
	}
	m.takebackAnswered = open
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

// say makes a request whose refusal changes nothing: the state tells.
func (s *Session) request(what string, request func(context.Context) (protocol.ActAnswer, error)) {
	s.background(func(ctx context.Context) {
		if _, err := request(ctx); err != nil && ctx.Err() == nil {
			s.player.Log.Debug().Err(err).Str("game", string(s.id)).Msg(what + " refused")
		}
	})
}

// resign gives the game up, and asks again with every state until it is over.
func (s *Session) resign(why string) {
	m := &s.manners
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
		_, err := s.player.Client.Resign(ctx, s.id, epoch, ply)
		s.post(func() {
			m.resigning = false
			if err != nil {
				s.player.Process.RequestHello()
			}
		})
	})
}

// human reports whether the opponent is a person.
func (s *Session) againstHuman() bool { return s.st.Holders[s.st.You.Other()].Kind == protocol.Human }

// delay is how long to keep a move back: against a person at least the time
// of the settings has passed on our clock, as far as it allows.
func (m *manners) delay(s *Session, c search.Clock) time.Duration {
	now := time.Now()
	wait := m.notBefore.Sub(now)
	if s.againstHuman() {
		used := now.Sub(c.At)
		rest := s.player.Settings.Manners.HumanDelay - used
		if budget, limited := c.Spec.Budget(c.Mine); limited {
			rest = min(rest, (budget-used-c.Overhead)/10)
		}
		wait = max(wait, rest)
	}
	return max(wait, 0)
}
