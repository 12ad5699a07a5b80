package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sparring/game/clock"
)

// Kind tells bots from people.
type Kind string

// The kinds of player.
const (
	Bot   Kind = "bot"   // a program
	Human Kind = "human" // a person
)

// Capability is a game that an instance plays.
type Capability struct {
	Game   string        `json:"game"`
	Rules  []string      `json:"rules,omitempty"`  // full names; empty means all
	Speeds []clock.Speed `json:"speeds,omitempty"` // empty means all
	Engine *Engine       `json:"engine,omitempty"` // the engine that plays it; absent: unknown
	// MoveMS is the longest time that it takes for a move in a correspondence game, where the
	// clock allows days. Absent: unknown.
	MoveMS int64 `json:"move_ms,omitempty"`
}

// Engine describes the engine that plays a game for a player, as the engine
// itself gives it. What is unknown or does not apply is zero.
type Engine struct {
	Spec     string   `json:"spec,omitempty"`  // "self:level=3"; of a program its protocol and name alone, as "uci:fairy-stockfish"
	Name     string   `json:"name,omitempty"`  // "Fairy-Stockfish 14.0.1 XQ"
	Build    string   `json:"build,omitempty"` // version, if the name does not tell it
	Level    int      `json:"level,omitempty"`
	Elo      *float64 `json:"elo,omitempty"`       // measured strength of the level, relative to a scripted beginner
	EloError float64  `json:"elo_error,omitempty"` // of Elo, either way, with 95 % confidence
	Nodes    uint64   `json:"nodes,omitempty"`     // limit of every search
	Depth    int      `json:"depth,omitempty"`     // limit of every search
	HashMB   int      `json:"hash_mb,omitempty"`
	Threads  int      `json:"threads,omitempty"`
	Book     string   `json:"book,omitempty"`      // name of the opening book
	TableMen int      `json:"table_men,omitempty"` // largest number of pieces in its endgame tables
	Eval     string   `json:"eval,omitempty"`      // name of the evaluation; empty: the product's
	Seed     uint64   `json:"-"`                   // of random choices; differs from game to game
	// Reproducible: a move depends on the position, the limits and the seed alone.
	Reproducible bool `json:"reproducible,omitempty"`
}

// LevelPlayer returns the player that is a level of a game. Anybody may say in a hello that
// an engine plays at a level; where this player is present, it is the one that does.
func LevelPlayer(gameName string, level int) PlayerID {
	return PlayerID(fmt.Sprintf("%s-level-%d", gameName, level))
}

// IsLevel reports whether a player is a level of some game.
func (p PlayerID) IsLevel() bool {
	name, n, ok := strings.Cut(string(p), "-level-")
	level, err := strconv.Atoi(n)
	return ok && name != "" && err == nil && LevelPlayer(name, level) == p
}

// String returns the name and version, and the level if there is one.
func (e Engine) String() string {
	text := e.Name
	if strings.HasPrefix(e.Build, e.Name) {
		text = e.Build
	} else if e.Build != "" {
		text += " " + e.Build
	}
	if e.Level > 0 {
		text = fmt.Sprintf("%s level %d", text, e.Level)
	}
	if text == "" {
		return e.Spec
	}
	return text
}

// Hello announces an instance of a player. It replaces an earlier hello of the
// same instance.
type Hello struct {
	Header
	Instance InstanceID   `json:"instance"`
	Kind     Kind         `json:"kind"`
	Display  string       `json:"display,omitempty"` // up to 64 runes, any script
	Build    string       `json:"build,omitempty"`   // engine and version, of all games without an engine of their own
	Slots    int          `json:"slots"`             // games at once, over all players of the instance
	Games    []Capability `json:"games"`
	Pools    []Pool       `json:"pools,omitempty"` // match queues that the instance has joined
	Takes    *Takes       `json:"takes,omitempty"` // absent: the instance does not say
	// Fleet says that the instance answers the platform's operator, see FleetVerb.
	Fleet bool `json:"fleet,omitempty"`
	// Host is the name of the machine. The platform tells it only to the player's own
	// instances, see OtherInstance, and to nobody else.
	Host string `json:"host,omitempty"`
	// Secret is chosen by the instance and known only to it and the platform. The
	// instance repeats it in its heartbeats and when it leaves, which tells it from
	// another process with its id, and in its answers to offers, which nothing else
	// shows to be its own: no accept is believed without it.
	Secret string `json:"secret,omitempty"`
}

// Takes says which matches an instance takes in the games that it plays. An empty
// field excludes nothing. The platform offers no others.
type Takes struct {
	Kinds     []Kind      `json:"kinds,omitempty"`      // of opponents
	Rated     *bool       `json:"rated,omitempty"`      // true: rated games only; false: casual games only
	Usual     bool        `json:"usual,omitempty"`      // only from the usual start position
	Fastest   *clock.Spec `json:"fastest,omitempty"`    // clocks are compared by their time for 40 moves
	Slowest   *clock.Spec `json:"slowest,omitempty"`    // excludes unlimited, too
	MinRating int         `json:"min_rating,omitempty"` // of opponents; 0: no limit
	MaxRating int         `json:"max_rating,omitempty"` // of opponents; 0: no limit
}

// Declines returns why the instance would decline a match, as its hello tells; ""
// if it would not.
func (m *Hello) Declines(t Terms, o Opponent) DeclineReason {
	i := slices.IndexFunc(m.Games, func(c Capability) bool { return c.Game == t.Game })
	if i < 0 {
		return DeclineGame
	}
	switch c := m.Games[i]; {
	case len(c.Rules) > 0 && !slices.Contains(c.Rules, t.Rules):
		return DeclineRules
	case len(c.Speeds) > 0 && !slices.Contains(c.Speeds, t.Clock.Speed()):
		return DeclineClock
	case m.Takes != nil:
		return m.Takes.declines(t, o)
	}
	return ""
}

func (k *Takes) declines(t Terms, o Opponent) DeclineReason {
	expected, limited := t.Clock.Expected()
	switch {
	case len(k.Kinds) > 0 && !slices.Contains(k.Kinds, o.Kind):
		return DeclineKind
	case k.Rated != nil && *k.Rated && !t.Rated:
		return DeclineRated
	case k.Rated != nil && !*k.Rated && t.Rated:
		return DeclineCasual
	case k.Usual && !t.Usual():
		return DeclineRules
	case o.Rating != 0 && (o.Rating < k.MinRating || k.MaxRating != 0 && o.Rating > k.MaxRating):
		return DeclineRating
	}
	if k.Fastest != nil {
		if bound, ok := k.Fastest.Expected(); ok && limited && expected < bound {
			return DeclineClock
		}
	}
	if k.Slowest != nil {
		if bound, ok := k.Slowest.Expected(); ok && (!limited || expected > bound) {
			return DeclineClock
		}
	}
	return ""
}

// EngineName returns the name and version of the engine that plays a game.
func (m *Hello) EngineName(gameName string) string {
	for _, c := range m.Games {
		if c.Game == gameName && c.Engine != nil {
			name := []rune(c.Engine.String())
			return string(name[:min(len(name), maxDisplay)])
		}
	}
	return m.Build
}

// HelloAnswer says how to talk to this platform.
type HelloAnswer struct {
	Answer
	HeartbeatMS int64  `json:"heartbeat_ms"` // how often to send alive
	Limits      Limits `json:"limits"`
	// Held lists the running games in which this instance holds a seat. The
	// instance resumes games here that it does not know of, and drops games
	// that are not here. With the answer or soon after it, the platform sends
	// the state of each game again.
	Held []GameID `json:"held,omitempty"`
	// Waiting lists the player's challenges that nobody has accepted yet, as far as
	// this process of the platform knows, so that a client that has lost their ids can
	// withdraw them.
	Waiting []WaitingChallenge `json:"waiting,omitempty"`
	// Watch says that the platform republishes the entries of logs on watch.<id>, and that
	// an instance may follow its games there, see MoveRequest.Watching.
	Watch bool `json:"watch,omitempty"`
	// Others lists the player's other instances that are present, up to [MaxOthers], those that
	// this process of the platform has known longest first.
	Others []OtherInstance `json:"others,omitempty"`
}

// OtherInstance is another instance of the same player. Games are shared among a
// player's instances, and so is its rating.
type OtherInstance struct {
	Instance InstanceID     `json:"instance"`
	Host     string         `json:"host,omitempty"` // by its hello
	Since    time.Time      `json:"since"`          // when this process of the platform first heard of it
	Games    []InstanceGame `json:"games,omitempty"`
}

// InstanceGame is a game that an instance plays, by its hello.
type InstanceGame struct {
	Game   string  `json:"game"`
	Engine *Engine `json:"engine,omitempty"` // absent: unknown
}

// MaxOthers is the length of the longest list of other instances.
const MaxOthers = 8

// WaitingChallenge is a challenge that nobody has accepted yet.
type WaitingChallenge struct {
	Game     GameID    `json:"game"`               // that it may become
	Opponent PlayerID  `json:"opponent,omitempty"` // whom it asks; absent if it asks a pool
	Pool     Pool      `json:"pool,omitempty"`
	Expires  time.Time `json:"expires"`
}

// Limits are the platform's limits for requests. Those per player hold for all its
// instances together; twice as much may come at once.
type Limits struct {
	MessageBytes int `json:"message_bytes"`
	Nesting      int `json:"nesting"`
	PerSecond    int `json:"per_second"` // requests per second and player, without heartbeats, standings and challenges
	// HeartbeatsPerSecond, StandingsPerSecond, ChallengesPerSecond and BytesPerSecond are limits per player, too.
	HeartbeatsPerSecond int `json:"heartbeats_per_second,omitempty"`
	StandingsPerSecond  int `json:"standings_per_second,omitempty"`
	ChallengesPerSecond int `json:"challenges_per_second,omitempty"`
	BytesPerSecond      int `json:"bytes_per_second,omitempty"` // of all its requests, heartbeats included
}

// Alive is the heartbeat of an instance.
type Alive struct {
	Header
	Instance InstanceID `json:"instance"`
	Free     int        `json:"free"` // free slots
	// FreeForBots is how many of the free slots are for games against bots: the others are
	// kept for people. Absent: all are.
	FreeForBots *int `json:"free_for_bots,omitempty"`
	// FreeTogether is how many games the players that have the slots together can begin,
	// where the player itself takes fewer. Absent: as many as Free.
	FreeTogether *int     `json:"free_together,omitempty"`
	Games        []GameID `json:"games,omitempty"` // games that it plays for this player
	// Secret is that of the hello, so that two processes with the same instance id are told
	// apart. Absent: they are not.
	Secret string `json:"secret,omitempty"`
}

// FreeFor returns the free slots for games against players of a kind.
func (m *Alive) FreeFor(k Kind) int {
	if k == Bot && m.FreeForBots != nil {
		return min(m.Free, *m.FreeForBots)
	}
	return m.Free
}

// Together returns the free slots of all players that have them together.
func (m *Alive) Together() int {
	if m.FreeTogether != nil {
		return max(m.Free, *m.FreeTogether)
	}
	return m.Free
}

// AliveAnswer answers a heartbeat. After UnknownPeer the instance must say hello
// again.
type AliveAnswer struct {
	Answer
	Held []GameID `json:"held,omitempty"` // as in HelloAnswer, but the states are not sent
}

// Leave gives back seats, before the instance shuts down. The platform offers
// them to the player's other instances.
type Leave struct {
	Header
	Instance InstanceID `json:"instance"`
	Games    []GameID   `json:"games,omitempty"` // empty means all
	// Secret is that of the hello, as in Alive.
	Secret string `json:"secret,omitempty"`
}
