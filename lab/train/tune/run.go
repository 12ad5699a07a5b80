package tune

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"sparring/engine/adapter"
	"sparring/engine/search"
	"sparring/internal/atomicfile"
	"sparring/lab/train/trees"
)

// Plan configures a tuning run.
type Plan struct {
	Game string `json:"game"`
	// Rules is the class of rules that the weights are for, in games that have
	// several.
	Rules    string   `json:"rules,omitempty"`
	Sampling Sampling `json:"sampling"`
	// From is the digest of the weights file whose weights are the initial ones,
	// "" if they are the game's.
	From string `json:"from,omitempty"`
	// Fit holds the options of the fit. If its Scale is 0, the run uses the
	// scale with which the recorded scores best predict the results.
	Fit Options `json:"fit"`
}

// Manifest is the outcome of a run, with everything needed to reproduce it.
type Manifest struct {
	Rules string `json:"rules,omitempty"` // as in the plan
	Plan  Plan   `json:"plan"`            // with the scale that was used
	// Matches holds the settings of the matches that produced the games:
	// players, openings, seed and build, so that they can be played again.
	Matches     []json.RawMessage `json:"matches,omitempty"`
	Build       string            `json:"build"`
	Games       int               `json:"games"`
	GamesDigest string            `json:"games_digest"`
	GamesBuild  string            `json:"games_build"`     // of the program that played them
	Trees       []trees.Terms     `json:"trees,omitempty"` // files of labelled trees, besides the games
	TreesDigest string            `json:"trees_digest,omitempty"`
	Positions   int               `json:"positions"` // including validation positions
	Before      Loss              `json:"before"`
	After       Loss              `json:"after"`    // with the rounded weights
	Scale       float64           `json:"scale"`    // with which the new evaluation best predicts results
	Outcomes    search.WDLModel   `json:"outcomes"` // of the new evaluation
	// Weights holds the weights that differ from their initial values, or with
	// Plan.From those that are not 0.
	Weights map[string]int32 `json:"weights"`
}

// Progress reports how far a run has come.
type Progress struct {
	Games, OfGames   int // games read
	Passes, OfPasses int // passes of the fit; 0 before it starts
	Loss             Loss
}

// reading returns a function that is called after each game is read: it reports how
// many, until ctx ends.
func (p *Progress) reading(ctx context.Context, watch func(Progress)) func(games int) error {
	return func(games int) error {
		p.Games = games
		watch(*p)
		return ctx.Err()
	}
}

// Same compares the outcome of two runs. The error names the first difference.
func (m *Manifest) Same(o *Manifest) error {
	if m.GamesDigest != o.GamesDigest {
		return fmt.Errorf("different games: %d with digest %s, now %d with digest %s", m.Games, m.GamesDigest, o.Games, o.GamesDigest)
	}
	if m.TreesDigest != o.TreesDigest {
		return fmt.Errorf("different trees: digest %q, now %q", m.TreesDigest, o.TreesDigest)
	}
	if m.Positions != o.Positions {
		return fmt.Errorf("%d positions, now %d", m.Positions, o.Positions)
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
			return fmt.Errorf("weight %q is %s, now %s", name, numberOr(a, in), numberOr(b, too))
		}
	}
	return nil
}

func numberOr(v int32, known bool) string {
	if !known {
		return "unchanged"
	}
	return fmt.Sprint(v)
}

// ReadManifest reads and checks a manifest.
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
		return nil, fmt.Errorf("%s: not a tuning manifest: it has no games_digest", path)
	}
	if err := errors.Join(m.Plan.Fit.Validate(), m.Plan.Sampling.Validate()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Write replaces the file atomically.
func (m *Manifest) Write(path string) error { return writeJSON(path, m, "  ") }

// Run samples positions, fits the weights to these and to positions of trees, and measures
// the result. What scores mean is found by the games alone. It saves the state of the fit
// to the file keep periodically and when ctx ends, and resumes from it; "" disables this.
// Watch may be nil.
func (p Plan) Run(ctx context.Context, m Model, games *Games, trees *Trees, keep string, watch func(Progress)) (*Manifest, error) {
	if watch == nil {
		watch = func(Progress) {}
	}
	now := Progress{OfGames: games.Len(), OfPasses: p.Fit.Passes}
	all, err := games.Sample(m, p.Sampling, now.reading(ctx, watch))
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
	inGames := len(all)
	all = append(all, trees.positions...)
	start := m.Start()
	before := NewState(len(start)).Errors(all, p.Fit)
	point := &checkpoint{Plan: p, Games: games.Digest(), Trees: trees.Digest}
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
	worth := At(all[:inGames], start, weights)
	after := at(weights, start).Errors(all, p.Fit)
	scale, err := FitScale(worth, results)
	var means adapter.ScoreModel
	if err == nil {
		means = adapter.ScoreModel{Scale: scale, Outcomes: FitWDL(worth, results, scale)}
		err = means.Validate() // else no engine would read it
	}
	switch {
	case err != nil && after.Learnt > before.Learnt:
		return nil, fmt.Errorf("the fit has diverged: its error was %.6f before and is %.6f after; try a lower rate, or more games", before.Learnt, after.Learnt)
	case err != nil:
		return nil, err
	}
	out := &Manifest{
		Rules: p.Rules, Plan: p, Games: games.Len(), GamesDigest: games.Digest(), GamesBuild: games.Build,
		Trees: trees.Inputs, TreesDigest: trees.Digest, Positions: len(all),
		Before: before, After: after, Scale: scale, Outcomes: means.Outcomes, Weights: map[string]int32{},
	}
	for i, name := range m.Names() {
		// Weights of 0 need not be named where nothing else is initial.
		if p.From == "" && float64(weights[i]) != start[i] || p.From != "" && weights[i] != 0 {
			out.Weights[name] = weights[i]
		}
	}
	return out, nil
}

// at returns the state with the given integer weights.
func at(weights []int32, start []float64) *State {
	s := NewState(len(start))
	for i, w := range weights {
		s.Change[i] = float64(w) - start[i]
	}
	return s
}

// keepEvery is the number of passes between checkpoints.
const keepEvery = 25

// checkpoint is the saved state of a run, with what identifies the run.
type checkpoint struct {
	Plan  Plan   `json:"plan"`
	Games string `json:"games_digest"`
	Trees string `json:"trees_digest,omitempty"`
	State *State `json:"state"`
}

// load returns the state in the file, or a new one if there is no file. It
// returns an error that wraps ErrState if the file belongs to another run.
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
	if have.Plan != c.Plan || have.Games != c.Games || have.Trees != c.Trees || have.State == nil || len(have.State.Change) != weights {
		return nil, fmt.Errorf("%s: %w: different games, trees, options or weights", path, ErrState)
	}
	return have.State, nil
}

func (c *checkpoint) save(path string) error {
	if path == "" {
		return nil
	}
	return writeJSON(path, c, "")
}

// writeJSON replaces the file atomically.
func writeJSON(path string, v any, indent string) error {
	data, err := json.MarshalIndent(v, "", indent)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}
