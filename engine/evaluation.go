package engine

import (
	"fmt"
	"slices"
	"strings"

	"sparring/engine/search"
	"sparring/game"
)

// Evaluations lists the names of the evaluations that a game has besides its
// own, for Options.Eval. The error is that of [New].
func Evaluations(gameName string) (names []string, err error) {
	a, ok := adapters[gameName]
	if !ok {
		return nil, noEngine(gameName)
	}
	for _, e := range a.evaluations {
		names = append(names, e.Name)
	}
	return names, nil
}

// withEvaluation is the adapter with the evaluation of that name; "" is the
// game's own.
func (a adapter) withEvaluation(gameName, name string) (adapter, error) {
	if name == "" {
		return a, nil
	}
	i := slices.IndexFunc(a.evaluations, func(e search.Evaluation) bool { return e.Name == name })
	if i < 0 {
		return a, noEvaluation(gameName, name)
	}
	e, position, params := a.evaluations[i], a.position, a.params
	a.position = func(p game.Position) (search.Position, error) {
		s, err := position(p)
		if err != nil {
			return nil, err
		}
		return e.Adapt(s), nil
	}
	a.params = func() search.Params {
		p := params()
		p.Eval, p.WinScale, p.Outcomes = e.Name, e.WinScale, e.Outcomes
		return p
	}
	return a, nil
}

func noEvaluation(gameName, name string) error {
	names, _ := Evaluations(gameName) // the game is known
	if len(names) == 0 {
		return fmt.Errorf("no evaluation %.40q: %s has only its own", name, gameName)
	}
	return fmt.Errorf("no evaluation %.40q of %s (have %s)", name, gameName, strings.Join(names, ", "))
}
