package openings

import (
	"math"
	"strings"
	"testing"

	"sparring/game"
	"sparring/game/catalog"
	"sparring/record"
)

// gameOf returns a finished game.
func gameOf(rules string, result game.Result, moves string) *record.Record {
	r := &record.Record{ID: "g", Game: "gomoku", Rules: rules, Result: result}
	for m := range strings.FieldsSeq(moves) {
		r.Plies = append(r.Plies, record.Ply{Move: m})
	}
	return r
}

// TestResultsOfPositions: games count for an opening that is a position, whether they began
// with it or came to it.
func TestResultsOfPositions(t *testing.T) {
	const rules = "gomoku/freestyle-15"
	r, err := catalog.Rules(rules)
	if err != nil {
		t.Fatal(err)
	}
	after := func(moves string) string {
		p, err := game.Replay(r, "", strings.Fields(moves))
		if err != nil {
			t.Fatal(err)
		}
		return p.String()
	}
	set, err := Read(strings.NewReader("rules "+rules+"\n"+after("h8 h9")+"\n"+after("h8 h9 g7 g9")+"\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	results, err := NewResults(set)
	if err != nil {
		t.Fatal(err)
	}
	began := gameOf(rules, game.SecondWins, "g7 g9 a1")
	began.Position = after("h8 h9")
	for _, g := range []*record.Record{gameOf(rules, game.FirstWins, "h8 h9 a1 a2"), began, gameOf(rules, game.Draw, "g7 g9 h8 h9")} {
		if counted, err := results.Add(g); !counted || err != nil {
			t.Errorf("%q %v: %v, %v", g.Position, g.Plies, counted, err)
		}
	}
	if counted, err := results.Add(gameOf(rules, game.FirstWins, "a1 a2 a3 a4")); counted || err != nil {
		t.Errorf("a game that began otherwise: %v, %v", counted, err)
	}
	if got := results.Tallies; got[0] != (Tally{1, 0, 1}) || got[1] != (Tally{0, 1, 0}) {
		t.Errorf("%v", got)
	}
}

// TestResults: games count for the opening that they reached, by any order of moves, each
// course of moves once.
func TestResults(t *testing.T) {
	set, err := Read(strings.NewReader("rules gomoku/freestyle-15\nmoves h8 h9\nmoves h8 h9 g7 g9\nmoves a1 b1 c1\n"), "x")
	if err != nil {
		t.Fatal(err)
	}
	results, err := NewResults(set)
	if err != nil {
		t.Fatal(err)
	}
	const rules = "gomoku/freestyle-15"
	for _, c := range []struct {
		game *record.Record
		want bool
	}{
		{gameOf(rules, game.FirstWins, "h8 h9 a1"), true},
		{gameOf(rules, game.FirstWins, "h8 h9 a1"), false}, // again
		{gameOf(rules, game.SecondWins, "h8 h9 a2"), true},
		{gameOf(rules, game.Draw, "h8 h9"), true},
		{gameOf(rules, game.SecondWins, "g7 g9 h8 h9 j1"), true}, // the second, by transposition
		{gameOf(rules, game.Undecided, "a1 b1 c1"), false},
		{gameOf(rules, game.FirstWins, "a1 b1"), false},                      // shorter than the third
		{gameOf(rules, game.FirstWins, "a1 d1 c1 e1 f1 b1"), false},          // never there
		{gameOf("gomoku/standard-15", game.FirstWins, "h8 h9 a1 a2"), false}, // other rules
	} {
		if counted, err := results.Add(c.game); counted != c.want || err != nil {
			t.Errorf("%s %v: %v, %v", c.game.Rules, c.game.Plies, counted, err)
		}
	}
	if got, want := results.Tallies, []Tally{{1, 1, 1}, {0, 0, 1}, {}}; got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
	if results.Others != 4 || results.Repeated != 1 {
		t.Errorf("%d others and %d repeated", results.Others, results.Repeated)
	}
	if _, err := results.Add(gameOf(rules, game.Draw, "h8 h8 a1")); err == nil || !strings.Contains(err.Error(), "game g: ply 2") {
		t.Errorf("an impossible move: %v", err)
	}
	if s := results.Tallies[2].Share(); !math.IsNaN(s) {
		t.Errorf("no games have a share of %v", s)
	}
	if a, b := (Tally{2, 1, 1}), (Tally{4, 0, 4}); a.Share() != 0.625 || b.Compare(a) >= 0 || (Tally{1, 0, 1}).Compare(b) <= 0 {
		t.Error("not the most even tally with the most games is first")
	}
}
