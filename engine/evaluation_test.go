package engine

import (
	"strings"
	"testing"

	"sparring/engine/search"
	"sparring/game/catalog"
)

// ownEvaluation has the name of a game's own evaluation, if it has one.
var ownEvaluation = map[string]string{"amazons": "learnt"}

// TestEvaluations checks that each named evaluation of each game plays and gives
// scores of its own, unless it is the game's own, and that the error for an unknown name lists the known ones.
func TestEvaluations(t *testing.T) {
	for _, a := range adapters {
		gameName, names := a.Game, a.EvaluationNames()
		scores := map[search.Score]string{}
		for _, name := range append([]string{""}, names...) {
			e, err := New(gameName, Options{HashBytes: 1 << 20, Eval: name})
			if err != nil {
				t.Fatal(err)
			}
			// Not the start: on a nearly empty board evaluations may agree.
			p, err := catalog.Setup(gameName, a.Bench.Rules, a.Bench.Positions[1])
			if err != nil {
				t.Fatal(err)
			}
			g, err := e.NewGame(GameOptions{})
			if err != nil {
				t.Fatal(err)
			}
			run, err := g.Search(p, search.Limits{Depth: 3}, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := run.Wait()
			if r.Err != nil || p.Play(r.Move) != nil {
				t.Errorf("%s, eval=%q: move %#x, %v", gameName, name, uint32(r.Move), r.Err)
			}
			if same, ok := scores[r.Score]; ok && (same != "" || name != ownEvaluation[gameName]) {
				t.Errorf("%s: eval=%q and eval=%q both have score %d", gameName, name, same, r.Score)
			}
			scores[r.Score] = name
			if e.Params().Eval != name || g.Describe().Eval != name {
				t.Errorf("%s, eval=%q: the parameters name %q", gameName, name, e.Params().Eval)
			}
		}
		_, err := New(gameName, Options{HashBytes: 1 << 20, Eval: "luck"})
		if err == nil {
			t.Fatalf("%s: an unknown evaluation is accepted", gameName)
		}
		for _, want := range append(names, gameName, `"luck"`) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %s", gameName, err, want)
			}
		}
	}
}

// TestEvaluationsShareATable checks that a search by one evaluation does not use
// entries that a search by another has stored.
func TestEvaluationsShareATable(t *testing.T) {
	table := search.NewTable(1 << 20)
	p := start(t, "xiangqi")
	own, err := Adapter("xiangqi")
	if err != nil {
		t.Fatal(err)
	}
	var games []*search.Game
	for _, name := range []string{"", "xu2006", "relations"} {
		a, err := own.WithEvaluation(name)
		if err != nil {
			t.Fatal(err)
		}
		pos, err := a.New(p)
		if err != nil {
			t.Fatal(err)
		}
		g := search.New(a.Params(), table).NewGame(search.GameOptions{})
		if found, ok := g.ProbeTable(pos); ok {
			t.Errorf("eval=%q finds what others have stored: %+v", name, found)
		}
		g.Start(pos, search.Limits{Depth: 4}, nil).Wait()
		for _, g := range append(games, g) {
			if _, ok := g.ProbeTable(pos); !ok {
				t.Errorf("after eval=%q: the search's own entry is not found", name)
			}
		}
		games = append(games, g)
	}
}
