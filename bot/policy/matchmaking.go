package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

// Matchmaking configures a bot's own challenges.
type Matchmaking struct {
	On       bool          `default:"false" desc:"send challenges while slots are free, for all players but the levels"`
	Pool     protocol.Pool `desc:"pool that is challenged; empty: game.speed, such as xiangqi.blitz"`
	Clock    clock.Spec    `default:"60+1" desc:"clock of the challenges"`
	Rules    string        `desc:"rule set of the challenges; empty: the default one of the player's first game"`
	Rated    bool          `default:"true" desc:"challenge to rated games"`
	Interval time.Duration `default:"30s" desc:"pause after a challenge"`
	Longest  time.Duration `default:"10m" desc:"longest pause: every challenge without a game doubles it"`
}

// Validate returns everything that is wrong with the settings; at is the prefix of
// their names.
func (m Matchmaking) Validate(at string) (errs []error) {
	if m.Pool != "" {
		if err := m.Pool.Check(); err != nil {
			errs = append(errs, fmt.Errorf("%sPOOL: %w", at, err))
		} else if m.On && m.Pool.Ladder() {
			errs = append(errs, fmt.Errorf("%sPOOL: %s: the ladder pairs its players by itself, and takes no challenges", at, m.Pool))
		}
	}
	if m.On && m.Rated && !m.Clock.Traits().Limited { // the platform refuses it each time
		errs = append(errs, fmt.Errorf("%sCLOCK: %v: a rated game has a clock; want one, or %sRATED=false", at, m.Clock, at))
	}
	if err := m.Clock.Check(); m.On && err != nil {
		errs = append(errs, fmt.Errorf("%sCLOCK: %v: %w", at, m.Clock, err))
	}
	if m.Rules != "" {
		if rules, err := catalog.Rules(m.Rules); err != nil {
			errs = append(errs, fmt.Errorf("%sRULES: %w", at, err))
		} else if g, err := catalog.Game(rules.Game); err == nil && m.On && m.Rated {
			if why := g.Unrated(rules); why != "" {
				errs = append(errs, fmt.Errorf("%sRULES: %s: %s; want other rules for rated games, or %sRATED=false", at, rules.Name, why, at))
			}
		}
	}
	if m.Interval <= 0 {
		errs = append(errs, fmt.Errorf("%sINTERVAL: %v: want more than 0", at, m.Interval))
	}
	if m.Longest < m.Interval {
		errs = append(errs, fmt.Errorf("%sLONGEST: %v: want at least INTERVAL", at, m.Longest))
	}
	return errs
}

// Challenge returns the match that a player of these games asks for, and the pool
// that it asks.
func (m Matchmaking) Challenge(games []string) (protocol.Terms, protocol.Pool, error) {
	name := m.Rules
	if head, _, _ := strings.Cut(name, "/"); name == "" || !slices.Contains(games, head) {
		name = games[0]
	}
	rules, err := catalog.Rules(name)
	if err != nil {
		return protocol.Terms{}, "", err
	}
	pool := m.Pool
	if pool == "" {
		pool = protocol.Pool(rules.Game + "." + string(m.Clock.Speed()))
	}
	return protocol.Terms{Game: rules.Game, Rules: rules.Name, Clock: m.Clock, Rated: m.Rated}, pool, nil
}

// Backoff is the pause between a player's own challenges. Each challenge without
// a game doubles it, a game resets it.
type Backoff struct{ Min, Max, pause time.Duration }

// Failed doubles the pause.
func (b *Backoff) Failed() { b.pause = min(2*max(b.pause, b.Min), b.Max) }

// Succeeded resets the pause.
func (b *Backoff) Succeeded() { b.pause = b.Min }

// Next returns the pause, less up to a quarter at random, so that bots started
// together do not challenge at the same moment.
func (b *Backoff) Next() time.Duration {
	pause := max(b.pause, b.Min)
	return pause - rand.N(pause/4+1)
}
