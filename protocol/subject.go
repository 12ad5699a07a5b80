package protocol

import (
	"fmt"
	"strings"
)

// DefaultPrefix is the prefix of all subjects unless the settings name another.
const DefaultPrefix = "sparring"

// Queue groups.
const (
	BotsQueue     = "bots"     // each offer reaches one instance
	AnalystsQueue = "analysts" // each request for analysis reaches one analyst
	ArenaQueue    = "arena"    // each request outside a game reaches one arena process
)

// Action is what a player does in a game. It is the last token of the subject.
type Action string

// The actions of a seat.
const (
	ActMove     Action = "move"
	ActResign   Action = "resign"
	ActDraw     Action = "draw"
	ActTakeback Action = "takeback"
	ActChat     Action = "chat"
)

// Verb is what a player asks of the platform outside a game. It is the last
// token of the subject.
type Verb string

// The verbs.
const (
	VerbHello     Verb = "hello"
	VerbAlive     Verb = "alive"
	VerbLeave     Verb = "leave"
	VerbChallenge Verb = "challenge"
	VerbWithdraw  Verb = "withdraw"
	VerbStandings Verb = "standings"
)

// Subjects builds the subjects below one prefix.
type Subjects struct{ prefix string }

// NewSubjects returns the subjects below a prefix, or below DefaultPrefix if it
// is "". It returns an error if the prefix is malformed.
func NewSubjects(prefix string) (Subjects, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if !isPrefix(prefix) {
		return Subjects{}, fmt.Errorf("subject prefix %.40q: want up to four ids of a-z 0-9 _ - joined by dots", prefix)
	}
	return Subjects{prefix}, nil
}

// Prefix returns the prefix of all subjects, without a dot at its end.
func (s Subjects) Prefix() string { return s.prefix }

func (s Subjects) join(tokens ...string) string {
	return s.prefix + "." + strings.Join(tokens, ".")
}

// Offer returns the subject of a pool's match queue.
func (s Subjects) Offer(p Pool) string { return s.join("offer", string(p)) }

// Play returns the subject on which player p sends requests to the platform.
func (s Subjects) Play(p PlayerID, v Verb) string { return s.join("play", string(p), string(v)) }

// PlayAny returns the subject of all verbs of all players.
func (s Subjects) PlayAny() string { return s.join("play", "*", "*") }

// Act returns the subject on which player p acts in game g.
func (s Subjects) Act(p PlayerID, g GameID, a Action) string {
	return s.join("play", string(p), "game", string(g), string(a))
}

// ActAny returns the subject of all actions of player p in game g, for its referee.
func (s Subjects) ActAny(p PlayerID, g GameID) string {
	return s.join("play", string(p), "game", string(g), "*")
}

// ActOrphan returns the subject of all actions in all games. One arena process of
// the queue group answers those in games without a referee, and those of players
// who have no seat.
func (s Subjects) ActOrphan() string { return s.join("play", "*", "game", "*", "*") }

// ParseAct splits the subject of an action.
func (s Subjects) ParseAct(subject string) (PlayerID, GameID, Action, bool) {
	t := s.tokens(subject)
	if len(t) != 5 || t[0] != "play" || t[2] != "game" {
		return "", "", "", false
	}
	return PlayerID(t[1]), GameID(t[3]), Action(t[4]), true
}

// ParsePlay splits the subject of a verb.
func (s Subjects) ParsePlay(subject string) (PlayerID, Verb, bool) {
	t := s.tokens(subject)
	if len(t) != 3 || t[0] != "play" {
		return "", "", false
	}
	return PlayerID(t[1]), Verb(t[2]), true
}

// ToGame returns the subject on which the platform sends player p the states of
// game g.
func (s Subjects) ToGame(p PlayerID, g GameID) string {
	return s.join("to", string(p), "game", string(g))
}

// ToNotice returns the subject on which the platform sends player p notices.
func (s Subjects) ToNotice(p PlayerID) string { return s.join("to", string(p), "notice") }

// Analyse returns the subject of requests for analysis of a game.
func (s Subjects) Analyse(gameName string) string { return s.join("analyse", gameName) }

// AnalyseCancel returns the subject that cancels the analysis of the request with
// this id.
func (s Subjects) AnalyseCancel(gameName, id string) string { return s.join("analyse", gameName, id) }

// FleetAll returns the subject on which the operator asks every process of the fleet
// for its report.
func (s Subjects) FleetAll() string { return s.join("fleet", string(FleetReport)) }

// FleetBot returns the subject on which the operator tells one bot process what to do.
func (s Subjects) FleetBot(id InstanceID, v FleetVerb) string {
	return s.join("fleet", "bot", string(id), string(v))
}

// FleetGame returns the subject on which the operator tells the platform what to do
// with game g.
func (s Subjects) FleetGame(g GameID, v FleetVerb) string {
	return s.join("fleet", "game", string(g), string(v))
}

// ParseFleetGame splits the subject of a verb for a game.
func (s Subjects) ParseFleetGame(subject string) (GameID, FleetVerb, bool) {
	t := s.tokens(subject)
	if len(t) != 4 || t[0] != "fleet" || t[1] != "game" {
		return "", "", false
	}
	return GameID(t[2]), FleetVerb(t[3]), true
}

// Challenge returns the subject under which the challenge that is to become game
// g waits in a pool.
func (s Subjects) Challenge(g GameID, p Pool) string {
	return s.join("challenge", string(g), string(p))
}

// ChallengeAny returns Challenge for all pools.
func (s Subjects) ChallengeAny(g GameID) string { return s.join("challenge", string(g), ">") }

// ChallengesIn returns Challenge for all games, in all pools whose names begin with
// an id and a dot.
func (s Subjects) ChallengesIn(id string) string { return s.join("challenge", "*", id, ">") }

// Challenges returns Challenge for all games and pools.
func (s Subjects) Challenges() string { return s.join("challenge", ">") }

// Log returns the subject of the authoritative log of game g.
func (s Subjects) Log(g GameID) string { return s.join("game", string(g), "log") }

// Logs returns Log for all games.
func (s Subjects) Logs() string { return s.join("game", "*", "log") }

// ParseLog splits the subject of a log.
func (s Subjects) ParseLog(subject string) (GameID, bool) {
	t := s.tokens(subject)
	if len(t) != 3 || t[0] != "game" || t[2] != "log" {
		return "", false
	}
	return GameID(t[1]), true
}

// Watch returns the subject on which the log of game g is republished for
// spectators.
func (s Subjects) Watch(g GameID) string { return s.join("watch", string(g)) }

// Record returns the subject under which the record of game g is stored.
func (s Subjects) Record(gameName string, g GameID) string {
	return s.join("record", gameName, string(g))
}

// Records returns Record for all games.
func (s Subjects) Records() string { return s.join("record", ">") }

func (s Subjects) tokens(subject string) []string {
	rest, ok := strings.CutPrefix(subject, s.prefix+".")
	if !ok {
		return nil
	}
	return strings.Split(rest, ".")
}
