package gomoku

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/engine/search/searchtest"
	"sparring/game"
)

// TestEvaluationsConform checks the paper's evaluations against the kernel's contract.
func TestEvaluationsConform(t *testing.T) {
	for _, e := range Adapter().Evaluations {
		t.Run(e.Name, func(t *testing.T) {
			searchtest.Conform(t, searchtest.Subject{
				New: func(g game.Position) (search.Position, error) {
					p, err := New(g)
					if err != nil {
						return nil, err
					}
					return e.Adapt(p), nil
				},
				Params: Params(),
				Starts: []game.Position{
					setUp(t, "gomoku/freestyle-15", "", ""),
					setUp(t, "gomoku/renju-15", middle, ""),
					setUp(t, "gomoku/continuous-15", middle, ""),
				},
				Walks: 3,
				Plies: 30,
				Seed:  6,
			})
		})
	}
}

// TestStyles: K1 weighs the rows of the side to move, K2 the other side's. An attacker
// likes the same own rows better, a defender fears the other's more.
func TestStyles(t *testing.T) {
	k := map[string][2]int32{"wang2011": {9, 8}, "wang2011-attack": {12, 8}, "wang2011-defence": {8, 12}}
	styles := wangEvaluations()
	if len(styles) != len(k) {
		t.Errorf("%d styles, want %v", len(styles), k)
	}
	judged := 0
	tenseWalks(t, "gomoku/freestyle-15", 5, func(_ *rand.Rand, g game.Position, a *position) {
		own, other := &a.field.counts[a.toMove], &a.field.counts[a.toMove.Other()]
		if own[makesFive]+other[makesFive]+own[makesTwo4s] > 0 {
			return // decided, whatever the rows are worth
		}
		judged++
		w := wang2011{position: a}
		for _, e := range styles {
			want := (k[e.Name][0]*w.stones(a.toMove) - k[e.Name][1]*w.stones(a.toMove.Other())) / (8 * share)
			if got := e.Adapt(a).Eval(); got != bounded(search.Score(want)) {
				t.Fatalf("%s: %s is %d, want %d", g, e.Name, got, want)
			}
		}
	})
	if judged < 50 {
		t.Errorf("only %d positions", judged)
	}
}

// TestStylesDiffer: with equal rows an attacker is ahead, a defender behind.
func TestStylesDiffer(t *testing.T) {
	rows := func(row string) string {
		return fmt.Sprintf("15/15/15/%s/15/15/15/15/15/15/15/%s/15/15/15 b", strings.ReplaceAll(row, "x", "o"), row)
	}
	p := adapt(t, setUp(t, "gomoku/freestyle-15", rows("6xx7"), ""))
	sign := map[string]search.Score{}
	for _, e := range Adapter().Evaluations {
		sign[e.Name] = e.Adapt(p).Eval()
	}
	if !(sign["wang2011-attack"] > sign["wang2011"] && sign["wang2011"] > 0 && sign["wang2011-defence"] < 0) {
		t.Errorf("evaluations of equal rows: %v", sign)
	}
}
