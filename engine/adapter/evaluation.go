package adapter

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sparring/engine/search"
	"sparring/game"
)

// Evaluation is a named evaluation of a game's positions, to be played with in
// place of the game's own.
type Evaluation struct {
	Name string
	// Adapt replaces the evaluation of a position that Adapter.New made.
	Adapt func(search.Position) search.Position
	// WinScale and WDLModel convert its scores, as in search.Params. A scale of 0 is that of
	// the game's own evaluation.
	WinScale search.Score
	WDLModel search.WDLModel
}

// WithEvaluation returns the adapter with the named evaluation in place of the
// game's own, which is "". The error lists the known names.
func (a Adapter) WithEvaluation(name string) (Adapter, error) {
	if name == "" {
		return a, nil
	}
	i := slices.IndexFunc(a.Evaluations, func(e Evaluation) bool { return e.Name == name })
	if i < 0 {
		return Adapter{}, a.noEvaluation(name)
	}
	e, position, params := a.Evaluations[i], a.New, a.Params
	a.New = func(p game.Position) (search.Position, error) {
		s, err := position(p)
		if err != nil {
			return nil, err
		}
		return e.Adapt(s), nil
	}
	a.Params = func() search.Params {
		p := params()
		p.Eval, p.WinScale, p.WDLModel = e.Name, cmp.Or(e.WinScale, p.WinScale), e.WDLModel
		return p
	}
	return a, nil
}

// EvaluationNames lists the names of Evaluations.
func (a Adapter) EvaluationNames() (names []string) {
	for _, e := range a.Evaluations {
		names = append(names, e.Name)
	}
	return names
}

func (a Adapter) noEvaluation(name string) error {
	if len(a.Evaluations) == 0 {
		return fmt.Errorf("no evaluation %.40q: %s has only its own", name, a.Game)
	}
	return fmt.Errorf("no evaluation %.40q of %s (have %s)", name, a.Game, strings.Join(a.EvaluationNames(), ", "))
}
