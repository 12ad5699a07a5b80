package adapter

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sparring/engine/search"
)

// WeightsFile is what an engine reads of a file that "sparring learn" wrote.
type WeightsFile struct {
	Rules string `json:"rules"` // that the weights are for, "" for all of the game's
	ScoreModel
	Weights map[string]int32 `json:"weights"`
}

// ScoreModel says what scores mean: Scale is the score that wins 73 % of the
// points, Outcomes is the model that includes draws.
type ScoreModel struct {
	Scale    float64         `json:"scale"`
	Outcomes search.WDLModel `json:"outcomes"`
}

// ReadWeights parses a weights file for the named rules. The error is for a file
// that is not JSON, has no weights, or is for other rules.
func ReadWeights(data []byte, rules string) (*WeightsFile, error) {
	f := new(WeightsFile)
	if err := json.Unmarshal(data, f); err != nil {
		return nil, err
	}
	if f.Rules != rules {
		return nil, fmt.Errorf("for %.40q rules, want %s", f.Rules, cmp.Or(rules, "none"))
	}
	if len(f.Weights) == 0 {
		return nil, errors.New("no weights")
	}
	return f, nil
}

// Validate reports numbers that no evaluation has.
func (m ScoreModel) Validate() error {
	const most = float64(search.MaxEval)
	if o := m.Outcomes; min(m.Scale, o.Scale) < 1 || o.Edge < 0 || max(m.Scale, o.Scale, o.Edge) > most {
		return fmt.Errorf("scale %g, outcomes %+v: want scales from 1 and an edge from 0, up to %g", m.Scale, o, most)
	}
	return nil
}

// Weight is a number of an evaluation or a policy that learning may change, with its
// name in a weights file.
type Weight struct {
	Name  string
	Value *int32
}

// Parameters are the weights that a fit changes.
type Parameters struct {
	names []string
	start []float64
}

// ParametersOf returns parameters that start from the weights' values.
func ParametersOf(all []Weight) (p Parameters) {
	for _, w := range all {
		p.names = append(p.names, w.Name)
		p.start = append(p.start, float64(*w.Value))
	}
	return p
}

// Names returns the names of the weights, as in a weights file. All slices with a
// number for each weight are in this order.
func (p Parameters) Names() []string { return p.names }

// Start returns the weights from which a fit starts.
func (p Parameters) Start() []float64 { return p.start }

// SetWeights assigns weights by name. The error names the first one, in the order of
// names, that is unknown, or beyond most or -most.
func SetWeights(all []Weight, values map[string]int32, most int32) error {
	known := map[string]*int32{}
	for _, w := range all {
		known[w.Name] = w.Value
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at, v := known[name], values[name]
		if at == nil {
			return fmt.Errorf("no weight %.60q", name)
		}
		if v > most || v < -most {
			return fmt.Errorf("%s is %d: want %d at most, whatever its sign", name, v, most)
		}
		*at = v
	}
	return nil
}
