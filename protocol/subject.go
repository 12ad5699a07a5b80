package protocol

import (
	"fmt"
	"strings"
)

// DefaultPrefix stands before all subjects where the settings name no other.
const DefaultPrefix = "sparring"

// Queue groups.
const (
	BotsQueue     = "bots"     // exactly one free instance gets each offer
	AnalystsQueue = "analysts" // exactly one gets each request for analysis
	ArenaQueue    = "arena"    // exactly one arena process answers a request that belongs to no game
)

// Action is what a player does in a game: the last token of its subject.
type Action string

// The actions of a seat.
const (
	ActMove     Action = "move"
	ActResign   Action = "resign"
	ActDraw     Action = "draw"
	ActTakeback Action = "takeback"
	ActChat     Action = "chat"
)

// Verb is what a player asks of the platform outside any game.
type Verb string

// The verbs.
const (
	VerbHello     Verb = "hello"
	VerbAlive     Verb = "alive"
	VerbLeave     Verb = "leave"
	VerbChallenge Verb = "challenge"
	VerbWithdraw  Verb = "withdraw"
)

// Subjects builds the subjects below one prefix.
type Subjects struct{ prefix string }

// NewSubjects checks the prefix; "" means DefaultPrefix.
func NewSubjects(prefix string) (Subjects, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if !prefixForm.MatchString(prefix) {
		return Subjects{}, fmt.Errorf("subject prefix %.40q: want up to four ids of a-z 0-9 _ - joined by dots", prefix)
	}
	return Subjects{prefix}, nil
}

// Prefix is what stands before all subjects, without a dot at its end.
func (s Subjects) Prefix() string { return s.prefix }

func (s Subjects) join(tokens ...string) string {
	return s.prefix + "." + strings.Join(tokens, ".")
}

// Offer is the match queue of a pool.
func (s Subjects) Offer(p Pool) string { return s.join("offer", string(p)) }

// Play is where player p speaks to the platform.
func (s Subjects) Play(p PlayerID, v Verb) string { return s.join("play", string(p), string(v)) }

// PlayAny is Play for every player.
func (s Subjects) PlayAny(v Verb) string { return s.join("play", "*", string(v)) }

// Act is where player p acts in game g.
func (s Subjects) Act(p PlayerID, g GameID, a Action) string {
	return s.join("play", string(p), "game", string(g), string(a))
}

// ActAny is every action of every player in game g: what its referee hears.
func (s Subjects) ActAny(g GameID) string { return s.join("play", "*", "game", string(g), "*") }

// ActOrphan is every action in any game: heard by one arena of the queue group, which
// answers for games that nobody referees.
func (s Subjects) ActOrphan() string { return s.join("play", "*", "game", "*", "*") }

// ParseAct takes the subject of an action apart.
func (s Subjects) ParseAct(subject string) (PlayerID, GameID, Action, bool) {
	t := s.tokens(subject)
	if len(t) != 5 || t[0] != "play" || t[2] != "game" {
		return "", "", "", false
	}
	return PlayerID(t[1]), GameID(t[3]), Action(t[4]), true
}

// ParsePlay takes the subject of a verb apart.
func (s Subjects) ParsePlay(subject string) (PlayerID, Verb, bool) {
	t := s.tokens(subject)
	if len(t) != 3 || t[0] != "play" {
		return "", "", false
	}
	return PlayerID(t[1]), Verb(t[2]), true
}

// ToGame is where the platform tells player p of game g.
func (s Subjects) ToGame(p PlayerID, g GameID) string {
	return s.join("to", string(p), "game", string(g))
}

// ToNotice is where the platform tells player p of all else.
func (s Subjects) ToNotice(p PlayerID) string { return s.join("to", string(p), "notice") }

// Analyse is the queue of requests for analysis of a game.
func (s Subjects) Analyse(gameName string) string { return s.join("analyse", gameName) }

// Challenge is where a challenge waits in a pool, to become game g.
func (s Subjects) Challenge(g GameID, p Pool) string {
	return s.join("challenge", string(g), string(p))
}

// ChallengeAny is Challenge in any pool.
func (s Subjects) ChallengeAny(g GameID) string { return s.join("challenge", string(g), ">") }

// Challenges is every Challenge subject.
func (s Subjects) Challenges() string { return s.join("challenge", ">") }

// Log is the authoritative log of game g.
func (s Subjects) Log(g GameID) string { return s.join("game", string(g), "log") }

// Logs is every Log subject.
func (s Subjects) Logs() string { return s.join("game", "*", "log") }

// ParseLog takes a Log subject apart.
func (s Subjects) ParseLog(subject string) (GameID, bool) {
	t := s.tokens(subject)
	if len(t) != 3 || t[0] != "game" || t[2] != "log" {
		return "", false
	}
	return GameID(t[1]), true
}

// Watch is where game g's log is republished for everyone.
func (s Subjects) Watch(g GameID) string { return s.join("watch", string(g)) }

// Record is where the finished record of game g is stored.
func (s Subjects) Record(gameName string, g GameID) string {
	return s.join("record", gameName, string(g))
}

// Records is every Record subject.
func (s Subjects) Records() string { return s.join("record", ">") }

func (s Subjects) tokens(subject string) []string {
	rest, ok := strings.CutPrefix(subject, s.prefix+".")
	if !ok {
		return nil
	}
	return strings.Split(rest, ".")
}
