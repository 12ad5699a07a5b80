package arena

import (
	"errors"
	"fmt"
	"os"
	"time"

	"sparring/arena/glicko"
	"sparring/arena/livegame"
	"sparring/configs"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
	"sparring/internal/diskspace"
	"sparring/protocol"
)

// Config has all settings of an arena. Start from [Defaults].
type Config struct {
	// Prefix begins all subjects and the names of the streams.
	Prefix string
	// Name identifies this process among the platform's arenas; "" chooses a
	// random one.
	Name string
	// Build is the name and version of the program, for the operator.
	Build string
	// Replicas is how many servers keep each stream: 1, 3 or 5.
	Replicas int
	// Games limits how many games this process referees at once. Further
	// challenges wait.
	Games int
	// Limits bound requests.
	Limits protocol.Limits

	// OfferFor is how long an offer waits for an answer. HoldFor is how long a
	// bot that accepts is asked to keep its slot for the grant.
	OfferFor, HoldFor time.Duration
	// RetryAfter is how long a challenge that was not accepted waits before it is
	// offered again. It doubles each time, up to RetryMax, and grows beyond that
	// if more than a thousand challenges wait.
	RetryAfter, RetryMax time.Duration
	// ChallengeFor is the default lifetime of a challenge.
	ChallengeFor time.Duration
	// Challenges limits how many challenges may wait in total, PerPlayer how
	// many of one player.
	Challenges, PerPlayer int
	// PersonGames limits how many games of one person may run, since those of a
	// correspondence clock take weeks.
	PersonGames int

	// Heartbeat is how often instances are asked to send alive. After LostAfter
	// without one, an instance's seats are offered to others.
	Heartbeat, LostAfter time.Duration
	// LeaseFor is how long the games of a dead arena have no referee.
	LeaseFor time.Duration
	// Linger is how long a referee still answers requests after the game's end.
	Linger time.Duration
	// Patience is how long an append that is refused for lack of space is
	// repeated before the game continues without its log.
	Patience time.Duration

	Policy    livegame.Policy
	Ladder    Ladder
	Retention Retention
	// Disk is a directory of the NATS server's store, if it is on this machine, to warn
	// before the disk is full; "": none. Warn says when to warn, also of streams and of
	// an account with limits.
	Disk string
	Warn diskspace.Limits
}

// Ladder is how players are paired and rated.
type Ladder struct {
	// On pairs the players who are present. Ratings are kept in any case.
	On bool
	// Each game is played under each of Rules, which has full names by game, and with
	// each of Clocks. A game without an entry has its default rules.
	Clocks []clock.Spec
	Rules  map[string][]string
	// Games is how many games of the ladder a player plays at once.
	Games int
	// Apart keeps people and bots from meeting on the ladder.
	Apart bool
	// Anchors are players of known strength, with their ratings, on which the scale of
	// the ladder rests: games do not change these ratings, and anchors do not meet each
	// other.
	Anchors map[protocol.PlayerID]glicko.Rating
	// Losses is how many of the operator's bot processes may be lost at once, whichever they are, so that
	// others have free slots for their seats: no pairing takes these. 0 keeps none.
	Losses int
	// Pause is how long a player rests between two games, or the time between two
	// rounds.
	Pause time.Duration

	// Rounds is how many rounds to play, in which all bots meet each other once; 0
	// pairs whoever is free, without end. Rounds are for a few bots.
	Rounds int
	// A round starts only after the same bots have been present for StableFor.
	StableFor time.Duration
	// AbsentFor is how long a player may be absent before its games of the round
	// that have not started are cancelled.
	AbsentFor time.Duration
	// NoShow is how long both players of a pairing may be present with free
	// slots without taking their seats before the game is cancelled; 0 means
	// without end. Free slots are known only from heartbeats, and offers back
	// off, so it must be long.
	NoShow time.Duration
}

// Defaults returns settings for a platform on one server.
func Defaults() Config {
	return Config{
		Prefix: protocol.DefaultPrefix, Replicas: 1, Games: 1000, Limits: protocol.DefaultLimits,
		OfferFor: time.Second, HoldFor: 4 * time.Second,
		RetryAfter: 250 * time.Millisecond, RetryMax: 2 * time.Second,
		ChallengeFor: time.Minute, Challenges: 100_000, PerPlayer: 16, PersonGames: 50,
		Heartbeat: 500 * time.Millisecond, LostAfter: 1500 * time.Millisecond,
		LeaseFor: 3 * time.Second, Linger: 10 * time.Second, Patience: 2 * time.Second,
		Policy:    livegame.DefaultPolicy(),
		Warn:      diskspace.Limits{Within: 24 * time.Hour, Share: 0.9},
		Retention: Retention{Notice: 10 * time.Minute, Every: time.Minute},
		Ladder: Ladder{
			Clocks: []clock.Spec{{Kind: clock.Fischer, Initial: time.Minute, Increment: time.Second}}, Games: 1, Losses: 1,
			Pause: time.Second, StableFor: 2 * time.Second, AbsentFor: 30 * time.Second, NoShow: time.Minute,
		},
	}
}

// Validate reports every fault of the settings in one error, a line each. A
// setting is named by the variable that the command sparring arena reads it
// from, or by its field if it has no variable.
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
	for _, d := range []struct {
		variable string
		d, most  time.Duration
	}{
		{"ARENA_CHALLENGE_FOR", c.ChallengeFor, protocol.LongestChallenge},
		{"ARENA_FIRST_MOVE", c.Policy.FirstMove, clock.Longest}, {"ARENA_ABANDON_AFTER", c.Policy.AbandonAfter, clock.Longest},
	} {
		faults.Positive(d.variable, d.d)
		if d.d > d.most {
			faults.Add(d.variable, "%v: want at most %v", d.d, d.most)
		}
	}
	if c.LostAfter < 2*c.Heartbeat {
		faults.Add("ARENA_LOST_AFTER", "%v: want at least two heartbeats (%v)", c.LostAfter, 2*c.Heartbeat)
	}
	c.Ladder.validate(&faults)
	if c.Disk != "" {
		if _, err := os.Stat(c.Disk); err != nil {
			faults.Err("ARENA_DISK", err)
		}
	}
	faults.Warnings(c.Warn.Within, c.Warn.Share)
	faults.Kept("KEEP_LOGS", c.Retention.Logs.Age, c.Retention.Logs.Bytes)
	faults.Kept("KEEP_RECORDS", c.Retention.Records.Age, c.Retention.Records.Bytes)

	bad := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for _, n := range []struct {
		name string
		n    int
	}{
		{"Challenges", c.Challenges}, {"PerPlayer", c.PerPlayer}, {"PersonGames", c.PersonGames}, {"Limits.MessageBytes", c.Limits.MessageBytes},
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
		{"OfferFor", c.OfferFor}, {"HoldFor", c.HoldFor}, {"RetryAfter", c.RetryAfter}, {"RetryMax", c.RetryMax},
		{"Heartbeat", c.Heartbeat}, {"Linger", c.Linger}, {"Patience", c.Patience}, {"Retention.Notice", c.Retention.Notice}, {"Retention.Every", c.Retention.Every},
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
	if min(c.Ladder.StableFor, c.Ladder.AbsentFor, c.Ladder.NoShow) < 0 {
		bad("Ladder: a time below 0")
	}
	return errors.Join(faults.Join(), c.Policy.Validate())
}

func (l Ladder) validate(faults *configs.Faults) {
	if l.On && len(l.Clocks) == 0 {
		faults.Add("LADDER_CLOCK", "want at least one")
	}
	for _, c := range l.Clocks {
		if l.On && c.Speed() == clock.Correspondence {
			faults.Add("LADDER_CLOCK", "%v: a game would last for weeks", c)
		}
		if err := c.Check(); l.On && err != nil {
			faults.Add("LADDER_CLOCK", "%v: %w", c, err)
		}
	}
	if l.On {
		faults.AtLeast("LADDER_GAMES", l.Games, 1)
	}
	if l.Rounds < 0 {
		faults.Add("LADDER_ROUNDS", "%d: want 0 (for ever) or more", l.Rounds)
	}
	faults.AtLeast("LADDER_LOSSES", l.Losses, 0)
	if l.Pause < 0 {
		faults.Add("LADDER_PAUSE", "%v: want 0 or more", l.Pause)
	}
	for id, r := range l.Anchors {
		faults.Err("LADDER_LEVELS", protocol.CheckID("player", id))
		if r.Deviation <= 0 || r.Volatility <= 0 {
			faults.Add("LADDER_LEVELS", "%s: deviation %v and volatility %v: want more than 0", id, r.Deviation, r.Volatility)
		}
	}
	for name, all := range l.Rules {
		for _, rules := range all {
			r, err := catalog.Rules(rules)
			faults.Err("LADDER_RULES", err)
			switch {
			case err != nil:
			case r.Game != name:
				faults.Add("LADDER_RULES", "%s: %s is another game's", name, rules)
			case r.Name != rules: // terms have full names
				faults.Add("LADDER_RULES", "%s: want the full name, %s", rules, r.Name)
			default:
				faults.Err("LADDER_RULES", LadderRules(r))
			}
		}
	}
}

// LadderRules returns an error for a rule set with a handicap, under which no ladder is played:
// the ratings would say more about the seats than about the players. Rules that draw games
// early are allowed here, for all of an event, though no player may choose them for a rated game.
func LadderRules(r *game.Rules) error {
	if g, err := catalog.Game(r.Game); err == nil && g.Uneven(r) {
		return fmt.Errorf("%s: has a handicap, and a ladder is of equals", r.Name)
	}
	return nil
}
