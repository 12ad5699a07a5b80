package main

import (
	"regexp"
	"strings"
	"testing"

	"sparring/lab/study/weakness"
	"sparring/record"
)

// TestWeakByOwnScores: what only the players' own scores say of moves is to be tested, and
// the result says so.
func TestWeakByOwnScores(t *testing.T) {
	games := weakness.Group{By: weakness.Length, Name: "long", Games: 9, Weak: true}
	moves := weakness.Group{By: weakness.Phase, Name: "late", Games: 9, Moves: 99, Weak: true}
	chance := weakness.Group{By: weakness.Phase, Name: "early", Games: 9, Moves: 99}
	for _, c := range []struct {
		analyse string
		groups  []weakness.Group
		said    bool
	}{
		{"", []weakness.Group{moves, chance}, true},
		{"nodes=100", []weakness.Group{moves, chance}, false},
		{"", []weakness.Group{games, chance}, false},
	} {
		var out strings.Builder
		f := weaknessFlags{player: "x", analyse: c.analyse}
		if err := f.print(&out, &weakness.Result{Games: 20, Judged: 198, Groups: c.groups}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(out.String(), "players' own scores say so"); said != c.said || !strings.Contains(out.String(), "Weak: 1 group of 2.") {
			t.Errorf("%+v:\n%s", c, out.String())
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
		Groups: []weakness.Group{{By: weakness.Fault, Name: "crash", Games: 10, Moves: 9, Lost: 0.2, Theirs: 0.01, Excess: 0.19, Error: 0.1, Weak: true}},
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
