package openings

import (
	"context"
	"errors"
	"fmt"
	"math"

	"sparring/engine"
	"sparring/engine/opening"
	"sparring/engine/search"
	"sparring/game"
)

// Evaluation is what an engine says of a position, for the side to move.
type Evaluation struct {
	Chance float64      `json:"chance"` // winning chance, draws counted half
	Score  search.Score `json:"score"`  // in our engine's unit for the game
	Depth  int          `json:"depth,omitempty"`
	Nodes  uint64       `json:"nodes,omitempty"`
}

// Even reports whether the winning chance is within bound of one half.
func (e Evaluation) Even(bound float64) bool { return math.Abs(e.Chance-0.5) <= bound }

// ErrNoScore is returned by Evaluate if the engine moves without saying what it
// thinks of the position. Such an engine can't judge openings.
var ErrNoScore = errors.New("the engine gave no score")

// Evaluate asks an engine for its evaluation of a position, within limits. The
// game must be a reproducible one, so that the evaluation depends on the position
// alone. The error is that of the engine or of ctx, or ErrNoScore.
func Evaluate(ctx context.Context, g engine.Game, p game.Position, l search.Limits) (Evaluation, error) {
	scored := false
	run, err := g.Search(p, l, func(search.Info) { scored = true })
	if err != nil {
		return Evaluation{}, err
	}
	defer context.AfterFunc(ctx, run.Stop)()
	r := run.Wait()
	switch {
	case ctx.Err() != nil:
		return Evaluation{}, context.Cause(ctx)
	case r.Err != nil:
		return Evaluation{}, r.Err
	case r.Source == search.FromExternal && !scored:
		return Evaluation{}, ErrNoScore
	}
	return Evaluation{Chance: r.WinProb, Score: r.Score, Depth: r.Depth, Nodes: r.Nodes}, nil
}

// Panel judges openings by several engines.
type Panel struct {
	Rules   []*game.Rules // every opening is judged under each
	Engines []Engine      // asked in this order
	Limits  search.Limits // of each evaluation
	Bound   float64       // largest distance of a winning chance from one half
	File    *VerdictFile  // keeps the verdicts; nil: none
}

// Engine is an engine of a panel.
type Engine struct {
	Spec string // in verdicts
	Game engine.Game
}

// Verdict is an engine's evaluation of an opening under a rule set.
type Verdict struct {
	Opening string `json:"opening"` // a line of a file
	Rules   string `json:"rules"`
	Engine  string `json:"engine"`
	Evaluation
}

// about is what a verdict is about.
type about struct{ opening, rules, engine string }

func (v *Verdict) about() about { return about{v.Opening, v.Rules, v.Engine} }

// evaluate asks an engine, again if it gave no score: on a busy machine a short time can
// be over before the first one.
func (p *Panel) evaluate(ctx context.Context, e Engine, pos game.Position) (Evaluation, error) {
	const attempts = 3
	for n := 1; ; n++ {
		v, err := Evaluate(ctx, e.Game, pos, p.Limits)
		if !errors.Is(err, ErrNoScore) || n == attempts {
			return v, err
		}
	}
}

// ErrInProcedure is the error for moves that end within an opening procedure: whose the
// position is, nobody has chosen yet.
var ErrInProcedure = errors.New("its opening procedure is not over after these moves, so that no position can be judged")

// Judge asks the engines in turn, under each rule set, until one does not consider
// the opening even. The verdicts are those up to that one; even reports that there
// was none. Verdicts in the panel's file are not asked for again. The error names the
// engine and the position.
func (p *Panel) Judge(ctx context.Context, o Opening) (verdicts []Verdict, even bool, err error) {
	for _, e := range p.Engines {
		for _, r := range p.Rules {
			v := Verdict{Opening: o.String(), Rules: r.Name, Engine: e.Spec}
			known := false
			if v.Evaluation, known = p.File.find(v.about()); !known {
				pos, err := o.Setup(r)
				if err != nil {
					return nil, false, fmt.Errorf("%s: %s: %w", r.Name, o, err)
				}
				if opening.Running(pos) {
					return nil, false, fmt.Errorf("%s: %s: %w", r.Name, o, ErrInProcedure)
				}
				if v.Evaluation, err = p.evaluate(ctx, e, pos); err != nil {
					return nil, false, fmt.Errorf("%s: %s under %s: %w", e.Spec, o, r.Name, err)
				}
				if err := p.File.append(&v); err != nil {
					return nil, false, err
				}
			}
			verdicts = append(verdicts, v)
			if !v.Even(p.Bound) {
				return verdicts, false, nil
			}
		}
	}
	return verdicts, true, nil
}
