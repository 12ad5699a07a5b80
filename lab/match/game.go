package match

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"sparring/engine"
	"sparring/engine/search"
	"sparring/game"
	"sparring/game/clock"
	"sparring/lab/match/event"
	"sparring/protocol"
	"sparring/record"
)

// Bout is a game that is to be played: who meets whom, and from where.
type Bout struct {
	Pair    int       `json:"pair"`    // from 1, over the whole match
	Leg     int       `json:"leg"`     // 1 or 2: the second is played with seats swapped
	Opening int       `json:"opening"` // from 1, its number in the match
	Players [2]int    `json:"players"` // by seat: indices into Terms.Players
	Names   [2]string `json:"names"`
	// Start and Moves are the opening as text, Position the position it leads to.
	Start    string        `json:"start,omitempty"`
	Moves    []string      `json:"moves,omitempty"`
	Position game.Position `json:"-"`
	Seed     uint64        `json:"seed,string"` // the same for both games of a pair
	ID       string        `json:"id"`          // of the game
}

// Game is a finished game: its record and what the match says of it. In a result
// file both are one JSON object, so result files can be read as records.
type Game struct {
	record.Record
	Match GameInfo `json:"match"`
}

// GameInfo is what a match says of a game beside its record: where in the match it belongs,
// and what the statistics need.
type GameInfo struct {
	Pair    int     `json:"pair"`
	Leg     int     `json:"leg"` // 1 or 2; 0 for a game of another source, without a partner
	Opening int     `json:"opening"`
	Players [2]int  `json:"players"` // by seat: indices into Terms.Players
	Fault   *Fault  `json:"fault,omitempty"`
	Sides   [2]Side `json:"sides"` // by seat
	// StalledMS is how long this process did not run in the game.
	StalledMS int64     `json:"stalled_ms,omitempty"`
	Discarded []Attempt `json:"discarded,omitempty"` // at this game, before it
}

// Fault is the reason why a player could not continue and lost.
type Fault struct {
	Seat game.Seat        `json:"seat"`
	Kind engine.FaultKind `json:"kind"`
	Text string           `json:"text"`
}

// Side sums up a player's moves in a game, without opening moves.
type Side struct {
	Moves      int    `json:"moves"`
	Nodes      uint64 `json:"nodes"`
	TimeUS     int64  `json:"time_us"`              // by the match's clock
	Depths     int    `json:"depths"`               // sum of depths, see AddDepth
	Searched   int    `json:"searched"`             // moves with such a depth
	Overshoots int    `json:"overshoots,omitempty"` // moves that exceeded their time by more than OvershootMS
}

// AddDepth adds the depth of a search with a score. Searches without a depth are left out, and
// so are those that proved who wins: after that, iterations up to the greatest depth cost nothing.
func (s *Side) AddDepth(depth int, score search.Score) {
	if _, proved := search.MateIn(score); depth > 0 && !proved {
		s.Depths += depth
		s.Searched++
	}
}

// OvershootMS is how far a move may exceed its time without being counted.
const OvershootMS = 20

// Backend plays games, on this machine or elsewhere.
type Backend interface {
	// Worker returns a worker for games with these terms. The caller closes it.
	Worker(t *Terms) (Worker, error)
}

// Worker plays one game after another.
type Worker interface {
	// Play plays a game to its end. After an error, including that of ctx,
	// there is no game to count.
	Play(ctx context.Context, b Bout) (*Game, error)
	Close()
}

// Event is the event name in the records of a match's games, unless the terms have
// another.
const Event = "match"

// EventAt returns the event name for a game of this time.
func (t *Terms) EventAt(start time.Time) string {
	return cmp.Or(event.TitleAt(t.Event, start), Event)
}

// NewGame returns the game of a bout before its first move: a record with the
// moves of the opening.
func NewGame(t *Terms, b Bout) *Game {
	g := &Game{Match: GameInfo{Pair: b.Pair, Leg: b.Leg, Opening: b.Opening, Players: b.Players}}
	g.Record = record.Record{
		V: record.Version, ID: b.ID, Game: t.Game, Rules: t.Rules, Position: b.Start, Clock: t.Limit.Clock,
		Event: t.EventAt(now()), Start: now(),
		Source: record.Source{By: record.ByMatch, Build: t.Build, Seed: b.Seed, Settings: &record.Settings{
			Nodes: t.Limit.Nodes, Depth: t.Limit.Depth, HashMB: t.HashMB, Threads: t.Threads,
		}},
		Plies: []record.Ply{},
	}
	for seat, name := range b.Names {
		g.Seats[seat] = record.Seat{Player: name, Kind: record.Bot}
		if c := t.LimitOf(b.Players[seat]).Clock; c != t.Limit.Clock {
			g.Seats[seat].Clock = &c
		}
	}
	return g
}

// describe records the engine of a seat. Every game has its own hash table.
func (g *Game) describe(seat game.Seat, d engine.Description, l Limit) {
	e := protocol.Engine(d)
	s := record.SettingsOf(e)
	s.OwnTable = true
	if l.Nodes > 0 && (s.Nodes == 0 || l.Nodes < s.Nodes) {
		s.Nodes, s.Elo = l.Nodes, nil // a level was measured without it
	}
	if l.Depth > 0 && (s.Depth == 0 || l.Depth < s.Depth) {
		s.Depth, s.Elo = l.Depth, nil
	}
	g.Seats[seat].Settings, g.Seats[seat].Build = s, e.String()
}

// now returns the time with the precision of records.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// End sets how the game ended.
func (g *Game) End(o game.Outcome, text string) {
	g.Result, g.Reason, g.Text = o.Result, o.Reason, text
	g.Record.End = now()
}

// Lose ends the game by a fault. The record says in words whose engine did what.
func (g *Game) Lose(seat game.Seat, f *engine.Fault) {
	g.Match.Fault = &Fault{seat, f.Kind, f.Text}
	g.End(game.Outcome{Result: game.WonBy(seat.Other()), Reason: game.Reason(f.Kind)},
		fmt.Sprintf("the %s seat's engine %s: %s", seat, f.Kind.Words(), f.Text))
}

// Charge counts a move that took used and returns the clock after it. Ok is false
// if the flag fell even with the margin. Most is the longest that a move may take, 0:
// all that is left.
func (s *Side) Charge(spec clock.Spec, st clock.State, used, most, margin time.Duration) (after clock.State, ok bool) {
	budget, limited := budgetOf(spec, st, most)
	s.TimeUS += used.Microseconds()
	if limited && used > budget+OvershootMS*time.Millisecond {
		s.Overshoots++
	}
	if limited && used > budget {
		if used > budget+margin {
			return clock.State{}, false
		}
		used = budget
	}
	return spec.Charge(st, used)
}

// budgetOf returns the time for a move: what is left, and at most most unless that is 0.
func budgetOf(spec clock.Spec, st clock.State, most time.Duration) (d time.Duration, limited bool) {
	d, limited = spec.Budget(st)
	if most > 0 && limited {
		d = min(d, most)
	}
	return d, limited
}

// gameID returns the id of a game in its match.
func gameID(match string, pair, leg int) string { return fmt.Sprintf("%s-%d-%d", match, pair, leg) }

// anID matches the id of a game of a match; over NATS a repeated one has a number more.
var anID = regexp.MustCompile(`^(m[a-z0-9]+)-(\d{1,9})-([12])(?:-\d+)?$`)

// ParseGameID reads the match, pair and leg off the id of a game; ok is false for a game
// of another source.
func ParseGameID(id string) (match string, pair, leg int, ok bool) {
	m := anID.FindStringSubmatch(id)
	if m == nil {
		return "", 0, 0, false
	}
	pair, _ = strconv.Atoi(m[2]) // digits
	leg, _ = strconv.Atoi(m[3])
	return m[1], pair, leg, true
}

// FaultOf returns the fault for which a player lost a game that ended by a reason, ""
// for none. A platform's reasons are translated.
func FaultOf(r game.Reason) engine.FaultKind {
	switch kind := engine.FaultKind(r); kind {
	case engine.FaultStart, engine.FaultTime, engine.FaultHang, engine.FaultIllegal, engine.FaultCrash, engine.FaultFlood, engine.FaultMemory, engine.FaultDisconnect:
		return kind
	}
	if r == protocol.ReasonAbandoned || r == protocol.ReasonNoStart {
		return engine.FaultDisconnect
	}
	return ""
}
