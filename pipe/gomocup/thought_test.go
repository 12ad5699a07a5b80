package gomocup_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"sparring/pipe/gomocup"
)

// TestThoughts reads messages in the forms of several engines.
func TestThoughts(t *testing.T) {
	chance := func(p float64) *float64 { return &p }
	for text, want := range map[string]gomocup.Thought{
		"Depth 17-36 | Eval -248 | Time 974ms | H8 G7":                  {Depth: 17, SelDepth: 36, Score: -248},
		"Speed 532K | Depth 17-36 | Eval -248 | Node 518K | Time 974ms": {Depth: 17, SelDepth: 36, Score: -248, Nodes: 518000},
		"Depth 9-21 | Eval +M13 | Time 4ms | H8":                        {Depth: 9, SelDepth: 21, Mate: true, Won: true, Plies: 13},
		"Depth 9-21 | Eval -M8 | Time 4ms | H8":                         {Depth: 9, SelDepth: 21, Mate: true, Plies: 8},
		"depth 12-20 multipv 2 ev 31 n 1.5M n/ms 532 tm 80 pv h8 ev 7":  {Depth: 12, SelDepth: 20, Line: 2, Score: 31, Nodes: 1500000},
		"depth: 9-14 best:[7,8] val=35 time:80ms":                       {Depth: 9, SelDepth: 14, Score: 35},
		"REALTIME VAL -35":   {Score: -35},
		"EVAL:12 DEPTH:4":    {Score: 12, Depth: 4},
		"depth=7, eval = -5": {Depth: 7, Score: -5},
		"eval : 7 depth : 3": {Score: 7, Depth: 3},
		"depth 8-20 score 41 chance 56.8% nodes 900 time 3 pv h8 score 7": {Depth: 8, SelDepth: 20, Score: 41, Chance: chance(0.568), Nodes: 900},
		"depth 8-20 score win in 5 chance 100% nodes 900":                 {Depth: 8, SelDepth: 20, Mate: true, Won: true, Plies: 5, Chance: chance(1), Nodes: 900},
		"depth 8-20 score loss in 0 chance 0% nodes 900":                  {Depth: 8, SelDepth: 20, Mate: true, Chance: chance(0), Nodes: 900},
		"eval 9999999999":                    {Score: math.MaxInt32},
		"value 7 eval x":                     {Score: 7},
		"ev 1 depth many n many chance 300%": {Score: 1},
	} {
		if got, ok := gomocup.ParseThought(text); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v %t, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "eval", "eval:", "eval = ", "evaluation 5", "I win !", "depth 5", "eval +M", "eval -M-3", "score win in",
		"score win", "score win at 5", "eval 0.5", "OptiTime 727ms | MaxTime 970ms", "pv eval 5", "eval :", "|", ":", "eval ::", strings.Repeat(":", 5000)} {
		if got, ok := gomocup.ParseThought(text); ok {
			t.Errorf("%q: %+v, want no score", text, got)
		}
	}
}
