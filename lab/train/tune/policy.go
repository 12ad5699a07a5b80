package tune

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"sparring/lab/train/trees"
)

// PolicyUnit is the value of a weight of one natural logarithm in a manifest.
const PolicyUnit = 1024

// PolicyPlan configures the fit of a policy.
type PolicyPlan struct {
	Game     string        `json:"game"`
	Rules    string        `json:"rules,omitempty"` // as in Plan
	From     string        `json:"from,omitempty"`  // as in Plan
	Sampling Sampling      `json:"sampling"`
	Fit      PolicyOptions `json:"fit"`
}

// PolicyManifest is the outcome of a fit, with everything needed to reproduce it.
type PolicyManifest struct {
	Rules       string            `json:"rules,omitempty"` // as in the plan
	Plan        PolicyPlan        `json:"plan"`
	Matches     []json.RawMessage `json:"matches,omitempty"` // as in Manifest
	Build       string            `json:"build"`
	Games       int               `json:"games"`
	GamesDigest string            `json:"games_digest"`
	GamesBuild  string            `json:"games_build"`
	Trees       []trees.Terms     `json:"trees,omitempty"` // as in Manifest
	TreesDigest string            `json:"trees_digest,omitempty"`
	Positions   int               `json:"positions"` // including validation positions
	// Before is that of the weights from which the fit started, on what was held out.
	Before *Accuracy `json:"before,omitempty"`
	Learnt Accuracy  `json:"learnt"`
	Held   Accuracy  `json:"held"` // on the games and trees left out
	// Weights holds the weights that are not 0, in 1024ths of a natural logarithm.
	Weights map[string]int32 `json:"weights"`
}

// Run samples positions, fits the weights to these and to positions of trees, and measures
// the result. Watch may be nil.
func (p PolicyPlan) Run(ctx context.Context, policy Policy, games *Games, trees *TreeChoices, watch func(Progress)) (*PolicyManifest, error) {
	if watch == nil {
		watch = func(Progress) {}
	}
	now := Progress{OfGames: games.Len(), OfPasses: p.Fit.Passes}
	all, err := games.Choices(policy, p.Sampling, now.reading(ctx, watch))
	if err != nil {
		return nil, err
	}
	all = append(all, trees.choices...)
	if len(all) == 0 {
		return nil, fmt.Errorf("no moves chosen by a search in %d games and %d files of trees", games.Len(), len(trees.Inputs))
	}
	var before *Accuracy
	if p.From != "" {
		a := Measure(policy, all, startOf(policy), true)
		before = &a
	}
	weights, err := FitPolicy(ctx, policy, all, p.Fit, func(pass int, loss float64) error {
		now.Passes, now.Loss.Learnt = pass, loss
		watch(now)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &PolicyManifest{Rules: p.Rules, Plan: p, Games: games.Len(), GamesDigest: games.Digest(), GamesBuild: games.Build,
		Trees: trees.Inputs, TreesDigest: trees.Digest, Positions: len(all), Before: before, Weights: map[string]int32{}}
	for i, name := range policy.Names() {
		if w := int32(math.Round(weights[i] * PolicyUnit)); w != 0 {
			out.Weights[name] = w
		}
		weights[i] = math.Round(weights[i]*PolicyUnit) / PolicyUnit
	}
	out.Learnt, out.Held = Measure(policy, all, weights, false), Measure(policy, all, weights, true)
	return out, nil
}

// Write replaces the file atomically.
func (m *PolicyManifest) Write(path string) error { return writeJSON(path, m, "  ") }
