package bot

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sparring/game/catalog"
	"sparring/protocol"
)

// backoff is the pause between a player's own challenges: each that comes to
// nothing doubles it, a game brings it back to the least.
type backoff struct{ least, most, pause time.Duration }

func (b *backoff) failed()    { b.pause = min(2*max(b.pause, b.least), b.most) }
func (b *backoff) succeeded() { b.pause = b.least }

// next is the pause with up to a quarter taken off at random, so that a fleet
// that was started together does not challenge in step.
func (b *backoff) next() time.Duration {
	pause := max(b.pause, b.least)
	return pause - rand.N(pause/4+1)
}

// matchmake looks for opponents until ctx ends.
func (p *player) matchmake(ctx context.Context) {
	m := p.bot.cfg.Match
	terms, err := p.ownTerms()
	if err != nil {
		p.log.Error().Err(err).Msg("no matchmaking")
		return
	}
	pool := m.Pool
	if pool == "" {
		pool = protocol.Pool(terms.Game + "." + string(terms.Clock.Speed()))
	}
	b := backoff{least: m.Interval, most: m.Longest}
	for sleep(ctx, b.next()) {
		switch played, err := p.challenge(ctx, pool, terms); {
		case errors.Is(err, errFull), errors.Is(err, errUnknown):
			// Games enough, or nobody to play them for.
		case errors.Is(err, errClosed):
			return
		case err != nil && ctx.Err() == nil:
			p.log.Warn().Err(err).Str("pool", string(pool)).Msg("challenge refused")
			b.failed()
		case played:
			b.succeeded()
		default:
			b.failed()
		}
	}
}

// ownTerms are those of the player's own challenges.
func (p *player) ownTerms() (protocol.Terms, error) {
	m := p.bot.cfg.Match
	name := m.Rules
	if head, _, _ := strings.Cut(name, "/"); name == "" || !slices.Contains(p.profile.Games, head) {
		name = p.profile.Games[0]
	}
	rules, err := catalog.Rules(name)
	if err != nil {
		return protocol.Terms{}, err
	}
	return protocol.Terms{Game: rules.Game, Rules: rules.Name, Clock: m.Clock, Rated: m.Rated}, nil
}

// challenge asks for one match and waits until it begins or comes to nothing.
// errFull and errUnknown mean not now.
func (p *player) challenge(ctx context.Context, pool protocol.Pool, terms protocol.Terms) (played bool, err error) {
	if !p.known() {
		return false, errUnknown // the platform would not believe that it is there to play
	}
	s, err := p.reserve(nil, p.want(false), challengeFor+helloTimeout)
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, helloTimeout)
	ans, err := p.client.Challenge(within, protocol.ChallengeRequest{
		Terms: terms, Pool: pool, ExpireMS: challengeFor.Milliseconds(),
	})
	cancel()
	if err != nil {
		s.cancel()
		s.lease.Release()
		return false, err
	}
	if err := p.seat(s, ans.Game); err != nil {
		return false, err
	}
	p.log.Debug().Str("game", string(ans.Game)).Str("pool", string(pool)).Msg("challenge waits")
	if p.endedEarly(ans.Game) {
		s.refuse()
	}
	// The platform's word ends the wait, or the lease where there is none.
	select {
	case <-s.began:
		return true, nil
	case <-s.ctx.Done():
		return s.isHeld(), ctx.Err()
	case <-p.bot.drain:
		return false, p.withdraw(ctx, s)
	}
}

// withdraw takes a challenge back. Where a game has come of it meanwhile, it
// is played.
func (p *player) withdraw(ctx context.Context, s *session) error {
	within, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	if _, err := p.client.Withdraw(within, s.id); err != nil {
		return nil // too late, or unheard: the state or the lease decides
	}
	s.refuse()
	return errClosed
}
