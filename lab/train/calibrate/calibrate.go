// Package calibrate measures the levels of a game: [Run] plays a match of each
// level with the one below it, and of the lowest with the scripted beginner.
package calibrate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"

	"sparring/engine"
	"sparring/engine/level"
	"sparring/game"
	"sparring/internal/atomicfile"
	"sparring/lab/match"
	"sparring/lab/match/elo"
	"sparring/lab/match/openings"
)

// Beginner is the name of the scripted player, see level.Beginner.
const Beginner = "beginner"

// File is a game's calibration.
type File struct {
	Game     string `json:"game"`
	Rules    string `json:"rules"`
	Build    string `json:"build"`   // of the program that played
	Command  string `json:"command"` // that repeats it
	Openings string `json:"openings"`
	Seed     uint64 `json:"seed"`
	Levels   []Step `json:"levels"` // from the weakest
}

// Step is the measurement of a level against the one below.
type Step struct {
	Level int `json:"level"`
	level.Parameters
	Against string    `json:"against"` // Beginner, or "level 3"
	Games   int       `json:"games"`
	Wins    int       `json:"wins"`
	Draws   int       `json:"draws"`
	Losses  int       `json:"losses"`
	Pairs   elo.Pairs `json:"pairs"` // by points: 0, ½, 1, 1½, 2
	Faults  int       `json:"faults,omitempty"`
	Above   Diff      `json:"above"` // in Elo, over Against
	Elo     Diff      `json:"elo"`   // over the beginner: the sum of the steps
}

// Diff is a difference in Elo, and half the width of its 95 % interval.
type Diff struct {
	Elo   Number `json:"elo"`
	Error Number `json:"error"`
}

// String returns "+120 ± 30", or why there is no such number.
func (d Diff) String() string {
	if math.IsInf(float64(d.Elo), 0) || math.IsNaN(float64(d.Elo)) {
		return "beyond measure"
	}
	if math.IsInf(float64(d.Error), 0) || math.IsNaN(float64(d.Error)) {
		return "too few games"
	}
	return fmt.Sprintf("%+.0f ± %.0f", d.Elo, d.Error)
}

// Number is a number that may be infinite, which is null in JSON. A difference in
// Elo is infinite if one side has all the points.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(n), 0) || math.IsNaN(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(math.Round(float64(n)*10) / 10)
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Plan says what to measure.
type Plan struct {
	Rules       *game.Rules
	Games       int         // of each step, an even number
	GamesOf     map[int]int // of the steps of some levels, instead
	UpTo        int         // the last level to be measured
	Concurrency int         // games at once
	Seed        uint64
	Openings    openings.Source
	Described   string // text that identifies the openings
	Command     string
	// Keep, unless "", is a folder for the result files of the steps. Games that
	// it has already are not repeated.
	Keep string
	// Watch, unless nil, is called after each new game of a step.
	Watch func(level int, s *match.Standing, games int)
}

// Run plays the matches, from the lowest level. The error is that of ctx, wraps
// match.ErrTerms if Keep has games of other terms, or says which step failed.
func Run(ctx context.Context, p Plan) (*File, error) {
	f := &File{Game: p.Rules.Game, Rules: p.Rules.Name, Build: engine.Build(), Command: p.Command, Openings: p.Described, Seed: p.Seed}
	var below Diff
	for n := level.Weakest; n <= p.UpTo; n++ {
		step, err := p.step(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("level %d: %w", n, err)
		}
		below = below.plus(step.Above)
		step.Elo = below
		f.Levels = append(f.Levels, *step)
	}
	return f, nil
}

// plus adds independent differences.
func (d Diff) plus(o Diff) Diff {
	return Diff{d.Elo + o.Elo, Number(math.Hypot(float64(d.Error), float64(o.Error)))}
}

// step plays a level against the one below.
func (p *Plan) step(ctx context.Context, n int) (*Step, error) {
	players := map[string]int{}
	var specs []string
	for _, l := range []int{n, n - 1} {
		spec, err := p.spec(l)
		if err != nil {
			return nil, err
		}
		players[spec] = l
		specs = append(specs, spec)
	}
	terms := match.Terms{V: match.FileVersion, ID: match.NewID(), Game: p.Rules.Game, Rules: p.Rules.Name, Players: specs, Kind: match.RoundRobin,
		Openings: p.Described, Seed: p.Seed, PatienceMS: 600_000, Threads: 1, HashMB: 1, Build: engine.Build()}
	games, err := p.games(n)
	if err != nil {
		return nil, err
	}
	plan := match.Plan{Terms: terms, Games: games, Openings: p.Openings, Concurrency: p.Concurrency}
	plan.Backend = &match.Local{Open: func(spec string) (engine.Searcher, error) { return p.open(players[spec]) }}
	if p.Watch != nil {
		plan.Watch = func(s *match.Standing, _ *match.Game) { p.Watch(n, s, games) }
	}
	if p.Keep != "" {
		file, err := match.OpenFile(filepath.Join(p.Keep, fmt.Sprintf("%s-%d.jsonl", p.Rules.Game, n)), &plan.Terms)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		plan.File = file
	}
	s, err := match.Run(ctx, plan)
	if err != nil {
		return nil, err
	}
	return p.measured(n, s)
}

// games returns how many games a step has. Between levels without random choices those from an
// opening that comes up again would be the same.
func (p *Plan) games(n int) (int, error) {
	games := p.Games
	if of := p.GamesOf[n]; of > 0 {
		games = of
	}
	list, listed := p.Openings.(openings.List)
	if !listed || n == level.Weakest {
		return games, nil
	}
	for _, l := range []int{n, n - 1} {
		params, err := level.Of(p.Rules.Game, l)
		if err != nil || params.Random() {
			return games, err
		}
	}
	return min(games, 2*len(list)), nil
}

// spec names a level with all its parameters, so that kept games with other
// parameters are not used.
func (p *Plan) spec(n int) (string, error) {
	if n < level.Weakest {
		return Beginner, nil
	}
	params, err := level.Of(p.Rules.Game, n)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(params)
	return fmt.Sprintf("level %d %s", n, text), err
}

func (p *Plan) open(n int) (engine.Searcher, error) {
	if n < level.Weakest {
		return level.NewBeginner(p.Rules.Game)
	}
	return level.New(p.Rules.Game, n, nil)
}

// measured returns the step for a match.
func (p *Plan) measured(n int, s *match.Standing) (*Step, error) {
	params, err := level.Of(p.Rules.Game, n)
	if err != nil {
		return nil, err
	}
	against := Beginner
	if n > level.Weakest {
		against = fmt.Sprintf("level %d", n-1)
	}
	m, above := &s.Pairings[0], s.Pairings[0].Pairs.Elo()
	return &Step{Level: n, Parameters: params, Against: against, Games: m.Games(), Wins: m.Wins, Draws: m.Draws, Losses: m.Losses,
		Pairs: m.Pairs, Faults: s.Players[0].FaultCount() + s.Players[1].FaultCount(),
		Above: Diff{Number(above.Elo), Number(above.Error)}}, nil
}

// Read reads a calibration. The error says what is wrong with it.
func Read(data []byte) (*File, error) {
	var f File
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("calibration: %w", err)
	}
	for i, s := range f.Levels {
		if s.Level != level.Weakest+i {
			return nil, fmt.Errorf("calibration of %.40q: entry %d is for level %d", f.Game, i+1, s.Level)
		}
	}
	if len(f.Levels) != level.Strongest {
		return nil, fmt.Errorf("calibration of %.40q: %d levels, want %d", f.Game, len(f.Levels), level.Strongest)
	}
	return &f, nil
}

// Write writes the calibration to a file, whole or not at all.
func (f *File) Write(path string) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}
