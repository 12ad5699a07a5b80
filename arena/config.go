package arena

import (
	"errors"
	"fmt"
	"time"

	"sparring/arena/match"
	"sparring/configs"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/protocol"
)

// Config is everything an operator may set. Start from [Defaults].
type Config struct {
	// Prefix stands before all subjects and names the streams.
	Prefix string
	// Name of this process among the arenas of the platform, an id; "" makes
	// a random one.
	Name string
	// Replicas of every stream: 1, 3 or 5 servers.
	Replicas int
	// Games is the most games that this process referees at once; challenges
	// beyond wait.
	Games int
	// Limits that requests are held to.
	Limits protocol.Limits

	// OfferFor is how long an offer waits for its answer, HoldFor how long
	// the taker is asked to keep its slot for the grant.
	OfferFor, HoldFor time.Duration
	// RetryAfter is how long a challenge that nobody took waits before it is
	// offered again; it doubles each time up to RetryMost.
	RetryAfter, RetryMost time.Duration
	// ChallengeFor is how long a challenge lives that does not say so itself.
	ChallengeFor time.Duration
	// Challenges is the most that may wait in all, PerPlayer the most that one
	// player may have waiting.
	Challenges, PerPlayer int

	// Heartbeat is how often an instance is asked to send alive; after
	// LostAfter without one its seats are offered to others.
	Heartbeat, LostAfter time.Duration
	// LeaseFor is how long a dead arena keeps its games from others.
	LeaseFor time.Duration
	// Linger is how long a referee goes on answering after the game's end.
	Linger time.Duration
	// Patience is how long a refused append is repeated before the game goes
	// on without being logged.
	Patience time.Duration

	Match  match.Policy
	Ladder Ladder
}

// Ladder settings.
type Ladder struct {
	// On pairs the present bots of every game in rounds; ratings are kept in
	// any case.
	On    bool
	Clock clock.Spec
	// Rules by game, full names; a game that is not there uses its default set.
	Rules map[string]string
	// Rounds to play, 0 for ever.
	Rounds int
	// Pause between two rounds, and how long the present bots must have been
	// the same before a round is made.
	Pause, Settle time.Duration
	// Absent is how long a player may be away before its waiting games of a
	// round are given up.
	Absent time.Duration
	// Idle is how long both players of a pairing may be there, with slots
	// free, without taking their seats before it is given up. Slots are known
	// by heartbeats and offers back off, so that it must be long; 0 is for ever.
	Idle time.Duration
}

// Defaults are settings for a platform on one server.
func Defaults() Config {
	return Config{
		Prefix: protocol.DefaultPrefix, Replicas: 1, Games: 1000, Limits: protocol.DefaultLimits,
		OfferFor: time.Second, HoldFor: 4 * time.Second,
		RetryAfter: 250 * time.Millisecond, RetryMost: 2 * time.Second,
		ChallengeFor: time.Minute, Challenges: 100_000, PerPlayer: 16,
		Heartbeat: 500 * time.Millisecond, LostAfter: 1500 * time.Millisecond,
		LeaseFor: 3 * time.Second, Linger: 10 * time.Second, Patience: 2 * time.Second,
		Match: match.DefaultPolicy(),
		Ladder: Ladder{
			Clock: clock.Spec{Kind: clock.Fischer, Initial: time.Minute, Increment: time.Second},
			Pause: time.Second, Settle: 2 * time.Second, Absent: 30 * time.Second, Idle: time.Minute,
		},
	}
}

// Validate reports every fault of the settings in one error, a line each. A
// setting is named by the variable that the command sparring arena reads it
// from, or by its field where there is none.
func (c Config) Validate() error {
	var faults configs.Faults
	_, err := protocol.NewSubjects(c.Prefix)
	faults.Err("NATS_PREFIX", err)
	if c.Name != "" {
		faults.Err("ARENA_NAME", protocol.CheckID("name", protocol.InstanceID(c.Name)))
	}
	if c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5 {
		faults.Add("ARENA_REPLICAS", "%d: want 1, 3 or 5", c.Replicas)
	}
	faults.AtLeast("ARENA_GAMES", c.Games, 1)
	faults.Positive("ARENA_CHALLENGE_FOR", c.ChallengeFor)
	faults.Positive("ARENA_FIRST_MOVE", c.Match.FirstMove)
	faults.Positive("ARENA_ABANDON_AFTER", c.Match.AbandonAfter)
	if c.LostAfter < 2*c.Heartbeat {
		faults.Add("ARENA_LOST_AFTER", "%v: want at least two heartbeats (%v)", c.LostAfter, 2*c.Heartbeat)
	}
	c.Ladder.validate(&faults)

	bad := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for _, n := range []struct {
		name string
		n    int
	}{
		{"Challenges", c.Challenges}, {"PerPlayer", c.PerPlayer}, {"Limits.MessageBytes", c.Limits.MessageBytes},
		{"Limits.Nesting", c.Limits.Nesting}, {"Limits.PerSecond", c.Limits.PerSecond},
	} {
		if n.n < 1 {
			bad("%s: %d: want at least 1", n.name, n.n)
		}
	}
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"OfferFor", c.OfferFor}, {"HoldFor", c.HoldFor}, {"RetryAfter", c.RetryAfter}, {"RetryMost", c.RetryMost},
		{"Heartbeat", c.Heartbeat}, {"Linger", c.Linger}, {"Patience", c.Patience},
	} {
		if d.d <= 0 {
			bad("%s: %v: want more than 0", d.name, d.d)
		}
	}
	if c.HoldFor <= c.OfferFor {
		bad("HoldFor: %v: want more than OfferFor (%v): the other seat may be open too", c.HoldFor, c.OfferFor)
	}
	if c.LeaseFor < time.Second {
		bad("LeaseFor: %v: want at least 1s, the shortest that the server keeps", c.LeaseFor)
	}
	if min(c.Ladder.Settle, c.Ladder.Absent, c.Ladder.Idle) < 0 {
		bad("Ladder: a time below 0")
	}
	return errors.Join(faults.Join(), c.Match.Validate())
}

func (l Ladder) validate(faults *configs.Faults) {
	if l.On && l.Clock.Kind == clock.Unlimited {
		faults.Add("LADDER_CLOCK", "unlimited: a round would never end")
	}
	if l.Rounds < 0 {
		faults.Add("LADDER_ROUNDS", "%d: want 0 (for ever) or more", l.Rounds)
	}
	if l.Pause < 0 {
		faults.Add("LADDER_PAUSE", "%v: want 0 or more", l.Pause)
	}
	for name, rules := range l.Rules {
		r, err := catalog.Rules(rules)
		faults.Err("LADDER_RULES", err)
		if err == nil && r.Game != name {
			faults.Add("LADDER_RULES", "%s: %s is another game's", name, rules)
		}
	}
}
