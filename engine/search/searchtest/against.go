package searchtest

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"sparring/engine/search"
)

// Exact names the switches that do not change the value of a fixed-depth search.
// HashCutoff is one only if a position always occurs at the same ply and
// quiescence is unlimited: otherwise the table may have a deeper value.
var Exact = []string{"IterativeDeepening", "FailSoft", "Aspiration", "PVS", "SEEOrder", "HashMove", "HashCutoff", "Killers", "CounterMoves", "History",
	"ContinuationHistory", "NoisyHistory", "MateDistance"}

// All names every switch.
func All() []string { return search.SwitchNames() }

// Without returns Exact without some switches.
func Without(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(Exact), func(n string) bool { return slices.Contains(names, n) })
}

// With returns the parameters with only the named switches on.
func With(params search.Params, names ...string) search.Params {
	params.On = search.Switches{}
	v := reflect.ValueOf(&params.On).Elem()
	for _, n := range names {
		v.FieldByName(n).SetBool(true)
	}
	return params
}

// Find runs one search to its end, on a new kernel.
func Find(p search.Position, params search.Params, limits search.Limits) search.Result {
	return search.New(params, search.NewTable(1<<16)).NewGame(search.GameOptions{}).Start(p, limits, nil).Wait()
}

// Against compares the kernel with Minimax at depths up to deepest, with the named
// switches in many combinations: none, all, each alone, all but each, and some
// at random. The score must be that of minimax, the move one of its best.
func Against(t *testing.T, p search.Position, params search.Params, deepest int, switches []string) {
	t.Helper()
	params.ProveRoot, params.ProveLeaf, params.ProveNode = 0, 0, 0
	for depth := 1; depth <= deepest; depth++ {
		want := Minimax(p, params, depth)
		best := BestMoves(p, params, depth)
		for _, on := range combinations(switches) {
			got := Find(p, With(params, on...), search.Limits{Depth: depth})
			if got.Score != want || !slices.Contains(best, got.Move) {
				t.Fatalf("depth %d, %v: move %#x, score %d; minimax finds one of %#x, score %d", depth, on, got.Move, got.Score, best, want)
			}
		}
	}
}

func combinations(names []string) [][]string {
	list := [][]string{nil, names}
	for i, n := range names {
		list = append(list, []string{n}, slices.Delete(slices.Clone(names), i, i+1))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		var some []string
		for _, n := range names {
			if rng.IntN(2) == 0 {
				some = append(some, n)
			}
		}
		list = append(list, some)
	}
	return list
}
