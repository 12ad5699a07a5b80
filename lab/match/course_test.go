package match

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"sparring/game"
	"sparring/internal/chart"
	"sparring/lab/match/elo"
)

// standingOf returns the standing of a match of two players whose pairs end with
// these half points of the first one; each pair's second game ends after the first
// of the next pair, as in a match of parallel games.
func standingOf(t *testing.T, halves ...int) *Standing {
	t.Helper()
	s := NewStanding(&Terms{Players: []string{"a", "b"}, Kind: RoundRobin})
	add := func(pair, leg, halves int) {
		g := &Game{Match: GameInfo{Pair: pair, Leg: leg, Players: [2]int{leg - 1, 2 - leg}}}
		seat := game.Seat(leg - 1)
		g.Result = [3]game.Result{game.WonBy(seat.Other()), game.Draw, game.WonBy(seat)}[halves]
		if err := s.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	for i, h := range halves {
		add(i+1, 1, (h+1)/2)
		if i > 0 {
			add(i, 2, halves[i-1]/2)
		}
	}
	add(len(halves), 2, halves[len(halves)-1]/2)
	return s
}

// TestCourse: the readings are those that the standing had after each pair.
func TestCourse(t *testing.T) {
	s := standingOf(t, 4, 2, 3, 0, 4, 1)
	all := s.course()
	if len(all) != 5 || all[0].games != 5 || all[0].pairs != (elo.Pairs{0, 0, 1, 0, 1}) || all[4].games != 12 || all[4].pairs != s.Pairings[0].Pairs {
		t.Fatalf("%+v; the standing has %v", all, s.Pairings[0].Pairs)
	}
	test := &elo.SPRT{Elo0: 0, Elo1: 50, Alpha: 0.05, Beta: 0.05}
	var svg, without bytes.Buffer
	if err := s.Draw(&svg, chart.SVG, test); err != nil {
		t.Fatal(err)
	}
	if err := s.Draw(&without, chart.SVG, nil); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a against b: 5-4-3, Elo ", ">score of a, %<", ">LLR<", ">-2.94<", ">2.94<"} {
		if !strings.Contains(svg.String(), text) {
			t.Errorf("no %s in the drawing", text)
		}
	}
	if strings.Contains(without.String(), "LLR") {
		t.Error("a test is drawn that there was not")
	}
	for _, few := range []*Standing{NewStanding(s.Terms), standingOf(t, 2), standingOf(t, 4, 4)} {
		var out bytes.Buffer
		if err := few.Draw(&out, chart.SVG, test); err != nil || strings.Contains(out.String(), "NaN") {
			t.Errorf("%d games: %v", few.Games, err)
		}
	}
}

// TestThinned: of a long match the last reading is kept, and no more than can be seen.
func TestThinned(t *testing.T) {
	all := make([]reading, 123456)
	for i := range all {
		all[i].games = i
	}
	some := thinned(all)
	if n := len(some); n > maxReadings+1 || n < maxReadings/2 || some[0].games != 0 || some[n-1].games != len(all)-1 {
		t.Errorf("%d readings, %d to %d", n, some[0].games, some[n-1].games)
	}
	if got := thinned(all[:10]); len(got) != 10 {
		t.Errorf("%d readings of 10", len(got))
	}
}

// TestScaleOfPlayers: the best player is at the top, with the ends of its interval.
func TestScaleOfPlayers(t *testing.T) {
	s := NewStanding(&Terms{Players: []string{"a", "b", "c"}, Kind: RoundRobin})
	for i, result := range []game.Result{game.SecondWins, game.FirstWins, game.Draw, game.Draw} {
		g := &Game{Match: GameInfo{Pair: 1 + i/2, Leg: 1 + i%2, Players: [2]int{i % 2, 1 - i%2}}}
		g.Result = result
		if err := s.Add(g); err != nil {
			t.Fatal(err)
		}
	}
	if best := s.Players[s.Ranking()[0]]; best.Name != "b" || math.IsInf(best.Pairs.Elo().Elo, 0) {
		t.Fatalf("%+v", best)
	}
	if p := s.scale(); p.Y.Max < 2 || p.X.Max <= 0 {
		t.Errorf("%g, %g", p.Y.Max, p.X.Max)
	}
}
