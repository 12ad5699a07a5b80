package match

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sparring/engine"
	"sparring/game/clock"
	"sparring/protocol"
)

// FileVersion is the version of the result files that this package writes.
const FileVersion = 1

// Terms are the settings of a match that affect its games. They are the first
// line of its result file, which holds only games with these settings. The number
// of games and the stopping rule affect no game and are not part of them.
type Terms struct {
	V       int      `json:"match"` // FileVersion
	ID      string   `json:"id"`    // prefix of the games' ids, unique to the match: see NewID
	Game    string   `json:"game"`
	Rules   string   `json:"rules"`            // in full
	Players []string `json:"players"`          // specs, at least two
	Labels  []string `json:"labels,omitempty"` // display names, by index; missing or "": the spec
	Kind    Kind     `json:"tournament"`
	Limit   Limit    `json:"limit"`
	// Limits are those of players that have another one than Limit (time odds), by
	// index in Players.
	Limits   map[int]Limit `json:"limits,omitempty"`
	Openings string        `json:"openings"` // describes the set of openings uniquely
	Seed     uint64        `json:"seed,string"`
	// MarginMS is how far a move may exceed its time without losing the game.
	MarginMS int64 `json:"margin_ms"`
	// MoveMS is the longest that a move may take besides the clock; 0: no limit.
	MoveMS int64 `json:"move_ms,omitempty"`
	// PatienceMS limits a move without a clock.
	PatienceMS int64   `json:"patience_ms"`
	HashMB     int     `json:"hash_mb"` // per player
	Threads    int     `json:"threads"` // per player
	Resign     *Resign `json:"resign,omitempty"`
	Draw       *Draw   `json:"draw,omitempty"`
	MaxPlies   int     `json:"max_plies,omitempty"` // a game is drawn after this many plies; 0: no limit
	Tablebase  int     `json:"tablebase,omitempty"` // adjudicate by endgame tables of up to this many pieces; 0: none
	Over       string  `json:"over,omitempty"`      // where the games are played; "": in this process
	Event      string  `json:"event,omitempty"`     // the title of an event for the games' records; "": Event
	// Experiment describes how the players' specs differ from pair to pair in a
	// screening experiment; "" in matches.
	Experiment string `json:"experiment,omitempty"`
	// Design are the settings of an experiment that tunes the players, by name; none
	// in matches.
	Design map[string]string `json:"design,omitempty"`
	Build  string            `json:"build"` // of this program
	// Versions tell, by spec, the programs and files of players apart that may be replaced
	// between two runs. Those that are not there, as in files of earlier builds, are unknown.
	Versions map[string]string `json:"versions,omitempty"`
}

// Kind is the type of tournament.
type Kind string

// The kinds of tournament.
const (
	RoundRobin Kind = "roundrobin" // every player meets every other
	Gauntlet   Kind = "gauntlet"   // the first player meets all others
)

// Pairings returns the pairs of players that meet, by index in Players.
func (t *Terms) Pairings() (all [][2]int) {
	for a := range t.Players {
		for b := a + 1; b < len(t.Players); b++ {
			all = append(all, [2]int{a, b})
		}
		if t.Kind == Gauntlet {
			break
		}
	}
	return all
}

// Names returns the players' labels or specs, numbered to make duplicates
// distinct.
func (t *Terms) Names() []string {
	names, seen := make([]string, len(t.Players)), map[string]int{}
	for i, p := range t.Players {
		if i < len(t.Labels) && t.Labels[i] != "" {
			p = t.Labels[i]
		}
		seen[p]++
		names[i] = p
		if n := seen[p]; n > 1 {
			names[i] = fmt.Sprintf("%s (%d)", p, n)
		}
	}
	return names
}

// Validate reports all faults that can be found without the rules.
func (t *Terms) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := protocol.CheckID("match", t.ID); err != nil {
		errs = append(errs, err)
	}
	if len(t.Players) < 2 {
		bad("a match needs at least two players, not %d", len(t.Players))
	}
	if t.Kind != RoundRobin && t.Kind != Gauntlet {
		bad("tournament %.20q: want %s or %s", t.Kind, RoundRobin, Gauntlet)
	}
	if t.MarginMS < 0 || t.PatienceMS <= 0 {
		bad("margin %d ms, patience %d ms: want a margin of at least 0 and a positive patience", t.MarginMS, t.PatienceMS)
	}
	if t.MoveMS < 0 {
		bad("%d ms for a move: want 0 (no limit) or more", t.MoveMS)
	}
	for i := range t.Limits {
		if i < 0 || i >= len(t.Players) {
			bad("a limit for player %d of %d", i+1, len(t.Players))
		}
	}
	for i := range t.Players {
		if l := t.LimitOf(i); t.MoveMS > 0 && !l.Clock.Traits().Saves {
			bad("at most %v for a move besides %s: want a clock for the whole game, such as 180, or no longest move", t.move(), l)
			break
		}
	}
	if t.HashMB < 1 || t.Threads < 1 || t.Threads > engine.MaxThreads {
		bad("%d MiB of hash, %d threads: want at least 1, and at most %d threads", t.HashMB, t.Threads, engine.MaxThreads)
	}
	if t.MaxPlies < 0 {
		bad("max plies %d: want 0 (no limit) or more", t.MaxPlies)
	}
	return errors.Join(errs...)
}

// LimitOf returns the limit of a player, by index in Players.
func (t *Terms) LimitOf(player int) Limit {
	if l, ok := t.Limits[player]; ok {
		return l
	}
	return t.Limit
}

// clocked reports whether a flag can fall.
func (t *Terms) clocked() bool {
	for i := range t.Players {
		if t.LimitOf(i).Clock.Traits().Limited {
			return true
		}
	}
	return false
}

// NewID returns a random id for a match.
func NewID() string { return "m" + protocol.NewID()[:8] }

func (t *Terms) margin() time.Duration   { return time.Duration(t.MarginMS) * time.Millisecond }
func (t *Terms) move() time.Duration     { return time.Duration(t.MoveMS) * time.Millisecond }
func (t *Terms) patience() time.Duration { return time.Duration(t.PatienceMS) * time.Millisecond }

// Limit is the limit of a move: a clock, nodes or depth. The zero value leaves it
// to the players' own settings.
type Limit struct {
	Clock clock.Spec
	Nodes uint64
	Depth int
}

// ParseLimit parses a clock as [clock.Parse] does ("5+0.05", "unlimited"),
// "movetime=100ms", "nodes=N" or "depth=N".
func ParseLimit(text string) (Limit, error) {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		spec, err := clock.Parse(text)
		return Limit{Clock: spec}, err
	}
	var l Limit
	var err error
	switch key {
	case "movetime":
		var d time.Duration
		if d, err = time.ParseDuration(value); err != nil || d < time.Millisecond || d > clock.Longest || d%time.Millisecond != 0 {
			err = fmt.Errorf("want whole milliseconds, such as 100ms or 1.5s, up to %v", clock.Longest)
		}
		l.Clock = clock.Spec{Kind: clock.PerMove, Period: d}
	case "nodes":
		if l.Nodes, err = strconv.ParseUint(value, 10, 62); err != nil || l.Nodes == 0 {
			err = errors.New("want a whole number from 1")
		}
	case "depth":
		if l.Depth, err = strconv.Atoi(value); err != nil || l.Depth < 1 {
			err = errors.New("want a whole number from 1")
		}
	default:
		err = errors.New("want a clock such as 5+0.05, or movetime=100ms, nodes=N, depth=N")
	}
	if err != nil {
		return Limit{}, fmt.Errorf("limit %.40q: %w", text, err)
	}
	return l, nil
}

// String returns a form that ParseLimit parses.
func (l Limit) String() string {
	switch {
	case l.Nodes > 0:
		return fmt.Sprintf("nodes=%d", l.Nodes)
	case l.Depth > 0:
		return fmt.Sprintf("depth=%d", l.Depth)
	}
	return l.Clock.String()
}

// MarshalText returns the form of String.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses the form of String.
func (l *Limit) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLimit(string(text))
	return err
}
