// Package capacity estimates what a platform with many games takes: processor time,
// memory and disk, and how many games fit.
//
// [Measure] finds what a move of a level costs on this machine; what the platform adds
// comes from docs/performance.md ([Documented]) or from "sparring bench fleet".
package capacity

import (
	"errors"
	"fmt"
	"math"
	"time"

	"sparring/engine"
	"sparring/engine/level"
	"sparring/game"
	"sparring/game/catalog"
	"sparring/game/clock"
)

// Costs are what games and moves cost.
type Costs struct {
	// SearchMS is the processor time of a move's search, and PlatformMS that of all else
	// for a move: server, arena and bot process, in milliseconds.
	SearchMS   float64 `json:"search_ms"`
	PlatformMS float64 `json:"platform_ms"`
	GameKB     float64 `json:"game_kb"`      // memory of a game in all processes, of 1000 bytes
	BaseMB     float64 `json:"base_mb"`      // memory of the processes without games
	LogBytes   float64 `json:"log_bytes"`    // of the game's log, a move
	RecordByte float64 `json:"record_bytes"` // of a game's records, the platform's and the bots'
	Search     string  `json:"search_from"`  // where SearchMS comes from
	Platform   string  `json:"platform_from"`
}

// Documented returns the costs of the platform that docs/performance.md and
// docs/operating.md state, without those of a search.
func Documented() Costs {
	return Costs{
		PlatformMS: 1.57, // docs/performance.md, "The fleet": 1,000 games
		GameKB:     164,  // docs/performance.md, "People on the platform": 82 KB a person, which is more than a bot
		BaseMB:     200,
		LogBytes:   1500, RecordByte: 2 * 10_000, // docs/operating.md, "Data, and its backup"
		Platform: "docs/performance.md and docs/operating.md",
	}
}

// Measure returns the processor time, in milliseconds, that a search of a level takes for
// a move on this machine with nothing else to do: the mean over the games' bench
// positions, by a clock of the process's time. It takes about a second for each game.
func Measure(games []string, n int, spent func() time.Duration) (ms float64, err error) {
	var all []float64
	for _, name := range games {
		one, err := measure(name, n, spent)
		if err != nil {
			return 0, fmt.Errorf("level %d of %s: %w", n, name, err)
		}
		all = append(all, one)
	}
	for _, one := range all {
		ms += one / float64(len(all))
	}
	return ms, nil
}

// measureFor is how long searches of one game are measured at least, unless all positions
// were searched before.
const measureFor = time.Second

func measure(name string, n int, clock func() time.Duration) (ms float64, err error) {
	a, err := engine.Adapter(name)
	if err != nil {
		return 0, err
	}
	s, err := level.New(name, n, nil)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	pool := engine.NewPool(1)
	defer pool.Close()
	rules, err := catalog.Rules(a.Bench.Rules)
	if err != nil {
		return 0, err
	}
	g, err := s.NewGame(engine.GameOptions{ID: "capacity", Rules: rules})
	if err != nil {
		return 0, err
	}
	defer g.Close()
	var spent time.Duration
	moves := 0
	for _, text := range a.Bench.Positions {
		p, err := rules.New(text)
		if err != nil {
			return 0, err
		}
		began := clock()
		search, err := pool.Start(engine.Request{Game: g, Position: p})
		if err != nil {
			return 0, err
		}
		if r, err := search.Wait(); err != nil || r.Move == game.NoMove {
			return 0, errors.Join(err, fmt.Errorf("no move in %s", text))
		}
		spent += clock() - began
		if moves++; spent >= measureFor {
			break
		}
	}
	return float64(spent) / float64(time.Millisecond) / float64(moves), nil
}

// Ask is what is to be played.
type Ask struct {
	Games  int        `json:"games"` // at once
	Clock  clock.Spec `json:"clock"`
	Rules  []string   `json:"rules"` // a share of the games each
	Level  int        `json:"level"` // of both sides; 0: people, or other programs elsewhere
	Cores  int        `json:"cores"`
	HashMB int        `json:"hash_mb"` // hash tables of the bot process, in all
}

// Plan is what that takes.
type Plan struct {
	Ask
	Costs Costs `json:"costs"`
	// SecondsPerMove is the time that a side has for a move, by the clock, and
	// PliesPerGame the usual length of a game.
	SecondsPerMove float64 `json:"seconds_per_move"`
	PliesPerGame   float64 `json:"plies_per_game"`

	MovesPerSecond float64 `json:"moves_per_second"` // if all take the time that they have
	CoresNeeded    float64 `json:"cores_needed"`     // for that many, without reserve
	Fits           bool    `json:"fits"`
	MaxGames       int     `json:"most_games"` // at once that fit on these cores
	// MaxMovesPerSecond is what the cores can do at all: bots that move at once
	// reach it, and their games are over sooner.
	MaxMovesPerSecond float64 `json:"most_moves_per_second"`
	MemoryMB          float64 `json:"memory_mb"`
	DiskMBPerDay      float64 `json:"disk_mb_per_day"`      // at MovesPerSecond, as far as the cores reach
	MaxDiskMBPerDay   float64 `json:"most_disk_mb_per_day"` // at MaxMovesPerSecond
}

// usable is the share of the cores that games may take: beyond it moves wait for each
// other, and collections of garbage and the server's writes have no room.
const usable = 0.7

// expectedMoves is how many moves of a side clock.Spec.Expected counts with.
const expectedMoves = 40

// Validate reports all that is wrong with an Ask, a line each.
func (a *Ask) Validate() error {
	var faults []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	_, limited := a.Clock.Expected()
	want(a.Games >= 1, "games %d: want at least 1", a.Games)
	want(a.Cores >= 1, "cores %d: want at least 1", a.Cores)
	want(a.Level == 0 || a.Level >= level.Weakest && a.Level <= level.Strongest, "level %d: want %d to %d, or 0 for games without our engine", a.Level, level.Weakest, level.Strongest)
	want(limited, "clock %s: want a time limit", a.Clock)
	want(a.HashMB >= 0, "hash %d: want 0 or more", a.HashMB)
	want(len(a.Rules) > 0, "want at least one rule set")
	return errors.Join(faults...)
}

// Of returns what an Ask takes at these costs.
func Of(a Ask, c Costs) (*Plan, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &Plan{Ask: a, Costs: c}
	for _, name := range a.Rules {
		rules, err := catalog.Rules(name)
		if err != nil {
			return nil, err
		}
		adapter, err := engine.Adapter(rules.Game)
		if err != nil {
			return nil, err
		}
		p.PliesPerGame += float64(adapter.Length) / float64(len(a.Rules))
	}
	expected, _ := a.Clock.Expected()
	p.SecondsPerMove = expected.Seconds() / expectedMoves
	p.MovesPerSecond = float64(a.Games) / p.SecondsPerMove
	perMove := (c.SearchMS + c.PlatformMS) / 1000 // core seconds
	p.CoresNeeded = p.MovesPerSecond * perMove
	p.MaxMovesPerSecond = usable * float64(a.Cores) / perMove
	p.MaxGames = int(math.Floor(p.MaxMovesPerSecond*p.SecondsPerMove + 1e-6))
	p.Fits = a.Games <= p.MaxGames
	p.MemoryMB = c.BaseMB + float64(a.HashMB) + float64(a.Games)*c.GameKB/1000
	perDay := 86400 * (c.LogBytes + c.RecordByte/p.PliesPerGame) / 1e6
	p.DiskMBPerDay = min(p.MovesPerSecond, p.MaxMovesPerSecond) * perDay
	p.MaxDiskMBPerDay = p.MaxMovesPerSecond * perDay
	return p, nil
}
