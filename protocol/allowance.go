package protocol

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// burst is how many seconds' worth of a limit may come at once.
const burst = 2

// refusalsPerSecond limits the refusals sent to a player who exceeds its limits:
// a flood must not be doubled by its answers.
const refusalsPerSecond = 50

// linesAtOnce is how many lines about a player's refusals are logged at once, and then one a
// second: requests in thousands of games that the player has nothing to do with are
// refused, and each game has lines of its own.
const linesAtOnce = 10

// allowances are what each player may send. The goroutine that receives the
// messages of all players asks them first, before it decodes anything, so that what
// one player sends too much of costs the others nothing.
type allowances struct {
	limits Limits

	mu sync.Mutex
	of map[PlayerID]*allowance
}

// allowance is one player's, over all its instances.
type allowance struct {
	requests, heartbeats, standings, challenges, bytes, refusals *rate.Limiter
	lines                                                        *rate.Limiter // of the log, about refusals
}

func newAllowances(limits Limits) *allowances {
	return &allowances{limits: limits.filled(), of: make(map[PlayerID]*allowance)}
}

// filled returns the limits with the defaults for those that are not set.
func (l Limits) filled() Limits {
	if l.HeartbeatsPerSecond == 0 {
		l.HeartbeatsPerSecond = DefaultLimits.HeartbeatsPerSecond
	}
	if l.StandingsPerSecond == 0 {
		l.StandingsPerSecond = DefaultLimits.StandingsPerSecond
	}
	if l.ChallengesPerSecond == 0 {
		l.ChallengesPerSecond = DefaultLimits.ChallengesPerSecond
	}
	if l.BytesPerSecond == 0 {
		l.BytesPerSecond = DefaultLimits.BytesPerSecond
	}
	return l
}

// take takes a message off a player's allowance. If that has run out, the message is
// to be dropped; tell says whether the player is to be told.
func (a *allowances) take(p PlayerID, v Verb, size int, now time.Time) (ok, tell bool) {
	mine := a.allowance(p)
	count := mine.requests
	switch v {
	case VerbAlive:
		count = mine.heartbeats
	case VerbStandings: // the longest answers
		count = mine.standings
	case VerbChallenge: // each leaves something in the store
		count = mine.challenges
	}
	if count.AllowN(now, 1) && mine.bytes.AllowN(now, size) {
		return true, false
	}
	return false, mine.refusals.AllowN(now, 1)
}

// allowance returns a player's allowance.
func (a *allowances) allowance(p PlayerID) *allowance {
	a.mu.Lock()
	defer a.mu.Unlock()
	mine := a.of[p]
	if mine == nil {
		if len(a.of) >= manyPlayers { // a full allowance is as good as a new one
			maps.DeleteFunc(a.of, func(_ PlayerID, mine *allowance) bool { return mine.full() })
		}
		perSecond := func(n int) *rate.Limiter { return rate.NewLimiter(rate.Limit(n), burst*n) }
		mine = &allowance{
			requests: perSecond(a.limits.PerSecond), heartbeats: perSecond(a.limits.HeartbeatsPerSecond),
			standings: perSecond(a.limits.StandingsPerSecond), challenges: perSecond(a.limits.ChallengesPerSecond), bytes: perSecond(a.limits.BytesPerSecond), refusals: perSecond(refusalsPerSecond),
			lines: rate.NewLimiter(1, linesAtOnce),
		}
		a.of[p] = mine
	}
	return mine
}

func (a *allowance) full() bool {
	for _, l := range []*rate.Limiter{a.requests, a.heartbeats, a.standings, a.challenges, a.bytes, a.refusals, a.lines} {
		if l.Tokens() < float64(l.Burst()) {
			return false
		}
	}
	return true
}
