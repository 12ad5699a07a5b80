package match

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sparring/game/clock"
	"sparring/protocol"
)

// FileVersion is the version of result files that this package writes.
const FileVersion = 1

// Terms are what the games of a match are played under. They are the first
// line of its result file: games of other terms do not belong there. How many
// games are wanted, and when a test stops, is no part of them, since it
// changes no game.
type Terms struct {
	V        int      `json:"match"` // FileVersion
	ID       string   `json:"id"`    // begins the ids of the games; another match has another, see NewID
	Game     string   `json:"game"`
	Rules    string   `json:"rules"`            // in full
	Players  []string `json:"players"`          // specs, at least two
	Labels   []string `json:"labels,omitempty"` // what to call them, by index; none or "" is by the spec
	Kind     Kind     `json:"tournament"`
	Limit    Limit    `json:"limit"`
	Openings string   `json:"openings"` // which, in words that tell any two sets apart
	Seed     uint64   `json:"seed,string"`
	// MarginMS is how far a move may overshoot its time before it has lost.
	MarginMS int64 `json:"margin_ms"`
	// PatienceMS is how long a move without a clock may take.
	PatienceMS int64   `json:"patience_ms"`
	HashMB     int     `json:"hash_mb"` // of each player
	Threads    int     `json:"threads"` // of each player
	Resign     *Resign `json:"resign,omitempty"`
	Draw       *Draw   `json:"draw,omitempty"`
	MaxPlies   int     `json:"max_plies,omitempty"` // drawn after so many; 0: no limit
	Tablebase  int     `json:"tablebase,omitempty"` // won as endgame tables of so many men say; 0: none
	Over       string  `json:"over,omitempty"`      // where the games are played; "": here
	Build      string  `json:"build"`               // of this program
}

// Kind is who meets whom.
type Kind string

// The kinds of tournament.
const (
	RoundRobin Kind = "roundrobin" // everybody meets everybody
	Gauntlet   Kind = "gauntlet"   // the first meets all others
)

// Pairings are the players, by their index in Players, who meet.
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

// Names are the players' labels or specs, made distinct where one is there
// twice.
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

// Validate checks what can be checked without the rules; all faults are in the
// error.
func (t *Terms) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := protocol.CheckID("match", t.ID); err != nil {
		errs = append(errs, err)
	}
	if len(t.Players) < 2 {
		bad("%d players: a match needs two at least", len(t.Players))
	}
	if t.Kind != RoundRobin && t.Kind != Gauntlet {
		bad("tournament %.20q: want %s or %s", t.Kind, RoundRobin, Gauntlet)
	}
	if t.MarginMS < 0 || t.PatienceMS <= 0 {
		bad("margin %d ms, patience %d ms: want 0 or more, and more than 0", t.MarginMS, t.PatienceMS)
	}
	if t.HashMB < 1 || t.Threads < 1 {
		bad("%d MiB of hash, %d threads: want 1 at least", t.HashMB, t.Threads)
	}
	if t.MaxPlies < 0 {
		bad("max plies %d: want 0 (no limit) or more", t.MaxPlies)
	}
	return errors.Join(errs...)
}

// NewID makes a random id for a match.
func NewID() string { return "m" + protocol.NewID()[:8] }

func (t *Terms) margin() time.Duration   { return time.Duration(t.MarginMS) * time.Millisecond }
func (t *Terms) patience() time.Duration { return time.Duration(t.PatienceMS) * time.Millisecond }

// Limit is what a player has for a move: a clock, or a number of nodes or
// plies. The zero value leaves it to the players' own settings.
type Limit struct {
	Clock clock.Spec
	Nodes uint64
	Depth int
}

// ParseLimit reads a clock as [clock.Parse] does ("5+0.05"), "movetime=100ms",
// "nodes=N", "depth=N", or "unlimited".
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
		if d, err = time.ParseDuration(value); err == nil && (d < time.Millisecond || d > clock.Longest || d%time.Millisecond != 0) {
			err = errors.New("want whole milliseconds, 1ms at least")
		}
		l.Clock = clock.Spec{Kind: clock.PerMove, Period: d}
	case "nodes":
		if l.Nodes, err = strconv.ParseUint(value, 10, 62); err == nil && l.Nodes == 0 {
			err = errors.New("want 1 at least")
		}
	case "depth":
		if l.Depth, err = strconv.Atoi(value); err == nil && l.Depth < 1 {
			err = errors.New("want 1 at least")
		}
	default:
		err = errors.New("want a clock such as 5+0.05, or movetime=100ms, nodes=N, depth=N")
	}
	if err != nil {
		return Limit{}, fmt.Errorf("limit %.40q: %w", text, err)
	}
	return l, nil
}

// String is a form that ParseLimit reads.
func (l Limit) String() string {
	switch {
	case l.Nodes > 0:
		return fmt.Sprintf("nodes=%d", l.Nodes)
	case l.Depth > 0:
		return fmt.Sprintf("depth=%d", l.Depth)
	}
	return l.Clock.String()
}

// MarshalText writes it as String does.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (l *Limit) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLimit(string(text))
	return err
}
