package amazons

import (
	"sparring/engine/adapter"
	"sparring/engine/search"
)

// evaluation is a way to evaluate positions.
type evaluation struct {
	name   string
	stages []stage // weights of formula (1); nil if value is not formula1
	// value is the evaluation from White's side, in hundredths of a square.
	value func(*position) int
}

// learnt is the engine's own, with weights fitted to games. The others are those that
// tables 2 to 4 of the paper compare.
var (
	learnt   = evaluation{"learnt", nil, learntValue}
	staged   = evaluation{"staged", stages, formula1}
	fixed    = evaluation{"fixed", constantWeights, formula1}
	lieberum = evaluation{"lieberum", nil, lieberumValue}
)

// evaluations returns them as the adapter offers them. Those of the paper have one unit, a
// square of territory, so what their scores mean was not fitted to each.
func evaluations() (all []adapter.Evaluation) {
	for _, e := range []*evaluation{&learnt, &staged, &fixed, &lieberum} {
		all = append(all, adapter.Evaluation{
			Name:     e.name,
			WinScale: winScale,
			Adapt: func(p search.Position) search.Position {
				q := p.Clone().(*position)
				q.evaluateBy(e)
				return q
			},
		})
	}
	return all
}
