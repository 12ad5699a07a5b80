package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sparring/engine/search"
)

// Plan is a run from games to weights.
type Plan struct {
	Game     string   `json:"game"`
	Sampling Sampling `json:"sampling"`
	// Fit are the options of the fit; its Scale may be 0: it is then the scale
	// with which the searches' scores foretell the results best.
	Fit Options `json:"fit"`
}

// Manifest is what a run found, with all that is needed to find it again.
type Manifest struct {
	Plan Plan `json:"plan"` // with the scale that was used
	// Matches are the terms of the matches that the games are from: players,
	// openings, seed and build, for who wants to play them again.
	Matches     []json.RawMessage `json:"matches,omitempty"`
	Build       string            `json:"build"`
	Games       int               `json:"games"`
	GamesDigest string            `json:"games_digest"`
	GamesBuild  string            `json:"games_build"` // of the program that played them
	Positions   int               `json:"positions"`   // those held out included
	Before      Loss              `json:"before"`
	After       Loss              `json:"after"`    // at the whole numbers
	Scale       float64           `json:"scale"`    // at which the new evaluation foretells results best
	Outcomes    search.WDLModel   `json:"outcomes"` // likewise
	// Weights are those that differ from where the fit began.
	Weights map[string]int32 `json:"weights"`
}

// Progress is how far a run is.
type Progress struct {
	Games, OfGames   int // read
	Passes, OfPasses int // of the fit; 0 before
	Loss             Loss
}

// Same compares the outcome of two runs; the error says what differs.
func (m *Manifest) Same(o *Manifest) error {
	if m.GamesDigest != o.GamesDigest {
		return fmt.Errorf("other games: %d with digest %s, and %d with %s", m.Games, m.GamesDigest, o.Games, o.GamesDigest)
	}
	if m.Positions != o.Positions {
		return fmt.Errorf("%d positions, and %d", m.Positions, o.Positions)
	}
	var names []string
	for name := range m.Weights {
		names = append(names, name)
	}
	for name := range o.Weights {
		if _, both := m.Weights[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, in := m.Weights[name]
		b, too := o.Weights[name]
		if a != b || in != too {
			return fmt.Errorf("weight %q is %s, and %s", name, numberOr(a, in), numberOr(b, too))
		}
	}
	return nil
}

func numberOr(v int32, known bool) string {
	if !known {
		return "as before"
	}
	return fmt.Sprint(v)
}

// ReadManifest reads a manifest; the error says what is wrong with it.
func ReadManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.GamesDigest == "" {
		return nil, fmt.Errorf("%s: no manifest of a run: it names no games", path)
	}
	if err := errors.Join(m.Plan.Fit.Validate(), m.Plan.Sampling.Validate()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Write writes the manifest, or leaves what was there.
func (m *Manifest) Write(path string) error { return writeJSON(path, m, "  ") }

// Run samples, fits and judges. Keep is a file in which the fit's state is kept
// now and then, and when ctx ends: the same run goes on from there; "" keeps
// none. Watch may be nil.
func (p Plan) Run(ctx context.Context, m Model, games *Games, keep string, watch func(Progress)) (*Manifest, error) {
	if watch == nil {
		watch = func(Progress) {}
	}
	now := Progress{OfGames: games.Len(), OfPasses: p.Fit.Passes}
	all, err := games.Sample(m, p.Sampling, func(n int) error {
		now.Games = n
		watch(now)
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no quiet positions with a search's score in %d games", games.Len())
	}
	scores, results := make([]float64, len(all)), make([]float64, len(all))
	for i, q := range all {
		scores[i], results[i] = q.Score, q.Result
	}
	if p.Fit.Scale == 0 {
		if p.Fit.Scale, err = FitScale(scores, results); err != nil {
			return nil, err
		}
	}
	start := m.Start()
	before := NewState(len(start)).Errors(all, p.Fit)
	point := &checkpoint{Plan: p, Games: games.Digest()}
	if point.State, err = point.load(keep, len(start)); err != nil {
		return nil, err
	}
	err = Fit(ctx, all, p.Fit, point.State, func(s *State, l Loss) error {
		now.Passes, now.Loss = s.Passes, l
		watch(now)
		if s.Passes%keepEvery == 0 {
			return point.save(keep)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, point.save(keep))
	}
	weights := point.State.Rounded(start)
	worth := At(all, start, weights)
	scale, err := FitScale(worth, results)
	if err != nil {
		return nil, err
	}
	out := &Manifest{
		Plan: p, Games: games.Len(), GamesDigest: games.Digest(), GamesBuild: games.Build, Positions: len(all),
		Before: before, After: at(weights, start).Errors(all, p.Fit),
		Scale: scale, Outcomes: FitWDL(worth, results, scale), Weights: map[string]int32{},
	}
	for i, name := range m.Names() {
		if float64(weights[i]) != start[i] {
			out.Weights[name] = weights[i]
		}
	}
	return out, nil
}

// at is a state at whole weights.
func at(weights []int32, start []float64) *State {
	s := NewState(len(start))
	for i, w := range weights {
		s.Change[i] = float64(w) - start[i]
	}
	return s
}

// keepEvery is after how many passes the state is kept.
const keepEvery = 25

// checkpoint is the state of a run, with what tells it from others.
type checkpoint struct {
	Plan  Plan   `json:"plan"`
	Games string `json:"games_digest"`
	State *State `json:"state"`
}

// load is the state in the file, or a new one where there is no file. The
// error is ErrState, wrapped, when it is another run's.
func (c *checkpoint) load(path string, weights int) (*State, error) {
	fresh := NewState(weights)
	if path == "" {
		return fresh, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return nil, err
	}
	var have checkpoint
	if err := json.Unmarshal(data, &have); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrState, err)
	}
	if have.Plan != c.Plan || have.Games != c.Games || have.State == nil || len(have.State.Change) != weights {
		return nil, fmt.Errorf("%s: %w: other games, options or weights", path, ErrState)
	}
	return have.State, nil
}

func (c *checkpoint) save(path string) error {
	if path == "" {
		return nil
	}
	return writeJSON(path, c, "")
}

// writeJSON replaces the file only by a whole one.
func writeJSON(path string, v any, indent string) error {
	data, err := json.MarshalIndent(v, "", indent)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
