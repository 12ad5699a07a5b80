package main

import (
	"regexp"
	"strings"
	"testing"

	"sparring/lab/study/weakness"
	"sparring/record"
)

// TestNotTestedByOwnScores: groups of moves that only the players' own scores judge have no
// verdict, and the command says so and what to do.
func TestNotTestedByOwnScores(t *testing.T) {
	moves := weakness.Group{By: weakness.Phase, Name: "late", Games: 9, Moves: 99, Factor: 1.5, Low: 1.2, High: 1.9, P: 1}
	tested := moves
	tested.Tested, tested.P, tested.Weak = true, 0.01, true
	for _, c := range []struct {
		own   bool
		score float64
		group weakness.Group
		has   []string
		not   string
	}{
		{true, 0.5, moves, []string{"x1.50 (1.20 to 1.90)  not tested", "No group was tested.", "Groups of moves are not tested: by its own scores", "Give --analyse"}, "Weak"},
		{false, 0.5, tested, []string{"x1.50 (1.20 to 1.90)  0.010  weak", "Weak: 1 group of 1."}, "not certain"},
		{false, 0.3, tested, []string{"Weak: 1 group of 1.", "This is not certain: the player is the weaker one"}, "not tested"},
	} {
		var out strings.Builder
		f := weaknessFlags{player: "x"}
		if err := f.print(&out, &weakness.Result{Games: 20, Judged: 198, Score: c.score, Own: c.own, Groups: []weakness.Group{c.group}}); err != nil {
			t.Fatal(err)
		}
		for _, text := range c.has {
			if !strings.Contains(out.String(), text) {
				t.Errorf("want %q in\n%s", text, out.String())
			}
		}
		if strings.Contains(out.String(), c.not) {
			t.Errorf("don't want %q in\n%s", c.not, out.String())
		}
	}
}

// TestNoneJudged: only of records without a search it helps to give one.
func TestNoneJudged(t *testing.T) {
	for analyse, want := range map[string]string{"": "none judged: the records have no scores; give --analyse", "nodes=100": "none judged\n"} {
		var out strings.Builder
		f := weaknessFlags{player: "x", analyse: analyse}
		if err := f.print(&out, &weakness.Result{Games: 9}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("--analyse %q: %v, want %q in\n%s", analyse, err, want, out.String())
		}
	}
}

// TestFaultsInTheTable: how games are lost is told before the table and in it, and a fault
// is listed among the moves although there is none. Own scores need no warning there.
func TestFaultsInTheTable(t *testing.T) {
	g := &weakness.Game{Record: &record.Record{ID: "g1", Game: "gomoku", Rules: "gomoku/freestyle-15", Plies: []record.Ply{{Move: "h8"}, {Move: "h9"}}}}
	r := &weakness.Result{
		Games: 20, Judged: 40, Faults: []weakness.FaultCount{{Name: "crash", Lost: 9, Theirs: 1}},
		Groups: []weakness.Group{{By: weakness.Fault, Name: "crash", Games: 10, Moves: 9, Lost: 0.2, Theirs: 0.01, Excess: 0.19, Error: 0.1, Tested: true, P: 0.01, Weak: true}},
		Moves:  []weakness.Move{{Game: g, Ply: 3, Lost: 0.5, Groups: []string{"lost by crash"}, Weak: true}},
	}
	f := weaknessFlags{player: "x", most: 5}
	var out strings.Builder
	if err := f.print(&out, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`lost by   crash: 9 games, the opponents 1\n`, `lost by +crash +10 +9 +20\.00 % +1\.00 % +\+19\.0 ± 10\.0 %`, `g1 +3 +none +50 % +lost by crash +weak`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "players' own scores") {
		t.Errorf("a warning of own scores:\n%s", out.String())
	}
	out.Reset()
	if err := f.printJSON(&out, r); err != nil || !strings.Contains(out.String(), `"ply":3,"lost":0.5`) || !strings.Contains(out.String(), `"faults":[{"name":"crash","lost":9,"theirs":1}]`) {
		t.Errorf("%v\n%s", err, out.String())
	}
}
