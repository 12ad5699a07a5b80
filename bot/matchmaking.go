package bot

import (
	"context"
	"errors"
	"slices"

	"sparring/bot/policy"
	"sparring/protocol"
)

// matchmake looks for opponents until ctx ends.
func (p *player) matchmake(ctx context.Context) {
	m := p.bot.cfg.Match
	b := policy.Backoff{Min: m.Interval, Max: m.Longest}
	for sleep(ctx, b.Next()) {
		terms, pool, err := m.Challenge(p.profile().Games)
		if err != nil {
			p.log.Error().Err(err).Msg("matchmaking is off")
			return
		}
		switch played, err := p.challenge(ctx, pool, terms); {
		case errors.Is(err, policy.ErrFull), errors.Is(err, policy.ErrPaused), errors.Is(err, policy.ErrClosed), errors.Is(err, errUnknown):
			p.log.Trace().Err(err).Msg("no challenge now")
		case err != nil && ctx.Err() == nil:
			p.log.Warn().Err(err).Str("pool", string(pool)).Msg("challenge refused")
			b.Failed()
		case played:
			b.Succeeded()
		default:
			b.Failed()
		}
	}
}

// challenge sends one challenge and waits until the game begins or the challenge
// ends. The errors of the ledger and errUnknown mean to try again later.
func (p *player) challenge(ctx context.Context, pool protocol.Pool, terms protocol.Terms) (played bool, err error) {
	if !slices.Contains(p.playable(), terms.Game) {
		return false, policy.ErrFull
	}
	if !p.known() || p.retired.Load() {
		return false, errUnknown // the platform would grant it no game
	}
	s, err := p.reserve(nil, p.need(false), challengeLifetime+helloTimeout)
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, helloTimeout)
	ans, err := p.client.Challenge(within, protocol.ChallengeRequest{
		Terms: terms, Pool: pool, ExpireMS: challengeLifetime.Milliseconds(),
	})
	cancel()
	if err != nil {
		s.abandon()
		return false, err
	}
	if err := p.take(s, ans.Game); err != nil {
		return false, err
	}
	p.log.Debug().Str("game", string(ans.Game)).Str("pool", string(pool)).Msg("challenge sent")
	if p.endedEarly(ans.Game) {
		s.ChallengeEnded()
	}
	// Otherwise the reservation expires.
	select {
	case <-s.Began():
		return true, nil
	case <-s.Done():
		return s.Held(), ctx.Err()
	case <-p.bot.mode.whileTaking().Done():
		return false, p.withdraw(ctx, s)
	}
}

// withdraw takes a challenge back. If it has been taken meanwhile, the game is
// played.
func (p *player) withdraw(ctx context.Context, s *seat) error {
	within, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	if _, err := p.client.Withdraw(within, s.ID()); err != nil {
		return nil // too late, or no answer: the session ends by itself
	}
	s.ChallengeEnded()
	return policy.ErrClosed
}
